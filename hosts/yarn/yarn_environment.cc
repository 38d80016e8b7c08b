#include "hosts/yarn/yarn_environment.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

namespace tfyarn::hosts {
namespace {

using Environment = std::map<std::string, std::string>;

constexpr const char* kSchedulers = "TFYARN_RM_SCHEDULERS";
constexpr const char* kNameNodes = "TFYARN_NAME_NODES";
constexpr const char* kFileSystem = "TFYARN_FILE_SYSTEM";
constexpr const char* kUser = "TFYARN_HADOOP_USER";

std::string Join(const std::vector<HostPort>& addresses) {
  std::string text;
  for (const HostPort& address : addresses) text += (text.empty() ? "" : ",") + ToString(address);
  return text;
}

Expected<std::string> Text(const Environment& environment, const char* name) {
  const auto entry = environment.find(name);
  if (entry != environment.end() && !entry->second.empty()) return entry->second;
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("environment variable {} is not set; `tfyarn submit` has this program "
                          "started by YARN",
                          name));
}

Expected<std::vector<HostPort>> Addresses(const Environment& environment, const char* name) {
  const auto text = Text(environment, name);
  if (!text) return tl::unexpected<Error>(text.error());
  std::vector<HostPort> addresses;
  for (std::string_view rest = *text; !rest.empty();) {
    const auto comma = rest.find(',');
    auto address = ParseHostPort(rest.substr(0, comma));
    if (!address)
      return Fail(address.error().code, fmt::format("{}: {}", name, address.error().message));
    addresses.push_back(std::move(*address));
    rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
  }
  return addresses;
}

/// nullopt: it is not there, or no such number; nothing depends on it then.
template <class T>
std::optional<T> Number(const Environment& environment, const char* name) {
  const auto entry = environment.find(name);
  if (entry == environment.end()) return std::nullopt;
  const std::string& text = entry->second;
  T number{};
  const auto [stop, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc{} || stop != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

Expected<YarnContainer> ContainerFrom(const Environment& environment) {
  YarnContainer container;
  std::string id;
  for (const auto& [name, target] : {std::pair<const char*, std::string*>{"CONTAINER_ID", &id},
                                     {"NM_HOST", &container.host},
                                     {"LOG_DIRS", &container.logs},
                                     {"HADOOP_TOKEN_FILE_LOCATION", &container.credentials}}) {
    auto text = Text(environment, name);
    if (!text) return tl::unexpected<Error>(text.error());
    *target = std::move(*text);
  }
  const auto parsed = ParseContainerId(id);
  if (!parsed) return tl::unexpected<Error>(parsed.error());
  container.container = *parsed;
  container.web_port = Number<std::uint16_t>(environment, "NM_HTTP_PORT").value_or(0);
  if (const auto submitted = Number<std::int64_t>(environment, "APP_SUBMIT_TIME_ENV"))
    container.submitted = WallTime(std::chrono::milliseconds(*submitted));
  container.logs.resize(std::min(container.logs.find(','), container.logs.size()));
  return container;
}

}  // namespace

Environment ToEnvironment(const YarnAddresses& addresses) {
  return {{kSchedulers, Join(addresses.schedulers)},
          {kNameNodes, Join(addresses.name_nodes)},
          {kFileSystem, addresses.file_system},
          {kUser, addresses.user}};
}

bool IsOnYarn(const Environment& environment) {
  return environment.contains(kSchedulers);
}

Expected<YarnEnvironment> YarnEnvironmentFrom(const Environment& environment) {
  YarnEnvironment found;
  auto schedulers = Addresses(environment, kSchedulers);
  if (!schedulers) return tl::unexpected<Error>(schedulers.error());
  auto name_nodes = Addresses(environment, kNameNodes);
  if (!name_nodes) return tl::unexpected<Error>(name_nodes.error());
  auto file_system = Text(environment, kFileSystem);
  if (!file_system) return tl::unexpected<Error>(file_system.error());
  auto user = Text(environment, kUser);
  if (!user) return tl::unexpected<Error>(user.error());
  auto container = ContainerFrom(environment);
  if (!container) return tl::unexpected<Error>(container.error());
  return YarnEnvironment{.addresses = {.schedulers = std::move(*schedulers),
                                       .name_nodes = std::move(*name_nodes),
                                       .file_system = std::move(*file_system),
                                       .user = std::move(*user)},
                         .container = std::move(*container)};
}

}  // namespace tfyarn::hosts
