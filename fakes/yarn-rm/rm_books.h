// The ResourceManager's books, for checkers: who holds what, as the scheduler believes it.
//
// Read-only views of the RM's own state, never copies. A container leaves the books when the RM
// completes it; its process may live on a node for longer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/model/ids.h"
#include "core/model/resource.h"
#include "core/model/yarn.h"

namespace tfyarn::fakes {

/// Source: RMContainerState.java, what of it a container in the books can be in.
enum class BookedState {
  kAllocated,  ///< The AM does not know of it yet.
  kAcquired,   ///< Delivered; its node has not reported it.
  kRunning,
};

struct BookedContainer {
  ContainerId id;
  std::int32_t node = -1;  ///< Index into RmBooks::nodes.
  Resource resource;
  std::int32_t priority = 0;
  std::int64_t allocation_request_id = -1;
  bool am = false;
  BookedState state = BookedState::kAllocated;
  std::uint64_t sequence = 0;  ///< Rises with every grant of the RM.
  std::size_t node_slot = 0;   ///< Position in its node's list.
};

struct BookedNode {
  NodeId id;
  std::string rack;
  std::string partition;
  yarn::NodeState state = yarn::NodeState::kNew;
  Resource capacity;
  Resource used;
  Resource free;  ///< capacity - used; negative members after the capacity was lowered.
  std::vector<BookedContainer*> containers;  ///< In no particular order.
};

struct BookedApplication {
  ApplicationId id;
  std::string queue;  ///< Path of the leaf queue.
  std::string user;
  std::map<ContainerId, BookedContainer> containers;
};

struct BookedQueue {
  std::string path;
  bool leaf = true;
  std::vector<Resource> used;  ///< As RmBooks::partitions; may be shorter, what is missing is zero.
};

struct RmBooks {
  std::vector<const BookedNode*>
      nodes;  ///< In the order of first registration; lost ones stay, with nothing used.
  std::map<ApplicationId, const BookedApplication*> applications;  ///< Those that have not ended.
  std::vector<const BookedQueue*> queues;
  std::vector<std::string> partitions;  ///< Names; the first is "", the default partition.
};

}  // namespace tfyarn::fakes
