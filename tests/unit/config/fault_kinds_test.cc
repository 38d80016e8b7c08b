#include "config/fault_kinds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/unit/config/config_testing.h"

namespace tfyarn::config::fault_kinds_test {
namespace {

/// A scenario in which every example makes sense.
std::string With(const std::string& fault) {
  return R"(name: x
cluster: {racks: 2, nodes: [{name: n, count: 3, labels: [gpu], resources: {memory: 16GiB, vcores: 8, gpus: 2}}]}
jobs: [{name: a, tasks: {worker: {instances: 2, memory: 1GiB}, ps: {memory: 1GiB}}}]
faults: [)" +
         fault + "]\n";
}

LoadOptions WithoutTraces() {
  return {.open = OpenVirtual({}), .read_traces = false};
}

TEST(FaultKindsTest, EveryExampleDecodesToItsKindWithAllItsDefaults) {
  for (const FaultKind& kind : FaultKinds()) {
    const auto scenario = LoadScenarioText(With(kind.example), "s", WithoutTraces());
    ASSERT_TRUE(scenario) << kind.example << "\n" << Render(scenario.error());
    const FaultSpec& fault = scenario->faults.at(0);
    EXPECT_EQ(fault.kind, kind.name);
    for (const FaultParam& param : kind.params) {
      const bool given = fault.numbers.contains(param.name) || fault.words.contains(param.name);
      EXPECT_EQ(given, param.required || !param.default_text.empty() ||
                           kind.example.find(" " + param.name + ":") != std::string::npos)
          << kind.name << "." << param.name;
    }
  }
}

TEST(FaultKindsTest, NamesAreOnceAndDocumented) {
  std::set<std::string> names;
  for (const FaultKind& kind : FaultKinds()) {
    EXPECT_TRUE(names.insert(kind.name).second) << kind.name;
    EXPECT_FALSE(kind.doc.empty());
    EXPECT_EQ(FindFaultKind(kind.name), &kind);
    for (const FaultParam& param : kind.params)
      EXPECT_FALSE(param.doc.empty()) << kind.name << "." << param.name;
  }
  EXPECT_EQ(names.size(), 51U);
}

// A kind says what this machine does, or why it does nothing.
TEST(FaultKindsTest, EachIsMadeRealOrSaysWhyNot) {
  for (const FaultKind& kind : FaultKinds()) {
    EXPECT_EQ(kind.here.effect == RealEffect::kNone, !kind.here.why_not.empty()) << kind.name;
    EXPECT_EQ(&KindWith(kind.id), &kind);
  }
}

// What a run's trace calls a fault need not be a kind: such a one may do anything.
TEST(FaultKindsTest, OfAnUnknownFaultTheWorstIsAssumed) {
  const FaultTraits& traits = TraitsOf("sabotage");
  EXPECT_FALSE(traits.strikes_only_its_target);
  EXPECT_TRUE(traits.keeps_news_from_am);
  EXPECT_FALSE(traits.spares_agents);
  EXPECT_TRUE(TraitsOf("slow_node").strikes_only_its_target);
}

TEST(FaultKindsTest, ParametersAreInBaseUnits) {
  const auto fault = [](const std::string& text) {
    auto scenario = LoadScenarioText(With(text), "s", WithoutTraces());
    EXPECT_TRUE(scenario) << Render(scenario.error());
    return scenario ? scenario->faults.at(0) : FaultSpec{};
  };
  EXPECT_EQ(fault("{kind: preempt, at: 1s, target: {job: a}, notice: 2m}").numbers.at("notice"),
            120);
  EXPECT_EQ(fault("{kind: hdfs_quota, at: 1s, bytes: 1KiB}").numbers.at("bytes"), 1024);
  EXPECT_EQ(
      fault("{kind: nm_restart, at: 1s, target: nodes, recover: false}").numbers.at("recover"), 0);
  const FaultSpec signal =
      fault("{kind: container_signal, at: 1s, target: {job: a}, signal: SEGV}");
  EXPECT_EQ(signal.numbers.at("signal"), 11);
  EXPECT_EQ(signal.words.at("signal"), "SEGV");
  EXPECT_EQ(fault("{kind: partition, between: [rm, hdfs]}").words.at("direction"), "both");
  EXPECT_EQ(fault("{kind: latency}").numbers.at("delay"), 0.1);
  EXPECT_FALSE(fault("{kind: gpu_scarcity, at: 1s, target: nodes}").numbers.contains("gpus"));
  EXPECT_EQ(fault("{kind: container_lost, at: 1s, target: {job: a}}").numbers.at("exit"), -100);
}

TEST(FaultKindsTest, WhatHappensToOneServiceNeedsNoTarget) {
  const auto scenario =
      LoadScenarioText(With("{kind: rm_pause, at: 1s}, {kind: hdfs_slow, at: 1s}"), "s", NoFiles());
  ASSERT_TRUE(scenario);
  EXPECT_EQ(scenario->faults[0].target->kind, TargetKind::kRm);
  EXPECT_EQ(scenario->faults[1].target->kind, TargetKind::kHdfs);
}

TEST(FaultKindsTest, MessagesAreNamedAsTheProtocolsNameThem) {
  const auto& names = MessageNames();
  for (const char* name : {"RegisterAgent", "ProcessEnded", "StartProcess", "EndAgent", "Allocate",
                           "NodeHeartbeat", "StartContainers", "SubmitApplication"}) {
    EXPECT_THAT(names, testing::Contains(name));
  }
}

}  // namespace
}  // namespace tfyarn::config::fault_kinds_test
