// Hbox's rules. Source: Qihoo360/hbox ApplicationMaster.java, ApplicationContainerListener.java,
// HboxConfiguration.java.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/core/policy/court.h"

namespace tfyarn::policy::policy_hbox_test {
namespace {

using enum ExitClass;
using Types = std::vector<std::pair<std::string, int>>;
using Options = std::map<std::string, std::string>;

JobSpec Hbox(const Types& types, Options options = {}) {
  return MakeJob("hbox", types, std::move(options));
}

JobSpec Single(const Types& types, Options options = {}) {
  JobSpec job = Hbox(types, std::move(options));
  job.strategy = Strategy::kIndependent;
  return job;
}

JobSpec Horovod(const Types& types, Options options = {}) {
  JobSpec job = Hbox(types, std::move(options));
  job.framework = Framework::kHorovod;
  return job;
}

const Types kAll = {{"chief", 1},     {"worker", 4},      {"ps", 1},
                    {"evaluator", 1}, {"tensorboard", 1}, {"mine", 1}};

/// Every class but ok, killed-by-us and the two of a gang that never was.
const std::vector<ExitClass> kFailures = {
    kUserPermanent, kUserRetryable, kOom,     kSignalCrash,  kKilledExternal,
    kPreempted,     kNodeLost,      kNodeBad, kPortConflict, kLaunchError,
    kHeartbeatLost, kTimeout,       kAmLost,  kUnknown};

/// What a row does with the ends of these classes.
void ExpectRow(const JobSpec& job, const std::string& task, const std::vector<ExitClass>& classes,
               const std::string& row, const std::string& action) {
  for (const ExitClass exit_class : classes) {
    Court court(job);
    const Decision decision = court.Hear({.task = task, .exit_class = exit_class, .exit = 1});
    const std::string what = task + " " + KebabName(exit_class);
    EXPECT_EQ(decision.rule, "hbox/" + row) << what;
    EXPECT_EQ(KebabName(decision.action), action) << what;
    EXPECT_EQ(KebabName(decision.pays), "none") << what;
    EXPECT_EQ(court.task_restarts() + court.gang_restarts(), 0) << what;
  }
}

TEST(PolicyHboxTest, RowsThatHoldForEveryTypeOfApplication) {
  for (const JobSpec& job : {Hbox(kAll), Single(kAll), Horovod(kAll)}) {
    for (const std::string task :
         {"chief:0", "worker:1", "ps:0", "evaluator:0", "tensorboard:0", "mine:0"}) {
      ExpectRow(job, task, {kOk}, "ended-ok", "tally");
      ExpectRow(job, task, {kKilledByUs}, "stopped-by-us", "tally");
      ExpectRow(job, task, {kGangTimeout, kInfeasible}, "no-gang", "fail");
    }
    ExpectRow(job, "tensorboard:0", kFailures, "sidecar", "ignore");
    ExpectRow(job, "evaluator:0", kFailures, "evaluator-failed", "ignore");
  }
}

TEST(PolicyHboxTest, TheTypeOfApplicationDecidesOnAFailedContainer) {
  JobSpec both = Horovod(kAll);
  both.strategy = Strategy::kIndependent;
  for (const std::string task : {"chief:0", "worker:1", "ps:0", "mine:0"}) {
    ExpectRow(Hbox(kAll), task, kFailures, "container-failed", "fail");
    ExpectRow(Single(kAll), task, kFailures, "counted-alone", "tally");
    ExpectRow(Horovod(kAll), task, kFailures, "counted-in-horovod", "tally");
    ExpectRow(both, task, kFailures, "counted-in-horovod", "tally");
  }
}

TEST(PolicyHboxTest, OneFailedContainerFailsADistributedJobAtOnce) {
  for (const Types& types : {kAll, Types{{"chief", 1}, {"worker", 4}}, Types{{"worker", 4}}}) {
    Court court(Hbox(types, {{"max_failures_percent", "100"}}));
    court.Hear(Exits("worker:3", 1));
    EXPECT_EQ(court.status(), "failed");
    EXPECT_EQ(court.rule(), "hbox/container-failed");
  }
}

TEST(PolicyHboxTest, NothingIsRetried) {
  for (JobSpec job : {Hbox({{"worker", 4}}), Single({{"worker", 4}}), Horovod({{"worker", 4}})}) {
    job.retries.user = 5;
    Court court(job);
    court.Hear({.task = "worker:1", .exit_class = kNodeLost, .exit = -100});
    court.Hear(Exits("worker:2", 75));
    EXPECT_EQ(court.task_restarts() + court.gang_restarts(), 0);
  }
}

TEST(PolicyHboxTest, ADistributedJobSucceedsWhenAllThatIsTrackedHas) {
  Court court(Hbox(kAll));
  court.Hear({Exits("chief:0", 0), Exits("mine:0", 0), Exits("ps:0", 0)});
  EXPECT_EQ(court.status(), "unfinished");
  court.Hear({Exits("evaluator:0", 1), Exits("tensorboard:0", 1)});
  EXPECT_EQ(court.status(), "unfinished") << "the failures of these do not count";
  for (const std::string task : {"worker:0", "worker:1", "worker:2"}) {
    court.Hear(Exits(task, 0));
    EXPECT_EQ(court.status(), "unfinished") << task;
  }
  court.Hear(Exits("worker:3", 0));
  EXPECT_EQ(court.status(), "succeeded");
  EXPECT_EQ(court.rule(), "hbox/all-ok");
}

TEST(PolicyHboxTest, PsAndEvaluatorsAreNotWaitedFor) {
  Court court(Hbox({{"worker", 1}, {"ps", 1}, {"evaluator", 1}}));
  court.Hear(Exits("worker:0", 0));
  EXPECT_EQ(court.rule(), "hbox/all-ok");
}

struct ShareCase {
  int tasks = 0;
  int failed = 0;
  std::string percent;
  std::string row;
};

/// The first `failed` of these workers fail.
std::vector<End> Ends(const ShareCase& c, bool failures) {
  std::vector<End> ends;
  for (int i = failures ? 0 : c.failed; i < (failures ? c.failed : c.tasks); ++i)
    ends.push_back(Exits("worker:" + std::to_string(i), failures ? 1 : 0));
  return ends;
}

Court SingleJob(const ShareCase& c) {
  return Court(Single({{"worker", c.tasks}}, {{"max_failures_percent", c.percent}}));
}

void ExpectVerdict(const Court& court, const std::string& row, const std::string& what) {
  const bool good = row == "all-ok" || row == "few-failed";
  EXPECT_EQ(court.rule(), "hbox/" + row) << what;
  EXPECT_EQ(court.status(), good ? "succeeded" : "failed") << what;
}

/// They fail nothing at once: what the AM stops, and what the job's own rows count.
std::vector<End> Tallied() {
  return {Exits("worker:1", 3), {.task = "worker:1", .exit_class = kKilledByUs, .exit = -105}};
}

JobSpec CountsThree(JobSpec job) {
  job.on_exit = {{.exits = {3}, .action = ExitAction::kTally}};
  return job;
}

TEST(PolicyHboxTest, OfADistributedJobOneFailedTaskInTheEndIsTooMany) {
  for (const std::string percent : {"0", "50", "100"}) {
    for (const End& end : Tallied()) {
      Court court(CountsThree(Hbox({{"worker", 3}}, {{"max_failures_percent", percent}})));
      court.Hear(end);
      EXPECT_EQ(court.status(), "unfinished") << percent;
      court.Hear(Exits("worker:0", 0));
      EXPECT_EQ(court.status(), "unfinished") << percent;
      court.Hear(Exits("worker:2", 0));
      ExpectVerdict(court, "many-failed", percent);
    }
  }
}

TEST(PolicyHboxTest, HalfOfTheTasksEndsADistributedJobToo) {
  for (const End& end : Tallied()) {
    Court court(CountsThree(Hbox({{"worker", 2}, {"ps", 1}}, {{"max_failures_percent", "100"}})));
    court.Hear(end);
    ExpectVerdict(court, "many-failed", KebabName(end.exit_class));
  }
}

TEST(PolicyHboxTest, ElsewhereWhatTheAmStopsIsInTheShare) {
  for (const JobSpec& job : {Single({{"worker", 3}}), Horovod({{"worker", 3}})}) {
    Court court(job);
    court.Hear({Exits("worker:0", 0), Exits("worker:2", 0)});
    court.Hear({.task = "worker:1", .exit_class = kKilledByUs, .exit = -105});
    ExpectVerdict(court, "few-failed", KebabName(job.framework));
  }
}

// In whatever order tasks fail and end well.
TEST(PolicyHboxTest, InSingleModeTheShareOfFailedTasksDecides) {
  const std::vector<ShareCase> cases = {
      {4, 0, "50", "all-ok"},
      {4, 0, "0", "all-ok"},
      {4, 1, "50", "few-failed"},
      {4, 2, "50", "many-failed"},
      {3, 1, "50", "few-failed"},
      {3, 2, "50", "many-failed"},
      {2, 1, "50", "many-failed"},
      {2, 1, "51", "few-failed"},
      {1, 1, "50", "many-failed"},
      {1, 1, "100", "many-failed"},
      {4, 1, "0", "many-failed"},
      {4, 1, "25", "many-failed"},
      {4, 1, "26", "few-failed"},
      {5, 2, "40", "many-failed"},
      {5, 2, "41", "few-failed"},
      {4, 2, "100", "few-failed"},
      // The half that ends training is all that is in the share.
      {4, 3, "51", "few-failed"},
      {4, 4, "100", "few-failed"},
      {5, 4, "61", "few-failed"},
      {5, 4, "60", "many-failed"},
  };
  for (const ShareCase& c : cases) {
    const std::string what =
        std::to_string(c.failed) + " of " + std::to_string(c.tasks) + ", " + c.percent;
    for (const bool first : {true, false}) {
      Court court = SingleJob(c);
      for (const End& end : Ends(c, first)) court.Hear(end);
      for (const End& end : Ends(c, !first)) court.Hear(end);
      ExpectVerdict(court, c.row, what);
    }
  }
}

TEST(PolicyHboxTest, InSingleModeTheJobEndsWithTheFailureThatMakesTheHalf) {
  Court court(Single({{"chief", 1}, {"worker", 2}, {"mine", 1}}));
  court.Hear(Exits("chief:0", 1));
  EXPECT_EQ(court.status(), "unfinished");
  court.Hear(Exits("mine:0", 1));
  EXPECT_EQ(court.rule(), "hbox/many-failed") << "all tracked types count together";
}

TEST(PolicyHboxTest, AllEndsOfOneStepAreInTheShare) {
  const std::vector<End> ends = {Exits("worker:0", 1), Exits("worker:1", 1), Exits("worker:2", 1)};
  const JobSpec job = Single({{"worker", 4}}, {{"max_failures_percent", "75"}});
  Court together(job);
  together.Hear(ends);
  EXPECT_EQ(together.rule(), "hbox/many-failed");
  Court one_by_one(job);
  for (const End& end : ends) one_by_one.Hear(end);
  EXPECT_EQ(one_by_one.rule(), "hbox/few-failed") << "two of four ended it";
}

TEST(PolicyHboxTest, OnlyTrackedTasksAreInTheShare) {
  Court court(Single({{"worker", 2}, {"ps", 2}, {"evaluator", 2}, {"tensorboard", 1}}));
  court.Hear({Exits("ps:0", 1), Exits("ps:1", 1), Exits("evaluator:0", 1), Exits("evaluator:1", 1),
              Exits("tensorboard:0", 1)});
  EXPECT_EQ(court.status(), "unfinished");
  court.Hear({Exits("worker:0", 0), Exits("worker:1", 0)});
  EXPECT_EQ(court.rule(), "hbox/all-ok");
}

TEST(PolicyHboxTest, AHorovodJobEndsAtTheFirstFailureAndTheShareDecides) {
  struct Case {
    Types types;
    std::string percent;
    std::string row;
  };
  const std::vector<Case> cases = {
      {{{"driver", 1}, {"worker", 3}}, "50", "few-failed"},
      {{{"driver", 1}, {"worker", 3}}, "26", "few-failed"},
      {{{"driver", 1}, {"worker", 3}}, "25", "many-failed"},
      {{{"worker", 2}}, "50", "many-failed"},
      {{{"worker", 2}}, "51", "few-failed"},
      {{{"worker", 3}}, "0", "many-failed"},
  };
  for (const Case& c : cases) {
    Court court(Horovod(c.types, {{"max_failures_percent", c.percent}}));
    court.Hear(Exits("worker:1", 1));
    ExpectVerdict(court, c.row, c.percent);
  }
}

TEST(PolicyHboxTest, TheDriverOfAHorovodJobIsOneOfItsTasks) {
  Court court(Horovod({{"driver", 1}, {"worker", 3}}, {{"max_failures_percent", "25"}}));
  court.Hear(Exits("driver:0", 1));
  EXPECT_EQ(court.rule(), "hbox/many-failed");
  Court good(Horovod({{"driver", 1}, {"worker", 2}}));
  good.Hear({Exits("worker:0", 0), Exits("worker:1", 0)});
  EXPECT_EQ(good.status(), "unfinished");
  good.Hear(Exits("driver:0", 0));
  EXPECT_EQ(good.rule(), "hbox/all-ok");
}

TEST(PolicyHboxTest, AnEvaluatorEndsNoHorovodJob) {
  Court court(Horovod({{"worker", 2}, {"evaluator", 1}}));
  court.Hear(Exits("evaluator:0", 1));
  EXPECT_EQ(court.status(), "unfinished");
}

// An end that a row ignores neither helps nor harms success.
TEST(PolicyHboxTest, WhereEveryEndIsIgnoredNothingWasDone) {
  for (const bool good : {true, false}) {
    for (JobSpec job : {Hbox({{"worker", 2}}), Single({{"worker", 2}}), Horovod({{"worker", 2}})}) {
      job.on_exit = {{.exits = {3}, .action = ExitAction::kIgnore}};
      Court court(job);
      court.Hear(Exits("worker:1", 3));
      EXPECT_EQ(court.status(), "unfinished");
      court.Hear(Exits("worker:0", good ? 0 : 3));
      ExpectVerdict(court, good ? "all-ok" : "nothing-left", KebabName(job.strategy));
    }
  }
}

TEST(PolicyHboxTest, WithoutRoomForTheGangTheJobFails) {
  for (const ExitClass exit_class : {kGangTimeout, kInfeasible}) {
    Court court(Hbox({{"worker", 2}}));
    court.Hear({.task = "worker:0", .exit_class = exit_class});
    EXPECT_EQ(court.rule(), "hbox/no-gang");
  }
}

TEST(PolicyHboxTest, TypesHaveHboxsRoles) {
  const auto engine = Engine::Make(Hbox(kAll));
  EXPECT_EQ(engine->ClassOf("ps"), TaskClass::kService);
  EXPECT_EQ(engine->ClassOf("evaluator"), TaskClass::kDrained);
  EXPECT_EQ(engine->ClassOf("tensorboard"), TaskClass::kSidecar);
  for (const std::string type : {"chief", "worker", "mine"}) {
    EXPECT_EQ(engine->ClassOf(type), TaskClass::kTracked) << type;
  }
  EXPECT_TRUE(engine->IsChief({.type = "chief", .index = 0}));
  EXPECT_FALSE(engine->IsChief({.type = "worker", .index = 0}));
  EXPECT_TRUE(Engine::Make(Hbox({{"worker", 2}}))->IsChief({.type = "worker", .index = 0}));
}

TEST(PolicyHboxTest, TheShareIsAPercentage) {
  for (const std::string value : {"101", "-1", "half"}) {
    EXPECT_FALSE(Engine::Make(Hbox({{"worker", 1}}, {{"max_failures_percent", value}}))) << value;
  }
}

}  // namespace
}  // namespace tfyarn::policy::policy_hbox_test
