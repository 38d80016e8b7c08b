// Where each task of a job is now: the container of its newest agent, and the port that this agent
// holds for it. Read from the recordings of a run while they grow.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/model/ids.h"
#include "core/trace/record.h"

namespace tfyarn::hosts {

class TaskPlaces {
 public:
  void Observe(const trace::TraceRecord& record);

  /// nullopt: none of its agents has started, or its container is gone.
  [[nodiscard]] std::optional<ContainerId> ContainerOf(const TaskId& task) const;
  /// nullopt: no agent has started in it.
  [[nodiscard]] std::optional<TaskId> TaskIn(const ContainerId& container) const;
  /// nullopt: none yet.
  [[nodiscard]] std::optional<std::int32_t> PortIn(const ContainerId& container) const;
  /// Every task that holds a container, in order.
  [[nodiscard]] std::vector<TaskId> Tasks() const;

 private:
  std::map<TaskId, ContainerId> containers_;
  std::map<ContainerId, TaskId> tasks_;
  std::map<ContainerId, std::int32_t> ports_;
};

}  // namespace tfyarn::hosts
