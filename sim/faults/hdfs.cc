// HDFS that answers no call, takes nothing, is slow, or is full.
#include <algorithm>
#include <cstdint>
#include <optional>

#include "sim/faults/effects.h"

namespace tfyarn::sim {

template <>
void SimHost::Strike<FaultId::kHdfsDown>(const FaultOrder& order) {
  hdfs_downs_ += order.begins ? 1 : -1;
  name_node_.set_down(hdfs_downs_ > 0);
}

template <>
void SimHost::Strike<FaultId::kHdfsSafemode>(const FaultOrder& order) {
  hdfs_safe_modes_ += order.begins ? 1 : -1;
  name_node_.set_safe_mode(hdfs_safe_modes_ > 0);
}

template <>
void SimHost::Strike<FaultId::kHdfsSlow>(const FaultOrder& order) {
  hdfs_slowed_by_.erase(KeyOf(order));
  if (order.begins) hdfs_slowed_by_[KeyOf(order)] = PermilleOf(order, 10);
}

Duration SimHost::SlowedByHdfs(Duration time) const {
  for (const auto& [key, permille] : hdfs_slowed_by_)
    time = time * (permille / 1000) + time / 1000 * (permille % 1000);
  return time;
}

template <>
void SimHost::Strike<FaultId::kHdfsQuota>(const FaultOrder& order) {
  hdfs_quotas_.erase(KeyOf(order));
  if (order.begins)
    hdfs_quotas_[KeyOf(order)] = static_cast<std::int64_t>(NumberOf(order, "bytes", 0));
  std::optional<std::int64_t> least = setup_.scenario.hdfs.quota_bytes;
  for (const auto& [key, bytes] : hdfs_quotas_) least = std::min(least.value_or(bytes), bytes);
  name_node_.SetQuota("/", least);
}

}  // namespace tfyarn::sim
