// What the NM answers to AMs (and to the RM, which starts AMs in their name).
//
// Source: ContainerManagerImpl.java, NMTokenSecretManagerInNM.java,
// NMContainerTokenSecretManager.java.
#include <fmt/format.h>

#include <algorithm>

#include "core/model/check.h"
#include "core/model/probe.h"
#include "fakes/yarn-rm/node_manager.h"

namespace tfyarn::fakes {
namespace {

using yarn::RpcError;
using yarn::RpcErrorCode;

constexpr std::int32_t kKilledByAppMaster = -105;

RpcError NotHandled(const ContainerId& id) {
  return {.code = RpcErrorCode::kYarn,
          .message = fmt::format("Container {} is not handled by this NodeManager", ToString(id))};
}

RpcError RecentlyStopped(const ContainerId& id) {
  return {
      .code = RpcErrorCode::kYarn,
      .message = fmt::format("Container {} was recently stopped on node manager.", ToString(id))};
}

RpcError NotYetReady() {
  return {.code = RpcErrorCode::kNmNotYetReady,
          .message =
              "Rejecting new containers as NodeManager has not yet connected with "
              "ResourceManager"};
}

std::int64_t Milliseconds(Instant t) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(t.time_since_epoch()).count();
}

}  // namespace

void NodeManager::On(const NmCall& call) {
  yarn::NmResponse response;
  if (auto error = CheckCaller(call)) {
    response = *error;
  } else {
    response = std::visit([&](const auto& request) { return Answer(call, request); }, call.request);
  }
  Emit(NmReply{.id = call.id, .response = std::move(response)});
}

// A token opens the NM for one attempt on one node. One under an old key still opens it where a
// container was started with it (run).
std::optional<RpcError> NodeManager::CheckCaller(const NmCall& call) const {
  if (phase_ == Phase::kNew || phase_ == Phase::kShutDown || nm_keys_.current == 0) {
    TF_PROBE("nm/not-ready");
    return NotYetReady();
  }
  if (!IsNmTokenOf(call.token, call.caller.attempt, options_.node)) {
    return RpcError{
        .code = RpcErrorCode::kInvalidToken,
        .message = fmt::format("Given NMToken for application : {} is not valid for current node "
                               "manager.expected : {} found : another",
                               ToString(call.caller.attempt), ToString(options_.node))};
  }
  if (nm_keys_.Accepts(call.token.key_id)) return std::nullopt;
  const auto application = state_.applications.find(call.caller.attempt.application);
  if (application != state_.applications.end()) {
    const auto key = application->second.token_keys.find(call.caller.attempt);
    if (key != application->second.token_keys.end() && key->second == call.token.key_id) {
      TF_PROBE("nm/old-key-of-a-known-attempt");
      return std::nullopt;
    }
  }
  return RpcError{.code = RpcErrorCode::kInvalidToken,
                  .message = fmt::format(
                      "Given NMToken for application : {} seems to have been generated illegally.",
                      ToString(call.caller.attempt))};
}

// A bad container token ends the whole call; what stands before it in the list is started all the
// same (run).
yarn::NmResponse NodeManager::Answer(const NmCall& call,
                                     const yarn::StartContainersRequest& request) {
  yarn::StartContainersResponse response;
  for (const yarn::StartContainerRequest& start : request.containers) {
    const auto meaning =
        ReadContainerToken(*tokens_, start.container_token, start.container, options_.node);
    // YARN's schedulers grant only on a heartbeat, which comes after this registration's answer;
    // those that grant at once can be faster than that answer.
    if (meaning && phase_ == Phase::kRegistering && meaning->terms->rm_identifier > rm_identifier_)
      return NotYetReady();
    if (!meaning || !container_keys_.Accepts(start.container_token.key_id)) {
      TF_PROBE("nm/bad-container-token");
      return RpcError{
          .code = RpcErrorCode::kInvalidToken,
          .message = fmt::format("Given Container {} seems to have an illegally generated token.",
                                 ToString(start.container))};
    }
    if (auto error = CheckStart(call, start, *meaning)) {
      response.failed.push_back({.container = start.container, .error = std::move(*error)});
      continue;
    }
    state_.applications[start.container.application_attempt.application]
        .token_keys[call.caller.attempt] = call.token.key_id;
    state_.containers.emplace(start.container, NmContainer{.id = start.container,
                                                           .resource = meaning->terms->resource,
                                                           .priority = meaning->terms->priority,
                                                           .context = start.context});
    changed_.insert(start.container);
    Emit(Localize{.container = start.container, .context = start.context});
    response.succeeded.push_back(start.container);
  }
  return response;
}

std::optional<RpcError> NodeManager::CheckStart(const NmCall& call,
                                                const yarn::StartContainerRequest& start,
                                                const ContainerTokenMeaning& meaning) const {
  const ContainerId& id = start.container;
  const auto unauthorized = [](const std::string& why) {
    return RpcError{.code = RpcErrorCode::kYarn,
                    .message = "Unauthorized request to start container." + why};
  };
  if (call.caller.attempt.application != id.application_attempt.application) {
    return unauthorized(
        fmt::format("\nNMToken for application attempt : {} was used for starting container with "
                    "container token issued for application attempt : {}",
                    ToString(call.caller.attempt), ToString(id.application_attempt)));
  }
  if (state_.containers.count(id) > 0 || WasRecentlyStopped(id)) {
    TF_PROBE("nm/started-twice");
    return unauthorized(
        fmt::format("\n Attempt to relaunch the same container with id {}.", ToString(id)));
  }
  const Instant clock = now_ + options_.clock_offset;
  if (meaning.expires < clock) {
    TF_PROBE("nm/expired-token");
    return unauthorized(
        fmt::format("\nThis token is expired. current time is {} found {}\nNote: System times on "
                    "machines may be out of sync. Check system time and time zones.",
                    Milliseconds(clock), Milliseconds(meaning.expires)));
  }
  if (meaning.terms->rm_identifier != rm_identifier_) {
    TF_PROBE("nm/container-of-an-earlier-rm");
    return RpcError{
        .code = RpcErrorCode::kInvalidContainer,
        .message = fmt::format("\nContainer {} rejected as it is allocated by a previous RM",
                               ToString(id))};
  }
  return std::nullopt;
}

yarn::NmResponse NodeManager::Answer(const NmCall&, const yarn::StopContainersRequest& request) {
  yarn::StopContainersResponse response;
  for (const ContainerId& id : request.containers) {
    NmContainer* container = Find(id);
    if (container == nullptr && !WasRecentlyStopped(id)) {
      TF_PROBE("nm/stop-of-an-unknown-container");
      response.failed.push_back({.container = id, .error = NotHandled(id)});
      continue;
    }
    if (container != nullptr) {
      StopContainer(*container, kKilledByAppMaster, "Container killed by the ApplicationMaster.\n");
    }
    response.succeeded.push_back(id);
  }
  return response;
}

yarn::NmResponse NodeManager::Answer(const NmCall&,
                                     const yarn::GetContainerStatusesRequest& request) {
  yarn::GetContainerStatusesResponse response;
  for (const ContainerId& id : request.containers) {
    const NmContainer* container = Find(id);
    if (container == nullptr) {
      response.failed.push_back(
          {.container = id,
           .error = WasRecentlyStopped(id) ? RecentlyStopped(id) : NotHandled(id)});
      continue;
    }
    const bool done = container->stage == NmContainer::Stage::kDone;
    response.statuses.push_back(
        {.id = id,
         .state = done ? yarn::ContainerState::kComplete : yarn::ContainerState::kRunning,
         .exit_status = container->exit_status,
         .diagnostics = container->diagnostics});
  }
  return response;
}

bool NodeManager::WasRecentlyStopped(const ContainerId& id) const {
  return std::any_of(state_.recently_stopped.begin(), state_.recently_stopped.end(),
                     [&](const auto& entry) { return entry.second == id; });
}

}  // namespace tfyarn::fakes
