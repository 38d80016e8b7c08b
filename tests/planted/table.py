"""Reads tests/planted/planted.txt: real bugs of this project and of its relatives, put into today's sources one at a time.

A block a bug, blank lines between blocks, `#` for comments:

    bug ps-never-ends
    origin TonY #641, tensorflow #4713 (P3): a parameter server's join() never returns.
    what A finished job waits for its parameter servers.
    file core/am/decide/finish.cc
    -    EndClass(TaskClass::kService);
    +

`file` begins a change, and there may be several; `-` and `+` lines as in tests/mutants/mutants.txt. `origin` says whose bug it was, with a
commit of this repository or an issue of another; `unseen` why no run can show it yet.
"""
import dataclasses
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TABLE = HERE / "planted.txt"

sys.path.insert(0, str(HERE.parent))
import changed_sources  # noqa: E402  (it stands beside this folder)


@dataclasses.dataclass
class Bug:
    name: str
    line: int
    origin: str = ""
    what: str = ""
    unseen: str = ""
    changes: list = dataclasses.field(default_factory=list)

    def texts(self, root):
        """Source -> its text with the bug."""
        return changed_sources.texts_with(self.changes, root)


class TableError(Exception):
    pass


def read(path=TABLE):
    """The bugs in the table's order."""
    bugs, current = [], None
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line[:1] in ("-", "+"):
            if current is None or not current.changes:
                raise TableError(f"{path}:{number}: a changed line before `file`")
            change = current.changes[-1]
            (change.old if line[0] == "-" else change.new).append(line[1:])
            continue
        word, _, rest = line.strip().partition(" ")
        if not word or word.startswith("#"):
            current = None if not word else current
        elif word == "bug":
            current = Bug(name=rest, line=number)
            bugs.append(current)
        elif current is None:
            raise TableError(f"{path}:{number}: '{word}' belongs to no bug")
        elif word in ("origin", "what", "unseen"):
            setattr(current, word, f"{getattr(current, word)} {rest}".strip())
        elif word == "file":
            current.changes.append(changed_sources.Change(file=rest))
        else:
            raise TableError(f"{path}:{number}: '{word}' is none of bug, origin, what, unseen, file, -, +")
    return bugs


def problems(bugs):
    """What is wrong with the table, as sentences: it cannot get stale unseen."""
    found, names = [], set()
    for bug in bugs:
        where = f"{TABLE.name}:{bug.line}: {bug.name}"
        if bug.name in names:
            found.append(f"{where}: the name is taken")
        names.add(bug.name)
        if not (bug.origin and bug.what and bug.changes):
            found.append(f"{where}: needs origin, what, file and - lines")
        for change in bug.changes:
            problem = change.problem(ROOT)
            if problem:
                found.append(f"{where}: {problem}")
    return found
