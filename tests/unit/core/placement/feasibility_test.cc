#include "core/placement/feasibility.h"

#include <gtest/gtest.h>

namespace tfyarn::placement::feasibility_test {
namespace {

constexpr std::int64_t kGiB = 1024;

Node MakeNode(const std::string& host, const std::string& rack, Resource capability,
              const std::string& partition = "") {
  return {.id = {host, 8041},
          .rack = rack,
          .partition = partition,
          .capability = capability,
          .free = {}};
}

const Resource kGpuNode{.memory_mb = 256 * kGiB, .vcores = 32, .gpus = 8};
const Resource kCpuNode{.memory_mb = 512 * kGiB, .vcores = 64};

Inventory GpuAndCpu() {
  return Inventory({MakeNode("g1", "/r1", kGpuNode), MakeNode("g2", "/r2", kGpuNode),
                    MakeNode("c1", "/r1", kCpuNode)});
}

SlotGroup Workers(std::int32_t count, Resource resource, PlacementSpec placement = {}) {
  return {.task_type = "worker",
          .resource = resource,
          .placement = std::move(placement),
          .count = count};
}

std::string TextOf(const std::vector<SlotGroup>& groups, const Inventory& inventory,
                   const Limits& limits = {}) {
  const auto found = FindInfeasible(groups, inventory, limits);
  return found.has_value() ? found->text : "feasible";
}

// The nodes are full (free is nothing): that is no reason to say never.
TEST(FeasibilityTest, ABusyClusterIsFeasible) {
  EXPECT_EQ(TextOf({Workers(2, {.memory_mb = 16 * kGiB, .vcores = 4, .gpus = 8})}, GpuAndCpu()),
            "feasible");
}

TEST(FeasibilityTest, AContainerLargerThanAnyNodeIsNamedByItsResource) {
  const auto found =
      FindInfeasible({Workers(1, {.memory_mb = kGiB, .vcores = 1, .gpus = 16})}, GpuAndCpu(), {});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->text,
            "worker needs 16 GPUs (yarn.io/gpu) per container, but the largest node has 8");
  EXPECT_EQ(found->task_type, "worker");
  EXPECT_EQ(found->resource, "yarn.io/gpu");
  EXPECT_EQ(found->needed, 16);
  EXPECT_EQ(found->limit, 8);
}

TEST(FeasibilityTest, NoSingleNodeHasAllOfIt) {
  EXPECT_EQ(TextOf({Workers(1, {.memory_mb = 400 * kGiB, .vcores = 1, .gpus = 1})}, GpuAndCpu()),
            "worker needs 400 GiB, 1 vcore, 1 GPU per container, but no single node has all of it");
}

TEST(FeasibilityTest, AnUnknownPartitionIsNamedWithThoseThatExist) {
  const Inventory inventory(
      {MakeNode("a", "/r1", kGpuNode, "gpu"), MakeNode("b", "/r1", kCpuNode)});
  SlotGroup group = Workers(1, {.memory_mb = kGiB, .vcores = 1});
  group.node_label = "gpus";
  EXPECT_EQ(TextOf({group}, inventory),
            "worker needs nodes of partition gpus, but the cluster has none; its partitions are: "
            "the default one, gpu");
  group.node_label = "gpu";
  group.resource.gpus = 9;
  EXPECT_EQ(TextOf({group}, inventory),
            "worker needs 9 GPUs (yarn.io/gpu) per container, but the largest node of partition "
            "gpu has 8");
}

TEST(FeasibilityTest, TheLargestContainerOfTheRmLimits) {
  EXPECT_EQ(TextOf({Workers(1, {.memory_mb = 16 * kGiB, .vcores = 4})}, GpuAndCpu(),
                   {.maximum_container = {.memory_mb = 8 * kGiB, .vcores = 4}}),
            "worker needs 16 GiB of memory per container, but the ResourceManager's largest "
            "container has 8 GiB");
}

// An RM that has just restarted reports 2^63-1 for types that no node has brought yet.
TEST(FeasibilityTest, AnUnboundedMaximumLimitsNothing) {
  EXPECT_EQ(
      TextOf(
          {Workers(1, {.memory_mb = kGiB, .vcores = 1, .gpus = 8})}, GpuAndCpu(),
          {.maximum_container = {.memory_mb = INT64_MAX, .vcores = INT64_MAX, .gpus = INT64_MAX}}),
      "feasible");
}

TEST(FeasibilityTest, TheQueueLimitsTheWholeGangWithItsMaster) {
  const Limits limits{.queue_maximum = {{"", {.memory_mb = 32 * kGiB, .vcores = 64, .gpus = 8}}},
                      .queue_shares = {{"", kGpuNode + kGpuNode + kCpuNode}},
                      .reserved = {.memory_mb = kGiB, .vcores = 1}};
  EXPECT_EQ(TextOf({Workers(2, {.memory_mb = 16 * kGiB, .vcores = 4})}, GpuAndCpu(), limits),
            "the whole gang needs 33 GiB of memory, but the queue at its maximum has 32 GiB");
  EXPECT_EQ(TextOf({Workers(1, {.memory_mb = 16 * kGiB, .vcores = 4})}, GpuAndCpu(), limits),
            "feasible");
}

TEST(FeasibilityTest, WhatAQueueMayUseOfOnePartitionIsOfNoUseInAnother) {
  const Inventory inventory(
      {MakeNode("g", "/r1", kGpuNode, "gpu"), MakeNode("c", "/r1", kCpuNode)});
  const Limits limits{.queue_maximum = {{"", {.memory_mb = 32 * kGiB, .vcores = 64}},
                                        {"gpu", {.memory_mb = 64 * kGiB, .vcores = 8, .gpus = 4}}},
                      .queue_shares = {{"", kCpuNode}, {"gpu", kGpuNode}},
                      .reserved = {.memory_mb = kGiB, .vcores = 1}};
  EXPECT_EQ(TextOf({Workers(2, {.memory_mb = 16 * kGiB, .vcores = 4})}, inventory, limits),
            "the whole gang needs 33 GiB of memory, but the queue at its maximum in the default "
            "partition has 32 GiB");
  // The AM is in the default partition.
  SlotGroup labelled = Workers(4, {.memory_mb = 16 * kGiB, .vcores = 2, .gpus = 1});
  labelled.node_label = "gpu";
  EXPECT_EQ(TextOf({labelled}, inventory, limits), "feasible");
  labelled.count = 5;
  EXPECT_EQ(TextOf({labelled}, inventory, limits),
            "the whole gang needs 80 GiB of memory, but the queue at its maximum in partition gpu "
            "has 64 GiB");
  // Of what the queue may use there nothing is known.
  EXPECT_EQ(TextOf({labelled}, inventory, {.queue_maximum = {{"", kCpuNode}}}), "feasible");
}

TEST(FeasibilityTest, TheGangMayBeLargerThanTheCluster) {
  EXPECT_EQ(TextOf({Workers(3, {.memory_mb = 16 * kGiB, .vcores = 4, .gpus = 8})}, GpuAndCpu()),
            "worker needs 3 containers of 16 GiB, 4 vcores, 8 GPUs, but all nodes together hold 2 "
            "such containers when "
            "empty");
  SlotGroup ps{
      .task_type = "ps", .resource = {.memory_mb = kGiB, .vcores = 1, .gpus = 8}, .count = 1};
  EXPECT_EQ(TextOf({Workers(2, {.memory_mb = kGiB, .vcores = 1, .gpus = 8}), ps}, GpuAndCpu()),
            "the whole gang needs 24 GPUs (yarn.io/gpu), but the whole cluster has 16");
}

TEST(FeasibilityTest, TheGangMayBeLargerThanAPartition) {
  const Inventory inventory(
      {MakeNode("g", "/r1", kGpuNode, "gpu"), MakeNode("c", "/r1", kCpuNode)});
  for (const std::string label : {"", "gpu"}) {
    SlotGroup worker = Workers(1, {.memory_mb = (label.empty() ? 500 : 200) * kGiB, .vcores = 1});
    SlotGroup ps = Workers(1, {.memory_mb = 100 * kGiB, .vcores = 1});
    ps.task_type = "ps";
    worker.node_label = ps.node_label = label;
    EXPECT_EQ(TextOf({worker, ps}, inventory),
              label.empty() ? "the whole gang needs 600 GiB of memory, but the default partition "
                              "has 512 GiB"
                            : "the whole gang needs 300 GiB of memory, but partition gpu has "
                              "256 GiB");
  }
}

TEST(FeasibilityTest, PlacementRulesNeedEnoughNodesAndRacks) {
  const Resource small{.memory_mb = kGiB, .vcores = 1, .gpus = 1};
  EXPECT_EQ(TextOf({Workers(3, small, {.spread = PlacementScope::kNode})}, GpuAndCpu()),
            "worker needs 3 containers of 1 GiB, 1 vcore, 1 GPU on different nodes, but only 2 "
            "nodes can take one each");
  EXPECT_EQ(
      TextOf({Workers(3, {.memory_mb = kGiB, .vcores = 1}, {.spread = PlacementScope::kRack})},
             GpuAndCpu()),
      "worker needs 3 containers of 1 GiB, 1 vcore in different racks, but only 2 racks can take "
      "one each");
  EXPECT_EQ(TextOf({Workers(9, small, {.pack_rack = true})}, GpuAndCpu()),
            "worker needs 9 containers of 1 GiB, 1 vcore, 1 GPU in one rack, but the roomiest rack "
            "holds 8");
}

TEST(FeasibilityTest, WhatOnlyFailsTogetherIsFoundToo) {
  const Inventory inventory({MakeNode("a", "/r1", {.memory_mb = 10 * kGiB, .vcores = 10}),
                             MakeNode("b", "/r1", {.memory_mb = 10 * kGiB, .vcores = 10})});
  const SlotGroup ps{
      .task_type = "ps", .resource = {.memory_mb = 7 * kGiB, .vcores = 1}, .count = 1};
  EXPECT_EQ(TextOf({Workers(2, {.memory_mb = 6 * kGiB, .vcores = 1}), ps}, inventory),
            "the gang does not fit together on the 2 nodes of the cluster, even when they are "
            "empty: 2 worker (6 GiB, 1 "
            "vcore), 1 ps (7 GiB, 1 vcore)");
}

TEST(FeasibilityTest, AnUnknownClusterForbidsNothing) {
  EXPECT_EQ(TextOf({Workers(1000, {.memory_mb = kGiB, .vcores = 1, .gpus = 99})}, Inventory()),
            "feasible");
}

// It may come back before the gang's deadline.
TEST(FeasibilityTest, ALostNodeStillCounts) {
  std::vector<Node> nodes = {MakeNode("g1", "/r1", kGpuNode)};
  nodes[0].up = false;
  EXPECT_EQ(TextOf({Workers(1, {.memory_mb = kGiB, .vcores = 1, .gpus = 8})},
                   Inventory(std::move(nodes))),
            "feasible");
}

TEST(FeasibilityTest, AQueueGrowsWithTheNodesThatComeLaterOrAgain) {
  std::vector<Node> nodes = {MakeNode("g1", "/r1", kGpuNode), MakeNode("g2", "/r1", kGpuNode)};
  const std::vector<SlotGroup> gang = {Workers(2, {.memory_mb = kGiB, .vcores = 1, .gpus = 8})};
  const Limits half_of_both{.queue_maximum = {{"", kGpuNode}},
                            .queue_shares = {{"", kGpuNode + kGpuNode}}};
  EXPECT_EQ(TextOf(gang, Inventory(nodes), half_of_both),
            "the whole gang needs 16 GPUs (yarn.io/gpu), but the queue at its maximum has 8");
  const Limits all_of_one{.queue_maximum = {{"", kGpuNode}}, .queue_shares = {{"", kGpuNode}}};
  EXPECT_EQ(TextOf(gang, Inventory(nodes), all_of_one), "feasible");
  nodes[1].up = false;
  EXPECT_EQ(TextOf(gang, Inventory(nodes), all_of_one), "feasible");
}

TEST(FeasibilityTest, EveryTaskTypeIsAGroup) {
  JobSpec job;
  job.tasks.push_back({.name = "worker",
                       .instances = 3,
                       .resource = {.memory_mb = kGiB, .vcores = 1},
                       .node_label = "x"});
  const std::vector<SlotGroup> groups = GroupsOf(job);
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].count, 3);
  EXPECT_EQ(groups[0].node_label, "x");
}

}  // namespace
}  // namespace tfyarn::placement::feasibility_test
