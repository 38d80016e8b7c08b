// The figures of a whole run, computed once at its end from its jobs and the use of its cluster.
//
// Means are one division of an exact integer sum. Percentiles are exact: the nearest rank, so
// always a value that a job really had. A figure over nothing (the mean completion time of no
// finished job) has no value, rather than zero.
#pragma once

#include <optional>
#include <vector>

#include "core/trace/result.h"

namespace tfyarn::trace {

/// Which part of the run counts.
struct MetricWindow {
  Instant from{};   ///< Jobs submitted at or after it count; use of the cluster counts from here.
  Instant until{};  ///< The last job's end, or the end of the run while one is unfinished.
  UseIntegral before{};
  UseIntegral after{};
  bool unit_is_gpu = true;
};

[[nodiscard]] std::vector<Metric> ComputeMetrics(const std::vector<JobResult>& jobs,
                                                 const MetricWindow& window);

/// Completion times, and waits, of the jobs that count. Empty ones are left out.
[[nodiscard]] std::vector<Histogram> ComputeHistograms(const std::vector<JobResult>& jobs,
                                                       Instant from);

/// The least value that at least `percent` of `sorted` do not exceed; `sorted` is not empty, 0 <
/// percent <= 100.
[[nodiscard]] Duration Percentile(const std::vector<Duration>& sorted, std::int64_t percent);

}  // namespace tfyarn::trace
