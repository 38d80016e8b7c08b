// Submission, reports, queues: what clients see.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/fakes/yarn-rm/fake_cluster.h"

namespace tfyarn::fakes::clients_test {
namespace {

using ::testing::HasSubstr;
using yarn::RpcErrorCode;
using yarn::YarnApplicationState;

class ClientsTest : public ::testing::Test {
 protected:
  ClientsTest() : cluster_({.rm = {.queues = {{.path = "root.ml", .capacity_permille = 600}}}}) {
    cluster_.AddNode("n1", Amount(64, 16, 8));
    cluster_.AddNode("g1", Amount(32, 8, 4), "gpu");
    cluster_.RunFor(1s);
  }
  yarn::RmResponse Submit(yarn::SubmitApplicationRequest request) {
    if (request.application.id == 0) request.application = {0, ++last_};
    request.user = "alice";
    if (IsZero(request.am_resource) && !no_resource_) request.am_resource = Amount(1, 1);
    return cluster_.CallRm({}, request);
  }
  RpcErrorCode Refused(yarn::SubmitApplicationRequest request) {
    return std::get<yarn::RpcError>(Submit(std::move(request))).code;
  }
  FakeCluster cluster_;
  std::int32_t last_ = 100;
  bool no_resource_ = false;
};

// Row "idempotent", and "an application id that the RM never issued is accepted".
TEST_F(ClientsTest, SubmittingTwiceIsSubmittingOnce) {
  const yarn::SubmitApplicationRequest request{.application = {0, 777}, .name = "a"};
  EXPECT_TRUE(std::holds_alternative<yarn::SubmitApplicationResponse>(Submit(request)));
  EXPECT_TRUE(std::holds_alternative<yarn::SubmitApplicationResponse>(Submit(request)));
  EXPECT_EQ(cluster_.rm().books().applications.size(), 1U);
  (void)cluster_.CallRm({}, yarn::KillApplicationRequest{.application = {0, 777}});
  EXPECT_TRUE(std::holds_alternative<yarn::SubmitApplicationResponse>(Submit(request)));
  EXPECT_EQ(cluster_.Report({0, 777}).state, YarnApplicationState::kKilled);
}

// Row "queue".
TEST_F(ClientsTest, AnUnknownOrInnerQueueFailsTheApplicationNotTheCall) {
  EXPECT_TRUE(std::holds_alternative<yarn::SubmitApplicationResponse>(
      Submit({.application = {0, 1}, .queue = "nope"})));
  EXPECT_EQ(cluster_.Report({0, 1}).state, YarnApplicationState::kFailed);
  EXPECT_THAT(cluster_.Report({0, 1}).diagnostics, HasSubstr("to unknown queue: nope"));
  EXPECT_TRUE(std::holds_alternative<yarn::SubmitApplicationResponse>(
      Submit({.application = {0, 2}, .queue = "root"})));
  EXPECT_THAT(cluster_.Report({0, 2}).diagnostics, HasSubstr("to non-leaf queue : root"));
}

TEST_F(ClientsTest, ALeafQueueHasTwoNames) {
  (void)Submit({.application = {0, 1}, .queue = "ml"});
  (void)Submit({.application = {0, 2}, .queue = "root.ml"});
  (void)Submit({.application = {0, 3}});
  EXPECT_EQ(cluster_.rm().books().applications.at({0, 1})->queue, "root.ml");
  EXPECT_EQ(cluster_.rm().books().applications.at({0, 2})->queue, "root.ml");
  EXPECT_EQ(cluster_.rm().books().applications.at({0, 3})->queue, "root.default");
}

// Row "refused at submit".
TEST_F(ClientsTest, BadSubmissionsAreRefused) {
  EXPECT_EQ(Refused({.tags = std::vector<std::string>(11, "t")}), RpcErrorCode::kYarn);
  EXPECT_EQ(Refused({.tags = {std::string(101, 't')}}), RpcErrorCode::kYarn);
  EXPECT_EQ(Refused({.am_resource = Amount(65, 1)}), RpcErrorCode::kInvalidResourceRequest);
  EXPECT_EQ(Refused({.am_node_label = "nope"}), RpcErrorCode::kInvalidLabelResourceRequest);
  no_resource_ = true;
  EXPECT_EQ(Refused({}), RpcErrorCode::kInvalidResourceRequest);
}

TEST_F(ClientsTest, AnAmGoesToItsPartition) {
  const ApplicationId id = cluster_.Submit({.am_node_label = "gpu"});
  ASSERT_TRUE(cluster_.RunUntil([&] { return cluster_.HasAm(id); }, 10s));
  EXPECT_EQ(cluster_.Am(id).node.host, "g1");
}

TEST_F(ClientsTest, AnUnknownApplicationIsAnError) {
  const auto report = cluster_.CallRm({}, yarn::GetApplicationReportRequest{.application = {0, 9}});
  EXPECT_EQ(std::get<yarn::RpcError>(report).code, RpcErrorCode::kApplicationNotFound);
  const auto kill = cluster_.CallRm({}, yarn::KillApplicationRequest{.application = {0, 9}});
  EXPECT_EQ(std::get<yarn::RpcError>(kill).code, RpcErrorCode::kApplicationNotFound);
}

TEST_F(ClientsTest, OnlySoManyEndedApplicationsAreRemembered) {
  for (std::int32_t i = 1; i <= 1002; ++i) (void)Submit({.application = {0, i}, .queue = "nope"});
  EXPECT_EQ(cluster_.Report({0, 1}).application.id, 0);
  EXPECT_EQ(cluster_.Report({0, 2}).application.id, 0);
  EXPECT_EQ(cluster_.Report({0, 3}).application.id, 3);
}

TEST_F(ClientsTest, AWaitingApplicationSaysWhy) {
  cluster_.CrashNode({"n1", 45454});
  const ApplicationId id = cluster_.Submit();
  EXPECT_EQ(cluster_.Report(id).state, YarnApplicationState::kAccepted);
  EXPECT_THAT(cluster_.Report(id).diagnostics,
              HasSubstr("waiting for resources to be assigned for AM"));
}

TEST_F(ClientsTest, NodesAreListedInOrderWithWhatIsUsed) {
  const ApplicationId id = cluster_.Submit();
  ASSERT_TRUE(cluster_.RunUntil([&] { return cluster_.HasAm(id); }, 10s));
  const auto nodes =
      std::get<yarn::GetClusterNodesResponse>(cluster_.CallRm({}, yarn::GetClusterNodesRequest{}))
          .nodes;
  ASSERT_EQ(nodes.size(), 2U);
  EXPECT_EQ(nodes[0].node.host, "g1");
  EXPECT_EQ(nodes[0].partition, "gpu");
  EXPECT_EQ(nodes[1].used, Amount(1, 1));
  EXPECT_EQ(nodes[1].capability, Amount(64, 16, 8));
}

TEST_F(ClientsTest, AQueueSaysTheMostItMayEverUse) {
  const auto ask = [&](const std::string& name) {
    return std::get<yarn::GetQueueInfoResponse>(
        cluster_.CallRm({}, yarn::GetQueueInfoRequest{.queue = name}));
  };
  EXPECT_EQ(ask("ml").path, "root.ml");
  EXPECT_EQ(ask("ml").limits.at("").maximum, Amount(64, 16, 8));
  EXPECT_EQ(ask("ml").limits.at("gpu").maximum, Amount(32, 8, 4));
  EXPECT_FALSE(ask("root").is_leaf);
  EXPECT_FALSE(ask("nope").exists);
}

TEST_F(ClientsTest, TheMaximumIsTheLargestNode) {
  const auto fresh = std::get<yarn::GetNewApplicationResponse>(
      cluster_.CallRm({}, yarn::GetNewApplicationRequest{}));
  EXPECT_EQ(fresh.maximum_capability, Amount(64, 16, 8));
}

}  // namespace
}  // namespace tfyarn::fakes::clients_test
