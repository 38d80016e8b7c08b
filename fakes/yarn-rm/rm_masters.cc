// What the RM answers to ApplicationMasters.
//
// Source: ApplicationMasterService.java, DefaultAMSProcessor.java, SchedulerApplicationAttempt.java
// (3.4.1).
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/model/check.h"
#include "core/model/probe.h"
#include "core/model/response_id.h"
#include "fakes/yarn-rm/rm_core.h"

namespace tfyarn::fakes {
namespace {

using yarn::RpcError;
using yarn::RpcErrorCode;

}  // namespace

std::optional<RpcError> RmCore::CheckMaster(const RmCall& call, RmApplication*& application) {
  const ApplicationAttemptId& id = call.caller.attempt;
  application = FindApplication(id.application);
  const bool current = application != nullptr && application->attempt.id == id &&
                       application->attempt.state != AttemptState::kDone;
  if (!current && !std::holds_alternative<yarn::AllocateRequest>(call.request)) {
    TF_PROBE("yarn/call-of-no-attempt");
    // Source: ApplicationMasterService.throwApplicationDoesNotExistInCacheException.
    return RpcError{.code = RpcErrorCode::kInvalidApplicationMasterRequest,
                    .message = "Application doesn't exist in cache " + ToString(id)};
  }
  if (!current) {
    return RpcError{.code = RpcErrorCode::kApplicationAttemptNotFound,
                    .message = fmt::format(
                        "Application attempt {} doesn't exist in ApplicationMasterService cache.",
                        ToString(id))};
  }
  RmAttempt& attempt = application->attempt;
  if (call.token.kind != yarn::TokenKind::kNone) {
    const StoredKey& key = amrm_key_.key;
    const bool key_known = call.token.key_id == key.current || call.token.key_id == key.next;
    if (!key_known || attempt.amrm_token_expired || !IsAmRmTokenOf(call.token, id)) {
      TF_PROBE("yarn/bad-amrm-token");
      return RpcError{.code = RpcErrorCode::kInvalidToken,
                      .message = "Invalid AMRMToken from " + ToString(id)};
    }
    attempt.amrm_key_used = call.token.key_id;
  } else {
    attempt.amrm_key_used = amrm_key_.key.next.value_or(amrm_key_.key.current);
  }
  attempt.last_heard = now_;
  return std::nullopt;
}

void RmCore::On(const ForgetRegistration& order) {
  RmApplication* application = FindApplication(order.attempt.application);
  if (application == nullptr || application->attempt.id != order.attempt) return;
  RmAttempt& attempt = application->attempt;
  if (attempt.state != AttemptState::kRunning || !attempt.registered) return;
  TF_PROBE("yarn/registration-is-forgotten");
  attempt.registered = false;
  NewsFor(*application);
}

void RmCore::On(const ExpireAmRmToken& order) {
  RmApplication* application = FindApplication(order.attempt.application);
  if (application == nullptr || application->attempt.id != order.attempt) return;
  TF_PROBE("yarn/amrm-token-expires");
  application->attempt.amrm_token_expired = true;
  NewsFor(*application);
}

yarn::RmResponse RmCore::Answer(const RmCall& call,
                                const yarn::RegisterApplicationMasterRequest& request) {
  RmApplication* application = nullptr;
  if (auto error = CheckMaster(call, application)) return *error;
  RmAttempt& attempt = application->attempt;
  if (attempt.registered) {
    TF_PROBE("yarn/registered-twice");
    return RpcError{
        .code = RpcErrorCode::kInvalidApplicationMasterRequest,
        .message = "Application Master is already registered : " + ToString(application->id)};
  }
  const bool again =
      attempt.state == AttemptState::kRunning || attempt.state == AttemptState::kFinishing;
  attempt.registered = true;
  attempt.response_id = 0;
  attempt.last_response.reset();
  if (!again) attempt.state = AttemptState::kRunning;
  if (application->phase == ApplicationPhase::kAccepted)
    application->phase = ApplicationPhase::kRunning;
  application->tracking_url = request.tracking_url.empty() ? "N/A" : request.tracking_url;
  WatchAm(*application);
  ReportChanged(application->id);

  yarn::RegisterApplicationMasterResponse response{.maximum_capability = MaximumCapability(),
                                                   .queue = application->queue,
                                                   .containers_from_previous_attempts = {},
                                                   .nm_tokens_from_previous_attempts = {}};
  // Newest first (run). Those found later come with an allocate.
  for (auto at = application->containers.rbegin(); at != application->containers.rend(); ++at) {
    BookedContainer& container = at->second;
    if (container.id.application_attempt == attempt.id || container.am) continue;
    response.containers_from_previous_attempts.push_back(
        DeliverContainer(*application, container, response.nm_tokens_from_previous_attempts));
    TF_PROBE("yarn/containers-of-an-earlier-attempt");
  }
  application->previous_containers.clear();
  if (!application->finished.empty() || !application->newly_allocated.empty())
    NewsFor(*application);
  return response;
}

yarn::RmResponse RmCore::Answer(const RmCall& call, const yarn::AllocateRequest& request) {
  RmApplication* application = nullptr;
  if (auto error = CheckMaster(call, application)) return *error;
  RmAttempt& attempt = application->attempt;
  if (!attempt.registered) {
    return RpcError{
        .code = RpcErrorCode::kApplicationMasterNotRegistered,
        .message = fmt::format(
            "AM is not registered for known application attempt: {} or RM had restarted "
            "after AM registered. AM should re-register.",
            ToString(attempt.id))};
  }
  if (ResponseIdAfter(request.response_id, 1) == attempt.response_id) {
    TF_PROBE("yarn/allocate-repeated");
    // News since then is not in this answer.
    if (std::exchange(application->news_announced, false)) NewsFor(*application);
    return attempt.last_response.value_or(
        yarn::AllocateResponse{.response_id = attempt.response_id,
                               .limit = HeadroomOf(*application),
                               .num_cluster_nodes = capacity_.schedulable_nodes});
  }
  if (request.response_id != attempt.response_id) {
    return RpcError{
        .code = RpcErrorCode::kInvalidApplicationMasterRequest,
        .message = fmt::format(
            "Invalid responseId in AllocateRequest from application attempt: {}, expect "
            "responseId to be {}, but get {}",
            ToString(attempt.id), attempt.response_id, request.response_id)};
  }
  const bool finishing = attempt.state == AttemptState::kFinishing;
  if (!finishing) {
    if (auto error = CheckAllocate(*application, request)) return *error;
  }
  AcknowledgeDelivered(*application);
  application->news_announced = false;
  attempt.response_id = ResponseIdAfter(attempt.response_id, 1);
  if (finishing) {
    attempt.last_response.reset();
    return yarn::AllocateResponse{.response_id = attempt.response_id,
                                  .num_cluster_nodes = capacity_.schedulable_nodes};
  }
  TakeReleases(*application, request.release);
  TakeBlacklist(*application, request);
  TakeAsks(*application, request.ask);
  yarn::AllocateResponse response = FillResponse(*application, call);
  if (yarn::IsIdle(response)) {
    attempt.last_response.reset();
  } else {
    attempt.last_response = response;
  }
  return response;
}

// The order of things in the answer is that of DefaultAMSProcessor.allocate: what was released
// above is in it.
yarn::AllocateResponse RmCore::FillResponse(RmApplication& application, const RmCall&) {
  RmAttempt& attempt = application.attempt;
  yarn::AllocateResponse response{.response_id = attempt.response_id};
  for (const FreshGrant& grant : application.newly_allocated) {
    const ContainerId& id = grant.id;
    const auto found = application.containers.find(id);
    if (found == application.containers.end()) continue;
    found->second.state = BookedState::kAcquired;
    unstarted_.emplace_back(now_ + options_.container_expiry, id);
    response.allocated_containers.push_back(
        DeliverContainer(application, found->second, response.nm_tokens));
  }
  application.newly_allocated.clear();
  for (const ContainerId& id : application.previous_containers) {
    const auto found = application.containers.find(id);
    if (found == application.containers.end()) continue;
    response.containers_from_previous_attempts.push_back(
        DeliverContainer(application, found->second, response.nm_tokens));
  }
  application.previous_containers.clear();
  for (const std::int32_t node : application.updated_nodes)
    response.updated_nodes.push_back(ReportOf(NodeAt(node)));
  application.updated_nodes.clear();
  application.delivered = std::move(application.finished);
  application.finished.clear();
  for (const FinishedContainer& finished : application.delivered) {
    response.completed_containers.push_back(finished.status);
  }
  response.preempt_strict = std::move(application.preempt_strict);
  application.preempt_strict.clear();
  response.preempt_contract = std::move(application.preempt_contract);
  application.preempt_contract.clear();
  if (amrm_key_.key.next && attempt.amrm_key_used != *amrm_key_.key.next) {
    TF_PROBE("yarn/next-amrm-token");
    response.am_rm_token = MakeAmRmToken(*amrm_key_.key.next, attempt.id);
    NewsFor(application);  // said again until the AM uses it
  }
  response.limit = HeadroomOf(application);
  response.num_cluster_nodes = capacity_.schedulable_nodes;
  // The next allocate says that these were received, and the NMs may forget them.
  if (!application.delivered.empty()) NewsFor(application);
  return response;
}

yarn::Container RmCore::DeliverContainer(RmApplication& application,
                                         const BookedContainer& container,
                                         std::vector<yarn::NmToken>& nm_tokens) {
  const RmNode& node = NodeAt(container.node);
  const std::uint32_t key = nm_key_.key.current;
  const auto [sent, is_new] = application.attempt.nm_tokens_sent.try_emplace(node.index, key);
  if (is_new || sent->second != key) {
    sent->second = key;
    nm_tokens.push_back(
        {.node = node.id, .token = MakeNmToken(key, application.attempt.id, node.id)});
  }
  return {.id = container.id,
          .node = node.id,
          .resource = container.resource,
          .priority = container.priority,
          .allocation_request_id = container.allocation_request_id,
          .token = ContainerTokenOf(container)};
}

// Source: RMAppAttemptImpl.sendFinishedContainersToNM.
void RmCore::AcknowledgeDelivered(RmApplication& application) {
  for (const FinishedContainer& finished : application.delivered) {
    if (finished.node < 0) continue;
    RmNode& node = NodeAt(finished.node);
    node.to_remove.push_back(finished.status.id);
    NewsFor(node);
  }
  application.delivered.clear();
}

// All zero until something was served; an AM by hand, which has no container, sees that (run).
Resource RmCore::HeadroomOf(const RmApplication& application) const {
  if (!application.attempt.served || !SchedulingAllowed()) return {};
  std::set<std::int32_t> partitions{0};
  for (const auto& [key, ask] : application.asks) partitions.insert(ask.partition);
  Resource headroom;
  for (const std::int32_t partition : partitions) {
    if (!is_capacity()) {
      headroom += queues_.Headroom(queues_.root(), partition);
      continue;
    }
    Resource left = queues_.Headroom(application.leaf, partition);
    Resource user = queues_.UserLimit(application.leaf, partition);
    const auto& users = queues_[application.leaf].users;
    if (const auto own = users.find(application.user_number); own != users.end())
      user -= own->second.used[partition];
    left.memory_mb = std::clamp<std::int64_t>(user.memory_mb, 0, left.memory_mb);
    left.vcores = std::clamp<std::int64_t>(user.vcores, 0, left.vcores);
    left.gpus = std::clamp<std::int64_t>(user.gpus, 0, left.gpus);
    headroom += left;
  }
  return headroom;
}

// False first, true when repeated: the RM stores the final state before it says so. The AM process
// should end by itself; nothing but the liveness watch ends it, and the application's other
// containers live as long.
yarn::RmResponse RmCore::Answer(const RmCall& call,
                                const yarn::FinishApplicationMasterRequest& request) {
  const auto ended = ended_.find(call.caller.attempt.application);
  if (ended != ended_.end() && ended->second.state == yarn::YarnApplicationState::kFinished &&
      ended->second.current_attempt == call.caller.attempt.attempt) {
    return yarn::FinishApplicationMasterResponse{.is_unregistered = true};
  }
  RmApplication* application = nullptr;
  if (auto error = CheckMaster(call, application)) return *error;
  RmAttempt& attempt = application->attempt;
  if (attempt.state == AttemptState::kFinishing) {
    return yarn::FinishApplicationMasterResponse{.is_unregistered = true};
  }
  if (!attempt.registered) {
    return RpcError{
        .code = RpcErrorCode::kApplicationMasterNotRegistered,
        .message = "Application Master is trying to unregister before registering for: " +
                   ToString(application->id)};
  }
  attempt.state = AttemptState::kFinishing;
  application->diagnostics = request.diagnostics;
  if (!request.tracking_url.empty()) application->tracking_url = request.tracking_url;
  StoreFinal(*application, request.final_status);
  DropAsks(*application);
  return yarn::FinishApplicationMasterResponse{.is_unregistered = false};
}

}  // namespace tfyarn::fakes
