// The face of the room: what the AM orders, what it hears, and in which order.
#include "core/allocation/allocation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "core/allocation/allocation_options.h"

namespace tfyarn::allocation::allocation_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr Instant kStart{};
const Resource kSize{.memory_mb = 1024, .vcores = 1};
const Resource kNode{.memory_mb = 8192, .vcores = 8};
const TaskId kWorker0{.type = "worker", .index = 0};

ContainerId Id(std::int64_t id) {
  return {.application_attempt = {.application = {.id = 1}, .attempt = 1}, .id = id};
}

NodeId NodeNamed(const std::string& host) {
  return {.host = host, .port = 8041};
}

JobSpec OneWorker() {
  JobSpec job;
  job.tasks = {{.name = "worker", .instances = 1, .resource = kSize}};
  return job;
}

/// Writes down what it hears, one line each.
class Ear final : public Listener {
 public:
  void OnAdmitted(const Admission& of) override {
    heard.push_back("admitted, " + std::to_string(of.living.size()) + " living");
  }
  void OnForgotten() override { heard.emplace_back("forgotten"); }
  void OnExpelled(const std::string& why) override { heard.push_back("expelled: " + why); }
  void OnFinished() override { heard.emplace_back("finished"); }
  void OnRejected(const Rejection& of) override { heard.push_back("rejected: " + of.message); }
  void OnCameBack(const HeldContainer& of) override { Write("back", of.id); }
  void OnEndsTold(const std::vector<LostContainer>& lost) override {
    heard.push_back("ends of " + std::to_string(lost.size()));
  }
  void OnLost(const LostContainer& of) override { Write(of.stray ? "stray lost" : "lost", of.id); }
  void OnNodeLost(const NodeId& node) override { heard.push_back("node lost " + node.host); }
  void OnGranted(const TaskId&, const HeldContainer& of) override { Write("granted", of.id); }
  void OnNotice(const ContainerId& of) override { Write("notice", of); }
  void OnLaunchRefused(const TaskId&, const ContainerId& of, const LaunchRefusal& why) override {
    refusals.push_back(why.why);
    Write("refused", of);
  }
  void OnNotStopped(const ContainerId& of) override { Write("not stopped", of); }
  [[nodiscard]] std::vector<placement::SlotGroup> Needed() const override { return {}; }

  std::vector<std::string> Take() { return std::exchange(heard, {}); }

  std::vector<std::string> heard;
  std::vector<LaunchRefusal::Why> refusals;

 private:
  void Write(const char* what, const ContainerId& of) {
    heard.push_back(std::string(what) + " " + std::to_string(of.id));
  }
};

/// An allocation whose ResourceManager says what a test wants.
class Rig {
 public:
  explicit Rig(AllocationOptions options = {}) : allocation_(job_, std::move(options), out_) {
    Begin(kStart);
    out_.OpenJournal(1, JournalSeq(1), true);
  }

  void Begin(Instant now) {
    actions_.clear();
    now_ = now;
    out_.BeginStep(actions_);
    allocation_.BeginStep(now);
  }
  void Start(const std::vector<std::string>& hosts, Resource capability = kNode) {
    std::vector<yarn::NodeReport> nodes;
    for (const std::string& host : hosts) {
      nodes.push_back({.node = NodeNamed(host),
                       .rack = "/r",
                       .state = yarn::NodeState::kRunning,
                       .capability = capability});
    }
    allocation_.OnStarted({.attempt = {.application = {.cluster_timestamp = 0, .id = 1}},
                           .nodes = SharedList<yarn::NodeReport>(std::move(nodes))});
    allocation_.Register({.host = "am", .port = 1}, "");
    Answer(yarn::RegisterApplicationMasterResponse{.maximum_capability = kNode});
  }
  /// Sends what is due, which must be a call, and answers it.
  void Answer(yarn::RmResponse response) {
    allocation_.Send();
    ASSERT_FALSE(actions_.empty());
    const auto call = std::get<CallRm>(actions_.back());
    if (auto* allocated = std::get_if<yarn::AllocateResponse>(&response)) {
      allocated->response_id = std::get<yarn::AllocateRequest>(call.request).response_id + 1;
      asked_ = std::get<yarn::AllocateRequest>(call.request);
    }
    allocation_.OnReplied({call.call, std::move(response)}, ear_);
  }
  /// The RM answers the next heartbeat.
  void Tell(yarn::AllocateResponse response) {
    Begin(std::max(now_, *allocation_.next_deadline()));
    if (response.num_cluster_nodes == 0) response.num_cluster_nodes = 3;
    Answer(std::move(response));
  }
  /// The worker gets that container on node `a`.
  void Grant(std::int64_t id, bool with_token = true) {
    allocation_.Want({{.task = kWorker0, .resource = kSize, .placement = {}}}, false);
    Tell({});
    ASSERT_FALSE(asked_.ask.empty());
    yarn::AllocateResponse response;
    response.allocated_containers.push_back(
        {.id = Id(id),
         .node = NodeNamed("a"),
         .resource = kSize,
         .priority = asked_.ask.front().priority.value_or(0),
         .allocation_request_id = asked_.ask.front().allocation_request_id});
    if (with_token) response.nm_tokens = {{.node = NodeNamed("a"), .token = {}}};
    Tell(std::move(response));
  }
  [[nodiscard]] bool Launch(std::int64_t id) {
    return allocation_.Launch({}, {.fence = {.container = Id(id), .task = kWorker0}});
  }
  CallNm LastNmCall() { return std::get<CallNm>(actions_.back()); }
  bool NmAnswers(const CallNm& call, yarn::NmResponse response) {
    return allocation_.OnNmReplied({call.call, call.node, std::move(response)}, ear_);
  }

  JobSpec job_ = OneWorker();
  std::vector<AmAction> actions_;
  journal::Outbox out_;
  Allocation allocation_;
  Ear ear_;
  yarn::AllocateRequest asked_;  ///< The latest heartbeat.
  Instant now_{};
};

TEST(AllocationTest, AGrantedContainerIsLaunchedWithTheAgentsFence) {
  Rig rig;
  rig.Start({"a", "b"});
  rig.Grant(2);
  EXPECT_THAT(rig.ear_.Take(), ElementsAre("admitted, 0 living", "granted 2"));
  ASSERT_TRUE(rig.Launch(2));
  const auto request = std::get<yarn::StartContainersRequest>(rig.LastNmCall().request);
  EXPECT_EQ(request.containers.front().container, Id(2));
  EXPECT_EQ(AgentLaunchFrom(request.containers.front().context.environment)->fence.task, kWorker0);
  EXPECT_EQ(rig.allocation_.unanswered_launches(), 1U);
}

TEST(AllocationTest, ARefusedLaunchSaysWhyAndAnAnsweredOneNothing) {
  const auto refusal = [](yarn::NmResponse response) {
    Rig rig;
    rig.Start({"a", "b"});
    rig.Grant(2);
    EXPECT_TRUE(rig.Launch(2));
    EXPECT_TRUE(rig.NmAnswers(rig.LastNmCall(), std::move(response)));
    EXPECT_EQ(rig.allocation_.unanswered_launches(), 0U);
    return rig.ear_.refusals;
  };
  const auto error = [](yarn::RpcErrorCode code, std::string message) {
    return yarn::RpcError{.code = code, .message = std::move(message)};
  };
  using Why = LaunchRefusal::Why;
  using Code = yarn::RpcErrorCode;
  EXPECT_THAT(refusal(error(Code::kUnavailable, "")), ElementsAre(Why::kNoAnswer));
  EXPECT_THAT(refusal(error(Code::kNmNotYetReady, "")), ElementsAre(Why::kNotReady));
  EXPECT_THAT(refusal(error(Code::kInvalidContainer, "")), ElementsAre(Why::kForgotten));
  EXPECT_THAT(refusal(error(Code::kYarn, "no space")), ElementsAre(Why::kRefused));
  EXPECT_THAT(refusal(error(Code::kYarn, "attempted to relaunch the same container")), IsEmpty());
  EXPECT_THAT(refusal(yarn::StartContainersResponse{
                  .failed = {{.container = Id(2), .error = error(Code::kYarn, "bad image")}}}),
              ElementsAre(Why::kRefused));
  EXPECT_THAT(refusal(yarn::StartContainersResponse{.succeeded = {Id(2)}}), IsEmpty());
}

TEST(AllocationTest, AHostWithoutTokenIsKeptOffOnceThatIsStored) {
  Rig rig;
  rig.Start({"a", "b", "c"});
  rig.Grant(2, false);
  ASSERT_FALSE(rig.Launch(2));
  const auto hosts = rig.allocation_.HostsToStore({}, false);
  ASSERT_TRUE(hosts.has_value());
  EXPECT_THAT(*hosts, ElementsAre("a"));
  const JournalSeq entry = rig.out_.Append(journal::HostsKeptOff{.hosts = *hosts});
  rig.allocation_.OnHostsStored(entry);
  rig.out_.Flush();
  rig.Tell({});
  EXPECT_THAT(rig.asked_.blacklist_additions, IsEmpty()) << "an AM that dies now forgets it";
  ASSERT_TRUE(rig.out_.OnAppended(entry));
  rig.Tell({});
  EXPECT_THAT(rig.asked_.blacklist_additions, ElementsAre("a"));
}

TEST(AllocationTest, AnOrderThatRestsOnAnEntryThatIsNotStoredIsADefect) {
  Rig rig;
  rig.Start({"a", "b"});
  rig.Grant(2);
  const JournalSeq entry = rig.out_.Append(journal::HostsKeptOff{.hosts = {}});
  EXPECT_DEATH((void)rig.allocation_.Stop(entry, {.id = Id(2), .node = NodeNamed("a")}),
               "IsDurable");
}

TEST(AllocationTest, ANodeThatCannotStopAContainerSaysSoUnlessItHasEnded) {
  Rig rig;
  rig.Start({"a", "b"});
  rig.Grant(2);
  ASSERT_TRUE(rig.Launch(2));
  ASSERT_TRUE(rig.allocation_.Stop({}, {.id = Id(2), .node = NodeNamed("a")}));
  const CallNm call = rig.LastNmCall();
  rig.ear_.Take();
  rig.Tell({.completed_containers = {{.id = Id(2), .exit_status = 143}}});
  EXPECT_THAT(rig.ear_.Take(), ElementsAre("ends of 1", "lost 2"));
  EXPECT_FALSE(rig.NmAnswers(call, yarn::RpcError{.code = yarn::RpcErrorCode::kUnavailable}));
  EXPECT_THAT(rig.ear_.Take(), IsEmpty());

  ASSERT_TRUE(rig.allocation_.Stop({}, {.id = Id(3), .node = NodeNamed("a")}));
  EXPECT_TRUE(rig.NmAnswers(rig.LastNmCall(), yarn::StopContainersResponse{}));
  EXPECT_THAT(rig.ear_.Take(), ElementsAre("not stopped 3"));
  EXPECT_FALSE(rig.allocation_.Stop({}, {.id = Id(4), .node = NodeNamed("b")})) << "no token";
}

TEST(AllocationTest, EndsAreToldTogetherAndThenOneByOne) {
  Rig rig;
  rig.Start({"a", "b"});
  rig.Grant(2);
  rig.ear_.Take();
  // One that nothing asked for is given back: its end is expected.
  rig.Tell({.allocated_containers = {{.id = Id(5), .node = NodeNamed("b"), .resource = kSize}}});
  rig.Tell({.completed_containers = {{.id = Id(2)}, {.id = Id(5)}, {.id = Id(6)}}});
  EXPECT_THAT(rig.asked_.release, ElementsAre(Id(5)));
  EXPECT_THAT(rig.ear_.Take(), ElementsAre("ends of 3", "lost 2", "lost 5", "stray lost 6"));
  EXPECT_TRUE(rig.allocation_.Wants(kWorker0)) << "nothing ran in the one that it had";
}

TEST(AllocationTest, NodesAreWaitedForUntilTheirTimeIsOver) {
  Rig rig;  // The ResourceManager started at the instant at which the client asked it.
  rig.Start({"a"}, {.memory_mb = 512, .vcores = 1});
  const std::vector<placement::SlotGroup> worker = {
      {.task_type = "worker", .resource = kSize, .count = 1}};
  const Judgement first = rig.allocation_.Judge(worker);
  EXPECT_EQ(first.is, Judgement::Is::kWait);
  EXPECT_THAT(first.limit, HasSubstr("worker"));
  (void)rig.allocation_.Suspend();
  rig.allocation_.AwaitNodes(first.limit);
  EXPECT_TRUE(rig.allocation_.awaits_nodes());
  const Instant over = rig.allocation_.judges_at();
  EXPECT_EQ(over, kStart + rig.job_.deadlines.nodes);
  rig.Begin(over);
  EXPECT_EQ(rig.allocation_.Judge(worker).is, Judgement::Is::kNever);
  EXPECT_FALSE(rig.allocation_.awaits_nodes());
}

TEST(AllocationTest, ANodeThatComesLiftsTheLimit) {
  Rig rig;
  rig.Start({"a"}, {.memory_mb = 512, .vcores = 1});
  const std::vector<placement::SlotGroup> worker = {
      {.task_type = "worker", .resource = kSize, .count = 1}};
  rig.allocation_.AwaitNodes(rig.allocation_.Judge(worker).limit);
  rig.Tell({.updated_nodes = {{.node = NodeNamed("b"),
                               .rack = "/r",
                               .state = yarn::NodeState::kRunning,
                               .capability = kNode}},
            .num_cluster_nodes = 2});
  EXPECT_TRUE(rig.allocation_.to_be_judged());
  EXPECT_EQ(rig.allocation_.Judge(worker).is, Judgement::Is::kPossible);
  EXPECT_FALSE(rig.allocation_.awaits_nodes());
}

}  // namespace
}  // namespace tfyarn::allocation::allocation_test
