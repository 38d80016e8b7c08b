// What a ResourceManager answers to clients and to AMs. What becomes of applications and their
// containers is in local_rm_applications.cc.
#include "hosts/local/local_rm.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/model/exit.h"
#include "core/model/response_id.h"
#include "core/model/visit.h"

namespace tfyarn::hosts {
namespace {

using yarn::RpcError;
using yarn::RpcErrorCode;

RpcError NoSuchApplication(const ApplicationId& id) {
  return {.code = RpcErrorCode::kApplicationNotFound,
          .message = fmt::format("Application with id '{}' doesn't exist in RM.", ToString(id))};
}

RpcError NotForYou(std::string_view who) {
  return {.code = RpcErrorCode::kYarn, .message = fmt::format("this call is not one of {}", who)};
}

}  // namespace

LocalRm::LocalRm(LocalRmOptions options, Node node)
    : options_(std::move(options)), node_(std::move(node)) {}

yarn::RmResponse LocalRm::Answer(const std::optional<ApplicationAttemptId>& am,
                                 const yarn::RmRequest& request, Instant now) {
  return am ? Master(*am, request, now) : Client(request, now);
}

yarn::RmResponse LocalRm::Client(const yarn::RmRequest& request, Instant now) {
  using Response = yarn::RmResponse;
  return std::visit(
      Overloaded{[&](const yarn::GetNewApplicationRequest&) -> Response {
                   return yarn::GetNewApplicationResponse{
                       .application = {.cluster_timestamp = options_.cluster_timestamp,
                                       .id = next_application_++},
                       .maximum_capability = options_.capacity};
                 },
                 [&](const yarn::SubmitApplicationRequest& submit) -> Response {
                   return Submit(submit, now);
                 },
                 [&](const yarn::GetApplicationReportRequest& report) -> Response {
                   return Report(report.application);
                 },
                 [&](const yarn::KillApplicationRequest& kill) -> Response { return Kill(kill); },
                 [&](const yarn::GetClusterNodesRequest&) -> Response {
                   return yarn::GetClusterNodesResponse{.nodes = std::vector{NodeNow()}};
                 },
                 [&](const yarn::GetQueueInfoRequest& queue) -> Response {
                   return yarn::GetQueueInfoResponse{
                       .path = queue.queue, .limits = {{"", {.maximum = options_.capacity}}}};
                 },
                 [](const auto&) -> Response { return NotForYou("a client's"); }},
      request);
}

yarn::RmResponse LocalRm::Master(const ApplicationAttemptId& am, const yarn::RmRequest& request,
                                 Instant now) {
  using Response = yarn::RmResponse;
  const auto found = applications_.find(am.application);
  if (found == applications_.end()) return NoSuchApplication(am.application);
  Application& application = found->second;
  if (am.attempt != application.attempt || application.killed) {
    return RpcError{.code = RpcErrorCode::kApplicationAttemptNotFound,
                    .message = fmt::format("Application attempt {} doesn't exist in "
                                           "ApplicationMasterService cache.",
                                           ToString(am))};
  }
  application.heard = now;
  return std::visit(Overloaded{[&](const yarn::RegisterApplicationMasterRequest& ask) -> Response {
                                 return Register(application, ask);
                               },
                               [&](const yarn::AllocateRequest& ask) -> Response {
                                 return Allocate(application, ask);
                               },
                               [&](const yarn::FinishApplicationMasterRequest& ask) -> Response {
                                 return Finish(application, ask);
                               },
                               [](const auto&) -> Response { return NotForYou("an AM's"); }},
                    request);
}

yarn::RmResponse LocalRm::Report(const ApplicationId& id) const {
  const auto found = applications_.find(id);
  if (found == applications_.end()) return NoSuchApplication(id);
  const Application& application = found->second;
  return yarn::GetApplicationReportResponse{.report = {.application = id,
                                                       .state = application.state,
                                                       .final_status = application.final_status,
                                                       .current_attempt = application.attempt,
                                                       .diagnostics = application.diagnostics,
                                                       .tracking_url = application.tracking_url}};
}

yarn::NodeReport LocalRm::NodeNow() const {
  return {.node = options_.node,
          .rack = options_.rack,
          .state = yarn::NodeState::kRunning,
          .capability = options_.capacity,
          .used = used_};
}

// ---------------------------------------------------------------- AMs

yarn::RmResponse LocalRm::Register(Application& application,
                                   const yarn::RegisterApplicationMasterRequest& request) {
  if (application.registered) {
    return RpcError{.code = RpcErrorCode::kInvalidApplicationMasterRequest,
                    .message = fmt::format("Application Master is already registered : {}",
                                           ToString(application.id))};
  }
  application.registered = true;
  application.response_id = 0;
  application.state = yarn::YarnApplicationState::kRunning;
  application.tracking_url = request.tracking_url;
  yarn::RegisterApplicationMasterResponse response{.maximum_capability = options_.capacity,
                                                   .queue = application.submission.queue};
  for (const auto& [id, container] : application.containers) {
    if (id != application.am_container && application.keeps())
      response.containers_from_previous_attempts.push_back(container);
  }
  response.nm_tokens_from_previous_attempts.push_back(
      {.node = options_.node, .token = {.kind = yarn::TokenKind::kNm, .serial = next_token_++}});
  return response;
}

yarn::RmResponse LocalRm::Allocate(Application& application, const yarn::AllocateRequest& request) {
  if (!application.registered || application.unregistered) {
    return RpcError{.code = RpcErrorCode::kApplicationMasterNotRegistered,
                    .message = "AM is not registered for known application attempt"};
  }
  const std::int32_t next = ResponseIdAfter(application.response_id, 1);
  if (ResponseIdAfter(request.response_id, 1) == application.response_id)
    return application.last_response;
  if (request.response_id != application.response_id) {
    return RpcError{.code = RpcErrorCode::kInvalidApplicationMasterRequest,
                    .message = fmt::format("Invalid responseId in AllocateRequest : expect "
                                           "responseId to be {}, but get {}",
                                           application.response_id, request.response_id)};
  }
  if (auto error = CheckAsks(request)) return std::move(*error);
  for (const ContainerId& container : request.release) Release(application, container);
  TakeAsks(application, request);
  yarn::AllocateResponse response{.response_id = next};
  response.allocated_containers = Grant(application);
  response.completed_containers = std::exchange(application.completed, {});
  response.preempt_strict = std::exchange(application.to_be_preempted, {});
  if (!response.allocated_containers.empty()) {
    response.nm_tokens.push_back(
        {.node = options_.node, .token = {.kind = yarn::TokenKind::kNm, .serial = next_token_++}});
  }
  response.limit = options_.capacity - used_;
  response.num_cluster_nodes = 1;
  application.response_id = next;
  application.last_response = response;
  return response;
}

std::optional<RpcError> LocalRm::CheckAsks(const yarn::AllocateRequest& request) const {
  for (const yarn::ResourceRequest& row : request.ask) {
    const std::string shortage = FirstShortage(row.capability, options_.capacity);
    if (row.num_containers >= 0 && shortage.empty()) continue;
    return RpcError{.code = RpcErrorCode::kInvalidResourceRequest,
                    .message = fmt::format(
                        "Invalid resource request: {} of {} asked for, at most {}",
                        row.num_containers, ToString(row.capability), ToString(options_.capacity))};
  }
  return std::nullopt;
}

void LocalRm::TakeAsks(Application& application, const yarn::AllocateRequest& request) {
  for (const yarn::ResourceRequest& row : request.ask) {
    const AskKey key{row.priority.value_or(0), row.allocation_request_id, row.resource_name};
    if (row.num_containers == 0) {
      application.asks.erase(key);
    } else {
      application.asks[key] = row;
    }
  }
}

// The "*" row counts what is wanted in all. Without relax_locality only rows that name this node or
// its rack may be served, and the rack's only with relax_locality of its own.
std::int32_t LocalRm::Wanted(const Application& application, std::int32_t priority,
                             std::int64_t request_id) const {
  const auto any = application.asks.find({priority, request_id, "*"});
  if (any == application.asks.end()) return 0;
  if (any->second.relax_locality) return any->second.num_containers;
  std::int32_t here = 0;
  const auto node = application.asks.find({priority, request_id, options_.node.host});
  if (node != application.asks.end()) here = node->second.num_containers;
  const auto rack = application.asks.find({priority, request_id, options_.rack});
  if (rack != application.asks.end() && rack->second.relax_locality)
    here = std::max(here, rack->second.num_containers);
  return std::min(here, any->second.num_containers);
}

void LocalRm::CountDown(Application& application, std::int32_t priority, std::int64_t request_id) {
  for (const std::string& name : {std::string("*"), options_.node.host, options_.rack}) {
    const auto row = application.asks.find({priority, request_id, name});
    if (row != application.asks.end() && --row->second.num_containers <= 0)
      application.asks.erase(row);
  }
}

std::vector<yarn::Container> LocalRm::Grant(Application& application) {
  std::vector<yarn::Container> granted;
  std::vector<AskKey> keys;
  for (const auto& [key, row] : application.asks) {
    if (std::get<2>(key) == "*") keys.push_back(key);
  }
  for (const auto& [priority, request_id, name] : keys) {
    const Resource unit = application.asks.at({priority, request_id, name}).capability;
    while (Wanted(application, priority, request_id) > 0 &&
           FitsIn(unit, options_.capacity - used_)) {
      granted.push_back(Allot(application, unit, priority, request_id, false));
      CountDown(application, priority, request_id);
    }
  }
  return granted;
}

void LocalRm::Release(Application& application, const ContainerId& container) {
  if (!application.containers.contains(container) || container == application.am_container) return;
  const std::string why = "Container released by application";
  (void)node_.stop(container, container_exit::kAborted, why);
  Complete(application, container, container_exit::kAborted, why);
  Free(application, container, container_exit::kAborted);
}

yarn::RmResponse LocalRm::Finish(Application& application,
                                 const yarn::FinishApplicationMasterRequest& request) {
  if (!application.registered) {
    return RpcError{.code = RpcErrorCode::kApplicationMasterNotRegistered,
                    .message = "AM is not registered for known application attempt"};
  }
  if (!application.unregistered) {
    application.unregistered = true;
    application.state = yarn::YarnApplicationState::kFinished;
    application.final_status = request.final_status;
    application.diagnostics = request.diagnostics;
    application.tracking_url = request.tracking_url;
  }
  return yarn::FinishApplicationMasterResponse{.is_unregistered = true};
}

}  // namespace tfyarn::hosts
