// Processes and their time: deadlines, starts, exits, and the phase that the job shows.
#include <algorithm>
#include <utility>

#include "core/model/check.h"
#include "sim/workload.h"

namespace tfyarn::sim {
namespace {

using trace::TrainingPhase;

/// A server that cannot have its port gives up after this time, with code 1.
constexpr Duration kPortTakenAfter = 3s;

}  // namespace

std::optional<Instant> JobWorkload::next_deadline() const {
  if (deadlines_.empty()) return std::nullopt;
  return deadlines_.top().first;
}

void JobWorkload::RunDue(Instant now, Out& out) {
  TF_CHECK(now >= now_);
  DropStaleDeadlines();
  while (!deadlines_.empty() && deadlines_.top().first <= now) {
    const auto [at, id] = deadlines_.top();
    deadlines_.pop();
    now_ = at;
    if (id == kNone) {
      team_.due = kNever;
      AdvanceTeam(at, out);
    } else {
      processes_[id].due = kNever;
      RunProcess(at, id, out);
    }
    DropStaleDeadlines();
  }
  now_ = now;
}

void JobWorkload::DropStaleDeadlines() {
  while (!deadlines_.empty()) {
    const auto [at, id] = deadlines_.top();
    if ((id == kNone ? team_.due : processes_[id].due) == at) return;
    deadlines_.pop();
  }
}

void JobWorkload::Schedule(Instant at, std::uint32_t id, Instant& due) {
  at = std::max(at, now_);  // What was put off while a process stood still is due at once.
  if (at == due) return;
  due = at;
  if (at != kNever) deadlines_.emplace(at, id);
}

void JobWorkload::Reschedule(std::uint32_t slot) {
  Process& process = processes_[slot];
  Schedule(DueOf(process), slot, process.due);
}

Instant JobWorkload::DueOf(const Process& process) const {
  if (!process.alive || process.standing()) return kNever;
  Instant due = process.progress_at;
  if (process.starts_at) due = std::min(due, *process.starts_at);
  if (process.hangs_at) due = std::min(due, *process.hangs_at);
  if (process.listens_at) due = std::min(due, *process.listens_at);
  if (process.looked_at) due = std::min(due, *process.looked_at);
  if (process.end) due = std::min(due, process.end->at);
  if (process.run != nullptr) {
    // Without details only the beginning and the end of training are of interest.
    const bool every_change = detailed_ || process.run->phase() == TrainingPhase::kRestore;
    const std::optional<Instant> change =
        every_change ? process.run->next_change() : process.run->done_at();
    if (change) due = std::min(due, *change);
  }
  return due;
}

void JobWorkload::RunProcess(Instant at, std::uint32_t slot, Out& out) {
  // A process that stood still past its times does then what it would have done.
  if (processes_[slot].starts_at && *processes_[slot].starts_at <= at) Start(at, slot, out);
  if (processes_[slot].alive && processes_[slot].end && processes_[slot].end->at <= at) {
    const End end = std::move(*processes_[slot].end);
    return EndNow(at, slot, end, out);
  }
  Process& process = processes_[slot];
  if (!process.alive) return;
  if (process.hangs_at && *process.hangs_at <= at) {
    process.hangs_at.reset();
    const bool stood = process.standing();
    process.hung = true;
    return StandingChanged(at, slot, stood, out);
  }
  if (process.looked_at && *process.looked_at <= at) {
    process.looked_at.reset();
    ShowPort(process, PortListener::kNobody, out);
  }
  if (process.listens_at && *process.listens_at <= at) {
    process.listens_at.reset();
    process.looked_at.reset();
    ShowPort(process, PortListener::kOurs, out);
    TakePart(at, slot, out);
  }
  if (processes_[slot].run != nullptr) AdvanceAlone(at, slot, out);
  if (processes_[slot].alive) Reschedule(slot);
}

void JobWorkload::Start(Instant now, std::uint32_t slot, Out& out) {
  Process& process = processes_[slot];
  process.starts_at.reset();
  if (process.winding) return;
  process.started = true;
  const ProcessScript& script = process.script;
  if (script.row != nullptr && script.row->on_term && !script.row->on_term->ignore)
    ShowSigns(process, out);
  if (script.event_after && script.hang) process.hangs_at = now + *script.event_after;
  if (script.event_after && !script.hang)
    EndsAt(slot, {.at = now + *script.event_after,
                  .exit = script.exit,
                  .stderr_tail = script.row != nullptr ? script.row->says : ""});
  if (process.is.port_taken) {
    EndsAt(slot, {.at = now + kPortTakenAfter,
                  .exit = {.code = 1},
                  .port_conflict = true,
                  .stderr_tail = "Could not start gRPC server: address already in use"});
    return;
  }
  // What fails or hangs at its start never takes part.
  if (script.event_after == Duration::zero()) return;
  const config::BehaviorRow* row = script.row;
  if (row != nullptr && row->port_taken) return ShowPort(process, PortListener::kStranger, out);
  if (row != nullptr && row->never_listens) return;
  if (!script.listens) return TakePart(now, slot, out);
  process.listens_at = now + *script.listens;
  Reschedule(slot);
}

void JobWorkload::ShowPort(const Process& process, PortListener listener, Out& out) const {
  if (!process.is.should_listen) return;
  out.push_back(PortIsSeen{.container = process.is.container,
                           .attempt = process.is.process.attempt,
                           .listener = listener});
}

/// Its peers reach it from now on.
void JobWorkload::TakePart(Instant now, std::uint32_t slot, Out& out) {
  Process& process = processes_[slot];
  if (process.winding) return;
  const ProcessScript& script = process.script;
  if (process.role == TaskRole::kSolo || script.runs || trains_alone_[process.ordinal]) {
    StartAlone(now, slot, out);
  } else if (InTeam(process)) {
    JoinTeam(now, slot, out);
  } else if (training_done_ && script.ends_when_done) {
    EndsAt(slot, {.at = now + kEvaluatorAfter, .exit = {.code = script.done_exit}});
  }
}

void JobWorkload::EndsAt(std::uint32_t slot, End end) {
  Process& process = processes_[slot];
  if (process.end && process.end->at <= end.at) return;
  process.end = std::move(end);
  Reschedule(slot);
}

void JobWorkload::Terminate(Instant now, std::uint32_t slot, Out& out) {
  Process& process = processes_[slot];
  if (process.winding) return;
  const TermScript term =
      TermScriptFor(process.script, index_, seed_, process.is.task, process.is.process.attempt);
  if (term.ignore) return;
  const End end{.at = now + term.after, .exit = term.exit};
  if (term.after == Duration::zero() && !term.checkpoint) return EndNow(now, slot, end, out);
  process.winding = true;
  if (process.attached) {
    WindTeam(now, slot, term.checkpoint, out);
  } else if (process.run != nullptr && process.run->in_session()) {
    process.saving = term.checkpoint;
    if (term.checkpoint) {
      process.run->StartSaving(now);
    } else {
      process.run->Pause(now);
    }
    CountAlone(process);
    UpdatePhase(out);
  }
  EndsAt(slot, end);
  Reschedule(slot);
}

void JobWorkload::EndNow(Instant now, std::uint32_t slot, const End& end, Out& out) {
  Process& process = processes_[slot];
  if (process.saving && process.run != nullptr) process.run->FinishSaving(now);
  if (process.saving && process.attached && team_.formed) team_run_.FinishSaving(now);
  if (end.exit.status() == 0 && process.script.row != nullptr) {
    for (const std::string& path : process.script.row->writes)
      out.push_back(FileIsWritten{.path = path});
  }
  out.push_back(ProcessExits{.container = process.is.container,
                             .attempt = process.is.process.attempt,
                             .exit = end.exit,
                             .port_conflict = end.port_conflict,
                             .stderr_tail = end.stderr_tail});
  Remove(now, slot, out);
}

void JobWorkload::Remove(Instant now, std::uint32_t slot, Out& out) {
  Process& process = processes_[slot];
  process.alive = false;
  process.end.reset();
  if (process.is.pace_permille != 1000) --slow_processes_;
  by_container_.erase(process.is.container);
  if (process.run != nullptr) BreakAlone(now, slot, out);
  if (process.attached) LeaveTeam(now, slot, out);
  processes_[slot].due = kNever;
  free_slots_.push_back(slot);
  UpdatePhase(out);
}

/// The job does what its busiest training does.
void JobWorkload::UpdatePhase(Out& out) {
  const auto any = [&](TrainingPhase phase) {
    return team_run_.phase() == phase || alone_in_phase_[static_cast<std::size_t>(phase)] > 0;
  };
  TrainingPhase phase = TrainingPhase::kIdle;
  if (any(TrainingPhase::kTraining)) {
    phase = TrainingPhase::kTraining;
  } else if (any(TrainingPhase::kCheckpoint)) {
    phase = detailed_ ? TrainingPhase::kCheckpoint : TrainingPhase::kTraining;
  } else if (any(TrainingPhase::kRestore)) {
    phase = TrainingPhase::kRestore;
  } else if ((has_team_ || alone_tasks_ > 0) && (!has_team_ || team_run_.done()) && AloneDone()) {
    phase = TrainingPhase::kDone;
  }
  if (phase == phase_) return;
  phase_ = phase;
  out.push_back(PhaseChanged{.phase = phase});
}

bool JobWorkload::makes_progress() const {
  return phase_ == TrainingPhase::kRestore || phase_ == TrainingPhase::kTraining ||
         phase_ == TrainingPhase::kCheckpoint;
}

std::vector<RunningProcess> JobWorkload::running() const {
  std::vector<RunningProcess> all;
  all.reserve(by_container_.size());
  for (const auto& [container, slot] : by_container_) {
    const Process& process = processes_[slot];
    all.push_back({.container = container,
                   .task = process.is.task,
                   .process = process.is.process,
                   .spec = process.is.spec.id(),
                   .host = process.is.host,
                   .frozen = process.frozen != Freeze::kNone});
  }
  return all;
}

}  // namespace tfyarn::sim
