#include "core/trace/metrics.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/model/check.h"

namespace tfyarn::trace {
namespace {

using Getter = std::optional<Duration> (JobResult::*)() const;

std::vector<Duration> Sorted(const std::vector<JobResult>& jobs, Instant from, Getter getter) {
  std::vector<Duration> values;
  for (const JobResult& job : jobs) {
    if (job.submitted < from) continue;
    if (const std::optional<Duration> value = (job.*getter)()) values.push_back(*value);
  }
  std::sort(values.begin(), values.end());
  return values;
}

std::optional<double> Mean(const std::vector<Duration>& values) {
  if (values.empty()) return std::nullopt;
  GpuNanos sum = 0;  // for its width: a hundred thousand waits of a year do not fit in 64 bits
  for (const Duration value : values) sum += value.count();
  return static_cast<double>(sum) / static_cast<double>(values.size()) / 1e9;
}

std::optional<double> Ratio(GpuNanos part, GpuNanos whole) {
  if (whole == 0) return std::nullopt;
  return static_cast<double>(part) / static_cast<double>(whole);
}

GpuNanos In(const MetricWindow& window, Use use) {
  const auto index = static_cast<std::size_t>(use);
  return window.after[index] - window.before[index];
}

class Figures {
 public:
  void Add(std::string name, std::optional<double> value) {
    metrics_.push_back({std::move(name), value});
  }
  void Count(std::string name, std::int64_t value) {
    Add(std::move(name), static_cast<double>(value));
  }
  /// PREFIX_mean_seconds, PREFIX_p50_seconds and so on.
  void Distribution(const std::string& prefix, const std::vector<Duration>& sorted) {
    Add(prefix + "_mean_seconds", Mean(sorted));
    for (const std::int64_t percent : {50, 90, 99}) {
      Add(prefix + "_p" + std::to_string(percent) + "_seconds",
          sorted.empty() ? std::nullopt : std::optional(SecondsOf(Percentile(sorted, percent))));
    }
    Add(prefix + "_max_seconds",
        sorted.empty() ? std::nullopt : std::optional(SecondsOf(sorted.back())));
  }
  [[nodiscard]] std::vector<Metric> Take() { return std::move(metrics_); }

 private:
  std::vector<Metric> metrics_;
};

/// Sums over the jobs that count.
struct Totals {
  std::int64_t submitted = 0, succeeded = 0, failed = 0, killed = 0, unfinished = 0;
  std::int64_t task_restarts = 0, gang_restarts = 0, resubmissions = 0;
  std::int64_t am_attempts = 0, containers = 0, leaked = 0, epochs = 0;
  Duration lost_work{};
  GpuSplit gpu;
};

Totals Sum(const std::vector<JobResult>& jobs, Instant from) {
  Totals totals;
  for (const JobResult& job : jobs) {
    if (job.submitted < from) continue;
    ++totals.submitted;
    totals.succeeded += job.status == JobStatus::kSucceeded ? 1 : 0;
    totals.failed += job.status == JobStatus::kFailed ? 1 : 0;
    totals.killed += job.status == JobStatus::kKilled ? 1 : 0;
    totals.unfinished += job.status == JobStatus::kUnfinished ? 1 : 0;
    totals.task_restarts += job.restarts.task;
    totals.gang_restarts += job.restarts.gang;
    totals.resubmissions += job.restarts.job;
    totals.am_attempts += job.am_attempts;
    totals.containers += job.containers;
    totals.leaked += job.leaked_containers;
    totals.epochs += job.epochs;
    totals.lost_work += job.lost_work;
    totals.gpu += job.gpu;
  }
  return totals;
}

void AddUse(Figures& figures, const MetricWindow& window) {
  const GpuNanos held =
      In(window, Use::kTraining) + In(window, Use::kOverhead) + In(window, Use::kIncomplete);
  const GpuNanos up = held + In(window, Use::kFree);
  const std::optional<double> used = Ratio(held, up);
  figures.Add("gpu_utilization", window.unit_is_gpu ? used : std::nullopt);
  figures.Add("cluster_utilization", used);
  figures.Add("incomplete_gang_share", Ratio(In(window, Use::kIncomplete), up));
  figures.Add("node_availability", Ratio(up, up + In(window, Use::kDown)));
}

void AddTotals(Figures& figures, const Totals& totals) {
  figures.Add("goodput", Ratio(totals.gpu.useful, totals.gpu.held));
  figures.Add("gpu_seconds_held", ToSeconds(totals.gpu.held));
  figures.Add("gpu_seconds_useful", ToSeconds(totals.gpu.useful));
  figures.Add("gpu_seconds_waiting", ToSeconds(totals.gpu.waiting));
  figures.Add("gpu_seconds_checkpoint", ToSeconds(totals.gpu.checkpoint));
  figures.Add("gpu_seconds_lost", ToSeconds(totals.gpu.lost));
  figures.Add("gpu_seconds_recovery", ToSeconds(totals.gpu.recovery));
  figures.Add("lost_work_seconds", SecondsOf(totals.lost_work));
  figures.Count("restarts_task", totals.task_restarts);
  figures.Count("restarts_gang", totals.gang_restarts);
  figures.Count("restarts_job", totals.resubmissions);
  figures.Count("epochs", totals.epochs);
  figures.Count("am_attempts", totals.am_attempts);
  figures.Count("containers", totals.containers);
  figures.Count("leaked_containers", totals.leaked);
}

/// 0, then 1-2-5 steps from a millisecond to beyond the largest value.
std::vector<double> EdgesUpTo(double largest) {
  std::vector<double> edges{0};
  for (double decade = 1e-3;; decade *= 10) {
    for (const double step : {1.0, 2.0, 5.0}) {
      edges.push_back(decade * step);
      if (edges.back() > largest) return edges;
    }
  }
}

Histogram Count(std::string name, const std::vector<Duration>& sorted) {
  TF_CHECK(sorted.front() >= Duration::zero());
  Histogram histogram{
      .name = std::move(name), .edges = EdgesUpTo(SecondsOf(sorted.back())), .counts = {}};
  histogram.counts.resize(histogram.edges.size());
  for (const Duration value : sorted) {
    const auto above =
        std::upper_bound(histogram.edges.begin(), histogram.edges.end(), SecondsOf(value));
    ++histogram.counts[static_cast<std::size_t>(above - histogram.edges.begin()) - 1];
  }
  return histogram;
}

}  // namespace

Duration Percentile(const std::vector<Duration>& sorted, std::int64_t percent) {
  TF_CHECK(!sorted.empty() && percent > 0 && percent <= 100);
  const auto count = static_cast<std::int64_t>(sorted.size());
  const std::int64_t rank = (count * percent + 99) / 100;
  return sorted[static_cast<std::size_t>(rank - 1)];
}

std::vector<Metric> ComputeMetrics(const std::vector<JobResult>& jobs, const MetricWindow& window) {
  const Totals totals = Sum(jobs, window.from);
  Figures figures;
  figures.Count("jobs_submitted", totals.submitted);
  figures.Count("jobs_finished", totals.submitted - totals.unfinished);
  figures.Count("jobs_succeeded", totals.succeeded);
  figures.Count("jobs_failed", totals.failed);
  figures.Count("jobs_killed", totals.killed);
  figures.Count("jobs_unfinished", totals.unfinished);
  AddUse(figures, window);
  figures.Add("makespan_seconds", totals.submitted == 0
                                      ? std::nullopt
                                      : std::optional(SecondsOf(window.until - window.from)));
  figures.Distribution("jct", Sorted(jobs, window.from, &JobResult::completion_time));
  figures.Distribution("queue_wait", Sorted(jobs, window.from, &JobResult::queue_wait));
  figures.Distribution("gang_wait", Sorted(jobs, window.from, &JobResult::gang_wait));
  figures.Distribution("start_wait", Sorted(jobs, window.from, &JobResult::start_wait));
  AddTotals(figures, totals);
  return figures.Take();
}

std::vector<Histogram> ComputeHistograms(const std::vector<JobResult>& jobs, Instant from) {
  std::vector<Histogram> histograms;
  const auto add = [&](const char* name, Getter getter) {
    const std::vector<Duration> sorted = Sorted(jobs, from, getter);
    if (!sorted.empty()) histograms.push_back(Count(name, sorted));
  };
  add("job completion time", &JobResult::completion_time);
  add("queue wait", &JobResult::queue_wait);
  add("gang wait", &JobResult::gang_wait);
  add("start wait", &JobResult::start_wait);
  return histograms;
}

}  // namespace tfyarn::trace
