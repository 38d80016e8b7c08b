"""Where a small mutant can be made, and how the mutated text reads with its switch.

Kinds: negated condition, changed comparison, changed connective, dropped call, dropped assignment, constant off by one, changed
constant, changed duration, flipped bool, swapped arguments. A site that no compiler takes (a constant of the type system, arguments
that do not convert) is found by compiling, not here (instrument.py).

Left out, since no behaviour can show them: what a TF_CHECK demands (it never fails), a CheckFailed (it is never reached), when a
TF_PROBE alone is passed, static_assert and other macros, the arguments of fmt::format (words for people; golden files hold some), calls
that only reserve memory.
"""
import dataclasses
import zlib

from lexer import Source

SWITCH = "tfyarn_mutation::On({})"
_NOT_CALLS = {"if", "for", "while", "switch", "return", "catch", "sizeof", "alignof", "decltype", "noexcept", "requires", "operator",
              "static_cast", "reinterpret_cast", "const_cast", "alignas", "defined", "assert", "static_assert"}
_NO_STATEMENT = _NOT_CALLS | {
    "case", "default", "break", "continue", "else", "do", "goto", "using", "namespace", "template", "typedef", "class", "struct", "enum",
    "union", "public", "private", "protected", "friend", "static", "constexpr", "inline", "extern", "const", "auto", "void", "bool",
    "int", "char", "double", "float", "unsigned", "long", "explicit", "virtual", "try", "throw", "delete", "new", "co_return"}
_MEMORY_ONLY = {"reserve", "shrink_to_fit"}
_SYMMETRIC = {"min", "max", "swap", "tie", "format", "array"}
_ASSIGN = {"=", "+=", "-=", "*=", "/=", "|=", "&=", "^=", "%="}
_ENDS = _ASSIGN | {",", ";", "?", ":", "return", "throw", "case", "else", "do", "co_return"}
_COMPARE = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
_UNITS = ("ns", "us", "ms", "s", "min", "h")


@dataclasses.dataclass(frozen=True)
class Site:
    """`pieces`: texts, in which {} is the switch, and spans (begin, end) of the source, which may hold other sites."""
    file: str
    kind: str
    begin: int
    end: int
    pieces: tuple
    line: int
    before: str
    after: str

    @property
    def key(self):
        """Stays when other lines of the file change."""
        return f"{self.file}: {self.kind}: {self.before} -> {self.after}"


def _one_line(text):
    return " ".join(text.split())


class Finder:
    def __init__(self, source: Source):
        self.source = source
        self.sites = []
        self.skipped = self._skipped_spans()

    # ------------------------------------------------------------ what is left out

    def _skipped_spans(self):
        spans, source = [], self.source
        for i, text in enumerate(source.texts[:-1]):
            if source.texts[i + 1] != "(" or not source.is_name(i):
                continue
            after = source.other[i + 1] + 1
            marks_only = text == "if" and after < len(source.texts) and source.texts[after] == "TF_PROBE"
            macro = text.isupper() and len(text) > 2
            words = text == "format" and source.texts[i - 1] == "::" and source.texts[i - 2] == "fmt"
            if macro or words or marks_only or text in ("CheckFailed", "static_assert", "decltype", "noexcept", "sizeof", "requires", "assert"):
                spans.append((source.tokens[i].begin, source.tokens[source.other[i + 1]].end))
        return spans

    def _is_skipped(self, begin, end):
        return any(first <= begin and end <= last for first, last in self.skipped)

    def _add(self, kind, first, last, pieces, before, after):
        begin, end = self.source.tokens[first].begin, self.source.tokens[last].end
        if first > last or self._is_skipped(begin, end):
            return
        self.sites.append(Site(self.source.name, kind, begin, end, tuple(pieces), self.source.line_of(begin), _one_line(before),
                               _one_line(after)))

    def _span(self, first, last):
        return self.source.tokens[first].begin, self.source.tokens[last].end

    # ------------------------------------------------------------ all of them

    def find(self):
        source = self.source
        for i, token in enumerate(source.tokens):
            if token.kind == "number":
                self._number(i)
            elif token.kind == "name":
                if token.text in ("if", "while"):
                    self._condition(i)
                elif token.text in ("true", "false") and source.texts[max(i - 2, 0):i] != ["while", "("]:  # Behind it there may be no way out.
                    other = "false" if token.text == "true" else "true"
                    self._add("flipped bool", i, i, [f"({SWITCH} ? {other} : {token.text})"], *self._around(i, other))
                elif token.text == "return":
                    self._return(i)
                elif i + 1 < len(source.tokens) and source.texts[i + 1] == "(":
                    self._swap(i)
            elif token.kind == "mark":
                if token.text in _COMPARE and source.spaced(i):
                    self._comparison(i)
                elif token.text in ("&&", "||") and source.spaced(i):
                    self._connective(i)
                elif token.text == "?":
                    self._negate(source.left_of(i, _ENDS), i - 1)
            if self._begins_statement(i):
                self._statement(i)
        return self.sites

    def _around(self, i, replacement):
        """(before, after) of one token within its line, so that a reader and a key can tell it from others."""
        text, token = self.source.text, self.source.tokens[i]
        begin = text.rfind("\n", 0, token.begin) + 1
        end = text.find("\n", token.end)
        return text[begin:end], text[begin:token.begin] + replacement + text[token.end:end]

    # ------------------------------------------------------------ conditions

    def _negate(self, first, last):
        if first > last:
            return
        what = self.source.slice(first, last)
        self._add("negated condition", first, last, [f"({SWITCH} != static_cast<bool>(", self._span(first, last), "))"], what,
                  f"!({what})")

    def _condition(self, i):
        source, opening = self.source, i + 1
        if source.texts[opening] != "(":
            return
        first, last = opening + 1, source.other[opening] - 1
        level = list(source.at_level(first, last))
        semicolons = [j for j in level if source.texts[j] == ";"]
        if semicolons:
            first = semicolons[-1] + 1
        equals = [j for j in level if source.texts[j] == "=" and j >= first]
        if not equals:
            self._negate(first, last)
        elif source.is_name(equals[0] - 1) and source.is_name(equals[0] - 2) or source.texts[equals[0] - 2] in ("*", "&"):
            if source.texts[i] == "while":
                return
            name, what = source.texts[equals[0] - 1], source.slice(first, last)
            self._add("negated condition", first, last, [self._span(first, last), f"; {SWITCH} != static_cast<bool>({name})"], what,
                      f"{what}; !{name}")

    def _comparison(self, i):
        source = self.source
        ends = _ENDS | {"&&", "||", "==", "!=", "<<"} | ({"<", ">", "<=", ">="} if source.texts[i] in ("==", "!=") else set())
        first, last = source.left_of(i, ends), source.right_of(i, ends)
        if first >= i or last <= i:
            return
        left, right = self._span(first, i - 1), self._span(i + 1, last)
        was, new = source.texts[i], _COMPARE[source.texts[i]]
        before, after = source.slice(first, last), f"{source.slice(first, i - 1)} {new} {source.slice(i + 1, last)}"
        self._add("changed comparison", first, last, [f"({SWITCH} ? ", left, f" {new} ", right, " : ", left, f" {was} ", right, ")"],
                  before, after)

    def _connective(self, i):
        source, was = self.source, self.source.texts[i]
        new = "||" if was == "&&" else "&&"
        left_ends = _ENDS | ({"||"} if was == "&&" else set())
        first, last = source.left_of(i, left_ends), source.right_of(i, _ENDS | {"||"} | ({"&&"} if was == "&&" else set()))
        if first >= i or last <= i:
            return
        left, right = self._span(first, i - 1), self._span(i + 1, last)
        self._add("changed connective", first, last,
                  [f"({SWITCH} ? (", left, f") {new} (", right, ") : (", left, f") {was} (", right, "))"], source.slice(first, last),
                  f"({source.slice(first, i - 1)}) {new} ({source.slice(i + 1, last)})")

    def _return(self, i):
        """Of functions that return bool; of one that returns nothing the call is dropped."""
        source = self.source
        if source.texts[i + 1] == ";":
            return
        last = source.right_of(i, {";"})
        if last + 1 >= len(source.tokens) or source.texts[last + 1] != ";":
            return
        gives, expression = self._returned(i), source.slice(i + 1, last)
        if gives == "void" and not self._in_memory_call(last):
            self._add("dropped call", i + 1, last, [f"({SWITCH} ? void() : void(", self._span(i + 1, last), "))"],
                      f"return {expression}", "return")
        elif gives == "bool" and expression not in ("true", "false"):
            self._add("negated condition", i + 1, last, [f"tfyarn_mutation::Negated({SWITCH}, ", self._span(i + 1, last), ")"],
                      f"return {expression}", f"return !({expression})")

    def _returned(self, i):
        """The type that the function around token i returns, where its text says so."""
        source, opening = self.source, self.source.parent[i]
        while opening is not None:
            j = opening - 1
            if source.texts[opening] == "{" and j > 2:
                if source.is_name(j) and source.texts[j - 1] == "->":
                    return source.texts[j]
                while source.texts[j] in ("const", "noexcept", "override", "final", "mutable"):
                    j -= 1
                if source.texts[j] == ")":
                    j = source.other[j] - 1
                    if source.texts[j] == "]":
                        return None  # A lambda.
                    if source.is_name(j) and source.texts[j] not in ("if", "for", "while", "switch", "catch", "constexpr"):
                        while source.texts[j - 1] == "::":
                            j -= 2
                        return source.texts[j - 1]
            opening = source.parent[opening]
        return None

    # ------------------------------------------------------------ constants

    def _number(self, i):
        source, text = self.source, self.source.texts[i]
        if source.texts[i - 1] in ("<", "case", ">") and not source.spaced(i - 1):
            return
        digits = text.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") if not text.startswith("0x") else text
        suffix = text[len(digits):]
        if suffix in _UNITS:
            kind, new = "changed duration", (f"2 * {text}" if digits.strip("0.'") else f"1{suffix}")
        elif "." in text:
            kind, new = "changed constant", f"2 * {text} + 1"
        else:
            down = zlib.crc32(f"{source.name}:{source.tokens[i].begin}".encode()) % 2 and digits.strip("0'")
            kind, new = "constant off by one", f"{text} {'-' if down else '+'} 1"
        before, after = self._around(i, new)
        whole = self._whole_constexpr(i)
        if whole is not None:
            # It must not be a constant of the compiler's: what needs one there is found by compiling.
            keyword, end = whole
            self._add(kind, keyword, end, ["const ", self._span(keyword + 1, i - 1), f" ({SWITCH} ? {new} : {text});"], before, after)
        else:
            self._add(kind, i, i, [f"({SWITCH} ? {new} : {text})"], before, after)

    def _whole_constexpr(self, i):
        """(constexpr, ;) when the number is all that a constant is initialized with."""
        source = self.source
        if source.texts[i - 1] != "=" or source.texts[i + 1] != ";":
            return None
        for j in range(i - 2, max(i - 12, -1), -1):
            if source.texts[j] in (";", "{", "}"):
                return None
            if source.texts[j] == "constexpr":
                return j, i + 1
        return None

    # ------------------------------------------------------------ statements and arguments

    def _begins_statement(self, i):
        source = self.source
        token = source.tokens[i]
        if i == 0 or token.kind not in ("name", "mark") or token.text in _NO_STATEMENT:
            return False
        if token.kind == "mark" and token.text not in ("++", "--", "*", "::"):
            return False
        before = source.texts[i - 1]
        if before == ":":  # A label's, or the other half of `a ? b : c`.
            return source.texts[source.left_of(i - 1, {";", "?"}) - 1] != "?"
        if before in (";", "{", "}", "else", "do"):
            return True
        if before == ")":
            return source.texts[source.other[i - 1] - 1] in ("if", "for", "while", "constexpr")
        return False

    def _chain(self, i):
        """(the token behind a.b(c)->d[e], its last name) from token i on."""
        source, name = self.source, None
        if source.texts[i] in ("*", "::"):
            i += 1
        while i < len(source.tokens):
            if not source.is_name(i):
                break
            name = source.texts[i]
            i += 1
            while i < len(source.tokens):
                if source.texts[i] in ("(", "["):
                    i = source.other[i] + 1
                elif source.texts[i] == "<" and not source.spaced(i):
                    depth = 0
                    while i < len(source.tokens):
                        depth += {"<": 1, ">": -1}.get(source.texts[i], 0)
                        i += 1
                        if depth == 0:
                            break
                else:
                    break
            if i >= len(source.tokens) or source.texts[i] not in (".", "->", "::"):
                break
            i += 1
        return i, name

    def _in_memory_call(self, last):
        """Whether the call that ends there only reserves memory."""
        source = self.source
        return source.texts[last] == ")" and source.texts[source.other[last] - 1] in _MEMORY_ONLY

    def _statement(self, i):
        source = self.source
        steps = source.texts[i] in ("++", "--")
        end, name = self._chain(i + 1 if steps else i)
        if name is None or end >= len(source.tokens) or name.isupper() or source.texts[i].isupper() or name in _MEMORY_ONLY:
            return
        if source.texts[end] == ";":
            call = source.texts[end - 1] == ")" and not steps
            if not call and not steps:
                return
            kind, last = ("dropped call" if call else "dropped assignment"), end - 1
        elif source.texts[end] in ("++", "--") and source.texts[end + 1] == ";":
            kind, last = "dropped assignment", end
        elif source.texts[end] in _ASSIGN:
            kind, last = "dropped assignment", source.right_of(end, {";"})
            if last + 1 >= len(source.tokens) or source.texts[last + 1] != ";":
                return
        else:
            return
        text = source.slice(i, last)
        self._add(kind, i, last, [f"({SWITCH} ? void() : void(", self._span(i, last), "))"], text + ";", ";")

    def _swap(self, i):
        source, opening = self.source, i + 1
        if source.texts[i] in _NOT_CALLS | _SYMMETRIC or source.texts[i].isupper():
            return
        first = i
        while first > 1 and source.texts[first - 1] in ("::", ".", "->"):
            first -= 2
            while source.texts[first] in (")", "]"):
                first = source.other[first] - 1
        if source.is_name(first - 1) and source.texts[first - 1] not in ("return", "else", "case", "do", "throw"):
            return
        if not source.is_name(first) or source.texts[first - 1] in ("~",):
            return
        parts = source.parts(opening)
        for left, right in zip(parts, parts[1:]):
            texts = [source.slice(*left), source.slice(*right)]
            if texts[0] == texts[1] or any(text.startswith(("[", "{")) for text in texts) or self._declares(left) or \
                    self._declares(right):
                continue
            last = source.other[opening]
            head = (source.tokens[first].begin, source.tokens[left[0]].begin)
            between = (source.tokens[left[1]].end, source.tokens[right[0]].begin)
            tail = (source.tokens[right[1]].end, source.tokens[last].end)
            after = (source.text[slice(*head)] + texts[1] + source.text[slice(*between)] + texts[0] + source.text[slice(*tail)])
            self._add("swapped arguments", first, last,
                      [f"({SWITCH} ? ", head, self._span(*right), between, self._span(*left), tail, " : ",
                       self._span(first, last), ")"], source.slice(first, last), after)

    def _declares(self, part):
        """A parameter, not an argument."""
        source = self.source
        names = [j for j in range(part[0], part[1] + 1) if source.is_name(j)]
        if any(source.texts[j] in ("const", "auto") for j in names):
            return True
        return any(b == a + 1 for a, b in zip(names, names[1:])) or (
            part[1] > part[0] and source.is_name(part[1]) and source.texts[part[1] - 1] in ("&", "*", ">"))


def sites_of(source):
    """All sites of a file, in the order of the text."""
    found = set(Finder(source).find())
    # `a == b` negated and with != instead are one mutant.
    negated = {(site.begin, site.end) for site in found if site.kind == "negated condition"}
    found = {site for site in found if site.kind != "changed comparison" or not {"==", "!="} & set(_operators(site)) or
             (site.begin, site.end) not in negated}
    return sorted(found, key=lambda site: (site.begin, -site.end, site.kind, site.after))


def _operators(site):
    return [piece.strip() for piece in site.pieces if isinstance(piece, str)]
