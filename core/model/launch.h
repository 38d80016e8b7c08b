// What a container's environment tells the process in it: the contract between who asks for a
// launch (the client for the AM, the AM for its agents) and the host that starts the process. Plain
// words only: a NodeManager pastes values unescaped into a shell script.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "core/model/channel.h"
#include "core/model/error.h"
#include "core/model/ids.h"

namespace tfyarn {

/// Tells an agent who it is and where its AM was when it was launched.
struct AgentLaunch {
  AgentFence fence;
  std::int32_t am_attempt = 0;
  HostPort am_address;
  std::string staging_directory;  ///< HDFS: job file, AM addresses.
};

/// TFYARN_ROLE=agent and the members, each as one variable of plain words.
[[nodiscard]] std::map<std::string, std::string> ToEnvironment(const AgentLaunch& launch);
/// Errors: kInvalidArgument naming the variable that is missing or malformed.
[[nodiscard]] Expected<AgentLaunch> AgentLaunchFrom(
    const std::map<std::string, std::string>& environment);

/// Tells an AM where its job is staged. Which attempt it is stands in YARN's own CONTAINER_ID.
struct AmLaunch {
  std::string staging_directory;
};

/// TFYARN_ROLE=am and the members.
[[nodiscard]] std::map<std::string, std::string> ToEnvironment(const AmLaunch& launch);
/// Errors: kInvalidArgument naming the variable that is missing.
[[nodiscard]] Expected<AmLaunch> AmLaunchFrom(
    const std::map<std::string, std::string>& environment);

/// What an AM attempt appends to a file beside its journal, and agents that lost their AM read: one
/// line, "2 gpu-3 40000". Appended, so that an older attempt whose call comes late takes nothing
/// away.
struct AmAddress {
  std::int32_t am_attempt = 0;  ///< 0: nothing is known.
  HostPort address;
};
[[nodiscard]] std::string ToText(const AmAddress& address);
/// The newest attempt of such lines. Anything else than what ToText makes counts for nothing: it is
/// not written yet, or cut.
[[nodiscard]] AmAddress AmAddressFrom(std::string_view text);

/// TFYARN_ROLE; empty when it is not one of our containers.
[[nodiscard]] std::string LaunchRole(const std::map<std::string, std::string>& environment);

}  // namespace tfyarn
