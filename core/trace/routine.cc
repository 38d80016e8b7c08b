#include "core/trace/routine.h"

namespace tfyarn::trace {
namespace {

bool IsRoutineRequest(const yarn::RmRequest& request) {
  if (const auto* allocate = std::get_if<yarn::AllocateRequest>(&request))
    return yarn::IsIdle(*allocate);
  return std::holds_alternative<yarn::GetApplicationReportRequest>(request);
}

bool IsRoutineResponse(const yarn::RmResponse& response) {
  if (const auto* allocate = std::get_if<yarn::AllocateResponse>(&response))
    return yarn::IsIdle(*allocate);
  return std::holds_alternative<yarn::GetApplicationReportResponse>(response);
}

}  // namespace

bool IsRoutine(const AmEvent& event) {
  if (const auto* reply = std::get_if<RmReplied>(&event)) return IsRoutineResponse(reply->response);
  if (const auto* said = std::get_if<AgentSaid>(&event)) return IsIdle(said->message);
  return std::holds_alternative<DeadlineReached>(event) ||
         std::holds_alternative<HeartbeatsElided>(event) ||
         std::holds_alternative<PeerVouched>(event);
}

bool IsRoutine(const AmAction& action) {
  if (const auto* call = std::get_if<CallRm>(&action)) return IsRoutineRequest(call->request);
  if (const auto* send = std::get_if<SendToAgent>(&action)) return IsIdle(send->message);
  return false;
}

bool IsRoutine(const AgentEvent& event) {
  if (const auto* said = std::get_if<AmSaid>(&event)) return IsIdle(said->message);
  return std::holds_alternative<DeadlineReached>(event) ||
         std::holds_alternative<HeartbeatsElided>(event) ||
         std::holds_alternative<PeerVouched>(event);
}

bool IsRoutine(const AgentAction& action) {
  if (const auto* send = std::get_if<SendToAm>(&action)) return IsIdle(send->message);
  return false;
}

bool IsRoutine(const ClientEvent& event) {
  if (const auto* reply = std::get_if<RmReplied>(&event)) return IsRoutineResponse(reply->response);
  return std::holds_alternative<DeadlineReached>(event) ||
         std::holds_alternative<HeartbeatsElided>(event);
}

bool IsRoutine(const ClientAction& action) {
  if (const auto* call = std::get_if<CallRm>(&action)) return IsRoutineRequest(call->request);
  return false;
}

bool IsRoutine(const Fact& fact) {
  if (const auto* told = std::get_if<AmTold>(&fact)) return IsRoutine(told->event);
  if (const auto* ordered = std::get_if<AmOrdered>(&fact)) return IsRoutine(ordered->action);
  if (const auto* told = std::get_if<AgentTold>(&fact)) return IsRoutine(told->event);
  if (const auto* ordered = std::get_if<AgentOrdered>(&fact)) return IsRoutine(ordered->action);
  if (const auto* told = std::get_if<ClientTold>(&fact)) return IsRoutine(told->event);
  if (const auto* ordered = std::get_if<ClientOrdered>(&fact)) return IsRoutine(ordered->action);
  return false;
}

}  // namespace tfyarn::trace
