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
  Csv& Cell(Duration d) { return Cell(SecondsOf(d)); }
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

double GpuSeconds(trace::GpuNanos amount) {
  return trace::ToSeconds(amount);
}

/// A column: its title, with the unit where it has one, and how a row's cell is written.
template <class Row>
struct Column {
  std::string_view title;
  void (*write)(Csv&, const Row&);
};

using Job = trace::JobResult;

constexpr Column<Job> kJobColumns[] = {
    {"name", [](Csv& csv, const Job& j) { csv.Cell(j.name); }},
    {"application_id",
     [](Csv& csv, const Job& j) { csv.Cell(j.application ? ToString(*j.application) : ""); }},
    {"queue", [](Csv& csv, const Job& j) { csv.Cell(j.queue); }},
    {"status", [](Csv& csv, const Job& j) { csv.Cell(trace::StatusName(j.status)); }},
    {"task_count", [](Csv& csv, const Job& j) { csv.Cell(std::int64_t{j.task_count}); }},
    {"gpus", [](Csv& csv, const Job& j) { csv.Cell(j.gpus); }},
    {"submitted_seconds", [](Csv& csv, const Job& j) { csv.Cell(j.submitted); }},
    {"am_registered_seconds", [](Csv& csv, const Job& j) { csv.Cell(j.am_registered); }},
    {"gang_complete_seconds", [](Csv& csv, const Job& j) { csv.Cell(j.gang_complete); }},
    {"started_seconds", [](Csv& csv, const Job& j) { csv.Cell(j.started); }},
    {"finished_seconds", [](Csv& csv, const Job& j) { csv.Cell(j.finished); }},
    {"queue_wait_seconds", [](Csv& csv, const Job& j) { csv.Cell(j.queue_wait()); }},
    {"gang_wait_seconds", [](Csv& csv, const Job& j) { csv.Cell(j.gang_wait()); }},
    {"start_wait_seconds", [](Csv& csv, const Job& j) { csv.Cell(j.start_wait()); }},
    {"jct_seconds", [](Csv& csv, const Job& j) { csv.Cell(j.completion_time()); }},
    {"epochs", [](Csv& csv, const Job& j) { csv.Cell(std::int64_t{j.epochs}); }},
    {"am_attempts", [](Csv& csv, const Job& j) { csv.Cell(std::int64_t{j.am_attempts}); }},
    {"restarts_task", [](Csv& csv, const Job& j) { csv.Cell(std::int64_t{j.restarts.task}); }},
    {"restarts_gang", [](Csv& csv, const Job& j) { csv.Cell(std::int64_t{j.restarts.gang}); }},
    {"restarts_job", [](Csv& csv, const Job& j) { csv.Cell(std::int64_t{j.restarts.job}); }},
    {"leaked_containers",
     [](Csv& csv, const Job& j) { csv.Cell(std::int64_t{j.leaked_containers}); }},
    {"containers", [](Csv& csv, const Job& j) { csv.Cell(std::int64_t{j.containers}); }},
    {"lost_work_seconds", [](Csv& csv, const Job& j) { csv.Cell(j.lost_work); }},
    {"gpu_seconds_useful", [](Csv& csv, const Job& j) { csv.Cell(GpuSeconds(j.gpu.useful)); }},
    {"gpu_seconds_waiting", [](Csv& csv, const Job& j) { csv.Cell(GpuSeconds(j.gpu.waiting)); }},
    {"gpu_seconds_checkpoint",
     [](Csv& csv, const Job& j) { csv.Cell(GpuSeconds(j.gpu.checkpoint)); }},
    {"gpu_seconds_lost", [](Csv& csv, const Job& j) { csv.Cell(GpuSeconds(j.gpu.lost)); }},
    {"gpu_seconds_recovery", [](Csv& csv, const Job& j) { csv.Cell(GpuSeconds(j.gpu.recovery)); }},
    {"cause_task",
     [](Csv& csv, const Job& j) {
       csv.Cell(j.cause && !j.cause->task.type.empty() ? ToString(j.cause->task) : "");
     }},
    {"cause_exit_class",
     [](Csv& csv, const Job& j) { csv.Cell(j.cause ? KebabName(j.cause->exit_class) : ""); }},
    {"diagnostics", [](Csv& csv, const Job& j) { csv.Cell(j.diagnostics); }},
};

/// An attempt with what it belongs to.
struct Attempt {
  const Job& job;
  const trace::TaskResult& task;
  const trace::AttemptResult& result;
};

constexpr Column<Attempt> kAttemptColumns[] = {
    {"job", [](Csv& csv, const Attempt& a) { csv.Cell(a.job.name); }},
    {"task", [](Csv& csv, const Attempt& a) { csv.Cell(ToString(a.task.task)); }},
    {"attempt", [](Csv& csv, const Attempt& a) { csv.Cell(std::int64_t{a.result.attempt.value}); }},
    {"epoch", [](Csv& csv, const Attempt& a) { csv.Cell(std::int64_t{a.result.epoch.value}); }},
    {"node", [](Csv& csv, const Attempt& a) { csv.Cell(a.result.node); }},
    {"container", [](Csv& csv, const Attempt& a) { csv.Cell(ToString(a.result.container)); }},
    {"exit",
     [](Csv& csv, const Attempt& a) {
       csv.Cell(a.result.exit ? std::optional(std::int64_t{*a.result.exit}) : std::nullopt);
     }},
    {"exit_class",
     [](Csv& csv, const Attempt& a) {
       csv.Cell(a.result.exit_class ? KebabName(*a.result.exit_class) : "");
     }},
    {"started_seconds", [](Csv& csv, const Attempt& a) { csv.Cell(a.result.started); }},
    {"finished_seconds", [](Csv& csv, const Attempt& a) { csv.Cell(a.result.finished); }},
    {"diagnostics", [](Csv& csv, const Attempt& a) { csv.Cell(a.result.diagnostics); }},
};

template <class Row, std::size_t kCount>
void Line(Csv& csv, const Column<Row> (&columns)[kCount], const Row& row) {
  for (const Column<Row>& column : columns) column.write(csv, row);
}

template <class Row, std::size_t kCount>
void Titles(Csv& csv, const Column<Row> (&columns)[kCount]) {
  for (const Column<Row>& column : columns) csv.Cell(column.title);
}

/// Time by stage: one column for each.
std::string StageTitle(trace::JobStage stage) {
  return fmt::format("time_{}_seconds", KebabName(stage));
}

}  // namespace

std::string JobsCsv(const trace::Result& result) {
  Csv csv;
  Titles(csv, kJobColumns);
  for (std::size_t stage = 0; stage < trace::kJobStages; ++stage) {
    csv.Cell(StageTitle(static_cast<trace::JobStage>(stage)));
  }
  csv.EndLine();
  for (const Job& job : result.jobs) {
    Line(csv, kJobColumns, job);
    for (const Duration time : job.stages) csv.Cell(time);
    csv.EndLine();
  }
  return csv.Take();
}

std::string AttemptsCsv(const trace::Result& result) {
  Csv csv;
  Titles(csv, kAttemptColumns);
  csv.EndLine();
  for (const Job& job : result.jobs) {
    for (const trace::TaskResult& task : job.tasks) {
      for (const trace::AttemptResult& attempt : task.attempts) {
        Line(csv, kAttemptColumns, {job, task, attempt});
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
  csv.Cell(KebabName(run.verdict)).Cell(std::int64_t{run.exit_code}).Cell(run.reason);
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
