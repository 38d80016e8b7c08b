// Can a gang ever be met? With the whole cluster empty, the queue at its maximum, and no other
// application there.
//
// Says no only when it is proven, and then names the one limit that a user must change. What is
// merely unlikely or busy now is feasible.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/resource.h"
#include "core/placement/inventory.h"
#include "core/placement/place_gang.h"

namespace tfyarn::placement {

/// A resource that is zero as a whole is unknown and limits nothing, as one that is not there.
struct Limits {
  /// Most that the job's queue may use of the nodes of each partition that were up, ...
  yarn::PartitionAmounts queue_maximum;
  yarn::PartitionAmounts queue_shares;  ///< ... which had this together when that was said.
  Resource maximum_container;           ///< Largest container that the RM grants.
  /// What the job needs of the queue besides the gang: its AM container, in the default partition.
  Resource reserved;
};

/// Why a gang can never be met.
struct Infeasible {
  std::string task_type;  ///< Empty when the gang as a whole is too large.
  std::string resource;  ///< YARN's name of the short resource; "nodes", "racks" or "partition" for
                         ///< other limits.
  std::int64_t needed = 0;
  std::int64_t limit = 0;
  /// "worker needs 16 GPUs (yarn.io/gpu) per container, but the largest node has 8".
  std::string text;
};

/// nullopt = nothing speaks against it. An empty inventory is an unknown one: only the limits are
/// checked then.
[[nodiscard]] std::optional<Infeasible> FindInfeasible(const std::vector<SlotGroup>& groups,
                                                       const Inventory& inventory,
                                                       const Limits& limits);

/// A container that no node to come can make possible: larger than the largest one that the RM
/// grants although a node has more than that, so that a setting of the RM's is the limit.
/// `maximum_container`: said by the RM when it had seen the whole `inventory`. nullopt = none is
/// known to be.
[[nodiscard]] std::optional<Infeasible> FindBeyondSetting(const std::vector<SlotGroup>& groups,
                                                          const Inventory& inventory,
                                                          const Resource& maximum_container);

/// One group per task type, with all its instances.
[[nodiscard]] std::vector<SlotGroup> GroupsOf(const JobSpec& job);

}  // namespace tfyarn::placement
