// Names of result.json, as expectations use them, to values.
#include <fmt/format.h>

#include <array>
#include <charconv>

#include "core/trace/result.h"

namespace tfyarn::trace {
namespace {

MetricValue Number(double value) {
  return {.number = value, .text = fmt::format("{}", value)};
}
MetricValue Word(std::string text) {
  return {.number = std::nullopt, .text = std::move(text)};
}
MetricValue Null() {
  return Word("null");
}
MetricValue Seconds(Duration d) {
  return Number(SecondsOf(d));
}
MetricValue Seconds(const std::optional<Duration>& d) {
  return d ? Seconds(*d) : Null();
}
MetricValue Seconds(const std::optional<Instant>& at) {
  return at ? Seconds(at->time_since_epoch()) : Null();
}
MetricValue GpuTime(GpuNanos amount) {
  return Number(ToSeconds(amount));
}

std::string UpperName(JobStatus status) {
  std::string name = KebabName(status);
  for (char& c : name) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return name;
}

struct Field {
  std::string_view name;
  MetricValue (*get)(const JobResult&);
};

constexpr std::array kFields{
    Field{"name", [](const JobResult& j) { return Word(j.name); }},
    Field{"queue", [](const JobResult& j) { return Word(j.queue); }},
    Field{
        "application_id",
        [](const JobResult& j) { return j.application ? Word(ToString(*j.application)) : Null(); }},
    Field{"status", [](const JobResult& j) { return Word(UpperName(j.status)); }},
    Field{"state", [](const JobResult& j) { return Word(KebabName(j.state)); }},
    Field{"diagnostics", [](const JobResult& j) { return Word(j.diagnostics); }},
    Field{"rule", [](const JobResult& j) { return Word(j.rule); }},
    Field{"gpus", [](const JobResult& j) { return Number(static_cast<double>(j.gpus)); }},
    Field{"task_count", [](const JobResult& j) { return Number(j.task_count); }},
    Field{"submitted", [](const JobResult& j) { return Seconds(std::optional(j.submitted)); }},
    Field{"am_registered", [](const JobResult& j) { return Seconds(j.am_registered); }},
    Field{"gang_complete", [](const JobResult& j) { return Seconds(j.gang_complete); }},
    Field{"started", [](const JobResult& j) { return Seconds(j.started); }},
    Field{"finished", [](const JobResult& j) { return Seconds(j.finished); }},
    Field{"queue_wait_seconds", [](const JobResult& j) { return Seconds(j.queue_wait()); }},
    Field{"gang_wait_seconds", [](const JobResult& j) { return Seconds(j.gang_wait()); }},
    Field{"start_wait_seconds", [](const JobResult& j) { return Seconds(j.start_wait()); }},
    Field{"jct_seconds", [](const JobResult& j) { return Seconds(j.completion_time()); }},
    Field{"epochs", [](const JobResult& j) { return Number(j.epochs); }},
    Field{"am_attempts", [](const JobResult& j) { return Number(j.am_attempts); }},
    Field{"restarts.task", [](const JobResult& j) { return Number(j.restarts.task); }},
    Field{"restarts.gang", [](const JobResult& j) { return Number(j.restarts.gang); }},
    Field{"restarts.job", [](const JobResult& j) { return Number(j.restarts.job); }},
    Field{"leaked_containers", [](const JobResult& j) { return Number(j.leaked_containers); }},
    Field{"containers", [](const JobResult& j) { return Number(j.containers); }},
    Field{"lost_work_seconds", [](const JobResult& j) { return Seconds(j.lost_work); }},
    Field{"gpu_seconds.useful", [](const JobResult& j) { return GpuTime(j.gpu.useful); }},
    Field{"gpu_seconds.waiting", [](const JobResult& j) { return GpuTime(j.gpu.waiting); }},
    Field{"gpu_seconds.checkpoint", [](const JobResult& j) { return GpuTime(j.gpu.checkpoint); }},
    Field{"gpu_seconds.lost", [](const JobResult& j) { return GpuTime(j.gpu.lost); }},
    Field{"gpu_seconds.recovery", [](const JobResult& j) { return GpuTime(j.gpu.recovery); }},
    Field{"gpu_seconds.held", [](const JobResult& j) { return GpuTime(j.gpu.held); }},
    Field{
        "cause",
        [](const JobResult& j) { return j.cause ? Word(KebabName(j.cause->exit_class)) : Null(); }},
    Field{"cause.task",
          [](const JobResult& j) {
            return j.cause && !j.cause->task.type.empty() ? Word(ToString(j.cause->task)) : Null();
          }},
    Field{"cause.exit",
          [](const JobResult& j) {
            return j.cause && j.cause->exit ? Number(*j.cause->exit) : Null();
          }},
    Field{
        "cause.exit_class",
        [](const JobResult& j) { return j.cause ? Word(KebabName(j.cause->exit_class)) : Null(); }},
    Field{"cause.node", [](const JobResult& j) { return j.cause ? Word(j.cause->node) : Null(); }},
    Field{
        "cause.at",
        [](const JobResult& j) { return j.cause ? Seconds(std::optional(j.cause->at)) : Null(); }},
};

std::optional<MetricValue> LookupJobIn(const Result& result, std::string_view name) {
  for (auto dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.', dot + 1)) {
    for (const JobResult& job : result.jobs) {
      if (job.name != name.substr(0, dot)) continue;
      if (auto value = LookupField(job, name.substr(dot + 1))) return value;
    }
  }
  return std::nullopt;
}

std::optional<MetricValue> LookupFault(const Result& result, std::string_view name) {
  std::uint32_t index = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), index);
  if (error != std::errc{} || end == name.data() + name.size() || *end != '.') return std::nullopt;
  const std::string_view field = name.substr(static_cast<std::size_t>(end - name.data()) + 1);
  for (const FaultResult& fault : result.faults) {
    if (fault.index != index) continue;
    if (field == "at") return Seconds(std::optional(fault.at));
    if (field == "ended") return Seconds(fault.ended);
    if (field == "detected") return Seconds(fault.detected);
    if (field == "recovered") return Seconds(fault.recovered);
    if (field == "kind") return Word(fault.kind);
    if (field == "target") return Word(fault.target);
    return std::nullopt;
  }
  return std::nullopt;
}

std::optional<MetricValue> LookupInvariant(const Result& result, std::string_view name) {
  for (const InvariantResult& invariant : result.invariants) {
    if (name == invariant.name + ".violations")
      return Number(static_cast<double>(invariant.violations));
    if (name == invariant.name + ".checked") return Number(static_cast<double>(invariant.checked));
  }
  return std::nullopt;
}

}  // namespace

std::optional<MetricValue> LookupField(const JobResult& job, std::string_view field) {
  for (const Field& known : kFields) {
    if (known.name == field) return known.get(job);
  }
  return std::nullopt;
}

std::optional<MetricValue> Lookup(const Result& result, std::string_view name) {
  if (name.starts_with("job/")) return LookupJobIn(result, name.substr(4));
  if (name.starts_with("fault/")) return LookupFault(result, name.substr(6));
  if (name.starts_with("invariant/")) return LookupInvariant(result, name.substr(10));
  if (name.starts_with("metrics.")) name.remove_prefix(8);
  for (const Metric& metric : result.metrics) {
    if (metric.name == name) return metric.value ? Number(*metric.value) : Null();
  }
  if (name == "events") return Number(static_cast<double>(result.events));
  if (name == "records") return Number(static_cast<double>(result.records));
  if (name == "simulated_seconds") return Seconds(std::optional(result.stopped));
  if (name == "wall_seconds") return Number(result.wall_seconds);
  if (name == "peak_rss_bytes") return Number(static_cast<double>(result.peak_rss_bytes));
  if (name == "faults")
    return Number(static_cast<double>(result.faults.size() + result.faults_left_out));
  if (name == "deadlocked") return Number(result.deadlocked ? 1 : 0);
  return std::nullopt;
}

}  // namespace tfyarn::trace
