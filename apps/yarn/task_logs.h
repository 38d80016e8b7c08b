// What the files in a container's log directory are: which task's, which attempt's, which stream.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/error.h"
#include "core/model/ids.h"
#include "wire/yarnweb/node_logs.h"

namespace tfyarn::apps {

enum class LogStream {
  kStdout,
  kStderr,
  kAgent,  ///< What a task's agent says about itself.
  kAm,     ///< What an AM says about itself.
};
/// "stdout", "stderr", "agent" or "am", as users write it; nullopt: something else.
[[nodiscard]] std::optional<LogStream> LogStreamFrom(std::string_view text);
[[nodiscard]] std::string NameOf(LogStream stream);

/// One log file of an application.
struct TaskLog {
  std::string task;          ///< "worker:1"; "am"; an agent's container where it never had a task.
  std::int64_t index = 0;    ///< The task's; orders them.
  std::int32_t attempt = 0;  ///< Of the task, or of the AM.
  LogStream stream = LogStream::kStdout;
  ContainerId container;
  wire::LogFile file;
};
/// By task, attempt and stream.
[[nodiscard]] bool operator<(const TaskLog& a, const TaskLog& b);

/// Those of a container's files that say something about its task or its AM.
[[nodiscard]] std::vector<TaskLog> NameLogs(const ContainerId& container,
                                            const std::vector<wire::LogFile>& files);

struct LogSelection {
  std::string task;                     ///< "worker:1", or "worker" for all of them; "" = all.
  std::optional<std::int32_t> attempt;  ///< nullopt = all.
  std::vector<LogStream> streams;       ///< Empty: stdout and stderr of tasks.

  [[nodiscard]] bool Has(const TaskLog& log) const;
};

}  // namespace tfyarn::apps
