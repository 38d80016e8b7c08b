// What is wrong with a file, and how it is shown to the one who wrote it.
//
// A diagnostic is complete in itself: it carries the line it is about, so that it can be rendered
// long after the file is gone. The text is safe for a terminal whatever the file contains.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tfyarn::config {

struct Diagnostic {
  std::string file;
  std::uint32_t line = 0;          ///< From 1; 0 = the file as a whole.
  std::uint32_t col = 0;           ///< From 1, in characters, not bytes.
  std::string message;             ///< One line, no final period.
  std::vector<std::string> notes;  ///< "allowed: ...", "did you mean ...?"
  std::string source_line;         ///< As it is in the file; "" when line is 0.
  std::uint32_t byte_col = 0;      ///< Where the caret stands in source_line, from 1.
  std::uint32_t width = 1;         ///< Bytes under the caret and its tail.

  friend bool operator==(const Diagnostic&, const Diagnostic&) = default;
};

struct Diagnostics {
  static constexpr std::size_t kMax = 20;

  std::vector<Diagnostic> items;  ///< Sorted by place, at most kMax.
  std::size_t more = 0;           ///< How many others there were.
};

struct RenderOptions {
  bool color = false;
  std::size_t columns = 100;  ///< Longer source lines are cut around the caret.
};

/// `file:line:col: error: message`, the source line, a caret, the notes; for all of them.
[[nodiscard]] std::string Render(const Diagnostics& diagnostics, const RenderOptions& options = {});
[[nodiscard]] std::string Render(const Diagnostic& diagnostic, const RenderOptions& options = {});

/// Text from outside, fit for a terminal: control characters, text-direction overrides and bytes
/// that are not UTF-8 are written as escapes; at most `max_chars` characters, then "...".
[[nodiscard]] std::string Printable(std::string_view text, std::size_t max_chars = 60);

}  // namespace tfyarn::config
