#include "apps/local/status_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "apps/cli/human.h"
#include "apps/cli/output.h"
#include "core/model/visit.h"

namespace tfyarn::local {
namespace {

void FoldAction(StatusFacts& facts, const AmAction& action) {
  if (const auto* state = std::get_if<JobStateChanged>(&action)) {
    facts.state = KebabName(state->state);
  } else if (std::holds_alternative<TaskAttemptStarted>(action)) {
    ++facts.running;
  } else if (std::holds_alternative<TaskAttemptEnded>(action)) {
    facts.running = std::max(0, facts.running - 1);
  } else if (const auto* assembled = std::get_if<SpecAssembled>(&action)) {
    facts.epoch = assembled->epoch.value;
  } else if (std::holds_alternative<RestartDecided>(action)) {
    ++facts.restarts;
  } else if (const auto* over = std::get_if<RestartTakenOver>(&action)) {
    facts.restarts = std::max(facts.restarts, over->number);
  } else if (const auto* nodes = std::get_if<NodesAwaited>(&action)) {
    facts.waits_for_nodes = !nodes->limit.empty();
  }
}

}  // namespace

void Fold(StatusFacts& facts, const trace::TraceRecord& record) {
  if (const auto* created = std::get_if<trace::JobCreated>(&record.fact)) {
    facts.tasks = created->tasks;
  } else if (const auto* ordered = std::get_if<trace::AmOrdered>(&record.fact)) {
    FoldAction(facts, ordered->action);
  }
}

std::string StatusText(const StatusFacts& facts, Duration since_start) {
  std::string text = fmt::format("{}  {}/{} tasks run", facts.state, facts.running, facts.tasks);
  if (facts.waits_for_nodes) text += "  waits for nodes that may still come";
  if (facts.epoch > 0) text += fmt::format("  epoch {}", facts.epoch);
  if (facts.restarts > 0)
    text += "  " + cli::Plural(static_cast<std::uint64_t>(facts.restarts), "restart");
  return text + "  " + cli::HumanSeconds(std::chrono::duration<double>(since_start).count());
}

std::string RestartText(const trace::TraceRecord& record) {
  const auto* ordered = std::get_if<trace::AmOrdered>(&record.fact);
  const auto* restart =
      ordered == nullptr ? nullptr : std::get_if<RestartDecided>(&ordered->action);
  if (restart == nullptr) return "";
  const Cause& cause = restart->cause;
  std::string text = restart->tasks.size() == 1
                         ? ToString(restart->tasks.front()) + " starts again: "
                         : fmt::format("{} tasks start again: ", restart->tasks.size());
  text += cause.task.type.empty() ? "the job" : ToString(cause.task);
  if (cause.exit) text += fmt::format(" ended with {}", *cause.exit);
  text += fmt::format(" ({})", KebabName(cause.exit_class));
  // Where there is no exit the first line says what happened.
  const std::string line = cause.detail.substr(0, cause.detail.find('\n'));
  if (!cause.exit && !line.empty()) text += ": " + line;
  return text;
}

StatusLine::StatusLine(bool quiet) {
  const char* term = std::getenv("TERM");
  enabled_ =
      !quiet && ::isatty(STDERR_FILENO) == 1 && term != nullptr && std::string_view(term) != "dumb";
}

void StatusLine::Show(const std::vector<trace::TraceRecord>& fresh, Duration since_start,
                      bool draw) {
  for (const trace::TraceRecord& record : fresh) Fold(facts_, record);
  if (!enabled_ || !draw) return;
  cli::TryWriteStderr("\r\033[K" + StatusText(facts_, since_start));
  drawn_ = true;
}

void StatusLine::Clear() {
  if (drawn_) cli::TryWriteStderr("\r\033[K");
  drawn_ = false;
}

}  // namespace tfyarn::local
