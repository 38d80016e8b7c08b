// Any bytes as a --set: it changes the scenario, or is an error at a place inside what was given.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "config/load.h"
#include "core/model/check.h"

namespace {

constexpr const char* kScenario = R"(name: small
cluster: {racks: 2, nodes: [{name: n, count: 3, labels: [gpu], resources: {memory: 16GiB, vcores: 8}}]}
jobs: [{name: a, tasks: {worker: {instances: 2, memory: 1GiB}}, training: {steps: 10, step_time: 1s}}]
faults: [{kind: node_crash, at: 5s, target: {node: n-1}}]
)";

tfyarn::Expected<std::unique_ptr<tfyarn::config::ByteSource>> NoFile(const std::string& /*path*/) {
  return tfyarn::Fail(tfyarn::ErrorCode::kNotFound, "No such file or directory");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string assignment(reinterpret_cast<const char*>(data), size);
  tfyarn::config::LoadOptions options{.open = NoFile, .read_traces = false};
  options.sets = {assignment};
  const auto scenario = tfyarn::config::LoadScenarioText(kScenario, "s", options);
  if (scenario) return 0;
  const auto lines =
      static_cast<std::size_t>(std::count(assignment.begin(), assignment.end(), '\n'));
  TF_CHECK(!scenario.error().items.empty());
  for (const tfyarn::config::Diagnostic& error : scenario.error().items) {
    TF_CHECK(!error.message.empty());
    TF_CHECK(error.file != "--set" || error.line <= lines + 1);
    TF_CHECK(error.file != "--set" || error.col <= size + 1);
  }
  TF_CHECK(!tfyarn::config::Render(scenario.error()).empty());
  return 0;
}
