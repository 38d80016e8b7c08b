// What the RM answers to clients.
//
// Source: ClientRMService.java, RMAppManager.java, RMAppImpl.java.
#include <fmt/format.h>

#include <algorithm>

#include "core/model/check.h"
#include "core/model/probe.h"
#include "fakes/yarn-rm/dominant.h"
#include "fakes/yarn-rm/rm_core.h"

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

std::int64_t Highest(std::int64_t configured, std::int64_t largest_node, bool known) {
  if (configured > 0) return configured;
  return known ? largest_node : INT64_MAX;
}

}  // namespace

yarn::RmResponse RmCore::Answer(const RmCall&, const yarn::GetNewApplicationRequest&) {
  return yarn::GetNewApplicationResponse{.application = {rm_identifier_, next_application_++},
                                         .maximum_capability = MaximumCapability()};
}

// Accepting twice is accepting once, whatever became of the application. An unknown queue is no
// error of the call: the application fails.
yarn::RmResponse RmCore::Answer(const RmCall&, const yarn::SubmitApplicationRequest& request) {
  if (records_.Find(request.application) != nullptr || ended_.count(request.application) > 0) {
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
    RememberEnded({.application = request.application,
                   .state = yarn::YarnApplicationState::kFailed,
                   .final_status = yarn::FinalApplicationStatus::kFailed,
                   .current_attempt = -1,
                   .diagnostics = std::move(diagnostics),
                   .tracking_url = "N/A"});
    return yarn::SubmitApplicationResponse{};
  }
  RmApplication& application = AddApplication(std::move(submission), *queue);
  ReportChanged(application.id);
  StartAttempt(application);
  return yarn::SubmitApplicationResponse{};
}

RmApplication& RmCore::AddApplication(
    std::shared_ptr<const yarn::SubmitApplicationRequest> submission, std::int32_t leaf) {
  auto owned = std::make_unique<RmApplication>();
  RmApplication& application = *owned;
  application.id = submission->application;
  application.submission = std::move(submission);
  const yarn::SubmitApplicationRequest& request = *application.submission;
  application.leaf = leaf;
  application.queue = records_.queues[leaf].path;
  application.user = request.user;
  application.user_number = UserNumber(request.user);
  application.rank = -std::int64_t{request.priority};
  application.sequence = next_sequence_++;
  application.am_resource = Normalized(WithKnownTypes(request.am_resource));
  application.am_partition = PartitionNumber(request.am_node_label);
  application.max_attempts =
      request.max_app_attempts <= 0
          ? records_.options.am_max_attempts
          : std::min(request.max_app_attempts, records_.options.am_max_attempts);
  application.tracking_url = "N/A";
  application.attempt.id = {.application = application.id, .attempt = 0};
  books_.applications.emplace(application.id, &application);
  records_.applications.emplace(application.id, std::move(owned));
  return application;
}

std::optional<RpcError> RmCore::CheckSubmission(
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
  if (!FindPartition(request.am_node_label)) {
    return RpcError{
        .code = RpcErrorCode::kInvalidLabelResourceRequest,
        .message = fmt::format("Invalid label resource request, cluster do not contain , label= {}",
                               request.am_node_label)};
  }
  return CheckCapability(WithKnownTypes(request.am_resource));
}

yarn::RmResponse RmCore::Answer(const RmCall&, const yarn::GetApplicationReportRequest& request) {
  if (const RmApplication* application = records_.Find(request.application)) {
    return yarn::GetApplicationReportResponse{.report = ReportOf(*application)};
  }
  const auto ended = ended_.find(request.application);
  if (ended == ended_.end()) return UnknownApplication(request.application);
  return yarn::GetApplicationReportResponse{.report = ended->second};
}

yarn::ApplicationReport RmCore::ReportOf(const RmApplication& application) const {
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
yarn::RmResponse RmCore::Answer(const RmCall&, const yarn::KillApplicationRequest& request) {
  RmApplication* application = records_.Find(request.application);
  if (application == nullptr) {
    TF_PROBE("yarn/kill-of-an-ended-application");
    if (ended_.count(request.application) == 0) return UnknownApplication(request.application);
    return yarn::KillApplicationResponse{.is_kill_completed = true};
  }
  if (application->phase == ApplicationPhase::kFinishing) {
    TF_PROBE("yarn/kill-while-finishing");
    return yarn::KillApplicationResponse{.is_kill_completed = true};
  }
  std::string diagnostics =
      request.diagnostics.empty() ? "Application killed by user." : request.diagnostics;
  EndApplication(*application, yarn::YarnApplicationState::kKilled,
                 yarn::FinalApplicationStatus::kKilled, std::move(diagnostics));
  return yarn::KillApplicationResponse{.is_kill_completed = false};
}

// Source: ClientRMService.getClusterNodes: a request that names no states means all of them.
yarn::RmResponse RmCore::Answer(const RmCall&, const yarn::GetClusterNodesRequest&) {
  return yarn::GetClusterNodesResponse{.nodes = records_.nodes.Reports()};
}

yarn::RmResponse RmCore::Answer(const RmCall&, const yarn::GetQueueInfoRequest& request) {
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
    response.limits[records_.partitions[p]].maximum = scheduler_->MaximumOf(*queue, partition);
  }
  return response;
}

// ---------------------------------------------------------------- resources, names

// Before a node was seen nothing but the configuration limits; what it does not name reads as the
// largest number (run).
Resource RmCore::MaximumCapability() const {
  const bool known = any_node_seen_ && nodes_awaited_ == 0;
  const Resource& configured = records_.options.maximum_allocation;
  Resource maximum{.memory_mb = Highest(configured.memory_mb, largest_node_.memory_mb, known),
                   .vcores = Highest(configured.vcores, largest_node_.vcores, known),
                   .gpus = Highest(configured.gpus, largest_node_.gpus, known),
                   .others = {}};
  for (const std::string& type : resource_types_) {
    maximum.Set(type, Highest(configured.Get(type), largest_node_.Get(type), known));
  }
  return maximum;
}

// A type that the RM does not know is dropped without a word (run).
Resource RmCore::WithKnownTypes(const Resource& asked) const {
  if (asked.others.empty()) return asked;
  Resource known = asked;
  for (const auto& [name, amount] : asked.others) {
    if (resource_types_.count(name) == 0) known.Set(name, 0);
  }
  return known;
}

// Source: ResourceCalculator.normalize: at least the minimum, in its multiples, at most the
// maximum.
Resource RmCore::Normalized(const Resource& asked) const {
  Resource result = RoundedUp(ComponentMax(asked, records_.options.minimum_allocation),
                              records_.options.minimum_allocation);
  const Resource maximum = MaximumCapability();
  result.memory_mb = std::min(result.memory_mb, std::max(maximum.memory_mb, asked.memory_mb));
  result.vcores = std::min(result.vcores, std::max(maximum.vcores, asked.vcores));
  return result;
}

// Source: SchedulerUtils.throwInvalidResourceException.
std::optional<RpcError> RmCore::CheckCapability(const Resource& asked) const {
  if (AnyNegative(asked)) {
    return RpcError{
        .code = RpcErrorCode::kInvalidResourceRequest,
        .message = fmt::format(
            "Invalid resource request! Cannot allocate containers as requested resource "
            "is less than 0! Requested resource={}",
            ToString(asked))};
  }
  const Resource maximum = MaximumCapability();
  const std::string shortage = FirstShortage(asked, maximum);
  if (shortage.empty()) return std::nullopt;
  TF_PROBE("yarn/ask-beyond-the-largest-node");
  return RpcError{
      .code = RpcErrorCode::kInvalidResourceRequest,
      .message = fmt::format(
          "Invalid resource request! Cannot allocate containers as requested resource is "
          "greater than maximum allowed allocation. Requested resource type=[{}], "
          "Requested resource={}, maximum allowed allocation={}",
          shortage, ToString(asked), ToString(maximum))};
}

std::optional<std::int32_t> RmCore::FindPartition(const std::string& label) const {
  const auto found = std::find(records_.partitions.begin(), records_.partitions.end(), label);
  if (found == records_.partitions.end()) return std::nullopt;
  return static_cast<std::int32_t>(found - records_.partitions.begin());
}

std::int32_t RmCore::PartitionNumber(const std::string& label) {
  if (const auto known = FindPartition(label)) return *known;
  records_.partitions.push_back(label);
  books_.partitions = records_.partitions;
  return static_cast<std::int32_t>(records_.partitions.size()) - 1;
}

std::int32_t RmCore::UserNumber(const std::string& user) {
  return users_.try_emplace(user, static_cast<std::int32_t>(users_.size())).first->second;
}

// Source: RMAppManager.checkAppNumCompletedLimit.
void RmCore::RememberEnded(yarn::ApplicationReport report) {
  const ApplicationId id = report.application;
  Emit(NewsForClient{.application = id});
  Emit(ApplicationEnded{
      .application = id, .state = report.state, .final_status = report.final_status});
  ended_.insert_or_assign(id, std::move(report));
  ended_order_.push_back(id);
  while (static_cast<std::int32_t>(ended_order_.size()) >
         records_.options.max_completed_applications) {
    ended_.erase(ended_order_.front());
    ended_order_.pop_front();
  }
}

}  // namespace tfyarn::fakes
