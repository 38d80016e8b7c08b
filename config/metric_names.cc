#include "config/metric_names.h"

namespace tfyarn::config {
namespace {
using enum MetricKind;
}  // namespace

const std::vector<MetricName>& JobMetrics() {
  static const std::vector<MetricName> names = {{"status", kWord},
                                                {"state", kWord},
                                                {"name", kWord},
                                                {"queue", kWord},
                                                {"application_id", kWord},
                                                {"diagnostics", kWord},
                                                {"rule", kWord},
                                                {"cause", kWord},
                                                {"cause.task", kWord},
                                                {"cause.exit", kNumber},
                                                {"cause.exit_class", kWord},
                                                {"cause.node", kWord},
                                                {"cause.at", kSeconds},
                                                {"gpus", kNumber},
                                                {"task_count", kNumber},
                                                {"submitted", kSeconds},
                                                {"am_registered", kSeconds},
                                                {"gang_complete", kSeconds},
                                                {"started", kSeconds},
                                                {"finished", kSeconds},
                                                {"queue_wait_seconds", kSeconds},
                                                {"gang_wait_seconds", kSeconds},
                                                {"start_wait_seconds", kSeconds},
                                                {"jct_seconds", kSeconds},
                                                {"epochs", kNumber},
                                                {"am_attempts", kNumber},
                                                {"restarts.task", kNumber},
                                                {"restarts.gang", kNumber},
                                                {"restarts.job", kNumber},
                                                {"leaked_containers", kNumber},
                                                {"containers", kNumber},
                                                {"lost_work_seconds", kSeconds},
                                                {"gpu_seconds.useful", kSeconds},
                                                {"gpu_seconds.waiting", kSeconds},
                                                {"gpu_seconds.checkpoint", kSeconds},
                                                {"gpu_seconds.lost", kSeconds},
                                                {"gpu_seconds.recovery", kSeconds}};
  return names;
}

const std::vector<MetricName>& RunMetrics() {
  static const std::vector<MetricName> names = {{"jobs_submitted", kNumber},
                                                {"jobs_finished", kNumber},
                                                {"jobs_succeeded", kNumber},
                                                {"jobs_failed", kNumber},
                                                {"jobs_killed", kNumber},
                                                {"jobs_unfinished", kNumber},
                                                {"gpu_utilization", kNumber},
                                                {"cluster_utilization", kNumber},
                                                {"incomplete_gang_share", kNumber},
                                                {"node_availability", kNumber},
                                                {"makespan_seconds", kSeconds},
                                                {"jct_mean_seconds", kSeconds},
                                                {"jct_p50_seconds", kSeconds},
                                                {"jct_p90_seconds", kSeconds},
                                                {"jct_p99_seconds", kSeconds},
                                                {"jct_max_seconds", kSeconds},
                                                {"queue_wait_mean_seconds", kSeconds},
                                                {"queue_wait_p50_seconds", kSeconds},
                                                {"queue_wait_p90_seconds", kSeconds},
                                                {"queue_wait_p99_seconds", kSeconds},
                                                {"queue_wait_max_seconds", kSeconds},
                                                {"gang_wait_mean_seconds", kSeconds},
                                                {"gang_wait_p50_seconds", kSeconds},
                                                {"gang_wait_p90_seconds", kSeconds},
                                                {"gang_wait_p99_seconds", kSeconds},
                                                {"gang_wait_max_seconds", kSeconds},
                                                {"start_wait_mean_seconds", kSeconds},
                                                {"start_wait_p50_seconds", kSeconds},
                                                {"start_wait_p90_seconds", kSeconds},
                                                {"start_wait_p99_seconds", kSeconds},
                                                {"start_wait_max_seconds", kSeconds},
                                                {"goodput", kNumber},
                                                {"gpu_seconds_held", kSeconds},
                                                {"gpu_seconds_useful", kSeconds},
                                                {"gpu_seconds_waiting", kSeconds},
                                                {"gpu_seconds_checkpoint", kSeconds},
                                                {"gpu_seconds_lost", kSeconds},
                                                {"gpu_seconds_recovery", kSeconds},
                                                {"lost_work_seconds", kSeconds},
                                                {"restarts_task", kNumber},
                                                {"restarts_gang", kNumber},
                                                {"restarts_job", kNumber},
                                                {"epochs", kNumber},
                                                {"am_attempts", kNumber},
                                                {"containers", kNumber},
                                                {"leaked_containers", kNumber},
                                                {"events", kNumber},
                                                {"simulated_seconds", kSeconds},
                                                {"faults", kNumber},
                                                {"deadlocked", kNumber}};
  return names;
}

const std::vector<MetricName>& EnsembleMetrics() {
  static const std::vector<MetricName> names = {
      {"deadlock_rate", kNumber}, {"pass_rate", kNumber}, {"runs", kNumber}};
  return names;
}

const std::vector<MetricName>& FaultMetrics() {
  static const std::vector<MetricName> names = {{"at", kSeconds},       {"ended", kSeconds},
                                                {"detected", kSeconds}, {"recovered", kSeconds},
                                                {"kind", kWord},        {"target", kWord}};
  return names;
}

const MetricName* FindMetric(const std::vector<MetricName>& names, std::string_view name) {
  for (const MetricName& known : names) {
    if (known.name == name) return &known;
  }
  return nullptr;
}

std::vector<std::string> NamesOf(const std::vector<MetricName>& names) {
  std::vector<std::string> out;
  for (const MetricName& known : names) out.emplace_back(known.name);
  return out;
}

}  // namespace tfyarn::config
