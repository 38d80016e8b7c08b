#include "apps/yarn/container_places.h"

#include <fmt/format.h>

#include <utility>

#include "wire/hadoop/cluster_queries.h"
#include "wire/yarnweb/rm_answers.h"

namespace tfyarn::apps {

std::vector<ContainerPlace> ContainerPlaces::Find() {
  problem_.clear();
  FindAms();
  FindRunning();
  ReadAmLogs();
  return Known();
}

std::vector<ContainerPlace> ContainerPlaces::Known() const {
  std::vector<ContainerPlace> all;
  for (const auto& [container, web] : places_) all.push_back({.container = container, .web = web});
  return all;
}

void ContainerPlaces::FindAms() {
  const auto answer =
      AskResourceManager(settings_, wire::AttemptsTarget(application_, settings_.user));
  if (!answer) {
    problem_ = answer.error().message;
    return;
  }
  const auto attempts = wire::ParseAttempts(answer->body);
  if (!attempts) {
    problem_ = "the ResourceManager's web server answers with no list of attempts";
    return;
  }
  for (const wire::AttemptPlace& attempt : *attempts) {
    places_[attempt.container] = attempt.web;
    ams_.try_emplace(attempt.container);
  }
}

void ContainerPlaces::FindRunning() {
  std::int32_t last = 0;
  for (const auto& [am, log] : ams_) last = std::max(last, am.application_attempt.attempt);
  if (last == 0) return;
  // Containers that an earlier attempt has started are the last one's now.
  const auto answer =
      cluster_.Ask(hadoop::GetContainers({.application = application_, .attempt = last}));
  // An application that has ended has none, and some RMs say so by an error.
  if (!answer) return;
  const auto containers = hadoop::DecodeContainers(*answer);
  if (!containers) return;
  for (const hadoop::ContainerReport& report : *containers) {
    std::string web = report.web;
    if (const auto scheme = web.find("://"); scheme != std::string::npos) web.erase(0, scheme + 3);
    if (!web.empty()) places_[report.id] = web;
  }
}

void ContainerPlaces::ReadAmLogs() {
  std::vector<ContainerPlace> ams;
  for (const auto& [am, log] : ams_) ams.push_back({.container = am, .web = places_[am]});
  const std::vector<NodeLogs::Files> lists = nodes_.List(ams);
  for (std::size_t i = 0; i < ams.size(); ++i) {
    if (!lists[i]) continue;
    const AmLog& log = ams_[ams[i].container];
    for (const wire::LogFile& file : *lists[i]) {
      if (file.name != "stderr" || file.size <= log.next) continue;
      // What is left out now is read the next time.
      (void)nodes_.Read(ams[i], file.name, log.next, file.size,
                        [&](std::uint64_t offset, std::string_view bytes) {
                          TakeAmLog(ams[i].container, offset, bytes);
                        });
    }
  }
}

std::optional<std::uint64_t> ContainerPlaces::ReadOf(const ContainerId& am) const {
  const auto log = ams_.find(am);
  return log == ams_.end() ? std::nullopt : std::optional(log->second.next);
}

void ContainerPlaces::TakeAmLog(const ContainerId& am, std::uint64_t offset,
                                std::string_view bytes) {
  const auto found = ams_.find(am);
  if (found == ams_.end()) return;
  AmLog& log = found->second;
  if (offset + bytes.size() <= log.next) return;
  if (offset < log.next) bytes.remove_prefix(log.next - offset);
  log.next += bytes.size();
  log.lines.Add(bytes, [&](std::string_view line) {
    if (const auto started = ParseStartedLine(line)) Learn(*started);
  });
}

void ContainerPlaces::Learn(const StartedContainer& started) {
  if (started.container.application_attempt.application != application_) return;
  places_.try_emplace(started.container, WebOf(started.node));
}

/// A node that is gone may have come back where it was.
std::string ContainerPlaces::WebOf(const NodeId& node) {
  if (!webs_) {
    webs_.emplace();
    const auto answer = cluster_.Ask(hadoop::GetNodeWebAddresses());
    const auto addresses =
        answer ? hadoop::DecodeNodeWebAddresses(*answer) : Expected<hadoop::NodeWebAddresses>();
    if (addresses) webs_->insert(addresses->begin(), addresses->end());
  }
  const auto found = webs_->find(node);
  if (found != webs_->end() && !found->second.empty()) return found->second;
  return ToString(HostPort{.host = node.host, .port = settings_.node_manager_web_port});
}

}  // namespace tfyarn::apps
