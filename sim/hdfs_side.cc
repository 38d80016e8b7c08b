#include "sim/hdfs_side.h"

#include <algorithm>

namespace tfyarn::sim {

HdfsSide::HdfsSide(Kernel& kernel, const RunSetup& setup, Network& network,
                   const SabotageDesk& sabotage)
    : kernel_(kernel),
      setup_(setup),
      network_(network),
      sabotage_(sabotage),
      name_node_(NameNodeOptionsOf(setup.scenario.hdfs)),
      delays_(setup.seed, "hdfs") {}

Duration HdfsSide::Slowed(Duration time) const {
  for (const auto& [key, permille] : slowed_by_)
    time = time * (permille / 1000) + time / 1000 * (permille % 1000);
  return time;
}

void HdfsSide::SwitchDown(bool begins) {
  downs_ += begins ? 1 : -1;
  name_node_.set_down(downs_ > 0);
}

void HdfsSide::SwitchSafeMode(bool begins) {
  safe_modes_ += begins ? 1 : -1;
  name_node_.set_safe_mode(safe_modes_ > 0);
}

void HdfsSide::SlowBy(std::uint64_t fault, std::optional<std::int32_t> permille) {
  slowed_by_.erase(fault);
  if (permille) slowed_by_[fault] = *permille;
}

void HdfsSide::LimitTo(std::uint64_t fault, std::optional<std::int64_t> bytes) {
  quotas_.erase(fault);
  if (bytes) quotas_[fault] = *bytes;
  std::optional<std::int64_t> least = setup_.scenario.hdfs.quota_bytes;
  for (const auto& [key, quota] : quotas_) least = std::min(least.value_or(quota), quota);
  name_node_.SetQuota("/", least);
}

void HdfsSide::DrawAnew() {
  delays_ = Random(setup_.seed, "hdfs").Shaking();
}

}  // namespace tfyarn::sim
