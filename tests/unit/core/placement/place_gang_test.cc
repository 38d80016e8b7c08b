#include "core/placement/place_gang.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/model/random_stream.h"
#include "core/placement/placement_rules.h"

namespace tfyarn::placement::place_gang_test {
namespace {

constexpr std::int64_t kGiB = 1024;

Node MakeNode(int index, int rack, Resource capability, const std::string& partition = "") {
  char host[16];
  std::snprintf(host, sizeof host, "n%05d", index);
  return {.id = {host, 8041},
          .rack = "/r" + std::to_string(rack),
          .partition = partition,
          .capability = capability,
          .free = capability};
}

Inventory Cluster(int nodes, int racks, Resource capability) {
  std::vector<Node> list;
  for (int i = 0; i < nodes; ++i) list.push_back(MakeNode(i, i % racks, capability));
  return Inventory(std::move(list));
}

SlotGroup Group(const std::string& type, std::int32_t count, Resource resource,
                PlacementSpec placement = {}) {
  return {
      .task_type = type, .resource = resource, .placement = std::move(placement), .count = count};
}

Resource Gpus(std::int64_t gpus) {
  return {.memory_mb = 4 * kGiB, .vcores = 1, .gpus = gpus};
}

/// Everything that an assignment promises, looked at from outside.
void ExpectValid(const std::vector<SlotGroup>& groups, const Inventory& inventory,
                 const PlaceGangOptions& options, const Assignment& assignment) {
  PlacementRules rules;
  for (const SlotGroup& group : groups) rules.SetType(group.task_type, group.placement);
  for (const Occupant& occupant : options.occupants) {
    rules.Occupy(occupant.task_type, occupant.node.host, inventory.Find(occupant.node)->rack);
  }
  std::map<std::size_t, Resource> used;
  ASSERT_EQ(assignment.groups.size(), groups.size());
  for (std::size_t g = 0; g < groups.size(); ++g) {
    std::int32_t sum = 0;
    for (const Placed& placed : assignment.groups[g]) {
      ASSERT_GT(placed.count, 0);
      const Node& node = inventory.nodes()[placed.node];
      EXPECT_EQ(node.partition, groups[g].node_label);
      sum += placed.count;
      used[placed.node] += Times(groups[g].resource, placed.count);
      for (std::int32_t i = 0; i < placed.count; ++i) {
        EXPECT_TRUE(rules.Allows(groups[g].task_type, node.id.host, node.rack))
            << groups[g].task_type;
        rules.Occupy(groups[g].task_type, node.id.host, node.rack);
      }
    }
    EXPECT_EQ(sum, groups[g].count);
  }
  for (const auto& [index, amount] : used) {
    const Node& node = inventory.nodes()[index];
    EXPECT_TRUE(FitsIn(amount, options.space == Space::kFree ? node.free : node.capability));
  }
}

Found Place(const std::vector<SlotGroup>& groups, const Inventory& inventory,
            const PlaceGangOptions& options = {}) {
  const PlaceGangResult result = PlaceGang(groups, inventory, options);
  if (result.found == Found::kPlaced) ExpectValid(groups, inventory, options, result.assignment);
  return result.found;
}

TEST(PlaceGangTest, AllOfAGangIsPlacedOrNothing) {
  const Inventory inventory = Cluster(4, 1, {.memory_mb = 64 * kGiB, .vcores = 16, .gpus = 8});
  EXPECT_EQ(Place({Group("worker", 4, Gpus(8))}, inventory), Found::kPlaced);
  const PlaceGangResult result = PlaceGang({Group("worker", 5, Gpus(8))}, inventory);
  EXPECT_EQ(result.found, Found::kImpossible);
  EXPECT_TRUE(result.assignment.groups.empty());
}

TEST(PlaceGangTest, AGangOfNothingFitsAnywhere) {
  EXPECT_EQ(Place({}, Inventory()), Found::kPlaced);
  EXPECT_EQ(Place({Group("worker", 0, Gpus(8))}, Inventory()), Found::kPlaced);
}

TEST(PlaceGangTest, PartitionsDoNotMix) {
  std::vector<Node> nodes = {MakeNode(0, 0, Gpus(8), "gpu"), MakeNode(1, 0, Gpus(8))};
  const Inventory inventory(std::move(nodes));
  SlotGroup labelled = Group("worker", 1, Gpus(8));
  labelled.node_label = "gpu";
  EXPECT_EQ(Place({labelled, Group("ps", 1, Gpus(8))}, inventory), Found::kPlaced);
  labelled.count = 2;
  EXPECT_EQ(Place({labelled}, inventory), Found::kImpossible);
}

TEST(PlaceGangTest, SpreadOverNodesPutsAtMostOneOnEach) {
  const Inventory inventory = Cluster(3, 1, {.memory_mb = 64 * kGiB, .vcores = 16, .gpus = 8});
  const PlacementSpec spread{.spread = PlacementScope::kNode};
  EXPECT_EQ(Place({Group("worker", 3, Gpus(1), spread)}, inventory), Found::kPlaced);
  EXPECT_EQ(Place({Group("worker", 4, Gpus(1), spread)}, inventory), Found::kImpossible);
  EXPECT_EQ(
      Place({Group("worker", 2, Gpus(1), spread), Group("worker", 2, Gpus(2), spread)}, inventory),
      Found::kImpossible)
      << "the limit is of the type, not of one size";
}

TEST(PlaceGangTest, SpreadOverRacksPutsAtMostOneInEach) {
  const Inventory inventory = Cluster(6, 3, {.memory_mb = 64 * kGiB, .vcores = 16, .gpus = 8});
  const PlacementSpec spread{.spread = PlacementScope::kRack};
  EXPECT_EQ(Place({Group("worker", 3, Gpus(1), spread)}, inventory), Found::kPlaced);
  EXPECT_EQ(Place({Group("worker", 4, Gpus(1), spread)}, inventory), Found::kImpossible);
}

TEST(PlaceGangTest, PackKeepsATypeInOneRackThatIsLargeEnough) {
  std::vector<Node> nodes = {MakeNode(0, 0, Gpus(4)), MakeNode(1, 1, Gpus(4)),
                             MakeNode(2, 1, Gpus(4))};
  for (Node& node : nodes) node.capability.memory_mb = node.free.memory_mb = 64 * kGiB;
  for (Node& node : nodes) node.capability.vcores = node.free.vcores = 16;
  const Inventory inventory(std::move(nodes));
  const PlacementSpec pack{.pack_rack = true};
  EXPECT_EQ(Place({Group("worker", 8, Gpus(1), pack)}, inventory), Found::kPlaced);
  EXPECT_EQ(Place({Group("worker", 9, Gpus(1), pack)}, inventory), Found::kImpossible);
  EXPECT_EQ(Place({Group("worker", 9, Gpus(1))}, inventory), Found::kPlaced);
}

TEST(PlaceGangTest, AvoidHoldsInBothDirections) {
  const Inventory inventory = Cluster(2, 1, {.memory_mb = 64 * kGiB, .vcores = 16, .gpus = 8});
  const std::vector<SlotGroup> fits = {Group("worker", 2, Gpus(4)),
                                       Group("ps", 1, Gpus(0), {.avoid = {"worker"}})};
  EXPECT_EQ(Place(fits, inventory), Found::kPlaced);
  const std::vector<SlotGroup> too_many = {Group("worker", 3, Gpus(4)),
                                           Group("ps", 1, Gpus(0), {.avoid = {"worker"}})};
  EXPECT_EQ(Place(too_many, inventory), Found::kImpossible);
}

TEST(PlaceGangTest, OccupantsCountForTheRules) {
  const Inventory inventory = Cluster(2, 1, {.memory_mb = 64 * kGiB, .vcores = 16, .gpus = 8});
  const PlacementSpec spread{.spread = PlacementScope::kNode};
  const PlaceGangOptions options{.occupants = {{"worker", inventory.nodes()[0].id}}};
  EXPECT_EQ(Place({Group("worker", 1, Gpus(1), spread)}, inventory, options), Found::kPlaced);
  EXPECT_EQ(Place({Group("worker", 2, Gpus(1), spread)}, inventory, options), Found::kImpossible);
}

TEST(PlaceGangTest, FreeSpaceLeavesOutDownNodesAndEmptySpaceDoesNot) {
  std::vector<Node> nodes = {MakeNode(0, 0, Gpus(8))};
  nodes[0].up = false;
  const Inventory inventory(std::move(nodes));
  EXPECT_EQ(Place({Group("worker", 1, Gpus(8))}, inventory), Found::kImpossible);
  EXPECT_EQ(Place({Group("worker", 1, Gpus(8))}, inventory, {.space = Space::kEmpty}),
            Found::kPlaced);
  const PlaceGangOptions excluded{.space = Space::kEmpty, .excluded_hosts = {"n00000"}};
  EXPECT_EQ(Place({Group("worker", 1, Gpus(8))}, inventory, excluded), Found::kImpossible);
}

// Decreasing first-fit puts 6 beside 4 and fails; 6+2+2 and 4+4+2 is the only way.
TEST(PlaceGangTest, TheExactSearchFindsWhatFirstFitMisses) {
  const Inventory inventory = Cluster(2, 1, {.memory_mb = 10 * kGiB, .vcores = 100});
  const auto gib = [](std::int64_t n) { return Resource{.memory_mb = n * kGiB, .vcores = 1}; };
  const std::vector<SlotGroup> groups = {Group("a", 1, gib(6)), Group("b", 2, gib(4)),
                                         Group("c", 3, gib(2))};
  EXPECT_EQ(Place(groups, inventory, {.search_steps = 0}),
            Place(groups, inventory, {.first_fit_tries = 0}));
  EXPECT_EQ(Place(groups, inventory, {.first_fit_tries = 0}), Found::kPlaced);
}

// The larger workers would fill a node of which each parameter server needs a little.
TEST(PlaceGangTest, TheFirstTryPlacesConstrainedTypesBeforeLargerOnes) {
  const Inventory inventory = Cluster(2, 1, {.memory_mb = 64 * kGiB, .vcores = 16, .gpus = 8});
  const PlacementSpec spread{.spread = PlacementScope::kNode};
  EXPECT_EQ(Place({Group("worker", 2, Gpus(4)), Group("ps", 2, Gpus(1), spread)}, inventory,
                  {.first_fit_tries = 1, .search_steps = 0}),
            Found::kPlaced);
}

TEST(PlaceGangTest, GivingUpIsNotCalledImpossible) {
  const Inventory inventory = Cluster(12, 1, {.memory_mb = 10 * kGiB, .vcores = 100});
  const auto gib = [](std::int64_t n) { return Resource{.memory_mb = n * kGiB, .vcores = 1}; };
  // 124 GiB do not fit on 12 nodes of 10, but to see it every way to fill the first nodes must be
  // tried.
  const std::vector<SlotGroup> groups = {Group("a", 8, gib(6)), Group("b", 8, gib(5)),
                                         Group("c", 9, gib(4))};
  EXPECT_EQ(Place(groups, inventory, {.search_steps = 3}), Found::kGaveUp);
  EXPECT_EQ(Place(groups, inventory, {.search_steps = 1'000'000}), Found::kImpossible);
}

/// Tries every slot on every node.
bool BruteForce(const std::vector<SlotGroup>& groups, const Inventory& inventory, std::size_t g,
                std::int32_t placed, std::vector<Resource>& free,
                std::vector<std::vector<std::string>>& on) {
  if (g == groups.size()) return true;
  if (placed == groups[g].count) return BruteForce(groups, inventory, g + 1, 0, free, on);
  PlacementRules rules;
  for (const SlotGroup& group : groups) rules.SetType(group.task_type, group.placement);
  for (std::size_t n = 0; n < on.size(); ++n) {
    for (const std::string& type : on[n]) {
      rules.Occupy(type, inventory.nodes()[n].id.host, inventory.nodes()[n].rack);
    }
  }
  for (std::size_t n = 0; n < free.size(); ++n) {
    const Node& node = inventory.nodes()[n];
    if (!FitsIn(groups[g].resource, free[n]) ||
        !rules.Allows(groups[g].task_type, node.id.host, node.rack))
      continue;
    free[n] -= groups[g].resource;
    on[n].push_back(groups[g].task_type);
    const bool found = BruteForce(groups, inventory, g, placed + 1, free, on);
    on[n].pop_back();
    free[n] += groups[g].resource;
    if (found) return true;
  }
  return false;
}

PlacementSpec DrawPlacement(RandomStream& random) {
  switch (random.Below(6)) {
    case 0:
      return {.spread = PlacementScope::kNode};
    case 1:
      return {.spread = PlacementScope::kRack};
    case 2:
      return {.pack_rack = true};
    case 3:
      return {.avoid = {"b"}};
    default:
      return {};
  }
}

TEST(PlaceGangTest, SmallCasesAgreeWithTryingEverything) {
  int placed = 0;
  int impossible = 0;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    RandomStream random(seed, "place-gang-test");
    std::vector<Node> nodes;
    const auto count = 2 + random.Below(4);
    for (std::uint64_t n = 0; n < count; ++n) {
      const auto size = static_cast<std::int64_t>(3 + random.Below(6));
      nodes.push_back(MakeNode(static_cast<int>(n), static_cast<int>(random.Below(3)),
                               {.memory_mb = size, .vcores = size}));
    }
    const Inventory inventory(std::move(nodes));
    std::vector<SlotGroup> groups;
    for (const char* type : {"a", "b", "c"}) {
      const Resource unit{.memory_mb = static_cast<std::int64_t>(1 + random.Below(4)),
                          .vcores = static_cast<std::int64_t>(1 + random.Below(4))};
      groups.push_back(
          Group(type, static_cast<std::int32_t>(random.Below(4)), unit, DrawPlacement(random)));
    }
    std::vector<Resource> free;
    for (const Node& node : inventory.nodes()) free.push_back(node.free);
    std::vector<std::vector<std::string>> on(free.size());
    const bool possible = BruteForce(groups, inventory, 0, 0, free, on);
    for (const std::int32_t tries : {0, 64}) {
      EXPECT_EQ(Place(groups, inventory, {.first_fit_tries = tries, .search_steps = 1'000'000}),
                possible ? Found::kPlaced : Found::kImpossible)
          << "seed " << seed << " tries " << tries;
    }
    ++(possible ? placed : impossible);
  }
  EXPECT_GT(placed, 200);
  EXPECT_GT(impossible, 200);
}

TEST(PlaceGangTest, AThousandSlotsOnTenThousandNodesAreQuick) {
  const Inventory inventory =
      Cluster(10'000, 100, {.memory_mb = 256 * kGiB, .vcores = 32, .gpus = 8});
  const std::vector<SlotGroup> groups = {Group("worker", 1000, Gpus(8)), Group("ps", 50, Gpus(0)),
                                         Group("chief", 1, Gpus(8), {.avoid = {"ps"}})};
  EXPECT_EQ(Place(groups, inventory), Found::kPlaced);
}

}  // namespace
}  // namespace tfyarn::placement::place_gang_test
