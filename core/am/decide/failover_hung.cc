// Which of several is the one that hangs, and whether what is left of a collective can still save
// its work. It only looks; what follows is in failover.cc.
#include <algorithm>
#include <utility>

#include "core/am/am_parts.h"
#include "core/am/decide/failover.h"
#include "core/model/probe.h"
#include "core/model/text.h"
#include "core/policy/exit_classifier.h"
#include "core/policy/silent_peers.h"

namespace tfyarn::am {
namespace {

/// What was ordered to start so much later than its peer starts with it all the same: the orders of
/// one decision come one after the other, and a process takes longer to listen.
constexpr Duration kStartTogether = 1s;

/// Survivors of a broken collective of TensorFlow end by themselves within 8 s (docs/policies.md).
/// Who was killed sooner than this may have been about to.
constexpr Duration kVictimsHaveEnded = 10s;

const char* InWords(Standstill standstill) {
  switch (standstill) {
    case Standstill::kNone:
      return "runs";
    case Standstill::kStopped:
      return "is stopped (state T)";
    case Standstill::kUninterruptible:
      return "waits in a call that hears no signal (state D)";
  }
  return "";
}

/// A program chose that code to say that it has saved and wants to go on later: TensorFlow's own
/// are 143 on Google's machines and 42 on its clusters, shells and others have 130.
bool SaysItSaved(std::int32_t code) {
  const std::vector<std::int32_t>& retryable = policy::DefaultRetryableCodes();
  return code == 42 || code == 130 || code == 143 ||
         std::find(retryable.begin(), retryable.end(), code) != retryable.end();
}

}  // namespace

void Failover::OnSigns(TaskIndex task) {
  if (parts_.core.tasks.record(task).standstill == Standstill::kNone) {
    if (standing_.erase(task) > 0)
      woken_.insert_or_assign(
          task, Woken{.attempt = parts_.core.tasks.ProcessOf(task).attempt, .at = parts_.core.now});
    return;
  }
  standing_.insert(task);
  if (deciding()) MaybeDecide();
}

void Failover::OnStood(TaskIndex task, const PastStandstill& stood) {
  AmCore& core = parts_.core;
  if (!(stood.process == core.tasks.ProcessOf(task)) || !core.tasks.ProcessAlive(task)) return;
  TF_PROBE("hung/stood-under-the-am-before");
  if (stood.ago) {
    woken_.insert_or_assign(task,
                            Woken{.attempt = stood.process.attempt, .at = core.now - *stood.ago});
    return;
  }
  core.tasks.mutable_record(task).standstill = stood.standstill;
  OnSigns(task);
}

std::set<TaskIndex> Failover::Standing() const {
  const AmCore& core = parts_.core;
  std::set<TaskIndex> standing;
  for (const TaskIndex task : standing_) {
    const TaskRecord& record = core.tasks.record(task);
    if (record.training && record.standstill != Standstill::kNone && core.tasks.ProcessAlive(task))
      standing.insert(task);
  }
  return standing;
}

void Failover::OnStandsStill(TaskIndex task, const std::string& harm) {
  AmCore& core = parts_.core;
  TF_PROBE("hung/standing-blamed");
  TaskRecord& record = core.tasks.mutable_record(task);
  // `watch` says what follows for the one that stalls. A standstill is a failure of its own, and
  // what starts again is its own restart unit, unless `watch` starts nothing again.
  record.stalled = core.job->watch && !policy::IsRestart(core.job->watch->action);
  OnBlamed(Hung(task, std::string(InWords(record.standstill)) + ", and " + harm).end, true);
}

// ---------------------------------------------------------------- who hangs

/// Where the policy does nothing about a hang, the cause is another one still.
std::optional<Failure> Failover::FindAccused() const {
  std::optional<Failure> accused = FindStanding();
  if (!accused || policy::IsRestart(accused->decision.action) ||
      accused->decision.action == ExitAction::kFail)
    return accused;
  TF_PROBE("hung/accused-in-vain");
  return std::nullopt;
}

/// Only of a collective: under parameter-server a standing worker ends none of its peers.
std::optional<Failure> Failover::FindStanding() const {
  const AmCore& core = parts_.core;
  if (core.job->strategy != Strategy::kMultiWorker) return std::nullopt;
  const std::set<TaskIndex> standing = Standing();
  if (!standing.empty()) {
    TF_PROBE("hung/standing-accused");
    const TaskIndex task = *standing.begin();
    return Hung(task, std::string(InWords(core.tasks.record(task).standstill)) +
                          ", and its peers have failed");
  }
  if (window_->named && core.tasks.ProcessAlive(*window_->named)) {
    TF_PROBE("hung/named-by-a-peer");
    return Hung(*window_->named, "a peer's last words: it has stopped sending heartbeats");
  }
  return FindWoken();
}

/// Who stood still until a moment ago: its peers may have given it up while it did, and it them. No
/// peer makes a process crash.
std::optional<Failure> Failover::FindWoken() const {
  const AmCore& core = parts_.core;
  const bool crashed =
      std::any_of(window_->failures.begin(), window_->failures.end(), [](const Failure& failure) {
        return failure.end.record.exit_class == ExitClass::kSignalCrash;
      });
  if (crashed) return std::nullopt;
  // Its agent could not say before its end that it went on, or this AM could not hear it.
  for (const Failure& failure : window_->failures) {
    const TaskRecord& record = core.tasks.record(failure.end.task);
    if (!record.training || record.standstill == Standstill::kNone) continue;
    TF_PROBE("hung/stood-still-until-its-end");
    Failure hung = Hung(failure.end.task, "stood still until shortly before its end");
    hung.container_alive = failure.container_alive;
    return hung;
  }
  for (const auto& [task, woken] : woken_) {
    const bool is_it = core.tasks.record(task).training &&
                       core.tasks.ProcessOf(task).attempt == woken.attempt &&
                       core.now - woken.at < core.job->deadlines.blame;
    if (!is_it) continue;
    TF_PROBE("hung/woken-accused");
    Failure hung = Hung(
        task, "stood still until " + ToString(core.now - woken.at) + " before its peers failed");
    for (const Failure& failure : window_->failures) {
      if (failure.end.task == task) hung.container_alive = failure.container_alive;
    }
    return hung;
  }
  return std::nullopt;
}

std::optional<TaskIndex> Failover::NamedBy(const Failure& failure) const {
  const AmCore& core = parts_.core;
  if (!failure.end.evidence.process) return std::nullopt;
  for (const TaskId& id : policy::SilentPeersIn(failure.end.detail)) {
    const auto task = core.tasks.Find(id);
    if (task && core.tasks.record(*task).training && core.tasks.ProcessAlive(*task)) return task;
  }
  return std::nullopt;
}

/// Whom a process, by its own last words, could not reach. Only under parameter-server, where one
/// task drives all others; in a collective who cannot be reached may have ended for the same
/// reason.
std::optional<TaskIndex> Failover::UnreachedBy(const AttemptEnd& end) const {
  const AmCore& core = parts_.core;
  if (core.job->strategy != Strategy::kParameterServer || !end.evidence.process ||
      !core.tasks.record(end.task).training || !policy::PeerMayHaveCaused(end.record.exit_class))
    return std::nullopt;
  const auto id = policy::UnreachablePeerIn(end.detail);
  const auto peer = id ? core.tasks.Find(*id) : std::nullopt;
  if (!peer || *peer == end.task || !core.tasks.record(*peer).training) return std::nullopt;
  TF_PROBE("hung/unreachable-peer");
  return peer;
}

/// Why the peer that it could not reach had started again, with it or after it: TensorFlow's
/// servers keep their connections, and try a broken one again only each second. Each process of the
/// peer excuses one end, of a process that may still be starting; not one that starts by such a
/// restart itself: two that cannot reach each other would start again without end.
std::optional<Failover::Excuse> Failover::ExcuseInPeer(const Failure& failure) const {
  const AmCore& core = parts_.core;
  const auto peer = UnreachedBy(failure.end);
  if (!peer) return std::nullopt;
  const TaskRecord& record = core.tasks.record(*peer);
  const std::optional<PastEnd> last = LastEndOf(*peer);
  const TaskAttempt attempt = core.tasks.ProcessOf(*peer).attempt;
  const bool has_yet_to_start = record.start != StartMode::kNone;
  const bool restarted = last && (last->attempt != attempt || has_yet_to_start);
  const Instant began = core.tasks.record(failure.end.task).process_ordered_at;
  const bool starting = core.now - began < core.job->deadlines.start;
  const bool came_later = !has_yet_to_start && began > record.process_ordered_at + kStartTogether;
  if (!restarted || !starting || came_later) return std::nullopt;
  const TaskAttempt excusing = ProcessThatExcuses(*last, attempt);
  if (core.ledger.of(*peer).blamed == excusing) {
    TF_PROBE("hung/peer-excuses-once");
    return std::nullopt;
  }
  if (core.ledger.of(*peer).excused == last->attempt) {
    TF_PROBE("hung/excuse-of-an-excuse");
    return std::nullopt;
  }
  TF_PROBE("hung/peer-had-started-again");
  Excuse excuse{.cause = core.FromJournal(last->cause),
                .by = {.task = core.tasks.id(*peer), .attempt = excusing}};
  if (last->cause.task != core.tasks.id(failure.end.task)) return excuse;
  // It had been stopped for this very task, and how it ended is not in the journal.
  TF_PROBE("hung/peer-was-stopped-for-it");
  excuse.cause = {.task = core.tasks.id(*peer),
                  .exit_class = ExitClass::kKilledByUs,
                  .node = core.tasks.shown(*peer).node.host,
                  .at = excuse.cause.at};
  return excuse;
}

/// The one that runs in place of the one that ended, or is to come in its place.
TaskAttempt Failover::ProcessThatExcuses(const PastEnd& ended, TaskAttempt latest) {
  return ended.attempt == latest ? TaskAttempt(latest.value + 1) : latest;
}

std::optional<PastEnd> Failover::LastEndOf(TaskIndex task) const {
  const AmCore& core = parts_.core;
  const auto end = core.ends.find(task);
  if (end == core.ends.end()) {
    const auto past = core.ledger.past_ends.find(task);
    return past == core.ledger.past_ends.end() ? std::nullopt
                                               : std::optional<PastEnd>(past->second);
  }
  return PastEnd{.attempt = end->second.process.attempt,
                 .cause = core.Journaled(core.CauseOf(end->second))};
}

/// The only one that still runs. It was told to end and does not: under parameter-server others run
/// on in good health.
std::optional<Failure> Failover::FindLastOne() const {
  const AmCore& core = parts_.core;
  if (core.tasks.training_alive() != 1) return std::nullopt;
  for (std::uint32_t i = 0; i < core.tasks.size(); ++i) {
    const TaskIndex task(i);
    if (!core.tasks.record(task).training || !core.tasks.ProcessAlive(task)) continue;
    if (core.tasks.record(task).process != ProcessPhase::kStopping) return std::nullopt;
    // For an earlier failure it is to start again already.
    if (core.tasks.record(task).start != StartMode::kNone) {
      TF_PROBE("hung/last-one-starts-again-anyway");
      return std::nullopt;
    }
    TF_PROBE("hung/last-one");
    return Hung(task, "still ran when all its peers had ended: it hangs");
  }
  return std::nullopt;
}

/// The only one that did not end before SIGKILL, although it had the time in which victims end.
std::optional<Failure> Failover::FindKilled() const {
  const AmCore& core = parts_.core;
  constexpr std::int32_t kSigkill = 9;
  if (!window_->stopped.gang || core.job->deadlines.stop < kVictimsHaveEnded) return std::nullopt;
  std::optional<TaskIndex> killed;
  for (const auto& [task, end] : core.ends) {
    const bool this_time =
        core.tasks.record(task).training && end.process == core.tasks.ProcessOf(task);
    if (!this_time || !end.evidence.we_stopped) continue;
    const std::optional<ProcessExit>& process = end.evidence.process;
    // Its agent was given up, as it did not end it in time: it may have been one that hangs, too.
    if (!process && !end.evidence.yarn_exit) return std::nullopt;
    if (!process || process->signal != kSigkill) continue;
    if (killed) {
      TF_PROBE("hung/several-had-to-be-killed");
      return std::nullopt;
    }
    killed = task;
  }
  if (!killed) return std::nullopt;
  TF_PROBE("hung/had-to-be-killed");
  return Hung(*killed, "did not end as all its peers did, but had to be killed: it hung");
}

Failure Failover::Hung(TaskIndex task, std::string detail) const {
  Failure hung{.end = parts_.attempts.Blame(task, {.timed_out = true}, std::move(detail)),
               .container_alive = true,
               .decision = {},
               .scope = {}};
  hung.decision = AskPolicy(hung.end);
  return hung;
}

// ---------------------------------------------------------------- can anything be saved

/// It told by its exit code that it has saved, as its peers may be about to.
bool Failover::LeftInOrder(const Failure& failure) const {
  const auto& process = failure.end.evidence.process;
  if (!process || !process->code) return false;
  return parts_.core.tasks.record(failure.end.task).preemption_noticed ||
         SaysItSaved(*process->code);
}

/// Its process is gone, or does nothing any more, and did not tell that it had saved.
bool Failover::IsBroken(const Failure& failure) const {
  const AmCore& core = parts_.core;
  const TaskIndex task = failure.end.task;
  if (core.job->strategy != Strategy::kMultiWorker || !core.tasks.record(task).training)
    return false;
  if (core.tasks.ProcessAlive(task)) return core.tasks.record(task).standstill != Standstill::kNone;
  return !LeftInOrder(failure);
}

bool Failover::IsBroken(const std::vector<Failure>& failures) const {
  bool broken = false;
  for (const Failure& failure : failures) {
    if (LeftInOrder(failure)) {
      TF_PROBE("hung/left-in-order");
      return false;
    }
    broken = broken || IsBroken(failure);
  }
  return broken;
}

}  // namespace tfyarn::am
