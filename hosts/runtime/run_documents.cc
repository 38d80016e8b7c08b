#include "hosts/runtime/run_documents.h"

#include <sys/resource.h>

#include <algorithm>
#include <type_traits>
#include <variant>

#include "core/trace/json.h"
#include "core/trace/routine.h"
#include "core/trace/verdict.h"
#include "reports/html.h"

namespace tfyarn::hosts {
namespace {

/// Beyond what is real, sums of them would overflow.
constexpr Instant kLatest{std::chrono::hours(24 * 3660)};
constexpr std::int64_t kMostOfOne = 1'000'000'000;

std::int64_t PeakMemory() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{usage.ru_maxrss} * 1024;
}

bool IsReal(const Resource& resource) {
  const auto real = [](std::int64_t amount) { return amount >= 0 && amount <= kMostOfOne; };
  return real(resource.memory_mb) && real(resource.vcores) && real(resource.gpus);
}

}  // namespace

// ---------------------------------------------------------------- RunDocuments

void RunDocuments::Observe(const trace::TraceRecord& record) {
  builder_.Observe(record);
  last_ = record.at;
  ++records_;
}

RunDocuments::Made RunDocuments::Make(Duration took, bool over) {
  if (!over)
    builder_.Observe({.at = last_, .fact = trace::RunStopped{trace::StopReason::kInterrupted}});
  return Finish(took, nullptr);
}

RunDocuments::Made RunDocuments::MakeEnded(Instant at, const JobEnded& ended) {
  const Instant then = std::max(at, last_);
  builder_.Observe(
      {.at = then, .fact = trace::ClientOrdered{.job = trace::kOnlyJob, .action = ended}});
  return Finish(then - Instant{}, &ended);
}

/// `ended`: the last word that another than the AM had; nullptr = it is the AM's verdict.
RunDocuments::Made RunDocuments::Finish(Duration took, const JobEnded* ended) {
  trace::Result result =
      builder_.Finish({.version = version_,
                       .events = records_,
                       .wall_seconds = std::chrono::duration<double>(took).count(),
                       .peak_rss_bytes = PeakMemory()});
  result.real = true;
  result.scenario_yaml = job_file_;
  if (ended != nullptr && !result.jobs.empty()) {
    trace::JobResult& job = result.jobs.front();
    if (!ended->diagnostics.empty()) job.diagnostics = ended->diagnostics;
    if (job.rule.empty()) job.rule = "yarn/" + KebabName(ended->status);
  }
  trace::Judge(result, {});
  std::string json = trace::ResultJson(result);
  auto html = reports::Html(json, trace::ReportJson(result));
  return {.result = std::move(result), .json = std::move(json), .html = std::move(html)};
}

// ---------------------------------------------------------------- EventsReader

void EventsReader::Feed(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto end = bytes.find('\n');
    const std::string_view part = bytes.substr(0, end);
    const bool fits = !too_long_ && rest_.size() + part.size() <= kLongestLine;
    if (fits) rest_ += part;
    if (!fits) {
      rest_.clear();
      too_long_ = true;
    }
    if (end == std::string_view::npos) return;
    if (too_long_) ++unreadable_;
    TakeLine(rest_);
    rest_.clear();
    too_long_ = false;
    bytes.remove_prefix(end + 1);
  }
}

void EventsReader::NextFile() {
  if (!rest_.empty()) ++unreadable_;
  rest_.clear();
  too_long_ = false;
  seq_ = 0;
}

void EventsReader::TakeLine(std::string_view line) {
  if (line.empty()) return;
  auto read = trace::RecordFromJson(line);
  if (!read) {
    ++unreadable_;
    return;
  }
  if (read->seq > 0 && read->seq <= seq_) return;
  seq_ = std::max(seq_, read->seq);
  trace::TraceRecord& record = read->record;
  if (record.at > kLatest || !Fits(record.fact)) return;
  record.at = last_ = std::max(record.at, last_);
  on_record_(record);
}

bool EventsReader::Fits(const trace::Fact& fact) {
  return std::visit(
      [this]<class T>(const T& one) {
        if constexpr (std::is_same_v<T, trace::JobCreated>) {
          return one.job.value == 0 && !std::exchange(created_, true);
        } else if constexpr (std::is_same_v<T, trace::JobRunStarted> ||
                             std::is_same_v<T, trace::RunStarted>) {
          return !created_;
        } else if constexpr (std::is_same_v<T, trace::NodeDeclared>) {
          return IsReal(one.capacity);
        } else if constexpr (std::is_same_v<T, trace::ContainerGranted>) {
          return created_ && one.job.value == 0 && IsReal(one.resource) &&
                 granted_.insert(one.container).second;
        } else if constexpr (std::is_same_v<T, trace::ContainerFreed> ||
                             std::is_same_v<T, trace::AmTold> ||
                             std::is_same_v<T, trace::AmOrdered> ||
                             std::is_same_v<T, trace::ApplicationEnded>) {
          return created_ && one.job.value == 0;
        } else {
          return false;  // What an AM does not write.
        }
      },
      fact);
}

}  // namespace tfyarn::hosts
