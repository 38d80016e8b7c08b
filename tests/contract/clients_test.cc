// What the ResourceManager answers a client: submission, reports, kill, queues, nodes.
#include "tests/contract/contract.h"

namespace tfyarn::contract::clients_test {
namespace {

using ::testing::HasSubstr;
using yarn::RpcErrorCode;
using yarn::YarnApplicationState;

class Clients : public Contract {
 protected:
  /// What becomes of an application that is not to run.
  yarn::ApplicationReport EndOf(const ApplicationId& application) {
    yarn::ApplicationReport report;
    WaitUntil("the application's end", [&] {
      report = Report(application);
      return report.state == YarnApplicationState::kFailed ||
             report.state == YarnApplicationState::kKilled ||
             report.state == YarnApplicationState::kFinished;
    });
    return report;
  }
  RpcErrorCode RefusalOf(const yarn::SubmitApplicationRequest& request) {
    const auto answer = Submit(request);
    EXPECT_FALSE(answer.has_value());
    return answer ? RpcErrorCode::kUnavailable : answer.error().code;
  }
};

// Source: ClientRMService.java#getApplicationReport.
TEST_F(Clients, AnApplicationThatWasNotSubmittedIsNotFound) {
  const ApplicationId unknown{.cluster_timestamp = 1, .id = 1};
  const auto report = AskClient<yarn::GetApplicationReportResponse>(
      yarn::GetApplicationReportRequest{.application = unknown});
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().code, RpcErrorCode::kApplicationNotFound);
  const auto kill = AskClient<yarn::KillApplicationResponse>(
      yarn::KillApplicationRequest{.application = unknown, .diagnostics = {}});
  ASSERT_FALSE(kill.has_value());
  EXPECT_EQ(kill.error().code, RpcErrorCode::kApplicationNotFound);
}

// Source: ClientRMService.java#submitApplication ("If it is already existing, return").
TEST_F(Clients, SubmittingTwiceIsSubmittingOnce) {
  const auto request = Waiting();
  const auto am = Run(request);
  EXPECT_TRUE(Submit(request).has_value());
  ASSERT_TRUE(am->Register().has_value());
  EXPECT_EQ(Report(request.application).current_attempt, 1);
}

// Source: RMAppManager.java#submitApplication, CapacityScheduler.java#addApplication.
TEST_F(Clients, AnUnknownQueueIsNoErrorButTheApplicationsEnd) {
  auto request = Waiting();
  request.queue = "nowhere";
  ASSERT_TRUE(Submit(request).has_value());
  const auto unknown = EndOf(request.application);
  EXPECT_EQ(unknown.state, YarnApplicationState::kFailed);
  EXPECT_EQ(unknown.final_status, yarn::FinalApplicationStatus::kFailed);
  EXPECT_THAT(unknown.diagnostics, HasSubstr("to unknown queue: nowhere"));
  request = Waiting();
  request.queue = "root";
  ASSERT_TRUE(Submit(request).has_value());
  EXPECT_THAT(EndOf(request.application).diagnostics, HasSubstr("to non-leaf queue : root"));
}

// Source: RMAppManager.java#validateAndCreateResourceRequest, ClientRMService.java#checkTags.
TEST_F(Clients, WhatCannotBeIsRefusedAtSubmission) {
  auto request = Waiting();
  request.tags.assign(11, "tag");
  for (std::size_t i = 0; i < request.tags.size(); ++i) request.tags[i] += std::to_string(i);
  EXPECT_EQ(RefusalOf(request), RpcErrorCode::kYarn);
  request = Waiting();
  request.am_resource.memory_mb = 4096;
  EXPECT_EQ(RefusalOf(request), RpcErrorCode::kInvalidResourceRequest);
  request = Waiting();
  request.am_node_label = "nowhere";
  EXPECT_EQ(RefusalOf(request), RpcErrorCode::kInvalidLabelResourceRequest);
}

// Source: ClientRMService.java#forceKillApplication, RMAppImpl.java (KILLING).
TEST_F(Clients, AKillIsRepeatedUntilItIsDone) {
  const auto am = RunAndRegister();
  const auto container = am->Get(Row(1)).at(0);
  am->StartRunning(container, ":");
  const ApplicationId application = am->attempt().application;
  const yarn::KillApplicationRequest kill{.application = application, .diagnostics = "because"};
  const auto first = AskClient<yarn::KillApplicationResponse>(kill);
  ASSERT_TRUE(first.has_value()) << first.error().message;
  EXPECT_FALSE(first->is_kill_completed);
  WaitUntil("the kill", [&] {
    const auto again = AskClient<yarn::KillApplicationResponse>(kill);
    return again && again->is_kill_completed;
  });
  const auto report = Report(application);
  EXPECT_EQ(report.state, YarnApplicationState::kKilled);
  EXPECT_EQ(report.final_status, yarn::FinalApplicationStatus::kKilled);
  EXPECT_THAT(report.diagnostics, HasSubstr("because"));
  const auto late = am->Allocate({.response_id = am->response_id});
  ASSERT_FALSE(late.has_value());
  EXPECT_EQ(late.error().code, RpcErrorCode::kApplicationAttemptNotFound);
  WaitUntil("the container's end", [&] {
    const auto status = am->StatusOf(container);
    return !status || status->state == yarn::ContainerState::kComplete;
  });
}

// Source: ClientRMService.java#getQueueInfo (an unknown queue is an answer without one).
TEST_F(Clients, AQueueSaysWhatItMayUseAndWhetherItIsALeaf) {
  const auto ask = [&](const char* queue) {
    return AskClient<yarn::GetQueueInfoResponse>(yarn::GetQueueInfoRequest{.queue = queue})
        .value_or(yarn::GetQueueInfoResponse{});
  };
  EXPECT_TRUE(ask("default").is_leaf);
  EXPECT_EQ(ask("default").path, "root.default");
  // Of the nodes without a label: two of the three.
  EXPECT_EQ(ask("default").limits[""].maximum.memory_mb, 2 * 2048);
  EXPECT_EQ(ask("default").limits[""].maximum.gpus, 2);
  EXPECT_FALSE(ask("root").is_leaf);
  EXPECT_FALSE(ask("nowhere").exists);
}

// Source: ClientRMService.java#getClusterNodes.
TEST_F(Clients, NodesAreReportedWithRackPartitionAndAmounts) {
  const auto nodes = Nodes();
  ASSERT_EQ(nodes.size(), 3U);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    EXPECT_EQ(nodes[i].state, yarn::NodeState::kRunning);
    EXPECT_EQ(nodes[i].rack, i == 1 ? "/rack2" : "/rack1");
    EXPECT_EQ(nodes[i].partition, i == 2 ? "gpu" : "");
    EXPECT_EQ(nodes[i].capability.memory_mb, 2048);
    EXPECT_EQ(nodes[i].capability.vcores, 8);
    EXPECT_EQ(nodes[i].capability.gpus, static_cast<std::int64_t>(2 * i));
  }
  EXPECT_EQ(AskClient<yarn::GetNewApplicationResponse>(yarn::GetNewApplicationRequest{})
                .value()
                .maximum_capability.memory_mb,
            2048);
}

}  // namespace
}  // namespace tfyarn::contract::clients_test
