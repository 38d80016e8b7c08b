// What is made of the books at the end of a run, and ResultBuilder's face.
#include <algorithm>
#include <utility>

#include "core/trace/metrics.h"
#include "core/trace/result.h"
#include "core/trace/run_book.h"

namespace tfyarn::trace {

MetricWindow RunBook::Window(Instant now, bool unfinished) {
  MetricWindow window;
  window.unit_is_gpu = cluster_.unit_is_gpu();
  window.from = window_open_ ? window_from_ : Instant{options_.warmup};
  window.before = window_before_;
  if (unfinished || !last_end_ || !window_open_ || *last_end_ < window.from) {
    window.until = std::max(now, window.from);
    window.after = window_open_ ? cluster_.Until(now) : window.before;
  } else {
    window.until = *last_end_;
    window.after = until_last_end_;
  }
  return window;
}

void RunBook::FillInvariants(Result& result, std::vector<InvariantResult> known) {
  for (InvariantResult& invariant : known) {
    if (const auto broken = broken_.find(invariant.name); broken != broken_.end()) {
      invariant.violations += broken->second.violations;
      invariant.first_at = broken->second.first_at;
      invariant.first_detail = broken->second.first_detail;
      broken_.erase(broken);
    }
    result.invariants.push_back(std::move(invariant));
  }
  for (const auto& [name, broken] : broken_) result.invariants.push_back(broken);
}

Result RunBook::Finish(RunFacts facts) {
  const Instant now = now_;
  Result result;
  result.scenario = started_.scenario;
  result.scenario_digest = started_.scenario_digest;
  result.seed = started_.seed;
  result.version = std::move(facts.version);
  result.digest = std::move(facts.digest);
  result.records = records_;
  result.events = facts.events;
  result.wall_seconds = facts.wall_seconds;
  result.peak_rss_bytes = facts.peak_rss_bytes;
  result.stop_reason = stop_reason_;
  result.stopped = now;
  result.tasks_kept = jobs_.keeps_tasks();
  result.jobs = jobs_.Take(now);
  bool unfinished = false, progressing = false;
  for (const JobResult& job : result.jobs) {
    unfinished = unfinished || job.status == JobStatus::kUnfinished;
    progressing = progressing || job.progressing;
  }
  result.deadlocked = stop_reason_ == StopReason::kHorizon && unfinished &&
                      !facts.progressing.value_or(progressing);
  const MetricWindow window = Window(now, unfinished);
  result.metrics = ComputeMetrics(result.jobs, window);
  result.histograms = ComputeHistograms(result.jobs, window.from);
  result.faults_left_out = faults_.left_out();
  result.faults = faults_.Take();
  FillInvariants(result, std::move(facts.invariants));
  result.timeline = std::move(timeline_);
  cluster_.FillTimeline(now, result.timeline);
  result.usage = cluster_.TakePoints(now);
  return result;
}

ResultBuilder::ResultBuilder(ResultOptions options) : book_(std::make_unique<RunBook>(options)) {}
ResultBuilder::~ResultBuilder() = default;
ResultBuilder::ResultBuilder(ResultBuilder&&) noexcept = default;
ResultBuilder& ResultBuilder::operator=(ResultBuilder&&) noexcept = default;

void ResultBuilder::Observe(const TraceRecord& record) {
  book_->Observe(record);
}

Result ResultBuilder::Finish(RunFacts facts) {
  return book_->Finish(std::move(facts));
}

const std::vector<JobResult>& ResultBuilder::jobs() const {
  return book_->jobs().jobs();
}

std::optional<MetricValue> ResultBuilder::LookupJob(std::string_view name) const {
  constexpr std::string_view kPrefix = "job/";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  // A job's name may have dots, and so may a field: the first split at which both exist is meant.
  for (auto dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.', dot + 1)) {
    JobIndex index;
    const JobResult* job = book_->jobs().Find(name.substr(0, dot), &index);
    if (job == nullptr) continue;
    JobResult current = *job;
    current.gpu = book_->jobs().SplitAt(index, book_->now());
    if (auto value = LookupField(current, name.substr(dot + 1))) return value;
  }
  return std::nullopt;
}

}  // namespace tfyarn::trace
