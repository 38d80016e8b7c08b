// What a failure leads to, and which task is to blame for it.
//
// The policy says what one exit means. But the first report is often a victim's: peers of a dead
// process end within seconds, and sooner than the AM notices that the dead one is silent. So the AM
// stops at once what must start again anyway, and waits for the decision up to deadlines.blame:
// until a failure comes that no peer can cause, or until every training process has reported. Only
// the cause pays; a task that fails within deadlines.blame of it is its victim and costs nothing.
//
// Evidence that a living process hangs ends that wait: /proc shows that it stands still, or a
// victim names it. Without evidence the AM blames the process that still runs when all its peers
// have failed, or the one that only SIGKILL ended.
//
// Under parameter-server a restarted chief may be faster than what started with it. Its last words
// then name the peer that it could not reach, and that restart is still the cause, however late.
//
// Not here: carrying out a restart (restart.h), and ending the job (finish.h).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/am/attempts.h"
#include "core/am/decide/failure.h"
#include "core/journal/held_orders.h"
#include "core/journal/journal.h"
#include "core/model/task_index.h"
#include "core/policy/budgets.h"
#include "core/policy/diagnostics.h"
#include "core/policy/engine.h"
#include "core/policy/restart_scope.h"

namespace tfyarn::am {

struct AmParts;

class Failover {
 public:
  explicit Failover(AmParts& parts) : parts_(parts) {}

  /// A process ended. `container_alive`: another one may be started where it was.
  void OnEnd(const AttemptEnd& end, bool container_alive);
  /// A living process is the failure: it stalls, or its address is no longer the spec's.
  void OnBlamed(AttemptEnd end, bool container_alive);
  /// What is to be seen of a task's living process has changed.
  void OnSigns(TaskIndex task);
  /// Its agent tells this AM attempt of what it had told an earlier one.
  void OnStood(TaskIndex task, const PastStandstill& stood);
  /// A living process is the failure because it stands still, and `harm` came of it.
  void OnStandsStill(TaskIndex task, const std::string& harm);
  /// A task that has lost its container just now lost it with no process alive in it. `free`:
  /// no task's failure (an RM restart, an expiry).
  void OnLostBeforeStart(TaskIndex task, policy::ExitEvidence evidence, std::string detail,
                         bool free);
  /// A container in which nothing ran was lost while a decision is pending: noted for it. False:
  /// none is pending.
  bool NoteContainerLost(TaskIndex task);
  /// The agent of a task that has ended for good is here again, after an AM restart.
  void OnIdleAgent(TaskIndex task);
  /// After what a step brought is judged: a member that ended well, or of which nothing more will
  /// be heard after an AM restart, may have been the last that a decision waited for.
  void OnSettled();
  /// Deadline::kBlame.
  void OnBlameDeadline();
  /// A FAILED verdict that the policy lets the gang try again instead. True: it does. With it
  /// starts what success needs beside it; where the job fails all the same, it does not.
  bool RetryInstead(const policy::Verdict& verdict, const Cause& cause);
  /// Entries have become durable.
  void OnDurable();
  /// The RM will take the task's container: a process in it is warned; one in which none runs is
  /// given back.
  void ObeyNotice(TaskIndex task);
  /// Deadline::kStopOverdue.
  void OnStopOverdue(TaskIndex task);
  /// Deadline::kProcessStart.
  void OnStartOverdue(TaskIndex task);

  /// A failure waits for its cause. Not once the verdict is decided.
  [[nodiscard]] bool deciding() const;
  /// Deadline::kBlame.
  [[nodiscard]] Instant decides_at() const { return deciding() ? window_->decides_at : kNever; }
  /// A failure is being judged for which every training process starts again, in a new epoch.
  [[nodiscard]] bool GangWillRestart() const { return deciding() && window_->stopped.gang; }
  /// The account by which a job fails that has no other cause: the first failure that was counted.
  [[nodiscard]] std::optional<Cause> first_tallied() const;
  /// What was tried about that one.
  [[nodiscard]] policy::Tried first_tried() const;
  /// Of an earlier attempt: nothing was decided on this failure. `container`: it is still there.
  void TakeUp(const journal::FailureSeen& seen, bool container);

 private:
  /// Its agent does not do what it was told: the process counts as ended, and its container goes.
  void LoseAgent(TaskIndex task, const char* why);
  void Lose(TaskIndex task, policy::ExitEvidence evidence, const char* why);
  void OnStopped(const AttemptEnd& end, bool container_alive);
  void Act(Failure failure);
  void Absorb(const AttemptEnd& end, bool container_alive);
  /// The verdict, were that the outcome of these tasks.
  [[nodiscard]] std::optional<policy::Verdict> JudgeWith(const std::vector<TaskIndex>& tasks,
                                                         policy::Outcome outcome);
  [[nodiscard]] bool DecidesByOk(TaskIndex task);
  void CloseTask(const AttemptEnd& end, policy::Outcome outcome, const policy::Tried& tried = {});
  void Report(Failure failure);
  /// Who was told to end only now.
  std::vector<TaskIndex> StopAtOnce(const Failure& failure, bool broken);
  /// Nothing is decided on it yet, and these were told to end for its sake.
  void LogUndecided(const Failure& failure, const std::vector<TaskIndex>& stopped);
  void MaybeDecide();
  void Decide(std::optional<Failure> hung);
  [[nodiscard]] bool Reconsider(Failure& failure, const AttemptEnd& better);
  [[nodiscard]] bool RaiseMemory(Failure& failure, const policy::Decision& decision);
  bool LoseUnfound();
  /// An agent of an earlier AM attempt has not found this one, and may know the cause.
  [[nodiscard]] bool IsLookedFor() const;
  [[nodiscard]] std::optional<Instant> AwaitedSilence() const;
  void DecideAlone(Failure failure);
  void DecideOn(std::vector<Failure> failures, const Failure& cause, RestartTasks tasks);
  /// Whether the job may still succeed where these start again.
  [[nodiscard]] bool LeavesSuccessOpen(const RestartTasks& tasks);
  void Spent(const std::vector<Failure>& failures, const Failure& cause, const RestartTasks& tasks);
  [[nodiscard]] bool MayBeNeededAgain(TaskIndex task) const;
  [[nodiscard]] Cause LastCauseOfAll() const;
  void RestartVictim(const Failure& failure, const Cause& cause,
                     std::optional<journal::JournaledProcess> excused_by = {});
  void PauseBeforeAsking(TaskIndex task);
  void ReplaceBeforeStart(const AttemptEnd& end, bool free, const policy::Decision* decision,
                          bool has_victims = false);
  /// A cluster spec holds the task's address: in another container it needs another one.
  [[nodiscard]] bool MustChangeSpec(TaskIndex task) const;
  [[nodiscard]] bool MeetsWindow(const AttemptEnd& end) const;

  AmParts& parts_;
  std::optional<BlameWindow> window_;
  journal::HeldOrders<TaskIndex> done_for_good_;  // their agents may end when that is durable
};

}  // namespace tfyarn::am
