// `tfyarn list`, `status`, `wait`, `attach` and `kill`: applications of a YARN cluster, whichever
// program submitted them.
#pragma once

#include <optional>
#include <string>

#include "core/model/time.h"

namespace tfyarn::apps {

struct ListArguments {
  bool all = false;  ///< Those that have ended, too, as long as the RM remembers them.
  bool json = false;
};

enum class ApplicationVerb { kStatus, kWait, kAttach, kKill };

struct ApplicationArguments {
  ApplicationVerb verb = ApplicationVerb::kStatus;
  std::string application;  ///< application_1700000000000_0007
  bool json = false;
  std::optional<Duration> timeout;  ///< kWait: stay no longer; nullopt = no limit.
};

/// Applications of ours, the newest first. Returns kOk, kInvalidInput or kCluster.
[[nodiscard]] int ListCommand(const ListArguments& arguments);
/// kStatus shows the application. kWait stays until it has ended and returns what `tfyarn submit
/// --wait` would, or kDeadline after `timeout`; kAttach shows meanwhile what that shows, and Ctrl-C
/// leaves the job as it is. kKill returns once it has ended. Others: kInvalidInput (no such
/// application), kCredentials, kCluster. `version`: of the program, for what they write into a
/// history.
[[nodiscard]] int ApplicationCommand(const ApplicationArguments& arguments,
                                     const std::string& version);

}  // namespace tfyarn::apps
