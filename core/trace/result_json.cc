#include <fmt/format.h>

#include "core/trace/json.h"
#include "core/trace/json_writer.h"

namespace tfyarn::trace {

std::string_view StatusName(JobStatus status) {
  switch (status) {
    case JobStatus::kUnfinished:
      return "UNFINISHED";
    case JobStatus::kSucceeded:
      return "SUCCEEDED";
    case JobStatus::kFailed:
      return "FAILED";
    case JobStatus::kKilled:
      return "KILLED";
  }
  return "";
}

namespace {

Json CauseJson(const std::optional<Cause>& cause) {
  if (!cause) return nullptr;
  Json json;
  json["task"] = cause->task.type.empty() ? Json(nullptr) : Json(ToString(cause->task));
  json["exit"] = OrNull(cause->exit);
  json["exit_class"] = KebabName(cause->exit_class);
  json["node"] = cause->node;
  json["at"] = SecondsJson(cause->at);
  json["detail"] = cause->detail;
  return json;
}

Json GpuJson(const GpuSplit& gpu) {
  Json json;
  json["useful"] = ToSeconds(gpu.useful);
  json["waiting"] = ToSeconds(gpu.waiting);
  json["checkpoint"] = ToSeconds(gpu.checkpoint);
  json["lost"] = ToSeconds(gpu.lost);
  json["recovery"] = ToSeconds(gpu.recovery);
  json["held"] = ToSeconds(gpu.held);
  if (gpu.overrun != 0) json["overrun"] = ToSeconds(gpu.overrun);
  return json;
}

Json StagesJson(const StageTimes& stages) {
  Json json;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<JobStage>>([&](auto entry) {
    json[KebabName(entry.value)] = SecondsOf(stages[static_cast<std::size_t>(entry.value)]);
  });
  return json;
}

Json AttemptJson(const AttemptResult& attempt) {
  Json json;
  json["attempt"] = attempt.attempt.value;
  json["epoch"] = attempt.epoch.value;
  json["node"] = attempt.node;
  json["container"] = ToString(attempt.container);
  json["exit"] = OrNull(attempt.exit);
  json["exit_class"] = attempt.exit_class ? Json(KebabName(*attempt.exit_class)) : Json(nullptr);
  json["started"] = SecondsJson(attempt.started);
  json["finished"] = SecondsJson(attempt.finished);
  if (!attempt.port.empty()) json["port"] = attempt.port;
  if (!attempt.diagnostics.empty()) json["diagnostics"] = attempt.diagnostics;
  return json;
}

Json TasksJson(const std::vector<TaskResult>& tasks) {
  Json json = Json::array();
  for (const TaskResult& task : tasks) {
    Json attempts = Json::array();
    for (const AttemptResult& attempt : task.attempts) attempts.push_back(AttemptJson(attempt));
    Json row;
    row["task"] = ToString(task.task);
    row["attempts"] = std::move(attempts);
    json.push_back(std::move(row));
  }
  return json;
}

Json JobJson(const JobResult& job, bool tasks) {
  Json json;
  json["name"] = job.name;
  json["application_id"] = job.application ? Json(ToString(*job.application)) : Json(nullptr);
  json["queue"] = job.queue;
  json["status"] = StatusName(job.status);
  json["state"] = KebabName(job.state);
  json["diagnostics"] = job.diagnostics;
  json["rule"] = job.rule;
  json["cause"] = CauseJson(job.cause);
  json["task_count"] = job.task_count;
  json["gpus"] = job.gpus;
  json["submitted"] = SecondsJson(job.submitted);
  json["am_registered"] = SecondsJson(job.am_registered);
  json["gang_complete"] = SecondsJson(job.gang_complete);
  json["started"] = SecondsJson(job.started);
  json["finished"] = SecondsJson(job.finished);
  json["queue_wait_seconds"] = SecondsJson(job.queue_wait());
  json["gang_wait_seconds"] = SecondsJson(job.gang_wait());
  json["start_wait_seconds"] = SecondsJson(job.start_wait());
  json["jct_seconds"] = SecondsJson(job.completion_time());
  json["epochs"] = job.epochs;
  json["am_attempts"] = job.am_attempts;
  json["restarts"] = {
      {"task", job.restarts.task}, {"gang", job.restarts.gang}, {"job", job.restarts.job}};
  json["leaked_containers"] = job.leaked_containers;
  json["containers"] = job.containers;
  json["lost_work_seconds"] = SecondsJson(job.lost_work);
  json["time_seconds"] = StagesJson(job.stages);
  json["gpu_seconds"] = GpuJson(job.gpu);
  if (tasks) json["tasks"] = TasksJson(job.tasks);
  return json;
}

Json FaultJson(const FaultResult& fault) {
  Json json;
  json["index"] = fault.index;
  json["instance"] = fault.instance;
  json["kind"] = fault.kind;
  json["at"] = SecondsJson(fault.at);
  json["target"] = fault.target;
  json["ended"] = SecondsJson(fault.ended);
  json["detected"] = SecondsJson(fault.detected);
  json["recovered"] = SecondsJson(fault.recovered);
  return json;
}

Json InvariantJson(const InvariantResult& invariant) {
  Json json;
  json["name"] = invariant.name;
  json["checked"] = invariant.checked;
  json["violations"] = invariant.violations;
  if (!invariant.off_because.empty()) json["off_because"] = invariant.off_because;
  if (invariant.violations > 0) {
    json["first_at"] = SecondsJson(invariant.first_at);
    json["first_detail"] = invariant.first_detail;
  }
  return json;
}

}  // namespace

std::string HexDigest(std::uint64_t value) {
  return fmt::format("{:016x}", value);
}

Json ExpectationsJson(const std::vector<ExpectationResult>& expectations) {
  Json json = Json::array();
  for (const ExpectationResult& expectation : expectations) {
    Json row;
    row["text"] = expectation.text;
    row["passed"] = expectation.passed;
    row["got"] = expectation.got;
    json.push_back(std::move(row));
  }
  return json;
}

Json MetricsJson(const std::vector<Metric>& metrics) {
  Json json = Json::object();
  for (const Metric& metric : metrics) {
    // Counts are written as counts: 3, not 3.0.
    const bool whole =
        metric.value && !metric.name.ends_with("_seconds") && *metric.value >= 0 &&
        *metric.value < 9e15 &&
        *metric.value == static_cast<double>(static_cast<std::int64_t>(*metric.value));
    json[metric.name] =
        whole ? Json(static_cast<std::int64_t>(*metric.value)) : OrNull(metric.value);
  }
  return json;
}

std::string ResultJson(const Result& result) {
  DocumentWriter out;
  if (result.real) {
    out.Add("schema", "tfyarn.result/v1");
    out.Add("job", result.scenario);
  } else {
    out.Add("schema", "tfsim.result/v1");
    out.Add("scenario", result.scenario);
    out.Add("scenario_digest", HexDigest(result.scenario_digest));
    out.Add("seed", result.seed);
  }
  out.Add("version", result.version);
  out.Add("verdict", KebabName(result.verdict));
  out.Add("exit_code", result.exit_code);
  out.Add("reason", result.reason);
  out.Add("digest", result.digest);
  out.Add("records", result.records);
  out.Add("events", result.events);
  out.Add("stop_reason", KebabName(result.stop_reason));
  out.Add(result.real ? "run_seconds" : "simulated_seconds", SecondsJson(result.stopped));
  out.Add("wall_seconds", result.wall_seconds);
  out.Add("peak_rss_bytes", result.peak_rss_bytes);
  out.Add("deadlocked", result.deadlocked);
  out.BeginList("jobs");
  for (const JobResult& job : result.jobs) out.Element(JobJson(job, result.tasks_kept));
  out.EndList();
  out.Add("metrics", MetricsJson(result.metrics));
  out.BeginList("faults");
  for (const FaultResult& fault : result.faults) out.Element(FaultJson(fault));
  out.EndList();
  if (result.faults_left_out > 0) out.Add("faults_left_out", result.faults_left_out);
  if (!result.faults_without_effect.empty()) {
    out.BeginList("faults_without_effect");
    for (const FaultWithoutEffect& fault : result.faults_without_effect)
      out.Element({{"index", fault.index}, {"kind", fault.kind}, {"why", fault.why}});
    out.EndList();
  }
  out.Add("expectations", ExpectationsJson(result.expectations));
  out.BeginList("invariants");
  for (const InvariantResult& invariant : result.invariants) out.Element(InvariantJson(invariant));
  out.EndList();
  return out.Take();
}

}  // namespace tfyarn::trace
