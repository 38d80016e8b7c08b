#include "core/am/decide/gates.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/am/am_parts.h"
#include "core/model/probe.h"
#include "core/model/text.h"

namespace tfyarn::am {

/// What starts only after others is held back from the beginning.
void Gates::Prepare() {
  const std::vector<Dependency>& rows = parts_.core.job->depends;
  reached_.resize(rows.size());
  broken_.resize(rows.size());
  due_.resize(rows.size(), kNever);
  for (const Dependency& row : rows) HoldBack(row.task);
}

void Gates::HoldBack(const std::string& type) {
  AmCore& core = parts_.core;
  const auto held = core.tasks.FindType(type);
  if (!held) return;
  bool held_back = false;
  for (std::size_t row = 0; row < reached_.size(); ++row) {
    const Dependency& rule = core.job->depends[row];
    held_back = held_back || (!rule.within && rule.task == type && !reached_[row]);
  }
  core.tasks.HoldBack(*held, held_back);
}

void Gates::Check() {
  AmCore& core = parts_.core;
  const std::vector<Dependency>& rows = core.job->depends;
  if (rows.empty() || core.finishing) return;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (broken_[row]) continue;
    if (reached_[row]) {
      if (Undone(row)) Forget(row);
    } else if (Reached(row)) {
      reached_[row] = true;
      Open(row);
    } else if (NeverReached(row)) {
      TF_PROBE("gates/never-reached");
      Break(row,
            fmt::format("{} waits for {} to have succeeded, which has failed", rows[row].task,
                        rows[row].after),
            TaskIndex(core.tasks.RangeOf(*core.tasks.FindType(rows[row].task)).first));
    }
    if (core.finishing) return;
  }
  for (const std::uint32_t row : std::exchange(overdue_, {})) {
    OnExpired(row);
    if (core.finishing) return;
  }
}

bool Gates::Reached(std::size_t row) const {
  const Dependency& rule = parts_.core.job->depends[row];
  const auto type = parts_.core.tasks.FindType(rule.after);
  if (!type || parts_.core.ledger.ran.contains(static_cast<std::uint32_t>(row))) return true;
  const policy::TypeCounts& counts = parts_.core.tasks.types()[*type];
  switch (rule.state) {
    case DependencyState::kRunning:
      return counts.running + counts.ended() >= counts.instances;
    case DependencyState::kEnded:
      return counts.all_ended();
    case DependencyState::kSucceeded:
      return counts.ok >= counts.instances;
  }
  return false;
}

/// The time in which `task` is to end runs on over the death of an AM.
Instant Gates::ReachedAt(std::size_t row) const {
  const AmCore& core = parts_.core;
  const Dependency& rule = core.job->depends[row];
  if (const auto ran = core.ledger.ran.find(static_cast<std::uint32_t>(row));
      ran != core.ledger.ran.end())
    return std::min(core.InstantAt(ran->second), core.now);
  const auto type = core.tasks.FindType(rule.after);
  if (!type) return core.now;
  StoredTime last{};
  const auto [first, count] = core.tasks.RangeOf(*type);
  for (std::uint32_t i = first; i < first + count; ++i)
    last = std::max(last, core.ledger.tasks[i].ended_at);
  return std::min(core.InstantAt(last), core.now);
}

/// An end that a deadline runs from is none any more where the task starts again.
bool Gates::Undone(std::size_t row) const {
  const Dependency& rule = parts_.core.job->depends[row];
  return rule.within && rule.state != DependencyState::kRunning && !Reached(row);
}

void Gates::Forget(std::size_t row) {
  TF_PROBE("gates/undone");
  reached_[row] = false;
  due_[row] = kNever;
}

bool Gates::NeverReached(std::size_t row) const {
  const Dependency& rule = parts_.core.job->depends[row];
  if (rule.within || rule.state != DependencyState::kSucceeded) return false;
  const auto type = parts_.core.tasks.FindType(rule.after);
  if (!type || !parts_.core.tasks.FindType(rule.task)) return false;
  const policy::TypeCounts& counts = parts_.core.tasks.types()[*type];
  return counts.failed + counts.ignored > 0;
}

void Gates::Open(std::size_t row) {
  AmCore& core = parts_.core;
  const Dependency& rule = core.job->depends[row];
  const auto type = core.tasks.FindType(rule.task);
  if (!type) return;
  if (rule.within) {
    const bool ran = rule.state == DependencyState::kRunning;
    if (ran && !core.ledger.ran.contains(static_cast<std::uint32_t>(row))) {
      (void)core.Append(journal::DependencyRan{.row = static_cast<std::uint32_t>(row),
                                               .at = core.StoredAt(core.now)});
    }
    due_[row] = std::max(core.now, ReachedAt(row) + *rule.within);
    return;
  }
  HoldBack(rule.task);
  // What has waited until now has as long to start as the gang had.
  core.start_by = kNever;
  const auto [first, count] = core.tasks.RangeOf(*type);
  for (std::uint32_t i = first; i < first + count; ++i) parts_.epochs.TryStartAlone(TaskIndex(i));
}

void Gates::OnExpired(std::uint32_t row) {
  AmCore& core = parts_.core;
  due_[row] = kNever;
  const Dependency& rule = core.job->depends[row];
  const auto type = core.tasks.FindType(rule.task);
  if (core.finishing || !type || core.tasks.types()[*type].all_ended()) return;
  if (Undone(row)) return Forget(row);
  const auto [first, count] = core.tasks.RangeOf(*type);
  for (std::uint32_t i = first; i < first + count; ++i) {
    // It may have ended in time, and nothing of what it says has reached this AM.
    if (!core.Awaits(TaskIndex(i))) continue;
    TF_PROBE("gates/within-is-over-for-one-not-heard");
    overdue_.insert(row);
    return;
  }
  TF_PROBE("gates/within-is-over");
  TaskIndex open(first);
  while (open.value + 1 < first + count &&
         core.tasks.record(open).outcome != policy::Outcome::kOpen)
    open = open.next();
  Break(row,
        fmt::format("{} had not ended {} after {} was {}", rule.task, ToString(*rule.within),
                    rule.after, KebabName(rule.state)),
        open);
}

void Gates::Break(std::size_t row, const std::string& why, TaskIndex task) {
  AmCore& core = parts_.core;
  const Dependency& rule = core.job->depends[row];
  broken_[row] = true;
  switch (rule.action) {
    case DependencyAction::kFail:
      if (const auto first = parts_.failover.first_tallied(); !rule.within && first) {
        TF_PROBE("gates/fails-by-a-tallied-end");
        return parts_.finish.Fail(*first, fmt::format("depends/{}", row), why,
                                  parts_.failover.first_tried());
      }
      return parts_.finish.Fail({.task = core.tasks.id(task),
                                 .exit_class = ExitClass::kTimeout,
                                 .node = core.tasks.shown(task).node.host,
                                 .at = core.now,
                                 .detail = why},
                                fmt::format("depends/{}", row), why);
    case DependencyAction::kIgnore: {
      const auto type = core.tasks.FindType(rule.task);
      core.Note(fmt::format("{}; ignored: {} no longer counts", why, rule.task));
      TF_PROBE("gates/waived");
      (void)core.Append(journal::TypeWaived{.task_type = rule.task});
      core.tasks.Waive(*type);
      return;
    }
  }
}

std::int32_t Gates::closed_training() const {
  const AmCore& core = parts_.core;
  if (core.job->depends.empty()) return 0;
  std::int32_t closed = 0;
  for (std::size_t type = 0; type < core.job->tasks.size(); ++type) {
    const TaskIndex first(core.tasks.RangeOf(type).first);
    if (core.tasks.record(first).training && !core.MayStart(first))
      closed += core.tasks.CountRegistered(type);
  }
  return closed;
}

std::string Gates::WaitingFor() const {
  const std::vector<Dependency>& rows = parts_.core.job->depends;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (rows[row].within || reached_[row]) continue;
    return fmt::format("{} to be {}, for {} to start", rows[row].after, KebabName(rows[row].state),
                       rows[row].task);
  }
  return "";
}

}  // namespace tfyarn::am
