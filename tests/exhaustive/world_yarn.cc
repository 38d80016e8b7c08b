// The world's ResourceManager and NodeManagers.
#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/model/check.h"
#include "core/model/codec.h"
#include "core/model/launch.h"
#include "tests/exhaustive/world.h"

namespace tfyarn::exhaustive {
namespace {

constexpr std::int32_t kNodes = 20;
constexpr yarn::Token kToken{.kind = yarn::TokenKind::kNm, .serial = 1};

}  // namespace

std::optional<std::size_t> World::Find(const ContainerId& id) const {
  const auto at = static_cast<std::size_t>(id.id - 1);
  if (id.id < 1 || at >= containers_.size()) return std::nullopt;
  return at;
}

// ---------------------------------------------------------------- the RM

/// Source: CapacityScheduler.doneApplicationAttempt: of an attempt that has failed the containers
/// that run are kept.
void World::ForgetAttempt() {
  Touch(kPartRm);
  rm_.registered = false;
  rm_.response_id = 0;
  rm_.asks.clear();
  rm_.news.allocated_containers.clear();
  // What was told and not acknowledged by the next call is told again.
  for (yarn::ContainerStatus& status : rm_.last.completed_containers)
    rm_.news.completed_containers.push_back(std::move(status));
  rm_.last = {};
  for (std::size_t i = 0; i < containers_.size(); ++i) {
    if (containers_[i].at == At::kGranted && !containers_[i].told) containers_[i].at = At::kGone;
    if (containers_[i].at == At::kGranted)
      EndContainer(i, container_exit::kAborted, "Container of a completed application", false);
  }
}

yarn::RmResponse World::Register() {
  rm_.registered = true;
  yarn::RegisterApplicationMasterResponse response{
      .maximum_capability = {.memory_mb = 1 << 20, .vcores = 64}};
  for (const Container& container : containers_) {
    if (container.at != At::kLaunched) continue;
    response.containers_from_previous_attempts.push_back(container.grant);
    response.nm_tokens_from_previous_attempts.push_back(
        {.node = container.grant.node, .token = kToken});
  }
  return response;
}

yarn::RmResponse World::Allocate(const yarn::AllocateRequest& request) {
  if (!rm_.registered)
    return yarn::RpcError{.code = yarn::RpcErrorCode::kApplicationMasterNotRegistered};
  if (request.response_id + 1 == rm_.response_id) return rm_.last;  // Again: its answer was lost.
  for (const yarn::ResourceRequest& row : request.ask) {
    if (row.resource_name != "*") continue;
    const auto same = std::find_if(rm_.asks.begin(), rm_.asks.end(), [&](const Row& known) {
      return known.priority == row.priority && known.id == row.allocation_request_id;
    });
    Row& known = same == rm_.asks.end() ? rm_.asks.emplace_back() : *same;
    known = {.priority = row.priority.value_or(0),
             .id = row.allocation_request_id,
             .capability = row.capability,
             .count = row.num_containers};
  }
  std::erase_if(rm_.asks, [](const Row& row) { return row.count == 0; });
  std::sort(rm_.asks.begin(), rm_.asks.end(), [](const Row& a, const Row& b) {
    return std::tie(a.priority, a.id) < std::tie(b.priority, b.id);
  });
  for (const ContainerId& id : request.release) {
    const auto container = Find(id);
    if (container && containers_[*container].at != At::kGone)
      EndContainer(*container, container_exit::kAborted, "Container released by application",
                   false);
  }
  yarn::AllocateResponse response = std::exchange(rm_.news, {});
  for (const yarn::Container& grant : response.allocated_containers)
    containers_[*Find(grant.id)].told = true;
  response.response_id = ++rm_.response_id;
  response.num_cluster_nodes = kNodes;
  rm_.last = response;
  Grant();
  return response;
}

/// Of all that is asked for, for the next answer.
void World::Grant() {
  for (Row& row : rm_.asks) {
    for (; row.count > 0; --row.count) {
      const auto number = static_cast<std::int64_t>(containers_.size()) + 1;
      Touch(PartOfContainer(containers_.size()));
      Container& container = containers_.emplace_back();
      container.grant = {
          .id = {.application_attempt = {.application = {0, 1}, .attempt = am_attempt_},
                 .id = number},
          .node = {.host = fmt::format("n{}", number), .port = 8041},
          .resource = row.capability,
          .priority = row.priority,
          .allocation_request_id = row.id};
      rm_.news.allocated_containers.push_back(container.grant);
      rm_.news.nm_tokens.push_back({.node = container.grant.node, .token = kToken});
      Record(trace::ContainerGranted{.container = container.grant.id,
                                     .node = container.grant.node,
                                     .resource = container.grant.resource});
    }
  }
  rm_.asks.clear();
}

void World::AppendRm(std::vector<std::uint64_t>& words) const {
  std::string bytes;
  Encoder encoder(bytes);
  encoder.Put(rm_.news);
  encoder.Put(rm_.last);
  words.push_back(XXH3_64bits(bytes.data(), bytes.size()));
  words.push_back(static_cast<std::uint64_t>(rm_.response_id) << 1 | (rm_.registered ? 1U : 0U));
  words.push_back(containers_.size());
}

// ---------------------------------------------------------------- nodes

yarn::NmResponse World::Launch(std::size_t container, const yarn::StartContainerRequest& request) {
  Container& of = containers_[container];
  yarn::StartContainersResponse response;
  if (of.at != At::kGranted) {
    const bool again = of.at == At::kLaunched;
    response.failed.push_back(
        {.container = of.grant.id,
         .error = {.code = again ? yarn::RpcErrorCode::kYarn : yarn::RpcErrorCode::kInvalidToken,
                   .message = again ? "Attempt to relaunch the same container with id" : "gone"}});
    return response;
  }
  const Expected<AgentLaunch> launch = AgentLaunchFrom(request.context.environment);
  TF_CHECK(launch.has_value());
  of.at = At::kLaunched;
  of.fence = launch->fence;
  KnowWhose(container);
  of.agent = std::make_unique<agent::TaskAgent>(
      std::shared_ptr<const JobSpec>(std::shared_ptr<const JobSpec>(), scope_.job.get()),
      container);
  VouchForAgent(container, true);
  StepAgent(container, AgentStarted{.fence = of.fence,
                                    .am_attempt = launch->am_attempt,
                                    .am_address = launch->am_address,
                                    .host = of.grant.node.host});
  response.succeeded.push_back(of.grant.id);
  return response;
}

void World::EndContainer(std::size_t container, std::int32_t exit, std::string_view why,
                         bool fact) {
  Touch(PartOfContainer(container) | kPartRm);
  Container& of = containers_[container];
  if (fact)
    Know({.kind = FactKind::kContainerEnded,
          .task = SubjectOf(container),
          .attempt = Inside(container),
          .code = exit});
  of.at = At::kGone;
  of.taken_at.reset();
  if (of.agent != nullptr) AgentGone(container);
  auto& completed = rm_.news.completed_containers;
  const auto at =
      std::lower_bound(completed.begin(), completed.end(), of.grant.id,
                       [](const auto& status, const auto& id) { return status.id < id; });
  completed.insert(at, {.id = of.grant.id,
                        .state = yarn::ContainerState::kComplete,
                        .exit_status = exit,
                        .diagnostics = std::string(why)});
  Record(trace::ContainerFreed{.container = of.grant.id, .exit_status = exit});
}

void World::LoseNode(std::size_t container) {
  Touch(PartOfContainer(container));
  Container& of = containers_[container];
  Know({.kind = FactKind::kNodeLost, .task = SubjectOf(container), .attempt = Inside(container)});
  of.node_up = false;
  of.given_up_at = now_ + kNodeExpiry;
  if (of.agent != nullptr) AgentGone(container);
}

void World::GiveUpNode(std::size_t container) {
  Container& of = containers_[container];
  of.given_up_at.reset();
  Touch(kPartRm);
  rm_.news.updated_nodes.push_back({.node = of.grant.node, .state = yarn::NodeState::kLost});
  if (of.at != At::kGone)
    EndContainer(container, container_exit::kAborted, "Container released on a *lost* node", false);
}

}  // namespace tfyarn::exhaustive
