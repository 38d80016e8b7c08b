"""Reads tables of changes of sources: what those of mutants and of planted bugs share.

A table is a text of blocks, with blank lines between blocks and `#` for comments. A block begins with a word of its kind and a name, and
goes on with lines of a word and a text; a word may stand in several lines:

    mutant ps-are-not-ended
    why Without it a finished job's parameter servers run for ever.
    file core/am/reconcile/ending.cc
    -    EndClass(TaskClass::kService);
    +

`file` begins a change, and there may be several. Its `-` lines are the old text and its `+` lines the new, verbatim after that first
character; the old text occurs once in the file (changed_sources.py).
"""
import dataclasses

import changed_sources


class TableError(Exception):
    pass


@dataclasses.dataclass
class Block:
    """A subclass has a field for each word of its lines: a str gets the lines' texts, joined by blanks, a list their words."""
    name: str
    line: int


@dataclasses.dataclass
class ChangeBlock(Block):
    """A block that may have `file`, `-` and `+` lines."""
    changes: list = dataclasses.field(default_factory=list)

    def files(self):
        return sorted({change.file for change in self.changes})

    def texts(self, root):
        """Source -> its text with the changes."""
        return changed_sources.texts_with(self.changes, root)


def words_of(kind):
    """The words that a line of such a block may begin with."""
    known = {field.name for field in dataclasses.fields(kind)} - {"name", "line"}
    return {"file" if word == "changes" else word for word in known}


def read(path, kinds):
    """The blocks of the table in its order. `kinds`: the word that begins a block -> its class, derived from Block."""
    blocks, current = [], None
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line[:1] in ("-", "+"):
            if not isinstance(current, ChangeBlock) or not current.changes:
                raise TableError(f"{path}:{number}: a changed line before `file`")
            change = current.changes[-1]
            (change.old if line[0] == "-" else change.new).append(line[1:])
            continue
        word, _, rest = line.strip().partition(" ")
        if not word:
            current = None
        elif word.startswith("#"):
            continue
        elif word in kinds:
            current = kinds[word](name=rest, line=number)
            blocks.append(current)
        elif current is None:
            raise TableError(f"{path}:{number}: '{word}' begins no block: none of {', '.join(kinds)}")
        elif word not in words_of(type(current)):
            raise TableError(f"{path}:{number}: '{word}' is none of {', '.join(sorted(words_of(type(current))))}, -, +")
        elif word == "file":
            current.changes.append(changed_sources.Change(file=rest))
        elif isinstance(getattr(current, word), list):
            getattr(current, word).extend(rest.split())
        else:
            setattr(current, word, f"{getattr(current, word)} {rest}".strip())
    return blocks


def problems(path, blocks, needed, root):
    """What is wrong with the blocks of one kind, as sentences: a table cannot get stale unseen. `needed`: words that no block lacks."""
    found, names = [], set()
    for block in blocks:
        where = f"{path.name}:{block.line}: {block.name}"
        if block.name in names:
            found.append(f"{where}: the name is taken")
        names.add(block.name)
        if not all(getattr(block, "changes" if word == "file" else word) for word in needed):
            found.append(f"{where}: needs {', '.join(needed)}")
        for change in getattr(block, "changes", []):
            problem = change.problem(root)
            if problem:
                found.append(f"{where}: {problem}")
    return found
