// The JSON documents and lines that `tfsim replay` and `tfsim diff` compare: reading, which refuses
// what it cannot handle, and where two of them differ. Texts in, texts out; the files are
// compare_commands.cc's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/error.h"

namespace tfyarn::cli {

using Document = nlohmann::ordered_json;

/// Deeper than any document of ours, and far from what overflows the stack of those that walk it.
inline constexpr std::size_t kDeepestDocument = 64;

/// Errors: kInvalidArgument, saying what of the text is not JSON (line and column), nests deeper
/// than kDeepestDocument, or is a number that is out of range.
[[nodiscard]] Expected<Document> ReadDocument(std::string_view text);

/// What a run is known by in its result document.
struct RecordedRun {
  std::uint64_t seed = 0;
  std::string digest;
  std::string scenario_digest;
};

/// Errors: kInvalidArgument; the text is no result document of one run.
[[nodiscard]] Expected<RecordedRun> ReadRecordedRun(std::string_view text);

/// One text for each place in which the documents differ, "/jobs/0/status: LEFT | RIGHT". Empty:
/// they say the same, but for what is about the machine and not the run (`wall_seconds`,
/// `peak_rss_bytes`). The order of members is no difference.
[[nodiscard]] std::vector<std::string> DifferencesOf(const Document& left, const Document& right);

/// Where two files of lines first differ.
struct LineComparison {
  std::size_t same = 0;              ///< Equal lines before that.
  std::vector<std::string> before;   ///< The last few of them.
  std::optional<std::string> left;   ///< nullopt: it has ended.
  std::optional<std::string> right;  ///< Both nullopt: there is no difference.
};

[[nodiscard]] LineComparison CompareLines(std::istream& left, std::istream& right);

}  // namespace tfyarn::cli
