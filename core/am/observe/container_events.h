// What the AM does about its containers' news: granted ones, lost ones, nodes that are lost,
// notices of preemption, and what the cluster says to the attempt itself.
#pragma once

#include <vector>

#include "core/allocation/allocation.h"
#include "core/model/ids.h"
#include "core/model/task_index.h"

namespace tfyarn::am {

struct AmParts;

class ContainerEvents final : public allocation::Listener {
 public:
  explicit ContainerEvents(AmParts& parts) : parts_(parts) {}

  void OnAdmitted(const allocation::Admission& admission) override;
  void OnForgotten() override;
  void OnExpelled(const std::string& why) override;
  void OnFinished() override;
  void OnRejected(const allocation::Rejection& rejection) override;
  void OnCameBack(const allocation::HeldContainer& container) override;
  void OnEndsTold(const std::vector<allocation::LostContainer>& lost) override;
  void OnLost(const allocation::LostContainer& lost) override;
  void OnNodeLost(const NodeId& node) override;
  void OnGranted(const TaskId& task, const allocation::HeldContainer& container) override;
  void OnNotice(const ContainerId& container) override;
  void OnLaunchRefused(const TaskId& task, const ContainerId& container,
                       const allocation::LaunchRefusal& refusal) override;
  void OnNotStopped(const ContainerId& container) override;
  [[nodiscard]] std::vector<placement::SlotGroup> Needed() const override;
  /// What the gang's clocks say.
  void OnGangTime();

 private:
  void OnOwnedLost(TaskIndex task, const allocation::LostContainer& lost);

  AmParts& parts_;
};

}  // namespace tfyarn::am
