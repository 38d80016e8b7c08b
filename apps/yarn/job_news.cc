#include "apps/yarn/job_news.h"

#include <utility>
#include <variant>

#include "core/trace/json.h"

namespace tfyarn::apps {
namespace {

bool Names(std::string_view line, std::string_view quoted_type) {
  return line.find(quoted_type) != std::string_view::npos;
}

}  // namespace

void JobNews::Take(std::string_view line) {
  // Most lines of a long history tell of something else, and reading one costs.
  if (!Names(line, "\"NodesAwaited\"") && !Names(line, "\"VerdictReached\"") &&
      !Names(line, "\"PortUseFound\"") && (ports_.empty() || !Names(line, "\"TaskAttemptEnded\"")))
    return;
  auto read = trace::RecordFromJson(line);
  // An append that was repeated.
  if (!read || (read->seq > 0 && read->seq <= seq_)) return;
  seq_ = read->seq;
  const auto* ordered = std::get_if<trace::AmOrdered>(&read->record.fact);
  if (ordered == nullptr) return;
  if (const auto* nodes = std::get_if<NodesAwaited>(&ordered->action)) {
    limit_ = nodes->limit;
  } else if (std::holds_alternative<VerdictReached>(ordered->action)) {
    limit_.clear();
  } else if (const auto* ended = std::get_if<TaskAttemptEnded>(&ordered->action)) {
    ports_.erase(ended->task);
  } else if (const auto* found = std::get_if<PortUseFound>(&ordered->action)) {
    const TaskId task = found->task;
    ports_.insert_or_assign(task, std::move(read->record));
  }
}

void JobNews::NextAttempt() {
  seq_ = 0;
  limit_.clear();
  ports_.clear();
}

std::vector<std::string> JobNews::PortLines() {
  std::vector<std::string> lines;
  for (const auto& [task, record] : std::exchange(ports_, {})) {
    if (std::string text = port_news_.Text(record); !text.empty()) lines.push_back(std::move(text));
  }
  return lines;
}

}  // namespace tfyarn::apps
