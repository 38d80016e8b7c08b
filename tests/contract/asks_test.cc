// What an AM asks for and what it is granted: rows, sizes, places, labels, GPUs, blacklist,
// headroom.
#include <algorithm>

#include "tests/contract/contract.h"

namespace tfyarn::contract::asks_test {
namespace {

using ::testing::Each;
using ::testing::Field;
using ::testing::HasSubstr;
using yarn::RpcErrorCode;

class Asks : public Contract {
 protected:
  /// Beats for so long, with nothing new.
  static void BeatFor(HandAm& am, Duration time) {
    const auto until = std::chrono::steady_clock::now() + time;
    am.BeatUntil("time", [&] { return std::chrono::steady_clock::now() >= until; });
  }
  [[nodiscard]] std::string HostOf(std::size_t index) { return node(index).host; }
  static std::map<std::string, int> PerHost(const std::vector<yarn::Container>& containers) {
    std::map<std::string, int> count;
    for (const yarn::Container& container : containers) ++count[container.node.host];
    return count;
  }
  static RpcErrorCode RefusalOf(HandAm& am, const yarn::AllocateRequest& request) {
    yarn::AllocateRequest next = request;
    next.response_id = am.response_id;
    const auto answer = am.Allocate(next);
    EXPECT_FALSE(answer.has_value());
    return answer ? RpcErrorCode::kUnavailable : answer.error().code;
  }
};

// ---------------------------------------------------------------- counts

// Source: AppSchedulingInfo.java#updateResourceRequests (the last count of a key replaces the one
// before).
TEST_F(Asks, ACountIsAbsolute) {
  const auto am = RunAndRegister();
  am->Beat({.ask = {Row(8)}, .blacklist_additions = {HostOf(0), HostOf(1)}});
  am->Beat({.ask = {Row(2)}});
  am->Beat({.blacklist_removals = {HostOf(0), HostOf(1)}});
  am->BeatUntilGranted(2);
  BeatFor(*am, 500ms);
  EXPECT_EQ(am->granted.size(), 2U);
}

// Source: ApplicationMasterService.java#allocate (a repeated request is answered, not carried out).
TEST_F(Asks, AnAskWhoseAnswerWasLostIsTakenOnce) {
  const auto am = RunAndRegister();
  const yarn::AllocateRequest request{.ask = {Row(2)}};
  ASSERT_TRUE(am->Allocate(request).has_value());
  subject_->LetPass(500ms);
  ASSERT_TRUE(am->Allocate(request).has_value());
  am->response_id = 1;
  am->BeatUntilGranted(2);
  BeatFor(*am, 500ms);
  EXPECT_EQ(am->granted.size(), 2U);
}

// Source: AppSchedulingInfo.java#allocate lowers the row when a container is allocated,
// SchedulerApplicationAttempt.java#pullNewlyAllocatedContainers delivers it later.
TEST_F(Asks, ARowSentAgainBeforeItsGrantsWereDeliveredIsGrantedAgain) {
  const auto am = RunAndRegister();
  am->Beat({.ask = {Row(3)}});
  subject_->LetPass(3s);
  am->Beat({.ask = {Row(3)}});
  am->BeatUntilGranted(6);
  BeatFor(*am, 500ms);
  EXPECT_EQ(am->granted.size(), 6U);
}

// Source: DefaultAMSProcessor.java#allocate (normalizeAndValidateRequests throws for all).
TEST_F(Asks, ABadRowFailsTheWholeAllocate) {
  const auto am = RunAndRegister();
  am->Beat();
  EXPECT_EQ(RefusalOf(*am, {.ask = {Row(1), Row(1, 4096, 2)}}),
            RpcErrorCode::kInvalidResourceRequest);
  EXPECT_EQ(am->Beat().response_id, 2) << "it does not count";
  BeatFor(*am, 500ms);
  EXPECT_TRUE(am->granted.empty());
}

// ---------------------------------------------------------------- what is granted

// Source: SchedulerApplicationAttempt / SchedulerRequestKey.java#compareTo (lower numbers first).
TEST_F(Asks, LowerPriorityNumbersAreServedFirst) {
  const auto am = RunAndRegister();
  am->Beat({.ask = {Row(1, 1900, 5), Row(2, 1900, 1)}});
  am->BeatUntilGranted(2);
  BeatFor(*am, 500ms);
  ASSERT_EQ(am->granted.size(), 2U);
  EXPECT_THAT(am->granted, Each(Field(&yarn::Container::priority, 1)));
}

// Source: SchedulerRequestKey.java (priority, allocationRequestId).
TEST_F(Asks, TheRequestIdComesBackWithTheContainer) {
  const auto am = RunAndRegister();
  yarn::ResourceRequest numbered = Row(1);
  numbered.allocation_request_id = 7;
  am->Beat({.ask = {Row(1), numbered}});
  am->BeatUntilGranted(2);
  std::set<std::int64_t> ids;
  for (const yarn::Container& container : am->granted) ids.insert(container.allocation_request_id);
  EXPECT_EQ(ids, (std::set<std::int64_t>{-1, 7}));
}

// Source: DefaultResourceCalculator / DominantResourceCalculator.java#normalize.
TEST_F(Asks, SizesAreRoundedUpToTheMinimum) {
  const auto am = RunAndRegister();
  const auto container = am->Get(Row(1, 17)).at(0);
  EXPECT_EQ(container.resource.memory_mb, 32);
  EXPECT_EQ(container.resource.vcores, 1);
}

// Source: SchedulerUtils.java#validateResourceRequest (throwInvalidResourceException).
TEST_F(Asks, MoreThanTheLargestNodeHasIsRefused) {
  const auto am = RunAndRegister();
  yarn::ResourceRequest row = Row(1, 2049);
  EXPECT_EQ(RefusalOf(*am, {.ask = {row}}), RpcErrorCode::kInvalidResourceRequest);
  row = Row(1);
  row.capability.vcores = 9;
  EXPECT_EQ(RefusalOf(*am, {.ask = {row}}), RpcErrorCode::kInvalidResourceRequest);
}

// Source: RegularContainerAllocator.java, capacity-scheduler.xml
// per-node-heartbeat.maximum-offswitch-assignments = 1.
TEST_F(Asks, ARowForAnywhereGetsOneContainerPerNodeAndHeartbeat) {
  const auto am = RunAndRegister();
  am->Beat({.ask = {Row(8)}});
  subject_->LetPass(210ms);  // Two or three heartbeats of each of two nodes.
  am->Beat();
  EXPECT_GE(am->granted.size(), 2U);
  EXPECT_LE(am->granted.size(), 6U);
  am->BeatUntilGranted(8);
  EXPECT_THAT(PerHost(am->granted),
              Each(Field(&std::pair<const std::string, int>::second,
                         ::testing::AllOf(::testing::Ge(3), ::testing::Le(5)))));
}

// ---------------------------------------------------------------- places

// Source: AppPlacementAllocator / LocalityAppPlacementAllocator.java,
// RegularContainerAllocator.java.
TEST_F(Asks, AHostWithItsRackAndAnywhereIsStrictWhereTheyDoNotRelax) {
  const auto am = RunAndRegister();
  std::vector<yarn::ResourceRequest> rows(3, Row(4));
  rows[0].resource_name = HostOf(1);
  rows[1].resource_name = "/rack2";
  rows[0].node_label_expression.reset();
  rows[1].node_label_expression.reset();
  rows[1].relax_locality = rows[2].relax_locality = false;
  am->Beat({.ask = rows});
  am->BeatUntilGranted(4);
  EXPECT_EQ(PerHost(am->granted), (std::map<std::string, int>{{HostOf(1), 4}}));
}

// Source: LocalityAppPlacementAllocator.java#canAllocate (there is no row for anywhere).
TEST_F(Asks, AHostAloneIsNeverGranted) {
  const auto am = RunAndRegister();
  yarn::ResourceRequest row = Row(1);
  row.resource_name = HostOf(1);
  row.node_label_expression.reset();
  am->Beat({.ask = {row}});
  BeatFor(*am, 500ms);
  EXPECT_TRUE(am->granted.empty());
}

// Source: AppSchedulingInfo.java#isPlaceBlacklisted, SchedulerAppUtils.java.
TEST_F(Asks, ABlacklistedHostIsNotUsedUntilItIsTakenOff) {
  const auto am = RunAndRegister();
  am->Beat({.ask = {Row(4)}, .blacklist_additions = {HostOf(0)}});
  am->BeatUntilGranted(4);
  EXPECT_EQ(PerHost(am->granted), (std::map<std::string, int>{{HostOf(1), 4}}));
  am->Beat({.ask = {Row(4, 64, 2)}, .blacklist_removals = {HostOf(0)}});
  am->BeatUntilGranted(8);
  EXPECT_EQ(PerHost(am->granted).size(), 2U);
}

// Source: RMServerUtils.java#validateBlacklistRequest.
TEST_F(Asks, AnywhereCannotBeBlacklisted) {
  const auto am = RunAndRegister();
  EXPECT_EQ(RefusalOf(*am, {.blacklist_additions = {"*"}}),
            RpcErrorCode::kInvalidResourceBlacklistRequest);
}

// ---------------------------------------------------------------- labels and GPUs

// Source: SchedulerUtils.java#normalizeNodeLabelExpressionInRequest,
// RegularContainerAllocator.java.
TEST_F(Asks, ALabelMeansItsPartitionAndNoneTheDefaultOne) {
  const auto am = RunAndRegister();
  yarn::ResourceRequest labelled = Row(2);
  labelled.node_label_expression = "gpu";
  am->Beat({.ask = {labelled, Row(4, 64, 2)}});
  am->BeatUntilGranted(6);
  for (const yarn::Container& container : am->granted)
    EXPECT_EQ(container.node == node(2), container.priority == 1) << ToString(container.node);
}

// Source: SchedulerUtils.java#validateResourceRequest.
TEST_F(Asks, LabelsThatCannotBeAreRefused) {
  const auto am = RunAndRegister();
  yarn::ResourceRequest row = Row(1);
  for (const char* label : {"nowhere", "gpu&&gpu"}) {
    row.node_label_expression = label;
    EXPECT_EQ(RefusalOf(*am, {.ask = {row}}), RpcErrorCode::kInvalidLabelResourceRequest) << label;
  }
  row.node_label_expression = "gpu";
  row.resource_name = HostOf(2);
  EXPECT_EQ(RefusalOf(*am, {.ask = {row}}), RpcErrorCode::kInvalidLabelResourceRequest);
}

// Source: DominantResourceCalculator.java#fitsIn.
TEST_F(Asks, GpusAreGrantedWhereTheyAreAndNotTwice) {
  const auto am = RunAndRegister();
  yarn::ResourceRequest row = Row(3);
  row.capability.gpus = 1;
  am->Beat({.ask = {row}});
  am->BeatUntilGranted(2);
  BeatFor(*am, 500ms);
  ASSERT_EQ(am->granted.size(), 2U) << "the default partition has no more";
  for (const yarn::Container& container : am->granted) {
    EXPECT_EQ(container.node, node(1));
    EXPECT_EQ(container.resource.gpus, 1);
  }
}

// Source: ProtoUtils.java#convertFromProtoFormat drops what the RM does not know.
TEST_F(Asks, AnUnknownResourceTypeIsDroppedWithoutAWord) {
  const auto am = RunAndRegister();
  yarn::ResourceRequest row = Row(1);
  row.capability.Set("yarn.io/nope", 3);
  const auto container = am->Get(row).at(0);
  EXPECT_TRUE(container.resource.others.empty());
}

// ---------------------------------------------------------------- headroom

// Source: CapacityHeadroomProvider.java#getHeadroom, UsersManager.java#computeUserLimit: what the
// queue is guaranteed of the default partition, 70 % of two nodes, in steps of the least
// allocation.
TEST_F(Asks, TheHeadroomIsWhatTheUserHasLeft) {
  constexpr Resource kLimit{.memory_mb = 2880, .vcores = 11};
  const auto am = RunAndRegister();
  EXPECT_EQ(am->Beat().limit.memory_mb, kLimit.memory_mb - 64) << "the AM's own is gone";
  am->Get(Row(2));
  const Resource limit = am->Beat().limit;
  EXPECT_EQ(limit.memory_mb, kLimit.memory_mb - 3 * 64);
  EXPECT_EQ(limit.vcores, kLimit.vcores - 3);
}

}  // namespace
}  // namespace tfyarn::contract::asks_test
