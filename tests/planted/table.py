"""Reads tests/planted/planted.txt: real bugs of this project and of its relatives, put into today's sources one at a time.

A block `bug NAME` (tests/change_table.py) says by `origin` whose bug it was, with a commit of this repository or an issue of another, by
`what` what goes wrong, by changes how it comes into today's sources, and by `unseen` why no run can show it yet.
"""
import dataclasses
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TABLE = HERE / "planted.txt"

sys.path.insert(0, str(HERE.parent))
import change_table  # noqa: E402  (it stands beside this folder)
from change_table import TableError  # noqa: E402, F401  (for those who read the table)


@dataclasses.dataclass
class Bug(change_table.ChangeBlock):
    origin: str = ""
    what: str = ""
    unseen: str = ""


def read(path=TABLE):
    """The bugs in the table's order."""
    return change_table.read(path, {"bug": Bug})


def problems(bugs):
    """What is wrong with the table, as sentences: it cannot get stale unseen."""
    return change_table.problems(TABLE, bugs, ["origin", "what", "file"], ROOT)
