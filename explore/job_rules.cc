// Drawing who pays for what: budgets, failure policies with their options, rows of the job's own.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/policy/options.h"
#include "explore/job_parts.h"

namespace tfyarn::explore {
namespace {

/// Policies whose options are drawn with care, so that they matter.
constexpr std::array<std::string_view, 3> kDrawnByHand = {"tony", "tf-yarn", "tfjob"};

}  // namespace

void JobDrawer::DrawBudgets() {
  if (around_.healthy) {
    if (draw_.Percent(30))
      Set(job_.document, "retries", Map({{"user", Number(draw_.Whole(0, 3))}}));
    return;
  }
  if (!swarm_.budgets) return;
  Node retries = Map();
  user_ = draw_.Whole(0, 3);
  infrastructure_ = draw_.Percent(50) ? draw_.Whole(0, 3) : draw_.Whole(3, 20);
  Set(retries, "user", Number(user_));
  Set(retries, "infrastructure", Number(infrastructure_));
  if (draw_.Percent(30)) {
    window_ = draw_.Time(1s, 20min);
    Set(retries, "window", Time(window_));
  }
  if (draw_.Percent(25)) {
    resubmit_ = draw_.Whole(1, 2);
    Set(retries, "resubmit", Number(resubmit_));
  }
  Set(job_.document, "retries", std::move(retries));
}

void JobDrawer::DrawRules() {
  if (Some(swarm_.policies, 75)) DrawPolicy();
  if (Some(swarm_.on_exit, 70)) {
    Node rows = List();
    for (std::int64_t n = draw_.Whole(1, 2); n > 0; --n) rows.items.push_back(ExitRule());
    Set(job_.document, "on_exit", std::move(rows));
  }
  if (Some(swarm_.success, 60)) DrawSuccess();
  if (Some(swarm_.watch, 70)) DrawWatch();
  if (Some(swarm_.depends, 50) && job_.sketch.types.size() > 1) DrawDependency();
}

void JobDrawer::DrawSuccess() {
  const std::string type = NamedType();
  const std::vector<std::string> forms = {"ok(" + type + ")",
                                          "any(" + type + ")",
                                          "ok(worker:0)",
                                          "count(" + type + ") >= 1",
                                          "done(" + type + ")",
                                          "ok(tracked)",
                                          "failed(tracked) < 2",
                                          "ok(worker) and failed(" + type + ") < 2",
                                          "ok(worker:0) or any(" + type + ")"};
  Set(job_.document, "success", Text(draw_.Of(forms)));
  may_not_end_ = true;
}

void JobDrawer::DrawWatch() {
  static const std::vector<std::string> kDo = {"restart-gang", "restart-task", "fail", "ignore"};
  Set(job_.document, "watch",
      Map({{"stalled", Time(draw_.Time(6s, 5min))}, {"do", Text(draw_.Of(kDo))}}));
}

void JobDrawer::DrawDependency() {
  const std::string& task = job_.sketch.types.back().name;
  const std::string& after = job_.sketch.types.front().name;
  job_.sketch.named.push_back(job_.sketch.types.front());
  static const std::vector<std::string> kStates = {"running", "ended", "succeeded"};
  Node row =
      Map({{"task", Text(task)}, {"after", Text(after)}, {"state", Text(draw_.Of(kStates))}});
  if (draw_.Percent(40)) {
    Set(row, "within", Time(draw_.Time(1s, 5min)));
    if (draw_.Percent(40)) Set(row, "do", Text("ignore"));
  }
  if (job_.document.Find("depends") == nullptr)
    Set(job_.document, "depends", List({std::move(row)}));
  may_not_end_ = true;
}

/// A value that the option may have, by its kinds and words.
Node JobDrawer::DrawOption(const policy::OptionRow& option) {
  const std::string_view kind = draw_.Of(policy::AllowedOf(option));
  if (kind == "types") return Text(NamedType());
  if (kind == "number") return Number(draw_.Whole(0, 3));
  if (kind == "positive") return Number(draw_.Whole(1, 3));
  if (kind == "percent") return Number(25 * draw_.Whole(0, 4));
  if (kind == "true" || kind == "false") return Flag(kind == "true");
  return Text(std::string(kind));
}

/// One of the policies for which nothing is known here but its table.
void JobDrawer::DrawPolicyByItsTable() {
  std::vector<const policy::Table*> tables;
  for (const policy::Table* table : policy::AllTables()) {
    const bool has_draws_of_its_own =
        table->name == "default" ||
        std::find(kDrawnByHand.begin(), kDrawnByHand.end(), table->name) != kDrawnByHand.end();
    if (!has_draws_of_its_own) tables.push_back(table);
  }
  const policy::Table& table = *draw_.Of(tables);
  Node policy = Map({{"name", Text(std::string(table.name))}});
  for (const policy::OptionRow& option : table.options) {
    if (!draw_.Percent(50)) continue;
    Node value = DrawOption(option);
    if (option.per_type && draw_.Percent(30)) value = Map({{NamedType(), std::move(value)}});
    Set(policy, std::string(option.name), std::move(value));
  }
  Set(job_.document, "policy", std::move(policy));
  may_not_end_ = true;
}

void JobDrawer::DrawPolicy() {
  if (draw_.Percent(30)) return DrawPolicyByItsTable();
  const std::string name(draw_.Of(std::vector(kDrawnByHand.begin(), kDrawnByHand.end())));
  Node policy = Map({{"name", Text(name)}});
  if (name == "tony") {
    if (draw_.Percent(30)) Set(policy, "fail_on_worker_failure", Flag(true));
    if (draw_.Percent(40)) Set(policy, "retry_count", Number(draw_.Whole(0, 3)));
    if (draw_.Percent(25)) Set(policy, "stop_on_failure", Text(NamedType()));
    if (draw_.Percent(25)) Set(policy, "untracked", Text(NamedType()));
    // A job of sidecars alone is none.
    const std::string& beside = job_.sketch.types.back().name;
    if (beside != "worker" && draw_.Percent(40)) {
      Set(policy, "sidecar", Text(beside));
      job_.sketch.named.push_back(job_.sketch.types.back());
    }
  } else if (name == "tf-yarn") {
    if (draw_.Percent(50)) Set(policy, "propagate", Text("late"));
    // It has no option for it: its nb_retries is the job's own budget.
    if (!swarm_.budgets && draw_.Percent(50)) {
      user_ = draw_.Whole(1, 3);
      Set(MapAt(job_.document, "retries"), "user", Number(user_));
    }
  } else {
    static const std::vector<std::string> kRestart = {"Never", "OnFailure", "Always", "ExitCode"};
    Node restart = Text(draw_.Of(kRestart));
    if (draw_.Percent(20)) restart = Map({{NamedType(), std::move(restart)}});
    Set(policy, "restart_policy", std::move(restart));
    if (draw_.Percent(30)) Set(policy, "success_policy", Text("AllWorkers"));
    if (draw_.Percent(50)) Set(policy, "backoff_limit", Number(draw_.Whole(0, 4)));
    if (draw_.Percent(20)) Set(policy, "enable_dynamic_worker", Flag(true));
  }
  Set(job_.document, "policy", std::move(policy));
  may_not_end_ = true;
}

Node JobDrawer::ExitRule() {
  static const std::vector<std::string> kDo = {"ignore", "tally",   "restart-task", "restart-type",
                                               "fail",   "succeed", "restart-gang", "raise-memory"};
  static const std::vector<std::string> kClasses = {
      "user-permanent", "user-retryable", "oom",          "signal-crash",   "killed-external",
      "preempted",      "node-lost",      "launch-error", "heartbeat-lost", "timeout"};
  static const std::vector<std::string> kPays = {"none", "user", "infrastructure"};
  Node row = Map();
  const std::string& what = draw_.Of(kDo);
  const bool raises = what == "raise-memory";
  if (draw_.Percent(40)) Set(row, "task", Text(NamedType()));
  if (raises && draw_.Percent(70)) {
    Set(row, "class", List({Text("oom")}));
  } else if (draw_.Percent(50)) {
    Set(row, "class", List({Text(draw_.Of(kClasses))}));
  } else if (draw_.Percent(60)) {
    job_.sketch.exits.push_back(AnyExit());
    Set(row, "exit", List({Number(job_.sketch.exits.back())}));
  }
  if (raises && draw_.Percent(60)) {
    Node raise = Map({{"factor", Text("1." + std::to_string(draw_.Whole(2, 9)))}});
    if (draw_.Percent(50)) Set(raise, "max", Text(std::to_string(draw_.Whole(1, 8)) + "GiB"));
    Set(row, "do", Map({{"raise-memory", std::move(raise)}}));
  } else {
    Set(row, "do", Text(what));
  }
  if ((raises || what.starts_with("restart")) && draw_.Percent(30)) {
    // A restart that no budget pays may go on for as long as the job runs.
    Set(row, "pays", Text(draw_.Of(kPays)));
  }
  may_not_end_ = true;
  return row;
}

}  // namespace tfyarn::explore
