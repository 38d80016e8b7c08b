#include "explore/generator.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "config/emit.h"
#include "config/fault_kinds.h"
#include "config/load.h"
#include "tests/unit/digest.h"
#include "tests/unit/golden_file.h"

namespace tfyarn::explore::generator_test {
namespace {

constexpr std::uint64_t kSeeds = 400;

TEST(GeneratorTest, WhatItDrawsIsAScenario) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const std::string yaml = config::EmitYaml(DrawScenario(seed));
    const auto scenario = config::LoadScenarioText(yaml, "drawn.yaml");
    ASSERT_TRUE(scenario) << "seed " << seed << "\n"
                          << config::Render(scenario.error()) << "\n"
                          << yaml;
    EXPECT_LE(scenario->jobs.size(), 2U);
    EXPECT_LE(scenario->faults.size(), 3U);
    EXPECT_EQ(scenario->expect.size(), scenario->jobs.size());
  }
}

TEST(GeneratorTest, TheSeedSaysAll) {
  EXPECT_EQ(config::EmitYaml(DrawScenario(7)), config::EmitYaml(DrawScenario(7)));
  EXPECT_NE(config::EmitYaml(DrawScenario(7)), config::EmitYaml(DrawScenario(8)));
}

// Whatever the compiler: the sanitizers' is another one, and both have the one file. Two draws in
// one expression come in no order that the language says.
TEST(GeneratorTest, EveryCompilerDrawsTheSame) {
  std::string text;
  for (std::uint64_t seed = 0; seed < 1000; seed += 20) {
    std::uint64_t digest = kDigestOfNothing;
    for (std::uint64_t i = seed; i < seed + 20; ++i)
      digest = DigestOf(digest, config::EmitYaml(DrawScenario(i)));
    text += fmt::format("{:016x}\n", digest);
  }
  ExpectGolden("explore/drawn.txt", text);
}

TEST(GeneratorTest, EveryKindOfFaultAndEveryMomentIsDrawn) {
  std::set<std::string> kinds;
  std::set<std::string> moments;
  for (std::uint64_t seed = 1; seed <= 4 * kSeeds; ++seed) {
    const auto scenario =
        config::LoadScenarioText(config::EmitYaml(DrawScenario(seed)), "drawn.yaml");
    ASSERT_TRUE(scenario);
    for (const config::FaultSpec& fault : scenario->faults) {
      kinds.insert(fault.kind);
      if (fault.when.append) moments.insert("append");
      if (fault.when.fault) moments.insert("fault");
      if (fault.when.state) moments.insert(fault.when.task.empty() ? "job" : "task");
      if (!fault.when.message.empty()) moments.insert("message");
    }
  }
  for (const config::FaultKind& kind : config::FaultKinds()) {
    EXPECT_EQ(kinds.contains(kind.name), kind.drawing.weight > 0) << kind.name;
  }
  EXPECT_THAT(moments, testing::ElementsAre("append", "fault", "job", "message", "task"));
}

// What no job survives without a restart, or at all, is not asked of it.
TEST(GeneratorTest, FaultsOfAJobThatMustSucceedLeaveItTheMeans) {
  const Sketch healthy{.nodes = {"n"},
                       .nodes_for_ams = 1,
                       .jobs = {{.name = "a", .types = {{.name = "worker"}}}},
                       .healthy = true};
  Sketch harmless = healthy;
  harmless.harmless = true;
  std::set<std::string> seen;
  for (std::uint64_t seed = 1; seed <= 10 * kSeeds; ++seed) {
    for (const Node& fault : DrawFaults(seed, healthy, 3).list.items) {
      if (TextAt(fault, "kind") != "drop") continue;
      const std::string message = TextAt(fault, "message");
      if (TextAt(fault, "nth") == "0") seen.insert(message == "AgentHeartbeat" ? message : "other");
    }
    std::set<std::string> kinds;
    for (const Node& fault : DrawFaults(seed, harmless, 3).list.items)
      kinds.insert(TextAt(fault, "kind"));
    EXPECT_FALSE(kinds.contains("am_crash") && kinds.contains("nm_heartbeat_loss")) << seed;
    seen.merge(kinds);
  }
  EXPECT_FALSE(seen.contains("AgentHeartbeat"));
  for (const char* kind : {"other", "am_crash", "nm_heartbeat_loss"})
    EXPECT_TRUE(seen.contains(kind));
}

// YARN waits for ever for a node on which it can start an AM.
TEST(GeneratorTest, ANodeForAmsIsLeft) {
  for (std::uint64_t seed = 1; seed <= 4 * kSeeds; ++seed) {
    const auto scenario =
        config::LoadScenarioText(config::EmitYaml(DrawScenario(seed)), "drawn.yaml");
    ASSERT_TRUE(scenario);
    std::int64_t left = 0;
    for (const auto& node_class : scenario->cluster.nodes)
      left += node_class.partition.empty() ? node_class.count : 0;
    for (const config::FaultSpec& fault : scenario->faults) {
      const bool takes_node = fault.kind == "node_crash" || fault.kind == "node_decommission";
      if (takes_node && !fault.duration) --left;
    }
    EXPECT_GT(left, 0) << "seed " << seed;
  }
}

config::Scenario ScenarioOf(const std::string& jobs) {
  auto scenario = config::LoadScenarioText(
      "schema: tfsim/v1\nname: mine\ncluster:\n  racks: 2\n  nodes:\n"
      "  - {name: gpu, count: 2, resources: {memory: 8GiB, vcores: 4}}\n"
      "  - {name: big, partition: apart, resources: {memory: 8GiB, vcores: 4}}\n" +
          jobs,
      "mine.yaml");
  EXPECT_TRUE(scenario) << config::Render(scenario.error());
  return *scenario;
}

TEST(GeneratorTest, FaultsForAScenarioAimAtWhatItHas) {
  const Sketch sketch =
      SketchOf(ScenarioOf("jobs: [{name: mine, tasks: {worker: {instances: 2, memory: 1GiB}}}]\n"));
  EXPECT_THAT(sketch.nodes, testing::ElementsAre("gpu-1", "gpu-2", "big"));
  EXPECT_EQ(sketch.nodes_for_ams, 2);
  EXPECT_THAT(sketch.racks, testing::ElementsAre("r1", "r2"));
  ASSERT_EQ(sketch.jobs.size(), 1U);
  EXPECT_EQ(sketch.jobs[0].types[0].instances, 2);
  EXPECT_EQ(DrawFaults(1, sketch, 3).list.items.size(), 3U);
}

TEST(GeneratorTest, FaultsAimAtTheFirstJobThatArrives) {
  const Sketch sketch =
      SketchOf(ScenarioOf("arrivals:\n- count: 3\n  interarrival: 1m\n  prefix: load\n"
                          "  template: {tasks: {worker: {instances: 2, memory: 1GiB}}}\n"));
  ASSERT_EQ(sketch.jobs.size(), 1U);
  EXPECT_EQ(sketch.jobs[0].name, "load-1");
  ASSERT_EQ(sketch.jobs[0].types.size(), 1U);
}

// As for a trace of jobs, which has no job to name.
TEST(GeneratorTest, WithoutJobsFaultsStrikeNodesAndServices) {
  const Sketch sketch{.nodes = {"n"}, .nodes_for_ams = 1};
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    for (const Node& fault : DrawFaults(seed, sketch, 3).list.items) {
      EXPECT_EQ(fault.FindPath("when.job"), nullptr);
      EXPECT_EQ(fault.FindPath("target.job"), nullptr);
      EXPECT_EQ(fault.FindPath("target.am"), nullptr);
    }
  }
}

}  // namespace
}  // namespace tfyarn::explore::generator_test
