// `tfyarn logs`: what an application's tasks have written, while it runs and afterwards.
#pragma once

#include <cstdint>
#include <string>

#include "apps/yarn/task_logs.h"

namespace tfyarn::apps {

/// Lines to begin with, at most.
inline constexpr std::int64_t kMostTail = 100'000;

struct LogsArguments {
  std::string application;  ///< application_1700000000000_0007
  LogSelection selection;
  bool follow = false;     ///< Until the application has ended.
  std::int64_t tail = -1;  ///< Lines of each log to begin with, up to kMostTail; -1 = all.
  bool json = false;       ///< An object for each line.
};

/// Returns kOk; kNothingSelected when there is no such log, with the reason on stderr;
/// kInvalidInput, kCluster.
[[nodiscard]] int LogsCommand(const LogsArguments& arguments);

}  // namespace tfyarn::apps
