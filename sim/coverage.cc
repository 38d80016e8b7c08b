#include "sim/coverage.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <variant>

#include "config/fault_kinds.h"
#include "core/model/check.h"
#include "core/model/probe.h"
#include "core/model/visit.h"
#include "core/policy/table.h"
#include "core/trace/routine.h"
#include "sim/coverage_words.h"

namespace tfyarn::sim {
namespace {

/// A fault that strikes once keeps its job busy for a while: one that strikes in that time meets
/// it.
constexpr Duration kBusyAfter = 10s;

const CellTable& TableOf(CellKind kind) {
  return CellTables()[static_cast<std::size_t>(kind)];
}

/// Position of a rule; of those that are numbered or name a class, of all of them.
std::size_t RowOfRule(std::string_view rule) {
  const std::vector<std::string>& rows = TableOf(CellKind::kVerdict).rows;
  std::string plain(rule);
  if (rule.starts_with("on_exit/") || rule.starts_with("depends/"))
    plain = rule.substr(0, rule.find('/'));
  if (rule.ends_with("-exhausted")) plain = std::string(rule.substr(0, rule.find('/'))) + "/spent";
  const auto found = std::find(rows.begin(), rows.end(), plain);
  return found == rows.end() ? rows.size() - 1 : static_cast<std::size_t>(found - rows.begin());
}

std::size_t FaultRow(std::string_view kind) {
  const std::vector<std::string>& rows = TableOf(CellKind::kFault).rows;
  const auto found = std::find(rows.begin(), rows.end(), kind);
  TF_CHECK(found != rows.end());
  return static_cast<std::size_t>(found - rows.begin());
}

std::vector<CellTable> MakeTables() {
  std::vector<CellTable> tables;
  const auto add = [&](CellKind kind, std::string title, std::vector<std::string> rows,
                       std::vector<std::string> columns) {
    const Cell first =
        tables.empty() ? 0 : tables.back().first + static_cast<Cell>(tables.back().size());
    TF_CHECK(static_cast<std::size_t>(kind) == tables.size());
    tables.push_back({.kind = kind,
                      .title = std::move(title),
                      .rows = std::move(rows),
                      .columns = std::move(columns),
                      .first = first});
  };
  std::vector<std::string> probes;
  for (const ProbeSite* probe : AllProbes()) probes.push_back(probe->name());
  std::vector<std::string> kinds;
  for (const config::FaultKind& kind : config::FaultKinds()) {
    if (kind.target != config::FaultTarget::kRecorded) kinds.emplace_back(kind.name);
  }
  std::vector<std::string> with_none = AmStateWords();
  with_none.insert(with_none.begin(), "no-am");
  add(CellKind::kProbe, "probes", std::move(probes), {""});
  add(CellKind::kAm, "what an AM hears x its state", AmEventWords(), AmStateWords());
  add(CellKind::kAgent, "what an agent hears x its phase", AgentEventWords(), AgentPhaseWords());
  add(CellKind::kFault, "fault x state of the job's AM", kinds, std::move(with_none));
  add(CellKind::kFaultPair, "fault x fault that strikes before it is over", kinds, kinds);
  add(CellKind::kRestart, "exit class x who pays for the restart", EnumWords<ExitClass>(),
      EnumWords<Budget>());
  add(CellKind::kVerdict, "rule of the verdict", RuleWords(), {""});
  add(CellKind::kTimes, "what of a job came again x how many there were", TimesWords(),
      {"2", "3", "4-7", "8-15", "16-and-more"});
  return tables;
}

}  // namespace

const std::vector<CellTable>& CellTables() {
  static const std::vector<CellTable> tables = MakeTables();
  return tables;
}

Cell CellCount() {
  return CellTables().back().first + static_cast<Cell>(CellTables().back().size());
}

CellKind KindOf(Cell cell) {
  TF_CHECK(cell < CellCount());
  for (const CellTable& table : CellTables()) {
    if (cell < table.first + table.size()) return table.kind;
  }
  return CellKind::kVerdict;
}

std::string NameOf(Cell cell) {
  const CellTable& table = TableOf(KindOf(cell));
  const std::string& row = table.rows[(cell - table.first) / table.columns.size()];
  const std::string& column = table.columns[(cell - table.first) % table.columns.size()];
  switch (table.kind) {
    case CellKind::kProbe:
      return row;
    case CellKind::kAm:
      return "am/" + column + "/" + row;
    case CellKind::kAgent:
      return "agent/" + column + "/" + row;
    case CellKind::kFault:
      return "fault/" + row + "/" + column;
    case CellKind::kFaultPair:
      return "faults/" + row + "+" + column;
    case CellKind::kRestart:
      return "restart/" + row + "/" + column;
    case CellKind::kVerdict:
      return "rule/" + row;
    case CellKind::kTimes:
      return "times/" + row + "/" + column;
  }
  return "";
}

std::optional<Cell> CellNamed(std::string_view name) {
  static const std::vector<std::pair<std::string, Cell>> by_name = [] {
    std::vector<std::pair<std::string, Cell>> all;
    for (Cell cell = 0; cell < CellCount(); ++cell) all.emplace_back(NameOf(cell), cell);
    std::sort(all.begin(), all.end());
    return all;
  }();
  const auto found = std::lower_bound(
      by_name.begin(), by_name.end(), name,
      [](const auto& entry, std::string_view wanted) { return entry.first < wanted; });
  if (found == by_name.end() || found->first != name) return std::nullopt;
  return found->second;
}

// ---------------------------------------------------------------- one run

Coverage::Coverage() : first_(CellCount(), kNever) {
  ForgetProbes();
}

std::vector<ReachedCell> Coverage::reached() const {
  std::vector<ReachedCell> all;
  for (Cell cell = 0; cell < first_.size(); ++cell) {
    if (first_[cell] != kNever) all.push_back({.cell = cell, .at = first_[cell]});
  }
  return all;
}

void Coverage::Reach(Instant now, const CellTable& table, std::size_t row, std::size_t column) {
  Instant& first = first_[table.CellAt(row, column)];
  if (first == kNever) first = now;
}

void Coverage::Look(Instant now) {
  const std::uint32_t passed = PassedProbes();
  if (passed == probes_) return;
  const CellTable& table = TableOf(CellKind::kProbe);
  const std::vector<ProbeSite*>& probes = AllProbes();
  for (std::size_t i = 0; i < probes.size(); ++i) {
    if (probes[i]->rank() > probes_) Reach(now, table, i, 0);
  }
  probes_ = passed;
}

void Coverage::AmHears(Instant now, trace::JobIndex job, JobState state, std::int32_t am_attempt,
                       const AmEvent& event) {
  if (trace::IsRoutine(event)) return;
  if (const auto* started = std::get_if<AmStarted>(&event)) {
    std::set<ApplicationId>& applications = times_[job.value].applications;
    applications.insert(started->attempt.application);
    Came(now, Again::kSubmission, static_cast<std::int64_t>(applications.size()));
    Came(now, Again::kAm, am_attempt);
  }
  const CellTable& table = TableOf(CellKind::kAm);
  const std::size_t column = AmStateColumn(state, am_attempt);
  for (const std::size_t row : AmEventRows(event)) Reach(now, table, row, column);
}

void Coverage::AgentHears(Instant now, const agent::AgentSnapshot& agent, const AgentEvent& event) {
  if (trace::IsRoutine(event)) return;
  Reach(now, TableOf(CellKind::kAgent), AgentEventRow(event), AgentPhaseColumn(agent));
}

void Coverage::AmOrders(Instant now, trace::JobIndex job, const AmAction& action) {
  if (const auto* restart = std::get_if<RestartDecided>(&action)) {
    Restarts(now, job, *restart);
  } else if (const auto* assembled = std::get_if<SpecAssembled>(&action)) {
    Came(now, Again::kEpoch, assembled->epoch.value);
  } else if (const auto* verdict = std::get_if<VerdictReached>(&action)) {
    Reach(now, TableOf(CellKind::kVerdict), RowOfRule(verdict->rule), 0);
  }
}

void Coverage::Restarts(Instant now, trace::JobIndex job, const RestartDecided& restart) {
  Reach(now, TableOf(CellKind::kRestart), static_cast<std::size_t>(restart.cause.exit_class),
        static_cast<std::size_t>(restart.paid));
  Times& times = times_[job.value];
  // The first restart is the second time.
  if (restart.paid == Budget::kNone) {
    Came(now, Again::kFreeRestart, ++times.restarts_free + 1);
  } else {
    Came(now, Again::kPaidRestart, ++times.restarts_paid + 1);
  }
  for (const TaskId& task : restart.tasks) Came(now, Again::kTask, ++times.restarts_of[task] + 1);
}

void Coverage::Came(Instant now, Again what, std::int64_t times) {
  if (times < 2) return;
  const std::size_t column = times < 4    ? static_cast<std::size_t>(times - 2)
                             : times < 8  ? 2
                             : times < 16 ? 3
                                          : 4;
  Reach(now, TableOf(CellKind::kTimes), static_cast<std::size_t>(what), column);
}

void Coverage::FaultStrikes(Instant now, std::string_view kind, std::uint64_t instance, bool lasts,
                            const std::vector<std::optional<MetAm>>& jobs) {
  const std::size_t row = FaultRow(kind);
  for (const std::optional<MetAm>& am : jobs) {
    const std::size_t column = am ? 1 + AmStateColumn(am->state, am->attempt) : 0;
    Reach(now, TableOf(CellKind::kFault), row, column);
  }
  std::erase_if(faults_, [now](const UnderWay& fault) { return fault.until < now; });
  for (const UnderWay& other : faults_) Reach(now, TableOf(CellKind::kFaultPair), other.kind, row);
  faults_.push_back(
      {.instance = instance, .kind = row, .until = lasts ? kNever : now + kBusyAfter});
}

void Coverage::FaultEnds(std::uint64_t instance) {
  std::erase_if(faults_, [instance](const UnderWay& fault) { return fault.instance == instance; });
}

}  // namespace tfyarn::sim
