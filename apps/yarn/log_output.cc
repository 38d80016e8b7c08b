#include "apps/yarn/log_output.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apps/cli/output.h"

namespace tfyarn::apps {

std::uint64_t LogOutput::Next(const TaskLog& log) const {
  const auto found = states_.find({log.container, log.file.name});
  if (found != states_.end()) return found->second.next;
  if (options_.tail < 0) return 0;
  // No line that is shown is longer.
  const auto most = static_cast<std::uint64_t>(options_.tail + 1) * cli::LineCutter::kLongestLine;
  return log.file.size > most ? log.file.size - most : 0;
}

LogOutput::State& LogOutput::StateOf(const TaskLog& log) {
  const auto [place, is_new] = states_.try_emplace(Key{log.container, log.file.name});
  State& state = place->second;
  if (is_new) {
    state.log = log;
    state.holding = options_.tail >= 0;
  }
  return state;
}

void LogOutput::Add(const TaskLog& log, std::uint64_t offset, std::string_view bytes) {
  State& state = StateOf(log);
  if (offset > state.next) state.next = offset;
  const std::uint64_t known = state.next - offset;
  if (known >= bytes.size()) return;
  bytes.remove_prefix(known);
  state.next += bytes.size();
  state.lines.Add(bytes, [&](std::string_view line) { Line(state, line); });
}

void LogOutput::Line(State& state, std::string_view line) {
  if (!state.holding) return Show(state, line);
  state.held.emplace_back(line);
  if (state.held.size() > static_cast<std::size_t>(options_.tail)) state.held.pop_front();
}

void LogOutput::CaughtUp(const TaskLog& log, bool last) {
  State& state = StateOf(log);
  if (last) state.lines.Flush([&](std::string_view line) { Line(state, line); });
  Release(state);
}

void LogOutput::Release(State& state) {
  state.holding = false;
  for (const std::string& line : state.held) Show(state, line);
  state.held.clear();
}

void LogOutput::End() {
  for (auto& entry : states_) {
    State& state = entry.second;
    state.lines.Flush([&](std::string_view line) { Line(state, line); });
    Release(state);
  }
}

void LogOutput::Show(const State& state, std::string_view line) {
  if (failed_) return;
  std::string text;
  if (options_.json) {
    nlohmann::ordered_json entry;
    entry["task"] = state.log.task;
    entry["attempt"] = state.log.attempt;
    entry["stream"] = NameOf(state.log.stream);
    entry["container"] = ToString(state.log.container);
    entry["line"] = line;
    text = entry.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  } else {
    text = cli::LinePrefix(state.log.task, options_.color) + cli::TerminalText(line) + "\n";
  }
  failed_ = !cli::WriteStdout(text);
}

}  // namespace tfyarn::apps
