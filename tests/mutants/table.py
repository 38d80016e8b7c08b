"""Reads tests/mutants/mutants.txt, the table of mechanisms that scenarios must notice when they are taken away.

A block a mutant, blank lines between blocks, `#` for comments:

    mutant ps-are-not-ended
    why Without it a finished job's parameter servers run for ever.
    file core/am/finish.cc
    fails finish/ps-never-exits
    -    EndClass(TaskClass::kService);
    +

`-` lines are the old text and `+` lines the new, verbatim after that first character; the old text occurs once in the file.
`fails` names scenarios/NAME.yaml. A block `exempt PATTERN` with a `why` excuses scenarios that are no mechanism's.
"""
import dataclasses
import fnmatch
import pathlib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TABLE = HERE / "mutants.txt"


@dataclasses.dataclass
class Mutant:
    name: str
    line: int
    why: str = ""
    file: str = ""
    fails: list = dataclasses.field(default_factory=list)
    old: list = dataclasses.field(default_factory=list)
    new: list = dataclasses.field(default_factory=list)

    def old_text(self):
        return "\n".join(self.old)

    def texts(self, root):
        """Source -> its text with the mechanism taken away."""
        text = (root / self.file).read_text(encoding="utf-8")
        return {self.file: text.replace(self.old_text(), "\n".join(self.new), 1)}


@dataclasses.dataclass
class Exemption:
    pattern: str
    why: str = ""


class TableError(Exception):
    pass


def read(path=TABLE):
    """(mutants, exemptions) in the table's order."""
    mutants, exemptions, current = [], [], None
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if isinstance(current, Mutant) and line[:1] in ("-", "+"):
            (current.old if line[0] == "-" else current.new).append(line[1:])
            continue
        word, _, rest = line.strip().partition(" ")
        if not word or word.startswith("#"):
            current = None if not word else current
        elif word == "mutant":
            current = Mutant(name=rest, line=number)
            mutants.append(current)
        elif word == "exempt":
            current = Exemption(pattern=rest)
            exemptions.append(current)
        elif current is None:
            raise TableError(f"{path}:{number}: '{word}' belongs to no mutant")
        elif word == "why":
            current.why = f"{current.why} {rest}".strip()
        elif word == "file" and isinstance(current, Mutant):
            current.file = rest
        elif word == "fails" and isinstance(current, Mutant):
            current.fails += rest.split()
        else:
            raise TableError(f"{path}:{number}: '{word}' is none of mutant, why, file, fails, exempt, -, +")
    return mutants, exemptions


def scenarios():
    """Names of all scenarios, without .yaml; fragments that others include are none."""
    names = []
    for path in sorted((ROOT / "scenarios").rglob("*.yaml")):
        if any(line.startswith("schema:") for line in path.read_text(encoding="utf-8").splitlines()):
            names.append(str(path.relative_to(ROOT / "scenarios").with_suffix("")))
    return names


def problems(mutants, exemptions):
    """What is wrong with the table, as sentences: it cannot get stale unseen."""
    found = []
    names = set()
    known = set(scenarios())
    for mutant in mutants:
        where = f"{TABLE.name}:{mutant.line}: {mutant.name}"
        if mutant.name in names:
            found.append(f"{where}: the name is taken")
        names.add(mutant.name)
        if not (mutant.why and mutant.file and mutant.fails and mutant.old):
            found.append(f"{where}: needs why, file, fails and - lines")
            continue
        if not mutant.file.endswith(".cc"):
            found.append(f"{where}: changes {mutant.file}, and only a .cc is compiled again")
        if mutant.old == mutant.new:
            found.append(f"{where}: changes nothing")
        file = ROOT / mutant.file
        count = file.read_text(encoding="utf-8").count(mutant.old_text()) if file.is_file() else 0
        if count != 1:
            found.append(f"{where}: its old text occurs {count} times in {mutant.file}, not once")
        found += [f"{where}: there is no scenarios/{name}.yaml" for name in mutant.fails if name not in known]
    for exemption in exemptions:
        if not exemption.why:
            found.append(f"exempt {exemption.pattern}: needs a why")
        if not fnmatch.filter(known, exemption.pattern):
            found.append(f"exempt {exemption.pattern}: there is no such scenario")
    covered = {name for mutant in mutants for name in mutant.fails}
    for name in sorted(known - covered):
        if not any(fnmatch.fnmatch(name, exemption.pattern) for exemption in exemptions):
            found.append(f"scenarios/{name}.yaml: no mutant makes it fail, so no run has shown that it can")
    return found
