// Any bytes as the summary that a run of `--seeds` sends from its process. Reading never crashes;
// what was read says what was written, and can be folded into the document of all runs; what was
// cut off is not taken for a summary. The first byte says how the rest is used: as those bytes, or
// as a well-written summary, whole and cut.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "core/model/check.h"
#include "core/trace/json.h"
#include "tests/fuzz/one_of.h"

namespace {

using tfyarn::trace::RunSummary;
using tfyarn::trace::SummaryFromJson;
using tfyarn::trace::SummaryJson;

/// Takes numbers and texts off the input; zeros when it has ended.
class Input {
 public:
  explicit Input(std::string_view bytes) : bytes_(bytes) {}
  std::uint8_t Byte() { return static_cast<std::uint8_t>(Take(1).front()); }
  std::uint64_t Number() {
    std::uint64_t number = 0;
    std::memcpy(&number, Take(8).data(), 8);
    return number;
  }
  double Real() {
    double real = 0;
    std::memcpy(&real, Take(8).data(), 8);
    return std::isfinite(real) ? real : 0;
  }
  std::string Text() { return Take(Byte() % 16); }

 private:
  std::string Take(std::size_t count) {
    std::string taken(bytes_.substr(0, count));
    bytes_.remove_prefix(taken.size());
    taken.resize(count);
    return taken;
  }

  std::string_view bytes_;
};

RunSummary SummaryOf(Input& input) {
  RunSummary summary;
  summary.seed = input.Number();
  summary.verdict =
      input.Byte() % 2 == 0 ? tfyarn::trace::Verdict::kPassed : tfyarn::trace::Verdict::kFailed;
  summary.exit_code = static_cast<std::int32_t>(input.Number());
  summary.reason = input.Text();
  summary.digest = input.Text();
  summary.deadlocked = input.Byte() % 2 == 0;
  summary.simulated_seconds = input.Real();
  summary.wall_seconds = input.Real();
  summary.events = input.Number();
  for (int i = input.Byte() % 4; i > 0; --i) {
    summary.metrics.push_back({.name = input.Text(), .value = {}});
    if (input.Byte() % 2 == 0) summary.metrics.back().value = input.Real();
  }
  for (int i = input.Byte() % 4; i > 0; --i) {
    summary.expectations.push_back(
        {.text = input.Text(), .passed = input.Byte() % 2 == 0, .got = input.Text()});
  }
  return summary;
}

void Fold(const RunSummary& summary) {
  tfyarn::trace::CellBuilder builder({});
  builder.Add(summary, "again");
  builder.Add(summary, "again");
  tfyarn::trace::Ensemble ensemble;
  ensemble.all = builder.Finish();
  ensemble.cells.push_back(ensemble.all);
  TF_CHECK(nlohmann::json::accept(tfyarn::trace::EnsembleJson(ensemble)));
}

void CheckBytes(std::string_view bytes) {
  const auto summary = SummaryFromJson(bytes);
  if (!summary) return;
  const std::string written = SummaryJson(*summary);
  const nlohmann::json before = nlohmann::json::parse(bytes);
  const nlohmann::json after = nlohmann::json::parse(written);
  for (const auto& [name, value] : after.items()) {
    const nlohmann::json& was = before.at(name);
    if (name == "metrics" || name == "expectations") {
      TF_CHECK(was.size() == value.size());
    } else {
      TF_CHECK(value.is_number_float() ? was.is_number() : was.dump() == value.dump());
    }
  }
  const auto again = SummaryFromJson(written);
  TF_CHECK(again && SummaryJson(*again) == written);
  Fold(*summary);
}

void CheckWritten(std::string_view bytes) {
  Input input(bytes);
  const RunSummary summary = SummaryOf(input);
  const std::string written = SummaryJson(summary);
  TF_CHECK(written.find('\n') == std::string::npos);
  const auto read = SummaryFromJson(written);
  TF_CHECK(read && SummaryJson(*read) == written);
  TF_CHECK(read->seed == summary.seed && read->exit_code == summary.exit_code);
  TF_CHECK(read->verdict == summary.verdict && read->deadlocked == summary.deadlocked);
  TF_CHECK(read->events == summary.events && read->wall_seconds == summary.wall_seconds);
  TF_CHECK(read->metrics.size() == summary.metrics.size());
  TF_CHECK(read->expectations.size() == summary.expectations.size());
  Fold(*read);
  TF_CHECK(!SummaryFromJson(std::string_view(written).substr(0, input.Number() % written.size())));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return tfyarn::fuzz::OneOf(data, size, {CheckBytes, CheckWritten});
}
