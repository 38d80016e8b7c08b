// What an ApplicationMaster's host knows of the world around its machine, as facts of the trace: in
// a simulation and in a run on one machine the cluster itself says them.
//
// Of other jobs, and of what a node does with a container, an AM hears nothing: they are not here.
#pragma once

#include <memory>
#include <set>
#include <vector>

#include "core/model/ids.h"
#include "core/model/job_spec.h"
#include "core/trace/record.h"

namespace tfyarn::hosts {

class AmWorld {
 public:
  explicit AmWorld(std::shared_ptr<const JobSpec> job) : job_(std::move(job)) {}

  /// What `fact`, the next that the machine was told or ordered, says of the world: to be recorded
  /// before it.
  [[nodiscard]] std::vector<trace::Fact> Before(const trace::Fact& fact);
  /// Of the same: to be recorded after it.
  [[nodiscard]] std::vector<trace::Fact> After(const trace::Fact& fact) const;

 private:
  [[nodiscard]] std::vector<trace::Fact> Started(const AmStarted& started);
  void Granted(const std::vector<yarn::Container>& containers, std::vector<trace::Fact>& facts);
  [[nodiscard]] std::vector<trace::Fact> Replied(const yarn::RmResponse& response);

  std::shared_ptr<const JobSpec> job_;
  std::set<ContainerId> held_;  ///< Granted, and not freed yet.
  ApplicationId application_;
  JobStatus status_ = JobStatus::kUnfinished;  ///< Of the verdict.
};

}  // namespace tfyarn::hosts
