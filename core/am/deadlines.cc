#include "core/am/deadlines.h"

#include <algorithm>
#include <functional>

#include "core/am/am_parts.h"

namespace tfyarn::am {

// ---------------------------------------------------------------- the index

void DeadlineIndex::Set(const Due& due) {
  if (due.key >= of_.size()) of_.resize(due.key + std::size_t{1});
  if (of_[due.key] == due) return;
  of_[due.key] = due;
  if (due.at != kNever) {
    heap_.push_back(due);
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
  }
  DropDead();
  // Thousands wait while they start, and none when all run.
  if (heap_.empty()) heap_.shrink_to_fit();
}

Due DeadlineIndex::of(std::uint32_t key) const {
  return key < of_.size() ? of_[key] : Due{.key = key};
}

void DeadlineIndex::DropDead() {
  while (!heap_.empty() && of_[heap_.front().key] != heap_.front()) {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    heap_.pop_back();
  }
}

// ---------------------------------------------------------------- what is due, by the state

Due FirstOf(const AmCore& core, TaskIndex task) {
  const TaskRecord& of = core.tasks.record(task);
  Due first{.key = task.value};
  const auto consider = [&](Deadline what, Instant at) {
    if (at != kNever) first = std::min(first, Due{.at = at, .what = what, .key = task.value});
  };
  if (of.agent == AgentPhase::kLaunching) {
    consider(Deadline::kRegistration, of.register_by);
    consider(Deadline::kLaunchRetry, of.launch_again_at);
  }
  switch (of.process) {
    case ProcessPhase::kOrdered:
      // Nothing starts any more after the verdict; if it does run all the same, its agent says so.
      if (!core.snapshot.verdict) consider(Deadline::kOrder, of.order_again_at);
      consider(Deadline::kProcessStart, of.overdue_at);
      break;
    case ProcessPhase::kStopping:
      consider(Deadline::kOrder, of.order_again_at);
      consider(Deadline::kStopOverdue, of.overdue_at);
      break;
    case ProcessPhase::kNone:
    case ProcessPhase::kRunning:
    case ProcessPhase::kEnded:
      break;
  }
  if (core.tasks.ProcessAlive(task)) consider(Deadline::kDrain, of.drain_until);
  if (of.asks_later) consider(Deadline::kAskAgain, of.ask_from);
  if (of.resting) consider(Deadline::kRested, of.rests_until);
  return first;
}

Due Deadlines::FirstOfJob() const {
  const AmCore& core = parts_.core;
  Due first;
  const auto consider = [&](Deadline what, Instant at, std::uint32_t key = 0) {
    if (at <= woken_) at = std::max(at, waits_until_);
    if (at != kNever) first = std::min(first, Due{.at = at, .what = what, .key = key});
  };
  consider(Deadline::kJournalRetry, core.out.retry_at());
  consider(Deadline::kReattach, core.agents_until);
  consider(Deadline::kStartDeadline, parts_.life.start_by());
  consider(Deadline::kRunDeadline, parts_.life.run_until());
  consider(Deadline::kBlame, parts_.failover.decides_at());
  consider(Deadline::kEvidenceRetry, parts_.finish.evidence_again_at());
  consider(Deadline::kEvidenceGiveUp, parts_.finish.evidence_until());
  for (std::uint32_t row = 0; row < core.job->depends.size(); ++row)
    consider(Deadline::kDependency, parts_.gates.due(row), row);
  consider(Deadline::kNodesMayCome, core.allocation.judges_at());
  return first;
}

Due Deadlines::First() const {
  return std::min({FirstOfJob(), tasks_.first(), leaving_.first()});
}

std::optional<Instant> Deadlines::next() const {
  const Instant at = First().at;
  return at == kNever ? std::nullopt : std::optional(at);
}

bool Deadlines::AgreeWithState() const {
  for (std::uint32_t i = 0; i < parts_.core.tasks.size(); ++i) {
    if (tasks_.of(i) != FirstOf(parts_.core, TaskIndex(i))) return false;
  }
  for (std::uint32_t slot = 0; slot < parts_.leaving.slots(); ++slot) {
    if (leaving_.of(slot) != parts_.leaving.FirstOf(slot)) return false;
  }
  return true;
}

// ---------------------------------------------------------------- time passes

void Deadlines::Refresh() {
  AmCore& core = parts_.core;
  for (const TaskIndex task : core.tasks.touched()) tasks_.Set(FirstOf(core, task));
  core.tasks.ForgetTouched();
  for (const std::uint32_t slot : parts_.leaving.touched())
    leaving_.Set(parts_.leaving.FirstOf(slot));
  parts_.leaving.ForgetTouched();
}

void Deadlines::PutOff(Instant to) {
  woken_ = parts_.core.now;
  waits_until_ = to;
  parts_.core.tasks.PutOff(woken_, to);
  parts_.leaving.PutOff(woken_, to);
  Refresh();
}

void Deadlines::TakeDue() {
  const AmCore& core = parts_.core;
  parts_.life.LetSuccessStand();
  Refresh();
  for (Due due = First(); due.at <= core.now; due = First()) {
    CarryOut(due);
    if (core.stopped) return;
    Refresh();
  }
  parts_.agent_desk.FindSilent();
  parts_.containers.OnGangTime();
}

void Deadlines::CarryOut(const Due& due) {
  const TaskIndex task(due.key);
  switch (due.what) {
    case Deadline::kJournalRetry:
      return parts_.startup.OnJournalRetry();
    case Deadline::kReattach:
      return parts_.recovery.OnReattachOver();
    case Deadline::kStartDeadline:
      return parts_.life.OnStartDeadline();
    case Deadline::kRunDeadline:
      return parts_.life.OnRunDeadline();
    case Deadline::kBlame:
      return parts_.failover.OnBlameDeadline();
    case Deadline::kEvidenceRetry:
      return parts_.finish.OnEvidenceRetry();
    case Deadline::kEvidenceGiveUp:
      return parts_.finish.OnEvidenceGiveUp();
    case Deadline::kDependency:
      return parts_.gates.OnExpired(due.key);
    case Deadline::kNodesMayCome:
      parts_.core.allocation.JudgeAgain();
      return;
    case Deadline::kRegistration:
      return parts_.launch.OnRegistrationTimeout(task);
    case Deadline::kLaunchRetry:
      return parts_.launch.OnRetry(task);
    case Deadline::kOrder:
      return parts_.processes.Repeat(task);
    case Deadline::kStopOverdue:
      return parts_.failover.OnStopOverdue(task);
    case Deadline::kProcessStart:
      return parts_.failover.OnStartOverdue(task);
    case Deadline::kDrain:
      return parts_.ending.OnDrained(task);
    case Deadline::kAskAgain:
      return parts_.restart.AskAgain(task);
    case Deadline::kRested:
      return parts_.epochs.OnRested(task);
    case Deadline::kEndAgain:
      return parts_.leaving.OnEndAgain(due.key);
    case Deadline::kLeaving:
      return parts_.leaving.OnStepOver(due.key);
  }
}

}  // namespace tfyarn::am
