// Any bytes as a scenario: loading ends with a scenario or with errors that can be shown, and what
// is effective loads again as the same.
#include <cstddef>
#include <cstdint>
#include <string>

#include "config/load.h"
#include "core/model/check.h"

namespace {

tfyarn::Expected<std::unique_ptr<tfyarn::config::ByteSource>> NoFile(const std::string& /*path*/) {
  return tfyarn::Fail(tfyarn::ErrorCode::kNotFound, "No such file or directory");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const tfyarn::config::LoadOptions options{.open = NoFile, .read_traces = false};
  const auto scenario = tfyarn::config::LoadScenarioText(text, "s", options);
  if (!scenario) {
    TF_CHECK(!scenario.error().items.empty());
    TF_CHECK(!tfyarn::config::Render(scenario.error()).empty());
    return 0;
  }
  const auto again = tfyarn::config::LoadScenarioText(scenario->effective_yaml, "s", options);
  TF_CHECK(again.has_value());
  TF_CHECK(again->digest == scenario->digest);
  return 0;
}
