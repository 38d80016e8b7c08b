// What becomes of applications, their AM attempts and their containers.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/model/check.h"
#include "core/model/exit.h"
#include "core/model/text.h"
#include "hosts/local/local_rm.h"

namespace tfyarn::hosts {
namespace {

using yarn::FinalApplicationStatus;
using yarn::RpcError;
using yarn::RpcErrorCode;
using yarn::YarnApplicationState;

}  // namespace

yarn::RmResponse LocalRm::Submit(const yarn::SubmitApplicationRequest& request, Instant now) {
  if (applications_.contains(request.application)) return yarn::SubmitApplicationResponse{};
  if (!FitsIn(request.am_resource, options_.capacity)) {
    return RpcError{
        .code = RpcErrorCode::kInvalidResourceRequest,
        .message = fmt::format("the AM needs {}, this machine has {}",
                               ToString(request.am_resource), ToString(options_.capacity))};
  }
  Application& application = applications_[request.application];
  application.id = request.application;
  application.submission = request;
  StartAttempt(application, now);
  return yarn::SubmitApplicationResponse{};
}

yarn::RmResponse LocalRm::Kill(const yarn::KillApplicationRequest& request) {
  const auto found = applications_.find(request.application);
  if (found == applications_.end()) {
    return RpcError{.code = RpcErrorCode::kApplicationNotFound,
                    .message = fmt::format("Application with id '{}' doesn't exist in RM.",
                                           ToString(request.application))};
  }
  Application& application = found->second;
  if (application.state == YarnApplicationState::kAccepted ||
      application.state == YarnApplicationState::kRunning) {
    Over(application, YarnApplicationState::kKilled, FinalApplicationStatus::kKilled,
         request.diagnostics);
    application.killed = true;
    // It had not started: no end of it will be told.
    if (!application.containers.contains(application.am_container)) {
      node_.observe(trace::ApplicationEnded{.job = trace::kOnlyJob,
                                            .application = application.id,
                                            .final_status = application.final_status});
    }
  }
  return yarn::KillApplicationResponse{.is_kill_completed = application.containers.empty()};
}

void LocalRm::StartAttempt(Application& application, Instant now) {
  ++application.attempt;
  application.registered = false;
  application.heard = now;
  application.response_id = 0;
  application.last_response = {};
  application.asks.clear();
  application.to_be_preempted.clear();
  application.state = YarnApplicationState::kAccepted;
  application.next_container = 1;
  application.am_container = Allot(application, application.submission.am_resource, 0, -1, true).id;
  node_.launch_am(application.am_container, application.submission.am_resource,
                  application.submission.am_container);
}

const yarn::Container& LocalRm::Allot(Application& application, const Resource& resource,
                                      std::int32_t priority, std::int64_t request_id, bool am) {
  const ContainerId id{
      .application_attempt = {.application = application.id, .attempt = application.attempt},
      .id = application.next_container++};
  used_ += resource;
  node_.observe(trace::ContainerGranted{.job = trace::kOnlyJob,
                                        .container = id,
                                        .node = options_.node,
                                        .resource = resource,
                                        .am = am});
  return application.containers[id] = {
             .id = id,
             .node = options_.node,
             .resource = resource,
             .priority = priority,
             .allocation_request_id = request_id,
             .token = {.kind = yarn::TokenKind::kContainer, .serial = next_token_++}};
}

void LocalRm::Free(Application& application, const ContainerId& container,
                   std::int32_t exit_status) {
  const auto held = application.containers.find(container);
  TF_CHECK(held != application.containers.end());
  used_ -= held->second.resource;
  application.containers.erase(held);
  node_.observe(trace::ContainerFreed{
      .job = trace::kOnlyJob, .container = container, .exit_status = exit_status});
}

std::optional<Resource> LocalRm::GrantOf(const ContainerId& container) const {
  const auto application = applications_.find(container.application_attempt.application);
  if (application == applications_.end()) return std::nullopt;
  const auto held = application->second.containers.find(container);
  if (held == application->second.containers.end()) return std::nullopt;
  return held->second.resource;
}

std::optional<ContainerId> LocalRm::AmContainer() const {
  for (const auto& [id, application] : applications_) {
    if (application.containers.contains(application.am_container)) return application.am_container;
  }
  return std::nullopt;
}

bool LocalRm::idle() const {
  for (const auto& [id, application] : applications_) {
    if (!application.containers.empty()) return false;
  }
  return true;
}

void LocalRm::ContainerEnded(const ContainerId& container, std::int32_t exit_status,
                             const std::string& diagnostics, Instant now) {
  const auto found = applications_.find(container.application_attempt.application);
  if (found == applications_.end()) return;
  Application& application = found->second;
  if (!application.containers.contains(container)) return;  // It was released.
  Free(application, container, exit_status);
  if (container == application.am_container)
    return AmEnded(application, exit_status, diagnostics, now);
  Complete(application, container, exit_status, diagnostics);
}

void LocalRm::Complete(Application& application, const ContainerId& container,
                       std::int32_t exit_status, const std::string& diagnostics) {
  if (!application.keeps() && container.application_attempt.attempt != application.attempt) return;
  application.completed.push_back({.id = container,
                                   .state = yarn::ContainerState::kComplete,
                                   .exit_status = exit_status,
                                   .diagnostics = diagnostics});
}

void LocalRm::AnnouncePreemption(const ContainerId& container) {
  const auto found = applications_.find(container.application_attempt.application);
  if (found == applications_.end() || !found->second.containers.contains(container)) return;
  found->second.to_be_preempted.push_back(container);
}

void LocalRm::Preempt(const ContainerId& container) {
  const auto found = applications_.find(container.application_attempt.application);
  if (found == applications_.end() || !found->second.containers.contains(container)) return;
  const std::string why = "Container preempted by scheduler";
  if (node_.stop(container, container_exit::kPreempted, why)) return;
  Free(found->second, container, container_exit::kPreempted);
  found->second.completed.push_back({.id = container,
                                     .state = yarn::ContainerState::kComplete,
                                     .exit_status = container_exit::kPreempted,
                                     .diagnostics = why});
}

void LocalRm::AmEnded(Application& application, std::int32_t exit_status,
                      const std::string& diagnostics, Instant now) {
  if (application.unregistered || application.killed) {
    StopAll(application, container_exit::kKilledAfterAppCompletion, "the application has ended");
    node_.observe(trace::ApplicationEnded{.job = trace::kOnlyJob,
                                          .application = application.id,
                                          .final_status = application.final_status});
    return;
  }
  const std::int32_t allowed = application.submission.max_app_attempts > 0
                                   ? application.submission.max_app_attempts
                                   : options_.am_attempts;
  if (application.attempt < allowed) {
    LetGo(application);
    return StartAttempt(application, now);
  }
  Over(application, YarnApplicationState::kFailed, FinalApplicationStatus::kFailed,
       fmt::format("Application {} failed {} times due to AM Container for {} exited with  "
                   "exitCode: {}{}{}",
                   ToString(application.id), application.attempt,
                   ToString(application.am_container.application_attempt), exit_status,
                   diagnostics.empty() ? "" : ": ", diagnostics));
  node_.observe(trace::ApplicationEnded{.job = trace::kOnlyJob,
                                        .application = application.id,
                                        .final_status = application.final_status});
}

// Source: CapacityScheduler.doneApplicationAttempt.
void LocalRm::LetGo(Application& application) {
  const std::string why = "Container of a completed application";
  if (!application.keeps()) {
    application.completed.clear();
    return StopAll(application, container_exit::kAborted, why);
  }
  std::vector<ContainerId> idle;
  for (const auto& [id, container] : application.containers) {
    if (!node_.started(id)) idle.push_back(id);
  }
  for (const ContainerId& id : idle) {
    Complete(application, id, container_exit::kAborted, why);
    Free(application, id, container_exit::kAborted);
  }
}

void LocalRm::Over(Application& application, YarnApplicationState state,
                   FinalApplicationStatus status, std::string diagnostics) {
  application.state = state;
  application.final_status = status;
  application.diagnostics = std::move(diagnostics);
  StopAll(application, container_exit::kKilledAfterAppCompletion, "the application has ended");
}

void LocalRm::StopAll(Application& application, std::int32_t exit_status, const std::string& why) {
  std::vector<ContainerId> never_started;
  for (const auto& [id, container] : application.containers) {
    if (!node_.stop(id, exit_status, why)) never_started.push_back(id);
  }
  for (const ContainerId& id : never_started) Free(application, id, exit_status);
}

void LocalRm::ExpireAms(Instant now, Duration late) {
  for (auto& [id, application] : applications_) {
    application.heard = std::min(now, application.heard + late);
    if (application.unregistered || !application.containers.contains(application.am_container))
      continue;
    if (now - application.heard < options_.am_expiry) continue;
    application.heard = now;
    (void)node_.stop(application.am_container, container_exit::kAborted,
                     fmt::format("AM {} has not called for {}",
                                 ToString(application.am_container.application_attempt),
                                 ToString(options_.am_expiry)));
  }
}

}  // namespace tfyarn::hosts
