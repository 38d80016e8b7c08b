"""Reads tests/mutants/mutants.txt, the table of mechanisms that scenarios must notice when they are taken away.

A block `mutant NAME` (tests/change_table.py) has a `why`, `fails` with scenarios/NAME.yaml that must fail, and a change for each place in
which the mechanism stands. A block `exempt PATTERN` with a `why` excuses scenarios that are no mechanism's.
"""
import dataclasses
import fnmatch
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TABLE = HERE / "mutants.txt"

sys.path.insert(0, str(HERE.parent))
import change_table  # noqa: E402  (it stands beside this folder)
from change_table import TableError  # noqa: E402, F401  (for those who read the table)


@dataclasses.dataclass
class Mutant(change_table.ChangeBlock):
    why: str = ""
    fails: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Exemption(change_table.Block):
    """`name` is a pattern of scenarios' names."""
    why: str = ""


def read(path=TABLE):
    """(mutants, exemptions) in the table's order."""
    blocks = change_table.read(path, {"mutant": Mutant, "exempt": Exemption})
    return ([block for block in blocks if isinstance(block, Mutant)], [block for block in blocks if isinstance(block, Exemption)])


def scenarios():
    """Names of all scenarios, without .yaml; fragments that others include are none."""
    names = []
    for path in sorted((ROOT / "scenarios").rglob("*.yaml")):
        if any(line.startswith("schema:") for line in path.read_text(encoding="utf-8").splitlines()):
            names.append(str(path.relative_to(ROOT / "scenarios").with_suffix("")))
    return names


def problems(mutants, exemptions):
    """What is wrong with the table, as sentences: it cannot get stale unseen."""
    found = change_table.problems(TABLE, mutants, ["why", "file", "fails"], ROOT)
    found += change_table.problems(TABLE, exemptions, ["why"], ROOT)
    known = set(scenarios())
    for mutant in mutants:
        found += [f"{TABLE.name}:{mutant.line}: {mutant.name}: there is no scenarios/{name}.yaml" for name in mutant.fails
                  if name not in known]
    for exemption in exemptions:
        if not fnmatch.filter(known, exemption.name):
            found.append(f"{TABLE.name}:{exemption.line}: exempt {exemption.name}: there is no such scenario")
    covered = {name for mutant in mutants for name in mutant.fails}
    for name in sorted(known - covered):
        if not any(fnmatch.fnmatch(name, exemption.name) for exemption in exemptions):
            found.append(f"scenarios/{name}.yaml: no mutant makes it fail, so no run has shown that it can")
    return found
