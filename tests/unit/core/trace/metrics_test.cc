#include "core/trace/metrics.h"

#include <gtest/gtest.h>

#include "tests/unit/core/trace/trace_script.h"

namespace tfyarn::trace::metrics_test {
namespace {

std::vector<JobResult> JobsThatTook(const std::vector<double>& seconds) {
  std::vector<JobResult> jobs;
  for (const double s : seconds) {
    JobResult job;
    job.status = JobStatus::kSucceeded;
    job.finished = Second(s);
    jobs.push_back(job);
  }
  return jobs;
}

std::optional<double> Find(const std::vector<Metric>& metrics, const std::string& name) {
  for (const Metric& metric : metrics) {
    if (metric.name == name) return metric.value;
  }
  ADD_FAILURE() << name;
  return std::nullopt;
}

TEST(MetricsTest, APercentileIsAValueThatAJobReallyHad) {
  std::vector<Duration> sorted;
  for (int i = 1; i <= 200; ++i) sorted.push_back(Duration(i));
  EXPECT_EQ(Percentile(sorted, 50), 100ns);
  EXPECT_EQ(Percentile(sorted, 99), 198ns);
  EXPECT_EQ(Percentile(sorted, 100), 200ns);
  EXPECT_EQ(Percentile({7ns}, 1), 7ns);
  EXPECT_EQ(Percentile({1ns, 2ns}, 50), 1ns);
  EXPECT_EQ(Percentile({1ns, 2ns}, 51), 2ns);
}

TEST(MetricsTest, AFigureOverNothingHasNoValue) {
  const std::vector<Metric> metrics = ComputeMetrics({}, {});
  EXPECT_EQ(Find(metrics, "jobs_submitted"), 0);
  EXPECT_EQ(Find(metrics, "jct_mean_seconds"), std::nullopt);
  EXPECT_EQ(Find(metrics, "goodput"), std::nullopt);
  EXPECT_EQ(Find(metrics, "makespan_seconds"), std::nullopt);
}

TEST(MetricsTest, MeansAreOfFinishedJobs) {
  std::vector<JobResult> jobs = JobsThatTook({10, 20, 60});
  jobs.emplace_back();
  const std::vector<Metric> metrics = ComputeMetrics(jobs, {});
  EXPECT_EQ(Find(metrics, "jobs_unfinished"), 1);
  EXPECT_EQ(Find(metrics, "jct_mean_seconds"), 30);
  EXPECT_EQ(Find(metrics, "jct_p50_seconds"), 20);
  EXPECT_EQ(Find(metrics, "jct_max_seconds"), 60);
}

TEST(MetricsTest, EveryValueFallsIntoOneBucketOfItsHistogram) {
  const std::vector<Histogram> histograms =
      ComputeHistograms(JobsThatTook({0, 0.0005, 1, 1.5, 2, 1e6}), {});
  ASSERT_EQ(histograms.size(), 1U);
  const Histogram& histogram = histograms[0];
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < histogram.counts.size(); ++i) {
    sum += histogram.counts[i];
    if (histogram.edges[i] == 1 || histogram.edges[i] == 0) {
      EXPECT_EQ(histogram.counts[i], 2U);
    }
  }
  EXPECT_EQ(sum, 6U);
}

}  // namespace
}  // namespace tfyarn::trace::metrics_test
