#include "apps/yarn/task_logs.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <tuple>
#include <utility>

namespace tfyarn::apps {
namespace {

constexpr std::array<std::pair<std::string_view, LogStream>, 4> kStreams{
    {{"stdout", LogStream::kStdout},
     {"stderr", LogStream::kStderr},
     {"agent", LogStream::kAgent},
     {"am", LogStream::kAm}}};

/// What YARN's shell collects of a program's own words.
constexpr std::string_view kOwnWords = "stderr";
/// An application attempt's first container is its AM's.
constexpr std::int64_t kAmContainer = 1;
/// Above stands how often the RM was started.
constexpr std::int64_t kCounter = (std::int64_t{1} << 40) - 1;

template <class Number>
bool ReadNumber(std::string_view text, Number& number) {
  const char* end = text.data() + text.size();
  const auto [stop, failed] = std::from_chars(text.data(), end, number);
  return failed == std::errc{} && stop == end && number >= 0;
}

/// Of "worker-1.attempt-0.stdout".
std::optional<TaskLog> TaskLogOf(const ContainerId& container, const wire::LogFile& file) {
  constexpr std::string_view kAttempt = ".attempt-";
  const std::string_view name = file.name;
  const auto at = name.rfind(kAttempt);
  const auto dot = name.rfind('.');
  const auto dash = name.substr(0, at).rfind('-');
  if (at == std::string_view::npos || dot < at + kAttempt.size() || dash == std::string_view::npos)
    return std::nullopt;
  const auto stream = LogStreamFrom(name.substr(dot + 1));
  if (stream != LogStream::kStdout && stream != LogStream::kStderr) return std::nullopt;
  TaskLog log{.stream = *stream, .container = container, .file = file};
  const auto from = at + kAttempt.size();
  if (!ReadNumber(name.substr(from, dot - from), log.attempt) ||
      !ReadNumber(name.substr(dash + 1, at - dash - 1), log.index))
    return std::nullopt;
  log.task = std::string(name.substr(0, dash)) + ":" + std::to_string(log.index);
  return log;
}

}  // namespace

std::optional<LogStream> LogStreamFrom(std::string_view text) {
  for (const auto& [name, stream] : kStreams) {
    if (name == text) return stream;
  }
  return std::nullopt;
}

std::string NameOf(LogStream stream) {
  for (const auto& [name, each] : kStreams) {
    if (each == stream) return std::string(name);
  }
  return {};
}

bool operator<(const TaskLog& a, const TaskLog& b) {
  const auto key = [](const TaskLog& log) {
    const std::string_view type = std::string_view(log.task).substr(0, log.task.find(':'));
    return std::tuple(type, log.index, log.attempt, log.container, log.stream,
                      std::string_view(log.file.name));
  };
  return key(a) < key(b);
}

std::vector<TaskLog> NameLogs(const ContainerId& container,
                              const std::vector<wire::LogFile>& files) {
  std::vector<TaskLog> logs;
  for (const wire::LogFile& file : files) {
    if (auto log = TaskLogOf(container, file)) logs.push_back(std::move(*log));
  }
  const auto own = std::find_if(files.begin(), files.end(),
                                [](const wire::LogFile& file) { return file.name == kOwnWords; });
  if (own == files.end()) return logs;
  if ((container.id & kCounter) == kAmContainer) {
    logs.push_back({.task = "am",
                    .attempt = container.application_attempt.attempt,
                    .stream = LogStream::kAm,
                    .container = container,
                    .file = *own});
    return logs;
  }
  TaskLog agent = logs.empty() ? TaskLog{.task = ToString(container), .container = container}
                               : *std::max_element(logs.begin(), logs.end());
  agent.stream = LogStream::kAgent;
  agent.file = *own;
  logs.push_back(std::move(agent));
  return logs;
}

bool LogSelection::Has(const TaskLog& log) const {
  const bool of_task = task.empty() || log.task == task || log.task.starts_with(task + ":");
  const bool of_attempt = !attempt || log.attempt == *attempt;
  const bool of_stream =
      streams.empty() ? log.stream == LogStream::kStdout || log.stream == LogStream::kStderr
                      : std::find(streams.begin(), streams.end(), log.stream) != streams.end();
  return of_task && of_attempt && of_stream;
}

}  // namespace tfyarn::apps
