// Orders to agents: start this process, stop that one, and their repetition until the agent
// reports.
#pragma once

#include <deque>
#include <map>
#include <vector>

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

  /// Orders the task's next process with the spec of the present epoch. What the order depends on
  /// is durable.
  void Start(TaskIndex task);
  /// Orders the end of its process. The agent stays. A shorter grace replaces a longer one. The
  /// order goes out when what this step decides is durable.
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
  /// What has been ordered to stop since the last call rests on that entry; 0: on none.
  void RestOn(JournalSeq entry);
  /// Entries have become durable.
  void OnDurable();
  /// How long its process has to end, by the order to stop.
  [[nodiscard]] Duration GraceOf(TaskIndex task) const;

 private:
  void SendStart(TaskIndex task);
  [[nodiscard]] SpecRef SpecFor(TaskIndex task) const;
  [[nodiscard]] SendToAgent StopOrder(TaskIndex task, Duration grace) const;
  [[nodiscard]] bool IsHeld(TaskIndex task) const;
  void WatchStop(TaskIndex task);
  [[nodiscard]] Duration GraceSaid(TaskIndex task) const;

  /// An order to stop that waits for the journal.
  struct HeldStop {
    JournalSeq entry;
    TaskIndex task;
    TaskAttempt attempt;
    Duration grace{};
  };

  AmParts& parts_;
  std::vector<TaskIndex> stopped_;            // since the last RestOn
  std::deque<HeldStop> held_;                 // in the journal's order
  std::map<TaskIndex, JournalSeq> rests_on_;  // the latest of held_
  std::map<TaskIndex, Duration> said_;        // the grace of an order before that, which is out
};

}  // namespace tfyarn::am
