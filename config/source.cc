#include "config/source.h"

#include <algorithm>
#include <tuple>

#include "config/hide_secrets.h"
#include "core/model/check.h"

namespace tfyarn::config {
namespace {

std::uint32_t CharactersBefore(std::string_view line, std::uint32_t byte_col) {
  std::uint32_t characters = 0;
  std::size_t at = 0;
  while (at < line.size() && at + 1 < byte_col) {
    (void)NextCharacter(line, at);
    ++characters;
  }
  return characters;
}

}  // namespace

std::uint32_t Sources::Add(std::string name, std::string text) {
  Source source{.name = std::move(name), .text = std::move(text), .line_starts = {0}};
  for (std::size_t i = 0; i < source.text.size(); ++i) {
    if (source.text[i] == '\n') source.line_starts.push_back(i + 1);
  }
  sources_.push_back(std::move(source));
  return static_cast<std::uint32_t>(sources_.size() - 1);
}

std::string_view Sources::Line(std::uint32_t file, std::uint32_t line) const {
  TF_CHECK(file < sources_.size());
  const Source& source = sources_[file];
  if (line == 0 || line > source.line_starts.size()) return {};
  const std::size_t begin = source.line_starts[line - 1];
  std::size_t end =
      line < source.line_starts.size() ? source.line_starts[line] - 1 : source.text.size();
  if (end > begin && source.text[end - 1] == '\r') --end;
  return std::string_view(source.text).substr(begin, end - begin);
}

void Sources::Hide(Place from, Place to) {
  TF_CHECK(from.file < sources_.size());
  sources_[from.file].hidden.emplace_back(from, to);
}

std::string Sources::Shown(std::uint32_t file, std::uint32_t line) const {
  std::string text = WithoutValuesOfSecrets(std::string(Line(file, line)));
  for (const auto& [from, to] : sources_[file].hidden) {
    // An end that is not known is the line's: that of a block of text is where the next key is.
    const bool known = from < to;
    if (line < from.line || line > (known ? to.line : from.line)) continue;
    const std::size_t begin = line == from.line ? from.col - 1 : 0;
    const std::size_t end = known && line == to.line ? to.col - 1 : text.size();
    for (std::size_t i = begin; i < std::min(end, text.size()); ++i) text[i] = '*';
  }
  return text;
}

Diagnostics Sources::Finish(std::vector<Finding> findings) const {
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    return std::tie(a.place, a.message) < std::tie(b.place, b.message);
  });
  findings.erase(std::unique(findings.begin(), findings.end(),
                             [](const Finding& a, const Finding& b) {
                               return a.place == b.place && a.message == b.message;
                             }),
                 findings.end());
  Diagnostics out;
  for (Finding& finding : findings) {
    if (out.items.size() == Diagnostics::kMax) {
      ++out.more;
      continue;
    }
    const std::string_view line = Line(finding.place.file, finding.place.line);
    out.items.push_back(
        {.file = name(finding.place.file),
         .line = finding.place.line,
         .col = finding.place.line == 0 ? 0 : CharactersBefore(line, finding.place.col) + 1,
         .message = std::move(finding.message),
         .notes = std::move(finding.notes),
         .source_line = Shown(finding.place.file, finding.place.line),
         .byte_col = finding.place.col,
         .width = std::max<std::uint32_t>(1, finding.width)});
  }
  return out;
}

std::int32_t NextCharacter(std::string_view text, std::size_t& at) {
  TF_CHECK(at < text.size());
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t lead = byte(at);
  std::size_t length = 1;
  std::int32_t value = lead;
  std::int32_t least = 0;
  if (lead >= 0x80) {
    if (lead >= 0xC2 && lead <= 0xDF) {
      length = 2, value = lead & 0x1F, least = 0x80;
    } else if (lead >= 0xE0 && lead <= 0xEF) {
      length = 3, value = lead & 0x0F, least = 0x800;
    } else if (lead >= 0xF0 && lead <= 0xF4) {
      length = 4, value = lead & 0x07, least = 0x10000;
    } else {
      ++at;
      return -1;
    }
  }
  for (std::size_t i = 1; i < length; ++i) {
    if (at + i >= text.size() || (byte(at + i) & 0xC0) != 0x80) {
      ++at;
      return -1;
    }
    value = (value << 6) | (byte(at + i) & 0x3F);
  }
  if (value < least || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) {
    ++at;
    return -1;
  }
  at += length;
  return value;
}

std::size_t FindInvalidUtf8(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t here = at;
    if (static_cast<unsigned char>(text[at]) < 0x80) {
      ++at;
    } else if (NextCharacter(text, at) < 0) {
      return here;
    }
  }
  return std::string_view::npos;
}

}  // namespace tfyarn::config
