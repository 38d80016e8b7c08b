// Which classes the AM may give what has happened to a task, by what it has heard.
#include <algorithm>

#include "oracles/run_facts.h"

namespace tfyarn::oracles {
namespace {

/// TensorFlow's coordination service has told of a peer that hangs.
bool NamesOneThatHangs(const Account& end) {
  return !end.spent && end.told != 0 &&
         end.last_words.find("stopped sending heartbeats") != std::string::npos;
}

}  // namespace

const Account* RunFacts::BestOf(const Job& job, const Task& task) const {
  const Account* best = nullptr;
  for (const Account& account : task.accounts) {
    if (account.spent || !Certain(job, account)) continue;
    if (best == nullptr || account.source < best->source) best = &account;
  }
  return best;
}

/// Classes that the end of the task, as far as the AM has heard, may have. Of several sources the
/// best counts; a worse one, only if the AM may have decided before it heard of the better.
Classes RunFacts::MayBe(const Job& job, const Task& task) const {
  Source best = Source::kNone;
  for (const Account& account : task.accounts) {
    if (!account.spent && Certain(job, account)) best = std::min(best, account.source);
  }
  Classes classes = MayBeTimeout(job, task);
  for (const Account& account : task.accounts) {
    const bool heard = account.told != 0 || (account.early && IsSilent(job, task));
    // A row may decide at once on what would have started again for another one's sake.
    const bool together = account.taken_along && account.told_at >= job.window_at;
    if ((account.spent && !together) || !heard) continue;
    if (job.policy == Policy::kTony || account.source <= best) classes |= account.classes;
    if (job.hidden > 0) classes |= account.otherwise;
    // An AM before may have decided a restart for it, and stopped what its container still held.
    if (job.hidden > 0 && account.told_attempt < job.am_attempt) classes |= Of(kKilledByUs);
  }
  if (task.was_silent || (IsSilent(job, task) && best >= Source::kSilence))
    classes |= Of(kHeartbeatLost);
  // Nor has one that never found this AM obeyed its order to stop.
  if (task.stop_ordered != 0 && task.heard < job.attempt_begun) classes |= Of(kHeartbeatLost);
  if (HasNotFoundTheAm(job, task)) classes |= Of(kHeartbeatLost);
  if (task.port_changed != 0) classes |= Of(kPortConflict);
  if (MayNotLaunch(job, task)) classes |= Of(kLaunchError);
  // Where that was, only its journal may say.
  const bool unknown_launch = !task.container && job.hidden > 0 && job.node_lost;
  if (task.node_lost || unknown_launch) classes |= Of(kNodeLost);
  // A marked container in which no process runs is given back at once; and whatever ends in a
  // collective or in a marked container from the notice on, also where that is only a silence.
  const bool marked = task.container && job.marked.count(*task.container) > 0;
  const bool noticed = marked || (job.notice != 0 && task.in_gang);
  if ((job.notice != 0 && !task.runs) || (noticed && (classes & kFailure) != 0))
    classes |= Of(kPreempted);
  return classes;
}

/// No process ran in the task's container, and its node refuses to start it or cannot be called.
bool RunFacts::MayNotLaunch(const Job& job, const Task& task) {
  constexpr std::int32_t kMostUnanswered = 8;
  if (!task.container || task.ran_in == task.container) return false;
  // Nor is what an earlier AM has heard of its node known.
  return task.launch_failed || task.unanswered >= kMostUnanswered || job.hidden > 0 ||
         job.nm_tokens.count(task.node) == 0;
}

/// An agent of an earlier attempt's has so long to find the new AM.
bool RunFacts::HasNotFoundTheAm(const Job& job, const Task& task) const {
  const bool unseen = !task.registered || task.heard < job.attempt_begun || task.came_late;
  // The attempt before may have written down a launch and not have come to order it.
  const bool launched = task.container
                            ? task.container->application_attempt.attempt < job.am_attempt
                            : job.hidden > 0;
  return launched && unseen && now_ - job.attempt_begun >= job.spec->deadlines.registration;
}

bool RunFacts::IsSilent(const Job& job, const Task& task) const {
  const bool silent = now_ - task.heard >= LongestSilence(job) ||
                      (task.silent_until > Instant{} && task.silent_until >= job.window_at);
  // It was heard again, and the AM has given it up for the silence before.
  const bool refused =
      task.container && task.given_up == task.container && task.turned_away == task.container;
  // Where the way may take longer than beats may be missing, one that is slow is missed.
  const bool may_be_late = faults_ || LongestSilence(job) <= spread_;
  return may_be_late && task.registered && (silent || refused);
}

// Of an end that it heard of only then the AM did not know when it decided.
bool RunFacts::SeemsToRun(const Task& task) const {
  if (task.runs) return true;
  if (!task.spawned || task.IsSettled()) return false;
  return std::none_of(task.accounts.begin(), task.accounts.end(), [&](const Account& end) {
    return end.container == task.ran_in && (!end.attempt || end.attempt == task.attempt) &&
           end.told != 0 && end.told < window_;
  });
}

Classes RunFacts::MayBeTimeout(const Job& job, const Task& task) const {
  const bool unheard = !task.registered || task.registered_at >= window_;
  const bool never_heard =
      task.container && unheard && now_ - task.launch_ordered >= job.spec->deadlines.registration;
  const bool never_ran = task.ordered && (*task.ordered > task.attempt || task.runs_told == 0) &&
                         now_ - task.ordered_when >= job.spec->deadlines.start;
  if (never_heard || never_ran || task.stood_still || task.stalled != 0) return Of(kTimeout);
  const bool seems_to_run = SeemsToRun(task) || task.MayNeverStart();
  if (!task.in_gang || !(seems_to_run || task.stop_ordered != 0)) return 0;
  // Tasks that need nothing of each other tell nothing of each other.
  if (job.spec->strategy == Strategy::kIndependent) return 0;
  // It hangs: it alone still runs or had to be killed, or a victim's last error names it.
  bool alone = true;
  bool peers = false;
  bool absent = false;
  for (const auto& [id, other] : job.tasks) {
    // What began only after the decision, while HDFS had yet to store it, was no peer then.
    if (&other == &task || !other.in_gang || !other.spawned || other.spawned_when > job.window_at)
      continue;
    bool ended = false;
    for (const Account& account : other.accounts) {
      if (!account.IsOpen()) continue;
      ended = true;
      if (NamesOneThatHangs(account)) return Of(kTimeout);
    }
    // One that has yet to be told to start again is no peer of those that have begun.
    const bool begins = !other.IsSettled() || other.IsOrderedAgain();
    alone = alone && (ended || !begins);
    peers = peers || ended;
    absent = absent || !begins;
  }
  return alone && (peers || !absent) ? Of(kTimeout) : 0;
}

/// A task that stands still, or that a peer's last error names, ends the wait for the cause, also
/// where a row lets it be.
bool RunFacts::HangIsShown(const Job& job) {
  return std::any_of(job.tasks.begin(), job.tasks.end(), [&](const auto& entry) {
    const Task& task = entry.second;
    const bool stands = task.stands_still != 0 || task.stood_before;
    const bool names = std::any_of(task.accounts.begin(), task.accounts.end(), NamesOneThatHangs);
    return task.in_gang && (stands || names);
  });
}

Tri RunFacts::Lost(const Job& job, const Task& task, ExitClass cls) const {
  if ((Of(cls) & Of(kNodeLost, kNodeBad, kHeartbeatLost)) != 0) return Tri::kYes;
  if (!task.container || !task.registered || IsSilent(job, task)) return Tri::kMaybe;
  if ((Of(cls) & Of(kPreempted, kAmLost, kLaunchError, kPortConflict, kTimeout)) != 0)
    return Tri::kMaybe;
  for (const Account& account : task.accounts) {
    if (account.leaves && account.container == *task.container) return Tri::kMaybe;
    if (!account.attempt && account.container == *task.container && account.happened != 0)
      return Certain(job, account) ? Tri::kYes : Tri::kMaybe;
  }
  const bool goes = job.released.count(*task.container) + job.marked.count(*task.container) > 0;
  return goes ? Tri::kMaybe : Tri::kNo;
}

}  // namespace tfyarn::oracles
