#include "hosts/local/local_environment.h"

#include <fmt/format.h>

#include <charconv>

namespace tfyarn::hosts {
namespace {

using Environment = std::map<std::string, std::string>;

constexpr const char* kStorage = "TFYARN_LOCAL_STORAGE";
constexpr const char* kRecordings = "TFYARN_RECORDINGS";
constexpr const char* kHeartbeat = "TFYARN_RM_HEARTBEAT_MS";

Expected<std::string> Text(const Environment& environment, const char* name) {
  const auto entry = environment.find(name);
  if (entry != environment.end() && !entry->second.empty()) return entry->second;
  return Fail(
      ErrorCode::kInvalidArgument,
      fmt::format("environment variable {} is not set; `tfyarn run` starts this program", name));
}

}  // namespace

Environment ToEnvironment(const LocalEnvironment& local) {
  return {{kStorage, local.storage},
          {kRecordings, local.recordings},
          {std::string(kSharedDirectoryVariable), local.shared},
          {kHeartbeat, fmt::format("{}", local.heartbeat / 1ms)}};
}

Expected<LocalEnvironment> LocalEnvironmentFrom(const Environment& environment) {
  LocalEnvironment local;
  std::string container;
  std::string heartbeat;
  for (const auto& [name, target] :
       {std::pair<const char*, std::string*>{"CONTAINER_ID", &container},
        {"NM_HOST", &local.host},
        {"LOG_DIRS", &local.logs},
        {kStorage, &local.storage},
        {kRecordings, &local.recordings},
        {kSharedDirectoryVariable.data(), &local.shared},
        {kHeartbeat, &heartbeat}}) {
    auto text = Text(environment, name);
    if (!text) return tl::unexpected<Error>(text.error());
    *target = std::move(*text);
  }
  const auto id = ParseContainerId(container);
  if (!id) return tl::unexpected<Error>(id.error());
  local.container = *id;
  std::int64_t milliseconds = 0;
  const char* end = heartbeat.data() + heartbeat.size();
  if (std::from_chars(heartbeat.data(), end, milliseconds).ptr != end || milliseconds <= 0) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("{}='{}' is no number of milliseconds above 0", kHeartbeat, heartbeat));
  }
  local.heartbeat = milliseconds * 1ms;
  return local;
}

}  // namespace tfyarn::hosts
