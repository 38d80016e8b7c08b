#include "core/model/launch.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>

#include "core/model/parse_number.h"

namespace tfyarn {
namespace {

using Environment = std::map<std::string, std::string>;

constexpr const char* kRole = "TFYARN_ROLE";
constexpr const char* kStaging = "TFYARN_STAGING_DIRECTORY";
constexpr const char* kContainer = "TFYARN_CONTAINER_ID";
constexpr const char* kTask = "TFYARN_TASK";
constexpr const char* kIncarnation = "TFYARN_INCARNATION";
constexpr const char* kNonce = "TFYARN_NONCE";
constexpr const char* kAmAttempt = "TFYARN_AM_ATTEMPT";
constexpr const char* kAmHost = "TFYARN_AM_HOST";
constexpr const char* kAmPort = "TFYARN_AM_PORT";

Expected<std::string> Text(const Environment& environment, const char* name) {
  const auto entry = environment.find(name);
  if (entry == environment.end()) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("environment variable {} is not set", name));
  }
  return entry->second;
}

template <class I>
Expected<I> Number(const Environment& environment, const char* name) {
  const Expected<std::string> text = Text(environment, name);
  if (!text) return tl::unexpected<Error>(text.error());
  if (const auto value = ParseNumber<I>(*text)) return *value;
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("environment variable {}='{}' is not a number", name, *text));
}

}  // namespace

std::map<std::string, std::string> ToEnvironment(const AgentLaunch& launch) {
  return {{kRole, "agent"},
          {kStaging, launch.staging_directory},
          {kContainer, ToString(launch.fence.container)},
          {kTask, ToString(launch.fence.task)},
          {kIncarnation, fmt::format("{}", launch.fence.incarnation.value)},
          {kNonce, fmt::format("{}", launch.fence.nonce.value)},
          {kAmAttempt, fmt::format("{}", launch.am_attempt)},
          {kAmHost, launch.am_address.host},
          {kAmPort, fmt::format("{}", launch.am_address.port)}};
}

Expected<AgentLaunch> AgentLaunchFrom(const Environment& environment) {
  const auto staging = Text(environment, kStaging);
  if (!staging) return tl::unexpected<Error>(staging.error());
  const auto container = Text(environment, kContainer).and_then(ParseContainerId);
  if (!container) return tl::unexpected<Error>(container.error());
  const auto task = Text(environment, kTask).and_then(ParseTaskId);
  if (!task) return tl::unexpected<Error>(task.error());
  const auto incarnation = Number<std::uint32_t>(environment, kIncarnation);
  if (!incarnation) return tl::unexpected<Error>(incarnation.error());
  const auto nonce = Number<std::uint64_t>(environment, kNonce);
  if (!nonce) return tl::unexpected<Error>(nonce.error());
  const auto am_attempt = Number<std::int32_t>(environment, kAmAttempt);
  if (!am_attempt) return tl::unexpected<Error>(am_attempt.error());
  const auto am_host = Text(environment, kAmHost);
  if (!am_host) return tl::unexpected<Error>(am_host.error());
  const auto am_port = Number<std::int32_t>(environment, kAmPort);
  if (!am_port) return tl::unexpected<Error>(am_port.error());
  return AgentLaunch{.fence = {.container = *container,
                               .task = *task,
                               .incarnation = Incarnation(*incarnation),
                               .nonce = Nonce(*nonce)},
                     .am_attempt = *am_attempt,
                     .am_address = {.host = *am_host, .port = *am_port},
                     .staging_directory = *staging};
}

std::map<std::string, std::string> ToEnvironment(const AmLaunch& launch) {
  return {{kRole, "am"}, {kStaging, launch.staging_directory}};
}

Expected<AmLaunch> AmLaunchFrom(const Environment& environment) {
  const auto staging = Text(environment, kStaging);
  if (!staging) return tl::unexpected<Error>(staging.error());
  return AmLaunch{.staging_directory = *staging};
}

std::string ToText(const AmAddress& address) {
  return fmt::format("{} {} {}\n", address.am_attempt, address.address.host, address.address.port);
}

namespace {

AmAddress FromLine(std::string_view text) {
  const auto first = text.find(' ');
  const auto last = text.rfind(' ');
  if (first == std::string_view::npos || last == first) return {};
  const auto attempt = ParseNumber<std::int32_t>(text.substr(0, first));
  const auto port = ParseNumber<std::int32_t>(text.substr(last + 1));
  if (!attempt || !port) return {};
  return {
      .am_attempt = *attempt,
      .address = {.host = std::string(text.substr(first + 1, last - first - 1)), .port = *port}};
}

}  // namespace

AmAddress AmAddressFrom(std::string_view text) {
  AmAddress newest;
  for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    AmAddress line = FromLine(text.substr(0, end));
    if (line.am_attempt >= newest.am_attempt) newest = std::move(line);
    text.remove_prefix(end + 1);
  }
  return newest;
}

std::string LaunchRole(const Environment& environment) {
  const auto entry = environment.find(kRole);
  return entry == environment.end() ? std::string() : entry->second;
}

}  // namespace tfyarn
