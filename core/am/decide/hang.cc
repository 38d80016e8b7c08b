#include "core/am/decide/hang.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/am/attempts.h"
#include "core/am/decide/payment.h"
#include "core/model/probe.h"
#include "core/model/text.h"
#include "core/policy/exit_classifier.h"

namespace tfyarn::am {
namespace {

/// Survivors of a broken collective of TensorFlow end by themselves within 8 s (docs/policies.md).
/// Who was killed sooner than this may have been about to.
constexpr Duration kVictimsHaveEnded = 10s;

/// A program chose that code to say that it has saved and wants to go on later: TensorFlow's own
/// are 143 on Google's machines and 42 on its clusters, shells and others have 130.
bool SaysItSaved(std::int32_t code) {
  const std::vector<std::int32_t>& retryable = policy::DefaultRetryableCodes();
  return code == 42 || code == 130 || code == 143 ||
         std::find(retryable.begin(), retryable.end(), code) != retryable.end();
}

/// Who stood still until a moment ago: its peers may have given it up while it did, and it them. No
/// peer makes a process crash.
std::optional<Failure> FindWoken(const AmCore& core, const BlameWindow& window) {
  const bool crashed =
      std::any_of(window.failures.begin(), window.failures.end(), [](const Failure& failure) {
        return failure.end.record.exit_class == ExitClass::kSignalCrash;
      });
  if (crashed) return std::nullopt;
  // Its agent could not say before its end that it went on, or this AM could not hear it.
  for (const Failure& failure : window.failures) {
    const TaskRecord& record = core.tasks.record(failure.end.task);
    if (!record.training || record.standstill == Standstill::kNone) continue;
    TF_PROBE("hung/stood-still-until-its-end");
    Failure hung = Hung(core, failure.end.task, "stood still until shortly before its end");
    hung.container_alive = failure.container_alive;
    return hung;
  }
  for (const auto& [task, woken] : core.standstills.woken()) {
    const bool is_it = core.tasks.record(task).training &&
                       core.tasks.ProcessOf(task).attempt == woken.attempt &&
                       core.now - woken.at < core.job->deadlines.blame;
    if (!is_it) continue;
    TF_PROBE("hung/woken-accused");
    Failure hung =
        Hung(core, task,
             "stood still until " + ToString(core.now - woken.at) + " before its peers failed");
    for (const Failure& failure : window.failures) {
      if (failure.end.task == task) hung.container_alive = failure.container_alive;
    }
    return hung;
  }
  return std::nullopt;
}

/// Only of a collective: under parameter-server a standing worker ends none of its peers.
std::optional<Failure> FindStanding(const AmCore& core, const BlameWindow& window) {
  if (core.job->strategy != Strategy::kMultiWorker) return std::nullopt;
  const std::set<TaskIndex> standing = core.standstills.Of(core.tasks);
  if (!standing.empty()) {
    TF_PROBE("hung/standing-accused");
    const TaskIndex task = *standing.begin();
    return Hung(
        core, task,
        std::string(InWords(core.tasks.record(task).standstill)) + ", and its peers have failed");
  }
  if (window.named && core.tasks.ProcessAlive(*window.named)) {
    TF_PROBE("hung/named-by-a-peer");
    return Hung(core, *window.named, "a peer's last words: it has stopped sending heartbeats");
  }
  return FindWoken(core, window);
}

/// The one that hangs, where the policy starts something again for it or fails the job: else those
/// that failed remain the cause. A hang that is only counted concerns no other task.
std::optional<Failure> IfAnswered(const AmCore& core, Failure hung) {
  const policy::Decision& decision = hung.decision;
  const bool restarts = policy::IsRestart(decision.action) &&
                        (!ClosesWhenSpent(decision) || MayPay(core, decision, hung.end));
  if (restarts || decision.action == ExitAction::kFail) return hung;
  TF_PROBE("hung/accused-in-vain");
  return std::nullopt;
}

/// It told by its exit code that it has saved, as its peers may be about to.
bool LeftInOrder(const AmCore& core, const Failure& failure) {
  const auto& process = failure.end.evidence.process;
  if (!process || !process->code) return false;
  return core.tasks.record(failure.end.task).preemption_noticed || SaysItSaved(*process->code);
}

}  // namespace

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

Failure Hung(const AmCore& core, TaskIndex task, std::string detail) {
  Failure hung{.end = DescribeEnd(core, task, {.timed_out = true}, std::move(detail)),
               .container_alive = true,
               .decision = {},
               .scope = {}};
  hung.decision = AskPolicy(core, hung.end);
  return hung;
}

std::optional<Failure> FindAccused(const AmCore& core, const BlameWindow& window) {
  std::optional<Failure> accused = FindStanding(core, window);
  return accused ? IfAnswered(core, std::move(*accused)) : std::nullopt;
}

std::optional<Failure> FindLastOne(const AmCore& core) {
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
    return IfAnswered(core, Hung(core, task, "still ran when all its peers had ended: it hangs"));
  }
  return std::nullopt;
}

std::optional<Failure> FindKilled(const AmCore& core, const BlameWindow& window) {
  constexpr std::int32_t kSigkill = 9;
  if (!window.stopped.gang || core.job->deadlines.stop < kVictimsHaveEnded) return std::nullopt;
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
  return IfAnswered(
      core, Hung(core, *killed, "did not end as all its peers did, but had to be killed: it hung"));
}

/// Its process is gone, or does nothing any more, and did not tell that it had saved.
bool IsBroken(const AmCore& core, const Failure& failure) {
  const TaskIndex task = failure.end.task;
  if (core.job->strategy != Strategy::kMultiWorker || !core.tasks.record(task).training)
    return false;
  if (core.tasks.ProcessAlive(task)) return core.tasks.record(task).standstill != Standstill::kNone;
  return !LeftInOrder(core, failure);
}

bool IsBroken(const AmCore& core, const std::vector<Failure>& failures) {
  bool broken = false;
  for (const Failure& failure : failures) {
    if (LeftInOrder(core, failure)) {
      TF_PROBE("hung/left-in-order");
      return false;
    }
    broken = broken || IsBroken(core, failure);
  }
  return broken;
}

}  // namespace tfyarn::am
