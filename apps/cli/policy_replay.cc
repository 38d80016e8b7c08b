#include "apps/cli/policy_replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>
#include <variant>

#include "apps/cli/exit_codes.h"
#include "apps/cli/human.h"
#include "apps/cli/interrupt.h"
#include "apps/cli/load.h"
#include "apps/cli/output.h"
#include "apps/cli/replay_recordings.h"
#include "apps/cli/single_run.h"
#include "config/load.h"
#include "core/client/job_client.h"
#include "core/model/describe.h"
#include "core/model/text.h"
#include "core/policy/budgets.h"
#include "core/policy/engine.h"
#include "core/policy/job_view.h"
#include "core/policy/outcome.h"
#include "hosts/runtime/recording.h"

namespace tfyarn::cli {
namespace {

/// What an end asks of a policy.
enum class Part { kAsks, kVictim, kStopped };

struct End {
  Instant at{};
  TaskAttemptEnded what;
  Part part = Part::kAsks;
  bool registered = true;  ///< A process of the task has ever run.
};

/// The ends of a run, and which of them a policy was asked about.
std::vector<End> EndsOf(const std::vector<trace::TraceRecord>& actions) {
  std::vector<End> ends;
  std::map<TaskId, bool> ran;
  std::map<TaskId, std::size_t> open;  ///< The end of a task that nothing has followed from yet.
  const auto settle = [&](const TaskId& task, Part part) {
    const auto found = open.find(task);
    if (found == open.end()) return;
    ends[found->second].part = part;
    open.erase(found);
  };
  for (const trace::TraceRecord& record : actions) {
    const AmAction& action = std::get<trace::AmOrdered>(record.fact).action;
    const auto* over = std::get_if<RestartTakenOver>(&action);
    const auto* restart = over != nullptr ? &over->decided : std::get_if<RestartDecided>(&action);
    if (const auto* started = std::get_if<TaskAttemptStarted>(&action)) {
      ran[started->task] = true;
      open.erase(started->task);
    } else if (const auto* ended = std::get_if<TaskAttemptEnded>(&action)) {
      const auto before = open.find(ended->task);
      // Better evidence of the same end.
      if (before != open.end() && ends[before->second].what.process == ended->process) {
        ends[before->second].what = *ended;
        continue;
      }
      open[ended->task] = ends.size();
      const bool stopped = ended->exit_class == ExitClass::kKilledByUs;
      ends.push_back({.at = record.at,
                      .what = *ended,
                      .part = stopped ? Part::kStopped : Part::kAsks,
                      .registered = ran[ended->task]});
    } else if (restart != nullptr) {
      settle(restart->cause.task, restart->paid == Budget::kNone ? Part::kVictim : Part::kAsks);
      for (const TaskId& task : restart->tasks) settle(task, Part::kVictim);
    } else if (const auto* verdict = std::get_if<VerdictReached>(&action)) {
      if (verdict->cause) settle(verdict->cause->task, Part::kAsks);
      // What has ended with the cause and started nothing is its victim, or ended well.
      for (const auto& [task, end] : open) {
        const ExitClass cls = ends[end].what.exit_class;
        if (verdict->cause && cls != ExitClass::kOk && ends[end].at >= verdict->cause->at)
          ends[end].part = Part::kVictim;
      }
      break;
    }
  }
  return ends;
}

std::string Since(Instant began, Instant at) {
  return HumanSeconds(SecondsOf(Instant{} + (at - began)));
}

/// One policy's account of the run.
class PolicyAccount : public policy::JobView {
 public:
  PolicyAccount(const JobSpec& job, policy::Engine policy, Instant began)
      : policy_(std::move(policy)), began_(began) {
    for (const TaskTypeSpec& type : job.tasks) {
      types_.push_back({.name = type.name,
                        .task_class = policy_.ClassOf(type.name),
                        .instances = type.instances});
    }
  }

  /// Its decision, in words.
  std::string Hear(const End& end) {
    if (!verdict_.empty()) return "decided before";
    const TaskAttemptEnded& what = end.what;
    const policy::Decision decision = policy_.OnExit({.task = what.task,
                                                      .exit_class = what.exit_class,
                                                      .exit = what.exit,
                                                      .ever_registered = end.registered},
                                                     *this);
    std::string words = Apply(decision, end);
    Count();
    if (verdict_.empty()) Judge(end, words);
    return words;
  }

  [[nodiscard]] std::string verdict() const {
    return verdict_.empty() ? "no verdict by these ends" : verdict_;
  }
  [[nodiscard]] std::string_view name() const { return policy_.name(); }

  [[nodiscard]] const std::vector<policy::TypeCounts>& types() const override { return types_; }
  [[nodiscard]] policy::TaskFacts FactsOf(std::size_t type, std::int32_t index) const override {
    const auto found = outcomes_.find({.type = types_[type].name, .index = index});
    const policy::Outcome outcome =
        found == outcomes_.end() ? policy::Outcome::kOpen : found->second;
    return {.ended = outcome != policy::Outcome::kOpen,
            .ok = outcome == policy::Outcome::kOk,
            .running = outcome == policy::Outcome::kOpen};
  }

 private:
  std::string Apply(policy::Decision decision, const End& end) {
    const TaskId& task = end.what.task;
    const policy::Claimant claimant = policy::ClaimantOf(types_, task);
    const StoredTime at = WallAt(end.at);
    while (!decision.next.empty() &&
           !budgets_.Allows(decision.allowance, decision.pays, claimant, at)) {
      policy::Decision next = std::move(decision.next.front());
      decision = std::move(next);
    }
    ExitAction action = decision.action;
    std::string words = KebabName(action);
    if (policy::IsRestart(action)) {
      const std::int32_t used = budgets_.Used(decision.allowance, decision.pays, claimant, at);
      const std::optional<std::int32_t> limit = decision.allowance.restarts;
      if (limit && used >= *limit) {
        action = decision.when_spent;
        words = fmt::format("{}: {} of {} restarts are used up", KebabName(action), used, *limit);
      } else {
        Pay(decision, claimant, at);
        if (decision.other_container) words += " in another container";
        words += decision.pays == Budget::kNone
                     ? ", free"
                     : fmt::format(", {} pays", KebabName(decision.pays)) +
                           (limit ? fmt::format(" ({} of {})", used + 1, *limit) : "");
      }
    }
    const std::string& rule = action == decision.action || decision.spent_rule.empty()
                                  ? decision.rule
                                  : decision.spent_rule;
    words += " [" + rule + "]";
    switch (action) {
      case ExitAction::kIgnore:
        outcomes_[task] = policy::Outcome::kIgnored;
        break;
      case ExitAction::kTally:
        outcomes_[task] =
            end.what.exit_class == ExitClass::kOk ? policy::Outcome::kOk : policy::Outcome::kFailed;
        break;
      case ExitAction::kFail:
        Finish("failed", rule, end.at);
        break;
      case ExitAction::kSucceed:
        Finish("succeeded", rule, end.at);
        break;
      case ExitAction::kRestartTask:
      case ExitAction::kRestartType:
      case ExitAction::kRestartGang:
      case ExitAction::kRaiseMemory:
        Reopen(action, task);
        break;
    }
    return words;
  }

  void Reopen(ExitAction action, const TaskId& task) {
    for (auto& [id, outcome] : outcomes_) {
      const bool again = action == ExitAction::kRestartGang || id == task ||
                         (action == ExitAction::kRestartType && id.type == task.type);
      if (again) outcome = policy::Outcome::kOpen;
    }
  }

  void Pay(const policy::Decision& decision, const policy::Claimant& claimant, StoredTime at) {
    budgets_.Count(
        {.paid = decision.pays, .cause = claimant.task, .tasks = {claimant.task}, .at = at});
    if (decision.other_container) budgets_.TookContainer(claimant.task);
  }

  [[nodiscard]] StoredTime WallAt(Instant at) const { return StoredTime{} + (at - began_); }

  void Judge(const End& end, std::string& words) {
    const auto judged = policy_.Judge(*this);
    if (!judged) return;
    if (judged->retry) {
      const policy::Decision retry{.pays = judged->retry->pays,
                                   .allowance = judged->retry->allowance};
      const policy::Claimant claimant = policy::ClaimantOf(types_, end.what.task);
      if (budgets_.Allows(retry.allowance, retry.pays, claimant, WallAt(end.at))) {
        Pay(retry, claimant, WallAt(end.at));
        for (auto& [id, outcome] : outcomes_) outcome = policy::Outcome::kOpen;
        Count();
        words += fmt::format("; the gang starts again in place of {}", judged->rule);
        return;
      }
    }
    Finish(KebabName(judged->status), judged->rule, end.at);
    words += fmt::format("; the job has {} [{}]", KebabName(judged->status), judged->rule);
  }

  void Finish(const std::string& status, const std::string& rule, Instant at) {
    verdict_ = fmt::format("{} by {} at {}", status, rule, Since(began_, at));
  }

  void Count() {
    for (policy::TypeCounts& type : types_) {
      type.ok = type.failed = type.ignored = 0;
      type.running = type.instances;
    }
    for (const auto& entry : outcomes_) {
      const TaskId& task = entry.first;
      const policy::Outcome outcome = entry.second;
      const auto type = std::find_if(types_.begin(), types_.end(),
                                     [&](const auto& one) { return one.name == task.type; });
      if (type == types_.end() || outcome == policy::Outcome::kOpen) continue;
      --type->running;
      ++(outcome == policy::Outcome::kOk       ? type->ok
         : outcome == policy::Outcome::kFailed ? type->failed
                                               : type->ignored);
    }
  }

  policy::Engine policy_;
  Instant began_;
  std::vector<policy::TypeCounts> types_;
  std::map<TaskId, policy::Outcome> outcomes_;
  policy::Budgets budgets_;
  std::string verdict_;
};

std::string InWords(const End& end) {
  return fmt::format(
      "{} attempt {} ended{} ({})", ToString(end.what.task), end.what.process.attempt.value,
      end.what.exit ? fmt::format(" with {}", *end.what.exit) : "", KebabName(end.what.exit_class));
}

}  // namespace

Expected<PolicyComparison> ComparePolicies(const JobSpec& job,
                                           const std::vector<trace::TraceRecord>& actions,
                                           const std::string& policy, Instant began) {
  JobSpec changed = job;
  if (policy != job.policy.name) changed.policy = {.name = policy};
  auto own = policy::Engine::Make(job);
  if (!own) return tl::unexpected<Error>(own.error());
  auto other = policy::Engine::Make(changed);
  if (!other) return tl::unexpected<Error>(other.error());
  PolicyAccount recorded(job, std::move(*own), began);
  PolicyAccount instead(changed, std::move(*other), began);

  PolicyComparison comparison;
  for (const End& end : EndsOf(actions)) {
    if (end.part != Part::kAsks) continue;
    const std::string then = recorded.Hear(end);
    const std::string now = instead.Hear(end);
    comparison.text += fmt::format("  {:>9}  {}\n", Since(began, end.at), InWords(end));
    for (const auto& [account, words] : {std::pair{&recorded, &then}, std::pair{&instead, &now}})
      comparison.text += fmt::format("             {:<9} {}\n", account->name(), *words);
    comparison.differ = comparison.differ || then.substr(0, then.find_first_of(" [,:")) !=
                                                 now.substr(0, now.find_first_of(" [,:"));
  }
  if (comparison.text.empty()) comparison.text = "  no end needed a decision\n";
  comparison.differ =
      comparison.differ || recorded.verdict().substr(0, 4) != instead.verdict().substr(0, 4);
  for (const PolicyAccount* account : {&recorded, &instead})
    comparison.text += fmt::format("  {}: {}\n", account->name(), account->verdict());
  for (const trace::TraceRecord& record : actions) {
    const AmAction& action = std::get<trace::AmOrdered>(record.fact).action;
    const auto* verdict = std::get_if<VerdictReached>(&action);
    if (verdict == nullptr) continue;
    comparison.text += fmt::format("  recorded: {} by {} at {}\n", KebabName(verdict->status),
                                   verdict->rule, Since(began, record.at));
    break;
  }
  return comparison;
}

namespace {

/// Jobs of a run, each with what its AMs ordered.
struct RecordedJob {
  JobSpec spec;
  std::vector<trace::TraceRecord> actions;
  Instant began{};  ///< Times are told from there on.
};

/// Of a directory that `tfyarn run` made. Error: what stderr should show.
tl::expected<std::vector<RecordedJob>, std::string> JobsOfDirectory(const std::string& directory) {
  RecordedJob job;
  bool found = false;
  for (const std::string& file : RecordingsIn(directory)) {
    const auto recording = hosts::ReadRecording(file);
    if (!recording) return tl::unexpected<std::string>(file + ": " + recording.error().message);
    if (recording->header.who != hosts::Recorded::kAm) continue;
    auto spec = config::LoadJobText(recording->header.job_file, client::kJobFileName);
    if (!spec) return tl::unexpected<std::string>(config::Render(spec.error()));
    job.spec = std::move(*spec);
    found = true;
    for (const trace::TraceRecord& record : recording->records) {
      if (std::holds_alternative<trace::AmOrdered>(record.fact)) job.actions.push_back(record);
    }
  }
  if (!found)
    return tl::unexpected<std::string>(directory + " has no recording of an ApplicationMaster");
  if (!job.actions.empty()) job.began = job.actions.front().at;
  return std::vector<RecordedJob>{std::move(job)};
}

std::vector<RecordedJob> JobsOfScenario(const config::Scenario& scenario, std::uint64_t seed,
                                        const Simulator& simulator) {
  std::map<std::string, const JobSpec*> specs;
  for (const config::JobConfig& job : scenario.jobs) specs[job.spec.name] = &job.spec;
  std::map<trace::JobIndex, RecordedJob> jobs;
  SingleRun run{.seed = seed, .interrupt = &CatchInterrupts()};
  run.sink = [&](const trace::TraceRecord& record) {
    if (const auto* created = std::get_if<trace::JobCreated>(&record.fact)) {
      const auto spec = specs.find(created->name);
      if (spec != specs.end()) jobs[created->job].spec = *spec->second;
    } else if (const auto* ordered = std::get_if<trace::AmOrdered>(&record.fact)) {
      const auto job = jobs.find(ordered->job);
      if (job != jobs.end()) job->second.actions.push_back(record);
    }
  };
  (void)RunOnce(scenario, run, simulator);
  std::vector<RecordedJob> list;
  for (auto& [index, job] : jobs) list.push_back(std::move(job));
  return list;
}

}  // namespace

int ReplayWithPolicy(const ReplayArguments& arguments, const Simulator& simulator) {
  std::vector<RecordedJob> jobs;
  if (std::filesystem::is_directory(arguments.input.file)) {
    auto found = JobsOfDirectory(arguments.input.file);
    if (!found) {
      Complain(found.error());
      return ToInt(ExitCode::kInvalidInput);
    }
    jobs = std::move(*found);
  } else {
    const auto scenario = LoadOrExplain(arguments.input);
    if (!scenario) return ToInt(ExitCode::kInvalidInput);
    jobs = JobsOfScenario(*scenario, arguments.seed.value_or(scenario->seed), simulator);
    if (CatchInterrupts()) return ToInt(ExitCode::kSignalBase) + InterruptSignal();
  }
  std::string text;
  bool differ = false;
  for (const RecordedJob& job : jobs) {
    const auto compared = ComparePolicies(job.spec, job.actions, arguments.policy, job.began);
    if (!compared) {
      Complain(fmt::format("job {}: {}", job.spec.name, compared.error().message));
      return ToInt(ExitCode::kInvalidInput);
    }
    text += fmt::format("job {}\n{}", job.spec.name, compared->text);
    differ = differ || compared->differ;
  }
  if (const auto written = WriteStdout(TerminalText(text)); !written) {
    Complain(written.error().message);
    return ToInt(ExitCode::kInternal);
  }
  return ToInt(differ ? ExitCode::kRunsDiffer : ExitCode::kOk);
}

}  // namespace tfyarn::cli
