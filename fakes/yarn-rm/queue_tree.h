// The queues: what each is entitled to, what it uses, and who may have more.
//
// Amounts are kept per partition; a queue has the same shares in every partition. What is used is
// counted under every scheduler; which scheduler keeps to the limits is in schedulers.h, and which
// container goes where is decided there. Assumptions: reserved nodes do not count as used;
// users have equal weights; every queue may use every partition.
//
// Source: AbstractCSQueue.java, AbstractLeafQueue.java, UsersManager.java (3.4.1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/model/resource.h"
#include "fakes/yarn-rm/rm_books.h"
#include "fakes/yarn-rm/rm_options.h"

namespace tfyarn::fakes {

/// Amounts by partition; what was never set is zero.
class ByPartition {
 public:
  [[nodiscard]] const Resource& operator[](std::int32_t partition) const {
    const auto index = static_cast<std::size_t>(partition);
    return index < amounts_.size() ? amounts_[index] : Zero();
  }
  Resource& At(std::int32_t partition);

 private:
  static const Resource& Zero();

  std::vector<Resource> amounts_;
};

struct LeafUser {
  ByPartition used;
  ByPartition am_used;
  std::int32_t wanting = 0;  ///< Applications with outstanding asks; above zero = active.
};

struct Queue : BookedQueue {
  std::string name;
  std::int32_t parent = -1;
  std::vector<std::int32_t> children;
  QueueOptions options;
  std::int64_t capacity_ppb = 0;  ///< Of the whole cluster, parts per 1e9.
  std::int64_t max_capacity_ppb = 0;
  ByPartition capacity;  ///< What the shares are now.
  ByPartition max_capacity;
  ByPartition pending;  ///< May be below zero (see asks.h).
  /// Whether less than max_capacity is used, by partition, until either changes.
  mutable std::vector<std::optional<bool>> below_maximum;

  // Leaf queues only.
  std::map<std::int32_t, LeafUser> users;
  std::int32_t active_users = 0;
  ByPartition active_used;  ///< Used by active users together.
  ByPartition am_used;
  std::int32_t active_applications = 0;
  /// UserLimit by partition, until something it depends on changes.
  mutable std::vector<std::optional<Resource>> user_limits;
};

class QueueTree {
 public:
  /// The caller has checked the options; a parent that no queue entry names is added with all of
  /// its parent's share.
  explicit QueueTree(const RmOptions& options);

  /// What a submission's queue name means; nullopt: no such queue. A leaf's last name is enough.
  [[nodiscard]] std::optional<std::int32_t> Find(const std::string& name) const;
  [[nodiscard]] std::size_t size() const { return queues_.size(); }
  [[nodiscard]] Queue& operator[](std::int32_t queue) {
    return *queues_[static_cast<std::size_t>(queue)];
  }
  [[nodiscard]] const Queue& operator[](std::int32_t queue) const {
    return *queues_[static_cast<std::size_t>(queue)];
  }
  [[nodiscard]] std::int32_t root() const { return 0; }

  /// The partition's nodes have this much together now.
  void SetTotal(std::int32_t partition, const Resource& total);
  [[nodiscard]] const Resource& Total(std::int32_t partition) const { return total_[partition]; }

  /// A container of `user` in the leaf was granted, or is gone.
  void Use(std::int32_t leaf, std::int32_t user, std::int32_t partition, const Resource& amount);
  void GiveBack(std::int32_t leaf, std::int32_t user, std::int32_t partition,
                const Resource& amount);
  void AddPending(std::int32_t leaf, std::int32_t partition, const Resource& amount);
  /// An application of the user began (ended) to have outstanding asks.
  void SetWanting(std::int32_t leaf, std::int32_t user, bool wanting);

  /// Whether the queue may be considered at all: something is pending, and it is below its maximum.
  [[nodiscard]] bool MayAssign(std::int32_t queue, std::int32_t partition) const;
  /// Whether the leaf and all above it have room for one more such container.
  [[nodiscard]] bool HasRoom(std::int32_t leaf, std::int32_t partition,
                             const Resource& amount) const;
  /// What is left of the maxima of the leaf and all above it.
  [[nodiscard]] Resource Headroom(std::int32_t leaf, std::int32_t partition) const;
  /// As in YARN the user may go beyond the limit with the container that crosses it.
  [[nodiscard]] bool UserMayAssign(std::int32_t leaf, std::int32_t user,
                                   std::int32_t partition) const;
  [[nodiscard]] const Resource& UserLimit(std::int32_t leaf, std::int32_t partition) const;
  /// Share of its capacity that the queue uses, parts per 1e9: the order of service.
  [[nodiscard]] std::int64_t UsedRatio(std::int32_t queue, std::int32_t partition) const;

  /// An application with an AM of this size became active in the leaf, or is no longer.
  void UseForAm(std::int32_t leaf, std::int32_t user, std::int32_t partition, const Resource& am);
  void GiveBackOfAm(std::int32_t leaf, std::int32_t user, std::int32_t partition,
                    const Resource& am);
  /// Whether one more AM of this size may be active in the leaf.
  [[nodiscard]] bool AmFits(std::int32_t leaf, std::int32_t user, std::int32_t partition,
                            const Resource& am) const;

 private:
  std::int32_t AddQueue(const std::string& path, const QueueOptions& options);
  void ComputeShares();
  [[nodiscard]] bool IsBelowMaximum(const Queue& queue, std::int32_t partition) const;
  [[nodiscard]] Resource ComputeUserLimit(const Queue& queue, std::int32_t partition) const;

  Resource minimum_;
  std::vector<std::unique_ptr<Queue>> queues_;  // parents before children
  std::map<std::string, std::int32_t> by_path_;
  ByPartition total_;
};

}  // namespace tfyarn::fakes
