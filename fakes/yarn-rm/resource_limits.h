// What a container may ask for: which types of resource the ResourceManager knows, the least and
// the most of each, and how an amount is rounded.
//
// The most is what the options say, and where they say nothing, what the largest node has.
//
// Source: SchedulerUtils.java, ClusterNodeTracker.java (getMaxAllowedAllocation).
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "core/model/resource.h"
#include "core/model/yarn.h"
#include "fakes/yarn-rm/rm_options.h"
#include "fakes/yarn-rm/rm_state_store.h"

namespace tfyarn::fakes {

class ResourceLimits {
 public:
  /// `options` outlive this.
  explicit ResourceLimits(const RmOptions& options)
      : options_(options), types_(options.resource_types.begin(), options.resource_types.end()) {}
  /// After a restart: what was known, and how many nodes have to come back until the largest is
  /// known again.
  void Restore(const RmStateStore& store);

  void SeeNode(const Resource& resource);
  /// A node has come: one less to wait for.
  void CountBack() {
    if (awaited_ > 0) --awaited_;
  }
  void StopWaiting() { awaited_ = 0; }

  [[nodiscard]] Resource Maximum() const;
  /// Without types that the RM does not know: they are dropped without a word (run).
  [[nodiscard]] Resource WithKnownTypes(const Resource& asked) const;
  /// Rounded up as the RM does, for a known type.
  [[nodiscard]] Resource Normalized(const Resource& asked) const;
  [[nodiscard]] std::optional<yarn::RpcError> Check(const Resource& asked) const;

  [[nodiscard]] const std::set<std::string>& types() const { return types_; }
  [[nodiscard]] const Resource& largest_node() const { return largest_node_; }

 private:
  const RmOptions& options_;
  std::set<std::string> types_;
  Resource largest_node_;
  bool any_node_seen_ = false;
  std::int32_t awaited_ = 0;
};

}  // namespace tfyarn::fakes
