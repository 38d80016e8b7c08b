// rule-matches-cause: what a verdict and a restart name fits together and fits the evidence.
#include <gtest/gtest.h>

#include "core/model/exit.h"
#include "tests/unit/sim/checker_script.h"

namespace tfyarn::sim::checkers_cause_test {
namespace {

const Names kBroken{"rule-matches-cause"};

class CauseScript : public CheckerScript {
 public:
  explicit CauseScript(JobSpec spec = Job())
      : CheckerScript(std::move(spec), OnlyWhatIsNamed(), {"rule-matches-cause"}) {
    Run();
  }
  void FailBy(std::string rule, Cause cause) {
    Order(VerdictReached{
        .status = JobStatus::kFailed, .cause = std::move(cause), .rule = std::move(rule)});
  }
  void Restart(Budget paid, Cause cause) {
    Order(RestartDecided{.paid = paid, .cause = std::move(cause), .tasks = {kWorker0}});
  }
  void Notice() {
    yarn::AllocateResponse response;
    response.preempt_strict = {Container(2)};
    Tell(RmReplied{.call = CallId(2), .response = std::move(response)});
  }
  /// worker:0 ends so.
  static Cause Of(std::int32_t exit, ExitClass exit_class) {
    return {.task = kWorker0, .exit = exit, .exit_class = exit_class, .node = "n1"};
  }
};

Names BrokenBy(std::int32_t exit, const std::string& rule, const Cause& cause,
               JobSpec spec = CauseScript::Job()) {
  CauseScript script(std::move(spec));
  script.Exit(2, exit);
  script.FailBy(rule, cause);
  return script.Broken();
}

TEST(CheckersCauseTest, ARuleThatFitsItsCauseBreaksNothing) {
  const Cause cause = CauseScript::Of(1, ExitClass::kUserPermanent);
  EXPECT_EQ(BrokenBy(1, "default/user-permanent-exhausted", cause), Names{});
  EXPECT_EQ(BrokenBy(1, "default/success-impossible", cause), Names{});
  EXPECT_EQ(BrokenBy(1, "deadlines/run", {.exit_class = ExitClass::kTimeout}), Names{});
}

TEST(CheckersCauseTest, ARuleOfAnotherClassBreaksIt) {
  const Cause cause = CauseScript::Of(1, ExitClass::kUserPermanent);
  EXPECT_EQ(BrokenBy(1, "default/node-lost-exhausted", cause), kBroken);
  EXPECT_EQ(BrokenBy(1, "default/oom", cause), kBroken);
  EXPECT_EQ(BrokenBy(1, "gang/deadline", cause), kBroken);
  EXPECT_EQ(BrokenBy(1, "default/user-permanent-exhausted", {}), kBroken);
}

TEST(CheckersCauseTest, ARuleThatThereIsNotBreaksIt) {
  const Cause cause = CauseScript::Of(1, ExitClass::kUserPermanent);
  EXPECT_EQ(BrokenBy(1, "default/no-such-row", cause), kBroken);
  EXPECT_EQ(BrokenBy(1, "tony/chief-failed", cause), kBroken);
  EXPECT_EQ(BrokenBy(1, "on_exit/0", cause), kBroken);
  EXPECT_EQ(BrokenBy(1, "depends/0", cause), kBroken);
  EXPECT_EQ(BrokenBy(1, "watch", cause), kBroken);
  EXPECT_EQ(BrokenBy(1, "finish/evidence-missing", cause), kBroken);
}

TEST(CheckersCauseTest, ARuleThatSaysTheOppositeBreaksIt) {
  const Cause cause = CauseScript::Of(1, ExitClass::kUserPermanent);
  EXPECT_EQ(BrokenBy(1, "default/success", cause), kBroken);
  CauseScript script;
  script.Order(VerdictReached{.status = JobStatus::kSucceeded, .rule = "default/tracked-ended"});
  EXPECT_EQ(script.Broken(), kBroken);
}

TEST(CheckersCauseTest, ARowOfTheJobsOwnFitsItsCause) {
  JobSpec spec = CauseScript::Job();
  spec.on_exit = {
      {.classes = {ExitClass::kUserPermanent}, .exits = {2}, .action = ExitAction::kFail},
      {.exits = {3}, .action = ExitAction::kTally}};
  const Cause two = CauseScript::Of(2, ExitClass::kUserPermanent);
  EXPECT_EQ(BrokenBy(2, "on_exit/0", two, spec), Names{});
  EXPECT_EQ(BrokenBy(1, "on_exit/0", CauseScript::Of(1, ExitClass::kUserPermanent), spec), kBroken);
  EXPECT_EQ(BrokenBy(3, "on_exit/1", CauseScript::Of(3, ExitClass::kUserPermanent), spec), kBroken);
}

TEST(CheckersCauseTest, AnExitThatNothingHadBreaksIt) {
  EXPECT_EQ(BrokenBy(1, "default/user-permanent-exhausted",
                     CauseScript::Of(2, ExitClass::kUserPermanent)),
            kBroken);
}

TEST(CheckersCauseTest, AnExitOfAContainerIsEvidenceToo) {
  for (const std::int32_t status : {container_exit::kDisksFailed, container_exit::kAborted}) {
    CauseScript script;
    script.Say(trace::ContainerFreed{
        .job = CauseScript::kJob, .container = CauseScript::Container(2), .exit_status = status});
    script.FailBy("default/node-bad-exhausted",
                  CauseScript::Of(container_exit::kDisksFailed, ExitClass::kNodeBad));
    EXPECT_EQ(script.Broken(), status == container_exit::kDisksFailed ? Names{} : kBroken);
  }
}

TEST(CheckersCauseTest, AProcessThatIsStoppedBeforeItRanHasNoExit) {
  for (const bool stopped : {false, true}) {
    CauseScript script;
    if (stopped) {
      script.Say(trace::AgentTold{.job = CauseScript::kJob,
                                  .container = CauseScript::Container(2),
                                  .event = AmSaid{.message = StopProcess{}, .am_attempt = 1}});
    }
    script.Restart(Budget::kNone, CauseScript::Of(128, ExitClass::kKilledByUs));
    EXPECT_EQ(script.Broken(), stopped ? Names{} : kBroken);
  }
}

// An RM that has lost its books does not know the containers that its nodes clean up.
TEST(CheckersCauseTest, AnExitThatOnlyTheRmsAnswerTellsIsEvidence) {
  const Cause cause =
      CauseScript::Of(container_exit::kKilledByResourceManager, ExitClass::kPreempted);
  CauseScript script;
  yarn::AllocateResponse response;
  response.completed_containers = {
      {.id = CauseScript::Container(2), .exit_status = container_exit::kKilledByResourceManager}};
  script.Tell(RmReplied{.call = CallId(2), .response = std::move(response)});
  script.Restart(Budget::kInfrastructure, cause);
  EXPECT_EQ(script.Broken(), Names{});
}

TEST(CheckersCauseTest, AClassThatAnExitCannotHaveBreaksIt) {
  const auto broken = [](std::int32_t exit, ExitClass exit_class) {
    return BrokenBy(exit, "default/success-impossible", CauseScript::Of(exit, exit_class));
  };
  EXPECT_EQ(broken(75, ExitClass::kUserRetryable), Names{});
  EXPECT_EQ(broken(75, ExitClass::kUserPermanent), kBroken);
  EXPECT_EQ(broken(139, ExitClass::kSignalCrash), Names{});
  EXPECT_EQ(broken(1, ExitClass::kSignalCrash), kBroken);
  EXPECT_EQ(broken(143, ExitClass::kKilledExternal), Names{});
  EXPECT_EQ(broken(143, ExitClass::kUserPermanent), kBroken);
  EXPECT_EQ(broken(1, ExitClass::kKilledExternal), kBroken);
  EXPECT_EQ(broken(200, ExitClass::kUnknown), Names{});
  EXPECT_EQ(broken(1, ExitClass::kOk), kBroken);
}

TEST(CheckersCauseTest, OutOfMemoryAndPreemptionNeedTheirProof) {
  EXPECT_EQ(BrokenBy(137, "default/oom", CauseScript::Of(137, ExitClass::kOom)), kBroken);
  CauseScript script;
  script.Say(
      trace::AgentTold{.job = CauseScript::kJob,
                       .container = CauseScript::Container(2),
                       .event = ProcessExited{.exit = {.signal = 9, .out_of_memory = true}}});
  script.FailBy("default/oom", CauseScript::Of(137, ExitClass::kOom));
  EXPECT_EQ(script.Broken(), Names{});
  for (const bool noticed : {false, true}) {
    CauseScript preempted;
    if (noticed) preempted.Notice();
    preempted.Exit(2, 143);
    preempted.Restart(Budget::kInfrastructure, CauseScript::Of(143, ExitClass::kPreempted));
    EXPECT_EQ(preempted.Broken(), noticed ? Names{} : kBroken);
  }
}

TEST(CheckersCauseTest, ANodeThatTheJobWasNeverOnBreaksIt) {
  Cause cause = CauseScript::Of(1, ExitClass::kUserPermanent);
  cause.node = "n9";
  EXPECT_EQ(BrokenBy(1, "default/success-impossible", cause), kBroken);
  cause.node = "n2";  // It may have moved.
  EXPECT_EQ(BrokenBy(1, "default/success-impossible", cause), Names{});
}

TEST(CheckersCauseTest, TheClassSaysWhoPays) {
  const auto broken = [](std::int32_t exit, ExitClass exit_class, Budget paid, JobSpec spec) {
    CauseScript script(std::move(spec));
    script.Exit(2, exit);
    script.Restart(paid, CauseScript::Of(exit, exit_class));
    return script.Broken();
  };
  const JobSpec plain = CauseScript::Job();
  EXPECT_EQ(broken(1, ExitClass::kUserPermanent, Budget::kUser, plain), Names{});
  EXPECT_EQ(broken(1, ExitClass::kUserPermanent, Budget::kInfrastructure, plain), kBroken);
  EXPECT_EQ(broken(143, ExitClass::kKilledExternal, Budget::kInfrastructure, plain), Names{});
  EXPECT_EQ(broken(143, ExitClass::kKilledExternal, Budget::kUser, plain), kBroken);
  EXPECT_EQ(broken(143, ExitClass::kKilledExternal, Budget::kNone, plain), Names{});
  JobSpec own = plain;
  own.on_exit = {{.classes = {ExitClass::kUserPermanent},
                  .action = ExitAction::kRestartGang,
                  .pays = Budget::kInfrastructure}};
  EXPECT_EQ(broken(1, ExitClass::kUserPermanent, Budget::kInfrastructure, own), Names{});
  EXPECT_EQ(broken(1, ExitClass::kUserPermanent, Budget::kUser, own), kBroken);
  JobSpec tony = plain;
  tony.policy.name = "tony";
  EXPECT_EQ(broken(143, ExitClass::kKilledExternal, Budget::kUser, tony), Names{});
  EXPECT_EQ(broken(143, ExitClass::kKilledExternal, Budget::kInfrastructure, tony), kBroken);
}

}  // namespace
}  // namespace tfyarn::sim::checkers_cause_test
