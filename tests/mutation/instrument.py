"""The text of a source with switches at some of its sites, and which site a compiler's complaint is about."""
import pathlib
import re

SWITCH_HEADER = pathlib.Path(__file__).resolve().parent / "switch.h"
_COMPLAINT = re.compile(r"^(?P<path>[^\s:][^:\n]*):(?P<line>\d+):(?P<column>\d+): (?P<what>fatal error|error|note|warning)", re.M)
_PLACE = re.compile(r"(?P<path>/[^\s:]+):(?P<line>\d+):(?P<column>\d+)")


class Woven:
    """One source with a switch at each of the sites; `numbers`: site -> mutant."""

    def __init__(self, source, sites, numbers):
        self.source = source
        self._out = [f'#include "{SWITCH_HEADER}"\n']
        self._length = len(self._out[0])
        self.ranges = []  # (begin, end, site) in the woven text
        # Of several that change the same text, one that repeats the whole of it stands around the others.
        ordered = sorted(sites, key=lambda site: (site.begin, -site.end, (site.begin, site.end) not in site.pieces, numbers[site]))
        self._emit(0, len(source.text), ordered, numbers)
        self.text = "".join(self._out)
        self._lines = [0] + [found.end() for found in re.finditer("\n", self.text)]
        placed = {site for _, _, site in self.ranges}
        self.left_out = {site for site in sites if site not in placed}  # Crosses another: misread.

    def _put(self, text):
        self._out.append(text)
        self._length += len(text)

    def _emit(self, begin, end, sites, numbers):
        text, position = self.source.text, begin
        inside = [site for site in sites if begin <= site.begin and site.end <= end]
        while inside:
            site, *inside = inside
            if site.begin < position:
                continue
            self._put(text[position:site.begin])
            start = self._length
            for piece in site.pieces:
                if isinstance(piece, str):
                    self._put(piece.replace("{}", str(numbers[site])))
                else:
                    self._emit(*piece, inside, numbers)
            self.ranges.append((start, self._length, site))
            position = site.end
        self._put(text[position:end])

    def sites_at(self, line, column):
        """The innermost sites there: of several that were woven in one place, all."""
        if not 0 < line <= len(self._lines):
            return []
        offset = self._lines[line - 1] + column - 1
        around = [(end - begin, site) for begin, end, site in self.ranges if begin <= offset < end]
        return [site for size, site in around if size == min(size for size, _ in around)]

    def sites_near(self, line):
        """Where the words are about a line beside the site's own: those on the fewest lines around it that have any."""
        for around in (0, 1, 3, len(self._lines)):
            first, last = max(line - 1 - around, 0), line + around
            begin, end = self._lines[first], self._lines[last] if last < len(self._lines) else len(self.text)
            found = [site for a, b, site in self.ranges if a < end and begin < b]
            if found:
                return found
        return []


def blamed(said, woven):
    """Sites that a compiler's words are about; `woven`: path of the written file -> Woven. Empty: no site has to do with them."""
    found, blocks = set(), []
    for complaint in _COMPLAINT.finditer(said):
        if complaint["what"] in ("error", "fatal error"):
            blocks.append([complaint.start(), complaint])
    for number, (start, complaint) in enumerate(blocks):
        end = blocks[number + 1][0] if number + 1 < len(blocks) else len(said)
        # g++ says in front of an error where an instantiation was asked for, clang behind it.
        before = said[max(said.rfind("\n\n", 0, start), start - 4000, 0):start]
        places = [complaint, *_PLACE.finditer(said[start:end]), *reversed(list(_PLACE.finditer(before)))]
        places = [(woven[place["path"]], int(place["line"]), int(place["column"])) for place in places if place["path"] in woven]
        exact = (file.sites_at(line, column) for file, line, column in places)
        at = next((sites for sites in exact if sites), None)
        if at is None:
            at = next((sites for sites in (file.sites_near(line) for file, line, _ in places) if sites), [])
        found.update(at)
    return found
