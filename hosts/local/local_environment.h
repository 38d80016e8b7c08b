// What this machine's cluster tells the AMs and agents that it starts, beside what YARN would:
// where its files and recordings are.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/model/error.h"
#include "core/model/ids.h"
#include "core/model/time.h"

namespace tfyarn::hosts {

/// The one variable of ours that an agent hands on to its task.
inline constexpr std::string_view kSharedDirectoryVariable = "TFYARN_SHARED_DIRECTORY";

struct LocalEnvironment {
  ContainerId container;   ///< CONTAINER_ID, as YARN says it.
  std::string host;        ///< NM_HOST, the same.
  std::string logs;        ///< LOG_DIRS, the same.
  std::string storage;     ///< Directory that stands for HDFS.
  std::string recordings;  ///< Directory.
  std::string shared;      ///< Directory that all tasks see; what is in it outlives them.
  Duration heartbeat{};    ///< Of an AM to this machine's RM.
};

/// All but what LocalNode says of each container (CONTAINER_ID, NM_HOST, LOG_DIRS).
[[nodiscard]] std::map<std::string, std::string> ToEnvironment(const LocalEnvironment& local);
/// Errors: kInvalidArgument naming the variable that is missing or malformed.
[[nodiscard]] Expected<LocalEnvironment> LocalEnvironmentFrom(
    const std::map<std::string, std::string>& environment);

}  // namespace tfyarn::hosts
