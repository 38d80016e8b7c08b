// What the ResourceManager reports: granted containers, ended containers, changed nodes, notices of
// preemption.
#pragma once

#include <optional>
#include <set>

#include "core/allocation/gang_allocator.h"
#include "core/model/am.h"
#include "core/model/task_index.h"
#include "core/model/yarn.h"

namespace tfyarn::am {

struct AmParts;

class RmEvents {
 public:
  explicit RmEvents(AmParts& parts) : parts_(parts) {}

  void OnReplied(const RmReplied& reply);
  /// Gives back what the gang has no use for.
  void ReleaseSurplus();
  /// What the gang's clocks say.
  void OnGangTime();

 private:
  void OnAllocated(const yarn::AllocateResponse& response);
  void Amend(const yarn::ContainerStatus& status);
  void OnCompleted(const yarn::ContainerStatus& status);
  void OnOwnedCompleted(TaskIndex task, const yarn::ContainerStatus& status);
  void OnNode(const yarn::NodeReport& report);
  void OnPreemptionNotice(const ContainerId& container);
  void OnResynced();
  void OnRejected(const yarn::RpcError& error);

  AmParts& parts_;
  std::set<ContainerId> given_back_;  ///< Never a task's in use; their ends are expected.
};

}  // namespace tfyarn::am
