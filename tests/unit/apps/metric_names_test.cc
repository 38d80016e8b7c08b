// config knows the names that expectations may use, core/trace knows their values: here they meet.
#include "config/metric_names.h"

#include <gtest/gtest.h>

#include "core/trace/metrics.h"
#include "core/trace/result.h"

namespace tfyarn::cli::metric_names_test {
namespace {

TEST(MetricNamesTest, EveryNameOfAnExpectationHasAValue) {
  trace::Result result;
  result.metrics = trace::ComputeMetrics({}, {});
  result.faults.emplace_back();
  for (const config::MetricName& metric : config::JobMetrics()) {
    EXPECT_TRUE(trace::LookupField({}, metric.name)) << metric.name;
  }
  for (const config::MetricName& metric : config::RunMetrics()) {
    EXPECT_TRUE(trace::Lookup(result, metric.name)) << metric.name;
  }
  for (const config::MetricName& metric : config::FaultMetrics()) {
    EXPECT_TRUE(trace::Lookup(result, "fault/0." + std::string(metric.name))) << metric.name;
  }
}

TEST(MetricNamesTest, AFaultIsNamedByItsNumberAndAField) {
  trace::Result result;
  result.faults.emplace_back();
  for (const char* wrong :
       {"fault/0xat", "fault/0", "fault/x.at", "fault/.at", "fault/1.at", "fault/0.when"})
    EXPECT_FALSE(trace::Lookup(result, wrong)) << wrong;
}

TEST(MetricNamesTest, EveryMetricMayBeExpected) {
  for (const trace::Metric& metric : trace::ComputeMetrics({}, {})) {
    EXPECT_TRUE(config::FindMetric(config::RunMetrics(), metric.name)) << metric.name;
  }
}

}  // namespace
}  // namespace tfyarn::cli::metric_names_test
