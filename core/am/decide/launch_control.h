// Containers become agents: when the AM uses a granted container, the call that starts its agent,
// and how that call can fail.
//
// With gang policies `all` and `hold` the AM launches no agent before every container is there;
// with `none` it launches each as it comes. A replacement waits for the other replacements, not for
// what runs already. The AM asks a NodeManager that is not ready or does not answer again for a
// while; any other refusal loses the container.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/allocation/allocation.h"
#include "core/journal/held_orders.h"
#include "core/model/am.h"
#include "core/model/task_index.h"

namespace tfyarn::am {

struct AmParts;

class LaunchControl {
 public:
  explicit LaunchControl(AmParts& parts) : parts_(parts) {}

  /// The task was granted a container.
  void OnGranted(TaskIndex task, const allocation::HeldContainer& container);
  /// Launches whatever may be launched now. Once at the end of every step in which grants or wants
  /// changed.
  void LaunchReady();
  /// Entries have become durable.
  void OnDurable();
  /// Its node did not start the task's agent, which has not spoken.
  void OnRefused(TaskIndex task, const allocation::LaunchRefusal& refusal);
  /// Deadline::kLaunchRetry.
  void OnRetry(TaskIndex task);
  /// Of an earlier AM attempt, which may have started it or not; a node that knows the container
  /// says so, and that is fine.
  void StartOnceMore(TaskIndex task);
  /// Deadline::kRegistration.
  void OnRegistrationTimeout(TaskIndex task);

 private:
  struct Launch {
    TaskIndex task;
    Incarnation incarnation;
  };

  [[nodiscard]] bool MayLaunch(TaskIndex task) const;
  void Start(TaskIndex task);
  void Order(TaskIndex task);
  void Lost(TaskIndex task, const std::string& why, bool blame_node, bool free);

  AmParts& parts_;
  std::vector<TaskIndex> granted_;  // granted and not yet in the journal
  journal::HeldOrders<std::vector<Launch>> launches_;
};

}  // namespace tfyarn::am
