// A command and an environment, written so that they survive the script by which a NodeManager
// starts a container, whatever is in them.
//
// The NodeManager replaces <LOG_DIR>, <CPS> and {{NAME}} in what it is given, pastes the command
// between double quotes behind `exec /bin/bash -c`, and every variable as `export NAME="value"`,
// with nothing escaped. So a command is read by two shells and a value by one. Values stand a
// second time, as they are, in the environment of the shell that reads the script: a PATH there
// would be the end of it. Source:
// yarn/server/nodemanager/containermanager/launcher/ContainerLaunch.java.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/error.h"

namespace tfyarn::hadoop {

/// Longest command as written, and longest NAME=value, in bytes. Source: Linux' MAX_ARG_STRLEN,
/// 128 KiB with the NUL behind it.
inline constexpr std::size_t kMaxLaunchText = std::size_t{128} * 1024 - 1;

/// Fields of ContainerLaunchContext.
struct LaunchText {
  std::vector<std::string> command;
  std::map<std::string, std::string> environment;
};

/// `argv` is run with `environment` added to what the NodeManager sets, its output going to the
/// files `stdout` and `stderr` of the container's log directory. Variables that would reach a shell
/// of the NodeManager's (PATH, LD_PRELOAD, ...) or have no shell's name are set by env(1), behind
/// it.
/// Errors: kInvalidArgument when argv is empty, something has a NUL, a name is empty, has a '=' or
/// is one that the NodeManager sets itself, or something is too long.
[[nodiscard]] Expected<LaunchText> QuoteLaunch(
    const std::vector<std::string>& argv, const std::map<std::string, std::string>& environment);

}  // namespace tfyarn::hadoop
