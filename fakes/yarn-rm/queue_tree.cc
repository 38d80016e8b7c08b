#include "fakes/yarn-rm/queue_tree.h"

#include <algorithm>
#include <set>

#include "core/model/check.h"
#include "fakes/yarn-rm/dominant.h"

namespace tfyarn::fakes {
namespace {

std::string LastName(const std::string& path) {
  const auto dot = path.rfind('.');
  return dot == std::string::npos ? path : path.substr(dot + 1);
}

std::string ParentPath(const std::string& path) {
  const auto dot = path.rfind('.');
  return dot == std::string::npos ? std::string() : path.substr(0, dot);
}

Resource ShareOf(const Resource& total, std::int64_t ppb) {
  return Scaled(total, ppb, kWhole);
}

}  // namespace

const Resource& ByPartition::Zero() {
  static const Resource kZero;
  return kZero;
}

Resource& ByPartition::At(std::int32_t partition) {
  const auto index = static_cast<std::size_t>(partition);
  if (index >= amounts_.size()) amounts_.resize(index + 1);
  return amounts_[index];
}

QueueTree::QueueTree(const RmOptions& options) : minimum_(options.minimum_allocation) {
  AddQueue("root", {.path = "root", .capacity_permille = 1000});
  std::set<std::string> named;
  std::int32_t below_root = 0;
  for (const QueueOptions& queue : options.queues) {
    if (queue.path == "root") continue;
    named.insert(queue.path);
    if (ParentPath(queue.path) == "root") below_root += queue.capacity_permille;
  }
  const bool needs_default = named.count("root.default") == 0 && below_root < 1000;
  std::vector<QueueOptions> sorted = options.queues;
  std::sort(sorted.begin(), sorted.end(),
            [](const auto& a, const auto& b) { return a.path < b.path; });
  for (const QueueOptions& queue : sorted) {
    std::string missing = ParentPath(queue.path);
    std::vector<std::string> parents;
    while (!missing.empty() && by_path_.count(missing) == 0) {
      parents.push_back(missing);
      missing = ParentPath(missing);
    }
    for (auto parent = parents.rbegin(); parent != parents.rend(); ++parent) {
      AddQueue(*parent, {.path = *parent, .capacity_permille = 1000 - below_root});
    }
    AddQueue(queue.path, queue);
  }
  if (needs_default)
    AddQueue("root.default", {.path = "root.default", .capacity_permille = 1000 - below_root});
  ComputeShares();
}

std::int32_t QueueTree::AddQueue(const std::string& path, const QueueOptions& options) {
  if (const auto known = by_path_.find(path); known != by_path_.end()) {
    if (path != "root") (*this)[known->second].options = options;
    return known->second;
  }
  const auto number = static_cast<std::int32_t>(queues_.size());
  auto queue = std::make_unique<Queue>();
  queue->path = path;
  queue->name = LastName(path);
  queue->options = options;
  const std::string parent = ParentPath(path);
  if (!parent.empty()) {
    const auto above = by_path_.find(parent);
    TF_CHECK(above != by_path_.end());
    queue->parent = above->second;
    (*this)[above->second].children.push_back(number);
    (*this)[above->second].leaf = false;
  }
  by_path_.emplace(path, number);
  queues_.push_back(std::move(queue));
  return number;
}

void QueueTree::ComputeShares() {
  for (auto& queue : queues_) {
    if (queue->parent < 0) {
      queue->capacity_ppb = kWhole;
      queue->max_capacity_ppb = kWhole;
      continue;
    }
    const Queue& above = (*this)[queue->parent];
    queue->capacity_ppb = above.capacity_ppb * queue->options.capacity_permille / 1000;
    queue->max_capacity_ppb = above.max_capacity_ppb * queue->options.max_capacity_permille / 1000;
  }
}

std::optional<std::int32_t> QueueTree::Find(const std::string& name) const {
  if (const auto known = by_path_.find(name); known != by_path_.end()) return known->second;
  for (std::size_t i = 0; i < queues_.size(); ++i) {
    if (queues_[i]->name == name) return static_cast<std::int32_t>(i);
  }
  return std::nullopt;
}

void QueueTree::SetTotal(std::int32_t partition, const Resource& total) {
  total_.At(partition) = total;
  for (auto& queue : queues_) {
    queue->capacity.At(partition) = ShareOf(total, queue->capacity_ppb);
    queue->max_capacity.At(partition) = ShareOf(total, queue->max_capacity_ppb);
    queue->below_maximum.clear();
    queue->user_limits.clear();
  }
}

void QueueTree::Use(std::int32_t leaf, std::int32_t user, std::int32_t partition,
                    const Resource& amount) {
  for (std::int32_t at = leaf; at >= 0; at = (*this)[at].parent) {
    auto& used = (*this)[at].used;
    const auto index = static_cast<std::size_t>(partition);
    if (index >= used.size()) used.resize(index + 1);
    used[index] += amount;
    (*this)[at].below_maximum.clear();
  }
  Queue& queue = (*this)[leaf];
  LeafUser& owner = queue.users[user];
  owner.used.At(partition) += amount;
  if (owner.wanting > 0) queue.active_used.At(partition) += amount;
  queue.user_limits.clear();
}

void QueueTree::GiveBack(std::int32_t leaf, std::int32_t user, std::int32_t partition,
                         const Resource& amount) {
  for (std::int32_t at = leaf; at >= 0; at = (*this)[at].parent) {
    (*this)[at].used[static_cast<std::size_t>(partition)] -= amount;
    (*this)[at].below_maximum.clear();
  }
  Queue& queue = (*this)[leaf];
  LeafUser& owner = queue.users[user];
  owner.used.At(partition) -= amount;
  if (owner.wanting > 0) queue.active_used.At(partition) -= amount;
  queue.user_limits.clear();
}

void QueueTree::AddPending(std::int32_t leaf, std::int32_t partition, const Resource& amount) {
  for (std::int32_t at = leaf; at >= 0; at = (*this)[at].parent)
    (*this)[at].pending.At(partition) += amount;
}

void QueueTree::SetWanting(std::int32_t leaf, std::int32_t user, bool wanting) {
  Queue& queue = (*this)[leaf];
  LeafUser& owner = queue.users[user];
  const bool was_active = owner.wanting > 0;
  owner.wanting += wanting ? 1 : -1;
  TF_CHECK(owner.wanting >= 0);
  const bool is_active = owner.wanting > 0;
  if (was_active == is_active) return;
  queue.active_users += is_active ? 1 : -1;
  queue.user_limits.clear();
  for (std::size_t p = 0; p < queue.used.size(); ++p) {
    const auto partition = static_cast<std::int32_t>(p);
    if (is_active) {
      queue.active_used.At(partition) += owner.used[partition];
    } else {
      queue.active_used.At(partition) -= owner.used[partition];
    }
  }
}

bool QueueTree::MayAssign(std::int32_t queue, std::int32_t partition) const {
  const Queue& at = (*this)[queue];
  return AnyPositive(at.pending[partition]) && IsBelowMaximum(at, partition);
}

bool QueueTree::IsBelowMaximum(const Queue& queue, std::int32_t partition) const {
  const auto index = static_cast<std::size_t>(partition);
  if (index >= queue.used.size()) return true;
  if (index >= queue.below_maximum.size()) queue.below_maximum.resize(index + 1);
  auto& below = queue.below_maximum[index];
  if (!below) {
    below =
        CompareDominant(queue.used[index], queue.max_capacity[partition], total_[partition]) < 0;
  }
  return *below;
}

bool QueueTree::HasRoom(std::int32_t leaf, std::int32_t partition, const Resource& amount) const {
  static const Resource kZero;
  const auto index = static_cast<std::size_t>(partition);
  for (std::int32_t at = leaf; at >= 0; at = (*this)[at].parent) {
    const Queue& queue = (*this)[at];
    const Resource& used = index < queue.used.size() ? queue.used[index] : kZero;
    if (!SumFitsIn(used, amount, queue.max_capacity[partition])) return false;
  }
  return true;
}

Resource QueueTree::Headroom(std::int32_t leaf, std::int32_t partition) const {
  static const Resource kZero;
  const auto index = static_cast<std::size_t>(partition);
  Resource least = (*this)[leaf].max_capacity[partition];
  const auto others = least.others;
  for (std::int32_t at = leaf; at >= 0; at = (*this)[at].parent) {
    const Queue& queue = (*this)[at];
    const Resource& most = queue.max_capacity[partition];
    const Resource& used = index < queue.used.size() ? queue.used[index] : kZero;
    const auto lower = [](std::int64_t amount, std::int64_t left) {
      return std::clamp<std::int64_t>(left, 0, amount);
    };
    least.memory_mb = lower(least.memory_mb, most.memory_mb - used.memory_mb);
    least.vcores = lower(least.vcores, most.vcores - used.vcores);
    least.gpus = lower(least.gpus, most.gpus - used.gpus);
    for (const auto& [name, amount] : others) {
      least.Set(name, lower(least.Get(name), most.Get(name) - used.Get(name)));
    }
  }
  return least;
}

bool QueueTree::UserMayAssign(std::int32_t leaf, std::int32_t user, std::int32_t partition) const {
  const Queue& queue = (*this)[leaf];
  const auto owner = queue.users.find(user);
  if (owner == queue.users.end()) return true;
  return CompareDominant(owner->second.used[partition], UserLimit(leaf, partition),
                         total_[partition]) <= 0;
}

const Resource& QueueTree::UserLimit(std::int32_t leaf, std::int32_t partition) const {
  const Queue& queue = (*this)[leaf];
  const auto index = static_cast<std::size_t>(partition);
  if (index >= queue.user_limits.size()) queue.user_limits.resize(index + 1);
  auto& limit = queue.user_limits[index];
  if (!limit) limit = ComputeUserLimit(queue, partition);
  return *limit;
}

// Source: UsersManager.computeUserLimit.
Resource QueueTree::ComputeUserLimit(const Queue& queue, std::int32_t partition) const {
  static const Resource kZero;
  const Resource& total = total_[partition];
  const auto index = static_cast<std::size_t>(partition);
  const Resource& consumed = index < queue.used.size() ? queue.used[index] : kZero;
  const Resource& entitled = DominantMax(queue.capacity[partition], minimum_, total);
  const Resource current =
      CompareDominant(consumed, entitled, total) < 0 ? entitled : consumed + minimum_;
  const Resource fair = DividedUp(queue.active_used[partition] + minimum_,
                                  std::max<std::int64_t>(queue.active_users, 1));
  const Resource least = ScaledUp(current, queue.options.user_limit_permille, 1000);
  const Resource most = Scaled(entitled, queue.options.user_limit_factor_permille, 1000);
  return RoundedUp(DominantMin(DominantMax(fair, least, total), most, total), minimum_);
}

std::int64_t QueueTree::UsedRatio(std::int32_t queue, std::int32_t partition) const {
  const Queue& at = (*this)[queue];
  const auto index = static_cast<std::size_t>(partition);
  if (index >= at.used.size()) return 0;
  const std::int64_t used = DominantShare(at.used[index], total_[partition]);
  if (used == 0) return 0;
  if (at.capacity_ppb == 0) return INT64_MAX;
  return PartsOf(used, at.capacity_ppb);
}

void QueueTree::UseForAm(std::int32_t leaf, std::int32_t user, std::int32_t partition,
                         const Resource& am) {
  Queue& queue = (*this)[leaf];
  ++queue.active_applications;
  queue.am_used.At(partition) += am;
  queue.users[user].am_used.At(partition) += am;
}

void QueueTree::GiveBackOfAm(std::int32_t leaf, std::int32_t user, std::int32_t partition,
                             const Resource& am) {
  Queue& queue = (*this)[leaf];
  --queue.active_applications;
  queue.am_used.At(partition) -= am;
  queue.users[user].am_used.At(partition) -= am;
}

// Source: AbstractLeafQueue.activateApplications, calculateAndGetAMResourceLimitPerPartition,
// getUserAMResourceLimitPerPartition.
bool QueueTree::AmFits(std::int32_t leaf, std::int32_t user, std::int32_t partition,
                       const Resource& am) const {
  const Queue& queue = (*this)[leaf];
  if (queue.active_applications < 1 || IsZero(queue.am_used[partition])) return true;
  const Resource& entitled = queue.capacity[partition];
  const Resource& usable =
      partition == 0 && FitsIn(entitled, queue.max_capacity[0]) ? queue.max_capacity[0] : entitled;
  const Resource limit =
      RoundedUp(ScaledUp(usable, queue.options.am_share_permille, 1000), minimum_);
  if (!SumFitsIn(am, queue.am_used[partition], limit)) return false;
  const std::int64_t per_user = std::max<std::int64_t>(queue.options.user_limit_permille,
                                                       1000 / std::max(queue.active_users, 1));
  const Resource share = ScaledUp(
      entitled,
      queue.options.am_share_permille * per_user * queue.options.user_limit_factor_permille,
      1'000'000'000);
  const auto owner = queue.users.find(user);
  const Resource used = owner == queue.users.end() ? Resource{} : owner->second.am_used[partition];
  return SumFitsIn(am, used, RoundedUp(share, minimum_));
}

}  // namespace tfyarn::fakes
