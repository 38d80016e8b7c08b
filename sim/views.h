// What is shown of the simulated world: to the fault plan, which picks targets, and to the
// checkers, which compare books.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fakes/yarn-rm/rm_books.h"
#include "sim/checkers.h"
#include "sim/cluster.h"
#include "sim/fault_plan.h"

namespace tfyarn::sim {

/// For the fault plan.
class PlanView final : public ClusterView {
 public:
  /// `cluster` must outlive it.
  explicit PlanView(const Cluster& cluster);

  [[nodiscard]] const std::vector<PlanNode>& nodes() const override { return nodes_; }
  [[nodiscard]] std::optional<std::int32_t> NodeOfTask(std::string_view job,
                                                       const TaskId& task) const override;
  [[nodiscard]] std::vector<TaskId> TasksOfJob(std::string_view job) const override;
  [[nodiscard]] std::optional<std::int32_t> NodeOfAm(std::string_view job) const override;
  [[nodiscard]] bool HasClient(std::string_view job) const override;

 private:
  const Cluster& cluster_;
  std::vector<PlanNode> nodes_;
};

/// For the checkers.
class CheckersView final : public WorldView {
 public:
  /// Both must outlive it.
  CheckersView(const Cluster& cluster, const RmActor& rm) : cluster_(cluster), rm_(rm) {}

  [[nodiscard]] std::vector<LiveProcess> LiveProcesses() const override;
  [[nodiscard]] std::vector<HeldContainer> RmContainers() const override;
  [[nodiscard]] std::vector<HeldContainer> NodeContainers() const override;
  [[nodiscard]] std::vector<std::string> RemainsOf(trace::JobIndex job) const override;

 private:
  const Cluster& cluster_;
  const RmActor& rm_;
};

}  // namespace tfyarn::sim
