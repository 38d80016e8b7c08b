#include "reports/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "core/trace/metrics.h"

namespace tfyarn::reports {
namespace {

/// Builds lines cell by cell.
class Csv {
 public:
  Csv& Cell(std::string_view text) {
    Separate();
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
      out_ += text;
      return *this;
    }
    out_ += '"';
    for (const char c : text) {
      if (c == '"') out_ += '"';
      out_ += c;
    }
    out_ += '"';
    return *this;
  }
  Csv& Cell(std::int64_t number) { return Cell(std::string_view(fmt::format("{}", number))); }
  Csv& Cell(double number) { return Cell(std::string_view(fmt::format("{}", number))); }
  Csv& Cell(Duration d) { return Cell(static_cast<double>(d.count()) / 1e9); }
  Csv& Cell(Instant at) { return Cell(at.time_since_epoch()); }
  template <class T>
  Csv& Cell(const std::optional<T>& value) {
    return value ? Cell(*value) : Cell(std::string_view());
  }
  void EndLine() {
    out_ += "\r\n";
    line_empty_ = true;
  }
  [[nodiscard]] std::string Take() { return std::move(out_); }

 private:
  void Separate() {
    if (!line_empty_) out_ += ',';
    line_empty_ = false;
  }

  std::string out_;
  bool line_empty_ = true;
};

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

std::string_view VerdictName(trace::Verdict verdict) {
  switch (verdict) {
    case trace::Verdict::kPassed:
      return "passed";
    case trace::Verdict::kFailed:
      return "failed";
    case trace::Verdict::kInterrupted:
      return "interrupted";
  }
  return "";
}

void Header(Csv& csv, std::string_view names) {
  while (true) {
    const auto comma = names.find(',');
    csv.Cell(names.substr(0, comma));
    if (comma == std::string_view::npos) break;
    names.remove_prefix(comma + 1);
  }
  csv.EndLine();
}

}  // namespace

std::string JobsCsv(const trace::Result& result) {
  Csv csv;
  Header(csv,
         "name,application_id,queue,status,task_count,gpus,submitted,am_registered,gang_complete,"
         "started,finished,"
         "queue_wait_seconds,gang_wait_seconds,start_wait_seconds,jct_seconds,epochs,am_attempts,"
         "restarts_task,"
         "restarts_gang,restarts_job,leaked_containers,containers,lost_work_seconds,gpu_seconds_"
         "useful,"
         "gpu_seconds_waiting,gpu_seconds_checkpoint,gpu_seconds_lost,gpu_seconds_recovery,cause_"
         "task,cause_exit_class,"
         "diagnostics");
  for (const trace::JobResult& job : result.jobs) {
    csv.Cell(job.name).Cell(job.application ? ToString(*job.application) : "").Cell(job.queue);
    csv.Cell(StatusName(job.status)).Cell(std::int64_t{job.task_count}).Cell(job.gpus);
    csv.Cell(job.submitted)
        .Cell(job.am_registered)
        .Cell(job.gang_complete)
        .Cell(job.started)
        .Cell(job.finished);
    csv.Cell(job.queue_wait())
        .Cell(job.gang_wait())
        .Cell(job.start_wait())
        .Cell(job.completion_time());
    csv.Cell(std::int64_t{job.epochs})
        .Cell(std::int64_t{job.am_attempts})
        .Cell(std::int64_t{job.restarts.task});
    csv.Cell(std::int64_t{job.restarts.gang}).Cell(std::int64_t{job.restarts.job});
    csv.Cell(std::int64_t{job.leaked_containers})
        .Cell(std::int64_t{job.containers})
        .Cell(job.lost_work);
    csv.Cell(trace::ToSeconds(job.gpu.useful)).Cell(trace::ToSeconds(job.gpu.waiting));
    csv.Cell(trace::ToSeconds(job.gpu.checkpoint)).Cell(trace::ToSeconds(job.gpu.lost));
    csv.Cell(trace::ToSeconds(job.gpu.recovery));
    csv.Cell(job.cause && !job.cause->task.type.empty() ? ToString(job.cause->task) : "");
    csv.Cell(job.cause ? KebabName(job.cause->exit_class) : "").Cell(job.diagnostics);
    csv.EndLine();
  }
  return csv.Take();
}

std::string AttemptsCsv(const trace::Result& result) {
  Csv csv;
  Header(csv, "job,task,attempt,epoch,node,container,exit,exit_class,started,finished,diagnostics");
  for (const trace::JobResult& job : result.jobs) {
    for (const trace::TaskResult& task : job.tasks) {
      for (const trace::AttemptResult& attempt : task.attempts) {
        csv.Cell(job.name).Cell(ToString(task.task)).Cell(std::int64_t{attempt.attempt.value});
        csv.Cell(std::int64_t{attempt.epoch.value})
            .Cell(attempt.node)
            .Cell(ToString(attempt.container));
        csv.Cell(attempt.exit ? fmt::format("{}", *attempt.exit) : "");
        csv.Cell(attempt.exit_class ? KebabName(*attempt.exit_class) : "");
        csv.Cell(attempt.started).Cell(attempt.finished).Cell(attempt.diagnostics);
        csv.EndLine();
      }
    }
  }
  return csv.Take();
}

std::string RunsCsvHeader() {
  Csv csv;
  for (const std::string_view name : {"set", "seed", "verdict", "exit_code", "reason", "digest",
                                      "deadlocked", "simulated_seconds", "wall_seconds", "events"})
    csv.Cell(name);
  for (const trace::Metric& metric : trace::ComputeMetrics({}, {})) csv.Cell(metric.name);
  csv.EndLine();
  return csv.Take();
}

std::string RunsCsvLine(const trace::RunSummary& run, std::string_view set) {
  Csv csv;
  csv.Cell(set).Cell(std::string_view(fmt::format("{}", run.seed)));
  csv.Cell(VerdictName(run.verdict)).Cell(std::int64_t{run.exit_code}).Cell(run.reason);
  csv.Cell(run.digest).Cell(std::string_view(run.deadlocked ? "true" : "false"));
  csv.Cell(run.simulated_seconds).Cell(run.wall_seconds);
  csv.Cell(std::string_view(fmt::format("{}", run.events)));
  // By name: a run that crashed has none.
  for (const trace::Metric& column : trace::ComputeMetrics({}, {})) {
    const auto found = std::find_if(run.metrics.begin(), run.metrics.end(),
                                    [&](const auto& metric) { return metric.name == column.name; });
    csv.Cell(found == run.metrics.end() ? std::nullopt : found->value);
  }
  csv.EndLine();
  return csv.Take();
}

}  // namespace tfyarn::reports
