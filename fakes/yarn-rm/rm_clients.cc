#include "fakes/yarn-rm/rm_clients.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/model/probe.h"

namespace tfyarn::fakes {
namespace {

using yarn::RpcError;
using yarn::RpcErrorCode;

constexpr std::size_t kMaxTags = 10;
constexpr std::size_t kMaxTagLength = 100;

RpcError UnknownApplication(const ApplicationId& id) {
  return {
      .code = RpcErrorCode::kApplicationNotFound,
      .message = fmt::format(
          "Application with id '{}' doesn't exist in RM. Please check that the job submission was "
          "successful.",
          ToString(id))};
}

}  // namespace

yarn::RmResponse RmClientService::Answer(const RmCall&, const yarn::GetNewApplicationRequest&) {
  return yarn::GetNewApplicationResponse{
      .application = {records_.rm_identifier, next_application_++},
      .maximum_capability = records_.limits.Maximum()};
}

// Accepting twice is accepting once, whatever became of the application. An unknown queue is no
// error of the call: the application fails.
yarn::RmResponse RmClientService::Answer(const RmCall&,
                                         const yarn::SubmitApplicationRequest& request) {
  if (records_.Find(request.application) != nullptr ||
      records_.ended.Find(request.application) != nullptr) {
    TF_PROBE("yarn/submitted-twice");
    return yarn::SubmitApplicationResponse{};
  }
  if (auto error = CheckSubmission(request)) return *error;
  auto submission = std::make_shared<const yarn::SubmitApplicationRequest>(request);
  const auto queue = records_.queues.Find(request.queue);
  if (!queue || !records_.queues[*queue].leaf) {
    std::string diagnostics =
        queue ? fmt::format("Application {} submitted by user : {} to non-leaf queue : {}",
                            ToString(request.application), request.user, request.queue)
              : fmt::format("Application {} submitted by user {} to unknown queue: {}",
                            ToString(request.application), request.user, request.queue);
    applications_.RememberEnded({.application = request.application,
                                 .state = yarn::YarnApplicationState::kFailed,
                                 .final_status = yarn::FinalApplicationStatus::kFailed,
                                 .current_attempt = -1,
                                 .diagnostics = std::move(diagnostics),
                                 .tracking_url = "N/A"});
    return yarn::SubmitApplicationResponse{};
  }
  applications_.Submit(std::move(submission), *queue);
  return yarn::SubmitApplicationResponse{};
}

std::optional<RpcError> RmClientService::CheckSubmission(
    const yarn::SubmitApplicationRequest& request) const {
  if (request.tags.size() > kMaxTags) {
    return RpcError{.code = RpcErrorCode::kYarn,
                    .message = "Too many applicationTags, a maximum of only 10 are allowed!"};
  }
  for (const std::string& tag : request.tags) {
    if (tag.size() > kMaxTagLength) {
      return RpcError{.code = RpcErrorCode::kYarn,
                      .message = fmt::format(
                          "Tag {} is too long, maximum allowed length of a tag is 100", tag)};
    }
    if (!std::all_of(tag.begin(), tag.end(), [](char c) { return c >= ' ' && c <= '~'; })) {
      return RpcError{.code = RpcErrorCode::kYarn,
                      .message = "A tag can only have ASCII characters! Invalid tag - " + tag};
    }
  }
  if (IsZero(request.am_resource)) {
    return RpcError{.code = RpcErrorCode::kInvalidResourceRequest,
                    .message = "Invalid resource request, no resources requested"};
  }
  if (!records_.FindPartition(request.am_node_label)) {
    return RpcError{
        .code = RpcErrorCode::kInvalidLabelResourceRequest,
        .message = fmt::format("Invalid label resource request, cluster do not contain , label= {}",
                               request.am_node_label)};
  }
  return records_.limits.Check(records_.limits.WithKnownTypes(request.am_resource));
}

yarn::RmResponse RmClientService::Answer(const RmCall&,
                                         const yarn::GetApplicationReportRequest& request) {
  if (const RmApplication* application = records_.Find(request.application)) {
    return yarn::GetApplicationReportResponse{.report = ReportOf(*application)};
  }
  const yarn::ApplicationReport* ended = records_.ended.Find(request.application);
  if (ended == nullptr) return UnknownApplication(request.application);
  return yarn::GetApplicationReportResponse{.report = *ended};
}

yarn::ApplicationReport RmClientService::ReportOf(const RmApplication& application) {
  yarn::ApplicationReport report{.application = application.id,
                                 .state = yarn::YarnApplicationState::kAccepted,
                                 .final_status = application.final_status,
                                 .current_attempt = application.attempt.id.attempt,
                                 .diagnostics = application.diagnostics,
                                 .tracking_url = application.tracking_url};
  switch (application.phase) {
    case ApplicationPhase::kAccepted:
      if (report.diagnostics.empty() && application.attempt.state == AttemptState::kScheduled) {
        report.diagnostics =
            application.activated
                ? "Application is Activated, waiting for resources to be assigned for AM."
                : "Application is added to the scheduler and is not yet activated.";
      }
      break;
    case ApplicationPhase::kRunning:
      report.state = yarn::YarnApplicationState::kRunning;
      break;
    case ApplicationPhase::kFinishing:
      report.state = yarn::YarnApplicationState::kFinished;
      break;
  }
  return report;
}

// Asynchronous: the answer says whether it was over when the call came.
yarn::RmResponse RmClientService::Answer(const RmCall&,
                                         const yarn::KillApplicationRequest& request) {
  RmApplication* application = records_.Find(request.application);
  if (application == nullptr) {
    TF_PROBE("yarn/kill-of-an-ended-application");
    if (records_.ended.Find(request.application) == nullptr)
      return UnknownApplication(request.application);
    return yarn::KillApplicationResponse{.is_kill_completed = true};
  }
  if (application->phase == ApplicationPhase::kFinishing) {
    TF_PROBE("yarn/kill-while-finishing");
    return yarn::KillApplicationResponse{.is_kill_completed = true};
  }
  std::string diagnostics =
      request.diagnostics.empty() ? "Application killed by user." : request.diagnostics;
  applications_.End(*application, yarn::YarnApplicationState::kKilled,
                    yarn::FinalApplicationStatus::kKilled, std::move(diagnostics));
  return yarn::KillApplicationResponse{.is_kill_completed = false};
}

// Source: ClientRMService.getClusterNodes: a request that names no states means all of them.
yarn::RmResponse RmClientService::Answer(const RmCall&, const yarn::GetClusterNodesRequest&) {
  return yarn::GetClusterNodesResponse{.nodes = records_.nodes.Reports()};
}

yarn::RmResponse RmClientService::Answer(const RmCall&, const yarn::GetQueueInfoRequest& request) {
  const auto queue = records_.queues.Find(request.queue);
  if (!queue) {
    return yarn::GetQueueInfoResponse{
        .path = request.queue, .is_leaf = false, .exists = false, .limits = {}};
  }
  yarn::GetQueueInfoResponse response{.path = records_.queues[*queue].path,
                                      .is_leaf = records_.queues[*queue].leaf,
                                      .exists = true,
                                      .limits = {}};
  for (std::size_t p = 0; p < records_.partitions.size(); ++p) {
    const auto partition = static_cast<std::int32_t>(p);
    response.limits[records_.partitions[p]].maximum =
        applications_.scheduler().MaximumOf(*queue, partition);
  }
  return response;
}

}  // namespace tfyarn::fakes
