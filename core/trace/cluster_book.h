// Which container holds what, on which node, for which job: the side of the result that is about
// the cluster.
//
// It follows the RM's books (ContainerGranted, ContainerFreed) and the nodes' power, and keeps the
// use of the cluster's capacity and the bars of the report's picture. What a job's GPUs were used
// for is GpuAccount's business.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "core/trace/record.h"
#include "core/trace/result.h"
#include "core/trace/usage.h"

namespace tfyarn::trace {

class ClusterBook {
 public:
  /// Bars and outages kept for the picture; 0 = none.
  explicit ClusterBook(std::size_t max_bars) : max_bars_(max_bars) {}
  // Containers point at their nodes.
  ClusterBook(const ClusterBook&) = delete;
  ClusterBook& operator=(const ClusterBook&) = delete;

  void DeclareNode(Instant now, const NodeDeclared& node);
  void Power(Instant now, const NodePower& power);
  void Grant(Instant now, const ContainerGranted& granted);
  struct FreedContainer {
    JobIndex job;
    std::int64_t gpus = 0;
    bool launched = false;  ///< A task's container in which a process ran.
  };
  /// The job that held it, by the record that granted it; nullopt: the container is not known.
  std::optional<FreedContainer> Free(Instant now, const ContainerId& container);
  /// The first process of a container runs: of which job, unless it is an AM's, or not known.
  std::optional<JobIndex> Launch(const ContainerId& container);
  /// What the job's containers on running nodes are used for from now on.
  void SetUse(Instant now, JobIndex job, Use use);
  /// A process of this task runs in the container: names its bar.
  void NameContainer(const ContainerId& container, const TaskId& task);

  [[nodiscard]] bool HoldsContainers(JobIndex job) const { return jobs_.contains(job); }
  [[nodiscard]] UseIntegral Until(Instant now);
  [[nodiscard]] bool unit_is_gpu() const { return unit_is_gpu_; }
  [[nodiscard]] UsageSeries::Points TakePoints(Instant now);
  /// Ends every bar and outage that is open, and adds all to the timeline.
  void FillTimeline(Instant now, Timeline& timeline);

 private:
  struct JobHolding {
    Use use = Use::kIncomplete;
    std::set<ContainerId> containers;
    std::int64_t units = 0;  ///< Of its containers on nodes that are up.
  };
  struct Node {
    Resource capacity;
    std::string rack;
    bool up = true;
    Instant down_since{};
    std::set<ContainerId> containers;
  };
  struct Held {
    JobIndex job;
    std::pair<const NodeId, Node>* node;  ///< In nodes_, which forgets none.
    Resource resource;
    Instant since{};
    bool am = false;
    bool launched = false;
    std::string task;
  };

  [[nodiscard]] std::int64_t Units(const Resource& resource) const;
  /// The cluster is known: chooses the unit, and counts from when the nodes were declared. That is
  /// before anything else happens.
  void Open();
  void AddBar(Instant now, const ContainerId& container, const Held& held);

  std::size_t max_bars_;
  bool open_ = false;
  Instant declared_at_{};
  bool unit_is_gpu_ = true;
  std::map<NodeId, Node> nodes_;
  std::map<ContainerId, Held> containers_;
  std::map<JobIndex, JobHolding> jobs_;  // exactly those that hold a container
  UsageSeries usage_;
  Timeline timeline_;
};

}  // namespace tfyarn::trace
