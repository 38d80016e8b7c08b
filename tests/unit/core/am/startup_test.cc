// What the AM takes for impossible, and when: limits of nodes that have had their time to come, of
// nodes that have not, and of a job that grows.
#include "core/am/observe/startup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <utility>

#include "core/am/application_master.h"
#include "core/model/launch.h"

namespace tfyarn::am::startup_test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr std::int64_t kGiB = 1024;
constexpr ApplicationId kApplication{.cluster_timestamp = 5'000, .id = 1};
const Resource kNode{.memory_mb = 16 * kGiB, .vcores = 8, .gpus = 1};

yarn::NodeReport NodeNamed(const std::string& host, Resource capability = kNode) {
  return {.node = {.host = host, .port = 8041},
          .rack = "/r1",
          .state = yarn::NodeState::kRunning,
          .capability = std::move(capability)};
}

/// Workers of 4 GiB that must be alone on a node of kNode.
JobSpec Workers(std::int32_t count) {
  JobSpec job;
  job.tasks = {{.name = "worker",
                .instances = count,
                .resource = {.memory_mb = 4 * kGiB, .vcores = 1, .gpus = 1}}};
  job.gang.deadline = 2h;
  return job;
}

struct World {
  Duration rm_age = 1h;  ///< When the client asks for its nodes.
  std::int32_t attempt = 1;
  std::vector<yarn::NodeReport> nodes;
  yarn::PartitionAmounts queue_maximum;
  Resource maximum_container;
  bool rm_refuses = false;      ///< It finds what is asked for too large.
  Resource registered_maximum;  ///< What the RM says at the registration.
  std::int32_t more_nodes = 0;  ///< That the RM counts and did not tell of.
};

/// One AM. Its journal stores at once, NMs start what they are told, agents register and run what
/// they are told. Its RM grants nothing by itself.
class Rig {
 public:
  Rig(JobSpec job, const World& world)
      : am_(std::make_shared<const JobSpec>(std::move(job)),
            {.staging_directory = "/staging",
             .surveyed = WallTime(std::chrono::milliseconds(kApplication.cluster_timestamp) +
                                  std::chrono::floor<std::chrono::milliseconds>(world.rm_age))},
            1),
        refuses_(world.rm_refuses),
        registered_maximum_(world.registered_maximum),
        nodes_(static_cast<std::int32_t>(world.nodes.size()) + world.more_nodes) {
    Step(AmStarted{.attempt = {.application = kApplication, .attempt = world.attempt},
                   .address = {.host = "am", .port = 1},
                   .nodes = world.nodes,
                   .queue_maximum = world.queue_maximum,
                   .maximum_container = world.maximum_container});
  }

  void Advance(Duration time) {
    const Instant end = now_ + time;
    while (am_.next_deadline() && *am_.next_deadline() <= end) {
      now_ = std::max(now_, *am_.next_deadline());
      Step(DeadlineReached{});
    }
    now_ = end;
  }

  /// A node joins, and the RM says so.
  void Join(const yarn::NodeReport& node) {
    ++nodes_;
    next_.updated_nodes.push_back(node);
    Advance(2s);
  }
  /// A node is taken out of service.
  void Leave(const std::string& host) {
    --nodes_;
    yarn::NodeReport node = NodeNamed(host);
    node.state = yarn::NodeState::kDecommissioned;
    next_.updated_nodes.push_back(std::move(node));
    Advance(2s);
  }
  /// The RM says something with the next answer, so that it is heard.
  void Answer() {
    next_.nm_tokens.push_back({.node = {.host = "any", .port = 1}, .token = {.serial = 1}});
    Advance(2s);
  }
  /// One container for the latest ask; its agent comes up and runs what it is told.
  void Grant() {
    const yarn::ResourceRequest row = asked_.back();
    const NodeId node{.host = "n1", .port = 8041};
    next_.allocated_containers.push_back(
        {.id = {.application_attempt = {kApplication, 1}, .id = ++containers_},
         .node = node,
         .resource = row.capability,
         .priority = *row.priority,
         .allocation_request_id = row.allocation_request_id});
    next_.nm_tokens.push_back({.node = node, .token = {.serial = 1}});
    Advance(5s);
  }
  void OutOfMemory() {
    next_.completed_containers.push_back(
        {.id = {.application_attempt = {kApplication, 1}, .id = containers_},
         .state = yarn::ContainerState::kComplete,
         .exit_status = container_exit::kKilledExceededPmem,
         .diagnostics = "running beyond physical memory limits"});
    Advance(1min);
  }

  [[nodiscard]] bool failed() const { return am_.snapshot().verdict.has_value(); }
  [[nodiscard]] std::string rule() const { return failed() ? am_.snapshot().verdict->rule : ""; }
  [[nodiscard]] std::string diagnostics() const {
    return failed() ? am_.snapshot().verdict->diagnostics : "";
  }
  [[nodiscard]] const std::string& waiting_for() const { return am_.snapshot().waiting_for; }
  [[nodiscard]] JobState state() const { return am_.snapshot().state; }
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }
  /// What was asked for last, in MiB; 0 = nothing yet.
  [[nodiscard]] std::int64_t asked_memory() const {
    return asked_.empty() ? 0 : asked_.back().capability.memory_mb;
  }

  /// The RM restarts: its nodes have to come again.
  void SetForgets() {
    forgets_ = true;
    nodes_ = 0;
  }
  void SetRefusal(yarn::RpcErrorCode code) { refusal_ = code; }
  void SetRefuses(bool refuses) { refuses_ = refuses; }
  void CountOneMore() { ++nodes_; }
  /// What the RM has been asked for and has not granted.
  [[nodiscard]] std::int32_t outstanding() const {
    std::int32_t sum = 0;
    for (const auto& [key, count] : outstanding_) sum += count;
    return sum;
  }
  [[nodiscard]] const std::vector<ContainerId>& released() const { return released_; }
  /// The limits because of which nodes were waited for, "" where that ended.
  [[nodiscard]] const std::vector<std::string>& awaited() const { return awaited_; }
  [[nodiscard]] std::int32_t refused() const { return refused_; }

 private:
  void Step(AmEvent event) {
    events_.push_back(std::move(event));
    while (!events_.empty()) {
      const AmEvent next = std::move(events_.front());
      events_.pop_front();
      std::vector<AmAction> actions;
      am_.Step(now_, next, actions);
      for (const AmAction& action : actions) Carry(action);
    }
  }

  void Carry(const AmAction& action) {
    if (std::holds_alternative<ReadJournal>(action)) events_.push_back(JournalRead{});
    if (const auto* append = std::get_if<AppendJournal>(&action))
      events_.push_back(JournalAppended{append->seq});
    if (const auto* nodes = std::get_if<NodesAwaited>(&action)) awaited_.push_back(nodes->limit);
    if (const auto* note = std::get_if<Note>(&action)) notes_.push_back(note->text);
    if (const auto* call = std::get_if<CallRm>(&action))
      events_.push_back(RmReplied{.call = call->call, .response = AnswerTo(call->request)});
    if (const auto* call = std::get_if<CallNm>(&action)) CarryNm(*call);
    if (const auto* send = std::get_if<SendToAgent>(&action)) {
      if (const auto* in = std::get_if<AgentAccepted>(&send->message))
        events_.push_back(PeerVouched{in->fence.task, in->fence.incarnation, true, {}});
      if (const auto* start = std::get_if<StartProcess>(&send->message))
        events_.push_back(AgentSaid{ProcessRunning{start->fence, start->process}});
    }
  }

  yarn::RmResponse AnswerTo(const yarn::RmRequest& request) {
    if (std::holds_alternative<yarn::RegisterApplicationMasterRequest>(request)) {
      forgets_ = false;
      return yarn::RegisterApplicationMasterResponse{.maximum_capability = registered_maximum_};
    }
    const auto* allocate = std::get_if<yarn::AllocateRequest>(&request);
    if (allocate == nullptr) return yarn::FinishApplicationMasterResponse{.is_unregistered = true};
    if (forgets_)
      return yarn::RpcError{.code = yarn::RpcErrorCode::kApplicationMasterNotRegistered,
                            .message = "who?"};
    if (refuses_ && !allocate->ask.empty()) {
      ++refused_;
      return yarn::RpcError{.code = refusal_, .message = "greater than maximum allowed allocation"};
    }
    for (const yarn::ResourceRequest& row : allocate->ask) {
      if (row.num_containers > 0) asked_.push_back(row);
      outstanding_[{*row.priority, row.allocation_request_id}] = row.num_containers;
    }
    released_.insert(released_.end(), allocate->release.begin(), allocate->release.end());
    yarn::AllocateResponse response = std::exchange(next_, {});
    response.response_id = allocate->response_id + 1;
    response.num_cluster_nodes = nodes_;
    return response;
  }

  void CarryNm(const CallNm& call) {
    const auto* start = std::get_if<yarn::StartContainersRequest>(&call.request);
    if (start == nullptr) {
      events_.push_back(NmReplied{
          .call = call.call, .node = call.node, .response = yarn::StopContainersResponse{}});
      return;
    }
    yarn::StartContainersResponse response;
    response.succeeded = {start->containers.front().container};
    events_.push_back(NmReplied{.call = call.call, .node = call.node, .response = response});
    const AgentFence fence = AgentLaunchFrom(start->containers.front().context.environment)->fence;
    events_.push_back(
        AgentSaid{RegisterAgent{.fence = fence, .address = {.host = "n1", .port = 1000}}});
  }

  ApplicationMaster am_;
  Instant now_{};
  std::deque<AmEvent> events_;
  std::vector<std::string> notes_;
  std::vector<yarn::ResourceRequest> asked_;
  yarn::AllocateResponse next_;
  std::int64_t containers_ = 0;
  yarn::RpcErrorCode refusal_ = yarn::RpcErrorCode::kInvalidResourceRequest;
  std::vector<ContainerId> released_;
  std::map<std::pair<std::int32_t, std::int64_t>, std::int32_t> outstanding_;
  std::vector<std::string> awaited_;
  bool forgets_ = false;
  bool refuses_ = false;
  Resource registered_maximum_;
  std::int32_t refused_ = 0;
  std::int32_t nodes_ = 0;
};

// ---------------------------------------------------------------- nodes that may come

TEST(StartupTest, InAnOldClusterWhatItsNodesCannotHoldFailsAtOnce) {
  const Rig rig(Workers(2), {.nodes = {NodeNamed("n1")}});
  EXPECT_EQ(rig.rule(), "gang/infeasible");
  EXPECT_THAT(rig.diagnostics(), HasSubstr("worker needs 2 containers"));
  EXPECT_EQ(rig.asked_memory(), 0);
}

TEST(StartupTest, AYoungClusterGetsTenMinutes) {
  Rig rig(Workers(2), {.rm_age = 10min - 1ms, .nodes = {NodeNamed("n1")}});
  EXPECT_FALSE(rig.failed());
  EXPECT_EQ(rig.outstanding(), 0) << "what is known to be impossible is not asked for";
  EXPECT_THAT(rig.notes(), Contains(AllOf(HasSubstr("worker needs 2 containers"),
                                          HasSubstr("may still come for 10m"))));
  EXPECT_THAT(rig.waiting_for(), HasSubstr("nodes that may still come, for up to 10m: worker"));
  EXPECT_THAT(rig.awaited(), ElementsAre(HasSubstr("worker needs 2 containers")));
  rig.Advance(10min - 1s);
  EXPECT_FALSE(rig.failed());
  rig.Advance(2s);
  EXPECT_EQ(rig.rule(), "gang/infeasible");
  EXPECT_EQ(rig.asked_memory(), 0) << "the end of the wait is no reason to ask";
}

TEST(StartupTest, ANodeThatComesInTimeEndsTheDoubt) {
  Rig rig(Workers(2), {.rm_age = 1s, .nodes = {NodeNamed("n1")}});
  rig.Join(NodeNamed("n2"));
  EXPECT_EQ(rig.outstanding(), 2);
  EXPECT_THAT(rig.waiting_for(), Not(HasSubstr("may still come")));
  EXPECT_THAT(rig.awaited(), ElementsAre(Not(""), ""));
  rig.Advance(1h);
  EXPECT_FALSE(rig.failed()) << rig.diagnostics();
}

TEST(StartupTest, ANodeThatTheRmCountsAndNobodyToldOfIsNotForgotten) {
  Rig rig(Workers(2), {.rm_age = 1s, .nodes = {NodeNamed("n1")}});
  rig.CountOneMore();
  rig.Answer();
  rig.Advance(15min);
  EXPECT_FALSE(rig.failed()) << rig.diagnostics();
  EXPECT_THAT(rig.notes(), Contains(HasSubstr("the RM counts more")));
}

TEST(StartupTest, ANodeThatTheRmCountsMayHoldWhatNoKnownOneDoes) {
  Rig rig(Workers(2), {.rm_age = 1s, .nodes = {NodeNamed("n1")}, .more_nodes = 1});
  rig.Advance(2s);
  EXPECT_EQ(rig.outstanding(), 2);
  EXPECT_THAT(rig.waiting_for(), Not(HasSubstr("may still come")));
}

TEST(StartupTest, AGangThatHasBecomeImpossibleGivesBackWhatItHolds) {
  Rig rig(Workers(2), {.rm_age = 1s, .nodes = {NodeNamed("n1"), NodeNamed("n2")}});
  rig.Advance(2s);
  ASSERT_EQ(rig.outstanding(), 2);
  rig.Grant();
  EXPECT_THAT(rig.released(), IsEmpty());
  rig.Leave("n2");
  EXPECT_EQ(rig.outstanding(), 0);
  EXPECT_THAT(rig.released(), SizeIs(1));
  EXPECT_FALSE(rig.failed()) << rig.diagnostics();
  rig.Join(NodeNamed("n3"));
  EXPECT_EQ(rig.outstanding(), 2);
}

TEST(StartupTest, TheJobSaysHowLongNodesMayCome) {
  JobSpec job = Workers(2);
  job.deadlines.nodes = 30s;
  const Rig old(job, {.rm_age = 30s, .nodes = {NodeNamed("n1")}});
  EXPECT_EQ(old.rule(), "gang/infeasible");
  Rig young(job, {.rm_age = 29s, .nodes = {NodeNamed("n1")}});
  young.Advance(29s);
  EXPECT_FALSE(young.failed());
  young.Advance(2s);
  EXPECT_EQ(young.rule(), "gang/infeasible");
}

TEST(StartupTest, ALaterAttemptJudgesByTheAgeOfTheListToo) {
  Rig early(Workers(2), {.rm_age = 1s, .attempt = 2, .nodes = {NodeNamed("n1")}});
  EXPECT_FALSE(early.failed());
  early.Advance(10min + 1s);
  EXPECT_EQ(early.rule(), "gang/infeasible");
  const Rig late(Workers(2), {.attempt = 2, .nodes = {NodeNamed("n1")}});
  EXPECT_EQ(late.rule(), "gang/infeasible");
}

TEST(StartupTest, AQueueGrowsWithNodesThatComeLate) {
  Rig rig(Workers(2), {.rm_age = 1s, .nodes = {NodeNamed("n1")}, .queue_maximum = {{"", kNode}}});
  rig.Join(NodeNamed("n2"));
  rig.Advance(1h);
  EXPECT_FALSE(rig.failed()) << rig.diagnostics();
}

// An RM says the size of its largest node where nothing is configured.
TEST(StartupTest, TheLargestContainerOfAYoungClusterIsNotItsLast) {
  const Resource small{.memory_mb = 2 * kGiB, .vcores = 1};
  Rig rig(Workers(1),
          {.rm_age = 1s, .nodes = {NodeNamed("n1", small)}, .maximum_container = small});
  rig.Join(NodeNamed("n2"));
  rig.Advance(1h);
  EXPECT_FALSE(rig.failed()) << rig.diagnostics();
  const Rig old(Workers(1), {.nodes = {NodeNamed("n1")}, .maximum_container = small});
  EXPECT_THAT(old.diagnostics(), HasSubstr("the ResourceManager's largest container has 2 GiB"));
}

TEST(StartupTest, WhatAYoungRmRefusesIsAskedForAgainWhenNodesCome) {
  Rig rig(Workers(1), {.rm_age = 1s, .rm_refuses = true});
  rig.Advance(5min);
  EXPECT_FALSE(rig.failed()) << rig.diagnostics();
  EXPECT_EQ(rig.refused(), 1);
  rig.SetRefuses(false);
  rig.Join(NodeNamed("n1"));
  EXPECT_EQ(rig.asked_memory(), 4 * kGiB);
}

TEST(StartupTest, WhatAYoungRmSaysIsTooLargeSoFarIsAskedForWhenNodesCome) {
  const Resource small{.memory_mb = 2 * kGiB, .vcores = 8, .gpus = 1};
  for (const bool comes : {true, false}) {
    Rig rig(Workers(1), {.rm_age = 1s, .rm_refuses = true, .registered_maximum = small});
    rig.Advance(5min);
    EXPECT_FALSE(rig.failed()) << rig.diagnostics();
    EXPECT_EQ(rig.refused(), 0);
    if (comes) {
      rig.SetRefuses(false);
      rig.Join(NodeNamed("n1"));
      EXPECT_EQ(rig.asked_memory(), 4 * kGiB);
    } else {
      rig.Advance(5min + 2s);
      EXPECT_EQ(rig.rule(), "gang/infeasible");
    }
  }
}

TEST(StartupTest, WhatAnRmRefusesToTheEndFails) {
  Rig young(Workers(1), {.rm_age = 1s, .rm_refuses = true});
  young.Advance(10min + 2s);
  EXPECT_EQ(young.rule(), "gang/ask-refused");
  EXPECT_EQ(young.refused(), 2);
  Rig old(Workers(1), {.rm_refuses = true});
  old.Advance(2s);
  EXPECT_EQ(old.rule(), "gang/ask-refused");
}

// Source: RMServerUtils.validateResourceRequests and
// SchedulerUtils.checkIfLabelInClusterNodeLabels.
TEST(StartupTest, ARefusedLabelIsFinalInAYoungClusterToo) {
  Rig rig(Workers(1), {.rm_age = 1s, .nodes = {NodeNamed("n1")}, .rm_refuses = true});
  rig.SetRefusal(yarn::RpcErrorCode::kInvalidLabelResourceRequest);
  EXPECT_FALSE(rig.failed()) << "it is a size that the RM has refused first";
  rig.Advance(2s);
  EXPECT_EQ(rig.rule(), "gang/ask-refused");
}

TEST(StartupTest, ARefusedSizeThatANodeHasIsFinal) {
  Rig rig(Workers(1), {.rm_age = 1s, .nodes = {NodeNamed("n1")}, .rm_refuses = true});
  rig.Advance(3s);
  EXPECT_EQ(rig.rule(), "gang/ask-refused");
}

// The RM says the smaller of its setting and its largest node.
TEST(StartupTest, AMaximumBelowWhatANodeHasIsASettingAndFinal) {
  const Resource maximum{.memory_mb = 2 * kGiB, .vcores = 8, .gpus = 1};
  const Rig rig(Workers(1),
                {.rm_age = 1s, .nodes = {NodeNamed("n1")}, .registered_maximum = maximum});
  EXPECT_EQ(rig.rule(), "gang/infeasible");
  EXPECT_THAT(rig.diagnostics(), HasSubstr("the ResourceManager's largest container has 2 GiB"));
  EXPECT_EQ(rig.asked_memory(), 0);
}

TEST(StartupTest, AnRmThatHasRestartedIsYoungAgain) {
  Rig rig(Workers(1), {.nodes = {NodeNamed("n1")}});
  rig.Advance(1min);
  rig.SetForgets();
  rig.SetRefuses(true);
  rig.Advance(9min);
  EXPECT_GT(rig.refused(), 0);
  EXPECT_FALSE(rig.failed()) << rig.diagnostics();
  rig.Advance(2min);
  EXPECT_EQ(rig.rule(), "gang/ask-refused");
}

// ---------------------------------------------------------------- a job that grows

JobSpec Growing(std::int32_t factor_percent) {
  JobSpec job = Workers(1);
  job.on_exit = {{.classes = {ExitClass::kOom},
                  .action = ExitAction::kRaiseMemory,
                  .raise_factor_percent = factor_percent}};
  return job;
}

TEST(StartupTest, MemoryIsRaisedAsFarAsANodeHolds) {
  Rig rig(Growing(200), {.nodes = {NodeNamed("n1")}});
  rig.Grant();
  ASSERT_EQ(rig.state(), JobState::kRunning);
  rig.OutOfMemory();
  EXPECT_EQ(rig.asked_memory(), 8 * kGiB);
  rig.Grant();
  EXPECT_EQ(rig.state(), JobState::kRunning);
  EXPECT_FALSE(rig.failed()) << rig.diagnostics();
}

TEST(StartupTest, MemoryIsRaisedToTheLargestNodeAtMost) {
  Rig rig(Growing(500), {.nodes = {NodeNamed("n1")}});
  rig.Grant();
  ASSERT_EQ(rig.state(), JobState::kRunning);
  rig.OutOfMemory();
  EXPECT_EQ(rig.asked_memory(), 16 * kGiB);
  rig.Grant();
  ASSERT_EQ(rig.state(), JobState::kRunning);
  rig.OutOfMemory();
  EXPECT_TRUE(rig.failed());
}

TEST(StartupTest, MoreMemoryThanTheQueueMayUseIsNotWaitedFor) {
  Rig rig(Growing(300),
          {.nodes = {NodeNamed("n1")},
           .queue_maximum = {{"", {.memory_mb = 12 * kGiB, .vcores = 8, .gpus = 1}}}});
  rig.Grant();
  ASSERT_EQ(rig.state(), JobState::kRunning);
  rig.OutOfMemory();
  EXPECT_EQ(rig.rule(), "gang/infeasible");
  EXPECT_THAT(rig.diagnostics(), HasSubstr("the queue at its maximum has 12 GiB"));
}

TEST(StartupTest, MemoryIsRaisedToTheLargestContainerAtMost) {
  Rig rig(Growing(500), {.nodes = {NodeNamed("n1")},
                         .maximum_container = {.memory_mb = 6 * kGiB, .vcores = 8, .gpus = 1}});
  rig.Grant();
  rig.OutOfMemory();
  EXPECT_EQ(rig.asked_memory(), 6 * kGiB);
  rig.Grant();
  ASSERT_EQ(rig.state(), JobState::kRunning);
  rig.OutOfMemory();
  // There is nothing more to give: it is out of memory, not infeasible.
  ASSERT_TRUE(rig.failed());
  EXPECT_NE(rig.rule(), "gang/infeasible");
  EXPECT_THAT(rig.diagnostics(), HasSubstr("oom"));
}

}  // namespace
}  // namespace tfyarn::am::startup_test
