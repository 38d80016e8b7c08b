// Training together: who belongs to the team, when it trains, what the loss of one means to the
// others.
#include <algorithm>
#include <utility>

#include "core/model/check.h"
#include "sim/workload.h"

namespace tfyarn::sim {
namespace {

using trace::TrainingPhase;

/// TensorFlow's coordination service takes a peer that does not answer for dead after this time.
constexpr Duration kSilentPeerIsGone = 10s;

ApplicationId ApplicationOf(const SpawnedProcess& process) {
  return process.container.application_attempt.application;
}

/// Where the task listens according to the spec; nullptr when the spec does not list it.
const HostPort* AddressIn(const ClusterSpec* spec, const TaskId& task) {
  if (spec == nullptr) return nullptr;
  const auto type = spec->tasks.find(task.type);
  if (type == spec->tasks.end()) return nullptr;
  const auto index = static_cast<std::size_t>(task.index);
  return index < type->second.size() ? &type->second[index] : nullptr;
}

}  // namespace

bool JobWorkload::InTeam(const Process& process) const {
  if (process.script.runs || trains_alone_[process.ordinal]) return false;
  switch (process.role) {
    case TaskRole::kMember:
    case TaskRole::kChief:
    case TaskRole::kPs:
    case TaskRole::kWorker:
      return true;
    case TaskRole::kSolo:
    case TaskRole::kServer:
    case TaskRole::kEvaluator:
    case TaskRole::kSidecar:
      return false;
  }
  return false;
}

/// The team cannot go on without it.
bool JobWorkload::IsCore(const Process& process) const {
  return process.role != TaskRole::kWorker;
}

bool JobWorkload::Belongs(const Process& process) const {
  if (team_.epoch == Epoch{} || process.peers_lost) return false;
  // Two applications of a job may give the same spec out: same epoch, same addresses.
  if (ApplicationOf(process.is) != team_.application) return false;
  if (process.is.spec.id() == team_.spec.id()) return true;
  if (!servers_ || process.role == TaskRole::kChief) return false;
  const HostPort* listed = AddressIn(team_.spec.get(), process.is.task);
  const HostPort* own = AddressIn(process.is.spec.get(), process.is.task);
  return listed != nullptr && own != nullptr && *listed == *own;
}

// The newest spec among those who may lead counts: the chief's where there is one, else any
// worker's or member's. A job that is submitted again begins with epoch 1 again.
void JobWorkload::TakeTeamSpec(Instant now, std::uint32_t slot, Out& out) {
  const Process& process = processes_[slot];
  const TaskRole leads = !servers_    ? TaskRole::kMember
                         : has_chief_ ? TaskRole::kChief
                                      : TaskRole::kWorker;
  if (process.role != leads) return;
  const ApplicationId application = ApplicationOf(process.is);
  const Epoch epoch = process.is.process.epoch;
  const bool leader_gone = leads == TaskRole::kChief && team_.leader == kNone;
  const auto newest = std::pair(team_.application, team_.epoch);
  const auto its = std::pair(application, epoch);
  if (its < newest || (its == newest && !leader_gone)) return;
  // Workers without a chief take each other's newer spec up without a break; all others start
  // a new session.
  if (leads != TaskRole::kWorker) BreakTeam(now, out);
  team_.spec = process.is.spec;
  team_.application = application;
  team_.epoch = epoch;
  team_.broken = false;
  Recount(now, out);
}

void JobWorkload::Recount(Instant now, Out& out) {
  for (std::uint32_t slot = 0; slot < processes_.size(); ++slot) {
    const Process& process = processes_[slot];
    if (!process.alive || !process.started) continue;
    const bool belongs = InTeam(process) && !process.winding && Belongs(process);
    if (process.attached && !belongs) Detach(slot);
    if (!process.attached && belongs) Attach(slot);
  }
  if (team_.formed && team_.ps < needed_ps_) BreakTeam(now, out);
}

void JobWorkload::Attach(std::uint32_t slot) {
  Process& process = processes_[slot];
  std::uint32_t& place = attached_of_[process.ordinal];
  if (place != kNone) Detach(place);
  place = slot;
  process.attached = true;
  if (process.role == TaskRole::kMember) ++team_.members;
  if (process.role == TaskRole::kPs) ++team_.ps;
  if (process.role == TaskRole::kWorker) ++team_.workers;
  if (process.standing()) ++team_.standing;
  if (process.winding) ++team_.winding;
  team_.gpus += process.gpus;
  if (process.role == TaskRole::kChief) team_.leader = slot;
}

void JobWorkload::Detach(std::uint32_t slot) {
  Process& process = processes_[slot];
  TF_CHECK(process.attached);
  attached_of_[process.ordinal] = kNone;
  process.attached = false;
  if (process.role == TaskRole::kMember) --team_.members;
  if (process.role == TaskRole::kPs) --team_.ps;
  if (process.role == TaskRole::kWorker) --team_.workers;
  if (process.standing()) --team_.standing;
  if (process.winding) --team_.winding;
  team_.gpus -= process.gpus;
  if (team_.leader == slot) team_.leader = kNone;
}

void JobWorkload::JoinTeam(Instant now, std::uint32_t slot, Out& out) {
  TakeTeamSpec(now, slot, out);
  if (!processes_[slot].attached && Belongs(processes_[slot])) Attach(slot);
  const ProcessScript& script = processes_[slot].script;
  if (processes_[slot].attached && team_.formed && team_run_.done() && script.ends_when_done) {
    // It comes to a training that is over.
    EndsAt(slot, {.at = now, .exit = {.code = script.done_exit}});
  }
  RefreshTeam(now, out);
}

void JobWorkload::LeaveTeam(Instant now, std::uint32_t slot, Out& out) {
  Detach(slot);
  if (team_.formed && !team_run_.done() && IsCore(processes_[slot])) {
    BreakTeam(now, out);
    TellPeers(now, processes_[slot]);
  }
  RefreshTeam(now, out);
}

void JobWorkload::BreakTeam(Instant now, Out& out) {
  if (!team_.formed) return;
  team_.formed = team_.saving = team_.ended = false;
  team_.suspects_at = team_.progress_at = kNever;
  const Duration lost = team_run_.Break(now);
  if (lost > Duration::zero()) out.push_back(WorkIsLost{.work = lost});
  TellAccount(team_run_.TakeAccount(false), out);
}

/// A process that the session needed is gone: who notices ends too, unless the job says that peers
/// wait.
void JobWorkload::TellPeers(Instant now, const Process& gone) {
  if (peers_wait_) return;
  const std::string why = "lost connection to " + ToString(gone.is.task);
  const bool said = job_->training.peer_loss.has_value();
  // The chief of a lost ps gives up, even if the ps comes back at once. Workers without a chief
  // connect again, and a member without peers begins anew by itself.
  team_.broken =
      servers_ ? gone.role == TaskRole::kPs && (has_chief_ || said) : needed_members_ > 1;
  for (const std::uint32_t slot : attached_of_) {
    if (slot == kNone) continue;
    // Under parameter-server a ps never minds, and by default only the chief does.
    const TaskRole role = processes_[slot].role;
    const bool minds = role == TaskRole::kMember ||
                       (role == TaskRole::kChief && gone.role == TaskRole::kPs) ||
                       (role == TaskRole::kWorker && said);
    if (minds) LosePeer(now, slot, why);
  }
}

void JobWorkload::LosePeer(Instant now, std::uint32_t slot, const std::string& why) {
  processes_[slot].peers_lost = true;
  EndsAt(slot,
         {.at = now + peer_loss_after_, .exit = {.code = peer_loss_exit_}, .stderr_tail = why});
}

// ---------------------------------------------------------------- does it train

bool JobWorkload::Complete() const {
  if (!has_team_ || team_.epoch == Epoch{} || team_.broken) return false;
  if (!servers_) return team_.members == needed_members_;
  const bool chief = !has_chief_ || team_.leader != kNone;
  return chief && team_.ps >= needed_ps_ && (!needs_worker_ || team_.workers > 0);
}

namespace {

/// Hosts on one side of a cut, as far as it matters which they are.
struct Side {
  const std::string* first = nullptr;
  bool several = false;

  void Add(const std::string& host) {
    several = several || (first != nullptr && *first != host);
    if (first == nullptr) first = &host;
  }
};

}  // namespace

/// A host is never cut off from itself.
bool JobWorkload::Separated() const {
  for (const PeerCut& cut : cuts_) {
    Side here;
    Side there;
    for (const std::uint32_t slot : attached_of_) {
      if (slot == kNone) continue;
      const std::string& host = processes_[slot].is.host;
      const bool inside = cut.from.count(host) > 0;
      if (inside) here.Add(host);
      if (cut.to.empty() ? !inside : cut.to.count(host) > 0) there.Add(host);
    }
    if (here.first == nullptr || there.first == nullptr) continue;
    if (here.several || there.several || *here.first != *there.first) return true;
  }
  return false;
}

/// A process that stands still notices no silence; a team of one has no peer that could.
bool JobWorkload::SomeoneAwake() const {
  return std::any_of(attached_of_.begin(), attached_of_.end(), [this](std::uint32_t slot) {
    return slot != kNone && !processes_[slot].standing();
  });
}

/// The slowest sets the pace; under parameter-server workers do not count.
std::int32_t JobWorkload::TeamPace() const {
  if (slow_processes_ == 0) return 1000;
  std::int32_t pace = 0;
  for (const std::uint32_t slot : attached_of_) {
    if (slot != kNone && IsCore(processes_[slot]))
      pace = std::max(pace, processes_[slot].is.pace_permille);
  }
  return pace == 0 ? 1000 : pace;
}

void JobWorkload::RefreshTeam(Instant now, Out& out) {
  if (Complete() && !team_.formed) {
    team_.formed = true;
    team_run_.Begin(now);
    if (progress_every_ > Duration::zero()) team_.progress_at = now + progress_every_;
    team_.steps_seen = StepsOf(team_run_);
  }
  if (team_.formed) {
    const bool silent = team_.standing > 0 || Separated();
    const bool saving = team_.winding > 0;
    const bool alone = servers_ && needs_worker_ && team_.workers == 0;
    team_run_.SetPace(now, TeamPace());
    team_run_.SetGpus(now, team_.gpus);
    if (silent || alone || (saving && !team_.saving)) {
      team_run_.Pause(now);
    } else {
      team_run_.Resume(now);
    }
    if (!silent || servers_ || peers_wait_ || team_run_.done() || !SomeoneAwake()) {
      team_.suspects_at = kNever;
    } else if (team_.suspects_at == kNever) {
      team_.suspects_at = now + kSilentPeerIsGone;
    }
    if (team_run_.done()) EndTeam(now, out);
  }
  UpdatePhase(out);
  RescheduleTeam();
}

Instant JobWorkload::NextTeamChange() const {
  if (!team_.formed) return kNever;
  const bool every_change = detailed_ || team_run_.phase() == TrainingPhase::kRestore;
  return (every_change ? team_run_.next_change() : team_run_.done_at()).value_or(kNever);
}

void JobWorkload::RescheduleTeam() {
  const Instant progress = team_run_.done() ? kNever : team_.progress_at;
  Schedule(std::min({NextTeamChange(), team_.suspects_at, progress}), kNone, team_.due);
}

void JobWorkload::AdvanceTeam(Instant now, Out& out) {
  if (!team_.formed) return;
  team_run_.Advance(now);
  if (team_.suspects_at <= now) {
    BreakTeam(now, out);
    team_.broken = true;
    for (const std::uint32_t slot : attached_of_) {
      if (slot != kNone && !processes_[slot].standing())
        LosePeer(now, slot, "a peer does not answer any more");
    }
  }
  if (team_.progress_at <= now) {
    team_.progress_at = now + progress_every_;
    if (std::exchange(team_.steps_seen, StepsOf(team_run_)) != StepsOf(team_run_)) {
      for (const std::uint32_t slot : attached_of_) {
        if (slot != kNone && processes_[slot].role != TaskRole::kPs) ShowProgress(slot, out);
      }
    }
  }
  RefreshTeam(now, out);
}

/// Training is done: who ends by itself then, ends now.
void JobWorkload::EndTeam(Instant now, Out& out) {
  if (team_.ended) return;
  team_.ended = true;
  TellAccount(team_run_.TakeAccount(false), out);
  for (const std::uint32_t slot : attached_of_) {
    if (slot == kNone) continue;
    const Process& process = processes_[slot];
    if (process.script.ends_when_done && !process.winding) {
      EndsAt(slot, {.at = now, .exit = {.code = process.script.done_exit}});
    }
  }
  TrainingDone(now);
}

/// One got SIGTERM and does not end at once. With a checkpoint agreed on, all that can save do so
/// together, as TensorFlow's PreemptionCheckpointHandler makes them.
void JobWorkload::WindTeam(Instant now, std::uint32_t slot, bool checkpoint, Out& out) {
  ++team_.winding;
  if (!IsCore(processes_[slot])) {
    Detach(slot);
    return RefreshTeam(now, out);
  }
  const bool trains = team_.formed && !team_run_.done();
  if (checkpoint && trains && !team_.saving) {
    team_run_.StartSaving(now);
    team_.saving = true;
    if (!servers_) WindMembers(now);
  }
  processes_[slot].saving = checkpoint && trains;
  RefreshTeam(now, out);
}

void JobWorkload::WindMembers(Instant now) {
  for (const std::uint32_t slot : attached_of_) {
    if (slot == kNone || processes_[slot].winding || processes_[slot].standing()) continue;
    Process& process = processes_[slot];
    const TermScript term =
        TermScriptFor(process.script, index_, seed_, process.is.task, process.is.process.attempt);
    if (term.ignore || !term.checkpoint) continue;
    process.winding = process.saving = true;
    ++team_.winding;
    EndsAt(slot, {.at = now + term.after, .exit = term.exit});
  }
}

}  // namespace tfyarn::sim
