#include "core/allocation/node_calls.h"

#include <utility>
#include <variant>

namespace tfyarn::allocation {
namespace {

/// An earlier try had started it, and its answer was lost; or the call arrived twice.
/// Source: hadoop-yarn-server-nodemanager ContainerManagerImpl.startContainerInternal.
bool WasStartedBefore(const yarn::RpcError& error) {
  return error.message.find("relaunch the same container") != std::string::npos;
}

LaunchRefusal::Why WhyOf(yarn::RpcErrorCode code) {
  switch (code) {
    case yarn::RpcErrorCode::kNmNotYetReady:
      return LaunchRefusal::Why::kNotReady;
    case yarn::RpcErrorCode::kUnavailable:
      return LaunchRefusal::Why::kNoAnswer;
    case yarn::RpcErrorCode::kInvalidContainer:
      return LaunchRefusal::Why::kForgotten;
    default:
      return LaunchRefusal::Why::kRefused;
  }
}

const yarn::RpcError* ErrorIn(const yarn::NmResponse& response) {
  if (const auto* error = std::get_if<yarn::RpcError>(&response)) return error;
  const auto* started = std::get_if<yarn::StartContainersResponse>(&response);
  const bool failed = started != nullptr && !started->failed.empty();
  return failed ? &started->failed.front().error : nullptr;
}

}  // namespace

CallNm NodeCalls::Next(const NodeId& node, const yarn::Token& nm_token, yarn::NmRequest request) {
  last_ = last_.next();
  return {.call = last_, .node = node, .nm_token = nm_token, .request = std::move(request)};
}

CallNm NodeCalls::Start(const TaskId& task, const yarn::Container& container,
                        const yarn::Token& nm_token, yarn::ContainerLaunchContext context) {
  yarn::StartContainersRequest request;
  request.containers.push_back({.container = container.id,
                                .container_token = container.token,
                                .context = std::move(context)});
  CallNm call = Next(container.node, nm_token, std::move(request));
  starts_[call.call] = {.task = task, .container = container.id};
  return call;
}

CallNm NodeCalls::Stop(const HeldContainer& container, const yarn::Token& nm_token) {
  CallNm call =
      Next(container.node, nm_token, yarn::StopContainersRequest{.containers = {container.id}});
  stops_[call.call] = container.id;
  stop_of_[container.id] = call.call;
  return call;
}

bool NodeCalls::OnReplied(const NmReplied& reply, Listener& listener) {
  if (const auto start = starts_.find(reply.call); start != starts_.end()) {
    const StartCall call = start->second;
    starts_.erase(start);
    SayIfRefused(call, reply.response, listener);
    return true;
  }
  const auto stop = stops_.find(reply.call);
  if (stop == stops_.end()) return false;
  const ContainerId container = stop->second;
  stops_.erase(stop);
  stop_of_.erase(container);
  // An unreachable NM cannot stop it, and one that does not know it has nothing to stop.
  const auto* stopped = std::get_if<yarn::StopContainersResponse>(&reply.response);
  if (stopped == nullptr || stopped->succeeded.empty()) listener.OnNotStopped(container);
  return true;
}

void NodeCalls::SayIfRefused(const StartCall& call, const yarn::NmResponse& response,
                             Listener& listener) {
  const yarn::RpcError* error = ErrorIn(response);
  if (error == nullptr) return;
  const LaunchRefusal::Why why = WhyOf(error->code);
  const bool again = why == LaunchRefusal::Why::kNotReady || why == LaunchRefusal::Why::kNoAnswer;
  if (!again && WasStartedBefore(*error)) return;
  listener.OnLaunchRefused(call.task, call.container, {.why = why, .message = error->message});
}

void NodeCalls::Forget(const ContainerId& container) {
  const auto stop = stop_of_.find(container);
  if (stop == stop_of_.end()) return;
  stops_.erase(stop->second);
  stop_of_.erase(stop);
}

}  // namespace tfyarn::allocation
