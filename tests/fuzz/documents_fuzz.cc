// Any bytes as what `tfsim replay` and `tfsim diff` read. Reading never crashes, and refuses with a
// reason; what was read is written and read again unchanged; two documents or files of lines are
// said to be the same exactly when they are. The first byte says how the rest is used: as one
// document, as two (a zero byte between them), as two files of lines, or as numbers of a run whose
// own document is then compared.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "apps/cli/documents.h"
#include "core/model/check.h"
#include "core/trace/json.h"
#include "tests/fuzz/one_of.h"

namespace {

using tfyarn::cli::DifferencesOf;
using tfyarn::cli::Document;
using tfyarn::cli::ReadDocument;
using tfyarn::cli::ReadRecordedRun;

void CheckDocument(std::string_view bytes) {
  const auto run = ReadRecordedRun(bytes);
  TF_CHECK(run || run.error().message.starts_with("no result document of one run: "));
  const auto document = ReadDocument(bytes);
  if (!document) {
    TF_CHECK(!document.error().message.empty());
    TF_CHECK(!run);
    return;
  }
  TF_CHECK(DifferencesOf(*document, *document).empty());
  const std::string written = document->dump();
  const auto again = ReadDocument(written);
  TF_CHECK(again && again->dump() == written);
  if (run) TF_CHECK(document->at("seed").dump() == std::to_string(run->seed));
}

std::pair<std::string, std::string> Halves(std::string_view bytes) {
  const std::size_t middle = bytes.find('\0');
  if (middle == std::string_view::npos) return {std::string(bytes), std::string(bytes)};
  return {std::string(bytes.substr(0, middle)), std::string(bytes.substr(middle + 1))};
}

/// What has to be equal: members in any order, but for what is about the machine.
nlohmann::json Said(const Document& document) {
  nlohmann::json said = nlohmann::json::parse(document.dump());
  if (said.is_object()) {
    said.erase("wall_seconds");
    said.erase("peak_rss_bytes");
  }
  return said;
}

void CheckTwoDocuments(std::string_view bytes) {
  const auto [left_text, right_text] = Halves(bytes);
  const auto left = ReadDocument(left_text);
  const auto right = ReadDocument(right_text);
  if (!left || !right) return;
  const auto differences = DifferencesOf(*left, *right);
  TF_CHECK(differences.empty() == (Said(*left) == Said(*right)));
  TF_CHECK(differences.size() == DifferencesOf(*right, *left).size());
}

/// A last line counts with and without its newline.
std::string Ended(const std::string& text) {
  return text.empty() || text.ends_with('\n') ? text : text + "\n";
}

void CheckLines(std::string_view bytes) {
  const auto [left_text, right_text] = Halves(bytes);
  std::istringstream left(left_text), right(right_text);
  const auto result = tfyarn::cli::CompareLines(left, right);
  TF_CHECK((!result.left && !result.right) == (Ended(left_text) == Ended(right_text)));
  TF_CHECK(!result.left || result.left != result.right);
  TF_CHECK(result.before.size() <= result.same);
}

std::uint64_t NumberAt(std::string_view bytes, std::size_t position) {
  std::uint64_t number = 0;
  const std::size_t begin = 8 * position;
  if (begin + 8 <= bytes.size()) std::memcpy(&number, bytes.data() + begin, 8);
  return number;
}

/// What `run` writes is what `replay` reads, and of two runs `diff` tells what differs.
void CheckRun(std::string_view bytes) {
  tfyarn::trace::Result result;
  result.seed = NumberAt(bytes, 0);
  result.scenario_digest = NumberAt(bytes, 1);
  result.digest = std::to_string(NumberAt(bytes, 2));
  result.events = NumberAt(bytes, 3);
  const std::string text = tfyarn::trace::ResultJson(result);
  const auto run = ReadRecordedRun(text);
  TF_CHECK(run && run->seed == result.seed && run->digest == result.digest);
  TF_CHECK(std::stoull(run->scenario_digest, nullptr, 16) == result.scenario_digest);

  result.wall_seconds += 1;
  const auto slower = ReadDocument(tfyarn::trace::ResultJson(result));
  TF_CHECK(DifferencesOf(*ReadDocument(text), *slower).empty());
  result.events ^= 1;
  const auto other = ReadDocument(tfyarn::trace::ResultJson(result));
  TF_CHECK(DifferencesOf(*slower, *other).size() == 1);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return tfyarn::fuzz::OneOf(data, size, {CheckDocument, CheckTwoDocuments, CheckLines, CheckRun});
}
