"""Reads tests/mutants/mutants.txt, the table of mechanisms that scenarios must notice when they are taken away.

A block a mutant, blank lines between blocks, `#` for comments:

    mutant ps-are-not-ended
    why Without it a finished job's parameter servers run for ever.
    file core/am/decide/finish.cc
    fails finish/ps-never-exits
    -    EndClass(TaskClass::kService);
    +

`-` lines are the old text and `+` lines the new, verbatim after that first character; the old text occurs once in the file. `file` begins
a change, and a mechanism that stands in several places has several.
`fails` names scenarios/NAME.yaml. A block `exempt PATTERN` with a `why` excuses scenarios that are no mechanism's.
"""
import dataclasses
import fnmatch
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TABLE = HERE / "mutants.txt"

sys.path.insert(0, str(HERE.parent))
import changed_sources  # noqa: E402  (it stands beside this folder)


@dataclasses.dataclass
class Mutant:
    name: str
    line: int
    why: str = ""
    fails: list = dataclasses.field(default_factory=list)
    changes: list = dataclasses.field(default_factory=list)

    def files(self):
        return sorted({change.file for change in self.changes})

    def texts(self, root):
        """Source -> its text with the mechanism taken away."""
        return changed_sources.texts_with(self.changes, root)


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
            if not current.changes:
                raise TableError(f"{path}:{number}: a changed line before `file`")
            change = current.changes[-1]
            (change.old if line[0] == "-" else change.new).append(line[1:])
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
            current.changes.append(changed_sources.Change(file=rest))
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
        if not (mutant.why and mutant.fails and mutant.changes):
            found.append(f"{where}: needs why, file, fails and - lines")
        found += [f"{where}: {problem}" for problem in filter(None, (change.problem(ROOT) for change in mutant.changes))]
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
