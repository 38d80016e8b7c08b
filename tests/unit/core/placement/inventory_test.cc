#include "core/placement/inventory.h"

#include <gtest/gtest.h>

namespace tfyarn::placement::inventory_test {
namespace {

yarn::NodeReport Report(const std::string& host, yarn::NodeState state, std::int64_t gpus = 8,
                        std::int64_t used = 0) {
  return {.node = {host, 8041},
          .rack = "/r1",
          .state = state,
          .capability = {.memory_mb = 65536, .vcores = 16, .gpus = gpus},
          .used = {.memory_mb = 1024, .vcores = 1, .gpus = used},
          .partition = ""};
}

TEST(InventoryTest, NodesAreSortedAndFreeIsWhatIsNotUsed) {
  const Inventory inventory(
      {Report("b", yarn::NodeState::kRunning, 8, 3), Report("a", yarn::NodeState::kRunning)});
  ASSERT_EQ(inventory.nodes().size(), 2U);
  EXPECT_EQ(inventory.nodes()[0].id.host, "a");
  EXPECT_EQ(inventory.FindHost("b")->free, (Resource{.memory_mb = 64512, .vcores = 15, .gpus = 5}));
  EXPECT_EQ(inventory.Find({"b", 1}), nullptr);
}

TEST(InventoryTest, ALostNodeStaysAsADownOneAndComesBackChanged) {
  Inventory inventory({Report("a", yarn::NodeState::kRunning)});
  inventory.Apply({.node = {"a", 8041}, .state = yarn::NodeState::kLost});
  ASSERT_EQ(inventory.nodes().size(), 1U);
  EXPECT_FALSE(inventory.nodes()[0].up);
  EXPECT_EQ(inventory.nodes()[0].capability.gpus, 8)
      << "a report without size changes only the state";

  inventory.Apply(Report("a", yarn::NodeState::kRunning, 4));
  EXPECT_TRUE(inventory.nodes()[0].up);
  EXPECT_EQ(inventory.nodes()[0].capability.gpus, 4);
}

TEST(InventoryTest, ADecommissionedNodeLeavesForGood) {
  Inventory inventory({Report("a", yarn::NodeState::kRunning)});
  inventory.Apply(Report("a", yarn::NodeState::kDecommissioned));
  EXPECT_TRUE(inventory.empty());
}

TEST(InventoryTest, ANodeThatHasLeftOrHasNoSizeIsNoneOfAList) {
  EXPECT_TRUE(Inventory({Report("a", yarn::NodeState::kDecommissioned)}).empty());
  EXPECT_TRUE(Inventory({{.node = {"a", 8041}, .state = yarn::NodeState::kNew}}).empty());
}

// What is told of one node must not depend on whether a caller has looked at the others before.
TEST(InventoryTest, UpdatesCountBeforeAndAfterTheFirstLookAtAllNodes) {
  for (const bool looked : {false, true}) {
    Inventory inventory(
        {Report("a", yarn::NodeState::kRunning), Report("b", yarn::NodeState::kRunning)});
    if (looked) {
      EXPECT_EQ(inventory.nodes().size(), 2U);
    }
    inventory.Apply({.node = {"a", 8041}, .state = yarn::NodeState::kLost});
    inventory.Apply(Report("c", yarn::NodeState::kRunning, 2));
    std::string seen;
    inventory.Scan([&](const Node& node) {
      seen += node.id.host + (node.up ? "+" : "-");
      return node.id.host != "b";
    });
    EXPECT_EQ(seen, "a-b+") << "looked " << looked;
    EXPECT_EQ(inventory.nodes().size(), 3U);
    inventory.Apply(Report("a", yarn::NodeState::kDecommissioned));
    EXPECT_EQ(inventory.Find({"a", 8041}), nullptr);
  }
}

TEST(InventoryTest, ARackIsThatOfTheLastUpdateWithASize) {
  for (const bool looked : {false, true}) {
    Inventory inventory(
        {Report("a", yarn::NodeState::kRunning), Report("b", yarn::NodeState::kRunning)});
    if (looked) {
      EXPECT_EQ(inventory.nodes().size(), 2U);
    }
    yarn::NodeReport moved = Report("a", yarn::NodeState::kRunning);
    moved.rack = "/elsewhere";
    inventory.Apply(moved);
    inventory.Apply({.node = {"a", 8041}, .state = yarn::NodeState::kLost});
    inventory.Apply(Report("b", yarn::NodeState::kDecommissioned));
    EXPECT_EQ(inventory.RackOf({"a", 8041}), "/elsewhere") << "looked " << looked;
    EXPECT_EQ(inventory.RackOf({"b", 8041}), "") << "looked " << looked;
    EXPECT_EQ(inventory.RackOf({"c", 8041}), "") << "looked " << looked;
  }
}

TEST(InventoryTest, ManyUpdatesAreTakenInAtOnce) {
  Inventory inventory({Report("a", yarn::NodeState::kRunning)});
  for (std::int64_t i = 0; i < 1000; ++i) {
    inventory.Apply(Report("a", yarn::NodeState::kRunning, i % 8 + 1));
  }
  EXPECT_EQ(inventory.FindHost("a")->capability.gpus, 999 % 8 + 1);
}

// A node that lost GPUs may use more than it has for a moment.
TEST(InventoryTest, FreeIsNeverNegative) {
  const Inventory inventory({Report("a", yarn::NodeState::kRunning, 2, 5)});
  EXPECT_EQ(inventory.nodes()[0].free.gpus, 0);
}

}  // namespace
}  // namespace tfyarn::placement::inventory_test
