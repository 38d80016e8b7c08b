// config has the names of a result's fields in a list of its own. This test compares both.
#include <gtest/gtest.h>

#include "config/metric_names.h"
#include "core/trace/result.h"

namespace tfyarn::config::agreement_test {
namespace {

TEST(AgreementTest, EveryJobFieldOfExpectationsIsInAResult) {
  const trace::JobResult job;
  for (const MetricName& metric : JobMetrics()) {
    EXPECT_TRUE(trace::LookupField(job, metric.name).has_value()) << metric.name;
  }
}

}  // namespace
}  // namespace tfyarn::config::agreement_test
