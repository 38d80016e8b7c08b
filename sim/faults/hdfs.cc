// HDFS that answers no call, takes nothing, is slow, or is full.
#include <cstdint>
#include <optional>

#include "sim/faults/effects.h"

namespace tfyarn::sim {

template <>
void Strike<FaultId::kHdfsDown>(World& world, const FaultOrder& order) {
  world.hdfs.SwitchDown(order.begins);
}

template <>
void Strike<FaultId::kHdfsSafemode>(World& world, const FaultOrder& order) {
  world.hdfs.SwitchSafeMode(order.begins);
}

template <>
void Strike<FaultId::kHdfsSlow>(World& world, const FaultOrder& order) {
  world.hdfs.SlowBy(KeyOf(order),
                    order.begins ? std::optional(PermilleOf(order, 10)) : std::nullopt);
}

template <>
void Strike<FaultId::kHdfsQuota>(World& world, const FaultOrder& order) {
  const auto bytes = static_cast<std::int64_t>(NumberOf(order, "bytes", 0));
  world.hdfs.LimitTo(KeyOf(order), order.begins ? std::optional(bytes) : std::nullopt);
}

}  // namespace tfyarn::sim
