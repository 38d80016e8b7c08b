// Canaries: whole simulated runs in which one machine has a bug, put there by a double (see
// sim/doubles.h). The checker of the broken invariant must notice, and must have had nothing to say
// about the same run without the double.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "config/load.h"
#include "sim/doubles.h"
#include "sim/run.h"

namespace tfyarn::sim {

/// What most canaries run: a gang of two for a minute.
inline constexpr std::string_view kTwoWorkers = R"(
schema: tfsim/v1
name: canary
horizon: 6h
cluster: {nodes: [{name: n, count: 3, resources: {memory: 16GiB, vcores: 8, gpus: 1}}]}
jobs:
  - name: a
    strategy: multi-worker
    tasks: {worker: {instances: 2, memory: 1GiB, gpus: 1}}
    training: {steps: 60, step_time: 1s, checkpoint: {every: 10s, cost: 1s}, restore: 1s}
)";

/// Violations by invariant; only what was broken.
using Broken = std::map<std::string, std::uint64_t>;

inline Broken Run(std::string_view text, const Doubles* doubles) {
  const auto scenario = config::LoadScenarioText(text, "canary.yaml");
  if (!scenario) {
    ADD_FAILURE() << scenario.error().items.front().message;
    return {};
  }
  RunOptions options;
  options.elide = false;  // A double has to see every beat.
  options.doubles = doubles;
  options.reference = true;
  const trace::Result result = RunScenario(*scenario, options).result;
  Broken broken;
  for (const trace::InvariantResult& invariant : result.invariants) {
    if (invariant.violations > 0) broken[invariant.name] = invariant.violations;
  }
  return broken;
}

/// The run with the double breaks `invariant`; the same run without it breaks none.
inline void ExpectCaught(std::string_view text, const Doubles& doubles,
                         const std::string& invariant) {
  EXPECT_EQ(Run(text, nullptr), Broken{}) << "without the double";
  const Broken broken = Run(text, &doubles);
  std::string others;
  for (const auto& [name, count] : broken) others += " " + name;
  EXPECT_EQ(broken.count(invariant), 1u) << "noticed:" << (others.empty() ? " nothing" : others);
}

/// The request inside an order, when it is a call with that request; else nullptr.
template <class Request, class Call, class Order>
Request* RequestIn(Order& order) {
  auto* call = std::get_if<Call>(&order);
  return call == nullptr ? nullptr : std::get_if<Request>(&call->request);
}

}  // namespace tfyarn::sim
