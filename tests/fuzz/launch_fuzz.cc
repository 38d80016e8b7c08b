// Any bytes as the environment of a launched process: "NAME=value" entries ended by a zero byte.
// Reading it never crashes, and what was read is written and read again unchanged.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "core/model/check.h"
#include "core/model/launch.h"

namespace {

std::map<std::string, std::string> EnvironmentFrom(std::string_view bytes) {
  std::map<std::string, std::string> environment;
  while (!bytes.empty()) {
    const std::string_view entry = bytes.substr(0, bytes.find('\0'));
    bytes.remove_prefix(std::min(entry.size() + 1, bytes.size()));
    const auto equals = entry.find('=');
    if (equals == entry.npos) continue;
    environment[std::string(entry.substr(0, equals))] = std::string(entry.substr(equals + 1));
  }
  return environment;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto environment = EnvironmentFrom({reinterpret_cast<const char*>(data), size});
  (void)tfyarn::LaunchRole(environment);
  if (const auto am = tfyarn::AmLaunchFrom(environment)) {
    const auto again = tfyarn::AmLaunchFrom(tfyarn::ToEnvironment(*am));
    TF_CHECK(again && again->staging_directory == am->staging_directory);
  }
  if (const auto agent = tfyarn::AgentLaunchFrom(environment)) {
    const auto again = tfyarn::AgentLaunchFrom(tfyarn::ToEnvironment(*agent));
    TF_CHECK(again.has_value());
    TF_CHECK(again->fence == agent->fence);
    TF_CHECK(again->am_attempt == agent->am_attempt);
    TF_CHECK(again->am_address == agent->am_address);
  }
  return 0;
}
