#include "core/am/decide/blame.h"

#include <algorithm>

#include "core/model/probe.h"
#include "core/policy/blame.h"
#include "core/policy/silent_peers.h"

namespace tfyarn::am {
namespace {

/// What was ordered to start so much later than its peer starts with it all the same: the orders of
/// one decision come one after the other, and a process takes longer to listen.
constexpr Duration kStartTogether = 1s;

/// The one that runs in place of the one that ended, or is to come in its place.
TaskAttempt ProcessThatExcuses(const PastEnd& ended, TaskAttempt latest) {
  return ended.attempt == latest ? TaskAttempt(latest.value + 1) : latest;
}

std::optional<PastEnd> LastEndOf(const AmCore& core, TaskIndex task) {
  const auto end = core.ends.find(task);
  if (end == core.ends.end()) {
    const auto past = core.ledger.past_ends.find(task);
    return past == core.ledger.past_ends.end() ? std::nullopt
                                               : std::optional<PastEnd>(past->second);
  }
  return PastEnd{.attempt = end->second.process.attempt,
                 .cause = core.Journaled(core.CauseOf(end->second))};
}

}  // namespace

bool HasPeers(const AmCore& core, TaskIndex task) {
  return core.tasks.record(task).training && core.job->strategy != Strategy::kIndependent;
}

const AttemptEnd& BestAccountOf(const AmCore& core, const AttemptEnd& end) {
  const auto kept = core.ends.find(end.task);
  const bool same = kept != core.ends.end() && kept->second.process == end.process;
  return same ? kept->second : end;
}

bool CauseIsKnown(const AmCore& core, const BlameWindow& window) {
  return core.policy->first_report_wins() ||
         std::any_of(window.failures.begin(), window.failures.end(), [](const Failure& failure) {
           return !policy::PeerMayHaveCaused(failure.end.record.exit_class);
         });
}

std::size_t ChooseCause(const AmCore& core, const std::vector<Failure>& failures) {
  if (core.policy->first_report_wins()) {
    TF_PROBE("failover/first-report-is-blamed");
    return 0;
  }
  std::vector<policy::Suspect> suspects;
  suspects.reserve(failures.size());
  for (const Failure& failure : failures) {
    suspects.push_back({.exit_class = failure.end.record.exit_class, .at = failure.end.at});
  }
  return policy::FindFirstCause(suspects);
}

bool IsVictim(const AmCore& core, const Failure& failure) {
  const std::optional<LastCause>& last = core.ledger.last_cause;
  if (!last || failure.end.at >= core.InstantAt(last->cause.at) + core.job->deadlines.blame)
    return false;
  // Nor is one that ended well, where a policy starts those again too: it pays.
  if (failure.end.record.exit_class == ExitClass::kOk) return false;
  // A process that was started because of the cause is not its victim.
  return core.tasks.record(failure.end.task).heard_from < core.InstantAt(last->decided);
}

bool HasVictims(const AmCore& core, const Cause& cause, bool with_others) {
  const auto task = core.tasks.Find(cause.task);
  if (!task) return false;
  return HasPeers(core, *task) || with_others;
}

std::optional<TaskIndex> NamedBy(const AmCore& core, const Failure& failure) {
  if (!failure.end.evidence.process) return std::nullopt;
  for (const TaskId& id : policy::SilentPeersIn(failure.end.detail)) {
    const auto task = core.tasks.Find(id);
    if (task && core.tasks.record(*task).training && core.tasks.ProcessAlive(*task)) return task;
  }
  return std::nullopt;
}

std::optional<TaskIndex> UnreachedBy(const AmCore& core, const AttemptEnd& end) {
  if (core.job->strategy != Strategy::kParameterServer || !end.evidence.process ||
      !core.tasks.record(end.task).training || !policy::PeerMayHaveCaused(end.record.exit_class))
    return std::nullopt;
  const auto id = policy::UnreachablePeerIn(end.detail);
  const auto peer = id ? core.tasks.Find(*id) : std::nullopt;
  if (!peer || *peer == end.task || !core.tasks.record(*peer).training) return std::nullopt;
  TF_PROBE("hung/unreachable-peer");
  return peer;
}

std::optional<Excuse> ExcuseInPeer(const AmCore& core, const Failure& failure) {
  const auto peer = UnreachedBy(core, failure.end);
  if (!peer) return std::nullopt;
  const TaskRecord& record = core.tasks.record(*peer);
  const std::optional<PastEnd> last = LastEndOf(core, *peer);
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

}  // namespace tfyarn::am
