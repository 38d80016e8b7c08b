// What is granted, released and told to have ended.
#include <gmock/gmock.h>

#include "hosts/local/local_rm.h"
#include "tests/unit/hosts/local/rm_rig.h"

namespace tfyarn::hosts::local_rm_containers_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class LocalRmContainersTest : public RmRig {
 protected:
  LocalRmContainersTest() {
    Submit();
    (void)Register();
    (void)Orders();
  }
  ~LocalRmContainersTest() override {
    Finish();
    End(IdOf(1, 1), 0);
    EndAll();
    EXPECT_TRUE(rm_.idle());
    EXPECT_EQ(rm_.used(), Resource{});
  }
  /// How many are granted to these rows in one answer.
  std::size_t Granted(std::vector<yarn::ResourceRequest> ask) {
    return Allocate(std::move(ask)).allocated_containers.size();
  }
};

TEST_F(LocalRmContainersTest, GrantsAtOnceWithAllThatIsNeededToStart) {
  const auto response = Allocate({Row(1)});
  ASSERT_THAT(response.allocated_containers, SizeIs(1));
  const yarn::Container& container = response.allocated_containers.front();
  EXPECT_EQ(ToString(container.id), "container_5_0001_01_000002");
  EXPECT_EQ(ToString(container.node), "here:1");
  EXPECT_EQ(container.resource, Row(1).capability);
  EXPECT_EQ(container.priority, 1);
  EXPECT_EQ(container.token.kind, yarn::TokenKind::kContainer);
  ASSERT_THAT(response.nm_tokens, SizeIs(1));
  EXPECT_EQ(ToString(response.nm_tokens.front().node), "here:1");
  EXPECT_EQ(response.num_cluster_nodes, 1);
  EXPECT_EQ(response.limit, (Resource{.memory_mb = 6144, .vcores = 2, .gpus = 1}));
  EXPECT_EQ(rm_.GrantOf(container.id), Row(1).capability);
  EXPECT_EQ(Seen("ContainerGranted"), 2);
  EXPECT_THAT(Allocate().nm_tokens, IsEmpty());
}

TEST_F(LocalRmContainersTest, GrantsWhatFitsAndTheRestWhenSomethingEnds) {
  const auto running = Run({Row(5)});
  EXPECT_THAT(running, SizeIs(3));  // The AM has one of four vcores.
  EXPECT_EQ(Granted({}), 0u);
  End(running[1], 0);
  EXPECT_EQ(Granted({}), 1u);
  EXPECT_EQ(Granted({}), 0u);
  EXPECT_EQ(Granted({Row(0)}), 0u);
  End(running[0], 0);
  EXPECT_EQ(Granted({}), 0u);
}

TEST_F(LocalRmContainersTest, AnAskIsTheWholeCountAndNotMore) {
  (void)Allocate({Row(5)});
  EXPECT_EQ(Granted({Row(1)}), 0u);
  const auto response = Allocate({}, {IdOf(1, 2), IdOf(1, 3), IdOf(1, 4)});
  EXPECT_THAT(response.allocated_containers, SizeIs(1));
  EXPECT_EQ(Granted({}), 0u);
}

TEST_F(LocalRmContainersTest, AsksOfPrioritiesAndRequestIdsCountApart) {
  auto second = Row(1);
  second.priority = 0;
  auto third = Row(1);
  third.allocation_request_id = 7;
  const auto granted = Allocate({Row(1), third, second}).allocated_containers;
  ASSERT_THAT(granted, SizeIs(3));
  EXPECT_EQ(granted[0].priority, 0);
  EXPECT_EQ(granted[1].allocation_request_id, -1);
  EXPECT_EQ(granted[2].allocation_request_id, 7);
}

TEST_F(LocalRmContainersTest, OneThatDoesNotFitLeavesRoomForOthers) {
  auto large = Row(1, "*", true, {.memory_mb = 8192, .vcores = 1});
  large.priority = 0;
  EXPECT_EQ(Granted({large, Row(1)}), 1u);
}

TEST_F(LocalRmContainersTest, AnAskThatCanNeverFitIsRefusedWithAllOfItsCall) {
  for (const auto& bad : {Row(1, "*", true, {.memory_mb = 8193, .vcores = 1}),
                          Row(1, "*", true, {.memory_mb = 1, .vcores = 1, .gpus = 2}), Row(-1)}) {
    const auto response =
        Am(1, yarn::AllocateRequest{.response_id = response_id_, .ask = {Row(1), bad}});
    const auto* error = std::get_if<yarn::RpcError>(&response);
    ASSERT_NE(error, nullptr) << ToText(bad);
    EXPECT_EQ(error->code, yarn::RpcErrorCode::kInvalidResourceRequest);
    EXPECT_EQ(Granted({}), 0u) << "a part of it was taken";
  }
}

struct Locality {
  std::string name;
  std::vector<std::tuple<std::string, std::int32_t, bool>> rows;  ///< Where, count, relax_locality.
  std::size_t granted;
};

TEST_F(LocalRmContainersTest, ServesRowsThatMayBeServedHere) {
  const std::vector<Locality> table{
      {"anywhere", {{"*", 2, true}}, 2},
      {"a preference for another host", {{"*", 2, true}, {"there", 2, true}}, 2},
      {"only this host", {{"*", 2, false}, {"/local", 2, false}, {"here", 2, true}}, 2},
      {"one of two on this host",
       {{"*", 2, false}, {"/local", 2, false}, {"here", 1, true}, {"there", 1, true}},
       1},
      {"only another host", {{"*", 2, false}, {"/other", 2, false}, {"there", 2, true}}, 0},
      {"only another host of this rack",
       {{"*", 2, false}, {"/local", 2, false}, {"there", 2, true}},
       0},
      {"this rack", {{"*", 2, false}, {"/local", 2, true}}, 2},
      {"this rack, preferring another host",
       {{"*", 2, false}, {"/local", 2, true}, {"there", 2, true}},
       2},
      {"nowhere in particular and not anywhere", {{"*", 2, false}}, 0},
      {"rows without the one that counts", {{"here", 2, true}, {"/local", 2, true}}, 0},
      {"no more than the row that counts", {{"*", 1, false}, {"here", 3, true}}, 1}};
  for (const Locality& one : table) {
    SCOPED_TRACE(one.name);
    std::vector<yarn::ResourceRequest> ask;
    std::vector<yarn::ResourceRequest> nothing;
    for (const auto& [where, count, relax] : one.rows) {
      ask.push_back(Row(count, where, relax));
      nothing.push_back(Row(0, where, relax));
    }
    std::vector<ContainerId> release;
    for (const auto& container : Allocate(ask).allocated_containers)
      release.push_back(container.id);
    EXPECT_EQ(release.size(), one.granted);
    (void)Allocate(nothing, release);
  }
}

TEST_F(LocalRmContainersTest, AReleasedContainerIsToldOnceWhetherItRunsOrNot) {
  const auto running = Run({Row(1)});
  const ContainerId idle = Allocate({Row(1)}).allocated_containers.front().id;
  const auto response = Allocate({}, {running[0], idle});
  EXPECT_THAT(Orders(), ElementsAre("stop container_5_0001_01_000002 -100"));
  ASSERT_THAT(response.completed_containers, SizeIs(2));
  for (const yarn::ContainerStatus& status : response.completed_containers) {
    EXPECT_EQ(status.state, yarn::ContainerState::kComplete);
    EXPECT_EQ(status.exit_status, container_exit::kAborted);
  }
  EXPECT_FALSE(rm_.GrantOf(running[0]));
  EXPECT_FALSE(rm_.GrantOf(idle));
  EXPECT_EQ(response.limit, (Resource{.memory_mb = 7168, .vcores = 3, .gpus = 1}));
  End(running[0], 143);
  EXPECT_THAT(Allocate({}, {running[0]}).completed_containers, IsEmpty());
  EXPECT_EQ(Seen("ContainerFreed"), 2);
}

TEST_F(LocalRmContainersTest, ItsOwnContainerAndOthersCannotBeReleased) {
  const auto response = Allocate({}, {IdOf(1, 1), IdOf(1, 99), ContainerId{}});
  EXPECT_THAT(response.completed_containers, IsEmpty());
  EXPECT_THAT(Orders(), IsEmpty());
  EXPECT_TRUE(rm_.GrantOf(IdOf(1, 1)));
}

TEST_F(LocalRmContainersTest, AnEndIsToldOnceWithItsReason) {
  const auto running = Run({Row(1)});
  End(running[0], container_exit::kKilledExceededPmem, "too much");
  const auto response = Allocate();
  ASSERT_THAT(response.completed_containers, SizeIs(1));
  EXPECT_EQ(response.completed_containers[0].exit_status, container_exit::kKilledExceededPmem);
  EXPECT_EQ(response.completed_containers[0].diagnostics, "too much");
  End(running[0], 0);  // Too late to count.
  EXPECT_THAT(Allocate().completed_containers, IsEmpty());
  rm_.ContainerEnded(ContainerId{}, 0, "", now_);
}

}  // namespace
}  // namespace tfyarn::hosts::local_rm_containers_test
