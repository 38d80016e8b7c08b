// The names of result.json that expectations may use. A test compares them with what the result
// really has.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tfyarn::config {

enum class MetricKind { kNumber, kSeconds, kWord };

struct MetricName {
  std::string_view name;
  MetricKind kind = MetricKind::kNumber;
};

/// Fields of a job: behind `job/NAME.`.
[[nodiscard]] const std::vector<MetricName>& JobMetrics();
/// Figures of a run.
[[nodiscard]] const std::vector<MetricName>& RunMetrics();
/// Figures of many runs together, beside METRIC.mean, .sd, .min, .p50, .p99 and .max of each of a
/// run.
[[nodiscard]] const std::vector<MetricName>& EnsembleMetrics();
/// Fields of one occurrence of a fault: behind `fault/N.`.
[[nodiscard]] const std::vector<MetricName>& FaultMetrics();

[[nodiscard]] const MetricName* FindMetric(const std::vector<MetricName>& names,
                                           std::string_view name);
[[nodiscard]] std::vector<std::string> NamesOf(const std::vector<MetricName>& names);

}  // namespace tfyarn::config
