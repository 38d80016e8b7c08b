// The life of an application: its attempts, their AM containers, their ends.
//
// Source: RMAppImpl.java, RMAppAttemptImpl.java, AMLauncher.java.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/model/check.h"
#include "core/model/probe.h"
#include "fakes/yarn-rm/rm_core.h"

namespace tfyarn::fakes {
namespace {

/// Exits by which nobody's AM is to blame. Source:
/// RMAppAttemptImpl.shouldCountTowardsMaxAttemptRetry.
bool CountsAsFailure(std::int32_t exit_status) {
  return exit_status != -100 && exit_status != -101 && exit_status != -102 && exit_status != -106;
}

}  // namespace

void RmCore::StartAttempt(RmApplication& application) {
  const std::int32_t number = application.attempt.id.attempt + 1;
  application.attempt = RmAttempt{.id = {.application = application.id, .attempt = number}};
  application.newly_allocated.clear();
  application.preempt_strict.clear();
  application.preempt_contract.clear();
  // What the last AM was told and did not acknowledge is told again, and its blacklist is the next
  // one's. Source: RMAppAttemptImpl.transferStateFromAttempt,
  // SchedulerApplicationAttempt.transferStateFromPreviousAttempt.
  if (application.keeps_containers()) {
    application.finished.insert(application.finished.begin(), application.delivered.begin(),
                                application.delivered.end());
  } else {
    application.blacklist.clear();
  }
  application.delivered.clear();
  application.news_announced = false;
  AskForAm(application);
  scheduler_->OnAttemptAdded(application);
  if (number > 1) ReportChanged(application.id);
}

// The AM's container is asked for like any other, at priority 0.
void RmCore::AskForAm(RmApplication& application) {
  const AskKey key{.priority = 0, .allocation_request_id = -1};
  AskUpdate update{
      .rows = {{kAnywhere, {.capability = application.am_resource, .count = 1, .relax = true}}},
      .partition = application.am_partition};
  for (const PendingChange& change : UpdateAsk(application.asks, key, update, records_.shapes)) {
    records_.queues.AddPending(application.leaf, change.partition, change.amount);
  }
  application.asks.at(key).am = true;
  scheduler_->OnAsksChanged(application);
}

// ---------------------------------------------------------------- launch

void RmCore::LaunchAm(RmApplication& application) {
  application.attempt.state = AttemptState::kAllocated;
  application.attempt.launch_began = records_.now;
  ReportChanged(application.id);  // It waits for nothing any more.
  CallAmLaunch(application);
}

void RmCore::CallAmLaunch(RmApplication& application) {
  RmAttempt& attempt = application.attempt;
  const auto found = application.containers.find(*attempt.am_container);
  if (found == application.containers.end()) return;
  const BookedContainer& container = found->second;
  const RmNode& node = records_.nodes.At(container.node);
  attempt.launch_call = next_call_++;
  launches_.emplace(attempt.launch_call, application.id);
  yarn::StartContainersRequest request;
  request.containers.push_back({.container = container.id,
                                .container_token = ContainerTokenOf(container),
                                .context = application.submission->am_container});
  Emit(RmCallNm{.id = attempt.launch_call,
                .node = node.id,
                .caller = {.kind = CallerKind::kAm,
                           .user = application.user,
                           .attempt = attempt.id,
                           .node = {}},
                .token = MakeNmToken(nm_key_.key.current, attempt.id, node.id),
                .request = std::move(request)});
}

// Source: AMLauncher.java; an NM that does not answer is tried again for a while (NMProxy.java).
void RmCore::OnLaunchAnswer(RmApplication& application, const NmAnswered& answer) {
  RmAttempt& attempt = application.attempt;
  if (attempt.state != AttemptState::kAllocated) return;
  std::optional<yarn::RpcError> error;
  if (const auto* failed = std::get_if<yarn::RpcError>(&answer.response)) {
    error = *failed;
  } else if (const auto* started = std::get_if<yarn::StartContainersResponse>(&answer.response)) {
    if (!started->failed.empty()) error = started->failed.front().error;
  }
  if (!error) {
    attempt.state = AttemptState::kLaunched;
    attempt.last_heard = records_.now;
    WatchAm(application);
    return;
  }
  const bool again = error->code == yarn::RpcErrorCode::kUnavailable ||
                     error->code == yarn::RpcErrorCode::kNmNotYetReady;
  if (again && records_.now + records_.options.am_launch_retry <=
                   attempt.launch_began + records_.options.am_launch_give_up) {
    attempt.launch_retry_at = records_.now + records_.options.am_launch_retry;
    timers_.insert(TimerOf(*attempt.launch_retry_at, TimerKind::kLaunchRetry, application.id));
    return;
  }
  FailAttempt(
      application, -1000,
      fmt::format("Error launching {}. Got exception: {}", ToString(attempt.id), error->message));
}

// ---------------------------------------------------------------- ends

// Source: RMAppAttemptImpl.AMContainerCrashedTransition, getAMContainerCrashedDiagnostics.
void RmCore::OnAmExited(RmApplication& application, const yarn::ContainerStatus& status) {
  RmAttempt& attempt = application.attempt;
  if (attempt.state == AttemptState::kFinishing) {
    EndApplication(application, yarn::YarnApplicationState::kFinished, application.final_status,
                   application.diagnostics);
    return;
  }
  FailAttempt(application, status.exit_status,
              fmt::format("AM Container for {} exited with  exitCode: {}\nFailing this "
                          "attempt.Diagnostics: {}For more "
                          "detailed output, check the application tracking page: {} Then click on "
                          "links to logs of each "
                          "attempt.\n",
                          ToString(attempt.id), status.exit_status, status.diagnostics,
                          application.tracking_url));
}

// Source: RMAppAttemptImpl.ExpiredTransition; AMFinishingMonitor for one that unregistered.
void RmCore::OnAmExpired(RmApplication& application) {
  RmAttempt& attempt = application.attempt;
  if (attempt.state == AttemptState::kFinishing) {
    EndApplication(application, yarn::YarnApplicationState::kFinished, application.final_status,
                   application.diagnostics);
    return;
  }
  TF_PROBE("yarn/am-expired");
  FailAttempt(application, -1000,
              fmt::format("ApplicationMaster for attempt {} timed out", ToString(attempt.id)));
}

// Source: RMAppImpl.AttemptFailedTransition.
void RmCore::FailAttempt(RmApplication& application, std::int32_t exit_status,
                         const std::string& diagnostics) {
  if (!CountsAsFailure(exit_status)) TF_PROBE("yarn/failure-that-does-not-count");
  if (CountsAsFailure(exit_status)) ++application.counted_failures;
  const bool last = application.counted_failures >= application.max_attempts;
  StopAttempt(application, !last && application.keeps_containers());
  if (last) {
    TF_PROBE("yarn/attempts-used-up");
    const std::string limits =
        records_.options.am_max_attempts == application.max_attempts
            ? std::string()
            : fmt::format(" (global limit ={}; local limit is ={})",
                          records_.options.am_max_attempts, application.max_attempts);
    EndApplication(
        application, yarn::YarnApplicationState::kFailed, yarn::FinalApplicationStatus::kFailed,
        fmt::format("Application {} failed {} times{} due to {}. Failing the application.",
                    ToString(application.id), application.max_attempts, limits, diagnostics));
    return;
  }
  application.phase = ApplicationPhase::kAccepted;
  next_attempts_.push_back(application.id);
}

// The end of an attempt is stored, and the next one added to the scheduler by an event of its own:
// a heartbeat that reports an AM's end has been used by then. Source:
// RMAppAttemptImpl.FinalTransition, CapacityScheduler.nodeUpdate.
void RmCore::StartNextAttempts() {
  for (const ApplicationId& id : std::exchange(next_attempts_, {})) {
    if (RmApplication* application = records_.Find(id)) StartAttempt(*application);
  }
}

// Source: CapacityScheduler.doneApplicationAttempt: of the containers only running ones can be
// kept.
void RmCore::StopAttempt(RmApplication& application, bool keep) {
  RmAttempt& attempt = application.attempt;
  UnwatchAm(application);
  if (attempt.launch_retry_at) {
    timers_.erase(TimerOf(*attempt.launch_retry_at, TimerKind::kLaunchRetry, application.id));
  }
  launches_.erase(attempt.launch_call);
  // Its next heartbeat gets no answer of the usual kind.
  if (attempt.registered && attempt.state != AttemptState::kDone) NewsFor(application);
  attempt.state = AttemptState::kDone;
  DropAsks(application);
  std::vector<ContainerId> ids;
  for (const auto& [id, container] : application.containers) {
    if (!keep || container.state != BookedState::kRunning || container.am) ids.push_back(id);
  }
  for (const ContainerId& id : ids) {
    Complete(application, application.containers.at(id),
             {.exit_status = -100,
              .diagnostics = "Container of a completed application",
              .report = keep});
  }
  if (!keep) application.finished.clear();
  scheduler_->OnAttemptRemoved(application);
}

void RmCore::StoreFinal(RmApplication& application, yarn::FinalApplicationStatus final_status) {
  application.phase = ApplicationPhase::kFinishing;
  application.final_status = final_status;
  Emit(ApplicationEnded{.application = application.id,
                        .state = yarn::YarnApplicationState::kFinished,
                        .final_status = final_status});
  ReportChanged(application.id);
}

// Source: RMAppImpl.FinalTransition: every node that ran it is told.
void RmCore::EndApplication(RmApplication& application, yarn::YarnApplicationState state,
                            yarn::FinalApplicationStatus final_status, std::string diagnostics) {
  if (application.attempt.state != AttemptState::kDone) StopAttempt(application, false);
  const bool stored = application.phase == ApplicationPhase::kFinishing;
  yarn::ApplicationReport report{.application = application.id,
                                 .state = state,
                                 .final_status = final_status,
                                 .current_attempt = application.attempt.id.attempt,
                                 .diagnostics = std::move(diagnostics),
                                 .tracking_url = application.tracking_url};
  for (const std::int32_t index : application.nodes) {
    RmNode& node = records_.nodes.At(index);
    if (node.applications.erase(application.id) == 0) continue;
    node.applications_to_cleanup.push_back(application.id);
    NewsFor(node);
  }
  const ApplicationId id = application.id;
  books_.applications.erase(id);
  records_.applications.erase(id);
  if (stored) {
    // Clients and checkers heard of the end when it was stored.
    ended_.insert_or_assign(id, std::move(report));
    ended_order_.push_back(id);
    while (static_cast<std::int32_t>(ended_order_.size()) >
           records_.options.max_completed_applications) {
      ended_.erase(ended_order_.front());
      ended_order_.pop_front();
    }
    return;
  }
  RememberEnded(std::move(report));
}

}  // namespace tfyarn::fakes
