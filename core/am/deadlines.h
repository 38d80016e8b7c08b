// When the AM must act next, read off its state.
//
// There is no timer to arm, and none to disarm: each wait is an instant in the state of what waits,
// and counts only while that state lasts (FirstOf says which). A process that has ended cannot be
// overdue, a container that is gone needs no agent. What waits for the RM's heartbeat, for the
// gang and for silent agents says its own next deadline (RmSession, GangAllocator,
// HeartbeatWatch).
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/model/describe.h"
#include "core/model/task_index.h"
#include "core/model/time.h"

namespace tfyarn::am {

struct AmCore;
struct AmParts;

/// What is due. Of what is due at one instant, the first here comes first.
enum class Deadline : std::uint8_t {
  // of the job
  kJournalRetry,   ///< Append or read the journal again after storage failed.
  kReattach,       ///< Agents of an earlier attempt that have not spoken by then are lost.
  kStartDeadline,  ///< deadlines.start since the gang was complete.
  kRunDeadline,    ///< deadlines.run since the job first ran.
  kBlame,          ///< The cause of a failure is decided now at the latest.
  kEvidenceRetry,  ///< Ask again for finish.require.
  kEvidenceGiveUp,
  kDependency,    ///< `within` of a row of `depends`; key: the row.
  kNodesMayCome,  ///< What the nodes seen so far can never hold is judged for good.
  // of one task
  kRegistration,  ///< deadlines.registration since the launch was ordered.
  kLaunchRetry,   ///< Call StartContainers again.
  kOrder,         ///< Repeat StartProcess or StopProcess.
  kStopOverdue,   ///< The agent did not report the end of a process it was told to stop.
  kProcessStart,  ///< deadlines.start of a process that starts alone.
  kDrain,         ///< finish.drain of this task is over.
  kAskAgain,      ///< Ask for a container once more, after others were lost early.
  kRested,        ///< Its process may start again, after others ended early.
  // of one container that must go
  kEndAgain,  ///< Repeat EndAgent.
  kLeaving,   ///< Next harder step: StopContainers, then release.
};

/// `at == kNever`: nothing is. Earlier ones first, then by kind, then by key.
struct Due {
  Instant at = kNever;
  Deadline what{};
  std::uint32_t key = 0;  ///< Task, container slot or row; 0 for those of the job.
  friend auto operator<=>(const Due&, const Due&) = default;
};

/// A wait that passed while this process was kept from running ends `to` then.
inline void PutOff(Instant& wait, Instant now, Instant to) {
  if (wait <= now) wait = to;
}

/// The first of many, of which each has one or none. A binary heap with dead entries, which are
/// dropped when they reach the top.
class DeadlineIndex {
 public:
  /// `due` is what is first due of `due.key`.
  void Set(const Due& due);
  /// at == kNever: nothing is due of any.
  [[nodiscard]] Due first() const { return heap_.empty() ? Due{} : heap_.front(); }
  [[nodiscard]] Due of(std::uint32_t key) const;

 private:
  void DropDead();

  std::vector<Due> of_;    // by key
  std::vector<Due> heap_;  // its top is live, or it is empty
};

/// What is first due of the task, by its state.
[[nodiscard]] Due FirstOf(const AmCore& core, TaskIndex task);

class Deadlines {
 public:
  explicit Deadlines(AmParts& parts) : parts_(parts) {}

  /// Has everything that is due by now carried out, one after the other.
  void TakeDue();
  /// Takes in what the step has changed. Once at its end.
  void Refresh();
  /// This process was kept from running until now: deadlines that passed meanwhile wait until `to`.
  void PutOff(Instant to);
  [[nodiscard]] std::optional<Instant> next() const;
  /// Every task and container is indexed by what its state says. For checked builds: walks them
  /// all.
  [[nodiscard]] bool AgreeWithState() const;

 private:
  [[nodiscard]] Due First() const;
  /// Of those that belong to no task and no container.
  [[nodiscard]] Due FirstOfJob() const;
  void CarryOut(const Due& due);

  AmParts& parts_;
  DeadlineIndex tasks_;
  DeadlineIndex leaving_;
  Instant woken_ = Instant::min();  ///< What was due by then and is the job's waits ...
  Instant waits_until_{};           ///< ... until then.
};

}  // namespace tfyarn::am
