// The script by which a NodeManager starts a container: what it sets, what it expands, and what it
// pastes without quoting.
//
// Source: yarn/server/nodemanager/containermanager/launcher/ContainerLaunch.java (call,
// sanitizeEnv, expandEnvironment, UnixShellScriptBuilder).
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/model/yarn.h"

namespace tfyarn::fakes {

struct LaunchPlaces {
  std::string log_directory;
  /// The NodeManager's own variables; they come before those of the launch, which cannot set them.
  std::map<std::string, std::string> environment;
  /// Files to be linked into the work directory: name, where it lies.
  std::vector<std::pair<std::string, std::string>> links;
};

[[nodiscard]] std::string LaunchScript(const yarn::ContainerLaunchContext& context,
                                       const LaunchPlaces& places);

}  // namespace tfyarn::fakes
