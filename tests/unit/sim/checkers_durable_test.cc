// durable-before-visible: what an AM orders rests on entries that HDFS has by then.
#include <gtest/gtest.h>

#include <utility>

#include "core/journal/journal.h"
#include "tests/unit/sim/checker_script.h"

namespace tfyarn::sim::checkers_durable_test {
namespace {

/// The job of CheckerScript with an AM that writes a journal.
class JournalScript : public CheckerScript {
 public:
  explicit JournalScript(JobSpec spec = Job())
      : CheckerScript(std::move(spec), {}, {"durable-before-visible"}) {
    Grant(1, "n1", 0, true);
    StartAm();
    Grant(2, "n1");
    Grant(3, "n2");
  }

  /// HDFS takes the entry.
  void Store(const journal::JournalEntry& entry) {
    seq_ = seq_.next();
    checkers.JournalStored(
        kJob, App(),
        journal::EncodeJournalFrame({.am_attempt = 1, .heard = {}}, seq_, entry, seq_.value == 1));
  }
  void StoreLaunches() {
    journal::AgentsLaunched entry;
    entry.agents = {{.task = kWorker0, .container = Container(2), .node = Node("n1")},
                    {.task = kWorker1, .container = Container(3), .node = Node("n2")}};
    Store(entry);
  }
  void StoreEpoch(const SpecRef& spec) {
    Store(journal::EpochBegan{.spec = *spec.get(), .processes = {{kWorker0, {}}, {kWorker1, {}}}});
  }
  void StoreRestart() {
    Store(journal::RestartPaid{
        .budget = Budget::kUser, .unit = RestartUnit::kTask, .tasks = {kWorker0}, .rule = "r"});
  }
  void Launch(std::int64_t container) {
    yarn::StartContainersRequest request;
    request.containers.push_back({.container = Container(container)});
    Order(CallNm{.call = CallId(3), .node = Node("n1"), .request = std::move(request)});
  }
  void OrderStart(std::int64_t container, const TaskId& task, const SpecRef& spec,
                  std::uint32_t attempt = 0) {
    Order(SendToAgent{
        .container = Container(container),
        .message = StartProcess{.fence = {.container = Container(container), .task = task},
                                .process = {.attempt = TaskAttempt(attempt), .epoch = Epoch(1)},
                                .spec = spec}});
  }
  void Acknowledge(std::int64_t container, const TaskId& task) {
    Order(SendToAgent{
        .container = Container(container),
        .message = ReportSeen{.fence = {.container = Container(container), .task = task},
                              .kind = ReportKind::kProcessEnded}});
  }
  void EndAgentIn(std::int64_t container) {
    Order(SendToAgent{.container = Container(container), .message = EndAgent{}});
  }
  /// Up to two processes that run.
  void Start() {
    StoreLaunches();
    Launch(2);
    Launch(3);
    StoreEpoch(Spec());
    OrderStart(2, kWorker0, Spec());
    OrderStart(3, kWorker1, Spec());
    Spawn(2, kWorker0, 1, Spec().id().value);
    Spawn(3, kWorker1, 1, Spec().id().value);
  }
  /// The process in that container ends, and the AM hears of it.
  void EndAndTell(std::int64_t container, const TaskId& task, std::int32_t code) {
    Exit(container, code);
    Tell(AgentSaid{.message =
                       ProcessEnded{.fence = {.container = Container(container), .task = task},
                                    .process = {.epoch = Epoch(1)},
                                    .exit = {.code = code}}});
  }
  static SpecRef Spec(std::int32_t port = 40001) {
    return Share({.epoch = Epoch(1), .tasks = {{"worker", {{"n1", port}, {"n2", 50001}}}}});
  }

 private:
  JournalSeq seq_;
};

const Names kBroken{"durable-before-visible"};

TEST(CheckersDurableTest, AnOrderAfterItsEntryBreaksNothing) {
  JournalScript script;
  script.Start();
  script.EndAndTell(2, kWorker0, 1);
  script.StoreRestart();
  script.Order(RestartDecided{.paid = Budget::kUser, .epoch = Epoch(1), .tasks = {kWorker0}});
  script.Acknowledge(2, kWorker0);
  script.Store(
      journal::ProcessesOrdered{.epoch = Epoch(1), .processes = {{kWorker0, TaskAttempt(1)}}});
  script.OrderStart(2, kWorker0, script.Spec(), 1);
  script.Store(journal::VerdictDecided{.status = JobStatus::kFailed, .rule = "r"});
  script.Order(VerdictReached{.status = JobStatus::kFailed, .rule = "deadlines/none"});
  for (const std::string& name : script.Broken()) EXPECT_NE(name, kBroken.front());
}

TEST(CheckersDurableTest, ALaunchThatHdfsDoesNotHaveBreaksIt) {
  JournalScript script;
  script.Launch(2);
  EXPECT_EQ(script.Broken(), kBroken);
}

TEST(CheckersDurableTest, AStartThatHdfsDoesNotHaveBreaksIt) {
  JournalScript script;
  script.StoreLaunches();
  script.Launch(2);
  script.OrderStart(2, kWorker0, script.Spec());
  EXPECT_EQ(script.Broken(), kBroken);
}

TEST(CheckersDurableTest, AnotherClusterSpecThanHdfsHasBreaksIt) {
  JournalScript script;
  script.StoreLaunches();
  script.StoreEpoch(script.Spec());
  script.OrderStart(2, kWorker0, script.Spec(40002));
  EXPECT_EQ(script.Broken(), kBroken);
}

/// What it breaks when a task beside the training is started with other addresses than were stored.
Names BrokenByEvaluator(const ClusterSpec& stored, ClusterSpec sent) {
  const TaskId evaluator{"evaluator", 0};
  JobSpec job = CheckerScript::Job();
  job.tasks.push_back({.name = "evaluator", .instances = 1, .resource = {.memory_mb = 1024}});
  JournalScript script(job);
  script.Grant(4, "n2");
  script.Store(journal::AgentsLaunched{
      .agents = {
          {.task = evaluator, .container = script.Container(4), .node = script.Node("n2")}}});
  script.Launch(4);
  script.Store(journal::EpochBegan{.spec = stored, .processes = {{evaluator, {}}}});
  script.OrderStart(4, evaluator, Share(std::move(sent)));
  return script.Broken();
}

TEST(CheckersDurableTest, OnlyATaskBesideTheTrainingMayHaveMovedSinceTheSpecWasStored) {
  const auto spec = [](std::int32_t worker, std::int32_t own) {
    return ClusterSpec{
        .epoch = Epoch(1),
        .tasks = {{"worker", {{"n1", worker}, {"n2", 50001}}}, {"evaluator", {{"n2", own}}}}};
  };
  EXPECT_EQ(BrokenByEvaluator(spec(40001, 60001), spec(40001, 60002)), Names{});
  EXPECT_EQ(BrokenByEvaluator(spec(40001, 60001), spec(40002, 60002)), kBroken);
}

TEST(CheckersDurableTest, ASpecHasTheTaskThatItWasStoredWithAndNoOther) {
  const ClusterSpec with{.epoch = Epoch(1),
                         .tasks = {{"worker", {{"n1", 40001}}}, {"evaluator", {{"n2", 60001}}}}};
  const ClusterSpec without{.epoch = Epoch(1), .tasks = {{"worker", {{"n1", 40001}}}}};
  EXPECT_EQ(BrokenByEvaluator(with, without), kBroken);
  EXPECT_EQ(BrokenByEvaluator(without, with), kBroken);
}

TEST(CheckersDurableTest, ASecondStartNeedsADecisionThatHdfsHas) {
  JournalScript script;
  script.Start();
  script.Store(
      journal::ProcessesOrdered{.epoch = Epoch(1), .processes = {{kWorker0, TaskAttempt(1)}}});
  script.OrderStart(2, kWorker0, script.Spec(), 0);  // The first one, said again.
  EXPECT_EQ(script.Broken(), Names{});
  script.OrderStart(2, kWorker0, script.Spec(), 1);
  EXPECT_EQ(script.Broken(), kBroken);
}

TEST(CheckersDurableTest, AnAnnouncedRestartThatHdfsDoesNotHaveBreaksIt) {
  JournalScript script;
  script.Start();
  script.Order(RestartDecided{.epoch = Epoch(1), .tasks = {kWorker0}});
  EXPECT_EQ(script.Broken(), kBroken);
}

TEST(CheckersDurableTest, AnEndThatIsForgottenBeforeItIsDecidedBreaksIt) {
  JournalScript script;
  script.Start();
  script.EndAndTell(2, kWorker0, 0);
  script.Acknowledge(2, kWorker0);
  EXPECT_EQ(script.Broken(), kBroken);
  script.Store(journal::TaskEnded{.task = kWorker0, .exit = 0, .exit_class = ExitClass::kOk});
  script.Acknowledge(2, kWorker0);
  EXPECT_EQ(script.Broken(), Names{});
}

TEST(CheckersDurableTest, AContainerMayBeGivenBackOnceTheEndOfItsProcessIsDecided) {
  JournalScript script;
  script.Start();
  script.EndAgentIn(3);  // Its process runs: no end to lose.
  EXPECT_EQ(script.Broken(), Names{});
  script.EndAndTell(2, kWorker0, 0);
  script.EndAgentIn(2);
  EXPECT_EQ(script.Broken(), kBroken);
  script.Store(journal::TaskEnded{.task = kWorker0, .exit = 0, .exit_class = ExitClass::kOk});
  script.EndAgentIn(2);
  EXPECT_EQ(script.Broken(), Names{});
}

TEST(CheckersDurableTest, AnAmEndsByItsOwnJournalWhenTheNextApplicationsActs) {
  JournalScript script;
  script.Start();
  script.EndAndTell(2, kWorker0, 0);
  script.Store(journal::VerdictDecided{.status = JobStatus::kFailed, .rule = "r"});
  script.Tell(AmStarted{.attempt = {.application = {.id = 2}, .attempt = 1}});
  script.EndAgentIn(2);
  EXPECT_EQ(script.Broken(), Names{});
}

TEST(CheckersDurableTest, AnAmThatWasReplacedStopsWhatTheNextOneUses) {
  for (const bool replaced : {true, false}) {
    JournalScript script;
    script.Start();
    script.Say(trace::AgentTold{.job = CheckerScript::kJob,
                                .container = CheckerScript::Container(2),
                                .event = ProcessSpawned{.attempt = TaskAttempt(0)}});
    if (replaced) script.Allocate({}, 2);
    script.Order(CallNm{.call = CallId(7),
                        .node = CheckerScript::Node("n1"),
                        .request = yarn::StopContainersRequest{{CheckerScript::Container(2)}}});
    EXPECT_EQ(script.Broken(), replaced ? Names{} : kBroken);
  }
}

TEST(CheckersDurableTest, AnAgentThatLeavesTakesItsContainerWithIt) {
  JournalScript script;
  script.Start();
  script.Exit(2, 143);
  script.Tell(AgentSaid{
      .message = ProcessEnded{.fence = {.container = CheckerScript::Container(2), .task = kWorker0},
                              .process = {.epoch = Epoch(1)},
                              .exit = {.code = 143},
                              .agent_leaves = true}});
  script.EndAgentIn(2);
  EXPECT_EQ(script.Broken(), Names{});
}

TEST(CheckersDurableTest, AVerdictThatHdfsDoesNotHaveBreaksIt) {
  JournalScript script;
  script.Start();
  script.Store(journal::VerdictDecided{.status = JobStatus::kFailed, .rule = "r"});
  script.Order(CallRm{.call = CallId(9),
                      .request = yarn::FinishApplicationMasterRequest{
                          .final_status = yarn::FinalApplicationStatus::kSucceeded}});
  const Names broken = script.Broken();
  EXPECT_EQ(std::count(broken.begin(), broken.end(), kBroken.front()), 1);
}

// An append that failed for the AM may be there all the same, and one that it believes in may not.
TEST(CheckersDurableTest, TheAmsOwnWordCountsForNothing) {
  JournalScript script;
  script.Order(AppendJournal{.seq = JournalSeq(1), .bytes = "?"});
  script.Tell(JournalAppended{.seq = JournalSeq(1)});
  script.Launch(2);
  EXPECT_EQ(script.Broken(), kBroken);
  script.StoreLaunches();
  script.Tell(JournalFailed{.seq = JournalSeq(1)});
  script.Launch(2);
  EXPECT_EQ(script.Broken(), Names{});
}

}  // namespace
}  // namespace tfyarn::sim::checkers_durable_test
