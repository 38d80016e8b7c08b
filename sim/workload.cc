// The workload's door: the job's needs, and what the host tells. Processes and time are in
// workload_process.cc, training together in workload_team.cc, alone in workload_alone.cc.
//
// What a process does when a peer dies follows what TensorFlow 2.21 was measured to do: under
// MultiWorkerMirroredStrategy the survivors of a killed peer exit with 1 after 1 to 8 s, those of a
// stopped one after 12 to 17 s (its coordination service takes a silent peer for dead after 10 s),
// and a peer restarted alone does not bring them back; under ParameterServerStrategy the chief
// exits with 1 about a second after a ps died, goes on without a dead worker, stalls for as long as
// a stopped worker stands, and no other process ends.
#include "sim/workload.h"

#include <algorithm>
#include <utility>

#include "core/model/check.h"
#include "sim/random.h"

namespace tfyarn::sim {
namespace {

/// Steps are looked for this many times within the silence that `watch` allows.
constexpr std::int64_t kProgressPerSilence = 4;
constexpr Duration kShortestProgress = 1s;

Duration Scaled(std::int64_t count, Duration each) {
  if (count <= 0 || each <= Duration::zero()) return Duration::zero();
  return count > kLongestDraw / each ? kLongestDraw : count * each;
}

/// What peers do by default: as TensorFlow under the strategy.
config::PeerLossSpec PeerLossOf(const config::JobConfig& job) {
  if (job.training.peer_loss) return *job.training.peer_loss;
  if (job.spec.strategy == Strategy::kParameterServer)
    return {.wait = false, .after = 1s, .exit = 1};
  return {.wait = false, .after = 3s, .exit = 1};
}

Duration DrawTotal(const config::TrainingSpec& training, trace::JobIndex index, std::uint64_t seed,
                   Duration& step_time) {
  step_time = Random(seed, "training/step-time", index.value).DrawDuration(training.step_time);
  return Scaled(Random(seed, "training/steps", index.value).DrawCount(training.steps), step_time);
}

}  // namespace

JobWorkload::JobWorkload(std::shared_ptr<const config::JobConfig> job, trace::JobIndex index,
                         std::uint64_t seed, bool detailed)
    : job_(std::move(job)),
      index_(index),
      seed_(seed),
      detailed_(detailed),
      servers_(job_->spec.strategy == Strategy::kParameterServer),
      total_work_(DrawTotal(job_->training, index, seed, step_time_)),
      team_run_(total_work_, job_->training.checkpoint, job_->training.restore) {
  const config::PeerLossSpec loss = PeerLossOf(*job_);
  peers_wait_ = loss.wait;
  peer_loss_after_ = loss.after;
  peer_loss_exit_ = loss.exit;
  if (job_->spec.watch) {
    progress_every_ = std::max(job_->spec.watch->stalled / kProgressPerSilence, kShortestProgress);
  }
  std::uint32_t next = 0;
  for (const TaskTypeSpec& type : job_->spec.tasks) {
    const TaskGroup group{.type = type.name,
                          .first = next,
                          .size = static_cast<std::uint32_t>(std::max(type.instances, 0)),
                          .gpus = type.resource.gpus,
                          .role = RoleOf(job_->spec, type.name)};
    next += group.size;
    trains_alone_.resize(next, false);
    groups_.push_back(group);
    CountNeeded(group);
  }
  attached_of_.assign(next, kNone);
  has_team_ = needed_members_ > 0 || needs_worker_ || has_chief_;
}

void JobWorkload::CountNeeded(const TaskGroup& group) {
  if (group.role == TaskRole::kServer || group.role == TaskRole::kEvaluator ||
      group.role == TaskRole::kSidecar)
    return;
  for (std::uint32_t i = 0; i < group.size; ++i) {
    const bool trains =
        job_->behavior.empty() ||
        !NeverTrains(*job_, TaskId{.type = group.type, .index = static_cast<std::int32_t>(i)});
    if (group.role == TaskRole::kSolo || !trains) {
      trains_alone_[group.first + i] = true;
      ++alone_tasks_;
      continue;
    }
    if (group.role == TaskRole::kMember) ++needed_members_;
    if (group.role == TaskRole::kPs) ++needed_ps_;
    if (group.role == TaskRole::kWorker) needs_worker_ = true;
    if (group.role == TaskRole::kChief) has_chief_ = true;
  }
}

const JobWorkload::TaskGroup& JobWorkload::GroupOf(const TaskId& task) const {
  for (const TaskGroup& group : groups_) {
    if (group.type != task.type) continue;
    TF_CHECK(task.index >= 0 && static_cast<std::uint32_t>(task.index) < group.size);
    return group;
  }
  CheckFailed(__FILE__, __LINE__, "the task is one of the job");
}

std::uint32_t JobWorkload::SlotOf(const ContainerId& container) const {
  const auto found = by_container_.find(container);
  return found == by_container_.end() ? kNone : found->second;
}

// ---------------------------------------------------------------- what the host tells

void JobWorkload::Spawned(Instant now, const SpawnedProcess& spawned, Out& out) {
  RunDue(now, out);
  TF_CHECK(SlotOf(spawned.container) == kNone);
  std::uint32_t slot;
  if (free_slots_.empty()) {
    slot = static_cast<std::uint32_t>(processes_.size());
    processes_.emplace_back();
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
    processes_[slot] = Process{};
  }
  by_container_.emplace(spawned.container, slot);
  Process& process = processes_[slot];
  process.is = spawned;
  process.alive = true;
  const TaskGroup& group = GroupOf(spawned.task);
  process.role = group.role;
  process.ordinal = group.first + static_cast<std::uint32_t>(spawned.task.index);
  process.gpus = group.gpus;
  process.script = ScriptFor(*job_, index_, seed_, spawned.task, spawned.process.attempt);
  if (spawned.pace_permille != 1000) ++slow_processes_;
  process.starts_at = now + process.script.start;
  const config::BehaviorRow* row = process.script.row;
  if (row != nullptr && (row->never_listens || row->listens))
    process.looked_at = now + job_->spec.deadlines.listen;
  Reschedule(slot);
  RunDue(now, out);
}

void JobWorkload::Signalled(Instant now, const ContainerId& container, TaskAttempt attempt,
                            StopSignal signal, Out& out) {
  RunDue(now, out);
  const std::uint32_t slot = SlotOf(container);
  if (slot == kNone || processes_[slot].is.process.attempt != attempt) return;
  if (signal == StopSignal::kKill) {
    processes_[slot].saving = false;
    EndNow(now, slot, {.at = now, .exit = {.signal = kSigkill}}, out);
  } else if (signal == StopSignal::kContinue) {
    std::erase_if(processes_[slot].frozen_by,
                  [](const auto& fault) { return fault.second == Freeze::kStopped; });
    if (processes_[slot].frozen == Freeze::kStopped) Thaw(now, slot, EffectOf(slot), out);
  } else if (!processes_[slot].standing()) {
    Terminate(now, slot, out);
  } else if (processes_[slot].frozen == Freeze::kStopped) {
    processes_[slot].term_waits = true;
  }
  RunDue(now, out);
}

void JobWorkload::Ends(Instant now, const ContainerId& container, ProcessExit exit, Out& out) {
  RunDue(now, out);
  const std::uint32_t slot = SlotOf(container);
  if (slot == kNone) return;
  processes_[slot].saving = false;
  EndNow(now, slot, {.at = now, .exit = exit}, out);
  RunDue(now, out);
}

void JobWorkload::Vanished(Instant now, const ContainerId& container, Out& out) {
  RunDue(now, out);
  const std::uint32_t slot = SlotOf(container);
  if (slot == kNone) return;
  Remove(now, slot, out);
  RunDue(now, out);
}

void JobWorkload::Froze(Instant now, const ContainerId& container, std::uint64_t by, Freeze how,
                        Out& out) {
  RunDue(now, out);
  const std::uint32_t slot = SlotOf(container);
  if (slot == kNone) return;
  auto& faults = processes_[slot].frozen_by;
  std::erase_if(faults, [by](const auto& fault) { return fault.first == by; });
  if (how != Freeze::kNone) faults.emplace_back(by, how);
  if (processes_[slot].frozen == EffectOf(slot)) return;
  Thaw(now, slot, EffectOf(slot), out);
  RunDue(now, out);
}

/// A process that is stopped shows it, whatever else holds it.
Freeze JobWorkload::EffectOf(std::uint32_t slot) const {
  Freeze effect = Freeze::kNone;
  for (const auto& [by, how] : processes_[slot].frozen_by) {
    if (how == Freeze::kStopped) return how;
    effect = how;
  }
  return effect;
}

void JobWorkload::Thaw(Instant now, std::uint32_t slot, Freeze how, Out& out) {
  Process& process = processes_[slot];
  const bool stood = process.standing();
  const bool showed = process.frozen == Freeze::kStopped;
  process.frozen = how;
  if (showed != (how == Freeze::kStopped)) ShowSigns(process, out);
  StandingChanged(now, slot, stood, out);
  if (how == Freeze::kNone && std::exchange(processes_[slot].term_waits, false) &&
      !processes_[slot].standing())
    Terminate(now, slot, out);
}

void JobWorkload::ShowSigns(const Process& process, Out& out) {
  const bool stopped = process.frozen == Freeze::kStopped;
  const auto* row = process.script.row;
  out.push_back(
      SignsAreSeen{.container = process.is.container,
                   .attempt = process.is.process.attempt,
                   .standstill = stopped ? Standstill::kStopped : Standstill::kNone,
                   .catches_term = row != nullptr && row->on_term && !row->on_term->ignore});
}

void JobWorkload::StandingChanged(Instant now, std::uint32_t slot, bool stood, Out& out) {
  Process& process = processes_[slot];
  if (stood == process.standing()) return;
  if (process.attached) {
    team_.standing += process.standing() ? 1 : 0;
    team_.standing -= process.standing() ? 0 : 1;
    RefreshTeam(now, out);
    // It stood for so long that its peers took it for dead; now it hears of it.
    if (!process.standing() && team_.broken && !process.peers_lost)
      LosePeer(now, slot, "its peers do not answer any more");
  }
  if (process.run != nullptr && process.run->in_session()) {
    if (process.standing()) {
      process.run->Pause(now);
    } else if (!process.winding || process.saving) {
      process.run->Resume(now);
    }
    CountAlone(process);
    UpdatePhase(out);
  }
  Reschedule(slot);
}

void JobWorkload::PaceChanged(Instant now, const ContainerId& container, std::int32_t pace_permille,
                              Out& out) {
  RunDue(now, out);
  const std::uint32_t slot = SlotOf(container);
  if (slot == kNone) return;
  Process& process = processes_[slot];
  if (process.is.pace_permille != 1000) --slow_processes_;
  if (pace_permille != 1000) ++slow_processes_;
  process.is.pace_permille = pace_permille;
  if (process.attached) RefreshTeam(now, out);
  if (process.run != nullptr) process.run->SetPace(now, pace_permille);
  Reschedule(slot);
  RunDue(now, out);
}

void JobWorkload::CutsChanged(Instant now, std::vector<PeerCut> cuts, Out& out) {
  RunDue(now, out);
  cuts_ = std::move(cuts);
  RefreshTeam(now, out);
  RunDue(now, out);
}

void JobWorkload::DeadlineReached(Instant now, Out& out) {
  RunDue(now, out);
}

void JobWorkload::Settle(Instant now, Out& out) {
  RunDue(now, out);
  TrainingAccount sum;
  const auto settle = [&](TrainingRun& run) {
    if (run.in_session()) run.Advance(now);
    sum += run.TakeAccount(true);
  };
  settle(team_run_);
  for (Process& process : processes_) {
    if (process.alive && process.run != nullptr) settle(*process.run);
  }
  TellAccount(sum, out);
}

void JobWorkload::TellAccount(const TrainingAccount& account, Out& out) {
  // No larger: so that a reader may add a few of them up in 64 bits.
  constexpr WideTime kLargest = std::int64_t{1} << 60;
  TrainingAccount left = account;
  while (left != TrainingAccount{}) {
    const auto take = [&](WideTime& amount) {
      const WideTime taken = std::min(amount, kLargest);
      amount -= taken;
      return Duration(static_cast<Duration::rep>(taken));
    };
    const auto split = [&](TimeSplit& from) {
      return Accounted::Split{.useful = take(from.useful),
                              .checkpoint = take(from.checkpoint),
                              .restore = take(from.restore),
                              .lost = take(from.lost)};
    };
    out.push_back(Accounted{.wall = split(left.wall), .gpu = split(left.gpu)});
  }
}

}  // namespace tfyarn::sim
