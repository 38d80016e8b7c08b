// Containers that must go, in rising hardness: the AM asks the agent to end, has the NodeManager
// stop the container, gives the container back to the ResourceManager.
//
// The AM often decides why a container must go a moment later in the same step: it calls a
// NodeManager and tells the RM when that decision is durable. Otherwise an AM that died in between
// would leave its successor the end of a container, and not the reason.
//
// From the moment a container is here its task has none: its agent is a stranger that is told to
// end. This table keeps what the later steps need, and whether a training process may still be
// alive in it, because under multi-worker nothing may start beside it. A container leaves this
// table when the RM reports its end.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/am/deadlines.h"
#include "core/journal/held_orders.h"
#include "core/model/am.h"
#include "core/model/channel.h"
#include "core/model/ids.h"
#include "core/model/task_index.h"

namespace tfyarn::am {

struct AmCore;

class Leaving {
 public:
  explicit Leaving(AmCore& core) : core_(core) {}

  /// The task's agent is told to end its process and itself, as that durable entry says (0: one of
  /// an earlier attempt); harder steps follow when that does not help.
  void EndAgent(TaskIndex task, JournalSeq entry);
  /// The task's container is stopped through its NM; given back when the NM does not answer or does
  /// not do it.
  void Stop(TaskIndex task);
  /// The task's container is given back at once: nothing runs in it, or it is out of reach.
  void Release(TaskIndex task);
  /// The RM has reported the end of the task's container: the task has none any more.
  void Gone(TaskIndex task);
  /// A container that was never a task's in this AM attempt.
  void StopStranger(const ContainerId& container, const NodeId& node);

  /// The RM reports its end. False when it is not here.
  bool OnCompleted(const ContainerId& container);
  /// Its node cannot stop it.
  void OnNotStopped(const ContainerId& container);
  /// Sends what may go out: what was decided since the last call rests on all entries so far. Once
  /// a part of a step is over, and when entries have become durable.
  void Reconcile();
  /// Deadline::kEndAgain.
  void OnEndAgain(std::uint32_t slot);
  /// Deadline::kLeaving.
  void OnStepOver(std::uint32_t slot);

  /// Slots are numbered from 0; one whose container has ended is used again.
  [[nodiscard]] std::uint32_t slots() const { return static_cast<std::uint32_t>(slots_.size()); }
  /// What is first due of the slot, by its state.
  [[nodiscard]] Due FirstOf(std::uint32_t slot) const;
  /// Slots that may have changed since ForgetTouched.
  [[nodiscard]] const std::vector<std::uint32_t>& touched() const { return touched_; }
  void ForgetTouched() { touched_.clear(); }
  /// Waits that have passed by `now` end `to` then.
  void PutOff(Instant now, Instant to);

  [[nodiscard]] bool Has(const ContainerId& container) const {
    return slot_of_.contains(container);
  }
  /// Whose container it was; nullopt when it was no task's, or when it is not here.
  [[nodiscard]] std::optional<TaskIndex> TaskOf(const ContainerId& container) const;
  [[nodiscard]] bool empty() const { return slot_of_.empty(); }
  [[nodiscard]] std::size_t size() const { return slot_of_.size(); }
  /// Containers in which a training process may be alive on a node that may be reached.
  [[nodiscard]] std::int32_t maybe_training() const { return maybe_training_; }
  /// Nothing of the user runs in any container here. Each has been given back, and what is missing
  /// is the RM's word; or an agent that was told to end is alone in it.
  [[nodiscard]] bool all_empty() const {
    return released_ + alone_ == static_cast<std::int32_t>(slot_of_.size());
  }

 private:
  enum class Step : std::uint8_t { kFree, kEnding, kStopping, kReleased };
  /// Decided and not told yet.
  struct Held {
    Step step = Step::kFree;
    std::uint32_t slot = 0;
    ContainerId container;
  };
  struct Slot {
    Step step = Step::kFree;
    bool maybe_training = false;
    bool alone = false;  ///< With kEnding: the agent has no process.
    ContainerId container;
    NodeId node;
    std::optional<TaskIndex> task;
    std::optional<AgentFence> fence;  ///< With kEnding.
    JournalSeq entry;                 ///< That the step rests on, once it was told.
    // Waits of kEnding and kStopping.
    Instant end_again_at = kNever;
    Instant step_over_at = kNever;
  };

  Slot& Touch(std::uint32_t slot) {
    touched_.push_back(slot);
    return slots_[slot];
  }

  [[nodiscard]] Slot SlotOf(TaskIndex task) const;
  [[nodiscard]] bool EndWasSeen(TaskIndex task) const;
  std::uint32_t Take(TaskIndex task);
  void Part(TaskIndex task);
  std::uint32_t Add(Slot slot);
  void SendEnd(std::uint32_t slot);
  void CallStop(std::uint32_t slot);
  void StopSlot(std::uint32_t slot);
  void ReleaseSlot(std::uint32_t slot);
  void Decide(std::uint32_t slot, Step step);
  void Tell(JournalSeq entry, const Held& held);
  /// Enters another step than kEnding.
  void Harder(Slot& slot, Step step);

  AmCore& core_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> touched_;
  std::vector<std::uint32_t> free_;
  std::map<ContainerId, std::uint32_t> slot_of_;
  journal::HeldOrders<Held> orders_;
  std::int32_t maybe_training_ = 0;
  std::int32_t released_ = 0;
  std::int32_t alone_ = 0;  ///< In kEnding.
};

}  // namespace tfyarn::am
