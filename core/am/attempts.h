// How task attempts end: one record each, from all that the AM hears of the end, and its later
// corrections.
//
// The AM acts on the first report of an end (failover.h); better ones correct the record. It
// acknowledges an agent's report when the decision on it is durable, so that the next AM hears the
// report again if this one dies before. What an exit means is the classifier's business, what to do
// about it the policy's.
#pragma once

#include <string>

#include "core/am/am_core.h"
#include "core/journal/journal.h"
#include "core/model/task_index.h"
#include "core/policy/exit_classifier.h"

namespace tfyarn::am {

/// An account of how the task's process ended, or of what it does, where it lives and is blamed.
[[nodiscard]] AttemptEnd DescribeEnd(const AmCore& core, TaskIndex task,
                                     policy::ExitEvidence evidence, std::string detail);

class Attempts {
 public:
  explicit Attempts(AmCore& core) : core_(core) {}

  /// The task's process has ended, or will never be heard of again. Says so and returns the account
  /// of it. The process counts as ended from here on.
  const AttemptEnd& End(TaskIndex task, policy::ExitEvidence evidence, std::string detail);
  /// The task lost its container before a process was ordered: an account of the process that
  /// should have run.
  const AttemptEnd& EndBeforeStart(TaskIndex task, policy::ExitEvidence evidence,
                                   std::string detail);
  /// The end of the task's process, or of its container with it, as an earlier attempt of the AM
  /// had it. The process counts as ended from here on.
  const AttemptEnd& Recall(TaskIndex task, const journal::FailureSeen& seen);
  /// The RM's word about a container in which the task's latest process ended: may correct its
  /// record.
  void AmendByCompletion(TaskIndex task, const allocation::LostContainer& lost);
  /// The task whose latest process ended in that container, if any.
  [[nodiscard]] std::optional<TaskIndex> LastEndedIn(const ContainerId& container) const;
  /// What follows from the end is decided by that entry (0: nothing needs to be durable).
  void Decided(TaskIndex task, JournalSeq entry);
  /// Answers a repeated report of the end, if the decision on it is durable.
  void AnswerAgain(TaskIndex task);
  /// Account of the end, for the journal.
  [[nodiscard]] journal::TaskEnded JournalFormOf(const AttemptEnd& end,
                                                 policy::Outcome outcome) const;

 private:
  const AttemptEnd& Keep(AttemptEnd end);
  void Say(const AttemptEnd& end);
  void Acknowledge(const AttemptEnd& end);
  [[nodiscard]] ReportSeen EndSeenOf(TaskIndex task, TaskAttempt attempt) const;

  AmCore& core_;
};

}  // namespace tfyarn::am
