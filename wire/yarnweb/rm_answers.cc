#include "wire/yarnweb/rm_answers.h"

#include <fmt/format.h>

#include <utility>

#include "wire/http/http_url.h"
#include "wire/yarnweb/json_list.h"

namespace tfyarn::wire {

using nlohmann::json;

std::string AttemptsTarget(const ApplicationId& application, const std::string& user) {
  return fmt::format("/ws/v1/cluster/apps/{}/appattempts?user.name={}", ToString(application),
                     EncodeQueryValue(user));
}

std::optional<std::vector<AttemptPlace>> ParseAttempts(std::string_view body) {
  const json document = json::parse(body, nullptr, false);
  const json& list = MemberOf(MemberOf(document, "appAttempts"), "appAttempt");
  std::vector<AttemptPlace> places;
  const bool good = ForEachOf(list, [&](const json& entry) {
    if (!entry.is_object()) return false;
    const auto container = ParseContainerId(TextOf(MemberOf(entry, "containerId")));
    std::string web = TextOf(MemberOf(entry, "nodeHttpAddress"));
    if (container && !web.empty())
      places.push_back({.container = *container, .web = std::move(web)});
    return true;
  });
  if (!good) return std::nullopt;
  return places;
}

}  // namespace tfyarn::wire
