#include "core/client/job_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/model/check.h"
#include "core/model/deadline.h"
#include "core/model/launch.h"
#include "core/model/probe.h"

namespace tfyarn::client {
namespace {

using enum ClientTrigger;

/// So long an AM may take to register with an RM that was away: one call in vain, and the longest
/// wait between two (RmSessionOptions).
constexpr Duration kAmFindsRm = 30s;

constexpr TransitionRow<ClientState, ClientTrigger> kTable[] = {
    {ClientState::kNew, kSubmitRequested, ClientState::kObtaining},
    {ClientState::kObtaining, kApplicationObtained, ClientState::kSurveying},
    {ClientState::kObtaining, kRefused, ClientState::kCleaning},
    {ClientState::kObtaining, kUnreachable, ClientState::kCleaning},
    {ClientState::kObtaining, kKillRequested, ClientState::kCleaning},
    {ClientState::kSurveying, kFactsGathered, ClientState::kStaging},
    {ClientState::kSurveying, kRefused, ClientState::kCleaning},
    {ClientState::kSurveying, kUnreachable, ClientState::kCleaning},
    {ClientState::kSurveying, kKillRequested, ClientState::kCleaning},
    {ClientState::kStaging, kStaged, ClientState::kSubmitting},
    {ClientState::kStaging, kRefused, ClientState::kCleaning},
    {ClientState::kStaging, kUnreachable, ClientState::kCleaning},
    {ClientState::kStaging, kKillRequested, ClientState::kCleaning},
    {ClientState::kSubmitting, kSubmitted, ClientState::kWatching},
    {ClientState::kSubmitting, kRefused, ClientState::kCleaning},
    {ClientState::kSubmitting, kKillRequested, ClientState::kKilling},
    {ClientState::kSubmitting, kAmTooLate, ClientState::kKilling},
    {ClientState::kWatching, kForgotten, ClientState::kSubmitting},
    {ClientState::kWatching, kForgotten, ClientState::kCleaning},
    {ClientState::kWatching, kApplicationEnded, ClientState::kCleaning},
    {ClientState::kWatching, kKillRequested, ClientState::kKilling},
    {ClientState::kWatching, kAmTooLate, ClientState::kKilling},
    {ClientState::kKilling, kForgotten, ClientState::kCleaning},
    {ClientState::kKilling, kApplicationEnded, ClientState::kCleaning},
    {ClientState::kCleaning, kResubmission, ClientState::kObtaining},
    {ClientState::kCleaning, kCleaned, ClientState::kExited},
};

}  // namespace

const std::vector<Transition>& JobClientTransitions() {
  static const std::vector<Transition> kTransitions = [] {
    std::vector<Transition> all;
    AppendTransitions(all, "", kTable);
    return all;
  }();
  return kTransitions;
}

void JobClient::Move(ClientState to, ClientTrigger trigger) {
  TF_CHECK(IsAllowed(kTable, state_.state, trigger, to));
  state_.state = to;
  overdue_poll_.reset();
}

JobClient::JobClient(std::shared_ptr<const JobSpec> job, ClientOptions options, std::uint64_t seed)
    : job_(std::move(job)), options_(std::move(options)), jitter_(seed, "client/retry") {
  TF_CHECK(job_ != nullptr);
  TF_CHECK(options_.poll > Duration::zero());
  TF_CHECK(options_.retry_first > Duration::zero());
}

void JobClient::Step(Instant now, const ClientEvent& event, std::vector<ClientAction>& actions) {
  if (state_.state == ClientState::kExited) return;
  TF_CHECK(state_.state != ClientState::kNew || std::holds_alternative<SubmitRequested>(event));
  std::visit([&](const auto& e) { On(now, e, actions); }, event);
}

// ---------------------------------------------------------------- time

std::optional<Instant> JobClient::next_decision() const {
  std::optional<Instant> least = next_try_;
  Earliest(least, am_start_deadline());
  // The answer decides.
  if (overdue_poll_) Earliest(least, next_poll_);
  return least;
}

std::optional<Instant> JobClient::next_deadline() const {
  std::optional<Instant> least = next_decision();
  Earliest(least, next_poll_);
  return least;
}

std::optional<Duration> JobClient::am_start_limit() const {
  return job_->deadlines.am_start ? job_->deadlines.am_start : options_.am_start;
}

// While a submission is under way it may still succeed.
std::optional<Instant> JobClient::am_start_deadline() const {
  const bool waits = (state_.state == ClientState::kWatching && !overdue_poll_) ||
                     (state_.state == ClientState::kSubmitting && !operation_call_);
  const std::optional<Duration> limit = am_start_limit();
  if (!waits || !limit || !without_am_since_) return std::nullopt;
  const Instant over = *without_am_since_ + *limit;
  return rm_back_at_ ? std::max(over, *rm_back_at_ + kAmFindsRm) : over;
}

void JobClient::On(Instant now, const DeadlineReached&, Actions& actions) {
  if (IsDue(am_start_deadline(), now)) {
    // An AM may run of which an RM that does not answer has not told, and a kill would meet it.
    if (state_.state == ClientState::kWatching) {
      Poll(now, actions);
      overdue_poll_ = last_poll_;
    } else {
      GiveUpOnAm(now, actions);
    }
  }
  if (IsDue(next_try_, now)) {
    next_try_.reset();
    Issue(actions);
  }
  if (IsDue(next_poll_, now)) Poll(now, actions);
}

void JobClient::GiveUpOnAm(Instant now, Actions& actions) {
  TF_PROBE("client/no-am-in-time");
  const std::string why = state_.report && !state_.report->diagnostics.empty()
                              ? state_.report->diagnostics
                              : std::string("the ResourceManager gave no reason");
  gave_up_on_am_ = true;
  gave_up_because_ =
      state_.am_seen
          ? fmt::format("no other ApplicationMaster started within {}s of the end of one: {}",
                        *am_start_limit() / 1s, why)
          : fmt::format(
                "no ApplicationMaster started within {}s of the submission to queue {}: "
                "{}",
                *am_start_limit() / 1s, job_->queue, why);
  Kill(now, kAmTooLate, gave_up_because_, actions);
}

void JobClient::On(Instant, const HeartbeatsElided& event, Actions&) {
  if (!next_poll_ || event.count == 0) return;
  if (!first_poll_) first_poll_ = last_call_.next();
  last_call_ = CallId(last_call_.value + event.count);
  last_poll_ = last_call_;
  // The answer to the latest of them may still come and have news.
  last_answered_poll_ = std::max(last_answered_poll_, CallId(last_poll_.value - 1));
  next_poll_ = event.last + options_.poll;
}

// ---------------------------------------------------------------- calls

void JobClient::Poll(Instant now, Actions& actions) {
  last_call_ = last_call_.next();
  last_poll_ = last_call_;
  if (!first_poll_) first_poll_ = last_call_;
  next_poll_ = now + options_.poll;
  actions.push_back(
      CallRm{.call = last_call_,
             .request = yarn::GetApplicationReportRequest{.application = *state_.application}});
}

void JobClient::Begin(Instant now, Operation operation, Actions& actions) {
  operation_ = operation;
  retry_wait_ = options_.retry_first;
  if (operation != Operation::kCreate)
    operation_started_ = now;  // Staging has one time for both its calls.
  // An RM that is away at the submission does not make the wait endless.
  if (operation == Operation::kSubmit && !without_am_since_) without_am_since_ = now;
  next_try_.reset();
  Issue(actions);
}

// A call that is under way is a kill, and the one that removes the staging takes its place.
void JobClient::EndOperation() {
  operation_ = Operation::kNone;
  next_try_.reset();
}

void JobClient::Issue(Actions& actions) {
  last_call_ = last_call_.next();
  operation_call_ = last_call_;
  const std::string job_path = fmt::format("{}/{}", state_.application_directory, kJobFileName);
  switch (operation_) {
    case Operation::kNone:
      TF_CHECK(operation_ != Operation::kNone);
      return;
    case Operation::kNewApplication:
      return actions.push_back(
          CallRm{.call = last_call_, .request = yarn::GetNewApplicationRequest{}});
    case Operation::kNodes:
      return actions.push_back(
          CallRm{.call = last_call_, .request = yarn::GetClusterNodesRequest{}});
    case Operation::kQueue:
      return actions.push_back(
          CallRm{.call = last_call_, .request = yarn::GetQueueInfoRequest{.queue = job_->queue}});
    case Operation::kMkdirs:
      directory_made_ = true;
      return actions.push_back(
          CallHdfs{.call = last_call_,
                   .request = hdfs::MkdirsRequest{.path = state_.application_directory}});
    case Operation::kCreate: {
      const std::int64_t size =
          std::max(options_.job_file_size, static_cast<std::int64_t>(options_.job_file.size()));
      return actions.push_back(CallHdfs{
          .call = last_call_,
          .request = hdfs::CreateRequest{
              .path = job_path, .bytes = options_.job_file, .size = size, .overwrite = true}});
    }
    case Operation::kSubmit:
      return actions.push_back(CallRm{.call = last_call_, .request = SubmissionRequest()});
    case Operation::kKill:
      return actions.push_back(
          CallRm{.call = last_call_,
                 .request = yarn::KillApplicationRequest{.application = *state_.application,
                                                         .diagnostics = kill_reason_}});
    case Operation::kDelete:
      return actions.push_back(CallHdfs{
          .call = last_call_,
          .request = hdfs::DeleteRequest{.path = state_.application_directory, .recursive = true}});
  }
}

yarn::RmRequest JobClient::SubmissionRequest() const {
  yarn::SubmitApplicationRequest request;
  request.application = *state_.application;
  request.name = job_->name;
  request.queue = job_->queue;
  request.priority = job_->priority;
  request.user = user_;
  request.am_container.local_resources = options_.am_files;
  if (options_.localize_job_file) {
    request.am_container.local_resources[kJobFileName] = {.path = staged_.path,
                                                          .size = staged_.size,
                                                          .timestamp = staged_.modification_time,
                                                          .archive = false};
  }
  request.am_container.environment =
      ToEnvironment(AmLaunch{.staging_directory = state_.application_directory});
  request.am_container.environment.insert(options_.am_environment.begin(),
                                          options_.am_environment.end());
  request.am_container.command = options_.am_command;
  request.am_resource = job_->am.resource;
  request.max_app_attempts = job_->am.attempts;
  request.keep_containers_across_application_attempts = true;
  request.tags = job_->tags;
  return request;
}

// The last try is made at the end of the time there is, not before it.
void JobClient::RetryLater(Instant now, std::string reason, Actions& actions) {
  std::optional<Duration> limit;
  switch (operation_) {
    case Operation::kNone:
    case Operation::kSubmit:  // The RM may know the application: am_start ends this.
    case Operation::kKill:
      break;
    case Operation::kNewApplication:
    case Operation::kNodes:
    case Operation::kQueue:
      limit = options_.unreachable;
      break;
    case Operation::kMkdirs:
    case Operation::kCreate:
      limit = options_.hdfs_deadline;
      break;
    case Operation::kDelete:
      limit = options_.clean_up;
      break;
  }
  const Instant next = now + jitter_.Between(retry_wait_ / 2, retry_wait_);
  retry_wait_ = std::min(retry_wait_ * 2, options_.retry_max);
  if (!limit || now < operation_started_ + *limit) {
    next_try_ = limit ? std::min(next, operation_started_ + *limit) : next;
    return;
  }
  if (operation_ == Operation::kDelete) {
    TF_PROBE("client/staging-is-not-deleted");
    actions.push_back(
        Note{fmt::format("{} is not deleted: {}", state_.application_directory, reason)});
    return Cleaned(now, actions);
  }
  TF_PROBE("client/unreachable");
  const bool hdfs = operation_ == Operation::kMkdirs || operation_ == Operation::kCreate;
  Conclude(now, kUnreachable, JobStatus::kFailed,
           fmt::format("{} did not serve the submission for {}s: {}",
                       hdfs ? "HDFS" : "the ResourceManager", *limit / 1s, reason),
           exit_code::kUnreachable, actions);
}

}  // namespace tfyarn::client
