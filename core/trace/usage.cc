#include "core/trace/usage.h"

#include <algorithm>

#include "core/model/check.h"

namespace tfyarn::trace {

void UsageSeries::Change(Instant now, Use use, std::int64_t units) {
  Advance(now);
  levels_[static_cast<std::size_t>(use)] += units;
}

void UsageSeries::Move(Instant now, Use from, Use to, std::int64_t units) {
  if (from == to || units == 0) return;
  Change(now, from, -units);
  Change(now, to, units);
}

UseIntegral UsageSeries::Until(Instant now) {
  Advance(now);
  return total_;
}

UsageSeries::Points UsageSeries::TakePoints(Instant now) {
  Advance(now);
  return {.width = width_, .end = now, .gpus = true, .buckets = std::move(buckets_)};
}

void UsageSeries::Advance(Instant now) {
  TF_CHECK(now >= at_);
  while (at_ < now) {
    const auto index = static_cast<std::size_t>(at_.time_since_epoch() / width_);
    if (index >= kMaxPoints) {
      Fold();
      continue;
    }
    if (buckets_.size() <= index) buckets_.resize(index + 1);
    const Instant bucket_end{width_ * static_cast<std::int64_t>(index + 1)};
    const std::int64_t passed = (std::min(now, bucket_end) - at_).count();
    for (std::size_t use = 0; use < kUses; ++use) {
      const GpuNanos amount = static_cast<GpuNanos>(passed) * levels_[use];
      buckets_[index][use] += amount;
      total_[use] += amount;
    }
    at_ = std::min(now, bucket_end);
  }
}

void UsageSeries::Fold() {
  std::vector<UseIntegral> merged((buckets_.size() + 1) / 2);
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    for (std::size_t use = 0; use < kUses; ++use) merged[i / 2][use] += buckets_[i][use];
  }
  buckets_ = std::move(merged);
  width_ *= 2;
}

}  // namespace tfyarn::trace
