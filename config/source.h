// The texts that diagnostics point into: files, and `--set` arguments, which are files of one line.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/diagnostics.h"

namespace tfyarn::config {

/// A place in one of the texts. Columns count bytes here; diagnostics turn them into characters.
struct Place {
  std::uint32_t file = 0;  ///< Position in Sources.
  std::uint32_t line = 0;  ///< From 1; 0 = the file as a whole.
  std::uint32_t col = 0;   ///< From 1.
  friend auto operator<=>(const Place&, const Place&) = default;
};

/// Something wrong, while it is still only a place.
struct Finding {
  Place place;
  std::uint32_t width = 1;  ///< Bytes, on the place's line.
  std::string message;
  std::vector<std::string> notes;
};

class Sources {
 public:
  /// Returns the position of the new text.
  std::uint32_t Add(std::string name, std::string text);
  [[nodiscard]] const std::string& name(std::uint32_t file) const { return sources_[file].name; }
  [[nodiscard]] const std::string& text(std::uint32_t file) const { return sources_[file].text; }
  [[nodiscard]] std::size_t size() const { return sources_.size(); }
  /// The line without its end; "" when there is no such line.
  [[nodiscard]] std::string_view Line(std::uint32_t file, std::uint32_t line) const;

  /// Diagnostics show stars in place of this part of a text, line by line.
  void Hide(Place from, Place to);

  /// Sorted by place, without repetitions, cut at Diagnostics::kMax.
  [[nodiscard]] Diagnostics Finish(std::vector<Finding> findings) const;

 private:
  struct Source {
    std::string name;
    std::string text;
    std::vector<std::size_t> line_starts;
    std::vector<std::pair<Place, Place>> hidden;
  };
  /// The line as it may be shown.
  [[nodiscard]] std::string Shown(std::uint32_t file, std::uint32_t line) const;

  std::vector<Source> sources_;
};

/// The first byte that does not belong to well-formed UTF-8 text, or npos.
[[nodiscard]] std::size_t FindInvalidUtf8(std::string_view text);
/// Decodes one character at `at` (< size) and moves `at` behind it; bytes that are no UTF-8 give -1
/// and one step.
[[nodiscard]] std::int32_t NextCharacter(std::string_view text, std::size_t& at);

}  // namespace tfyarn::config
