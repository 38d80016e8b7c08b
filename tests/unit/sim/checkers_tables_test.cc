// What rule-matches-cause says to every rule with every class, to every exit with every class, and
// to every payer: all of it at once, as golden files. TFYARN_REWRITE=1 writes them again.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/describe.hpp>
#include <boost/mp11.hpp>

#include "core/model/describe.h"
#include "core/model/exit.h"
#include "tests/unit/golden_file.h"
#include "tests/unit/sim/checker_script.h"

namespace tfyarn::sim::checkers_tables_test {
namespace {

std::vector<ExitClass> AllClasses() {
  std::vector<ExitClass> all;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<ExitClass>>(
      [&](auto one) { all.push_back(one.value); });
  return all;
}

/// A run whose nodes and ResourceManager have shown worker:0 to end with `exit` and to have run out
/// of memory, and a notice of preemption: nothing lacks its proof.
class Shown : public CheckerScript {
 public:
  Shown(JobSpec spec, std::int32_t exit)
      : CheckerScript(std::move(spec), OnlyWhatIsNamed(), {"rule-matches-cause"}), exit_(exit) {
    Run();
    Say(trace::AgentTold{.job = kJob,
                         .container = Container(2),
                         .event = ProcessExited{.exit = {.code = exit, .out_of_memory = true}}});
    Say(trace::ContainerFreed{.job = kJob, .container = Container(2), .exit_status = exit});
    yarn::AllocateResponse response;
    response.preempt_strict = {Container(2)};
    Tell(RmReplied{.call = CallId(2), .response = std::move(response)});
    static_cast<void>(checkers.TakeNew());
  }
  [[nodiscard]] Cause CauseOf(ExitClass exit_class) const {
    return {.task = kWorker0, .exit = exit_, .exit_class = exit_class, .node = "n1"};
  }
  /// The end of the violation's sentence; "" when there is none.
  std::string Said() {
    std::string said;
    for (const Violation& violation : checkers.TakeNew())
      said = violation.detail.substr(violation.detail.rfind(", ") + 2);
    return said;
  }

 private:
  std::int32_t exit_;
};

/// One letter for each class; what the letters mean follows.
class Row {
 public:
  void Add(const std::string& said) {
    if (said.empty()) {
      letters_ += '.';
      return;
    }
    const auto known = std::find(sentences_.begin(), sentences_.end(), said);
    letters_ += static_cast<char>('a' + (known - sentences_.begin()));
    if (known == sentences_.end()) sentences_.push_back(said);
  }
  [[nodiscard]] std::string Text() const {
    std::string text = letters_;
    for (std::size_t i = 0; i < sentences_.size(); ++i)
      text += fmt::format("  {}: {}", static_cast<char>('a' + i), sentences_[i]);
    return text + "\n";
  }

 private:
  std::string letters_;
  std::vector<std::string> sentences_;
};

std::string Header() {
  std::string text = "# One letter for each class of the cause:";
  for (const ExitClass one : AllClasses()) text += " " + KebabName(one);
  return text + "; `.` is nothing wrong.\n";
}

JobSpec JobUnder(const std::string& policy) {
  JobSpec spec = CheckerScript::Job();
  spec.policy.name = policy;
  return spec;
}

// An exit that may be of every class: none of them is wrong for its number.
constexpr std::int32_t kAnyExit = 1;

const std::vector<std::string> kPolicies = {"default", "tony", "tf-yarn", "tfjob"};

TEST(CheckersTablesTest, WhichCauseARuleMayHave) {
  const std::vector<std::string> names = {"success",
                                          "success-impossible",
                                          "tracked-ended",
                                          "no-gang",
                                          "oom",
                                          "all-ok",
                                          "some-failed",
                                          "untracked-failed",
                                          "worker-failure",
                                          "all-failed",
                                          "chief-failed",
                                          "stop-on-failure",
                                          "waived-failed",
                                          "fail-on-worker-failure",
                                          "starting-failed",
                                          "services-ended",
                                          "raised",
                                          "nothing-left",
                                          "container-failed",
                                          "chief-succeeded",
                                          "replica-failed",
                                          "workers-succeeded",
                                          "worker0-succeeded",
                                          "exit-code-permanent",
                                          "backoff-limit",
                                          "oom-exhausted",
                                          "timeout-exhausted",
                                          "no-such-row"};
  std::vector<std::string> rules = {"gang/deadline",
                                    "gang/infeasible",
                                    "gang/ask-refused",
                                    "policy/invalid",
                                    "deadlines/start",
                                    "deadlines/run",
                                    "finish/evidence-missing",
                                    "finish/evidence-unknown",
                                    "gang/no-such-row",
                                    "on_exit/0",
                                    "on_exit/1",
                                    "on_exit/2",
                                    "on_exit/3",
                                    "on_exit/4",
                                    "depends/0",
                                    "depends/1",
                                    "depends/2",
                                    "watch"};
  for (const std::string& name : names) rules.push_back("POLICY/" + name);
  std::string text = Header();
  for (const std::string& policy : kPolicies) {
    for (std::string rule : rules) {
      const bool own = rule.rfind("POLICY", 0) == 0;
      if (own) rule = policy + rule.substr(6);
      if (!own && policy != "default") continue;
      for (const JobStatus status : {JobStatus::kSucceeded, JobStatus::kFailed}) {
        Row row;
        for (const ExitClass exit_class : AllClasses()) {
          JobSpec spec = JobUnder(policy);
          spec.on_exit = {{.exits = {1}, .action = ExitAction::kFail},
                          {.exits = {2}, .action = ExitAction::kFail},
                          {.classes = {ExitClass::kTimeout}, .action = ExitAction::kRaiseMemory},
                          {.task_type = "worker", .action = ExitAction::kSucceed}};
          spec.depends = {
              {.task = "worker", .after = "worker", .action = DependencyAction::kFail},
              {.task = "worker", .after = "worker", .action = DependencyAction::kIgnore}};
          spec.watch = WatchSpec{.progress = "x", .stalled = 60s};
          Shown shown(spec, kAnyExit);
          Cause cause = shown.CauseOf(exit_class);
          // What an exit may be is told below.
          if (rule != "on_exit/0") cause.exit.reset();
          shown.Order(VerdictReached{.status = status, .cause = cause, .rule = rule});
          row.Add(shown.Said());
        }
        text += fmt::format("{} {} {}", rule, KebabName(status), row.Text());
      }
    }
  }
  ExpectGolden("checkers/rules.txt", text);
}

TEST(CheckersTablesTest, WhichClassAnExitMayHave) {
  std::string text = Header();
  for (const std::int32_t exit :
       {0,    1,    2,    74,   75,   76,   120,  126,  127,  128,  129,  130,  131, 132, 133,
        134,  135,  136,  137,  138,  139,  140,  143,  153,  154,  155,  193,  194, 255, -1000,
        -100, -101, -102, -103, -104, -105, -106, -107, -108, -109, -110, -500, 256}) {
    Row row;
    for (const ExitClass exit_class : AllClasses()) {
      Shown shown(JobUnder("default"), exit);
      shown.Order(VerdictReached{.status = JobStatus::kFailed,
                                 .cause = shown.CauseOf(exit_class),
                                 .rule = "default/success-impossible"});
      // The sentence names the class, and what the class is the column says.
      row.Add(shown.Said().empty() ? "" : "is not");
    }
    text += fmt::format("{} {}", exit, row.Text());
  }
  ExpectGolden("checkers/exits.txt", text);
}

TEST(CheckersTablesTest, WhoMayPayForAClass) {
  std::string text = Header();
  for (const std::string& policy : kPolicies) {
    for (const Strategy strategy : {Strategy::kMultiWorker, Strategy::kParameterServer}) {
      for (const Budget paid : {Budget::kUser, Budget::kInfrastructure, Budget::kNone}) {
        Row row;
        for (const ExitClass exit_class : AllClasses()) {
          JobSpec spec = JobUnder(policy);
          spec.strategy = strategy;
          spec.on_exit = {{.classes = {ExitClass::kUserRetryable},
                           .action = ExitAction::kRestartGang,
                           .pays = Budget::kInfrastructure},
                          {.classes = {ExitClass::kOom}, .action = ExitAction::kRaiseMemory}};
          Shown shown(spec, kAnyExit);
          Cause cause = shown.CauseOf(exit_class);
          cause.exit.reset();
          shown.Order(RestartDecided{.paid = paid, .cause = cause, .tasks = {kWorker0}});
          row.Add(shown.Said());
        }
        text +=
            fmt::format("{} {} {} {}", policy, KebabName(strategy), KebabName(paid), row.Text());
      }
    }
  }
  ExpectGolden("checkers/payers.txt", text);
}

}  // namespace
}  // namespace tfyarn::sim::checkers_tables_test
