#include "fakes/yarn-rm/rm_masters.h"

#include <fmt/format.h>

#include <utility>

#include "core/model/probe.h"
#include "core/model/response_id.h"

namespace tfyarn::fakes {
namespace {

using yarn::RpcError;
using yarn::RpcErrorCode;

}  // namespace

std::optional<RpcError> RmMasterService::CheckMaster(const RmCall& call,
                                                     RmApplication*& application) {
  const ApplicationAttemptId& id = call.caller.attempt;
  application = records_.Find(id.application);
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
    if (!records_.amrm_key.Accepts(call.token.key_id) || attempt.amrm_token_expired ||
        !IsAmRmTokenOf(call.token, id)) {
      TF_PROBE("yarn/bad-amrm-token");
      return RpcError{.code = RpcErrorCode::kInvalidToken,
                      .message = "Invalid AMRMToken from " + ToString(id)};
    }
    attempt.amrm_key_used = call.token.key_id;
  } else {
    attempt.amrm_key_used = records_.amrm_key.newest();
  }
  attempt.last_heard = records_.now;
  return std::nullopt;
}

void RmMasterService::Forget(const ForgetRegistration& order) {
  RmApplication* application = records_.Find(order.attempt.application);
  if (application == nullptr || application->attempt.id != order.attempt) return;
  RmAttempt& attempt = application->attempt;
  if (attempt.state != AttemptState::kRunning || !attempt.registered) return;
  TF_PROBE("yarn/registration-is-forgotten");
  attempt.registered = false;
  out_.NewsFor(*application);
}

void RmMasterService::Expire(const ExpireAmRmToken& order) {
  RmApplication* application = records_.Find(order.attempt.application);
  if (application == nullptr || application->attempt.id != order.attempt) return;
  TF_PROBE("yarn/amrm-token-expires");
  application->attempt.amrm_token_expired = true;
  out_.NewsFor(*application);
}

yarn::RmResponse RmMasterService::Answer(const RmCall& call,
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
  applications_.Watch(*application);
  out_.ReportChanged(application->id);

  yarn::RegisterApplicationMasterResponse response{.maximum_capability = records_.limits.Maximum(),
                                                   .queue = application->queue,
                                                   .containers_from_previous_attempts = {},
                                                   .nm_tokens_from_previous_attempts = {}};
  // Newest first (run). Those found later come with an allocate.
  for (auto at = application->containers.rbegin(); at != application->containers.rend(); ++at) {
    BookedContainer& container = at->second;
    if (container.id.application_attempt == attempt.id || container.am) continue;
    response.containers_from_previous_attempts.push_back(
        ToldOf(*application, container, response.nm_tokens_from_previous_attempts));
    TF_PROBE("yarn/containers-of-an-earlier-attempt");
  }
  application->previous_containers.clear();
  if (!application->finished.empty() || !application->newly_allocated.empty())
    out_.NewsFor(*application);
  return response;
}

yarn::RmResponse RmMasterService::Answer(const RmCall& call, const yarn::AllocateRequest& request) {
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
    if (std::exchange(application->news_announced, false)) out_.NewsFor(*application);
    return attempt.last_response.value_or(
        yarn::AllocateResponse{.response_id = attempt.response_id,
                               .limit = HeadroomOf(*application),
                               .num_cluster_nodes = records_.nodes.schedulable()});
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
                                  .num_cluster_nodes = records_.nodes.schedulable()};
  }
  TakeReleases(*application, request.release);
  TakeBlacklist(*application, request);
  TakeAsks(*application, request.ask);
  yarn::AllocateResponse response = FillResponse(*application);
  if (yarn::IsIdle(response)) {
    attempt.last_response.reset();
  } else {
    attempt.last_response = response;
  }
  return response;
}

// The order of things in the answer is that of DefaultAMSProcessor.allocate: what was released
// above is in it.
yarn::AllocateResponse RmMasterService::FillResponse(RmApplication& application) {
  RmAttempt& attempt = application.attempt;
  yarn::AllocateResponse response{.response_id = attempt.response_id};
  for (const FreshGrant& grant : application.newly_allocated) {
    const ContainerId& id = grant.id;
    const auto found = application.containers.find(id);
    if (found == application.containers.end()) continue;
    applications_.Deliver(found->second);
    response.allocated_containers.push_back(ToldOf(application, found->second, response.nm_tokens));
  }
  application.newly_allocated.clear();
  for (const ContainerId& id : application.previous_containers) {
    const auto found = application.containers.find(id);
    if (found == application.containers.end()) continue;
    response.containers_from_previous_attempts.push_back(
        ToldOf(application, found->second, response.nm_tokens));
  }
  application.previous_containers.clear();
  for (const std::int32_t node : application.updated_nodes)
    response.updated_nodes.push_back(ReportOf(records_.nodes.At(node)));
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
  const std::uint32_t newest = records_.amrm_key.newest();
  if (newest != records_.amrm_key.current() && attempt.amrm_key_used != newest) {
    TF_PROBE("yarn/next-amrm-token");
    response.am_rm_token = MakeAmRmToken(newest, attempt.id);
    out_.NewsFor(application);  // said again until the AM uses it
  }
  response.limit = HeadroomOf(application);
  response.num_cluster_nodes = records_.nodes.schedulable();
  // The next allocate says that these were received, and the NMs may forget them.
  if (!application.delivered.empty()) out_.NewsFor(application);
  return response;
}

yarn::Container RmMasterService::ToldOf(RmApplication& application,
                                        const BookedContainer& container,
                                        std::vector<yarn::NmToken>& nm_tokens) {
  const RmNode& node = records_.nodes.At(container.node);
  const std::uint32_t key = records_.nm_key.current();
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
          .token = applications_.TokenOf(container)};
}

// Source: RMAppAttemptImpl.sendFinishedContainersToNM.
void RmMasterService::AcknowledgeDelivered(RmApplication& application) {
  for (const FinishedContainer& finished : application.delivered) {
    if (finished.node < 0) continue;
    RmNode& node = records_.nodes.At(finished.node);
    node.to_remove.push_back(finished.status.id);
    out_.NewsFor(node);
  }
  application.delivered.clear();
}

// All zero until something was served; an AM by hand, which has no container, sees that (run).
Resource RmMasterService::HeadroomOf(const RmApplication& application) const {
  if (!application.attempt.served || !records_.scheduling_allowed()) return {};
  std::set<std::int32_t> partitions{0};
  for (const auto& [key, ask] : application.asks) partitions.insert(ask.partition);
  Resource headroom;
  for (const std::int32_t partition : partitions)
    headroom += applications_.scheduler().HeadroomOf(application, partition);
  return headroom;
}

// False first, true when repeated: the RM stores the final state before it says so. The AM process
// should end by itself; nothing but the liveness watch ends it, and the application's other
// containers live as long.
yarn::RmResponse RmMasterService::Answer(const RmCall& call,
                                         const yarn::FinishApplicationMasterRequest& request) {
  const yarn::ApplicationReport* ended = records_.ended.Find(call.caller.attempt.application);
  if (ended != nullptr && ended->state == yarn::YarnApplicationState::kFinished &&
      ended->current_attempt == call.caller.attempt.attempt) {
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
  applications_.StoreFinal(*application, request.final_status);
  applications_.DropAsks(*application);
  return yarn::FinishApplicationMasterResponse{.is_unregistered = false};
}

}  // namespace tfyarn::fakes
