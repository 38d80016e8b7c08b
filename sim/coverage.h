// What a run has reached: cells, each something that can happen, with a name for people.
//
// Cells are in tables: the probes of core, fakes and checkers (core/model/probe.h), an AM's state
// and what it hears in it, an agent's phase and what it hears in it, a kind of fault and the job's
// state when it strikes, two kinds of faults one within the other, an exit class and who paid for
// the restart, the rule of the verdict, how often a job started again. What a table lists may still
// be impossible.
//
// Collected beside the trace, and in neither trace nor digest. Idle beats and timers reach nothing,
// so that a run reaches the same whether they are skipped or not.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/agent/task_agent.h"
#include "core/model/am.h"
#include "core/model/describe.h"
#include "core/model/time.h"
#include "core/trace/record.h"

namespace tfyarn::sim {

/// Position among all cells of the program; the same in every run of it, and no other.
using Cell = std::uint32_t;

enum class CellKind { kProbe, kAm, kAgent, kFault, kFaultPair, kRestart, kVerdict, kTimes };
BOOST_DESCRIBE_ENUM(CellKind, kProbe, kAm, kAgent, kFault, kFaultPair, kRestart, kVerdict, kTimes)

/// Its cells are numbered from `first`, row by row.
struct CellTable {
  CellKind kind = CellKind::kProbe;
  std::string title;  ///< "AM state x what it hears".
  std::vector<std::string> rows;
  std::vector<std::string> columns;  ///< {""}: a list.
  Cell first = 0;

  [[nodiscard]] std::size_t size() const { return rows.size() * columns.size(); }
  [[nodiscard]] Cell CellAt(std::size_t row, std::size_t column) const {
    return first + static_cast<Cell>(row * columns.size() + column);
  }
};

/// By kind, in its order.
[[nodiscard]] const std::vector<CellTable>& CellTables();
[[nodiscard]] Cell CellCount();
[[nodiscard]] CellKind KindOf(Cell cell);
/// "failover/blame-window-over", "am/running/rm-completed", "faults/am_crash+node_crash".
[[nodiscard]] std::string NameOf(Cell cell);
[[nodiscard]] std::optional<Cell> CellNamed(std::string_view name);

struct ReachedCell {
  Cell cell = 0;
  Instant at{};  ///< The first time.
  friend bool operator==(const ReachedCell&, const ReachedCell&) = default;
};

/// Of one run: given to RunOptions::coverage. At one time there is one in a process, as probes are
/// the program's.
class Coverage {
 public:
  /// What probes have passed before counts no more.
  Coverage();

  /// In order of cells.
  [[nodiscard]] std::vector<ReachedCell> reached() const;

  // ---- what the host tells, each before it happens

  /// Probes that were passed since the last time.
  void Look(Instant now);
  void AmHears(Instant now, trace::JobIndex job, JobState state, std::int32_t am_attempt,
               const AmEvent& event);
  void AgentHears(Instant now, const agent::AgentSnapshot& agent, const AgentEvent& event);
  void AmOrders(Instant now, trace::JobIndex job, const AmAction& action);

  /// A job's AM as a fault meets it; nullopt: none lives.
  struct MetAm {
    JobState state = JobState::kSubmitted;
    std::int32_t attempt = 1;
  };
  /// `jobs`: those it strikes, or all where it strikes none in particular. `lasts`: FaultEnds
  /// comes.
  void FaultStrikes(Instant now, std::string_view kind, std::uint64_t instance, bool lasts,
                    const std::vector<std::optional<MetAm>>& jobs);
  void FaultEnds(std::uint64_t instance);

 private:
  struct UnderWay {
    std::uint64_t instance = 0;
    std::size_t kind = 0;
    Instant until{};
  };
  /// What there may be several of in one job: rows of CellKind::kTimes, as TimesWords names them.
  enum class Again { kSubmission, kAm, kEpoch, kPaidRestart, kFreeRestart, kTask };
  /// Of one job.
  struct Times {
    std::set<ApplicationId> applications;
    std::int64_t restarts_paid = 0;
    std::int64_t restarts_free = 0;
    std::map<TaskId, std::int64_t> restarts_of;
  };
  void Reach(Instant now, const CellTable& table, std::size_t row, std::size_t column);
  void Came(Instant now, Again what, std::int64_t times);
  void Restarts(Instant now, trace::JobIndex job, const RestartDecided& restart);

  std::uint32_t probes_ = 0;    ///< Seen by Look.
  std::vector<Instant> first_;  ///< By cell; kNever = not reached.
  std::vector<UnderWay> faults_;
  std::map<std::uint32_t, Times> times_;  ///< By job.
};

}  // namespace tfyarn::sim
