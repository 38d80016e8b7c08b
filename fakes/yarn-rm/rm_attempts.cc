// The life of an application: its attempts, their AM containers, their ends.
//
// Source: RMAppImpl.java, RMAppAttemptImpl.java, AMLauncher.java.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/model/check.h"
#include "core/model/probe.h"
#include "fakes/yarn-rm/rm_applications.h"

namespace tfyarn::fakes {
namespace {

/// Exits by which nobody's AM is to blame. Source:
/// RMAppAttemptImpl.shouldCountTowardsMaxAttemptRetry.
bool CountsAsFailure(std::int32_t exit_status) {
  return exit_status != -100 && exit_status != -101 && exit_status != -102 && exit_status != -106;
}

}  // namespace

RmApplications::RmApplications(RmRecords& records, RmOutbox& out, RmTimers& timers,
                               std::uint64_t seed)
    : RmContext(records),
      out_(out),
      timers_(timers),
      scheduler_(MakeScheduler(records.options.scheduler, *this, seed)) {}

// ---------------------------------------------------------------- begins

void RmApplications::Submit(std::shared_ptr<const yarn::SubmitApplicationRequest> submission,
                            std::int32_t leaf) {
  RmApplication& application = Add(std::move(submission), leaf);
  out_.ReportChanged(application.id);
  StartAttempt(application);
}

RmApplication& RmApplications::Add(std::shared_ptr<const yarn::SubmitApplicationRequest> submission,
                                   std::int32_t leaf) {
  auto owned = std::make_unique<RmApplication>();
  RmApplication& application = *owned;
  application.id = submission->application;
  application.submission = std::move(submission);
  const yarn::SubmitApplicationRequest& request = *application.submission;
  application.leaf = leaf;
  application.queue = records_.queues[leaf].path;
  application.user = request.user;
  application.user_number = records_.users.Of(request.user);
  application.rank = -std::int64_t{request.priority};
  application.sequence = next_sequence_++;
  application.am_resource =
      records_.limits.Normalized(records_.limits.WithKnownTypes(request.am_resource));
  application.am_partition = records_.PartitionNumber(request.am_node_label);
  application.max_attempts =
      request.max_app_attempts <= 0
          ? records_.options.am_max_attempts
          : std::min(request.max_app_attempts, records_.options.am_max_attempts);
  application.tracking_url = "N/A";
  application.attempt.id = {.application = application.id, .attempt = 0};
  records_.books.applications.emplace(application.id, &application);
  records_.applications.emplace(application.id, std::move(owned));
  return application;
}

void RmApplications::Recover(const StoredApplication& stored) {
  const auto leaf = records_.queues.Find(stored.submission->queue);
  TF_CHECK(leaf.has_value());
  RmApplication& application = Add(stored.submission, *leaf);
  application.counted_failures = stored.counted_failures;
  application.diagnostics = stored.diagnostics;
  application.tracking_url = stored.tracking_url;
  application.final_status = stored.final_status;
  if (!stored.am_container) {
    TF_PROBE("yarn/recovered-before-its-am");
    application.attempt.id.attempt = stored.attempt - 1;
    StartAttempt(application);
    return;
  }
  RmAttempt& attempt = application.attempt;
  if (stored.finishing) TF_PROBE("yarn/recovered-while-finishing");
  attempt.id.attempt = stored.attempt;
  attempt.am_container = stored.am_container;
  attempt.state = stored.finishing ? AttemptState::kFinishing : AttemptState::kLaunched;
  application.phase = stored.finishing ? ApplicationPhase::kFinishing : ApplicationPhase::kAccepted;
  if (!stored.finishing) application.diagnostics = "Attempt recovered after RM restart";
  attempt.last_heard = records_.now;
  scheduler_->OnAttemptRecovered(application);
  Watch(application);
}

void RmApplications::StartAttempt(RmApplication& application) {
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
  if (number > 1) out_.ReportChanged(application.id);
}

// The AM's container is asked for like any other, at priority 0.
void RmApplications::AskForAm(RmApplication& application) {
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

void RmApplications::LaunchAm(RmApplication& application) {
  application.attempt.state = AttemptState::kAllocated;
  application.attempt.launch_began = records_.now;
  out_.ReportChanged(application.id);  // It waits for nothing any more.
  CallAmLaunch(application);
}

void RmApplications::CallAmLaunch(RmApplication& application) {
  RmAttempt& attempt = application.attempt;
  const auto found = application.containers.find(*attempt.am_container);
  if (found == application.containers.end()) return;
  const BookedContainer& container = found->second;
  const RmNode& node = records_.nodes.At(container.node);
  attempt.launch_call = next_call_++;
  launches_.emplace(attempt.launch_call, application.id);
  yarn::StartContainersRequest request;
  request.containers.push_back({.container = container.id,
                                .container_token = TokenOf(container),
                                .context = application.submission->am_container});
  out_.Emit(RmCallNm{.id = attempt.launch_call,
                     .node = node.id,
                     .caller = {.kind = CallerKind::kAm,
                                .user = application.user,
                                .attempt = attempt.id,
                                .node = {}},
                     .token = MakeNmToken(records_.nm_key.current(), attempt.id, node.id),
                     .request = std::move(request)});
}

void RmApplications::OnLaunchAnswer(const NmAnswered& answer) {
  const auto launch = launches_.find(answer.id);
  if (launch == launches_.end()) {
    out_.Note("answer to a start that is no longer awaited");
    return;
  }
  RmApplication* application = records_.Find(launch->second);
  launches_.erase(launch);
  if (application == nullptr || application->attempt.launch_call != answer.id) return;
  TakeLaunchAnswer(*application, answer);
}

// Source: AMLauncher.java; an NM that does not answer is tried again for a while (NMProxy.java).
void RmApplications::TakeLaunchAnswer(RmApplication& application, const NmAnswered& answer) {
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
    Watch(application);
    return;
  }
  const bool again = error->code == yarn::RpcErrorCode::kUnavailable ||
                     error->code == yarn::RpcErrorCode::kNmNotYetReady;
  if (again && records_.now + records_.options.am_launch_retry <=
                   attempt.launch_began + records_.options.am_launch_give_up) {
    attempt.launch_retry_at = records_.now + records_.options.am_launch_retry;
    timers_.Set(*attempt.launch_retry_at, RmTimers::Kind::kLaunchRetry, application.id);
    return;
  }
  FailAttempt(
      application, -1000,
      fmt::format("Error launching {}. Got exception: {}", ToString(attempt.id), error->message));
}

void RmApplications::OnLaunchRetry(const ApplicationId& id, Instant at) {
  RmApplication* application = records_.Find(id);
  if (application == nullptr || application->attempt.launch_retry_at != at) return;
  application->attempt.launch_retry_at.reset();
  CallAmLaunch(*application);
}

// ---------------------------------------------------------------- watch

void RmApplications::Watch(RmApplication& application) {
  RmAttempt& attempt = application.attempt;
  const bool alive = attempt.state == AttemptState::kLaunched ||
                     attempt.state == AttemptState::kRunning ||
                     attempt.state == AttemptState::kFinishing;
  if (attempt.vouched || attempt.watched_until || !alive) return;
  attempt.watched_until = attempt.last_heard + records_.options.am_expiry;
  timers_.Set(*attempt.watched_until, RmTimers::Kind::kAmExpiry, application.id);
}

void RmApplications::Unwatch(RmApplication& application) {
  if (!application.attempt.watched_until) return;
  timers_.Cancel(*application.attempt.watched_until, RmTimers::Kind::kAmExpiry, application.id);
  application.attempt.watched_until.reset();
}

void RmApplications::OnVouched(const AmVouched& vouched) {
  RmApplication* application = records_.Find(vouched.attempt.application);
  if (application == nullptr || application->attempt.id != vouched.attempt) return;
  application->attempt.vouched = vouched.vouched;
  if (vouched.vouched) {
    Unwatch(*application);
  } else {
    application->attempt.last_heard = std::max(application->attempt.last_heard, vouched.last);
    Watch(*application);
  }
}

// A watch is armed anew only when it is over, for what was heard meanwhile.
void RmApplications::OnWatchOver(const ApplicationId& id, Instant at) {
  RmApplication* application = records_.Find(id);
  if (application == nullptr || application->attempt.vouched) return;
  application->attempt.watched_until.reset();
  if (application->attempt.last_heard + records_.options.am_expiry > at) {
    Watch(*application);
  } else {
    OnAmExpired(*application);
  }
}

// ---------------------------------------------------------------- ends

// Source: RMAppAttemptImpl.AMContainerCrashedTransition, getAMContainerCrashedDiagnostics.
void RmApplications::OnAmExited(RmApplication& application, const yarn::ContainerStatus& status) {
  RmAttempt& attempt = application.attempt;
  if (attempt.state == AttemptState::kFinishing) {
    End(application, yarn::YarnApplicationState::kFinished, application.final_status,
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
void RmApplications::OnAmExpired(RmApplication& application) {
  RmAttempt& attempt = application.attempt;
  if (attempt.state == AttemptState::kFinishing) {
    End(application, yarn::YarnApplicationState::kFinished, application.final_status,
        application.diagnostics);
    return;
  }
  TF_PROBE("yarn/am-expired");
  FailAttempt(application, -1000,
              fmt::format("ApplicationMaster for attempt {} timed out", ToString(attempt.id)));
}

// Source: RMAppImpl.AttemptFailedTransition.
void RmApplications::FailAttempt(RmApplication& application, std::int32_t exit_status,
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
    End(application, yarn::YarnApplicationState::kFailed, yarn::FinalApplicationStatus::kFailed,
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
void RmApplications::StartNextAttempts() {
  for (const ApplicationId& id : std::exchange(next_attempts_, {})) {
    if (RmApplication* application = records_.Find(id)) StartAttempt(*application);
  }
}

// Source: CapacityScheduler.doneApplicationAttempt: of the containers only running ones can be
// kept.
void RmApplications::StopAttempt(RmApplication& application, bool keep) {
  RmAttempt& attempt = application.attempt;
  Unwatch(application);
  if (attempt.launch_retry_at) {
    timers_.Cancel(*attempt.launch_retry_at, RmTimers::Kind::kLaunchRetry, application.id);
  }
  launches_.erase(attempt.launch_call);
  // Its next heartbeat gets no answer of the usual kind.
  if (attempt.registered && attempt.state != AttemptState::kDone) out_.NewsFor(application);
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

void RmApplications::StoreFinal(RmApplication& application,
                                yarn::FinalApplicationStatus final_status) {
  application.phase = ApplicationPhase::kFinishing;
  application.final_status = final_status;
  out_.Emit(ApplicationEnded{.application = application.id,
                             .state = yarn::YarnApplicationState::kFinished,
                             .final_status = final_status});
  out_.ReportChanged(application.id);
}

// Source: RMAppImpl.FinalTransition: every node that ran it is told.
void RmApplications::End(RmApplication& application, yarn::YarnApplicationState state,
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
    out_.NewsFor(node);
  }
  const ApplicationId id = application.id;
  records_.books.applications.erase(id);
  records_.applications.erase(id);
  if (stored) {
    // Clients and checkers heard of the end when it was stored.
    records_.ended.Add(std::move(report));
    return;
  }
  RememberEnded(std::move(report));
}

void RmApplications::RememberEnded(yarn::ApplicationReport report) {
  const ApplicationId id = report.application;
  out_.Emit(NewsForClient{.application = id});
  out_.Emit(ApplicationEnded{
      .application = id, .state = report.state, .final_status = report.final_status});
  records_.ended.Add(std::move(report));
}

// What is pending below zero is not made good: the deficit outlives the application (run).
// Source: AppSchedulingInfo.stop.
void RmApplications::DropAsks(RmApplication& application) {
  scheduler_->BeforeAsksChange(application);
  for (auto& [key, ask] : application.asks) {
    scheduler_->OnAskReplaced(ask);
    if (ask.wanted() == 0) continue;
    records_.queues.AddPending(application.leaf, ask.partition,
                               Resource{} - Times(ask.any->capability, ask.wanted()));
  }
  application.asks.clear();
  application.poisoned = false;
  scheduler_->OnAsksChanged(application);
}

}  // namespace tfyarn::fakes
