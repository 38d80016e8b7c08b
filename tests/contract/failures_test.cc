// What becomes of an application when its AM, a NodeManager or the ResourceManager goes, and when
// another queue wants its share back.
#include <fmt/format.h>

#include <fstream>

#include "tests/contract/contract.h"

namespace tfyarn::contract::failures_test {
namespace {

using ::testing::HasSubstr;
using yarn::ContainerState;
using yarn::NodeState;
using yarn::RpcErrorCode;
using yarn::YarnApplicationState;

constexpr int kEpochShift = 40;

class Failures : public Contract {
 protected:
  yarn::SubmitApplicationRequest WithAttempts(int attempts, bool keep) {
    auto request = Waiting();
    request.max_app_attempts = attempts;
    request.keep_containers_across_application_attempts = keep;
    return request;
  }
  std::unique_ptr<HandAm> Next(const HandAm& am) {
    ApplicationAttemptId attempt = am.attempt();
    ++attempt.attempt;
    return NextAm(attempt);
  }
  yarn::ApplicationReport AwaitState(const ApplicationId& application, YarnApplicationState state) {
    yarn::ApplicationReport report;
    WaitUntil("the application's state", [&] {
      report = Report(application);
      return report.state == state;
    });
    return report;
  }
  /// A running container on a node that is not the AM's, and the node's index.
  std::pair<yarn::Container, std::size_t> ElsewhereThan(HandAm& am, const std::string& script) {
    const auto nodes = Nodes();
    const std::size_t index = am.process.host == nodes[0].node.host ? 1 : 0;
    am.Beat({.blacklist_additions = {nodes[1 - index].node.host}});
    const auto container = am.Get(Row(1)).at(0);
    EXPECT_EQ(container.node, nodes[index].node);
    am.StartRunning(container, script);
    RunFor(io_, 300ms);  // A heartbeat says that it runs.
    return {container, index};
  }
  /// Once the RM answers again after its restart; registered again.
  void Resync(HandAm& am) {
    WaitUntil("the ResourceManager", [&] {
      const auto answer = am.Allocate({.response_id = am.response_id});
      if (answer || answer.error().code == RpcErrorCode::kUnavailable) return false;
      EXPECT_EQ(answer.error().code, RpcErrorCode::kApplicationMasterNotRegistered)
          << answer.error().message;
      return true;
    });
    const auto again = am.Register();
    ASSERT_TRUE(again.has_value()) << again.error().message;
    EXPECT_TRUE(again->containers_from_previous_attempts.empty());
  }
};

// ---------------------------------------------------------------- AMs

// Source: RMAppAttemptImpl.java#getAMContainerCrashedDiagnostics.
TEST_F(Failures, AnAmThatEndsWithoutFinishingHasFailed) {
  const auto am = RunAndRegister();
  am->EndProcess(0);
  const auto report = AwaitState(am->attempt().application, YarnApplicationState::kFailed);
  EXPECT_EQ(report.final_status, yarn::FinalApplicationStatus::kFailed);
  EXPECT_THAT(report.diagnostics, HasSubstr("failed 1 times"));
  EXPECT_THAT(report.diagnostics, HasSubstr("exitCode: 0"));
}

// Source: RMAppImpl.java#AttemptFailedTransition, CapacityScheduler.java#doneApplicationAttempt.
TEST_F(Failures, TheNextAttemptFindsNothingOfTheLastWithoutKeptContainers) {
  const auto first = RunAndRegister(WithAttempts(2, false));
  const auto container = first->Get(Row(1)).at(0);
  first->StartRunning(container, ":");
  first->EndProcess(5);
  const auto second = Next(*first);
  const auto registered = second->Register();
  ASSERT_TRUE(registered.has_value()) << registered.error().message;
  EXPECT_TRUE(registered->containers_from_previous_attempts.empty());
  EXPECT_TRUE(second->Beat().completed_containers.empty());
  second->BeatUntil("the process' end", [&] {
    const auto status = first->StatusOf(container);
    return !status || status->state == ContainerState::kComplete;
  });
  second->EndProcess(6);
  const auto report = AwaitState(first->attempt().application, YarnApplicationState::kFailed);
  EXPECT_THAT(report.diagnostics, HasSubstr("failed 2 times"));
  EXPECT_THAT(report.diagnostics, HasSubstr("exitCode: 6"));
  EXPECT_EQ(report.current_attempt, 2);
}

// Source: CapacityScheduler.java#doneApplicationAttempt, DefaultAMSProcessor.java
// #registerApplicationMaster.
TEST_F(Failures, KeptContainersAreGivenToTheNextAttempt) {
  const auto first = RunAndRegister(WithAttempts(2, true));
  const auto containers = first->Get(Row(3));
  first->StartRunning({containers[0], containers[1]}, ":");
  const yarn::Container& unstarted = containers[2];
  RunFor(io_, 300ms);  // A heartbeat says that they run.
  first->Beat({.ask = {Row(1, 2048, 9)}});
  first->KillProcess();
  const auto second = Next(*first);
  const auto registered = second->Register();
  ASSERT_TRUE(registered.has_value()) << registered.error().message;
  EXPECT_EQ(IdsOf(registered->containers_from_previous_attempts),
            (std::set<ContainerId>{containers[0].id, containers[1].id}));
  EXPECT_EQ(registered->nm_tokens_from_previous_attempts.size(),
            containers[0].node == containers[1].node ? 1U : 2U);
  const auto lost = second->AwaitEnd(unstarted.id);
  EXPECT_EQ(lost.exit_status, -100);
  EXPECT_EQ(lost.diagnostics, "Container of a completed application");
  // By the new token, on the old containers.
  const auto status = second->StatusOf(containers[0]);
  ASSERT_TRUE(status.has_value());
  EXPECT_EQ(status->state, ContainerState::kRunning);
  ASSERT_TRUE(second->Stop(containers[0]).has_value());
  EXPECT_EQ(second->AwaitEnd(containers[0].id).exit_status, -105);
  second->Beat({.release = {containers[1].id}});
  EXPECT_EQ(second->AwaitEnd(containers[1].id).exit_status, -100);
  const auto fresh = second->Get(Row(1)).at(0);
  EXPECT_EQ(fresh.id.application_attempt.attempt, 2);
}

// Source: AMLivelinessMonitor.java, RMAppAttemptImpl.java#ExpiredTransition.
TEST_F(Failures, ASilentAmExpires) {
  const auto am = RunAndRegister();
  am->Beat();
  subject_->LetPass(kAmExpiry * 3 / 2);
  const auto report = AwaitState(am->attempt().application, YarnApplicationState::kFailed);
  EXPECT_THAT(report.diagnostics, HasSubstr("timed out"));
}

// The time counts from the launch, and so does what a node needs to fetch and unpack the AM's
// files. Source: RMAppAttemptImpl.java, AMLaunchedTransition.
TEST_F(Failures, AnAmThatNeverRegistersExpiresAsWell) {
  const auto am = Run(Waiting());
  subject_->LetPass(kAmExpiry * 3 / 2);
  const auto report = AwaitState(am->attempt().application, YarnApplicationState::kFailed);
  EXPECT_THAT(report.diagnostics, HasSubstr("timed out"));
}

// Source: ApplicationMasterService.java#allocate, AMRMTokenSecretManager.java#retrievePassword.
TEST_F(Failures, AnAttemptThatIsOverIsToldSoAndCannotConnectAgain) {
  const auto first = RunAndRegister(WithAttempts(2, false));
  first->Beat();
  first->KillProcess();
  const auto second = Next(*first);
  const auto late = first->Allocate({.response_id = first->response_id});
  ASSERT_FALSE(late.has_value());
  EXPECT_EQ(late.error().code, RpcErrorCode::kApplicationAttemptNotFound);
  first->Reconnect();
  const auto refused = first->Allocate({.response_id = first->response_id});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, RpcErrorCode::kInvalidToken);
}

// ---------------------------------------------------------------- nodes

// Source: RecoveredContainerLaunch.java, ContainerExecutor.java#reacquireContainer (ExitCode.LOST),
// DefaultContainerExecutor.java (UnixLocalWrapperScriptBuilder): the script that writes the exit
// code down dies of a broken pipe when it says that its child was killed.
TEST_F(Failures, ANodeManagerThatComesBackInTimeLostNothingButWhatKilledItsContainers) {
  const auto am = RunAndRegister();
  const auto when = [&](const char* sign, const char* then) {
    return fmt::format("(while [ ! -e {0}/{1} ]; do sleep 0.1; done; {2}; echo >> {0}/done) & true",
                       folder_.string(), sign, then);
  };
  const auto [killed, index] = ElsewhereThan(*am, when("down", "kill -9 $$"));
  const auto others = am->Get(Row(3));
  am->StartRunning(others[0], "trap 'exit 9' USR1; " + when("down", "kill -USR1 $$"));
  am->StartRunning(others[1], when("up", "kill -9 $$"));
  am->StartRunning(others[2], ":");
  RunFor(io_, 300ms);
  subject_->StopNode(index);
  const auto unanswered = am->AskNm<yarn::GetContainerStatusesResponse>(
      killed.node, yarn::GetContainerStatusesRequest{{killed.id}});
  ASSERT_FALSE(unanswered.has_value());
  EXPECT_EQ(unanswered.error().code, RpcErrorCode::kUnavailable);
  std::ofstream(folder_ / "down") << "now";
  WaitUntil("two signals", [&] {
    std::error_code none_yet;
    return std::filesystem::file_size(folder_ / "done", none_yet) == 2 && !none_yet;
  });
  RunFor(io_, 500ms);
  subject_->StartNode(index);
  EXPECT_EQ(am->AwaitEnd(others[0].id).exit_status, 9);
  EXPECT_EQ(am->AwaitEnd(killed.id).exit_status, 154);
  std::ofstream(folder_ / "up") << "now";
  EXPECT_EQ(am->AwaitEnd(others[1].id).exit_status, 154);
  ASSERT_TRUE(am->Stop(others[2]).has_value());
  EXPECT_EQ(am->AwaitEnd(others[2].id).exit_status, 143) << "and not -105";
}

// Source: NMLivelinessMonitor.java, RMNodeImpl.java#deactivateNode.
TEST_F(Failures, ANodeThatStaysAwayIsLostWithItsContainers) {
  const auto am = RunAndRegister();
  const auto placed = ElsewhereThan(*am, ":");
  const yarn::Container& container = placed.first;
  const std::size_t index = placed.second;
  subject_->StopNode(index);
  am->PassBeating(kNodeExpiry);
  const auto status = am->AwaitEnd(container.id);
  EXPECT_EQ(status.exit_status, -100);
  EXPECT_EQ(status.diagnostics, "Container released on a *lost* node");
  const auto is_told = [&](NodeState state) {
    return [&, state] {
      for (const yarn::NodeReport& report : am->updated_nodes) {
        if (report.node == container.node && report.state == state) return true;
      }
      return false;
    };
  };
  am->BeatUntil("the loss of the node", is_told(NodeState::kLost));
  EXPECT_EQ(Nodes().at(index).state, NodeState::kLost);
  am->updated_nodes.clear();
  subject_->StartNode(index);
  am->BeatUntil("the node's return", is_told(NodeState::kRunning));
  am->BeatUntil("the process' end", [&] {
    const auto its = am->AskNm<yarn::GetContainerStatusesResponse>(
        container.node, yarn::GetContainerStatusesRequest{{container.id}});
    return its && (its->statuses.empty() || its->statuses[0].state == ContainerState::kComplete);
  });
}

// An AM whose answers are lost says its last request again: it lives, and hears of nothing new.
// Source: AbstractYarnScheduler.java#recoverResourceRequestForContainer.
TEST_F(Failures, AnAskIsOpenAgainWhenItsContainerEndsBeforeTheAmHeardOfIt) {
  const auto am = RunAndRegister();
  const std::size_t index = ElsewhereThan(*am, ":").second;
  const yarn::AllocateRequest asking{.response_id = am->response_id, .ask = {Row(1, 64, 3)}};
  ASSERT_TRUE(am->Allocate(asking).has_value());
  subject_->LetPass(3s);  // It is granted meanwhile.
  subject_->StopNode(index);
  for (int slices = 0; slices < 6; ++slices) {
    subject_->LetPass(kNodeExpiry / 4);
    const auto answer = am->Allocate(asking);
    ASSERT_TRUE(answer.has_value());
    EXPECT_TRUE(answer->allocated_containers.empty());
  }
  WaitUntil("the loss of the node", [&] { return Nodes().at(index).state == NodeState::kLost; });
  subject_->StartNode(index);
  am->granted.clear();
  ++am->response_id;
  am->BeatUntilGranted(1);
  const ContainerId& second = am->granted[0].id;
  std::size_t ended_unseen = 0;
  for (const auto& [id, status] : am->completed) {
    if (id.id + 1 == second.id && status.exit_status == -100) ++ended_unseen;
  }
  EXPECT_EQ(ended_unseen, 1U);
}

// ---------------------------------------------------------------- the ResourceManager

// Source: ApplicationMasterService.java#allocate, RMAppAttemptImpl.java#AttemptRecoveredTransition,
// AbstractYarnScheduler.java#recoverContainersOnNode, ContainerManagerImpl.java
// #authorizeStartAndResourceIncreaseRequest.
TEST_F(Failures, ARestartedResourceManagerTakesUpWhatRuns) {
  const auto am = RunAndRegister();
  const auto containers = am->Get(Row(2));
  am->StartRunning(containers[0], ":");
  const yarn::Container& unstarted = containers[1];
  am->Beat({.ask = {Row(1, 2048, 9)}});
  subject_->StopRm();
  const auto unanswered = am->Allocate({.response_id = am->response_id});
  ASSERT_FALSE(unanswered.has_value());
  EXPECT_EQ(unanswered.error().code, RpcErrorCode::kUnavailable);
  subject_->StartRm();
  Resync(*am);
  EXPECT_EQ(Report(am->attempt().application).state, YarnApplicationState::kRunning);
  EXPECT_EQ(am->Beat().response_id, 1);
  am->BeatUntil("the nodes", [&] { return am->Beat().num_cluster_nodes == 3; });
  // What was granted and not started is lost, and the RM does not say so.
  WaitUntil("the NodeManager's answer", [&] {
    const auto started = am->Start(unstarted, {"sleep", "600"});
    if (!started || started->failed.empty()) return false;
    EXPECT_EQ(started->failed[0].error.code, RpcErrorCode::kInvalidContainer);
    EXPECT_THAT(started->failed[0].error.message, HasSubstr("allocated by a previous RM"));
    return true;
  });
  EXPECT_TRUE(am->completed.empty());
  // What ran runs on, and is heard of.
  EXPECT_EQ(am->StatusOf(containers[0]).value().state, ContainerState::kRunning);
  ASSERT_TRUE(am->Stop(containers[0]).has_value());
  EXPECT_EQ(am->AwaitEnd(containers[0].id).exit_status, -105);
  // Asks of before are forgotten; new containers carry the epoch.
  const auto fresh = am->Get(Row(1)).at(0);
  EXPECT_EQ(fresh.id.id >> kEpochShift, (containers[0].id.id >> kEpochShift) + 1);
  am->StartRunning(fresh, ":");
  ASSERT_TRUE(am->Finish().has_value());
  WaitUntil("the end of unregistering", [&] {
    const auto again = am->Finish();
    return again && again->is_unregistered;
  });
  // Until its process ends, the application keeps what it has.
  am->EndProcess(0);
  AwaitState(am->attempt().application, YarnApplicationState::kFinished);
}

// ---------------------------------------------------------------- preemption

// Source: ProportionalCapacityPreemptionPolicy.java, FiCaSchedulerApp.java#getAllocation,
// RMContainerImpl.java (KILL by preemption).
TEST_F(Failures, AQueueTakesItsShareBackFromOneThatIsBeyondItsOwn) {
  auto request = Waiting();
  request.queue = "batch";
  const auto batch = RunAndRegister(request);
  // So many that too little is left on either node, and room for ApplicationMasters.
  const auto containers = batch->Get(Row(8, 448));
  batch->StartRunning(containers, ":");
  const auto owner = Run(Waiting());
  ASSERT_TRUE(owner->Register().has_value());
  owner->Beat({.ask = {Row(3, 448)}});
  const auto taken_back = [&] {
    owner->Beat();
    for (const auto& [id, status] : batch->completed) {
      if (status.exit_status == -102) return true;
    }
    return false;
  };
  batch->BeatUntil("preemption", taken_back);
  EXPECT_FALSE(batch->preempt_contract.empty() && batch->preempt_strict.empty())
      << "it was told before";
  for (const auto& [id, status] : batch->completed)
    EXPECT_THAT(status.diagnostics, HasSubstr("Container preempted by scheduler"));
  batch->BeatUntil("the owner's grants", [&] {
    owner->Beat();
    return owner->granted.size() == 3;
  });
}

}  // namespace
}  // namespace tfyarn::contract::failures_test
