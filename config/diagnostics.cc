#include "config/diagnostics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "config/source.h"

namespace tfyarn::config {
namespace {

constexpr std::string_view kBold = "\x1b[1m";
constexpr std::string_view kRed = "\x1b[1;31m";
constexpr std::string_view kGreen = "\x1b[1;32m";
constexpr std::string_view kReset = "\x1b[0m";

struct Range {
  std::int32_t first;
  std::int32_t last;
};

// Characters that take two columns of a terminal (East Asian wide and the usual pictographs).
constexpr std::array<Range, 11> kWide = {{{0x1100, 0x115F},
                                          {0x2E80, 0xA4CF},
                                          {0xAC00, 0xD7A3},
                                          {0xF900, 0xFAFF},
                                          {0xFE30, 0xFE6F},
                                          {0xFF00, 0xFF60},
                                          {0xFFE0, 0xFFE6},
                                          {0x1F300, 0x1F64F},
                                          {0x1F680, 0x1F6FF},
                                          {0x1F900, 0x1F9FF},
                                          {0x20000, 0x3FFFD}}};
// Characters that show as something else than themselves: controls, invisible ones, text-direction
// overrides.
constexpr std::array<Range, 8> kHidden = {{{0x00, 0x1F},
                                           {0x7F, 0x9F},
                                           {0xAD, 0xAD},
                                           {0x200B, 0x200F},
                                           {0x2028, 0x202E},
                                           {0x2060, 0x206F},
                                           {0xFEFF, 0xFEFF},
                                           {0xE0000, 0xE007F}}};

template <std::size_t N>
bool In(const std::array<Range, N>& ranges, std::int32_t character) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const Range& r) { return character >= r.first && character <= r.last; });
}

/// One character of a source line as it is shown.
struct Cell {
  std::string text;
  std::size_t columns = 1;
  std::size_t byte = 0;  // where it begins in the line
};

Cell CellOf(std::string_view line, std::size_t& at) {
  const std::size_t begin = at;
  const std::int32_t character = NextCharacter(line, at);
  if (character == '\t') return {.text = " ", .columns = 1, .byte = begin};
  if (character < 0) {
    return {.text = fmt::format("\\x{:02x}", static_cast<std::uint8_t>(line[begin])),
            .columns = 4,
            .byte = begin};
  }
  if (In(kHidden, character)) {
    std::string text = character < 0x100 ? fmt::format("\\x{:02x}", character)
                                         : fmt::format("\\u{:04x}", character);
    const std::size_t columns = text.size();
    return {.text = std::move(text), .columns = columns, .byte = begin};
  }
  const bool combining = character >= 0x0300 && character <= 0x036F;
  const std::size_t columns = combining ? 0 : (In(kWide, character) ? 2 : 1);
  return {.text = std::string(line.substr(begin, at - begin)), .columns = columns, .byte = begin};
}

std::vector<Cell> CellsOf(std::string_view line) {
  std::vector<Cell> cells;
  std::size_t at = 0;
  while (at < line.size()) cells.push_back(CellOf(line, at));
  return cells;
}

std::size_t Columns(const std::vector<Cell>& cells, std::size_t from, std::size_t to) {
  std::size_t columns = 0;
  for (std::size_t i = from; i < to; ++i) columns += cells[i].columns;
  return columns;
}

/// The line and the caret line below it.
std::string Excerpt(const Diagnostic& diagnostic, const RenderOptions& options) {
  const std::vector<Cell> cells = CellsOf(diagnostic.source_line);
  const std::size_t begin_byte = diagnostic.byte_col - 1;
  const std::size_t end_byte = begin_byte + std::max<std::uint32_t>(1, diagnostic.width);
  std::size_t caret = 0;
  while (caret < cells.size() && cells[caret].byte < begin_byte) ++caret;
  std::size_t caret_end = caret;
  while (caret_end < cells.size() && cells[caret_end].byte < end_byte) ++caret_end;

  std::size_t from = 0;
  std::size_t to = cells.size();
  const std::size_t room = std::max<std::size_t>(options.columns, 20);
  if (Columns(cells, 0, cells.size()) > room) {
    // A third of the room in front of the caret, the rest behind it.
    from = caret;
    while (from > 0 && Columns(cells, from - 1, caret) <= room / 3) --from;
    to = from;
    while (to < cells.size() && Columns(cells, from, to + 1) <= room) ++to;
    while (from > 0 && Columns(cells, from - 1, to) <= room) --from;
  }
  std::string text = "  ";
  std::string below = "  ";
  if (from > 0) text += "...", below += "   ";
  for (std::size_t i = from; i < to; ++i) text += cells[i].text;
  if (to < cells.size()) text += "...";
  below.append(Columns(cells, from, caret), ' ');
  const std::size_t marked = Columns(cells, caret, std::min(caret_end, to));
  below += options.color ? kGreen : "";
  below += '^';
  if (marked > 1) below.append(marked - 1, '~');
  below += options.color ? kReset : "";
  return text + '\n' + below + '\n';
}

}  // namespace

std::string Printable(std::string_view text, std::size_t max_chars) {
  std::string out;
  std::size_t at = 0;
  std::size_t characters = 0;
  while (at < text.size()) {
    // Most of most text: in one piece, for much of it is shown (logs).
    std::size_t plain = at;
    while (plain < text.size() && plain - at < max_chars - characters && text[plain] >= ' ' &&
           text[plain] <= '~') {
      ++plain;
    }
    out.append(text.substr(at, plain - at));
    characters += plain - at;
    at = plain;
    if (at == text.size()) break;
    if (characters++ == max_chars) return out + "...";
    if (text[at] == '\n') {
      out += "\\n";
      ++at;
    } else {
      out += CellOf(text, at).text;
    }
  }
  return out;
}

std::string Render(const Diagnostic& diagnostic, const RenderOptions& options) {
  std::string out;
  const auto paint = [&](std::string_view color) { out += options.color ? color : ""; };
  paint(kBold);
  out += Printable(diagnostic.file, 500);
  if (diagnostic.line > 0) out += fmt::format(":{}:{}", diagnostic.line, diagnostic.col);
  out += ": ";
  paint(kReset);
  paint(kRed);
  out += "error: ";
  paint(kReset);
  out += diagnostic.message;
  out += '\n';
  if (diagnostic.line > 0 && !diagnostic.source_line.empty()) out += Excerpt(diagnostic, options);
  for (const std::string& note : diagnostic.notes) out += "  " + note + '\n';
  return out;
}

std::string Render(const Diagnostics& diagnostics, const RenderOptions& options) {
  std::string out;
  for (const Diagnostic& diagnostic : diagnostics.items) out += Render(diagnostic, options);
  if (diagnostics.more > 0) out += fmt::format("and {} more\n", diagnostics.more);
  return out;
}

}  // namespace tfyarn::config
