// The reference model on traces made by hand: for each rule of docs/policies.md that it knows, a
// decision that the document allows and one that it refuses.
#include "oracles/reference_verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/model/text.h"

namespace tfyarn::oracles::reference_verdict_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr trace::JobIndex kJob{0};
const TaskId kChief{"chief", 0};
const TaskId kPs{"ps", 0};
const TaskId kWorker0{"worker", 0};
const TaskId kWorker1{"worker", 1};
const std::string kNoConnection =
    "UnavailableError: failed to connect to all addresses; from remote target ";

JobSpec Spec(std::vector<std::pair<std::string, std::int32_t>> types, Strategy strategy) {
  JobSpec spec;
  spec.name = "a";
  spec.strategy = strategy;
  for (auto& [name, instances] : types)
    spec.tasks.push_back({.name = name, .instances = instances, .resource = {.memory_mb = 1024}});
  return spec;
}

JobSpec TwoWorkers() {
  return Spec({{"worker", 2}}, Strategy::kMultiWorker);
}

/// Of which one may start again for the user.
JobSpec ThreeWorkers() {
  JobSpec spec = Spec({{"worker", 3}}, Strategy::kMultiWorker);
  spec.retries.user = 1;
  return spec;
}

JobSpec WithPs() {
  return Spec({{"chief", 1}, {"ps", 1}, {"worker", 2}}, Strategy::kParameterServer);
}

/// A run of one job in which every task, but for those of the type `idle`, runs from 10 s on; each
/// word below is told to the AM at once unless it says otherwise.
class Script {
 public:
  explicit Script(JobSpec spec, const std::string& idle = "",
                  std::vector<yarn::NodeReport> nodes = {}, Duration spread = {},
                  std::vector<bool> lasts = {})
      : model(false, spread, std::move(lasts)),
        spec_(std::make_shared<const JobSpec>(std::move(spec))),
        nodes_(std::move(nodes)) {
    model.JobSubmitted(kJob, spec_);
    StartAm(1);
    std::int64_t next = 2;
    for (const TaskTypeSpec& type : spec_->tasks) {
      for (std::int32_t i = 0; i < type.instances; ++i) Launch({type.name, i}, next++);
    }
    At(10s);
    Assemble(1);
    for (const auto& [task, container] : containers_) {
      if (task.type != idle) Spawn(task, 0, 1);
    }
  }

  void At(Duration time) { now_ = Instant{} + time; }
  void StartAm(std::int32_t attempt, bool answered = true) {
    am_attempt_ = attempt;
    Tell(AmStarted{.attempt = {.application = {.id = 1}, .attempt = attempt},
                   .wall = CalendarAt(now_),
                   .nodes = nodes_});
    if (answered) Tell(RmReplied{.response = yarn::RegisterApplicationMasterResponse{}});
  }
  void ActAs(std::int32_t attempt) { am_attempt_ = attempt; }
  void Launch(const TaskId& task, std::int64_t id) {
    containers_[task] = {.application_attempt = {.application = {.id = 1}, .attempt = 1}, .id = id};
    yarn::StartContainerRequest start{.container = containers_[task]};
    start.context.environment["TFYARN_TASK"] = ToString(task);
    Order(CallNm{.request = yarn::StartContainersRequest{.containers = {start}}});
  }
  void Assemble(std::uint32_t epoch) { Order(SpecAssembled{.epoch = Epoch(epoch)}); }
  void OrderStart(const TaskId& task, std::uint32_t attempt, std::uint32_t epoch) {
    Order(SendToAgent{.container = containers_[task],
                      .message = StartProcess{
                          .fence = Fence(task),
                          .process = {.attempt = TaskAttempt(attempt), .epoch = Epoch(epoch)}}});
  }
  void Spawn(const TaskId& task, std::uint32_t attempt, std::uint32_t epoch) {
    Tell(AgentSaid{RegisterAgent{.fence = Fence(task)}});
    SpawnUntold(task, attempt, epoch);
    TellThatItRuns(task);
  }
  void TellThatItRuns(const TaskId& task) {
    Tell(AgentSaid{ProcessRunning{.fence = Fence(task), .process = attempts_[task]}});
  }
  void SpawnUntold(const TaskId& task, std::uint32_t attempt, std::uint32_t epoch) {
    const ProcessRef process{.attempt = TaskAttempt(attempt), .epoch = Epoch(epoch)};
    attempts_[task] = process;
    Say(trace::AgentOrdered{.job = kJob,
                            .container = containers_[task],
                            .action = SpawnProcess{.task = task, .process = process}});
  }
  void Exit(const TaskId& task, ProcessExit exit, bool told = true, std::string last_words = "") {
    Say(trace::AgentTold{.job = kJob,
                         .container = containers_[task],
                         .event = ProcessExited{.attempt = attempts_[task].attempt,
                                                .exit = exit,
                                                .stderr_tail = std::move(last_words)}});
    if (told)
      Tell(AgentSaid{ProcessEnded{.fence = Fence(task), .process = attempts_[task], .exit = exit}});
  }
  void Exit(const TaskId& task, std::int32_t code) { Exit(task, ProcessExit{.code = code}); }
  void LoseContainer(const TaskId& task, std::int32_t status, std::string why = "") {
    Say(trace::ContainerFreed{.job = kJob, .container = containers_[task], .exit_status = status});
    Tell(RmReplied{.response = yarn::AllocateResponse{
                       .completed_containers = {{.id = containers_[task],
                                                 .state = yarn::ContainerState::kComplete,
                                                 .exit_status = status,
                                                 .diagnostics = std::move(why)}}}});
  }
  void StandStill(const TaskId& task) {
    Tell(AgentSaid{ProcessSigns{
        .fence = Fence(task), .process = attempts_[task], .standstill = Standstill::kStopped}});
    Say(trace::AgentTold{.job = kJob,
                         .container = containers_[task],
                         .event = ProcessSignsSeen{.attempt = attempts_[task].attempt,
                                                   .standstill = Standstill::kStopped}});
  }
  void Stall(const TaskId& task) {
    Tell(AgentSaid{ProgressStalled{.fence = Fence(task), .process = attempts_[task]}});
  }
  void OrderStop(const TaskId& task, Duration grace = 15s) {
    Order(SendToAgent{
        .container = containers_[task],
        .message =
            StopProcess{.fence = Fence(task), .attempt = attempts_[task].attempt, .grace = grace}});
  }
  void NeverRuns(const TaskId& task, std::uint32_t attempt, std::uint32_t epoch) {
    Tell(AgentSaid{ProcessEnded{.fence = Fence(task),
                                .process = {.attempt = TaskAttempt(attempt), .epoch = Epoch(epoch)},
                                .exit = {.stopped_by_agent = true},
                                .launch_error = "stopped before it ran"}});
  }
  void Kill(const TaskId& task) {
    OrderStop(task);
    Say(trace::AgentOrdered{
        .job = kJob,
        .container = containers_[task],
        .action = SignalProcess{.attempt = attempts_[task].attempt, .signal = StopSignal::kKill}});
    Exit(task, ProcessExit{.signal = 9, .stopped_by_agent = true});
  }
  void EndAgentOf(const TaskId& task) {
    Order(SendToAgent{.container = containers_[task], .message = EndAgent{.fence = Fence(task)}});
  }
  void GiveBack(const TaskId& task) {
    Order(CallNm{.request = yarn::StopContainersRequest{.containers = {containers_[task]}}});
  }
  /// The AM that acts hears its agent.
  void Hear(const TaskId& task) {
    Tell(AgentSaid{RegisterAgent{.fence = Fence(task), .running = attempts_[task]}});
  }
  /// Its agent tells the AM that nothing runs there.
  void Register(const TaskId& task) { Tell(AgentSaid{RegisterAgent{.fence = Fence(task)}}); }
  /// ... or that its process has ended so; the report is to follow.
  void RegisterEnded(const TaskId& task, const ProcessExit& exit) {
    Tell(AgentSaid{RegisterAgent{.fence = Fence(task), .ended = attempts_[task], .exit = exit}});
  }
  void RegisterEnded(const TaskId& task, std::int32_t code) {
    RegisterEnded(task, ProcessExit{.code = code});
  }
  [[nodiscard]] ContainerId ContainerOf(const TaskId& task) { return containers_[task]; }
  [[nodiscard]] bool Clean() { return model.TakeNew().empty(); }
  /// Time passes: any record shows it.
  [[nodiscard]] bool CleanAt(Duration time) {
    At(time);
    Say(trace::FaultBegan{.kind = "node_crash"});
    return Clean();
  }
  /// Both workers of a multi-worker job end with these codes, worker:1 first.
  void BothFail(std::int32_t worker1, std::int32_t worker0) {
    At(60s);
    Exit(kWorker1, worker1);
    At(61s);
    Exit(kWorker0, worker0);
  }
  /// The AM gives the task's container back.
  void Release(const TaskId& task) {
    Order(CallRm{.request = yarn::AllocateRequest{.release = {ContainerOf(task)}}});
  }
  /// The AM stores what it has decided so far.
  void Store() {
    Order(AppendJournal{.seq = JournalSeq(++seq_)});
    Tell(JournalAppended{.seq = JournalSeq(seq_)});
  }
  void Restart(const TaskId& cause, ExitClass cls, Budget paid, std::uint32_t epoch,
               std::vector<TaskId> tasks, std::optional<std::int32_t> exit = {}) {
    Store();
    Order(RestartDecided{.unit = tasks.size() > 1 ? RestartUnit::kGang : RestartUnit::kTask,
                         .paid = paid,
                         .epoch = Epoch(epoch),
                         .cause = {.task = cause, .exit = exit, .exit_class = cls},
                         .tasks = std::move(tasks)});
  }
  void Verdict(JobStatus status, std::string rule) {
    Store();
    Order(VerdictReached{.status = status, .rule = std::move(rule)});
  }
  void Verdict(JobStatus status, std::string rule, const TaskId& cause, ExitClass cls,
               std::optional<std::int32_t> exit = {}) {
    Store();
    Order(VerdictReached{.status = status,
                         .cause = Cause{.task = cause, .exit = exit, .exit_class = cls},
                         .rule = std::move(rule)});
  }
  void Tell(AmEvent event) {
    Say(trace::AmTold{.job = kJob, .am_attempt = am_attempt_, .event = std::move(event)});
  }
  void Order(AmAction action) {
    Say(trace::AmOrdered{.job = kJob, .am_attempt = am_attempt_, .action = std::move(action)});
  }
  void Say(trace::Fact fact) { model.Observe({.at = now_, .fact = std::move(fact)}); }

  ReferenceVerdict model;

 private:
  [[nodiscard]] AgentFence Fence(const TaskId& task) {
    return {.container = containers_[task], .task = task};
  }

  std::shared_ptr<const JobSpec> spec_;
  std::vector<yarn::NodeReport> nodes_;
  Instant now_{};
  std::int32_t am_attempt_ = 1;
  std::uint64_t seq_ = 0;
  std::map<TaskId, ContainerId> containers_;
  std::map<TaskId, ProcessRef> attempts_;
};

const TaskId kWorker2{"worker", 2};
const std::vector<TaskId> kBoth = {kWorker0, kWorker1};
const std::vector<TaskId> kAllThree = {kWorker0, kWorker1, kWorker2};

// ---------------------------------------------------------------- classes and payers

TEST(ReferenceVerdictTest, ACodeThatAsksForAnotherTryIsPaidByTheUser) {
  JobSpec spec = TwoWorkers();
  spec.retries.user = 1;
  for (const bool right : {true, false}) {
    Script script(spec);
    script.BothFail(75, 75);
    script.Restart(kWorker1, ExitClass::kUserRetryable,
                   right ? Budget::kUser : Budget::kInfrastructure, 2, kBoth);
    EXPECT_THAT(script.model.TakeNew(), right
                                            ? testing::Matcher<std::vector<std::string>>(IsEmpty())
                                            : ElementsAre(HasSubstr("is paid by infrastructure")));
  }
}

TEST(ReferenceVerdictTest, TheClassFollowsFromWhatTheProcessEndedWith) {
  Script script(TwoWorkers());
  script.BothFail(1, 1);
  script.Restart(kWorker1, ExitClass::kKilledExternal, Budget::kInfrastructure, 2, kBoth);
  EXPECT_THAT(script.model.TakeNew(), ElementsAre(HasSubstr("had heard user-permanent")));
}

TEST(ReferenceVerdictTest, WhatTheAmHasNotHeardIsNoReason) {
  Script script(TwoWorkers());
  script.At(60s);
  script.Exit(kWorker1, ProcessExit{.code = 137}, /*told=*/false);
  script.Restart(kWorker1, ExitClass::kKilledExternal, Budget::kInfrastructure, 2, kBoth);
  EXPECT_THAT(script.model.TakeNew(), ElementsAre(HasSubstr("had heard nothing")));
}

TEST(ReferenceVerdictTest, YarnsReasonIsBetterThanTheProcesssOwn) {
  for (const bool right : {true, false}) {
    Script script(TwoWorkers());
    script.At(60s);
    script.Exit(kWorker1, 143);
    script.LoseContainer(kWorker1, container_exit::kPreempted);
    script.Restart(kWorker1, right ? ExitClass::kPreempted : ExitClass::kKilledExternal,
                   Budget::kInfrastructure, 2, kBoth);
    EXPECT_EQ(script.model.TakeNew().empty(), right);
  }
}

TEST(ReferenceVerdictTest, OomFailsTheJobAndIsNotTriedAgain) {
  const ProcessExit oom{.signal = 9, .out_of_memory = true};
  Script fails(TwoWorkers());
  fails.Exit(kWorker1, oom);
  fails.Verdict(JobStatus::kFailed, "default/oom", kWorker1, ExitClass::kOom, 137);
  EXPECT_THAT(fails.model.TakeNew(), IsEmpty());
  Script again(TwoWorkers());
  again.Exit(kWorker1, oom);
  again.Restart(kWorker1, ExitClass::kOom, Budget::kUser, 2, kBoth);
  EXPECT_THAT(again.model.TakeNew(), ElementsAre(HasSubstr("default/oom, which starts nothing")));
}

TEST(ReferenceVerdictTest, AnEarlierRowOfOnExitDecides) {
  JobSpec spec = TwoWorkers();
  spec.on_exit = {{.exits = {75}, .action = ExitAction::kFail}};
  Script fails(spec);
  fails.BothFail(75, 75);
  fails.Verdict(JobStatus::kFailed, "on_exit/0", kWorker1, ExitClass::kUserRetryable, 75);
  EXPECT_THAT(fails.model.TakeNew(), IsEmpty());
  Script passed_over(spec);
  passed_over.BothFail(75, 75);
  passed_over.Verdict(JobStatus::kFailed, "default/user-retryable-exhausted", kWorker1,
                      ExitClass::kUserRetryable, 75);
  EXPECT_THAT(passed_over.model.TakeNew(), ElementsAre(HasSubstr("allowed are on_exit/0")));
}

// ---------------------------------------------------------------- budgets

TEST(ReferenceVerdictTest, ABudgetCountsWithinItsWindow) {
  JobSpec spec = TwoWorkers();
  spec.retries.infrastructure = 1;
  for (const bool later : {true, false}) {
    Script script(spec);
    script.BothFail(143, 143);
    script.Restart(kWorker1, ExitClass::kKilledExternal, Budget::kInfrastructure, 2, kBoth);
    script.Assemble(2);
    for (const TaskId& task : kBoth) script.Spawn(task, 1, 2);
    script.At(later ? 2h : 5min);
    for (const TaskId& task : kBoth) script.Exit(task, 143);
    script.Restart(kWorker0, ExitClass::kKilledExternal, Budget::kInfrastructure, 3, kBoth);
    EXPECT_EQ(script.model.TakeNew().empty(), later);
  }
}

TEST(ReferenceVerdictTest, AJobFailsForABudgetOnlyWhenItIsSpent) {
  JobSpec spec = TwoWorkers();
  for (const std::int32_t user : {0, 1}) {
    spec.retries.user = user;
    Script script(spec);
    script.BothFail(1, 1);
    script.Verdict(JobStatus::kFailed, "default/user-permanent-exhausted", kWorker1,
                   ExitClass::kUserPermanent, 1);
    EXPECT_EQ(script.model.TakeNew().empty(), user == 0);
  }
}

TEST(ReferenceVerdictTest, TonysSessionsAreTriedAgainRetryCountTimes) {
  JobSpec spec = TwoWorkers();
  spec.policy.name = "tony";
  for (const char* count : {"0", "1"}) {
    spec.policy.options["retry_count"] = count;
    Script script(spec);
    script.Exit(kWorker0, 1);
    script.Verdict(JobStatus::kFailed, "tony/chief-failed", kWorker0, ExitClass::kUserPermanent, 1);
    EXPECT_EQ(script.model.TakeNew().empty(), std::string(count) == "0");
  }
}

// The evaluator has ended well and starts again with no session: of all that is tracked nothing is
// left to run.
TEST(ReferenceVerdictTest, ASessionIsNotTriedAgainInVain) {
  const TaskId evaluator{"evaluator", 0};
  for (const bool in_vain : {true, false}) {
    JobSpec spec = Spec({{"worker", 1}, {"evaluator", 1}}, Strategy::kMultiWorker);
    spec.policy = {.name = "tony", .options = {{"retry_count", "1"}}};
    if (in_vain) spec.policy.options["untracked"] = "worker";
    spec.success = SuccessExpr{.op = SuccessOp::kCountAtLeast, .task_type = "worker", .number = 1};
    Script script(spec);
    script.At(60s);
    script.Exit(kWorker0, 1);
    script.Exit(evaluator, 0);
    script.Verdict(JobStatus::kFailed, "tony/tracked-ended");
    EXPECT_EQ(script.Clean(), in_vain);
  }
}

TEST(ReferenceVerdictTest, TfjobsRestartsInPlaceStopBeforeTheLimit) {
  JobSpec spec = Spec({{"worker", 2}}, Strategy::kIndependent);
  spec.policy = {.name = "tfjob",
                 .options = {{"restart_policy", "OnFailure"}, {"backoff_limit", "1"}}};
  Script fails(spec);
  fails.Exit(kWorker1, 1);
  fails.Verdict(JobStatus::kFailed, "tfjob/backoff-limit", kWorker1, ExitClass::kUserPermanent, 1);
  EXPECT_THAT(fails.model.TakeNew(), IsEmpty());
  Script again(spec);
  again.Exit(kWorker1, 1);
  again.Restart(kWorker1, ExitClass::kUserPermanent, Budget::kUser, 1, {kWorker1});
  EXPECT_THAT(again.model.TakeNew(), ElementsAre(HasSubstr("0 of 0 restarts are spent")));
}

// The one that a row of on_exit charges is one of the three.
TEST(ReferenceVerdictTest, ASidecarThatHasStartedAgainThreeTimesMayStayEnded) {
  const TaskId board{"tensorboard", 0};
  for (const std::uint32_t restarts : {2u, 3u}) {
    JobSpec spec = Spec({{"worker", 1}, {"tensorboard", 1}}, Strategy::kMultiWorker);
    spec.on_exit = {{.classes = {ExitClass::kSignalCrash},
                     .action = ExitAction::kRestartTask,
                     .pays = Budget::kUser}};
    spec.retries.user = 5;
    Script script(spec);
    for (std::uint32_t attempt = 0; attempt < restarts; ++attempt) {
      const bool charged = attempt == 0;
      script.Exit(board, charged ? 139 : 1);
      script.Restart(board, charged ? ExitClass::kSignalCrash : ExitClass::kUserPermanent,
                     charged ? Budget::kUser : Budget::kNone, 1, {board});
      script.Spawn(board, attempt + 1, 1);
    }
    script.Exit(board, 1);
    script.Store();
    script.At(10min);
    script.Say(trace::WorkLost{});
    EXPECT_EQ(script.Clean(), restarts == 3);
  }
}

TEST(ReferenceVerdictTest, ASidecarStartsAgainThreeTimes) {
  const TaskId board{"tensorboard", 0};
  Script script(Spec({{"worker", 1}, {"tensorboard", 1}}, Strategy::kMultiWorker));
  for (std::uint32_t attempt = 0; attempt < 4; ++attempt) {
    EXPECT_THAT(script.model.TakeNew(), IsEmpty());
    script.Exit(board, 1);
    script.Restart(board, ExitClass::kUserPermanent, Budget::kNone, 1, {board});
    script.Spawn(board, attempt + 1, 1);
  }
  EXPECT_THAT(script.model.TakeNew(), ElementsAre(HasSubstr("the fourth of a sidecar")));
}

// ---------------------------------------------------------------- restart units and epochs

TEST(ReferenceVerdictTest, ACollectiveStartsAgainAsAWhole) {
  Script script(TwoWorkers());
  script.BothFail(143, 143);
  script.Restart(kWorker1, ExitClass::kKilledExternal, Budget::kInfrastructure, 1, {kWorker1});
  EXPECT_THAT(script.model.TakeNew(), ElementsAre(HasSubstr("whose restart unit is worker:0")));
}

TEST(ReferenceVerdictTest, APsTakesTheChiefWithIt) {
  for (const bool with_chief : {true, false}) {
    Script script(WithPs());
    script.Exit(kPs, 137);
    script.Restart(kPs, ExitClass::kKilledExternal, Budget::kInfrastructure, with_chief ? 2 : 1,
                   with_chief ? std::vector{kChief, kPs} : std::vector{kPs});
    EXPECT_EQ(script.model.TakeNew().empty(), with_chief);
  }
}

TEST(ReferenceVerdictTest, AWorkerTakesTheChiefWithItOnlyWhenItsAddressChanges) {
  for (const bool lost : {true, false}) {
    for (const bool with_chief : {true, false}) {
      Script script(WithPs());
      script.Exit(kWorker1, 137);
      if (lost) script.LoseContainer(kWorker1, container_exit::kAborted);
      script.Restart(kWorker1, lost ? ExitClass::kNodeLost : ExitClass::kKilledExternal,
                     Budget::kInfrastructure, with_chief ? 2 : 1,
                     with_chief ? std::vector{kChief, kWorker1} : std::vector{kWorker1});
      EXPECT_EQ(script.model.TakeNew().empty(), lost == with_chief);
    }
  }
}

TEST(ReferenceVerdictTest, TheEpochRisesWhenMoreThanOneProcessStartsAgainAndOnlyThen) {
  for (const std::uint32_t epoch : {1U, 2U}) {
    Script gang(TwoWorkers());
    gang.BothFail(143, 143);
    gang.Restart(kWorker1, ExitClass::kKilledExternal, Budget::kInfrastructure, epoch, kBoth);
    EXPECT_EQ(gang.model.TakeNew().empty(), epoch == 2);
    Script alone(Spec({{"worker", 2}}, Strategy::kIndependent));
    alone.Exit(kWorker1, 143);
    alone.Restart(kWorker1, ExitClass::kKilledExternal, Budget::kInfrastructure, epoch, {kWorker1});
    EXPECT_EQ(alone.model.TakeNew().empty(), epoch == 1);
  }
}

TEST(ReferenceVerdictTest, ASpecIsMadeForTheEpochThatWasDecided) {
  Script script(TwoWorkers());
  script.Assemble(2);
  EXPECT_THAT(script.model.TakeNew(), ElementsAre(HasSubstr("a cluster spec of epoch 2 is made")));
}

// ---------------------------------------------------------------- whose failure it is

TEST(ReferenceVerdictTest, WhatNoPeerCanBringAboutIsTheCause) {
  JobSpec spec = TwoWorkers();
  spec.retries.user = 1;
  Script right(spec);
  right.BothFail(1, 143);
  right.Restart(kWorker0, ExitClass::kKilledExternal, Budget::kInfrastructure, 2, kBoth);
  EXPECT_THAT(right.model.TakeNew(), IsEmpty());
  Script victim(spec);
  victim.BothFail(1, 143);
  victim.Restart(kWorker1, ExitClass::kUserPermanent, Budget::kUser, 2, kBoth);
  EXPECT_THAT(victim.model.TakeNew(), ElementsAre(HasSubstr("worker:0 had ended with 143")));
}

TEST(ReferenceVerdictTest, ACrashGoesBeforeOtherFailuresAndTheFirstBeforeLater) {
  JobSpec spec = TwoWorkers();
  spec.retries.user = 1;
  Script crash(spec);
  crash.BothFail(1, 139);
  crash.Restart(kWorker1, ExitClass::kUserPermanent, Budget::kUser, 2, kBoth);
  EXPECT_THAT(crash.model.TakeNew(), ElementsAre(HasSubstr("worker:0 had crashed")));
  Script first(spec);
  first.BothFail(1, 2);
  first.Restart(kWorker0, ExitClass::kUserPermanent, Budget::kUser, 2, kBoth);
  EXPECT_THAT(first.model.TakeNew(), ElementsAre(HasSubstr("worker:1 had failed before it")));
}

TEST(ReferenceVerdictTest, WhoStandsStillIsTheCause) {
  JobSpec spec = TwoWorkers();
  spec.retries.user = 1;
  for (const bool right : {true, false}) {
    Script script(spec);
    script.At(60s);
    script.StandStill(kWorker0);
    script.At(70s);
    script.Exit(kWorker1, 1);
    script.Restart(right ? kWorker0 : kWorker1,
                   right ? ExitClass::kTimeout : ExitClass::kUserPermanent,
                   right ? Budget::kInfrastructure : Budget::kUser, 2, kBoth);
    EXPECT_EQ(script.model.TakeNew().empty(), right);
  }
}

TEST(ReferenceVerdictTest, TheFirstFailureWaitsForABetterCause) {
  JobSpec spec = Spec({{"worker", 3}}, Strategy::kMultiWorker);
  spec.retries.user = 1;
  for (const bool waits : {true, false}) {
    Script script(spec);
    script.At(60s);
    script.Exit(kWorker1, 1);
    if (waits) script.At(60s + spec.deadlines.blame);
    script.Restart(kWorker1, ExitClass::kUserPermanent, Budget::kUser, 2,
                   {kWorker0, kWorker1, {"worker", 2}});
    EXPECT_EQ(script.model.TakeNew().empty(), waits);
  }
}

TEST(ReferenceVerdictTest, WhoAloneStillRunsIsTheCause) {
  JobSpec spec = TwoWorkers();
  spec.retries.user = 1;
  for (const bool right : {true, false}) {
    Script script(spec);
    script.At(60s);
    script.Exit(kWorker1, 1);
    script.OrderStop(kWorker0);
    script.At(60s + spec.deadlines.blame);
    script.Restart(right ? kWorker0 : kWorker1,
                   right ? ExitClass::kTimeout : ExitClass::kUserPermanent,
                   right ? Budget::kInfrastructure : Budget::kUser, 2, kBoth);
    EXPECT_EQ(script.model.TakeNew().empty(), right);
  }
}

// HDFS was slow to store the decision and, before it, what let the chief begin.
TEST(ReferenceVerdictTest, WhatBeganOnlyAfterTheDecisionIsNoPeerOfOneThatHangs) {
  for (const bool later : {true, false}) {
    JobSpec spec = Spec({{"chief", 1}, {"worker", 2}}, Strategy::kMultiWorker);
    spec.retries.user = 1;
    Script script(spec, "chief");
    if (!later) script.Spawn(kChief, 0, 1);
    script.At(60s);
    script.Exit(kWorker1, 1);
    script.OrderStop(kWorker0);
    script.At(60s + spec.deadlines.blame);
    script.Order(AppendJournal{.seq = JournalSeq(90)});
    script.At(60s + spec.deadlines.blame + 5ms);
    if (later) script.Spawn(kChief, 0, 1);
    script.Tell(JournalAppended{.seq = JournalSeq(90)});
    script.Order(RestartDecided{.unit = RestartUnit::kGang,
                                .paid = Budget::kInfrastructure,
                                .epoch = Epoch(2),
                                .cause = Cause{.task = kWorker0, .exit_class = ExitClass::kTimeout},
                                .tasks = {kChief, kWorker0, kWorker1}});
    EXPECT_EQ(script.Clean(), later);
  }
}

TEST(ReferenceVerdictTest, WhoHasYetToStartAgainIsNoPeerOfOneThatHangs) {
  const TaskId worker2{"worker", 2};
  const JobSpec spec = ThreeWorkers();
  for (const bool started : {false, true}) {
    Script script(spec);
    script.At(60s);
    script.StandStill(kWorker0);
    script.Restart(kWorker0, ExitClass::kTimeout, Budget::kInfrastructure, 2,
                   {kWorker0, kWorker1, worker2});
    script.Assemble(2);
    script.Spawn(kWorker0, 1, 2);
    script.Spawn(worker2, 1, 2);
    if (started) script.Spawn(kWorker1, 1, 2);
    script.Exit(kWorker0, 1);
    script.OrderStop(worker2);
    script.At(60s + spec.deadlines.blame);
    script.Restart(worker2, ExitClass::kTimeout, Budget::kInfrastructure, 3,
                   {kWorker0, kWorker1, worker2});
    EXPECT_EQ(script.Clean(), !started);
  }
}

TEST(ReferenceVerdictTest, WhoAloneStillRunsAndWasNotToldToEndIsNoCause) {
  JobSpec spec = TwoWorkers();
  spec.policy = {.name = "tfjob", .options = {{"restart_policy", "OnFailure"}}};
  Script script(spec);
  script.At(60s);
  script.Exit(kWorker1, 138);
  script.At(60s + spec.deadlines.blame);
  script.Restart(kWorker1, ExitClass::kUserRetryable, Budget::kUser, 1, {kWorker1});
  EXPECT_TRUE(script.Clean());
}

// An order to stop may overtake the order to start: it counts all the same.
TEST(ReferenceVerdictTest, WhatWasToldToEndBeforeItStartedIsNoCause) {
  Script script(TwoWorkers());
  script.At(60s);
  script.Exit(kWorker1, 139);
  script.OrderStop(kWorker0);
  script.Spawn(kWorker0, 0, 1);
  script.Exit(kWorker0, 143);
  script.Verdict(JobStatus::kFailed, "default/signal-crash-exhausted", kWorker1,
                 ExitClass::kSignalCrash, 139);
  EXPECT_TRUE(script.Clean());
}

TEST(ReferenceVerdictTest, AnEndThatARowLetsBeIsNoCause) {
  JobSpec spec = Spec({{"chief", 1}, {"worker", 1}}, Strategy::kMultiWorker);
  spec.on_exit = {{.task_type = "worker", .action = ExitAction::kTally}};
  Script script(spec);
  script.At(60s);
  script.Exit(kWorker0, 137);
  script.At(63s);
  script.Exit(kChief, 1);
  script.Verdict(JobStatus::kFailed, "default/user-permanent-exhausted", kChief,
                 ExitClass::kUserPermanent, 1);
  EXPECT_TRUE(script.Clean());
}

// Its node went down with the AM before: of that the next AM can know nothing but its silence.
TEST(ReferenceVerdictTest, AnAgentThatNeverFoundItsAmMayBeLost) {
  JobSpec spec = TwoWorkers();
  for (const bool found : {false, true}) {
    Script script(spec);
    script.At(60s);
    script.StartAm(2);
    if (found) script.Hear(kWorker0);
    script.Exit(kWorker1, 1);
    script.OrderStop(kWorker0);
    script.At(66s);
    script.Restart(kWorker0, ExitClass::kHeartbeatLost, Budget::kInfrastructure, 2, kBoth);
    EXPECT_EQ(script.Clean(), !found);
  }
}

TEST(ReferenceVerdictTest, AnAgentThatFoundTheAmBeforeMayNotFindThisOne) {
  JobSpec spec = WithPs();
  spec.deadlines.registration = 20s;
  for (const Duration waited : {Duration(21s), Duration(19s)}) {
    Script script(spec);
    script.At(60s);
    script.StartAm(2);
    script.At(60s + waited);
    script.Restart(kWorker1, ExitClass::kHeartbeatLost, Budget::kInfrastructure, 2,
                   {kWorker1, kChief});
    EXPECT_EQ(script.Clean(), waited > 20s) << ToString(waited);
  }
}

TEST(ReferenceVerdictTest, ALaunchThatWasWrittenDownMayNeverHaveBeenOrdered) {
  JobSpec spec = TwoWorkers();
  spec.deadlines.registration = 20s;
  for (const bool written : {true, false}) {
    ReferenceVerdict model;
    model.JobSubmitted(kJob, std::make_shared<const JobSpec>(spec));
    const auto say = [&](Duration at, trace::Fact fact) {
      model.Observe({.at = Instant{} + at, .fact = std::move(fact)});
    };
    const auto start = [](std::int32_t attempt) {
      return trace::AmTold{
          .job = kJob,
          .am_attempt = attempt,
          .event = AmStarted{.attempt = {.application = {.id = 1}, .attempt = attempt}}};
    };
    say(0s, start(1));
    if (written) say(30s, start(2));
    const Cause cause{.task = kWorker0, .exit_class = ExitClass::kHeartbeatLost};
    say(60s, trace::AmOrdered{.job = kJob,
                              .am_attempt = written ? 2 : 1,
                              .action = RestartDecided{.unit = RestartUnit::kTask,
                                                       .paid = Budget::kInfrastructure,
                                                       .epoch = Epoch(1),
                                                       .cause = cause,
                                                       .tasks = {kWorker0}}});
    EXPECT_EQ(model.TakeNew().empty(), written);
  }
}

TEST(ReferenceVerdictTest, AProcessThatDoesNotStartInTimeIsOverdue) {
  JobSpec spec = WithPs();
  spec.deadlines.start = 5s;
  for (const Duration waited : {Duration(6s), Duration(4s)}) {
    Script script(spec);
    script.At(60s);
    script.Exit(kWorker1, 143);
    script.Restart(kWorker1, ExitClass::kKilledExternal, Budget::kInfrastructure, 1, {kWorker1});
    script.OrderStart(kWorker1, 1, 1);
    script.At(60s + waited);
    script.OrderStart(kWorker1, 1, 1);
    script.Restart(kWorker1, ExitClass::kTimeout, Budget::kInfrastructure, 2, {kWorker1, kChief});
    EXPECT_EQ(script.Clean(), waited > 5s) << ToString(waited);
  }
}

TEST(ReferenceVerdictTest, AVictimIsWhoWasOrderedToStartBeforeTheDecision) {
  for (const bool before : {true, false}) {
    Script script(WithPs());
    script.At(60s);
    script.Exit(kWorker1, 143);
    script.Exit(kWorker0, 143);
    script.Restart(kWorker0, ExitClass::kKilledExternal, Budget::kInfrastructure, 1, {kWorker0});
    if (before) script.OrderStart(kWorker0, 1, 1);
    script.Restart(kWorker1, ExitClass::kKilledExternal, Budget::kInfrastructure, 1, {kWorker1});
    if (!before) script.OrderStart(kWorker0, 1, 1);
    script.At(61s);
    script.Spawn(kWorker0, 1, 1);
    script.At(62s);
    script.Exit(kWorker0, 143);
    script.Restart(kWorker1, ExitClass::kKilledExternal, Budget::kNone, 1, {kWorker0});
    EXPECT_EQ(script.Clean(), before);
  }
}

TEST(ReferenceVerdictTest, WhomAPeerAccusesMayHaveEndedSinceTheDecision) {
  for (const bool heard_before : {false, true}) {
    Script script(TwoWorkers());
    script.At(60s);
    if (heard_before) script.Exit(kWorker1, 1);
    script.Exit(kWorker0, ProcessExit{.code = 1}, true,
                "unhealthy (stopped sending heartbeats):\n/job:worker/replica:0/task:1\n");
    script.Order(AppendJournal{.seq = JournalSeq(100)});
    if (!heard_before) script.Exit(kWorker1, 1);
    script.Tell(JournalAppended{.seq = JournalSeq(100)});
    script.Order(RestartDecided{.unit = RestartUnit::kGang,
                                .paid = Budget::kInfrastructure,
                                .epoch = Epoch(2),
                                .cause = {.task = kWorker1, .exit_class = ExitClass::kTimeout},
                                .tasks = kBoth});
    EXPECT_EQ(script.Clean(), !heard_before);
  }
}

TEST(ReferenceVerdictTest, AVictimIsFreeHoweverLongItsRestartTakesToStore) {
  for (const bool soon : {true, false}) {
    Script script(WithPs());
    script.At(60s);
    script.Exit(kWorker1, 143);
    script.Restart(kWorker1, ExitClass::kKilledExternal, Budget::kInfrastructure, 1, {kWorker1});
    script.At(soon ? 61s : 200s);
    script.Exit(kWorker0, 143);
    script.Order(AppendJournal{.seq = JournalSeq(100)});
    script.At(201s);
    script.Tell(JournalAppended{.seq = JournalSeq(100)});
    const Cause cause{.task = kWorker1, .exit_class = ExitClass::kKilledExternal};
    script.Order(RestartDecided{.unit = RestartUnit::kTask,
                                .paid = Budget::kNone,
                                .epoch = Epoch(1),
                                .cause = cause,
                                .tasks = {kWorker0}});
    EXPECT_EQ(script.Clean(), soon);
  }
}

TEST(ReferenceVerdictTest, APeerThatHasEndedAgainExcusesNoEnd) {
  for (const bool ended : {true, false}) {
    Script script(WithPs());
    script.At(60s);
    script.Exit(kPs, 137);
    script.At(80s);
    script.Restart(kPs, ExitClass::kKilledExternal, Budget::kInfrastructure, 2, {kPs, kChief});
    script.Assemble(2);
    for (const TaskId& task : {kChief, kPs}) {
      script.OrderStart(task, 1, 2);
      script.Spawn(task, 1, 2);
    }
    script.At(90s);
    if (ended) script.Exit(kPs, 0);
    script.At(140s);
    script.Exit(kChief, ProcessExit{.code = 1}, true, kNoConnection + "/job:ps/replica:0/task:0: ");
    script.Restart(kChief, ExitClass::kUserPermanent, Budget::kInfrastructure, 2, {kChief});
    EXPECT_EQ(script.Clean(), ended);
  }
}

// The next port may overtake the report of the end, and that may follow an order to start that was
// never heard to be obeyed.
TEST(ReferenceVerdictTest, AnotherPortBeforeItIsHeardToRunIsAConflict) {
  const JobSpec spec = Spec({{"worker", 2}}, Strategy::kIndependent);
  for (const bool changed : {true, false}) {
    Script script(spec, "worker");
    script.OrderStart(kWorker1, 0, 1);
    script.SpawnUntold(kWorker1, 0, 1);
    script.At(60s);
    if (changed)
      script.Tell(AgentSaid{AddressChanged{
          .fence = {.container = script.ContainerOf(kWorker1), .task = kWorker1}, .number = 1}});
    script.Restart(kWorker1, ExitClass::kPortConflict, Budget::kInfrastructure, 1, {kWorker1});
    EXPECT_EQ(script.Clean(), changed);
  }
}

TEST(ReferenceVerdictTest, WhatFallsSilentStartsAgainWithAFailureThatWaits) {
  for (const bool silent : {true, false}) {
    Script script(WithPs());
    script.At(60s);
    script.Say(trace::FaultBegan{.kind = "node_crash"});
    script.Exit(kChief, 1);
    script.LoseContainer(kChief, container_exit::kAborted);
    script.At(68s);
    if (!silent) script.Hear(kPs);
    script.At(70s);
    script.Restart(kChief, ExitClass::kNodeLost, Budget::kInfrastructure, 2, {kPs, kChief});
    EXPECT_EQ(script.Clean(), silent);
  }
}

TEST(ReferenceVerdictTest, TheGangsDeadlineRunsWhileTheAmStandsStill) {
  struct Case {
    const char* kind;
    Duration asks;
    bool clean;
  };
  for (const Case& one : {Case{"am_pause", 41s, true}, Case{"am_pause", 43s, false},
                          Case{"node_crash", 41s, false}}) {
    Script script(WithPs(), "worker");
    script.At(11s);
    script.Say(trace::FaultBegan{.fault = 0, .kind = one.kind, .target = "am of a"});
    script.At(41s);
    script.Say(trace::FaultEnded{.fault = 0});
    script.At(one.asks);
    script.Order(CallRm{.request = yarn::AllocateRequest{.ask = {{.num_containers = 2}}}});
    script.At(11s + 30min);
    script.Verdict(JobStatus::kFailed, "gang/deadline");
    EXPECT_EQ(script.Clean(), one.clean) << one.kind;
  }
}

// The call before it was lost.
TEST(ReferenceVerdictTest, WhatIsAskedForWaitsForTheAnswerBefore) {
  for (const bool fault : {true, false}) {
    for (const Duration early : {21s, 22s}) {
      Script script(WithPs(), "worker");
      script.At(1s);
      if (fault) script.Say(trace::FaultBegan{.kind = "loss", .target = "everybody"});
      script.At(30s);
      script.Order(CallRm{.request = yarn::AllocateRequest{.ask = {{.num_containers = 2}}}});
      script.At(30s + 30min - early);
      script.Verdict(JobStatus::kFailed, "gang/deadline");
      EXPECT_EQ(script.Clean(), fault && early == 21s);
    }
  }
}

// Its container is given back then, and ends on order; its process had ended well, unheard.
TEST(ReferenceVerdictTest, WhatWasGivenUpAsSilentStaysSo) {
  for (const bool silent : {true, false}) {
    JobSpec spec = Spec({{"worker", 2}}, Strategy::kIndependent);
    spec.policy.name = "tony";
    spec.on_exit = {{.action = ExitAction::kIgnore}};
    Script script(spec);
    script.At(30s);
    if (silent) script.Say(trace::FaultBegan{.kind = "partition", .target = "n1"});
    script.Exit(kWorker1, ProcessExit{.code = 0}, false);
    script.At(90s);
    script.LoseContainer(kWorker1, container_exit::kKilledByAppMaster);
    script.Exit(kWorker0, 0);
    script.Verdict(JobStatus::kSucceeded, "tony/all-ok");
    EXPECT_EQ(script.Clean(), silent);
  }
}

TEST(ReferenceVerdictTest, AVictimMayFallSilent) {
  for (const bool silent : {true, false}) {
    Script script(WithPs());
    script.At(60s);
    script.Say(trace::FaultBegan{.kind = "node_crash"});
    script.LoseContainer(kChief, container_exit::kAborted);
    script.Restart(kChief, ExitClass::kNodeLost, Budget::kInfrastructure, 2, {kChief});
    script.At(61s);
    script.Launch(kChief, 20);
    script.At(68s);
    if (!silent) script.Hear(kWorker1);
    script.At(70s);
    script.Restart(kChief, ExitClass::kNodeLost, Budget::kNone, 2, {kWorker1, kChief});
    EXPECT_EQ(script.Clean(), silent);
  }
}

// Two failures within the window are one too many, however late that is looked at.
TEST(ReferenceVerdictTest, ABudgetThatWasSpentThenNeedsNoDecisionNow) {
  JobSpec spec = TwoWorkers();
  spec.strategy = Strategy::kIndependent;
  spec.success = ParseSuccess("any(worker)").value();
  spec.retries.user = 1;
  for (const Duration window : {Duration(4s), Duration(1s)}) {
    spec.retries.window = window;
    Script script(spec);
    script.At(60s);
    script.Exit(kWorker1, 1);
    script.Restart(kWorker1, ExitClass::kUserPermanent, Budget::kUser, 1, {kWorker1});
    script.Spawn(kWorker1, 1, 1);
    script.At(63s);
    script.Exit(kWorker1, 1);
    script.Store();
    script.At(1h);
    script.Say(trace::NodePower{});
    EXPECT_EQ(script.Clean(), window == 4s);
  }
}

TEST(ReferenceVerdictTest, ABudgetThatWasSpentThenIsKnownWhenItsWindowIsOver) {
  JobSpec spec = WithPs();
  spec.tasks.push_back({.name = "evaluator", .resource = {.memory_mb = 1024}});
  const TaskId evaluator{"evaluator", 0};
  spec.retries = {.infrastructure = 1, .window = 2s};
  for (const bool spent : {true, false}) {
    Script script(spec);
    script.At(60s);
    const auto fail = [&](const TaskId& task) {
      script.Exit(task, 143);
      if (!spent) return;
      script.Restart(task, ExitClass::kKilledExternal, Budget::kInfrastructure, 1, {task});
    };
    fail(kWorker1);
    script.Exit(evaluator, 143);
    script.At(70s);
    fail(kWorker0);
    script.At(1h);
    script.Say(trace::NodePower{});
    EXPECT_EQ(script.Clean(), spent);
  }
}

TEST(ReferenceVerdictTest, AContainerOfAnEarlierRmIsReplacedFree) {
  for (const bool earlier : {true, false}) {
    Script script(WithPs());
    script.At(60s);
    script.Launch(kWorker1, 20);
    script.Tell(NmReplied{
        .response = yarn::StartContainersResponse{
            .failed = {{.container = script.ContainerOf(kWorker1),
                        .error = {.code = earlier ? yarn::RpcErrorCode::kInvalidContainer
                                                  : yarn::RpcErrorCode::kUnavailable}}}}});
    script.Restart(kWorker1, ExitClass::kLaunchError, Budget::kNone, 2, {kWorker1, kChief});
    EXPECT_EQ(script.Clean(), earlier);
  }
}

TEST(ReferenceVerdictTest, WhoCouldNotReachAPeerDoesNotPayAsUser) {
  JobSpec spec = WithPs();
  spec.retries.user = 1;
  for (const Budget paid : {Budget::kInfrastructure, Budget::kUser}) {
    Script script(spec);
    script.Exit(kChief, ProcessExit{.code = 1}, true, kNoConnection + "/job:ps/replica:0/task:0: ");
    script.Restart(kChief, ExitClass::kUserPermanent, paid, 1, {kChief});
    EXPECT_EQ(script.model.TakeNew().empty(), paid == Budget::kInfrastructure);
  }
}

TEST(ReferenceVerdictTest, WhoCouldNotReachAPeerThatStartedWithItPaysNothing) {
  JobSpec spec = WithPs();
  spec.retries.infrastructure = 2;
  for (const Budget paid : {Budget::kNone, Budget::kInfrastructure}) {
    for (const TaskId& last : {kPs, kChief}) {  // Who starts after it may have been reached.
      Script script(spec);
      script.At(60s);
      script.Exit(kPs, 137);
      script.At(80s);
      script.Restart(kPs, ExitClass::kKilledExternal, Budget::kInfrastructure, 2, {kPs, kChief});
      script.Assemble(2);
      for (const TaskId& task : {last == kPs ? kChief : kPs, last}) {
        script.At(task == last ? 91s : 90s);
        script.OrderStart(task, 1, 2);
        script.Spawn(task, 1, 2);
      }
      script.At(140s);
      script.Exit(kChief, ProcessExit{.code = 1}, true,
                  kNoConnection + "/job:ps/replica:0/task:0: ");
      const bool none = paid == Budget::kNone;
      script.Restart(none ? kPs : kChief,
                     none ? ExitClass::kKilledExternal : ExitClass::kUserPermanent, paid, 2,
                     {kChief});
      EXPECT_EQ(script.Clean(), none || last == kChief);
    }
  }
}

// Of a peer that has yet to start again, as of one that has; soon after its end one may be its
// victim, who leaves the excuse to another.
TEST(ReferenceVerdictTest, AProcessOfAPeerExcusesOneEnd) {
  JobSpec spec = WithPs();
  spec.retries.infrastructure = 2;
  const std::string error = kNoConnection + "/job:ps/replica:0/task:0: ";
  for (const bool soon : {true, false}) {
    for (const bool free : {true, false}) {
      Script script(spec);
      script.At(60s);
      script.Exit(kPs, 137);
      script.At(80s);
      script.Restart(kPs, ExitClass::kKilledExternal, Budget::kInfrastructure, 2, {kPs, kChief});
      script.At(soon ? 85s : 130s);
      script.Exit(kWorker0, ProcessExit{.code = 1}, true, error);
      script.Restart(kPs, ExitClass::kKilledExternal, Budget::kNone, 2, {kWorker0});
      script.At(140s);
      script.Assemble(2);
      for (const TaskId& task : {kChief, kPs}) {
        script.OrderStart(task, 1, 2);
        script.Spawn(task, 1, 2);
      }
      script.At(180s);
      script.Exit(kWorker1, ProcessExit{.code = 1}, true, error);
      script.Restart(free ? kPs : kWorker1,
                     free ? ExitClass::kKilledExternal : ExitClass::kUserPermanent,
                     free ? Budget::kNone : Budget::kInfrastructure, 2, {kWorker1});
      EXPECT_EQ(script.Clean(), soon || !free) << soon << free;
    }
  }
}

// A ps that ended only after the worker did kept it from nothing.
TEST(ReferenceVerdictTest, WhatBefallsAPeerLaterExcusesNothing) {
  JobSpec spec = WithPs();
  spec.retries.infrastructure = 2;
  for (const bool later : {true, false}) {
    Script script(spec);
    script.At(15s);
    if (later) script.OrderStart(kWorker0, 0, 1);
    const auto worker_ends = [&](Duration at) {
      script.At(at);
      script.Exit(kWorker0, ProcessExit{.code = 1}, true,
                  kNoConnection + "/job:ps/replica:0/task:0: ");
    };
    if (later) worker_ends(60s);
    script.At(61s);
    script.Exit(kPs, 137);
    script.Restart(kPs, ExitClass::kKilledExternal, Budget::kInfrastructure, 2, {kPs, kChief});
    script.Assemble(2);
    if (!later) script.OrderStart(kWorker0, 0, 1);
    for (const TaskId& task : {kChief, kPs}) {
      script.OrderStart(task, 1, 2);
      script.Spawn(task, 1, 2);
    }
    if (!later) worker_ends(120s);
    script.At(121s);
    script.Restart(kWorker0, ExitClass::kUserPermanent, Budget::kInfrastructure, 2, {kWorker0});
    EXPECT_EQ(script.Clean(), later);
  }
}

TEST(ReferenceVerdictTest, WhatWasExcusedItselfExcusesNoPeer) {
  JobSpec spec = WithPs();
  spec.retries.infrastructure = 3;
  for (const bool free : {true, false}) {
    Script script(spec);
    script.At(60s);
    script.Exit(kPs, 137);
    script.At(80s);
    script.Restart(kPs, ExitClass::kKilledExternal, Budget::kInfrastructure, 2, {kPs, kChief});
    script.Assemble(2);
    for (const TaskId& task : {kChief, kPs}) {
      script.OrderStart(task, 1, 2);
      script.Spawn(task, 1, 2);
    }
    script.At(140s);
    script.Exit(kWorker0, ProcessExit{.code = 1}, true,
                kNoConnection + "/job:ps/replica:0/task:0: ");
    script.Restart(kPs, ExitClass::kKilledExternal, Budget::kNone, 2, {kWorker0});
    script.OrderStart(kWorker0, 1, 2);
    script.Spawn(kWorker0, 1, 2);
    script.At(180s);
    script.Exit(kPs, ProcessExit{.code = 1}, true,
                kNoConnection + "/job:worker/replica:0/task:0: ");
    EXPECT_TRUE(script.Clean());
    script.Restart(free ? kWorker0 : kPs, ExitClass::kUserPermanent,
                   free ? Budget::kNone : Budget::kInfrastructure, 3, {kPs, kChief});
    EXPECT_EQ(script.Clean(), !free);
  }
}

// The first account decides where its budget is spent: the task stays ended, and YARN's word on its
// memory comes too late.
TEST(ReferenceVerdictTest, WhatWasGivenUpForItsSilenceIsDecidedOn) {
  for (const std::int32_t restarts : {0, 1}) {
    JobSpec spec = Spec({{"worker", 2}}, Strategy::kIndependent);
    spec.retries.infrastructure = restarts;
    Script script(spec);
    script.Say(trace::FaultBegan{.kind = "node_crash"});
    for (const Duration at : {20s, 40s, 60s}) {
      script.At(at);
      script.Hear(kWorker0);
    }
    script.LoseContainer(kWorker1, container_exit::kKilledExceededVmem);
    for (const Duration at : {80s, 100s, 120s, 140s, 160s, 180s, 200s, 220s}) {
      script.At(at);
      script.Hear(kWorker0);
    }
    EXPECT_THAT(script.model.TakeNew(), testing::SizeIs(restarts));
  }
}

TEST(ReferenceVerdictTest, WhatStallsMayJoinARestart) {
  for (const ExitAction action : {ExitAction::kRestartTask, ExitAction::kIgnore}) {
    JobSpec spec = WithPs();
    spec.watch = WatchSpec{.progress = "step", .stalled = 10s, .action = action};
    Script script(spec);
    script.At(60s);
    script.Stall(kWorker0);
    script.LoseContainer(kPs, container_exit::kAborted, "on a *lost* node");
    script.Restart(kPs, ExitClass::kNodeLost, Budget::kInfrastructure, 2, {kChief, kPs, kWorker0});
    EXPECT_EQ(script.Clean(), action == ExitAction::kRestartTask);
  }
}

TEST(ReferenceVerdictTest, AnEvaluatorThatCountsStartsAgainAlone) {
  for (const bool alone : {true, false}) {
    JobSpec spec = TwoWorkers();
    spec.tasks.push_back({.name = "evaluator", .resource = {.memory_mb = 1024}});
    spec.policy.name = "tfjob";
    spec.policy.options["restart_policy"] = "OnFailure";
    Script script(spec);
    const TaskId evaluator{"evaluator", 0};
    script.LoseContainer(evaluator, container_exit::kAborted, "on a *lost* node");
    std::vector<TaskId> tasks = {evaluator};
    if (!alone) tasks.insert(tasks.end(), kBoth.begin(), kBoth.end());
    script.Restart(evaluator, ExitClass::kNodeLost, Budget::kUser, alone ? 1 : 2, tasks);
    EXPECT_EQ(script.Clean(), alone);
  }
}

TEST(ReferenceVerdictTest, ASessionOfOneTaskBeginsANewEpoch) {
  for (const char* policy : {"tony", "default"}) {
    JobSpec spec = Spec({{"worker", 1}}, Strategy::kIndependent);
    spec.policy.name = policy;
    spec.retries.user = 1;
    Script script(spec);
    script.At(60s);
    script.Exit(kWorker0, 1);
    script.Restart(kWorker0, ExitClass::kUserPermanent, Budget::kUser, 2, {kWorker0});
    EXPECT_EQ(script.Clean(), std::string(policy) == "tony") << policy;
  }
}

TEST(ReferenceVerdictTest, WhoDoesNotTrainInTheJobIsNoPeer) {
  JobSpec spec = WithPs();
  spec.tasks.push_back({.name = "evaluator", .resource = {.memory_mb = 1024}});
  spec.retries.user = 1;
  struct Case {
    TaskId task;
    std::string target;
    bool peer;
  };
  for (const Case& one : {Case{kChief, "/job:worker/replica:0/task:1: ", true},
                          Case{kChief, "/job:worker/replica:0/task:11: ", false},
                          Case{kChief, "/job:worker/replica:0/task:1", false},
                          Case{kChief, "/job:chief/replica:0/task:0: ", false},
                          Case{kChief, "/job:driver/replica:0/task:0: ", false},
                          Case{kChief, "/job:evaluator/replica:0/task:0: ", false},
                          Case{{"evaluator", 0}, "/job:ps/replica:0/task:0: ", false}}) {
    Script script(spec);
    script.Exit(one.task, ProcessExit{.code = 1}, true, kNoConnection + one.target);
    script.Restart(one.task, ExitClass::kUserPermanent,
                   one.peer ? Budget::kInfrastructure : Budget::kUser, 1, {one.task});
    EXPECT_THAT(script.model.TakeNew(), IsEmpty()) << ToString(one.task) << " " << one.target;
  }
}

// ---------------------------------------------------------------- verdicts

TEST(ReferenceVerdictTest, SuccessNeedsWhatTheExpressionNames) {
  for (const std::int32_t code : {0, 1}) {
    Script script(TwoWorkers());
    script.BothFail(0, code);
    script.Verdict(JobStatus::kSucceeded, "default/success");
    EXPECT_EQ(script.model.TakeNew().empty(), code == 0);
  }
}

TEST(ReferenceVerdictTest, ASuccessThatIsHeardBeforeItsRestartIsCarriedOutCounts) {
  for (const bool heard : {true, false}) {
    Script script(WithPs());
    script.At(50s);
    script.Exit(kChief, ProcessExit{.code = 0}, /*told=*/false);
    script.At(60s);
    script.LoseContainer(kPs, container_exit::kAborted);
    script.Restart(kPs, ExitClass::kNodeLost, Budget::kInfrastructure, 2, {kPs, kChief});
    script.At(61s);
    if (heard) script.Exit(kChief, 0);
    script.Verdict(JobStatus::kSucceeded, "default/success");
    EXPECT_EQ(script.Clean(), heard);
  }
}

/// Of two workers the success of the first is the job's.
JobSpec WonByWorker0() {
  JobSpec spec = Spec({{"worker", 2}}, Strategy::kIndependent);
  spec.retries.user = 1;
  spec.success = SuccessExpr{.op = SuccessOp::kOk, .task_type = "worker", .index = 0};
  return spec;
}

TEST(ReferenceVerdictTest, ASuccessMayOvertakeAFailureThatAnAmHeardWhileItStoodStill) {
  for (const Duration until : {85s, 95s, 105s}) {
    Script script(WonByWorker0());
    script.At(60s);
    script.Say(trace::FaultBegan{.kind = "am_pause"});
    script.Exit(kWorker1, 1);
    script.At(until);
    if (until < 100s) script.Say(trace::FaultEnded{});
    script.At(100s);
    script.Exit(kWorker0, 0);
    script.Verdict(JobStatus::kSucceeded, "default/success");
    EXPECT_EQ(script.Clean(), until > 85s);
  }
}

TEST(ReferenceVerdictTest, ASuccessMayOvertakeAFailureWhoseDecisionWasNotStored) {
  for (const bool stored : {true, false}) {
    Script script(WonByWorker0());
    script.At(60s);
    script.Exit(kWorker1, 1);
    script.Order(AppendJournal{.seq = JournalSeq(99)});
    if (stored) script.Tell(JournalAppended{.seq = JournalSeq(99)});
    script.At(100s);
    if (!stored) script.Tell(JournalAppended{.seq = JournalSeq(99)});
    script.Exit(kWorker0, 0);
    script.Verdict(JobStatus::kSucceeded, "default/success");
    EXPECT_EQ(script.Clean(), !stored);
  }
}

TEST(ReferenceVerdictTest, ASuccessMayOvertakeALaunchThatAnEarlierAmOrdered) {
  JobSpec spec = Spec({{"chief", 1}, {"worker", 1}}, Strategy::kIndependent);
  spec.success = SuccessExpr{.op = SuccessOp::kOk, .task_type = "chief", .index = 0};
  spec.retries.user = 1;
  for (const bool earlier : {true, false}) {
    Script script(spec, "worker");
    script.At(60s);
    if (earlier) script.StartAm(2);
    script.LoseContainer(kWorker0, 1, "container launch failed");
    script.At(140s);
    script.Exit(kChief, 0);
    script.Verdict(JobStatus::kSucceeded, "default/success");
    EXPECT_EQ(script.Clean(), earlier);
  }
}

TEST(ReferenceVerdictTest, WhoIsNoLongerWaitedForCannotSucceed) {
  for (const DependencyAction action : {DependencyAction::kIgnore, DependencyAction::kFail}) {
    JobSpec spec = Spec({{"ps", 1}, {"worker", 1}}, Strategy::kParameterServer);
    spec.depends = {{.task = "worker", .after = "ps", .within = 5s, .action = action}};
    Script script(spec);
    script.At(60s);
    script.Verdict(JobStatus::kFailed, "default/success-impossible");
    EXPECT_EQ(script.Clean(), action == DependencyAction::kIgnore);
  }
}

TEST(ReferenceVerdictTest, TfYarnRaisesWhatWasTalliedHoweverItPropagates) {
  JobSpec spec = TwoWorkers();
  spec.policy.name = "tf-yarn";
  spec.on_exit = {{.action = ExitAction::kTally}};
  for (const std::int32_t code : {1, 0}) {
    Script script(spec);
    script.BothFail(0, code);
    script.Verdict(JobStatus::kFailed, "tf-yarn/raised", kWorker0, ExitClass::kUserPermanent, 1);
    EXPECT_EQ(script.Clean(), code == 1);
  }
}

TEST(ReferenceVerdictTest, WhereAllEndsAreIgnoredThereIsNoSuccess) {
  JobSpec spec = TwoWorkers();
  spec.on_exit = {{.exits = {0}, .action = ExitAction::kIgnore}};
  for (const auto& [policy, success, failure] :
       {std::tuple{"tf-yarn", "services-ended", "nothing-left"},
        std::tuple{"tony", "some-failed", "all-failed"}}) {
    spec.policy.name = policy;
    for (const bool succeeds : {false, true}) {
      Script script(spec);
      script.BothFail(0, 0);
      script.Verdict(succeeds ? JobStatus::kSucceeded : JobStatus::kFailed,
                     std::string(policy) + "/" + (succeeds ? success : failure));
      EXPECT_THAT(script.model.TakeNew(), testing::SizeIs(succeeds ? 1 : 0)) << policy;
    }
  }
}

TEST(ReferenceVerdictTest, AfterSuccessNothingFailsTheJob) {
  Script script(TwoWorkers());
  script.BothFail(0, 0);
  script.Verdict(JobStatus::kFailed, "default/tracked-ended", kWorker0, ExitClass::kOk, 0);
  EXPECT_THAT(script.model.TakeNew(), ElementsAre(HasSubstr("success was decided before")));
}

TEST(ReferenceVerdictTest, TonySucceedsWithSomeFailedAndNotWithTheChief) {
  JobSpec spec = TwoWorkers();
  spec.policy.name = "tony";
  Script some(spec);
  some.BothFail(1, 0);
  some.Verdict(JobStatus::kSucceeded, "tony/some-failed");
  EXPECT_THAT(some.model.TakeNew(), IsEmpty());
  Script chief(spec);
  chief.Exit(kWorker0, 1);
  chief.At(5min);
  chief.Exit(kWorker1, 0);
  chief.Verdict(JobStatus::kSucceeded, "tony/some-failed");
  EXPECT_THAT(chief.model.TakeNew(), testing::Contains(HasSubstr("worker:0 had ended with 1")));
}

TEST(ReferenceVerdictTest, TfjobTakesWorker0AloneUnlessAllWorkersAreAskedFor) {
  JobSpec spec = TwoWorkers();
  spec.policy.name = "tfjob";
  for (const bool all : {false, true}) {
    if (all) spec.policy.options["success_policy"] = "AllWorkers";
    Script script(spec);
    script.Exit(kWorker0, 0);
    script.Verdict(JobStatus::kSucceeded, "tfjob/worker0-succeeded");
    EXPECT_EQ(script.model.TakeNew().empty(), !all);
  }
}

TEST(ReferenceVerdictTest, UnderAlwaysAGoodEndIsNoSuccess) {
  JobSpec spec = TwoWorkers();
  spec.policy.name = "tfjob";
  for (const bool always : {false, true}) {
    if (always) spec.policy.options["restart_policy"] = "Always";
    Script script(spec);
    script.Exit(kWorker0, 0);
    script.Verdict(JobStatus::kSucceeded, "tfjob/worker0-succeeded");
    EXPECT_EQ(script.Clean(), !always);
  }
}

TEST(ReferenceVerdictTest, TfYarnNeedsTheEvaluatorToo) {
  JobSpec spec = Spec({{"chief", 1}, {"evaluator", 1}}, Strategy::kMultiWorker);
  spec.policy.name = "tf-yarn";
  for (const bool ended : {true, false}) {
    Script script(spec);
    script.Exit(kChief, 0);
    if (ended) script.Exit({"evaluator", 0}, 0);
    script.Verdict(JobStatus::kSucceeded, "tf-yarn/services-ended");
    EXPECT_EQ(script.model.TakeNew().empty(), ended);
  }
}

TEST(ReferenceVerdictTest, ADeadlineDecidesWhenItsTimeHasCome) {
  JobSpec spec = TwoWorkers();
  spec.deadlines.run = 10min;
  for (const Duration at : {Duration(5min), Duration(10min + 10s)}) {
    Script script(spec);
    script.At(at);
    script.Verdict(JobStatus::kFailed, "deadlines/run");
    EXPECT_EQ(script.model.TakeNew().empty(), at > 10min);
  }
}

// The AM knows of a process what it has been told.
TEST(ReferenceVerdictTest, TheStartDeadlineIsJudgedByWhatTheAmHasHeard) {
  JobSpec spec = TwoWorkers();
  spec.deadlines.start = 1min;
  for (const bool heard : {false, true}) {
    Script script(spec);
    script.Say(trace::ContainerGranted{.job = kJob});
    script.SpawnUntold(kWorker0, 1, 1);
    if (heard) script.Hear(kWorker0);
    script.At(2min);
    script.Verdict(JobStatus::kFailed, "deadlines/start");
    EXPECT_EQ(script.Clean(), !heard);
  }
}

TEST(ReferenceVerdictTest, ADependencyFailsTheJobWhenItCannotBeMet) {
  JobSpec spec = Spec({{"prepare", 1}, {"worker", 1}}, Strategy::kMultiWorker);
  spec.depends = {{.task = "worker", .after = "prepare", .state = DependencyState::kSucceeded}};
  for (const bool failed : {true, false}) {
    Script script(spec);
    if (failed) script.Exit({"prepare", 0}, 2);
    script.Verdict(JobStatus::kFailed, "depends/0");
    EXPECT_EQ(script.model.TakeNew().empty(), failed);
  }
}

TEST(ReferenceVerdictTest, OnlyTheUserKillsAJob) {
  for (const bool asked : {true, false}) {
    Script script(TwoWorkers());
    if (asked)
      script.Say(trace::ClientOrdered{.job = kJob,
                                      .action = CallRm{.request = yarn::KillApplicationRequest{}}});
    script.Verdict(JobStatus::kKilled, "killed");
    EXPECT_EQ(script.model.TakeNew().empty(), asked);
  }
}

// ---------------------------------------------------------------- what is left undecided

TEST(ReferenceVerdictTest, AFailureIsDecidedInTime) {
  JobSpec spec = TwoWorkers();
  spec.retries.user = 1;
  Script script(spec);
  script.BothFail(1, 1);
  script.Store();
  script.At(10min);
  script.Say(trace::WorkLost{});
  EXPECT_THAT(script.model.TakeNew(), ElementsAre(HasSubstr("it has decided nothing")));
}

// A fault that is over when it has struck shows no end: it excuses nothing for ever.
TEST(ReferenceVerdictTest, AFailureIsDecidedInTimeAfterAFaultThatIsOver) {
  for (const bool lasts : {true, false}) {
    JobSpec spec = TwoWorkers();
    spec.retries.user = 1;
    Script script(spec, "", {}, {}, {lasts});
    script.Say(trace::FaultBegan{.fault = 0, .kind = "drop"});
    script.BothFail(1, 1);
    script.Store();
    script.At(10min);
    script.Say(trace::WorkLost{});
    EXPECT_EQ(script.Clean(), lasts);
  }
}

TEST(ReferenceVerdictTest, NothingIsAskedOfAnAmWhoseJournalDoesNotAnswer) {
  JobSpec spec = TwoWorkers();
  spec.retries.user = 1;
  Script script(spec);
  script.BothFail(1, 1);
  script.Order(AppendJournal{.seq = JournalSeq(99)});
  script.At(10min);
  script.Say(trace::WorkLost{});
  EXPECT_THAT(script.model.TakeNew(), IsEmpty());
}

TEST(ReferenceVerdictTest, SuccessIsSaidInTime) {
  Script script(TwoWorkers());
  script.BothFail(0, 0);
  script.At(10min);
  script.Say(trace::WorkLost{});
  EXPECT_THAT(script.model.TakeNew(), ElementsAre(HasSubstr("success is decided")));
}

TEST(ReferenceVerdictTest, WhatASuccessorMayNotKnowIsNotHeldAgainstIt) {
  JobSpec spec = TwoWorkers();
  spec.retries.user = 1;
  Script script(spec);
  script.BothFail(1, 143);
  script.StartAm(2);
  script.Restart(kWorker1, ExitClass::kUserPermanent, Budget::kUser, 2, kBoth);
  EXPECT_THAT(script.model.TakeNew(), IsEmpty());
}

// ---------------------------------------------------------------- what explored runs taught

TEST(ReferenceVerdictTest, TheEndOfAFaultHastensNoDecision) {
  JobSpec spec = TwoWorkers();
  spec.deadlines.run = 20min;
  Script script(spec);
  script.Say(trace::FaultBegan{.kind = "localize_fail"});
  script.At(20s);
  script.Say(trace::FaultEnded{});
  script.At(150s);
  for (const TaskId& task : kBoth) script.Exit(task, 0);
  script.Verdict(JobStatus::kSucceeded, "default/success");
  EXPECT_THAT(script.model.TakeNew(), IsEmpty());
}

TEST(ReferenceVerdictTest, SuccessThatIsKnownForLongMustBeDecided) {
  Script script(TwoWorkers());
  script.At(150s);
  for (const TaskId& task : kBoth) script.Exit(task, 0);
  script.Store();
  script.At(5min);
  script.Say(trace::FaultBegan{.kind = "node_crash"});
  EXPECT_THAT(script.model.TakeNew(), ElementsAre(HasSubstr("success is decided, as the AM has")));
}

TEST(ReferenceVerdictTest, AnAmThatIsGoneDecidesNothing) {
  Script script(TwoWorkers());
  script.At(150s);
  for (const TaskId& task : kBoth) script.Exit(task, 0);
  script.Store();
  script.Say(trace::ContainerGone{.container = {}});  // The AM's own.
  script.At(5min);
  script.Say(trace::FaultBegan{.kind = "node_crash"});
  EXPECT_THAT(script.model.TakeNew(), IsEmpty());
}

TEST(ReferenceVerdictTest, ARowOfOnExitMayFailTheJobForAGoodEnd) {
  JobSpec spec = Spec({{"worker", 1}}, Strategy::kIndependent);
  spec.on_exit = {{.exits = {0}, .action = ExitAction::kFail}};
  Script script(spec);
  script.Exit(kWorker0, 0);
  script.Verdict(JobStatus::kFailed, "on_exit/0", kWorker0, ExitClass::kOk, 0);
  EXPECT_THAT(script.model.TakeNew(), IsEmpty());
}

TEST(ReferenceVerdictTest, AGoodEndThatStartsAgainIsPaidByTheUser) {
  JobSpec spec = Spec({{"worker", 1}}, Strategy::kIndependent);
  spec.on_exit = {{.exits = {0}, .action = ExitAction::kRestartType}};
  for (const std::int32_t user : {0, 1}) {
    spec.retries.user = user;
    Script script(spec);
    script.Exit(kWorker0, 0);
    script.Verdict(JobStatus::kFailed, "default/ok-exhausted", kWorker0, ExitClass::kOk, 0);
    EXPECT_EQ(script.model.TakeNew().empty(), user == 0);
  }
}

TEST(ReferenceVerdictTest, AProcessWhoseStartWasOnItsWayBelongsToTheOldEpoch) {
  Script script(TwoWorkers());
  script.At(20s);
  for (const TaskId& task : kBoth) script.Exit(task, 143);
  script.Restart(kWorker1, ExitClass::kKilledExternal, Budget::kInfrastructure, 2, kBoth);
  script.Assemble(2);
  script.OrderStart(kWorker1, 1, 2);
  script.Spawn(kWorker0, 1, 2);
  script.Exit(kWorker0, 143);
  script.Restart(kWorker0, ExitClass::kKilledExternal, Budget::kInfrastructure, 3, kBoth);
  script.Spawn(kWorker1, 1, 2);
  script.Exit(kWorker1, 143);
  script.Assemble(3);
  for (const TaskId& task : kBoth) script.Spawn(task, 2, 3);
  for (const TaskId& task : kBoth) script.Exit(task, 1);
  script.Verdict(JobStatus::kFailed, "default/user-permanent-exhausted", kWorker0,
                 ExitClass::kUserPermanent, 1);
  EXPECT_THAT(script.model.TakeNew(), IsEmpty());
}

// ... and so is who starts again while the decision is on its way to HDFS.
TEST(ReferenceVerdictTest, WhoRunsAgainOnceItWasDecidedIsNoPeerThatStillRuns) {
  JobSpec spec = TwoWorkers();
  spec.policy = {.name = "tfjob", .options = {{"restart_policy", "Always"}}};
  for (const bool once_decided : {true, false}) {
    Script script(spec);
    script.At(60s);
    script.Exit(kWorker0, ProcessExit{.signal = 6});
    script.At(81s);
    script.Restart(kWorker0, ExitClass::kSignalCrash, Budget::kUser, 1, {kWorker0});
    if (!once_decided) script.Spawn(kWorker0, 1, 1);
    script.At(82s);
    script.Exit(kWorker1, ProcessExit{.signal = 6});
    script.Order(AppendJournal{.seq = JournalSeq(90)});
    if (once_decided) script.Spawn(kWorker0, 1, 1);
    script.Tell(JournalAppended{.seq = JournalSeq(90)});
    script.Order(RestartDecided{.paid = Budget::kUser,
                                .epoch = Epoch(1),
                                .cause = {.task = kWorker1, .exit_class = ExitClass::kSignalCrash},
                                .tasks = {kWorker1}});
    EXPECT_EQ(script.Clean(), once_decided);
  }
}

TEST(ReferenceVerdictTest, WhatIsIgnoredNeitherHelpsNorHarms) {
  JobSpec spec = Spec({{"worker", 2}}, Strategy::kIndependent);
  for (const bool ignored : {true, false}) {
    if (ignored) spec.on_exit = {{.exits = {143}, .action = ExitAction::kIgnore}};
    Script script(spec);
    script.Exit(kWorker1, 143);
    script.Exit(kWorker0, 0);
    script.Verdict(JobStatus::kSucceeded, "default/success");
    EXPECT_EQ(script.model.TakeNew().empty(), ignored);
    spec.on_exit.clear();
  }
}

TEST(ReferenceVerdictTest, WhatWasIgnoredStaysIgnoredForTheNextAm) {
  JobSpec spec = Spec({{"worker", 3}}, Strategy::kIndependent);
  spec.on_exit = {{.exits = {3}, .action = ExitAction::kIgnore}};
  for (const bool given_back : {false, true}) {
    Script script(spec);
    script.Exit(kWorker1, 3);
    script.Store();
    if (given_back) script.EndAgentOf(kWorker1);
    script.StartAm(2);
    script.Hear(kWorker0);
    script.Hear({"worker", 2});
    script.Verdict(JobStatus::kFailed, "default/success-impossible");
    EXPECT_EQ(script.Clean(), !given_back);
  }
}

TEST(ReferenceVerdictTest, ACrashOfTheAmSilencesNoAgent) {
  for (const char* fault : {"am_crash", "partition"}) {
    Script script(TwoWorkers());
    script.At(60s);
    script.Say(trace::FaultBegan{.kind = fault});
    script.At(80s);
    script.Restart(kWorker1, ExitClass::kHeartbeatLost, Budget::kInfrastructure, 2, kBoth);
    EXPECT_EQ(script.Clean(), std::string(fault) == "partition");
  }
}

TEST(ReferenceVerdictTest, ABrokenCollectiveHasNoTimeToSave) {
  for (const std::int32_t code : {1, 75}) {  // 75 says that it has saved.
    for (const Duration grace : {1s, 15s}) {
      for (const bool stands : {true, false}) {
        Script script(TwoWorkers());
        script.At(60s);
        if (stands) script.StandStill(kWorker1);
        script.At(70s);
        script.Exit(kWorker0, code);
        script.Store();
        script.OrderStop(kWorker1, grace);
        EXPECT_EQ(script.Clean(), code == 75 || grace == 1s || !stands);
      }
    }
  }
}

TEST(ReferenceVerdictTest, ABetterAccountCountsUntilTheDecision) {
  for (const Duration later : {5s, 20s}) {
    Script script(WithPs());
    script.At(1min);
    script.Exit(kPs, 1);
    script.At(1min + later);
    script.LoseContainer(kPs, container_exit::kPreempted);
    script.At(1min + 20s);
    script.Verdict(JobStatus::kFailed, "default/user-permanent-exhausted", kPs,
                   ExitClass::kUserPermanent, 1);
    EXPECT_EQ(script.Clean(), later == 20s);
  }
}

TEST(ReferenceVerdictTest, ARowMayFailTheJobForWhatIsToStartAgainWithAnother) {
  JobSpec spec = TwoWorkers();
  spec.policy.name = "tf-yarn";
  spec.retries.user = 1;
  spec.tasks.push_back({.name = "prepare", .resource = {.memory_mb = 1024}});
  spec.on_exit = {{.task_type = "prepare", .action = ExitAction::kFail}};
  const TaskId prepare{"prepare", 0};
  for (const Duration later : {0s, 1s}) {
    Script script(spec);
    script.At(60s);
    script.LoseContainer(kWorker0, container_exit::kDisksFailed);
    script.LoseContainer(prepare, container_exit::kDisksFailed);
    script.Restart(kWorker0, ExitClass::kNodeBad, Budget::kUser, 2, {prepare, kWorker0, kWorker1});
    EXPECT_TRUE(script.Clean());
    script.At(60s + later);
    script.Verdict(JobStatus::kFailed, "on_exit/0", prepare, ExitClass::kNodeBad);
    EXPECT_EQ(script.Clean(), later == 0s);
  }
}

TEST(ReferenceVerdictTest, ASuccessIsNoneAnyMoreOnceItIsToStartAgain) {
  JobSpec spec = TwoWorkers();
  spec.tasks.push_back({.name = "prepare", .resource = {.memory_mb = 1024}});
  spec.on_exit = {{.task_type = "prepare", .action = ExitAction::kFail}};
  const TaskId prepare{"prepare", 0};
  for (const bool again : {true, false}) {
    Script script(spec);
    script.At(30s);
    script.Exit(prepare, 0);
    script.At(60s);
    script.LoseContainer(kWorker0, container_exit::kDisksFailed);
    script.LoseContainer(prepare, container_exit::kDisksFailed);
    if (again) {
      script.Restart(kWorker0, ExitClass::kNodeBad, Budget::kInfrastructure, 2,
                     {prepare, kWorker0, kWorker1});
    }
    script.Verdict(JobStatus::kFailed, "on_exit/0", prepare, ExitClass::kNodeBad);
    EXPECT_EQ(script.Clean(), again);
  }
}

TEST(ReferenceVerdictTest, WhatEndsBeforeAProcessRanInItMayNotHaveBeenLaunched) {
  for (const bool ran : {false, true}) {  // In that container; in another one before it did.
    JobSpec spec = Spec({{"worker", 1}}, Strategy::kMultiWorker);
    Script script(spec);
    script.Tell(RmReplied{.response = yarn::AllocateResponse{.nm_tokens = {yarn::NmToken()}}});
    script.At(60s);
    script.LoseContainer(kWorker0, container_exit::kDisksFailed);
    script.Restart(kWorker0, ExitClass::kNodeBad, Budget::kInfrastructure, 2, {kWorker0});
    script.Launch(kWorker0, 9);
    script.Hear(kWorker0);
    if (ran) script.Spawn(kWorker0, 1, 2);
    // The ResourceManager says it in two ways.
    script.Say(trace::ContainerFreed{.job = kJob,
                                     .container = script.ContainerOf(kWorker0),
                                     .exit_status = container_exit::kAborted});
    script.LoseContainer(kWorker0, 1);
    script.Restart(kWorker0, ExitClass::kLaunchError, Budget::kInfrastructure, 2, {kWorker0});
    EXPECT_EQ(script.Clean(), !ran);
  }
}

// A container may fail with 1 because nothing could be launched in it: no process exited with 1.
TEST(ReferenceVerdictTest, AFailedLaunchHasNoExitThatARowCouldName) {
  for (const bool ran : {false, true}) {
    JobSpec spec = Spec({{"worker", 1}}, Strategy::kMultiWorker);
    spec.on_exit = {{.exits = {1}, .action = ExitAction::kRestartTask},
                    {.action = ExitAction::kTally}};
    Script script(spec, ran ? "" : "worker");
    script.LoseContainer(kWorker0, 1);
    EXPECT_EQ(script.CleanAt(10min), !ran);
  }
}

TEST(ReferenceVerdictTest, WhereNoBeatMayBeMissingASlowOneIs) {
  for (const std::int32_t missed : {1, 2}) {
    JobSpec spec = TwoWorkers();
    spec.heartbeat.missed = missed;
    Script script(spec);
    script.At(60s);
    script.Restart(kWorker1, ExitClass::kHeartbeatLost, Budget::kInfrastructure, 2, kBoth);
    EXPECT_EQ(script.Clean(), missed == 1);
  }
}

TEST(ReferenceVerdictTest, WhereTheWayMayTakeLongerThanASilenceASlowBeatIsMissed) {
  JobSpec spec = TwoWorkers();
  spec.heartbeat = {.every = 100ms, .missed = 5};
  for (const Duration spread : {Duration(399ms), Duration(400ms)}) {
    Script script(spec, "", {}, spread);
    script.At(60s);
    script.Restart(kWorker1, ExitClass::kHeartbeatLost, Budget::kInfrastructure, 2, kBoth);
    EXPECT_EQ(script.Clean(), spread == 400ms);
  }
}

TEST(ReferenceVerdictTest, OnlyThreeRefusedLaunchesInARowAreFree) {
  for (const bool paid : {true, false}) {
    Script script(Spec({{"worker", 1}}, Strategy::kMultiWorker), "worker");
    for (std::int64_t id = 3; id <= 6; ++id) {
      yarn::FailedContainer refused{.container = script.ContainerOf(kWorker0)};
      refused.error.code = yarn::RpcErrorCode::kInvalidContainer;
      script.Tell(NmReplied{.response = yarn::StartContainersResponse{.failed = {refused}}});
      if (id == 6 && paid)
        script.Restart(kWorker0, ExitClass::kLaunchError, Budget::kInfrastructure, 1, {kWorker0});
      EXPECT_TRUE(script.Clean());
      script.Launch(kWorker0, id);
    }
    EXPECT_EQ(script.Clean(), paid);
  }
}

TEST(ReferenceVerdictTest, OfAYoungRmTheNodesMayYetCome) {
  const auto register_am = [](Script& script, std::int64_t most) {
    script.Tell(RmReplied{.response = yarn::RegisterApplicationMasterResponse{
                              .maximum_capability = {.memory_mb = most, .vcores = 8, .gpus = 8}}});
  };
  for (const Duration after : {Duration(5min), Duration(11min)}) {
    Script script(TwoWorkers(), "worker");
    register_am(script, 512);
    script.At(after);
    script.Verdict(JobStatus::kFailed, "gang/infeasible");
    EXPECT_EQ(script.Clean(), after > 10min);
  }
  for (const bool forgotten : {false, true}) {  // The RM starts again.
    Script script(TwoWorkers(), "worker");
    register_am(script, 512);
    script.At(15min);
    if (forgotten) {
      script.Tell(RmReplied{
          .response = yarn::RpcError{.code = yarn::RpcErrorCode::kApplicationMasterNotRegistered,
                                     .message = ""}});
    }
    register_am(script, 512);
    script.At(20min);
    script.Verdict(JobStatus::kFailed, "gang/infeasible");
    EXPECT_EQ(script.Clean(), !forgotten);
  }
  for (const bool before :
       {false, true}) {  // It starts again while HDFS keeps the verdict waiting.
    Script script(TwoWorkers(), "worker");
    register_am(script, 512);
    script.At(15min);
    script.Tell(
        RmReplied{.response = yarn::RpcError{
                      .code = yarn::RpcErrorCode::kApplicationMasterNotRegistered, .message = ""}});
    register_am(script, 512);
    script.At(20min);
    script.Store();
    script.Order(VerdictReached{.status = JobStatus::kFailed,
                                .cause = Cause{.exit_class = ExitClass::kInfeasible,
                                               .at = Instant{} + (before ? 14min : 16min)},
                                .rule = "gang/infeasible"});
    EXPECT_EQ(script.Clean(), before);
  }
  // A setting does not change.
  const yarn::NodeReport large{.capability = {.memory_mb = 4096, .vcores = 8, .gpus = 8}};
  Script script(TwoWorkers(), "worker", {large});
  register_am(script, 512);
  script.Verdict(JobStatus::kFailed, "gang/infeasible");
  EXPECT_TRUE(script.Clean());
}

// Its process takes its time to end; the gang is collected anew all the same.
TEST(ReferenceVerdictTest, AGangThatStartsAgainIsNotWhole) {
  for (const bool restarts : {true, false}) {
    Script script(TwoWorkers());
    script.At(15min);
    if (restarts) {
      script.LoseContainer(kWorker1, container_exit::kAborted);
      script.Restart(kWorker1, ExitClass::kNodeLost, Budget::kInfrastructure, 2, kBoth);
    }
    script.Verdict(JobStatus::kFailed, "gang/infeasible");
    EXPECT_EQ(script.Clean(), restarts);
  }
}

TEST(ReferenceVerdictTest, ANodeThatDoesNotAnswerOnceHasNotRefusedALaunch) {
  for (const int unanswered : {1, 8}) {
    Script script(TwoWorkers(), "worker");
    script.Tell(RmReplied{.response = yarn::AllocateResponse{.nm_tokens = {yarn::NmToken()}}});
    for (int i = 0; i < unanswered; ++i)
      script.Tell(NmReplied{
          .response = yarn::RpcError{.code = yarn::RpcErrorCode::kUnavailable, .message = ""}});
    script.Restart(kWorker1, ExitClass::kLaunchError, Budget::kInfrastructure, 2, {kWorker1});
    EXPECT_EQ(script.Clean(), unanswered == 8);
  }
}

TEST(ReferenceVerdictTest, AnEvaluatorPastTheBudgetIsLeftAsItIs) {
  JobSpec spec = Spec({{"worker", 1}, {"evaluator", 1}}, Strategy::kIndependent);
  spec.on_exit = {{.action = ExitAction::kRestartGang}};
  for (const std::int32_t user : {0, 1}) {
    spec.retries.user = user;
    Script script(spec);
    script.Exit({"evaluator", 0}, 139);
    script.Store();
    script.At(1h);
    script.Say(trace::FaultBegan{.kind = "node_crash"});
    EXPECT_EQ(script.model.TakeNew().empty(), user == 0);
  }
}

TEST(ReferenceVerdictTest, AVictimMayFallToAnyCauseThatWasPaid) {
  Script script(WithPs());
  const TaskId evaluator = kWorker1;
  script.At(60s);
  for (const TaskId& task : {kChief, evaluator, kPs}) script.Exit(task, 137);
  script.Restart(kChief, ExitClass::kKilledExternal, Budget::kInfrastructure, 1, {kChief});
  script.Restart(evaluator, ExitClass::kKilledExternal, Budget::kInfrastructure, 1, {evaluator});
  script.Restart(kChief, ExitClass::kKilledExternal, Budget::kNone, 2, {kPs, kChief});
  EXPECT_THAT(script.model.TakeNew(), IsEmpty());
}

TEST(ReferenceVerdictTest, AContainerMayEndBeforeItsStartIsOrdered) {
  for (const bool told : {true, false}) {
    JobSpec spec = Spec({{"worker", 1}}, Strategy::kIndependent);
    ReferenceVerdict model;
    model.JobSubmitted(kJob, std::make_shared<const JobSpec>(spec));
    const ContainerId container{.application_attempt = {.application = {.id = 1}, .attempt = 1},
                                .id = 2};
    const auto observe = [&](trace::Fact fact) {
      model.Observe({.at = Instant{} + 10s, .fact = std::move(fact)});
    };
    const auto tell = [&](AmEvent event) {
      observe(trace::AmTold{.job = kJob, .am_attempt = 2, .event = std::move(event)});
    };
    const auto order = [&](AmAction action) {
      observe(trace::AmOrdered{.job = kJob, .am_attempt = 2, .action = std::move(action)});
    };
    tell(AmStarted{.attempt = {.application = {.id = 1}, .attempt = 2}});
    if (told)
      tell(RmReplied{.response = yarn::AllocateResponse{
                         .completed_containers = {{.id = container,
                                                   .state = yarn::ContainerState::kComplete,
                                                   .exit_status = container_exit::kAborted}}}});
    order(TaskAttemptEnded{.task = kWorker0,
                           .container = container,
                           .exit = container_exit::kAborted,
                           .exit_class = ExitClass::kAmLost});
    order(AppendJournal{.seq = JournalSeq(1)});
    tell(JournalAppended{.seq = JournalSeq(1)});
    order(RestartDecided{.paid = Budget::kInfrastructure,
                         .epoch = Epoch(1),
                         .cause = {.task = kWorker0,
                                   .exit = container_exit::kAborted,
                                   .exit_class = ExitClass::kAmLost},
                         .tasks = {kWorker0}});
    EXPECT_EQ(model.TakeNew().empty(), told);
  }
}

// What starts again is stopped first, and may be lost on the way.
TEST(ReferenceVerdictTest, WhatEndsWhileItIsToStartAgainCostsNothing) {
  for (const bool runs_again : {false, true}) {
    Script script(TwoWorkers());
    script.At(60s);
    script.Exit(kWorker1, 143);
    script.Restart(kWorker1, ExitClass::kKilledExternal, Budget::kInfrastructure, 2, kBoth);
    script.Assemble(2);
    if (runs_again) script.Spawn(kWorker0, 1, 2);
    script.At(70s);
    script.LoseContainer(kWorker0, container_exit::kAborted);
    script.Restart(kWorker0, ExitClass::kNodeLost, Budget::kNone, 3, kBoth);
    EXPECT_EQ(script.Clean(), !runs_again);
  }
}

TEST(ReferenceVerdictTest, WhereARowLetsAHangBeThoseThatFailedAreTheCause) {
  const auto hangs = [](Script& script, bool killed) {
    script.At(60s);
    script.Exit(kWorker0, 1);
    script.OrderStop(kWorker1);
    script.At(60s + JobSpec().deadlines.blame);
    if (killed) script.Kill(kWorker1);
    script.Verdict(JobStatus::kFailed, "default/user-permanent-exhausted", kWorker0,
                   ExitClass::kUserPermanent, 1);
  };
  for (const bool killed : {true, false}) {
    JobSpec spec = TwoWorkers();
    Script not_let(spec);
    hangs(not_let, killed);
    EXPECT_THAT(not_let.model.TakeNew(), ElementsAre(HasSubstr("worker:1 alone")));
    spec.on_exit = {{.classes = {ExitClass::kTimeout}, .action = ExitAction::kTally}};
    Script let(spec);
    hangs(let, killed);
    EXPECT_THAT(let.model.TakeNew(), IsEmpty());
  }
}

// The AM has ordered it and does not know yet: two may hang.
TEST(ReferenceVerdictTest, NoOneRunsAloneBesideOneThatIsOrderedToStart) {
  for (const bool ordered : {true, false}) {
    Script script(Spec({{"worker", 3}}, Strategy::kMultiWorker));
    script.At(30s);
    script.Exit(kWorker0, 143);
    script.Restart(kWorker0, ExitClass::kKilledExternal, Budget::kInfrastructure, 2, kAllThree);
    script.Assemble(2);
    for (const TaskId& task : {kWorker0, kWorker1}) script.Spawn(task, 1, 2);
    script.OrderStart(kWorker2, 1, 2);
    if (!ordered) script.Spawn(kWorker2, 1, 2);
    script.At(60s);
    script.Exit(kWorker0, 1);
    if (!ordered) script.Exit(kWorker2, 1);
    script.OrderStop(kWorker1);
    script.At(60s + JobSpec().deadlines.blame);
    script.Verdict(JobStatus::kFailed, "default/user-permanent-exhausted", kWorker0,
                   ExitClass::kUserPermanent, 1);
    EXPECT_EQ(script.Clean(), ordered);
  }
}

TEST(ReferenceVerdictTest, WhatIsStillToEndForAnEarlierRestartDoesNotHang) {
  for (const bool earlier : {true, false}) {
    JobSpec spec = Spec({{"worker", 3}}, Strategy::kMultiWorker);
    spec.deadlines.blame = 5s;
    Script script(spec);
    script.At(59s);
    if (earlier) {
      script.Exit(kWorker0, 143);
      script.Restart(kWorker0, ExitClass::kKilledExternal, Budget::kInfrastructure, 2, kAllThree);
    }
    script.OrderStop(kWorker2);
    if (earlier) {
      script.OrderStop(kWorker1);
      script.Exit(kWorker1, ProcessExit{.signal = 15, .stopped_by_agent = true});
      script.Assemble(2);
      for (const TaskId& task : {kWorker0, kWorker1}) script.Spawn(task, 1, 2);
    }
    script.At(60s);
    script.Exit(kWorker0, 1);
    script.Exit(kWorker1, 1);
    script.At(65s);
    script.Verdict(JobStatus::kFailed, "default/user-permanent-exhausted", kWorker0,
                   ExitClass::kUserPermanent, 1);
    EXPECT_EQ(script.Clean(), earlier);
  }
}

// HDFS takes a while to store it.
TEST(ReferenceVerdictTest, WhatIsHeardAfterADecisionNamesNoOtherCause) {
  for (const bool decided_before : {true, false}) {
    Script script(Spec({{"worker", 3}}, Strategy::kMultiWorker));
    const AppendJournal append{.seq = JournalSeq(1)};
    script.At(60s);
    script.Exit(kWorker0, 1);
    for (const TaskId& task : {kWorker1, kWorker2}) script.OrderStop(task);
    script.At(80s);
    if (decided_before) script.Order(append);
    script.Exit(kWorker1, ProcessExit{.signal = 15, .stopped_by_agent = true});
    script.Kill(kWorker2);
    if (!decided_before) script.Order(append);
    script.At(90s);
    script.Tell(JournalAppended{.seq = append.seq});
    script.Order(VerdictReached{
        .status = JobStatus::kFailed,
        .cause = Cause{.task = kWorker0, .exit = 1, .exit_class = ExitClass::kUserPermanent},
        .rule = "default/user-permanent-exhausted"});
    EXPECT_EQ(script.Clean(), decided_before);
  }
}

TEST(ReferenceVerdictTest, WhatTheAmHasGivenBackDoesNotRunAnyMore) {
  for (const bool given_back : {true, false}) {
    Script script(TwoWorkers());
    script.At(60s);
    script.Exit(kWorker0, 1);
    script.OrderStop(kWorker1);
    script.At(61s + JobSpec().deadlines.stop);
    if (given_back) script.GiveBack(kWorker1);
    script.Verdict(JobStatus::kFailed, "default/user-permanent-exhausted", kWorker0,
                   ExitClass::kUserPermanent, 1);
    EXPECT_EQ(script.Clean(), given_back);
  }
}

TEST(ReferenceVerdictTest, TheAgentOfWhatWasGivenBackIsRefused) {
  for (const bool given_back : {true, false}) {
    Script script(TwoWorkers());
    script.At(60s);
    if (given_back) script.GiveBack(kWorker1);
    script.Exit(kWorker1, 143);
    script.At(63s);
    script.Exit(kWorker0, 1);
    script.Verdict(JobStatus::kFailed, "default/user-permanent-exhausted", kWorker0,
                   ExitClass::kUserPermanent, 1);
    EXPECT_EQ(script.Clean(), given_back);
  }
}

TEST(ReferenceVerdictTest, ALaterAmHasNotHeardWhoStoodStill) {
  for (const bool later : {true, false}) {
    Script script(TwoWorkers());
    script.At(60s);
    script.StandStill(kWorker1);
    if (later) script.StartAm(2);
    script.At(70s);
    script.Exit(kWorker0, 1);
    script.Exit(kWorker1, 1);
    script.Verdict(JobStatus::kFailed, "default/user-permanent-exhausted", kWorker0,
                   ExitClass::kUserPermanent, 1);
    EXPECT_EQ(script.Clean(), later);
  }
}

// The verdict waits for its entry in the journal.
TEST(ReferenceVerdictTest, TheEndThatIsTheSuccessDecidesNothingElse) {
  JobSpec spec = TwoWorkers();
  spec.on_exit = {{.exits = {137}, .action = ExitAction::kSucceed}};
  for (const std::int32_t code : {137, 143}) {
    Script script(spec);
    script.At(60s);
    script.Exit(kWorker1, code);
    script.At(95s);
    script.Verdict(JobStatus::kSucceeded, "on_exit/0");
    EXPECT_EQ(script.Clean(), code == 137);
  }
}

TEST(ReferenceVerdictTest, WhatIsToStartAgainDoesNotRunForTheStartDeadline) {
  JobSpec spec = TwoWorkers();
  spec.deadlines.start = 5s;
  for (const bool restarts : {true, false}) {
    Script script(spec);
    script.Say(trace::ContainerGranted{.job = kJob});
    script.At(60s);
    if (restarts) {
      script.StandStill(kWorker1);
      script.Restart(kWorker1, ExitClass::kTimeout, Budget::kInfrastructure, 2, kBoth);
    }
    script.At(66s);
    script.Verdict(JobStatus::kFailed, "deadlines/start");
    EXPECT_EQ(script.Clean(), restarts);
  }
}

// The next epoch of a gang may begin with a gate open, as what it waited for had come before.
TEST(ReferenceVerdictTest, WhatIsOrderedDoesNotWaitForTheStartDeadline) {
  JobSpec spec = Spec({{"chief", 1}, {"worker", 1}}, Strategy::kMultiWorker);
  spec.depends = {{.task = "worker", .after = "chief", .state = DependencyState::kEnded}};
  spec.deadlines.start = 5s;
  for (const bool ordered : {true, false}) {
    Script script(spec);
    script.Say(trace::ContainerGranted{.job = kJob});
    script.At(60s);
    script.StandStill(kWorker0);
    script.Restart(kWorker0, ExitClass::kTimeout, Budget::kInfrastructure, 2,
                   {{"chief", 0}, kWorker0});
    script.SpawnUntold({"chief", 0}, 1, 2);
    script.Hear({"chief", 0});
    if (ordered) script.OrderStart(kWorker0, 1, 2);
    script.At(66s);
    script.Verdict(JobStatus::kFailed, "deadlines/start");
    EXPECT_EQ(script.Clean(), ordered);
  }
}

// Its agent does not answer: the AM gives the container up, and decides at once.
TEST(ReferenceVerdictTest, WhoIsOverdueToStopEndsTheWaitForTheCause) {
  for (const Duration stop : {1s, 20s}) {
    const TaskId late{.type = "late", .index = 0};
    JobSpec spec = Spec({{"worker", 1}, {"late", 1}}, Strategy::kMultiWorker);
    spec.deadlines.stop = stop;
    Script script(spec, "late");
    script.SpawnUntold(late, 0, 1);
    script.At(60s);
    script.Exit(kWorker0, 1);
    script.OrderStop(late);
    script.At(68s);
    script.Verdict(JobStatus::kFailed, "default/user-permanent-exhausted", kWorker0,
                   ExitClass::kUserPermanent, 1);
    EXPECT_EQ(script.Clean(), stop == 1s);
  }
}

// One that runs, too: the AM gives it up 5 s after its time, and does not know that the other alone
// had to be killed.
TEST(ReferenceVerdictTest, WhoIsGivenUpMayHaveHadToBeKilled) {
  JobSpec spec = ThreeWorkers();
  spec.deadlines.blame = 1min;
  for (const bool given_up : {true, false}) {
    for (const bool killed_one : {true, false}) {
      Script script(spec);
      script.At(60s);
      script.Exit(kWorker0, 1);
      script.OrderStop(kWorker2);
      script.At(75s);
      script.Kill(kWorker1);
      script.At(given_up ? 80s : 79s);
      script.Restart(killed_one ? kWorker1 : kWorker0,
                     killed_one ? ExitClass::kTimeout : ExitClass::kUserPermanent,
                     killed_one ? Budget::kInfrastructure : Budget::kUser, 2, kAllThree);
      EXPECT_EQ(script.Clean(), given_up && !killed_one);
    }
  }
}

// A peer's last words name the chief, which its policy does not start again: the peer is the cause.
TEST(ReferenceVerdictTest, WhoIsNamedEndsTheWaitForTheCause) {
  for (const bool named : {true, false}) {
    JobSpec spec = Spec({{"chief", 1}, {"worker", 1}}, Strategy::kMultiWorker);
    Script script(spec);
    script.At(60s);
    script.Exit(
        kWorker0, ProcessExit{.code = 1}, true,
        named ? "unhealthy (stopped sending heartbeats):\n/job:chief/replica:0/task:0\n" : "");
    script.Verdict(JobStatus::kFailed, "default/user-permanent-exhausted", kWorker0,
                   ExitClass::kUserPermanent, 1);
    EXPECT_EQ(script.Clean(), named);
  }
}

// Its agent tells of an order to stop what it never started, and starts the next attempt after
// that, or has started it when the AM hears so.
TEST(ReferenceVerdictTest, AnAttemptThatWasStoppedBeforeItRanIsNoEndOfTheNext) {
  for (const bool late : {false, true}) {
    Script script(TwoWorkers());
    if (!late) script.NeverRuns(kWorker1, 1, 2);
    script.Spawn(kWorker1, 2, 2);
    if (late) script.NeverRuns(kWorker1, 1, 2);
    script.At(60s);
    script.Exit(kWorker1, 1);
    script.At(95s);
    script.Verdict(JobStatus::kFailed, "default/user-permanent-exhausted", kWorker1,
                   ExitClass::kUserPermanent, 1);
    EXPECT_TRUE(script.Clean());
  }
}

TEST(ReferenceVerdictTest, WhatIsLostBeforeItRanIsReplacedWithoutItsType) {
  for (const bool ran : {false, true}) {
    JobSpec spec = Spec({{"worker", 2}}, Strategy::kIndependent);
    spec.on_exit = {{.action = ExitAction::kRestartType}};
    Script script(spec);
    if (!ran) script.Launch(kWorker1, 9);
    script.LoseContainer(kWorker1, ran ? -100 : -1000);
    script.Restart(kWorker1, ran ? ExitClass::kNodeLost : ExitClass::kLaunchError,
                   Budget::kInfrastructure, 2, {kWorker1});
    EXPECT_EQ(script.Clean(), !ran);
  }
}

TEST(ReferenceVerdictTest, OfWhatWasOrderedAndNeverRanTheAmMayThinkThatItRan) {
  for (const bool ordered : {false, true}) {
    JobSpec spec = Spec({{"worker", 2}}, Strategy::kIndependent);
    spec.on_exit = {{.action = ExitAction::kRestartType}};
    Script script(spec);
    script.Launch(kWorker1, 9);
    if (ordered) script.OrderStart(kWorker1, 1, 1);
    script.LoseContainer(kWorker1, -100);
    script.Restart(kWorker1, ExitClass::kNodeLost, Budget::kInfrastructure, 2, kBoth);
    EXPECT_EQ(script.Clean(), ordered);
  }
}

// Its AM died as it stored that it would order the start.
TEST(ReferenceVerdictTest, OfWhatAnEarlierAmWasToOrderTheNextMayThinkThatItRan) {
  for (const bool stored : {false, true}) {
    JobSpec spec = Spec({{"worker", 2}}, Strategy::kIndependent);
    spec.on_exit = {{.action = ExitAction::kRestartType}};
    Script script(spec, "worker");
    for (const TaskId& task : kBoth) script.Register(task);
    if (stored) script.Order(AppendJournal{.seq = JournalSeq(99)});
    script.StartAm(2);
    script.LoseContainer(kWorker1, -100);
    script.Restart(kWorker1, ExitClass::kAmLost, Budget::kInfrastructure, 2, kBoth);
    EXPECT_EQ(script.Clean(), stored);
  }
}

// That it was taken away in the job's name says nothing of how a process ended that its agent saw
// end.
TEST(ReferenceVerdictTest, WhatIsTakenInTheJobsNameIsNoReasonOfYarns) {
  for (const std::int32_t status :
       {container_exit::kKilledAfterAppCompletion, container_exit::kPreempted}) {
    Script script(TwoWorkers());
    script.Exit(kWorker1, 1);
    script.LoseContainer(kWorker0, container_exit::kKilledAfterAppCompletion);
    script.LoseContainer(kWorker1, status);
    script.Verdict(JobStatus::kFailed, "default/user-permanent-exhausted", kWorker1,
                   ExitClass::kUserPermanent, 1);
    EXPECT_EQ(script.Clean(), status == container_exit::kKilledAfterAppCompletion);
  }
}

TEST(ReferenceVerdictTest, AnAmOfAnEarlierAttemptThatStartsLateActsForNoJob) {
  Script script(TwoWorkers());
  script.StartAm(2);
  script.StartAm(1);
  script.Tell(JournalRead{});
  script.ActAs(2);
  script.Exit(kWorker0, 0);
  script.Exit(kWorker1, 0);
  script.Order(AppendJournal{.seq = JournalSeq(6)});
  script.StartAm(3);
  script.Verdict(JobStatus::kSucceeded, "default/success");
  EXPECT_TRUE(script.Clean());
}

// No agent has come up, and so there is no report of an end that a row may ignore.
TEST(ReferenceVerdictTest, WhatNeverRegistersMayBeIgnoredToo) {
  for (const bool ignores : {true, false}) {
    JobSpec spec = Spec({{"worker", 1}, {"other", 1}}, Strategy::kIndependent);
    if (ignores) spec.on_exit = {{.classes = {ExitClass::kTimeout}, .action = ExitAction::kIgnore}};
    spec.deadlines.registration = 1min;
    Script script(spec, "other");
    script.Exit(kWorker0, 0);
    script.At(2min);
    script.Verdict(JobStatus::kSucceeded, "default/success");
    EXPECT_EQ(script.Clean(), ignores);
  }
}

TEST(ReferenceVerdictTest, WhereEveryReplicasEndIsIgnoredThereIsNoSuccess) {
  JobSpec spec = TwoWorkers();
  spec.policy = {.name = "tfjob", .options = {{"success_policy", "AllWorkers"}}};
  spec.on_exit = {{.exits = {2}, .action = ExitAction::kIgnore}};
  for (const std::int32_t code : {2, 0}) {
    Script script(spec);
    script.BothFail(2, code);
    script.Verdict(JobStatus::kFailed, "tfjob/nothing-left");
    EXPECT_EQ(script.Clean(), code == 2);
  }
}

// Its container's end then is all that a later AM hears.
TEST(ReferenceVerdictTest, AGoodEndThatMayNotBeStoredMayBeForgotten) {
  JobSpec spec = Spec({{"worker", 2}}, Strategy::kIndependent);
  for (const bool stored : {false, true}) {
    Script script(spec);
    script.At(60s);
    script.Exit(kWorker1, 0);
    script.Order(AppendJournal{.seq = JournalSeq(99)});
    if (stored) script.Tell(JournalAppended{.seq = JournalSeq(99)});
    script.StartAm(2);
    script.LoseContainer(kWorker1, container_exit::kAborted);
    script.Restart(kWorker1, ExitClass::kNodeLost, Budget::kInfrastructure, 2, {kWorker1});
    EXPECT_EQ(script.Clean(), !stored);
  }
}

TEST(ReferenceVerdictTest, TheChiefNeedsNotTheAddressOfWhatDoesNotTrain) {
  JobSpec spec =
      Spec({{"chief", 1}, {"ps", 1}, {"worker", 1}, {"evaluator", 1}}, Strategy::kParameterServer);
  spec.policy = {.name = "tfjob", .options = {{"restart_policy", "Always"}}};
  for (const char* type : {"evaluator", "worker"}) {
    Script script(spec);
    const TaskId task{type, 0};
    script.At(60s);
    script.LoseContainer(task, container_exit::kAborted);
    script.Restart(task, ExitClass::kNodeLost, Budget::kUser, task == kWorker0 ? 2 : 1, {task});
    EXPECT_EQ(script.Clean(), task != kWorker0) << type;
  }
}

TEST(ReferenceVerdictTest, ABudgetThatWasSpentThenIsNoReasonToActLater) {
  const TaskId evaluator{"evaluator", 0};
  JobSpec spec = Spec({{"worker", 2}, {"evaluator", 1}}, Strategy::kMultiWorker);
  spec.retries.window = 1s;
  for (const std::int32_t infrastructure : {2, 3}) {
    spec.retries.infrastructure = infrastructure;
    Script script(spec);
    for (const std::uint32_t attempt : {1U, 2U}) {
      script.Exit(evaluator, 137);
      script.Restart(evaluator, ExitClass::kKilledExternal, Budget::kInfrastructure, 1,
                     {evaluator});
      script.Spawn(evaluator, attempt, 1);
    }
    script.Exit(evaluator, 137);  // It is left as it is.
    script.At(5min);
    script.Exit(kWorker0, 143);
    script.Restart(kWorker0, ExitClass::kKilledExternal, Budget::kInfrastructure, 2, kBoth);
    script.Assemble(2);
    for (const TaskId& task : kBoth) script.Spawn(task, 1, 2);
    EXPECT_EQ(script.CleanAt(1h), infrastructure == 2);
  }
}

TEST(ReferenceVerdictTest, WhatHasEndedForGoodIsPastRunning) {
  JobSpec spec = Spec({{"chief", 1}, {"worker", 1}, {"evaluator", 1}}, Strategy::kIndependent);
  spec.success = ParseSuccess("ok(worker)").value();
  spec.depends = {{.task = "evaluator", .after = "chief", .within = 56s}};
  for (const std::int32_t restarts : {0, 1}) {
    spec.retries.infrastructure = restarts;
    Script script(spec, "chief");
    script.At(60s);
    script.LoseContainer(kChief, container_exit::kDisksFailed);
    script.At(2min);
    script.Verdict(JobStatus::kFailed, "depends/0");
    EXPECT_THAT(script.model.TakeNew(), testing::SizeIs(restarts));
  }
}

// What YARN says later of its container comes after.
TEST(ReferenceVerdictTest, AFailureCountsFromItsFirstAccount) {
  JobSpec spec = TwoWorkers();
  spec.retries.user = 1;
  for (const bool first : {true, false}) {
    Script script(spec);
    script.At(60s);
    script.Exit(first ? kWorker0 : kWorker1, 1);
    script.At(61s);
    script.Exit(first ? kWorker1 : kWorker0, 1);
    script.LoseContainer(kWorker0, 1);
    script.Restart(kWorker0, ExitClass::kUserPermanent, Budget::kUser, 2, kBoth);
    EXPECT_EQ(script.Clean(), first);
  }
}

TEST(ReferenceVerdictTest, WhoEndsUnheardStillRunsAsFarAsTheAmKnows) {
  for (const bool told : {false, true}) {
    Script script(ThreeWorkers());
    script.At(60s);
    script.Exit(kWorker0, 139);
    script.OrderStop(kWorker1);
    script.OrderStop(kWorker2);
    script.At(70s);
    script.Exit(kWorker1, ProcessExit{.code = 139}, told);
    script.At(81s);
    script.Restart(kWorker0, ExitClass::kSignalCrash, Budget::kUser, 2, kAllThree);
    EXPECT_EQ(script.Clean(), !told);
  }
}

TEST(ReferenceVerdictTest, WhoIsGoneUnheardMayBeTakenForOneThatHangs) {
  for (const bool gone : {true, false}) {
    Script script(TwoWorkers());
    script.At(60s);
    if (gone) script.Say(trace::ContainerGone{.container = script.ContainerOf(kWorker1)});
    if (!gone) script.Exit(kWorker1, 1);
    script.Exit(kWorker0, ProcessExit{.code = 139}, true,
                "unhealthy (stopped sending heartbeats):\n/job:worker/replica:0/task:1\n");
    script.Restart(kWorker1, ExitClass::kTimeout, Budget::kInfrastructure, 2, kBoth);
    EXPECT_EQ(script.Clean(), gone);
  }
}

TEST(ReferenceVerdictTest, WhoDiesOfSigkillAsItIsToEndHadToBeKilledAsFarAsTheAmKnows) {
  for (const bool both : {true, false}) {
    Script script(ThreeWorkers());
    script.At(60s);
    script.Exit(kWorker0, 1);
    script.OrderStop(kWorker2);
    script.Exit(
        kWorker2,
        ProcessExit{.signal = both ? 9 : 15, .out_of_memory = both, .stopped_by_agent = true});
    script.Kill(kWorker1);
    script.At(80s);
    script.Restart(kWorker0, ExitClass::kUserPermanent, Budget::kUser, 2, kAllThree);
    EXPECT_EQ(script.Clean(), both);
  }
}

TEST(ReferenceVerdictTest, WhoEndsWithACodeLikeThatOfSigkillWasNotKilled) {
  for (const bool code : {true, false}) {
    Script script(ThreeWorkers());
    script.At(60s);
    script.Exit(kWorker0, 1);
    script.OrderStop(kWorker1);
    script.Exit(kWorker1, ProcessExit{.signal = 15, .stopped_by_agent = true});
    script.OrderStop(kWorker2);
    script.Exit(kWorker2, code ? ProcessExit{.code = 137, .stopped_by_agent = true}
                               : ProcessExit{.signal = 9, .stopped_by_agent = true});
    script.At(80s);
    script.Restart(kWorker0, ExitClass::kUserPermanent, Budget::kUser, 2, kAllThree);
    EXPECT_EQ(script.Clean(), code);
  }
}

// That it was to end only its agent's report tells.
TEST(ReferenceVerdictTest, WhoDiesOfAnothersSigkillAsItIsToEndHadToBeKilledAsItsAgentTells) {
  for (const bool both : {true, false}) {
    Script script(ThreeWorkers());
    script.At(60s);
    script.Exit(kWorker0, 1);
    script.OrderStop(kWorker2);
    const ProcessExit exit{.signal = both ? 9 : 15};
    script.Exit(kWorker2, exit, /*told=*/false);
    script.Tell(AgentSaid{
        ProcessEnded{.fence = {.container = script.ContainerOf(kWorker2), .task = kWorker2},
                     .process = {.epoch = Epoch(1)},
                     .exit = {.signal = exit.signal, .stopped_by_agent = true}}});
    script.Kill(kWorker1);
    script.At(80s);
    script.Restart(kWorker0, ExitClass::kUserPermanent, Budget::kUser, 2, kAllThree);
    EXPECT_EQ(script.Clean(), both);
  }
}

// Each of them begins the next epoch by itself, and so long as one has yet to do so there is none
// to begin for the others.
TEST(ReferenceVerdictTest, OfIndependentTasksOneMayBeYetToBegin) {
  for (const bool rests : {true, false}) {
    Script script(Spec({{"worker", 2}}, Strategy::kIndependent));
    script.At(60s);
    script.Exit(kWorker1, 137);
    script.LoseContainer(kWorker1, container_exit::kAborted);
    script.Restart(kWorker1, ExitClass::kNodeLost, Budget::kInfrastructure, 2, {kWorker1});
    script.Assemble(2);
    if (!rests) {
      script.Launch(kWorker1, 9);
      script.Spawn(kWorker1, 1, 2);
    }
    script.Exit(kWorker0, 137);
    script.Restart(kWorker0, ExitClass::kKilledExternal, Budget::kInfrastructure, 3, {kWorker0});
    EXPECT_EQ(script.Clean(), rests);
  }
}

TEST(ReferenceVerdictTest, AMarkedContainerThatIsLostIsPreempted) {
  const TaskId evaluator{"evaluator", 0};
  for (const bool marked : {true, false}) {
    Script script(Spec({{"worker", 1}, {"evaluator", 1}}, Strategy::kMultiWorker));
    script.At(60s);
    const TaskId& named = marked ? evaluator : kWorker0;
    script.Tell(RmReplied{
        .response = yarn::AllocateResponse{.preempt_contract = {script.ContainerOf(named)}}});
    script.LoseContainer(evaluator, container_exit::kAborted);
    script.Restart(evaluator, ExitClass::kPreempted, Budget::kInfrastructure, 1, {evaluator});
    EXPECT_EQ(script.Clean(), marked);
  }
}

TEST(ReferenceVerdictTest, AMarkedContainerWhoseAgentFallsSilentIsPreempted) {
  const TaskId evaluator{"evaluator", 0};
  for (const bool marked : {true, false}) {
    Script script(Spec({{"worker", 1}, {"evaluator", 1}}, Strategy::kMultiWorker));
    script.Say(trace::FaultBegan{.kind = "loss"});
    script.At(60s);
    const TaskId& named = marked ? evaluator : kWorker0;
    script.Tell(RmReplied{
        .response = yarn::AllocateResponse{.preempt_strict = {script.ContainerOf(named)}}});
    script.Restart(evaluator, ExitClass::kPreempted, Budget::kInfrastructure, 1, {evaluator});
    EXPECT_EQ(script.Clean(), marked);
  }
}

// The AM that heard of the good end needed no word of the container's; the next one knows no other.
TEST(ReferenceVerdictTest, AnAmThatDoesNotKnowOfTheGoodEndTakesTheContainersForOne) {
  JobSpec spec = Spec({{"worker", 2}}, Strategy::kIndependent);
  for (const bool stored : {false, true}) {
    Script script(spec);
    script.At(60s);
    script.Exit(kWorker1, 0);
    script.Order(AppendJournal{.seq = JournalSeq(99)});
    if (stored) script.Tell(JournalAppended{.seq = JournalSeq(99)});
    script.LoseContainer(kWorker1, container_exit::kDisksFailed);
    script.StartAm(2);
    script.LoseContainer(kWorker1, container_exit::kDisksFailed);
    script.Restart(kWorker1, ExitClass::kNodeBad, Budget::kInfrastructure, 2, {kWorker1});
    EXPECT_EQ(script.Clean(), !stored);
  }
}

TEST(ReferenceVerdictTest, WhatEndedBesideASessionThatStartsAgainIsPaidWithIt) {
  JobSpec spec =
      Spec({{"worker", 2}, {"evaluator", 1}, {"tensorboard", 1}}, Strategy::kMultiWorker);
  spec.policy.name = "tf-yarn";
  spec.retries.user = 1;
  const TaskId evaluator{"evaluator", 0};
  const TaskId board{"tensorboard", 0};
  for (const bool before : {true, false}) {
    Script script(spec);
    script.At(60s);
    script.Exit(evaluator, 139);
    if (before) script.Exit(board, 139);
    script.Restart(evaluator, ExitClass::kSignalCrash, Budget::kUser, 2,
                   {kWorker0, kWorker1, evaluator});
    script.At(61s);
    if (!before) script.Exit(board, 139);
    script.Restart(evaluator, ExitClass::kSignalCrash, Budget::kNone, 3,
                   {kWorker0, kWorker1, board});
    EXPECT_EQ(script.Clean(), before);
  }
}

TEST(ReferenceVerdictTest, WhoWaitedForAContainerMayStillNotReachItsPeer) {
  JobSpec spec = WithPs();
  spec.deadlines.start = 10s;
  for (const Duration ran : {5s, 45s}) {
    Script script(spec);
    script.At(60s);
    script.Exit(kPs, 137);
    script.Restart(kPs, ExitClass::kKilledExternal, Budget::kInfrastructure, 2, {kPs, kChief});
    script.At(120s);  // The gang was not complete before.
    script.Assemble(2);
    for (const TaskId& task : {kChief, kPs}) {
      script.OrderStart(task, 1, 2);
      script.Spawn(task, 1, 2);
    }
    script.At(120s + ran);
    script.Exit(kChief, ProcessExit{.code = 1}, true, kNoConnection + "/job:ps/replica:0/task:0: ");
    script.Restart(kPs, ExitClass::kKilledExternal, Budget::kNone, 2, {kChief});
    EXPECT_EQ(script.Clean(), ran == 5s);
  }
}

TEST(ReferenceVerdictTest, WhatIsGivenBackUnusedMayEndBeforeTheOrderArrives) {
  for (const bool given_back : {true, false}) {
    Script script(WithPs(), "worker");
    script.At(60s);
    script.Tell(AgentSaid{RegisterAgent{.fence = {.container = script.ContainerOf(kWorker1)}}});
    script.Say(trace::ContainerFreed{.job = kJob,
                                     .container = script.ContainerOf(kWorker1),
                                     .exit_status = agent_exit::kRefused});
    if (given_back) script.Release(kWorker1);
    script.LoseContainer(kWorker1, agent_exit::kRefused);
    EXPECT_EQ(script.CleanAt(5min), given_back);
  }
}

TEST(ReferenceVerdictTest, AGangThatIsGivenBackMayEndBeforeTheOrderIsSent) {
  for (const bool given_back : {true, false}) {
    Script script(WithPs(), "worker");
    script.At(60s);
    if (given_back) script.Order(GangReleased{.containers = 2});
    script.LoseContainer(kWorker1, agent_exit::kRefused);
    EXPECT_EQ(script.CleanAt(5min), given_back);
  }
}

TEST(ReferenceVerdictTest, AContainerThatEndsWhileItsTaskIsToStartAgainBreaksNothing) {
  JobSpec spec = ThreeWorkers();
  spec.retries.user = 5;
  spec.on_exit = {{.action = ExitAction::kRestartTask}};
  for (const bool ordered : {false, true}) {
    Script script(spec);
    script.At(60s);
    script.Exit(kWorker1, 1);
    script.At(80s);
    script.Restart(kWorker1, ExitClass::kUserPermanent, Budget::kUser, 1, {kWorker1});
    if (ordered) script.OrderStart(kWorker1, 1, 1);
    script.At(81s);
    script.Exit(kWorker0, 194);
    script.LoseContainer(kWorker1, container_exit::kKilledExceededVmem);
    script.At(101s);
    script.Restart(kWorker0, ExitClass::kUnknown, Budget::kUser, 2, kAllThree);
    EXPECT_EQ(script.Clean(), !ordered);
  }
}

TEST(ReferenceVerdictTest, WhatMayBeGivenUpByADependencyFailsTheJobAllTheSame) {
  JobSpec spec = Spec({{"ps", 2}, {"worker", 1}}, Strategy::kIndependent);
  spec.policy.name = "tfjob";
  spec.success = ParseSuccess("ok(tracked)").value();
  spec.depends = {
      {.task = "worker", .after = "ps", .within = 1s, .action = DependencyAction::kIgnore}};
  for (const std::int32_t code : {1, 0}) {
    Script script(spec);
    script.At(60s);
    script.Exit(kWorker0, code);
    script.Verdict(JobStatus::kFailed, "tfjob/success-impossible");
    EXPECT_EQ(script.Clean(), code == 1);
  }
}

TEST(ReferenceVerdictTest, DeadlinesRunWaitsForTheAgentsOfWhatIsHeldBack) {
  JobSpec spec = Spec({{"ps", 1}, {"worker", 1}}, Strategy::kParameterServer);
  spec.depends = {{.task = "worker", .after = "ps", .state = DependencyState::kEnded}};
  spec.deadlines.run = 1s;
  for (const bool there : {false, true}) {
    Script script(spec, there ? "ps" : "worker");
    if (there) script.Spawn(kPs, 0, 1);
    EXPECT_EQ(script.CleanAt(1h), !there);
  }
}

// The failure waits for its cause, and its task has lost its container and gets another one.
TEST(ReferenceVerdictTest, AFailureThatWaitsIsDecidedOnAlsoInAnotherContainer) {
  JobSpec spec = TwoWorkers();
  spec.retries.user = 1;
  for (const bool right : {true, false}) {
    Script script(spec);
    script.At(60s);
    script.Exit(kWorker1, 1);
    script.LoseContainer(kWorker1, 0);
    script.Launch(kWorker1, 9);
    script.At(61s);
    script.Exit(kWorker0, 1);
    script.Restart(kWorker1, right ? ExitClass::kUserPermanent : ExitClass::kKilledExternal,
                   right ? Budget::kUser : Budget::kInfrastructure, 2, kBoth);
    EXPECT_EQ(script.Clean(), right);
  }
}

TEST(ReferenceVerdictTest, WhatWasOrderedAndNeverRanMayBeDecidedOnAlsoInAnotherContainer) {
  JobSpec spec = Spec({{"chief", 1}, {"worker", 1}}, Strategy::kIndependent);
  spec.retries.user = 1;
  for (const bool ordered : {true, false}) {
    Script script(spec, "worker");
    script.At(60s);
    if (ordered) script.OrderStart(kWorker0, 0, 1);
    script.LoseContainer(kWorker0, 1);
    script.Launch(kWorker0, 9);
    script.At(61s);
    script.Restart(kWorker0, ExitClass::kUserPermanent, Budget::kUser, 1, {kWorker0});
    EXPECT_EQ(script.Clean(), ordered);
  }
}

TEST(ReferenceVerdictTest, ALaunchOfAnEarlierAmMayHaveEndedBeforeItWasOrdered) {
  JobSpec spec = Spec({{"worker", 1}}, Strategy::kIndependent);
  spec.deadlines.registration = 20s;
  for (const std::int32_t granted_to : {1, 2}) {
    Script script(spec, "worker");
    script.At(60s);
    const ContainerId container{
        .application_attempt = {.application = {.id = 1}, .attempt = granted_to}, .id = 9};
    if (granted_to == 2) script.StartAm(2);
    script.Tell(
        RmReplied{.response = yarn::AllocateResponse{
                      .completed_containers = {{.id = container,
                                                .state = yarn::ContainerState::kComplete,
                                                .exit_status = container_exit::kAborted}}}});
    if (granted_to == 1) script.StartAm(2);
    script.At(81s);
    script.Order(TaskAttemptEnded{
        .task = kWorker0, .container = container, .exit_class = ExitClass::kHeartbeatLost});
    script.Restart(kWorker0, ExitClass::kHeartbeatLost, Budget::kInfrastructure, 1, {kWorker0});
    EXPECT_EQ(script.Clean(), granted_to == 1);
  }
}

TEST(ReferenceVerdictTest, ASuccessThatAnEarlierAmHeardMayOvertakeARestart) {
  for (const bool heard : {true, false}) {
    Script script(WithPs());
    script.At(50s);
    script.Exit(kChief, 0);
    script.StartAm(2);
    script.At(60s);
    script.LoseContainer(kPs, container_exit::kAborted);
    script.Restart(kPs, ExitClass::kNodeLost, Budget::kInfrastructure, 2, {kPs, kChief});
    script.At(61s);
    if (heard) script.Exit(kChief, 0);
    script.Verdict(JobStatus::kSucceeded, "default/success");
    EXPECT_EQ(script.Clean(), heard);
  }
}

TEST(ReferenceVerdictTest, WhoIsKilledForAnEarlierRestartBreaksNothing) {
  JobSpec spec = TwoWorkers();
  spec.on_exit = {{.action = ExitAction::kRestartTask}};
  for (const bool earlier : {true, false}) {
    Script script(spec);
    script.At(60s);
    if (earlier) {
      script.StandStill(kWorker0);
      script.Restart(kWorker0, ExitClass::kTimeout, Budget::kInfrastructure, 1, {kWorker0});
    }
    script.Exit(kWorker1, 134);
    script.At(75s);
    script.Kill(kWorker0);
    script.Verdict(JobStatus::kFailed, "default/signal-crash-exhausted", kWorker1,
                   ExitClass::kSignalCrash, 134);
    EXPECT_EQ(script.Clean(), earlier);
  }
}

TEST(ReferenceVerdictTest, WhatAnEarlierAmHeardToRunIsNotStored) {
  JobSpec spec = Spec({{"chief", 1}, {"worker", 1}}, Strategy::kMultiWorker);
  spec.deadlines.run = 1s;
  for (const bool again : {true, false}) {
    Script script(spec, "worker");
    script.SpawnUntold(kWorker0, 0, 1);
    script.At(20s);
    script.StartAm(2);
    script.Hear(kWorker0);
    if (again) script.Hear(kChief);
    EXPECT_EQ(script.CleanAt(1h), !again);
  }
}

TEST(ReferenceVerdictTest, AContainerEndsThatItsTaskWasToLeaveOnNotice) {
  JobSpec spec = Spec({{"worker", 1}, {"evaluator", 1}}, Strategy::kMultiWorker);
  const TaskId evaluator{.type = "evaluator"};
  for (const bool notice : {true, false}) {
    Script script(spec, "evaluator");
    script.At(60s);
    if (notice) {
      script.Tell(RmReplied{
          .response = yarn::AllocateResponse{.preempt_strict = {script.ContainerOf(evaluator)}}});
      script.Restart(evaluator, ExitClass::kPreempted, Budget::kInfrastructure, 1, {evaluator});
    }
    script.At(61s);
    script.LoseContainer(evaluator, -102);
    script.At(5min);
    script.Exit(kWorker0, 0);
    script.Verdict(JobStatus::kSucceeded, "default/success");
    EXPECT_EQ(script.Clean(), notice);
  }
}

TEST(ReferenceVerdictTest, AStallOfAnotherMayBeDecidedOnWithAFailure) {
  JobSpec spec = WithPs();
  spec.watch = WatchSpec{.progress = "(\\d+)", .progress_file = {}};
  for (const bool stalls : {true, false}) {
    Script script(spec);
    script.At(60s);
    if (stalls) {
      script.Tell(
          AgentSaid{.message = ProgressStalled{
                        .fence = {.container = script.ContainerOf(kWorker0), .task = kWorker0},
                        .process = {.epoch = Epoch(1)}}});
    }
    script.Exit(kPs, 137);
    script.Restart(kPs, ExitClass::kKilledExternal, Budget::kInfrastructure, 2,
                   {kPs, kChief, kWorker0, kWorker1});
    EXPECT_EQ(script.Clean(), stalls);
  }
}

TEST(ReferenceVerdictTest, AnAgentThatWasRefusedEndsWithoutAnAnswer) {
  JobSpec spec = Spec({{"worker", 1}, {"evaluator", 1}}, Strategy::kIndependent);
  const TaskId evaluator{"evaluator", 0};
  for (const bool refused : {true, false}) {
    Script script(spec, "evaluator");
    script.At(60s);
    if (refused) {
      script.Order(
          SendToAgent{.container = script.ContainerOf(evaluator), .message = AgentRefused{}});
    }
    script.LoseContainer(evaluator, agent_exit::kAmLost);
    EXPECT_EQ(script.CleanAt(10min), refused);
  }
}

// It was heard again at the very moment at which its silence was too long, and another agent ended
// the wait for a verdict a second later.
TEST(ReferenceVerdictTest, WhoIsRefusedAfterASilenceWasGivenUpForIt) {
  JobSpec spec = Spec({{"worker", 2}}, Strategy::kIndependent);
  spec.success = SuccessExpr{.op = SuccessOp::kOk, .task_type = "worker", .index = 0};
  spec.retries.infrastructure = 0;
  spec.policy.name = "hbox";
  for (const bool refused : {true, false}) {
    Script script(spec);
    script.Say(trace::FaultBegan{.kind = "loss"});
    script.At(1min);
    script.Register(kWorker0);
    script.At(2min);
    script.Register(kWorker0);
    if (refused) {
      script.Order(
          SendToAgent{.container = script.ContainerOf(kWorker0), .message = AgentRefused{}});
    }
    script.At(2min + 1s);
    script.Verdict(JobStatus::kFailed, "hbox/success-impossible", kWorker0,
                   ExitClass::kHeartbeatLost);
    EXPECT_EQ(script.Clean(), refused);
  }
}

// The AM before did not take its word that the process had ended well; its successor hears none.
TEST(ReferenceVerdictTest, WhatARefusedAgentSaidIsNotKnownToTheNextAm) {
  for (const bool refused : {true, false}) {
    Script script(Spec({{"worker", 2}}, Strategy::kIndependent));
    script.At(60s);
    script.Exit(kWorker1, 0);
    if (refused) {
      script.Order(
          SendToAgent{.container = script.ContainerOf(kWorker1), .message = AgentRefused{}});
    }
    script.LoseContainer(kWorker1, agent_exit::kRefused);
    script.Store();
    script.StartAm(2);
    script.LoseContainer(kWorker1, agent_exit::kRefused);
    script.Restart(kWorker1, ExitClass::kAmLost, Budget::kInfrastructure, 2, {kWorker1});
    EXPECT_EQ(script.Clean(), refused);
  }
}

TEST(ReferenceVerdictTest, WhatEndsUnderNoticeStartsAgainElsewhere) {
  JobSpec spec = WithPs();
  spec.policy = {.name = "tfjob", .options = {{"restart_policy", "Always"}}};
  for (const bool notice : {true, false}) {
    Script script(spec);
    script.At(60s);
    if (notice) {
      script.Tell(RmReplied{
          .response = yarn::AllocateResponse{.preempt_strict = {script.ContainerOf(kWorker0)}}});
    }
    script.Exit(kWorker0, 0);
    script.Restart(kWorker0, ExitClass::kOk, Budget::kUser, 2, {kWorker0});
    EXPECT_EQ(script.Clean(), notice);
  }
}

TEST(ReferenceVerdictTest, DeadlinesRunWaitsForWhatStartsWhenOthersRun) {
  JobSpec spec = Spec({{"ps", 1}, {"worker", 1}}, Strategy::kParameterServer);
  spec.deadlines.run = 1s;
  for (const DependencyState state : {DependencyState::kRunning, DependencyState::kEnded}) {
    spec.depends = {{.task = "worker", .after = "ps", .state = state}};
    Script waiting(spec, "worker");
    waiting.Register(kWorker0);
    waiting.Hear(kPs);
    EXPECT_EQ(waiting.CleanAt(1h), state == DependencyState::kRunning);
  }
}

TEST(ReferenceVerdictTest, DeadlinesRunWaitsForWhatIsHeldBackAndHasLostItsContainer) {
  JobSpec spec = Spec({{"ps", 1}, {"worker", 1}}, Strategy::kParameterServer);
  spec.depends = {{.task = "worker", .after = "ps", .state = DependencyState::kEnded}};
  spec.deadlines.run = 1s;
  enum class Lost { kNo, kGivenUp, kGivenBack };
  for (const Lost lost : {Lost::kNo, Lost::kGivenUp, Lost::kGivenBack}) {
    Script script(spec, "worker");
    script.SpawnUntold(kPs, 0, 1);
    script.Register(kWorker0);
    if (lost == Lost::kGivenUp) {
      script.Order(TaskAttemptEnded{.task = kWorker0,
                                    .container = script.ContainerOf(kWorker0),
                                    .exit_class = ExitClass::kHeartbeatLost});
    }
    if (lost == Lost::kGivenBack) script.GiveBack(kWorker0);
    script.Hear(kPs);
    EXPECT_EQ(script.CleanAt(1h), lost != Lost::kNo);
  }
}

// What has yet to find the next AM may have ended in time.
TEST(ReferenceVerdictTest, DeadlinesRunWaitsForAgentsToFindTheNextAm) {
  JobSpec spec = Spec({{"worker", 1}}, Strategy::kIndependent);
  spec.deadlines.run = 1min;
  for (const bool again : {false, true}) {
    Script script(spec);
    script.Store();
    script.At(65s);
    if (again) script.StartAm(2);
    EXPECT_EQ(script.CleanAt(5min), again);
    EXPECT_EQ(script.CleanAt(1h), !again);
  }
}

// A row that ignores such ends speaks of those that the AM has not ordered.
TEST(ReferenceVerdictTest, AnOrderedEndIsNoneThatARowIgnores) {
  JobSpec spec = Spec({{"ps", 1}, {"worker", 1}}, Strategy::kParameterServer);
  spec.retries.user = 1;
  spec.success = SuccessExpr{.op = SuccessOp::kDone, .task_type = "worker"};
  spec.on_exit = {{.task_type = "worker", .exits = {143}, .action = ExitAction::kIgnore}};
  for (const bool ordered : {false, true}) {
    Script script(spec);
    script.At(60s);
    script.Exit(kPs, 1);
    if (ordered) script.OrderStop(kWorker0);
    script.Exit(kWorker0, ProcessExit{.signal = 15, .stopped_by_agent = ordered});
    script.Restart(kPs, ExitClass::kUserPermanent, Budget::kUser, 2, {kPs, kWorker0});
    EXPECT_EQ(script.Clean(), ordered);
  }
}

TEST(ReferenceVerdictTest, DeadlinesRunWaitsForWhatIsHeldBackToFindTheNextAm) {
  JobSpec spec = Spec({{"ps", 1}, {"worker", 1}}, Strategy::kParameterServer);
  spec.depends = {{.task = "worker", .after = "ps", .state = DependencyState::kEnded}};
  spec.deadlines.run = 1s;
  for (const bool again : {false, true}) {
    Script script(spec, "worker");
    script.SpawnUntold(kPs, 0, 1);
    script.Register(kWorker0);
    script.At(12s);
    script.StartAm(2);
    if (again) script.Register(kWorker0);
    script.Hear(kPs);
    EXPECT_EQ(script.CleanAt(1h), !again);
  }
}

// It was given up, and stays so with its second word.
TEST(ReferenceVerdictTest, AnAgentThatIsBackTooLateIsNotHeardToRun) {
  JobSpec spec = Spec({{"chief", 1}, {"worker", 1}}, Strategy::kMultiWorker);
  spec.deadlines.run = 1s;
  for (const bool registers : {true, false}) {
    for (const bool late : {true, false}) {
      Script script(spec, "worker");
      script.Register(kWorker0);
      script.SpawnUntold(kWorker0, 0, 1);
      script.At(late ? 5min : 11s);
      if (registers) script.Hear(kWorker0);
      if (!registers) script.TellThatItRuns(kWorker0);
      if (!registers) script.TellThatItRuns(kWorker0);
      EXPECT_EQ(script.CleanAt(1h), late);
    }
  }
}

TEST(ReferenceVerdictTest, WhatWasNeverToldToStartBreaksNoPeer) {
  JobSpec spec = Spec({{"worker", 2}}, Strategy::kMultiWorker);
  spec.retries.user = 1;
  for (const bool ordered : {false, true}) {
    Script script(spec, "worker");
    script.Spawn(kWorker0, 0, 1);
    if (ordered) script.OrderStart(kWorker1, 0, 1);
    script.At(60s);
    script.Exit(kWorker0, 1);
    script.LoseContainer(kWorker1, -103);
    script.At(2min);
    script.Restart(kWorker0, ExitClass::kUserPermanent, Budget::kUser, 2, {kWorker0, kWorker1});
    EXPECT_EQ(script.Clean(), !ordered);
  }
}

// What had come to an end by then ran beside tasks that are gone.
TEST(ReferenceVerdictTest, NotAllRunWhereTheFirstEndSendsTheGangBack) {
  JobSpec spec = Spec({{"chief", 1}, {"worker", 1}}, Strategy::kIndependent);
  spec.retries.user = 1;
  spec.deadlines.run = 1s;
  for (const bool back : {true, false}) {
    Script script(spec, "worker");
    script.Register(kWorker0);
    script.SpawnUntold(kWorker0, 0, 1);
    script.At(11s);
    script.Exit(kWorker0, 1);
    if (back) script.Order(GangReleased{});
    script.Restart(kWorker0, ExitClass::kUserPermanent, Budget::kUser, 1, {kWorker0});
    EXPECT_THAT(script.model.TakeNew(), IsEmpty());
    EXPECT_EQ(script.CleanAt(1h), back);
  }
}

TEST(ReferenceVerdictTest, AnAmThatTheRmHasNotAnsweredTakesNoAgentIn) {
  JobSpec spec = Spec({{"chief", 1}, {"worker", 1}}, Strategy::kMultiWorker);
  spec.deadlines.run = 1s;
  for (const bool answered : {true, false}) {
    Script script(spec, "worker");
    script.SpawnUntold(kWorker0, 0, 1);
    script.At(20s);
    script.StartAm(2, answered);
    script.Hear(kWorker0);
    script.Hear(kChief);
    EXPECT_EQ(script.CleanAt(1h), !answered);
  }
}

TEST(ReferenceVerdictTest, AVictimMayNameWhoWasOrderedToStartAndNeverDid) {
  JobSpec spec = Spec({{"chief", 1}, {"worker", 1}}, Strategy::kMultiWorker);
  for (const bool ordered : {true, false}) {
    Script script(spec, "worker");
    if (ordered) script.OrderStart(kWorker0, 0, 1);
    script.At(60s);
    script.Exit(kChief, ProcessExit{.code = 1}, /*told=*/true,
                "unhealthy (stopped sending heartbeats):\n/job:worker/replica:0/task:0\n");
    script.Restart(kWorker0, ExitClass::kTimeout, Budget::kInfrastructure, 2, {kChief, kWorker0});
    EXPECT_EQ(script.Clean(), ordered);
  }
}

// News that was made before what the AM has heard already is no news.
TEST(ReferenceVerdictTest, AStandstillThatWasOvertakenIsNone) {
  JobSpec spec = TwoWorkers();
  spec.retries.user = 1;
  for (const bool overtaken : {true, false}) {
    Script script(spec);
    script.At(60s);
    script.Exit(kWorker1, 1);
    script.OrderStop(kWorker0);
    const auto tell = [&](std::uint32_t number, Standstill standstill) {
      script.Tell(AgentSaid{
          ProcessSigns{.fence = {.container = script.ContainerOf(kWorker0), .task = kWorker0},
                       .process = {.attempt = TaskAttempt(0), .epoch = Epoch(1)},
                       .standstill = standstill,
                       .number = number}});
    };
    if (overtaken) tell(2, Standstill::kNone);
    tell(1, Standstill::kStopped);
    if (!overtaken) tell(2, Standstill::kNone);
    script.Exit(kWorker0, ProcessExit{.signal = 15, .stopped_by_agent = true});
    script.Restart(kWorker1, ExitClass::kUserPermanent, Budget::kUser, 2, kBoth);
    EXPECT_EQ(script.Clean(), overtaken);
  }
}

// It was lost then, and the decision may not be stored before its agent comes.
TEST(ReferenceVerdictTest, AnAgentMayFindTheNextAmAfterItWasGivenUp) {
  JobSpec spec = Spec({{"worker", 1}}, Strategy::kIndependent);
  for (const bool late : {true, false}) {
    Script script(spec);
    script.At(60s);
    script.StartAm(2);
    script.At(60s + spec.deadlines.registration + (late ? 1s : -1s));
    script.Hear(kWorker0);
    script.At(60s + spec.deadlines.registration + 2s);
    script.Restart(kWorker0, ExitClass::kHeartbeatLost, Budget::kInfrastructure, 2, {kWorker0});
    EXPECT_EQ(script.Clean(), late);
  }
}

TEST(ReferenceVerdictTest, ANodeMayBeLostWhenItsContainerIsGivenBack) {
  for (const char* why :
       {"Container released on a *lost* node", "Container released by application"}) {
    for (const bool ordered : {false, true}) {
      Script script(WithPs());
      script.At(60s);
      script.Exit(kWorker0, 75);
      if (ordered) script.OrderStop(kWorker0);
      script.At(68s);
      script.GiveBack(kWorker0);
      script.LoseContainer(kWorker0, container_exit::kAborted, why);
      script.At(80s);
      script.Restart(kWorker0, ExitClass::kNodeLost, Budget::kInfrastructure, 2,
                     {kChief, kWorker0});
      EXPECT_EQ(script.Clean(), !ordered && std::string(why).find("lost") != std::string::npos)
          << why << ordered;
    }
  }
}

TEST(ReferenceVerdictTest, ARowMayIgnoreASilenceToo) {
  struct Case {
    std::vector<ExitClass> row;
    Duration silence;
    bool right;
  };
  for (const Case& one : {Case{{}, 60s, true}, Case{{ExitClass::kHeartbeatLost}, 60s, true},
                          Case{{ExitClass::kUserPermanent}, 60s, false},
                          // It runs, and its agent misses no beat: that it may hang is no end.
                          Case{{}, 1s, false}}) {
    JobSpec spec = Spec({{"worker", 2}}, Strategy::kIndependent);
    spec.on_exit = {{.classes = one.row, .action = ExitAction::kIgnore}};
    Script script(spec);
    script.At(60s);
    script.Say(trace::FaultBegan{.kind = "partition"});
    script.Hear(kWorker0);
    script.At(60s + one.silence);
    script.Exit(kWorker1, 0);
    script.Verdict(JobStatus::kSucceeded, "default/success");
    EXPECT_EQ(script.Clean(), one.right) << one.row.size() << " " << ToString(one.silence);
  }
}

TEST(ReferenceVerdictTest, AReplacedAmStoresUntilItsSuccessorReads) {
  JobSpec spec = Spec({{"worker", 1}}, Strategy::kIndependent);
  spec.finish.require_paths = {"model.bin"};
  for (const bool read : {false, true}) {
    Script script(spec);
    script.At(60s);
    script.Exit(kWorker0, ProcessExit{.code = 0}, /*told=*/false);
    script.StartAm(2);
    if (read) script.Tell(JournalRead{});
    script.Say(
        trace::AmTold{.job = kJob,
                      .am_attempt = 1,
                      .event = AgentSaid{ProcessEnded{
                          .fence = {.container = script.ContainerOf(kWorker0), .task = kWorker0},
                          .process = {.attempt = TaskAttempt(0), .epoch = Epoch(1)},
                          .exit = {.code = 0}}}});
    script.Verdict(JobStatus::kFailed, "finish/evidence-missing");
    EXPECT_EQ(script.Clean(), !read);
  }
}

TEST(ReferenceVerdictTest, WhatAnAmStoresThatTookTheJournalBackIsNotJudged) {
  JobSpec spec = Spec({{"worker", 1}}, Strategy::kIndependent);
  spec.finish.require_paths = {"model.bin"};
  for (const bool back : {false, true}) {
    Script script(spec);
    script.At(60s);
    script.StartAm(2);
    script.Tell(JournalRead{});
    if (back) {
      script.Say(trace::AmTold{
          .job = kJob, .am_attempt = 1, .event = JournalAppended{.seq = JournalSeq(4)}});
    }
    script.Verdict(JobStatus::kFailed, "finish/evidence-missing");
    EXPECT_EQ(script.Clean(), back);
  }
}

// Under tony a worker that is lost before it runs is counted, and the others run without it.
TEST(ReferenceVerdictTest, DeadlinesRunBeginsWithoutWhatHasEndedForGood) {
  JobSpec spec = Spec({{"worker", 2}, {"extra", 1}}, Strategy::kMultiWorker);
  spec.retries.user = 1;
  spec.deadlines.run = 60s;
  const TaskId extra{"extra", 0};
  const std::vector<TaskId> all = {kWorker0, kWorker1, extra};
  for (const char* policy : {"tony", "default"}) {
    spec.policy.name = policy;
    Script script(spec, "extra");
    script.Say(trace::ContainerGranted{.job = kJob, .container = script.ContainerOf(extra)});
    script.Tell(
        AgentSaid{RegisterAgent{.fence = {.container = script.ContainerOf(extra), .task = extra}}});
    script.At(11s);
    script.LoseContainer(extra, container_exit::kPreempted);
    script.At(20s);
    script.Exit(kWorker0, 1);
    script.Restart(kWorker0, ExitClass::kUserPermanent, Budget::kUser, 2, all);
    script.Assemble(2);
    script.Launch(extra, 9);
    script.At(30s);
    for (const TaskId& task : all) script.Spawn(task, 1, 2);
    static_cast<void>(script.model.TakeNew());
    script.At(75s);
    script.Verdict(JobStatus::kFailed, "deadlines/run");
    EXPECT_EQ(script.Clean(), std::string(policy) == "tony") << policy;
  }
}

// It was decided after what the AM before has stored and announced.
// What waits by `depends` counts once its agent has found this AM.
TEST(ReferenceVerdictTest, DeadlinesRunWaitsForWhatTheNextAmHasNotHeardOf) {
  JobSpec spec = Spec({{"worker", 2}, {"extra", 1}}, Strategy::kIndependent);
  spec.depends = {{.task = "extra", .after = "worker", .state = DependencyState::kEnded}};
  spec.deadlines.run = 100s;
  const TaskId extra{"extra", 0};
  for (const bool found : {true, false}) {
    Script script(spec);
    script.At(20s);
    script.StartAm(2);
    if (found) script.Register(extra);
    for (const TaskId& task : {kWorker0, kWorker1}) {
      script.Register(task);
      script.TellThatItRuns(task);
    }
    EXPECT_EQ(script.CleanAt(10min), !found);
  }
}

// Its node had killed it when the AM, which heard nothing of it, had it stopped.
TEST(ReferenceVerdictTest, YarnsOwnReasonIsNoOrderOfTheAm) {
  for (const std::int32_t status :
       {container_exit::kKilledExceededPmem, container_exit::kAborted}) {
    JobSpec spec = Spec({{"worker", 1}}, Strategy::kIndependent);
    spec.retries.user = 1;
    spec.on_exit = {{.classes = {ExitClass::kOom}, .action = ExitAction::kRestartTask}};
    Script script(spec);
    script.At(60s);
    script.GiveBack(kWorker0);
    script.LoseContainer(kWorker0, status);
    script.Restart(kWorker0, ExitClass::kOom, Budget::kUser, 2, {kWorker0});
    EXPECT_THAT(script.model.TakeNew(),
                testing::SizeIs(status == container_exit::kAborted ? 1 : 0));
  }
}

// Its successor takes over what it read, when the process that this started has already begun.
TEST(ReferenceVerdictTest, WhatAnAmThatIsReplacedTellsIsDecidedThen) {
  JobSpec spec = Spec({{"worker", 1}}, Strategy::kMultiWorker);
  spec.retries = {.user = 1};
  const RestartDecided decision{.paid = Budget::kUser,
                                .epoch = Epoch(2),
                                .cause = {.task = kWorker0, .exit = 1},
                                .tasks = {kWorker0}};
  Script script(spec);
  script.At(60s);
  script.Exit(kWorker0, 1);
  script.StartAm(2);
  script.ActAs(1);
  script.Order(decision);
  script.SpawnUntold(kWorker0, 1, 2);
  script.ActAs(2);
  script.Order(RestartTakenOver{.number = 1, .decided = decision});
  script.At(65s);
  script.Register(kWorker0);
  script.Exit(kWorker0, 1);
  script.Verdict(JobStatus::kFailed, "default/user-permanent-exhausted", kWorker0,
                 ExitClass::kUserPermanent, 1);
  EXPECT_THAT(script.model.TakeNew(), testing::IsEmpty());
}

// Its successor reads the verdict, and announces it before any agent has found it.
TEST(ReferenceVerdictTest, WhatAnAmDecidedAsItDiedRestsOnWhatItHadHeard) {
  JobSpec spec = TwoWorkers();
  spec.retries.user = 0;
  Script script(spec);
  script.At(60s);
  script.Exit(kWorker1, 1);
  script.At(85s);
  script.Order(AppendJournal{.seq = JournalSeq(99)});
  script.StartAm(2);
  script.At(86s);
  script.Order(VerdictReached{
      .status = JobStatus::kFailed,
      .cause = Cause{.task = kWorker1, .exit = 1, .exit_class = ExitClass::kUserPermanent},
      .rule = "default/user-permanent-exhausted"});
  EXPECT_THAT(script.model.TakeNew(), testing::IsEmpty());
}

TEST(ReferenceVerdictTest, WhatIsTakenOverWasPaidByTheAmBefore) {
  JobSpec spec = Spec({{"worker", 1}}, Strategy::kIndependent);
  spec.retries = {.infrastructure = 1, .window = 60s};
  for (const bool late : {false, true}) {
    Script script(spec);
    script.At(60s);
    if (!late) script.Store();
    script.At(100s);
    script.Exit(kWorker0, 143);
    script.At(120s);
    if (late) script.Store();
    script.At(130s);
    script.StartAm(2);
    script.Order(RestartTakenOver{
        .number = 1,
        .decided = {.paid = Budget::kInfrastructure,
                    .epoch = Epoch(1),
                    .cause = {.task = kWorker0, .exit_class = ExitClass::kKilledExternal},
                    .tasks = {kWorker0}}});
    script.Spawn(kWorker0, 1, 1);
    script.At(165s);
    script.Exit(kWorker0, 143);
    script.Restart(kWorker0, ExitClass::kKilledExternal, Budget::kInfrastructure, 1, {kWorker0});
    EXPECT_EQ(script.Clean(), !late);
  }
}

// A row lets a hang be: what failed is decided on at once, and the next AM announces it.
TEST(ReferenceVerdictTest, AnEarlierAmMayHaveHeardWhoStandsStill) {
  JobSpec spec = TwoWorkers();
  spec.on_exit = {{.classes = {ExitClass::kTimeout}, .action = ExitAction::kIgnore}};
  for (const bool told : {true, false}) {
    Script script(spec);
    script.At(60s);
    if (told) script.StandStill(kWorker0);
    script.Exit(kWorker1, 1);
    script.Order(AppendJournal{.seq = JournalSeq(1)});
    script.At(62s);
    script.StartAm(2);
    script.Order(VerdictReached{
        .status = JobStatus::kFailed,
        .cause = Cause{.task = kWorker1, .exit = 1, .exit_class = ExitClass::kUserPermanent},
        .rule = "default/user-permanent-exhausted"});
    EXPECT_EQ(script.Clean(), told);
  }
}

// The agent's report of that end never comes, and its word is better than the container's status.
TEST(ReferenceVerdictTest, AFailureThatCameWithARegistrationCountsWithItsContainersEnd) {
  JobSpec spec = Spec({{"worker", 1}, {"evaluator", 1}}, Strategy::kIndependent);
  spec.on_exit = {{.task_type = "evaluator", .exits = {1}, .action = ExitAction::kIgnore}};
  const TaskId evaluator{"evaluator", 0};
  for (const bool told : {true, false}) {
    Script script(spec);
    script.At(60s);
    script.Exit(evaluator, ProcessExit{.code = 1}, /*told=*/false);
    script.StartAm(2);
    told ? script.RegisterEnded(evaluator, 1) : script.Register(evaluator);
    script.LoseContainer(evaluator, agent_exit::kRefused);
    EXPECT_EQ(script.CleanAt(10min), told);
  }
}

// All but the one that had to be killed had ended by themselves, as far as the AM has heard.
TEST(ReferenceVerdictTest, AFailureThatCameWithARegistrationShowsWhichPeerHangs) {
  for (const bool told : {true, false}) {
    Script script(ThreeWorkers());
    script.At(60s);
    script.Exit(kWorker0, ProcessExit{.code = 1}, /*told=*/false);
    if (told) script.RegisterEnded(kWorker0, 1);
    script.Exit(kWorker2, 1);
    script.OrderStop(kWorker1);
    script.Kill(kWorker1);
    script.At(80s);
    script.Restart(kWorker1, ExitClass::kTimeout, Budget::kInfrastructure, 2, kAllThree);
    EXPECT_EQ(script.Clean(), told);
  }
}

TEST(ReferenceVerdictTest, WhatTakesAContainerWhoseProcessHasEndedOnOrderIsNoCause) {
  for (const bool ordered : {true, false}) {
    Script script(TwoWorkers());
    script.At(60s);
    script.Exit(kWorker0, 126);
    if (ordered) script.OrderStop(kWorker1);
    script.Exit(kWorker1, ProcessExit{.signal = 15}, /*told=*/false);
    script.RegisterEnded(kWorker1, 143);
    script.At(65s);
    script.LoseContainer(kWorker1, container_exit::kPreempted);
    script.Verdict(JobStatus::kFailed, "default/user-permanent-exhausted", kWorker0,
                   ExitClass::kUserPermanent, 126);
    EXPECT_EQ(script.Clean(), ordered);
  }
}

// It is not stored, and the agent may be gone before the next AM hears it, too.
TEST(ReferenceVerdictTest, ANextAmDoesNotKnowWhatCameWithARegistration) {
  for (const bool next : {true, false}) {
    Script script(TwoWorkers());
    script.At(60s);
    script.Exit(kWorker0, 126);
    script.OrderStop(kWorker1);
    script.Exit(kWorker1, ProcessExit{.signal = 15}, /*told=*/false);
    script.RegisterEnded(kWorker1, ProcessExit{.signal = 15, .stopped_by_agent = true});
    script.At(65s);
    if (next) script.StartAm(2);
    script.LoseContainer(kWorker1, container_exit::kPreempted);
    script.Restart(kWorker1, ExitClass::kPreempted, Budget::kInfrastructure, 2,
                   {kWorker0, kWorker1});
    EXPECT_EQ(script.Clean(), next);
  }
}

// An attempt that ran in it before had ended on order; the next one runs in it when it is taken.
TEST(ReferenceVerdictTest, WhatTakesAContainerInWhichAnotherProcessRunsIsACause) {
  for (const bool runs : {true, false}) {
    JobSpec spec = Spec({{"worker", 1}}, Strategy::kIndependent);
    Script script(spec);
    script.At(60s);
    script.OrderStop(kWorker0);
    script.Exit(kWorker0, ProcessExit{.code = 1}, /*told=*/false);
    script.RegisterEnded(kWorker0, 1);
    if (runs) script.Spawn(kWorker0, 1, 1);
    script.At(65s);
    script.LoseContainer(kWorker0, container_exit::kPreempted);
    script.Restart(kWorker0, ExitClass::kPreempted, Budget::kInfrastructure, 2, {kWorker0});
    EXPECT_EQ(script.Clean(), runs);
  }
}

TEST(ReferenceVerdictTest, AFailureThatCameWithARegistrationMayJoinARestart) {
  JobSpec spec = WithPs();
  spec.retries.user = 1;
  spec.on_exit = {{.exits = {75}, .action = ExitAction::kRestartGang}};
  for (const bool told : {true, false}) {
    Script script(spec);
    script.At(60s);
    script.Exit(kWorker0, 1);
    script.Exit(kWorker1, ProcessExit{.code = 75}, /*told=*/false);
    told ? script.RegisterEnded(kWorker1, 75) : script.Register(kWorker1);
    script.Restart(kWorker0, ExitClass::kUserPermanent, Budget::kUser, 2,
                   {kChief, kPs, kWorker0, kWorker1});
    EXPECT_EQ(script.Clean(), told);
  }
}

TEST(ReferenceVerdictTest, AFailureThatCameWithARegistrationCountsOnceItsAgentIsSilent) {
  JobSpec spec = Spec({{"worker", 1}}, Strategy::kIndependent);
  spec.retries.user = 1;
  for (const bool silent : {true, false}) {
    Script script(spec);
    script.Say(trace::FaultBegan{.kind = "node_crash"});
    script.At(60s);
    script.Exit(kWorker0, ProcessExit{.code = 1}, /*told=*/false);
    script.RegisterEnded(kWorker0, 1);
    script.At(silent ? 90s : 61s);
    script.Restart(kWorker0, ExitClass::kUserPermanent, Budget::kUser, 1, {kWorker0});
    EXPECT_EQ(script.Clean(), silent);
  }
}

TEST(ReferenceVerdictTest, WhatAnEarlierAmLaunchedAndNeverRanMayBeWantedAgain) {
  JobSpec spec = Spec({{"worker", 1}, {"evaluator", 1}}, Strategy::kIndependent);
  const TaskId evaluator{"evaluator", 0};
  for (const bool handed_over : {true, false}) {
    for (const bool given_back : {true, false}) {
      Script script(spec, "evaluator");
      script.At(60s);
      const ContainerId container = script.ContainerOf(evaluator);
      script.Say(trace::ContainerFreed{
          .job = kJob, .container = container, .exit_status = agent_exit::kAmLost});
      script.StartAm(2, /*answered=*/false);
      yarn::RegisterApplicationMasterResponse taken;
      if (handed_over) taken.containers_from_previous_attempts = {{.id = container}};
      script.Tell(RmReplied{.response = taken});
      if (given_back) script.GiveBack(evaluator);
      script.LoseContainer(evaluator, agent_exit::kAmLost);
      EXPECT_EQ(script.CleanAt(10min), given_back || !handed_over);
    }
  }
}

TEST(ReferenceVerdictTest, WhatTheRmDoesNotListAnyMoreNeedsNoAnswer) {
  JobSpec spec = Spec({{"worker", 1}, {"evaluator", 1}}, Strategy::kIndependent);
  const TaskId evaluator{"evaluator", 0};
  for (const bool listed : {true, false}) {
    Script script(spec, "evaluator");
    script.At(60s);
    script.StartAm(2);
    yarn::RegisterApplicationMasterResponse taken;
    if (listed) taken.containers_from_previous_attempts = {{.id = script.ContainerOf(evaluator)}};
    script.Tell(RmReplied{.response = taken});
    script.LoseContainer(evaluator, container_exit::kPreempted);
    EXPECT_EQ(script.CleanAt(10min), !listed);
  }
}

TEST(ReferenceVerdictTest, WhatIsGivenBackUnheardNeverRan) {
  JobSpec spec = TwoWorkers();
  spec.deadlines.run = 1s;
  for (const bool given_back : {true, false}) {
    Script script(spec, "worker");
    script.Spawn(kWorker0, 0, 1);
    script.SpawnUntold(kWorker1, 0, 1);
    if (given_back) script.GiveBack(kWorker1);
    script.Hear(kWorker1);
    EXPECT_EQ(script.CleanAt(1h), given_back);
  }
}

TEST(ReferenceVerdictTest, AGoodEndThatFailsTheJobIsNoPartOfItsSuccess) {
  JobSpec spec = Spec({{"worker", 2}}, Strategy::kIndependent);
  spec.success =
      SuccessExpr{.op = SuccessOp::kFailedBelow, .task_type = "tracked", .index = {}, .number = 2};
  for (const bool fails : {true, false}) {
    spec.on_exit.clear();
    if (fails) spec.on_exit = {{.task_type = "worker", .exits = {0}, .action = ExitAction::kFail}};
    Script script(spec);
    script.At(60s);
    script.Exit(kWorker0, 0);
    script.Exit(kWorker1, 0);
    script.Verdict(JobStatus::kFailed, fails ? "on_exit/0" : "default/tracked-ended", kWorker0,
                   ExitClass::kOk, 0);
    EXPECT_EQ(script.Clean(), fails);
  }
}

TEST(ReferenceVerdictTest, UnderTfjobOtherTypesAreNoSuccessWithoutAWorkers) {
  JobSpec spec = Spec({{"worker", 1}, {"prepare", 1}}, Strategy::kIndependent);
  spec.policy.name = "tfjob";
  spec.on_exit = {{.action = ExitAction::kIgnore}};
  for (const std::int32_t code : {1, 0}) {
    Script script(spec);
    script.At(60s);
    script.Exit({"prepare", 0}, 0);
    script.Exit(kWorker0, code);
    script.Verdict(JobStatus::kFailed, "tfjob/nothing-left");
    EXPECT_EQ(script.Clean(), code == 1);
  }
}

// HDFS keeps the AM waiting with what it has decided long before.
TEST(ReferenceVerdictTest, AHangCountsFromWhenItWasDecidedOn) {
  struct Case {
    Duration ends, stored;
    bool right;
  };
  for (const Case& one :
       {Case{90s, 111s, true}, Case{90s, 1000s, true}, Case{980s, 1000s, false}}) {
    JobSpec spec = TwoWorkers();
    spec.retries = {.infrastructure = 2, .window = 5s};
    spec.watch = WatchSpec{.stalled = 5min};
    Script script(spec);
    const auto start_again = [&](std::uint32_t attempt) {
      script.Assemble(attempt + 1);
      for (const TaskId& task : kBoth) script.Spawn(task, attempt, attempt + 1);
    };
    script.At(40s);
    script.Exit(kWorker1, 1);
    script.At(60s);
    script.Restart(kWorker0, ExitClass::kTimeout, Budget::kInfrastructure, 2, kBoth);
    start_again(1);
    script.At(one.ends);
    script.Exit(kWorker1, 1);
    script.At(one.ends + 15s);
    script.Order(AppendJournal{.seq = JournalSeq(9)});
    script.At(one.stored);
    script.Tell(JournalAppended{.seq = JournalSeq(9)});
    script.Order(RestartDecided{.unit = RestartUnit::kGang,
                                .paid = Budget::kInfrastructure,
                                .epoch = Epoch(3),
                                .cause = {.task = kWorker0, .exit_class = ExitClass::kTimeout},
                                .tasks = kBoth});
    start_again(2);
    script.At(one.stored + 30s);
    script.Exit(kWorker1, 1);
    script.At(one.stored + 50s);
    script.Verdict(JobStatus::kFailed, "default/timeout-exhausted", kWorker0, ExitClass::kTimeout);
    EXPECT_EQ(script.Clean(), one.right) << ToString(one.ends) << " " << ToString(one.stored);
  }
}

// The restart for a ps, which has the worker's earlier end for its cause, was decided before.
TEST(ReferenceVerdictTest, ALaunchLostAfterARestartWasDecidedIsPaid) {
  for (const bool after : {true, false}) {
    Script script(Spec({{"ps", 1}, {"worker", 1}}, Strategy::kParameterServer));
    script.At(60s);
    script.LoseContainer(kWorker0, container_exit::kDisksFailed);
    script.Restart(kWorker0, ExitClass::kNodeBad, Budget::kInfrastructure, 2, {kWorker0});
    script.Launch(kWorker0, 9);
    const auto lose = [&] {
      script.LoseContainer(kWorker0, container_exit::kAborted,
                           "Container released on a *lost* node");
    };
    script.At(61s);
    if (!after) lose();
    script.At(62s);
    script.Exit(kPs, ProcessExit{.signal = 15});
    script.Order(AppendJournal{.seq = JournalSeq(9)});
    script.At(63s);
    if (after) lose();
    script.Tell(JournalAppended{.seq = JournalSeq(9)});
    script.Order(RestartDecided{.unit = RestartUnit::kGang,
                                .paid = Budget::kNone,
                                .epoch = Epoch(2),
                                .cause = {.task = kWorker0,
                                          .exit = container_exit::kDisksFailed,
                                          .exit_class = ExitClass::kNodeBad,
                                          .at = Instant{} + 60s},
                                .tasks = {kPs, kWorker0}});
    script.Restart(kWorker0, ExitClass::kNodeLost, Budget::kInfrastructure, 2, {kWorker0});
    EXPECT_EQ(script.Clean(), after);
  }
}

// ---------------------------------------------------------------- slider-tf

JobSpec Slider(std::map<std::string, std::string> options) {
  JobSpec spec = Spec({{"worker", 2}}, Strategy::kIndependent);
  spec.policy = {.name = "slider-tf", .options = std::move(options)};
  return spec;
}

TEST(ReferenceVerdictTest, SliderStartsAProcessAgainInItsContainerBeforeItReplacesThat) {
  for (const std::int32_t in_place : {0, 1, 2}) {
    for (const bool replaced : {true, false}) {
      Script script(Slider({{"restarts_in_container", std::to_string(in_place)}}));
      script.At(60s);
      script.Exit(kWorker1, 1);
      if (in_place > 0) {
        script.Restart(kWorker1, ExitClass::kUserPermanent, Budget::kNone, 1, {kWorker1});
        script.Spawn(kWorker1, 1, 1);
        script.At(10min);
        script.Exit(kWorker1, 1);
      }
      const bool spent = in_place < 2;
      script.Restart(kWorker1, ExitClass::kUserPermanent, replaced ? Budget::kUser : Budget::kNone,
                     replaced ? 2 : 1, {kWorker1});
      EXPECT_EQ(script.Clean(), replaced == spent) << in_place << " " << replaced;
    }
  }
}

TEST(ReferenceVerdictTest, SliderCountsAnewInTheNextContainer) {
  for (const bool next : {true, false}) {
    Script script(Slider({{"restarts_in_container.worker", "1"}}));
    script.At(60s);
    script.Exit(kWorker1, 1);
    script.Restart(kWorker1, ExitClass::kUserPermanent, Budget::kNone, 1, {kWorker1});
    script.Spawn(kWorker1, 1, 1);
    script.At(10min);
    script.Exit(kWorker1, 1);
    script.Restart(kWorker1, ExitClass::kUserPermanent, Budget::kUser, 2, {kWorker1});
    if (next) script.Launch(kWorker1, 9);
    script.Assemble(2);
    script.Spawn(kWorker1, 2, 2);
    ASSERT_TRUE(script.Clean());
    script.At(20min);
    script.Exit(kWorker1, 1);
    script.Restart(kWorker1, ExitClass::kUserPermanent, Budget::kNone, 2, {kWorker1});
    EXPECT_EQ(script.Clean(), next);
  }
}

// `watch` pays for its restart, which is one more in the container.
TEST(ReferenceVerdictTest, SliderCountsARestartInItsContainerThatWasPaidFor) {
  JobSpec spec = Slider({{"restarts_in_container", "1"}});
  spec.retries.user = 2;
  spec.watch = WatchSpec{.progress = "(\\d+)",
                         .progress_file = {},
                         .stalled = 30s,
                         .action = ExitAction::kRestartTask};
  for (const bool counted : {true, false}) {
    Script script(spec);
    script.At(60s);
    script.Stall(kWorker1);
    script.Restart(kWorker1, ExitClass::kTimeout, Budget::kUser, 1, {kWorker1});
    script.Spawn(kWorker1, 1, 1);
    ASSERT_TRUE(script.Clean());
    script.At(10min);
    script.Exit(kWorker1, 1);
    script.Restart(kWorker1, ExitClass::kUserPermanent, counted ? Budget::kUser : Budget::kNone,
                   counted ? 2 : 1, {kWorker1});
    EXPECT_EQ(script.Clean(), counted);
  }
}

TEST(ReferenceVerdictTest, SlidersThresholdIsOfATaskTypeAndOfSixHours) {
  const TaskId reader{"reader", 0};
  for (const auto& [other, after, fails] : {std::tuple{kWorker0, Duration(5h), true},
                                            {kWorker0, Duration(7h), false},
                                            {reader, Duration(5h), false}}) {
    JobSpec spec = Slider({{"container_failure_threshold", "1"}});
    spec.tasks.push_back({.name = "reader", .instances = 1, .resource = {.memory_mb = 1024}});
    for (const bool restarts : {true, false}) {
      Script script(spec);
      script.At(60s);
      script.LoseContainer(kWorker1, container_exit::kAborted);
      script.Restart(kWorker1, ExitClass::kNodeLost, Budget::kUser, 2, {kWorker1});
      script.Launch(kWorker1, 9);
      script.Assemble(2);
      script.Spawn(kWorker1, 1, 2);
      ASSERT_TRUE(script.Clean());
      script.At(after);
      script.LoseContainer(other, container_exit::kAborted);
      if (restarts) {
        script.Restart(other, ExitClass::kNodeLost, Budget::kUser, 3, {other});
      } else {
        script.Verdict(JobStatus::kFailed, "slider-tf/component-failed", other,
                       ExitClass::kNodeLost, container_exit::kAborted);
      }
      EXPECT_EQ(script.Clean(), restarts != fails) << ToString(other) << " " << restarts;
    }
  }
}

TEST(ReferenceVerdictTest, SlidersJobSucceedsWhenAllWorkersHaveFinished) {
  for (const bool all : {true, false}) {
    Script script(Slider({}));
    script.Exit(kWorker0, 0);
    if (all) script.Exit(kWorker1, 0);
    script.Verdict(JobStatus::kSucceeded, "slider-tf/workers-finished");
    EXPECT_EQ(script.Clean(), all);
  }
  for (const std::int32_t code : {3, 0}) {
    JobSpec spec = Slider({});
    spec.on_exit = {{.exits = {3}, .action = ExitAction::kTally}};
    Script script(spec);
    script.Exit(kWorker0, 0);
    script.Exit(kWorker1, code);
    script.Verdict(JobStatus::kFailed, "slider-tf/nothing-left");
    EXPECT_EQ(script.Clean(), code == 3);
  }
}

// ---------------------------------------------------------------- framework-launcher

JobSpec Launcher(std::map<std::string, std::string> options) {
  JobSpec spec = Spec({{"worker", 3}, {"ps", 1}, {"tensorboard", 1}}, Strategy::kIndependent);
  spec.policy = {.name = "framework-launcher", .options = std::move(options)};
  return spec;
}

TEST(ReferenceVerdictTest, TheLaunchersRetriesAreOfEachTask) {
  for (const TaskId& second : kBoth) {
    Script script(Launcher({{"max_retry_count", "1"}}));
    script.At(60s);
    script.Exit(kWorker1, 1);
    script.Restart(kWorker1, ExitClass::kUserPermanent, Budget::kUser, 1, {kWorker1});
    script.Spawn(kWorker1, 1, 1);
    ASSERT_TRUE(script.Clean());
    script.At(10min);
    script.Exit(second, 1);
    script.Restart(second, ExitClass::kUserPermanent, Budget::kUser, 1, {second});
    EXPECT_EQ(script.Clean(), second == kWorker0);
  }
}

TEST(ReferenceVerdictTest, TheLauncherRetriesWhatItsFancyPolicyCallsTransient) {
  struct Case {
    std::int32_t exit;
    ExitClass cls;
    const char* fancy;
    std::optional<Budget> paid;  ///< nullopt: it is not retried.
  };
  for (const Case& each : {Case{154, ExitClass::kUserRetryable, "true", Budget::kNone},
                           {75, ExitClass::kUserRetryable, "true", Budget::kUser},
                           {154, ExitClass::kUserRetryable, "false", Budget::kUser},
                           {137, ExitClass::kKilledExternal, "true", Budget::kNone},
                           {137, ExitClass::kKilledExternal, "false", Budget::kUser},
                           {139, ExitClass::kSignalCrash, "true", {}},
                           {134, ExitClass::kSignalCrash, "true", Budget::kUser},
                           {194, ExitClass::kUnknown, "true", {}},
                           {139, ExitClass::kSignalCrash, "false", Budget::kUser}}) {
    for (const Budget paid : {Budget::kNone, Budget::kUser}) {
      Script script(Launcher({{"max_retry_count", "1"}, {"fancy_retry_policy", each.fancy}}));
      script.At(60s);
      script.Exit(kWorker1, each.exit);
      script.Restart(kWorker1, each.cls, paid, 1, {kWorker1}, each.exit);
      EXPECT_EQ(script.Clean(), each.paid == paid) << each.exit << " " << each.fancy;
    }
  }
}

TEST(ReferenceVerdictTest, TheLauncherRetriesASuccessWhereItIsToldTo) {
  for (const char* retries : {"always", "unlimited"}) {
    Script script(Launcher({{"max_retry_count", retries}}));
    script.At(60s);
    script.Exit(kWorker1, 0);
    script.Restart(kWorker1, ExitClass::kOk, Budget::kUser, 1, {kWorker1});
    EXPECT_EQ(script.Clean(), std::string(retries) == "always");
  }
}

TEST(ReferenceVerdictTest, TheLauncherCountsTheFailedTasksOfEachRole) {
  const TaskId board{"tensorboard", 0};
  struct Case {
    std::string least;
    std::vector<TaskId> failed;
    bool fails;
  };
  for (const Case& each : {Case{"1", {kPs}, true},
                           {"1", {board}, false},
                           {"2", {kWorker0}, false},
                           {"2", {kWorker0, kPs}, false},
                           {"2", {kWorker0, kWorker1}, true},
                           {"none", {kWorker0, kWorker1}, false}}) {
    Script script(Launcher({{"min_failed_task_count", each.least}}));
    script.At(60s);
    for (const TaskId& task : each.failed) script.Exit(task, 1);
    script.Verdict(JobStatus::kFailed, "framework-launcher/too-many-failed");
    EXPECT_EQ(script.Clean(), each.fails) << each.least << " " << each.failed.size();
  }
}

TEST(ReferenceVerdictTest, TheLauncherCountsTheSucceededTasksOfEachRole) {
  for (const char* least : {"1", "2"}) {
    Script script(Launcher({{"min_succeeded_task_count.worker", least}}));
    script.At(60s);
    script.Exit(kWorker0, 0);
    script.Verdict(JobStatus::kSucceeded, "framework-launcher/enough-succeeded");
    EXPECT_EQ(script.Clean(), std::string(least) == "1");
  }
  for (const bool all : {true, false}) {
    Script script(Launcher({}));
    script.At(60s);
    script.Exit(kWorker0, 0);
    script.Exit(kWorker1, 0);
    if (all) script.Exit(kWorker2, 0);
    script.Verdict(JobStatus::kSucceeded, "framework-launcher/all-completed");
    EXPECT_EQ(script.Clean(), all);
  }
}

TEST(ReferenceVerdictTest, TheLauncherLooksAtFailuresFirst) {
  for (const char* least : {"1", "2"}) {
    Script script(Launcher({{"min_failed_task_count", least}}));
    script.At(60s);
    script.Exit(kWorker0, 0);
    script.Exit(kWorker1, 1);
    script.Exit(kWorker2, 0);
    script.Verdict(JobStatus::kSucceeded, "framework-launcher/all-completed");
    EXPECT_EQ(script.Clean(), std::string(least) == "2");
    Script late(Launcher({{"min_failed_task_count", least}}));
    late.At(60s);
    late.Exit(kWorker1, 1);
    EXPECT_EQ(late.CleanAt(10min), std::string(least) == "2");
  }
}

// The gang waits for room, and the RM, which has started again, tells of it.
TEST(ReferenceVerdictTest, AContainerThatIsGivenBackBeforeAProcessRanInItEndsNoTask) {
  for (const bool given_back : {true, false}) {
    Script script(Launcher({{"max_retry_count", "unlimited"}}), "worker");
    script.At(60s);
    if (given_back) script.Release(kWorker1);
    script.LoseContainer(kWorker1, container_exit::kAborted);
    EXPECT_EQ(script.CleanAt(10min), given_back);
  }
}

TEST(ReferenceVerdictTest, WhatIsToBeRetriedHasNotFailed) {
  for (const std::int32_t code : {154, 75}) {
    Script script(Launcher({{"fancy_retry_policy", "true"}}));
    script.At(60s);
    script.Exit(kWorker1, code);
    script.Verdict(JobStatus::kFailed, "framework-launcher/too-many-failed");
    EXPECT_EQ(script.Clean(), code == 75);
  }
}

// ---------------------------------------------------------------- hbox

JobSpec Hbox(Strategy strategy, std::map<std::string, std::string> options = {}) {
  JobSpec spec = Spec({{"worker", 4}, {"evaluator", 1}}, strategy);
  spec.policy = {.name = "hbox", .options = std::move(options)};
  return spec;
}

TEST(ReferenceVerdictTest, HboxFailsADistributedJobAtTheFirstFailedContainer) {
  const TaskId evaluator{"evaluator", 0};
  for (const TaskId& task : {kWorker1, evaluator}) {
    Script script(Hbox(Strategy::kMultiWorker));
    script.At(60s);
    script.Exit(task, 137);
    script.Verdict(JobStatus::kFailed, "hbox/container-failed", task, ExitClass::kKilledExternal,
                   137);
    EXPECT_EQ(script.Clean(), task == kWorker1);
  }
  Script silent(Hbox(Strategy::kMultiWorker));
  silent.At(60s);
  silent.Exit(kWorker1, 137);
  EXPECT_FALSE(silent.CleanAt(10min));
  Script again(Hbox(Strategy::kMultiWorker));
  again.At(60s);
  again.Exit(kWorker1, 137);
  again.Restart(kWorker1, ExitClass::kKilledExternal, Budget::kUser, 1, {kWorker1});
  EXPECT_FALSE(again.Clean());
}

TEST(ReferenceVerdictTest, HboxJudgesByTheShareOfFailedTasksElsewhere) {
  const TaskId kWorker3{"worker", 3};
  struct Case {
    const char* percent;
    std::vector<TaskId> failed, ok;
    Framework framework;
    std::optional<JobStatus> status;  ///< nullopt: it goes on.
  };
  constexpr Framework kAlone = Framework::kGeneric;
  for (const Case& each :
       {Case{"50", {kWorker0}, {}, kAlone, {}},
        {"50", {kWorker0, kWorker1}, {}, kAlone, JobStatus::kFailed},
        {"51", {kWorker0, kWorker1}, {}, kAlone, JobStatus::kSucceeded},
        {"50", {kWorker0}, {kWorker1, kWorker2, kWorker3}, kAlone, JobStatus::kSucceeded},
        {"25", {kWorker0}, {kWorker1, kWorker2, kWorker3}, kAlone, JobStatus::kFailed},
        {"50", {kWorker0}, {}, Framework::kHorovod, JobStatus::kSucceeded},
        {"25", {kWorker0}, {}, Framework::kHorovod, JobStatus::kFailed}}) {
    for (const JobStatus status : {JobStatus::kSucceeded, JobStatus::kFailed}) {
      const bool horovod = each.framework == Framework::kHorovod;
      JobSpec spec = Hbox(horovod ? Strategy::kMultiWorker : Strategy::kIndependent,
                          {{"max_failures_percent", each.percent}});
      spec.framework = each.framework;
      Script script(spec);
      script.At(60s);
      for (const TaskId& task : each.failed) script.Exit(task, 1);
      for (const TaskId& task : each.ok) script.Exit(task, 0);
      script.Verdict(status, status == JobStatus::kFailed ? "hbox/many-failed" : "hbox/few-failed");
      EXPECT_EQ(script.Clean(), each.status == status)
          << each.percent << " " << each.failed.size() << " " << KebabName(status);
    }
  }
}

TEST(ReferenceVerdictTest, HboxNeedsEveryTrackedTaskOfADistributedJob) {
  Script late(Hbox(Strategy::kIndependent));
  late.At(60s);
  late.Exit(kWorker0, 1);
  EXPECT_TRUE(late.CleanAt(10min));
  late.Exit(kWorker1, 1);
  EXPECT_FALSE(late.CleanAt(20min));
  for (const bool all : {true, false}) {
    Script script(Hbox(Strategy::kMultiWorker));
    script.At(60s);
    for (const TaskId& task : kAllThree) script.Exit(task, 0);
    if (all) script.Exit({"worker", 3}, 0);
    script.Verdict(JobStatus::kSucceeded, "hbox/all-ok");
    EXPECT_EQ(script.Clean(), all);
  }
}

}  // namespace
}  // namespace tfyarn::oracles::reference_verdict_test
