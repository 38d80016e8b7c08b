// Orders to agents: start this process, stop that one, and their repetition until the agent
// reports.
//
// That a process is to end is often found out before the decision behind it is made. So the order
// waits until the step is over, rests on all that the step has decided, and goes out when that is
// durable. Until then nothing is overdue, and an order of before, with more time, is repeated.
#pragma once

#include "core/journal/held_orders.h"
#include "core/model/am.h"
#include "core/model/channel.h"
#include "core/model/cluster_spec.h"
#include "core/model/ids.h"
#include "core/model/task_index.h"
#include "core/policy/exit_classifier.h"

namespace tfyarn::am {

struct AmParts;

class ProcessControl {
 public:
  explicit ProcessControl(AmParts& parts) : parts_(parts) {}

  /// Orders the task's next process with the spec of the present epoch, as that durable entry says.
  void Start(TaskIndex task, JournalSeq entry);
  /// Its process is to end. The agent stays. A shorter grace replaces a longer one.
  void Stop(TaskIndex task, Duration grace);
  void Stop(TaskIndex task);  ///< With deadlines.stop.
  /// How long its process has from SIGTERM to SIGKILL when its collective is broken: no handler in
  /// it can save together with peers that are gone.
  [[nodiscard]] Duration GraceInBroken(TaskIndex task) const;
  /// SIGTERM, once, as a preemption notice.
  void Warn(TaskIndex task);
  /// Every running process's agent writes down what it is doing, before what follows ends any.
  void ShowStacksOfAll();
  /// An agent of an earlier AM attempt is here: goes on with the order that is pending for it.
  void Resume(TaskIndex task);
  /// Sends the pending order again, and goes on repeating it. Deadline::kOrder.
  void Repeat(TaskIndex task);
  /// The ordered process was seen.
  void OnRunning(TaskIndex task);
  /// Sends what may go out: what was decided since the last call rests on all entries so far. Once
  /// a part of a step is over, and when entries have become durable.
  void Reconcile();
  /// How long its process has to end, by the order to stop.
  [[nodiscard]] Duration GraceOf(TaskIndex task) const;

 private:
  /// The end of a process, decided and not told yet.
  struct StopOrder {
    TaskIndex task;
    TaskAttempt attempt;
    Duration grace{};
  };

  void SendStart(TaskIndex task);
  [[nodiscard]] SpecRef SpecFor(TaskIndex task) const;
  void Tell(JournalSeq entry, const StopOrder& stop);
  void SendStop(TaskIndex task, Duration grace);
  /// Its latest order to stop waits for the journal.
  [[nodiscard]] bool IsHeld(TaskIndex task) const;
  void WatchStop(TaskIndex task);

  AmParts& parts_;
  journal::HeldOrders<StopOrder> stops_;
};

}  // namespace tfyarn::am
