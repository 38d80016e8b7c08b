"""Tokens of our own C++, as clang-format writes it: enough to find what a small mutant changes, no parser."""
import bisect
import dataclasses
import re

_TOKEN = re.compile(r"""
  (?P<space>\s+)
| (?P<comment>//[^\n]*|/\*.*?\*/)
| (?P<line>^\#(?:\\\n|[^\n])*)
| (?P<raw>R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)")
| (?P<string>"(?:\\.|[^"\\\n])*")
| (?P<char>'(?:\\.|[^'\\\n])+')
| (?P<number>\d(?:[\w.]|'(?=\w))*)
| (?P<name>[A-Za-z_]\w*)
| (?P<mark_>\.\.\.|<=>|<<=|->\*|::|->|\+\+|--|&&|\|\||[-+*/%&|^=!<>]=|<<|.)
""", re.S | re.M | re.X)
_OPEN, _CLOSE = "([{", ")]}"


class LexError(Exception):
    """Brackets that do not match."""


@dataclasses.dataclass(frozen=True)
class Token:
    kind: str  # name, number, string, char, mark
    text: str
    begin: int
    end: int


class Source:
    """A file's text, its tokens, and for each bracket the other one."""

    def __init__(self, name, text):
        self.name, self.text = name, text
        self.tokens = []
        for found in _TOKEN.finditer(text):
            kind = found.lastgroup
            if kind == "mark":  # The group inside a raw string.
                kind = "raw"
            if kind in ("comment", "line", "space"):
                continue
            kind = {"raw": "string", "mark_": "mark"}.get(kind, kind)
            self.tokens.append(Token(kind, found.group(), found.start(), found.end()))
        self.texts = [token.text for token in self.tokens]
        self.other, self.parent = self._brackets()
        self._lines = [found.start() for found in re.finditer("\n", text)]

    def _brackets(self):
        other, parent, stack = {}, [], []
        for i, token in enumerate(self.tokens):
            closes = token.kind == "mark" and token.text in _CLOSE
            if closes:
                if not stack or _OPEN.index(self.texts[stack[-1]]) != _CLOSE.index(token.text):
                    raise LexError(f"{self.name}: {token.text} at {token.begin} closes nothing")
                other[i], other[stack[-1]] = stack[-1], i
                stack.pop()
            parent.append(stack[-1] if stack else None)
            if token.kind == "mark" and token.text in _OPEN:
                stack.append(i)
        if stack:
            raise LexError(f"{self.name}: {self.texts[stack[-1]]} is never closed")
        return other, parent

    def line_of(self, offset):
        return bisect.bisect_left(self._lines, offset) + 1

    def is_name(self, i):
        return 0 <= i < len(self.tokens) and self.tokens[i].kind == "name"

    def spaced(self, i):
        """True of a binary operator: a template's bracket and a reference's && have no space in front."""
        token = self.tokens[i]
        return self.text[token.begin - 1].isspace() and self.text[token.end].isspace()

    def slice(self, first, last):
        """Text from token first up to and with token last."""
        return self.text[self.tokens[first].begin:self.tokens[last].end]

    def left_of(self, i, stops):
        """The first token of the operand that ends in front of token i."""
        j = i - 1
        while j >= 0:
            if j in self.other and self.texts[j] in _CLOSE:
                j = self.other[j] - 1
                continue
            if self.texts[j] in _OPEN and self.tokens[j].kind == "mark" or self._stops(j, stops):
                break
            j -= 1
        return j + 1

    def right_of(self, i, stops):
        """The last token of the operand that begins behind token i."""
        j = i + 1
        while j < len(self.tokens):
            if self.tokens[j].kind == "mark":
                if self.texts[j] in _OPEN:
                    j = self.other[j] + 1
                    continue
                if self.texts[j] in _CLOSE:
                    break
            if self._stops(j, stops):
                break
            j += 1
        return j - 1

    def _stops(self, j, stops):
        if self.texts[j] not in stops or self.tokens[j].kind not in ("mark", "name"):
            return False
        # The bracket of a template's arguments is no comparison.
        return self.texts[j] not in ("<", ">", "&&") or self.spaced(j)

    def parts(self, opening):
        """[(first, last)] of what commas separate between a bracket and its other one."""
        parts, first, i, end = [], opening + 1, opening + 1, self.other[opening]
        while i < end:
            if self.tokens[i].kind == "mark" and self.texts[i] in _OPEN:
                i = self.other[i]
            elif self.texts[i] == ",":
                parts.append((first, i - 1))
                first = i + 1
            i += 1
        if first < end:
            parts.append((first, end - 1))
        return parts

    def at_level(self, first, last):
        """Tokens from first to last that are inside no further bracket."""
        i = first
        while i <= last:
            yield i
            i = self.other[i] if i in self.other and self.texts[i] in _OPEN else i
            i += 1
