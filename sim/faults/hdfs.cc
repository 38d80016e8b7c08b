// HDFS that answers no call, takes nothing, is slow, or is full.
#include <cstdint>
#include <optional>

#include "sim/faults/effects.h"

namespace tfyarn::sim {

template <>
void SimHost::Strike<FaultId::kHdfsDown>(const FaultOrder& order) {
  hdfs_.SwitchDown(order.begins);
}

template <>
void SimHost::Strike<FaultId::kHdfsSafemode>(const FaultOrder& order) {
  hdfs_.SwitchSafeMode(order.begins);
}

template <>
void SimHost::Strike<FaultId::kHdfsSlow>(const FaultOrder& order) {
  hdfs_.SlowBy(KeyOf(order), order.begins ? std::optional(PermilleOf(order, 10)) : std::nullopt);
}

template <>
void SimHost::Strike<FaultId::kHdfsQuota>(const FaultOrder& order) {
  const auto bytes = static_cast<std::int64_t>(NumberOf(order, "bytes", 0));
  hdfs_.LimitTo(KeyOf(order), order.begins ? std::optional(bytes) : std::nullopt);
}

}  // namespace tfyarn::sim
