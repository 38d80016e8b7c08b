// Carrying out a restart that was decided: the AM stores it, counts it, stops what runs, replaces
// what is lost, and has the processes ordered again, with a new epoch or alone.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/am/decide/failure.h"
#include "core/model/task_index.h"

namespace tfyarn::am {

struct AmParts;

struct RestartOrder {
  std::vector<TaskIndex> tasks;    ///< In order, each once.
  std::vector<TaskIndex> replace;  ///< Of these, who must not stay in its container; in order.
  bool epoch_rises = false;
  Budget paid = Budget::kNone;
  Cause cause;
  std::string rule;
  bool broken = false;    ///< A collective of which a member is gone: nothing can be saved in it.
  bool processes = true;  ///< False: no process had been started; only a container is replaced.
  bool has_victims = false;  ///< Others that fail within deadlines.blame are the cause's victims.
  std::optional<journal::JournaledProcess> excused_by;  ///< See journal::RestartPaid.
};

class Restart {
 public:
  explicit Restart(AmParts& parts) : parts_(parts) {}

  void Execute(const RestartOrder& order);
  /// Asks for containers for tasks that have none; after some were lost early, a while later.
  void WantContainers(const std::vector<TaskIndex>& tasks);
  /// Deadline::kAskAgain.
  void AskAgain(TaskIndex task);
  /// More memory for a task, as the decision says. False: it has the most it may have.
  bool RaiseMemory(TaskIndex task, const policy::Decision& decision);
  /// The gang has given back what it held.
  void TakeGivenBack(const std::optional<allocation::GangGivenBack>& gang);

 private:
  /// Whether the next AM would take it for the task's still.
  [[nodiscard]] bool OnGivenBack(const ContainerId& container, TaskIndex task);
  void AskLater(TaskIndex task);

  AmParts& parts_;
};

}  // namespace tfyarn::am
