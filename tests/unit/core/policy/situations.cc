#include "tests/unit/core/policy/situations.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "core/model/check.h"
#include "core/model/text.h"
#include "core/policy/options.h"
#include "core/policy/tables/parts.h"

namespace tfyarn::policy {
namespace {

using Options = std::map<std::string, std::string>;
using Types = std::vector<std::pair<std::string, int>>;

/// Of copies, which have other rows than their originals; never passed.
template <std::size_t... i>
std::array<ProbeSite, sizeof...(i)> SpareProbes(std::index_sequence<i...> /*each*/) {
  return {((void)i, ProbeSite("policy", "copy"))...};
}

template <class Ask>
bool AnyRow(const Table& table, Ask ask) {
  return std::any_of(table.rows.begin(), table.rows.end(), ask);
}

std::vector<bool> Both(bool vary, bool usual) {
  return vary ? std::vector<bool>{usual, !usual} : std::vector<bool>{usual};
}

/// None; and those at the borders of ranges, inside and outside.
std::vector<std::optional<std::int32_t>> ExitsFor(const Table& table) {
  std::set<std::optional<std::int32_t>> exits = {std::nullopt};
  for (const Row& row : table.rows) {
    exits.insert(row.exits.begin(), row.exits.end());
    if (!row.exits.empty()) exits.insert(1);
    if (row.exit_to == 0) continue;
    for (const std::int32_t border : {row.exit_from, row.exit_to})
      for (const std::int32_t step : {-1, 0, 1}) exits.insert(border + step);
  }
  return {exits.begin(), exits.end()};
}

/// The standard values; then each other value alone, also of one type where that may be.
std::vector<Options> OptionsFor(const Table& table) {
  std::vector<Options> all = {{}};
  for (const OptionRow& option : table.options) {
    for (const std::string& value : ValuesOf(option)) {
      all.push_back({{std::string(option.name), value}});
      if (option.per_type) all.push_back({{fmt::format("{}.worker", option.name), value}});
    }
  }
  return all;
}

std::vector<Strategy> StrategiesFor(const Table& table) {
  if (AnyRow(table, [](const Row& row) { return row.option == "strategy"; }))
    return {Strategy::kMultiWorker, Strategy::kIndependent, Strategy::kParameterServer};
  return {Strategy::kMultiWorker};
}

std::vector<Framework> FrameworksFor(const Table& table) {
  const auto asks = [](const Row& row) { return row.option == "framework"; };
  const bool differs = AnyRow(table, asks) ||
                       std::any_of(table.options.begin(), table.options.end(),
                                   [](const OptionRow& row) { return !row.in_horovod.empty(); });
  if (differs) return {Framework::kTensorflow, Framework::kHorovod};
  return {Framework::kTensorflow};
}

JobSpec JobOf(const Table& table, const Types& types, const Options& options) {
  JobSpec job = MakeJob(std::string(table.name), types, options);
  for (TaskTypeSpec& type : job.tasks) {
    if (type.name == "given-service") type.task_class = TaskClass::kService;
    if (type.name == "given-drained") type.task_class = TaskClass::kDrained;
    if (type.name == "given-sidecar") type.task_class = TaskClass::kSidecar;
  }
  return job;
}

std::vector<JobSpec> JobsOf(const Table& table, const std::vector<Types>& shapes) {
  std::vector<JobSpec> jobs;
  for (const Options& options : OptionsFor(table)) {
    for (const Types& types : shapes) {
      for (const Strategy strategy : StrategiesFor(table)) {
        for (const Framework framework : FrameworksFor(table)) {
          JobSpec& job = jobs.emplace_back(JobOf(table, types, options));
          job.strategy = strategy;
          job.framework = framework;
          job.retries.user = 3;
          if (!options.empty()) continue;
          jobs.push_back(job);
          jobs.back().retries.user = 0;
        }
      }
    }
  }
  return jobs;
}

}  // namespace

TableCopy::TableCopy(const Table& original)
    : rest(original),
      options(original.options.begin(), original.options.end()),
      classes(original.classes.begin(), original.classes.end()),
      chiefs(original.chiefs.begin(), original.chiefs.end()),
      rows(original.rows.begin(), original.rows.end()) {
  static auto probes = SpareProbes(std::make_index_sequence<64>());
  rest.probes = probes.data();
  // No table succeeds by an end, and none has another type drained than the evaluator.
  rows.push_back({.name = kNoRow, .classes = kAnyEnd, .action = ExitAction::kSucceed, .why = ""});
  classes.push_back({.task_type = "", .list = "", .task_class = TaskClass::kDrained});
}

Table TableCopy::Whole() const {
  Table table = rest;
  table.options = options;
  table.classes = classes;
  table.chiefs = chiefs;
  table.rows = rows;
  return table;
}

std::string ToText(const JobSpec& job, const Situation& s) {
  std::string text = fmt::format("{} ends with {}", ToString(s.task), KebabName(s.exit_class));
  if (s.exit) text += fmt::format(", exit {}", *s.exit);
  if (!s.registered) text += ", never registered";
  if (s.waived) text += ", waived";
  if (s.tracked_ended) text += ", all other tracked tasks have ended";
  if (s.stalled) text += ", stalled";
  text += fmt::format("; {}", KebabName(job.strategy));
  for (const auto& [key, value] : job.policy.options) text += fmt::format(", {}={}", key, value);
  return text;
}

std::vector<std::string> ValuesOf(const OptionRow& option) {
  std::vector<std::string> values;
  for (const std::string_view kind : AllowedOf(option)) {
    if (kind == "number") {
      values.insert(values.end(), {"0", "1", "5"});
    } else if (kind == "positive") {
      values.insert(values.end(), {"1", "2"});
    } else if (kind == "percent") {
      values.insert(values.end(), {"0", "50", "100"});
    } else if (kind == "types") {
      values.insert(values.end(), {"", "ps", "tensorboard", "worker, other"});
    } else {
      values.emplace_back(kind);
    }
  }
  return values;
}

std::vector<JobSpec> JobsFor(const Table& table) {
  const Types with_chiefs = {{"chief", 1},     {"master", 1},      {"worker", 2}, {"ps", 1},
                             {"evaluator", 1}, {"tensorboard", 1}, {"other", 1}};
  const Types without_chief = {{"worker", 2},        {"ps", 1},
                               {"tensorboard", 1},   {"given-service", 1},
                               {"given-drained", 1}, {"given-sidecar", 1}};
  std::vector<JobSpec> jobs = JobsOf(table, {with_chiefs, without_chief});
  JobSpec& own = jobs.emplace_back(JobOf(table, with_chiefs, {}));
  own.retries.user = 3;
  own.on_exit = {{.task_type = "worker", .action = ExitAction::kRestartTask}};
  own.watch = WatchSpec{};
  return jobs;
}

std::vector<JobSpec> SmallJobsFor(const Table& table) {
  std::vector<JobSpec> jobs = JobsOf(table, {{{"chief", 1}, {"worker", 2}, {"ps", 1}},
                                             {{"worker", 2}, {"ps", 1}, {"evaluator", 1}},
                                             {{"other", 2}, {"tensorboard", 1}}});
  // Some lists of types leave nothing to decide success.
  std::erase_if(jobs, [&](const JobSpec& job) { return !Engine::Make(job, table); });
  return jobs;
}

std::vector<Situation> SituationsOf(const JobSpec& job, const Table& table) {
  const bool asks_registered =
      AnyRow(table, [](const Row& row) { return row.registered != Condition::kEither; });
  const bool asks_ended =
      AnyRow(table, [](const Row& row) { return row.tracked_ended != Condition::kEither; });
  const bool asks_waived =
      AnyRow(table, [](const Row& row) { return row.role == RoleIs::kWaived; });
  const auto exits = ExitsFor(table);
  std::vector<Situation> all;
  for (const TaskTypeSpec& type : job.tasks)
    for (std::int32_t index = 0; index < type.instances; ++index)
      for (int c = 0; c <= static_cast<int>(ExitClass::kUnknown); ++c)
        for (const auto& exit : exits)
          for (const bool registered : Both(asks_registered, true))
            for (const bool waived : Both(asks_waived, false))
              for (const bool ended : Both(asks_ended, false))
                for (const bool stalled : Both(job.watch.has_value(), false))
                  all.push_back({.task = {type.name, index},
                                 .exit_class = static_cast<ExitClass>(c),
                                 .exit = exit,
                                 .registered = registered,
                                 .waived = waived,
                                 .tracked_ended = ended,
                                 .stalled = stalled});
  return all;
}

Bench::Bench(const JobSpec& job, const Table& table)
    : job_(&job), table_(table), engine_(Engine::Make(job, table_)) {}

const TableView& Bench::ViewFor(const Situation& situation) {
  const std::string& type = situation.task.type;
  const auto [found, is_new] =
      views_.try_emplace({type, situation.waived, situation.tracked_ended}, *job_, &*engine_);
  TableView& view = found->second;
  if (!is_new) return view;
  view.Type(type).waived = situation.waived;
  if (!situation.tracked_ended) return view;
  for (const TaskTypeSpec& other : job_->tasks) {
    if (other.name == type || !view.Type(other.name).tracked()) continue;
    for (std::int32_t i = 0; i < other.instances; ++i) view.End({other.name, i}, true);
  }
  return view;
}

Decision Bench::Decide(const Situation& situation) {
  TF_CHECK(takes_job());
  return engine_->OnExit({.task = situation.task,
                          .exit_class = situation.exit_class,
                          .exit = situation.exit,
                          .ever_registered = situation.registered,
                          .stalled = situation.stalled},
                         ViewFor(situation));
}

std::string Bench::Roles() const {
  std::string text = engine_->first_report_wins() ? "first report wins\n" : "";
  if (engine_->success()) text += ToString(*engine_->success()) + "\n";
  for (const TaskTypeSpec& type : job_->tasks) {
    text += fmt::format("{} {}", type.name, KebabName(engine_->ClassOf(type.name)));
    for (std::int32_t i = 0; i < type.instances; ++i)
      text += engine_->IsChief({type.name, i}) ? " chief" : " -";
    text += "\n";
  }
  return text;
}

bool SameDecision(const Decision& a, const Decision& b) {
  if (a.action != b.action || a.session != b.session) return false;
  if (!IsRestart(a.action)) return true;
  if (a.next.size() != b.next.size()) return false;
  if (!a.next.empty() && !SameDecision(a.next.front(), b.next.front())) return false;
  return a.pays == b.pays && (!a.next.empty() || a.when_spent == b.when_spent) &&
         a.other_container == b.other_container && a.allowance == b.allowance;
}

bool SameNames(const Decision& a, const Decision& b) {
  if (!a.next.empty() && !b.next.empty() && !SameNames(a.next.front(), b.next.front()))
    return false;
  return a.rule == b.rule && a.spent_rule == b.spent_rule;
}

}  // namespace tfyarn::policy
