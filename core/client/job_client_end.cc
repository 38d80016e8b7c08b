// The JobClient's user, and how a job ends: wishes, kills, forgotten and ended applications,
// resubmissions, cleaning.
#include <fmt/format.h>

#include <utility>

#include "core/client/job_client.h"
#include "core/model/check.h"
#include "core/model/exit.h"
#include "core/model/probe.h"

namespace tfyarn::client {
namespace {

using enum ClientTrigger;

/// State and final status together: FINISHED says only that the AM has unregistered.
/// Source: hadoop-yarn-common, the two enums' comments; ClientRMService.createApplicationReport.
JobStatus StatusOf(const yarn::ApplicationReport& report) {
  if (report.state == yarn::YarnApplicationState::kKilled) return JobStatus::kKilled;
  if (report.state == yarn::YarnApplicationState::kFailed) return JobStatus::kFailed;
  switch (report.final_status) {
    case yarn::FinalApplicationStatus::kSucceeded:
      return JobStatus::kSucceeded;
    case yarn::FinalApplicationStatus::kKilled:
      return JobStatus::kKilled;
    case yarn::FinalApplicationStatus::kFailed:
    case yarn::FinalApplicationStatus::kUndefined:
    case yarn::FinalApplicationStatus::kEnded:
      return JobStatus::kFailed;
  }
  return JobStatus::kFailed;
}

std::int32_t ExitCodeOf(JobStatus status) {
  switch (status) {
    case JobStatus::kSucceeded:
      return exit_code::kSucceeded;
    case JobStatus::kKilled:
      return exit_code::kKilled;
    case JobStatus::kFailed:
    case JobStatus::kUnfinished:
      return exit_code::kFailed;
  }
  return exit_code::kFailed;
}

std::string WithoutFinalSlash(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path == "/" ? std::string() : path;
}

}  // namespace

bool NamesInfeasible(std::string_view diagnostics) {
  const auto open = diagnostics.find('(');
  if (open == diagnostics.npos) return false;
  const std::string word = KebabName(ExitClass::kInfeasible) + ")";
  return diagnostics.substr(open + 1, word.size()) == word;
}

// ---------------------------------------------------------------- the user

void JobClient::On(Instant now, const SubmitRequested& event, Actions& actions) {
  TF_CHECK(state_.state == ClientState::kNew);
  user_ = event.user.empty() ? job_->user : event.user;
  staging_directory_ = WithoutFinalSlash(event.staging_directory);
  Obtain(now, kSubmitRequested, actions);
}

/// Starts with a new application, for the first time or for a resubmission.
void JobClient::Obtain(Instant now, ClientTrigger trigger, Actions& actions) {
  Move(ClientState::kObtaining, trigger);
  state_.application.reset();
  state_.application_directory.clear();
  state_.submitted.reset();
  state_.am_seen = false;
  state_.report.reset();
  facts_ = {};
  directory_made_ = false;
  without_am_since_.reset();
  first_poll_.reset();
  gave_up_on_am_ = false;
  Begin(now, Operation::kNewApplication, actions);
}

void JobClient::On(Instant now, const KillRequested& event, Actions& actions) {
  if (state_.kill_requested) {
    TF_PROBE("client/killed-twice");
    return actions.push_back(Note{"it is being killed already"});
  }
  if (state_.status != JobStatus::kUnfinished) {
    TF_PROBE("client/too-late-to-kill");
    return actions.push_back(Note{"too late to kill: the job has ended"});
  }
  state_.kill_requested = true;
  kill_reason_ = event.reason;
  // A call under way may yet make what would have to be removed. Its answer always comes.
  if (before_watching() && operation_call_) {
    TF_PROBE("client/kill-waits-for-an-answer");
    return;
  }
  ObeyKill(now, actions);
}

bool JobClient::before_watching() const {
  switch (state_.state) {
    case ClientState::kNew:
    case ClientState::kObtaining:
    case ClientState::kSurveying:
    case ClientState::kStaging:
    case ClientState::kSubmitting:
      return true;
    case ClientState::kWatching:
    case ClientState::kKilling:
    case ClientState::kCleaning:
    case ClientState::kExited:
      return false;
  }
  return false;
}

void JobClient::ObeyKill(Instant now, Actions& actions) {
  const std::string text = fmt::format("killed by its user: {}", kill_reason_);
  switch (state_.state) {
    case ClientState::kNew:
    case ClientState::kExited:
      return;
    case ClientState::kObtaining:
    case ClientState::kSurveying:
    case ClientState::kStaging:
      return Conclude(now, kKillRequested, JobStatus::kKilled, text + ", before its submission",
                      exit_code::kKilled, actions);
    case ClientState::kSubmitting:
    case ClientState::kWatching:
      return Kill(now, kKillRequested, kill_reason_, actions);
    case ClientState::kKilling:
      TF_PROBE("client/killed-while-it-gives-up");
      return;  // Because no AM came: the wish changes nothing but a resubmission.
    case ClientState::kCleaning:
      resubmit_ = false;
      TF_PROBE("client/killed-before-the-next-submission");
      state_.status = JobStatus::kKilled;
      state_.diagnostics = text + ", before it was submitted again";
      exit_code_ = exit_code::kKilled;
      return actions.push_back(
          JobEnded{.status = state_.status, .diagnostics = state_.diagnostics});
  }
}

void JobClient::Kill(Instant now, ClientTrigger trigger, std::string reason, Actions& actions) {
  Move(ClientState::kKilling, trigger);
  kill_reason_ = std::move(reason);
  if (!next_poll_) next_poll_ = now + options_.poll;
  Begin(now, Operation::kKill, actions);
}

// ---------------------------------------------------------------- applications that are no more

// An RM that lost the application before its AM ran gets it again under the same id (YarnClientImpl
// does so after a failover). Once it ran, the RM may also have forgotten a finished one, and
// running it twice would be worse than a failure: then only the user's own resubmissions start it
// again.
void JobClient::OnForgotten(Instant now, Actions& actions) {
  next_poll_.reset();
  first_poll_.reset();
  if (state_.state == ClientState::kWatching && !state_.am_seen) {
    TF_PROBE("client/forgotten-before-its-am");
    actions.push_back(Note{fmt::format("{} is unknown to the ResourceManager: submitted again",
                                       ToString(*state_.application))});
    Move(ClientState::kSubmitting, kForgotten);
    return Begin(now, Operation::kSubmit, actions);
  }
  EndOperation();
  const std::string text =
      fmt::format("{} is unknown to the ResourceManager", ToString(*state_.application));
  if (state_.kill_requested) {
    TF_PROBE("client/forgotten-while-killed");
    return Conclude(now, kForgotten, JobStatus::kKilled,
                    fmt::format("killed by its user: {}; {}", kill_reason_, text),
                    exit_code::kKilled, actions);
  }
  TF_PROBE("client/forgotten");
  ApplicationFailed(now, kForgotten, gave_up_on_am_ ? gave_up_because_ : text, actions);
}

std::string WhyEnded(const yarn::ApplicationReport& report) {
  if (!report.diagnostics.empty() || StatusOf(report) == JobStatus::kSucceeded)
    return report.diagnostics;
  std::string text =
      fmt::format("YARN gives no reason: the application's state is {}", KebabName(report.state));
  if (report.state == yarn::YarnApplicationState::kFinished)
    text += fmt::format(", its final status {}", KebabName(report.final_status));
  // YARN tells of attempt -1 until there is one, and to those who may not view the application.
  if (report.current_attempt == 1) text += ", after one attempt of its ApplicationMaster";
  if (report.current_attempt > 1)
    text += fmt::format(", after {} attempts of its ApplicationMaster", report.current_attempt);
  return text;
}

void JobClient::OnEnded(Instant now, const yarn::ApplicationReport& report, Actions& actions) {
  next_poll_.reset();
  EndOperation();
  const bool killed_by_us = gave_up_on_am_ && report.state == yarn::YarnApplicationState::kKilled;
  const JobStatus status = killed_by_us ? JobStatus::kFailed : StatusOf(report);
  std::string diagnostics = killed_by_us ? gave_up_because_ : WhyEnded(report);
  if (killed_by_us && state_.kill_requested) {
    TF_PROBE("client/killed-in-both-names");
    return Conclude(now, kApplicationEnded, JobStatus::kKilled, std::move(diagnostics),
                    exit_code::kKilled, actions);
  }
  if (status == JobStatus::kFailed)
    return ApplicationFailed(now, kApplicationEnded, std::move(diagnostics), actions);
  Conclude(now, kApplicationEnded, status, std::move(diagnostics), ExitCodeOf(status), actions);
}

// ---------------------------------------------------------------- the end

/// Nothing of this application runs (any more), and it did not succeed.
void JobClient::ApplicationFailed(Instant now, ClientTrigger trigger, std::string diagnostics,
                                  Actions& actions) {
  const bool hopeless = NamesInfeasible(diagnostics);
  if (hopeless) TF_PROBE("client/hopeless");
  if (state_.kill_requested || hopeless || state_.resubmission >= job_->retries.resubmit) {
    return Conclude(now, trigger, JobStatus::kFailed, std::move(diagnostics), exit_code::kFailed,
                    actions);
  }
  actions.push_back(Note{fmt::format("{} failed: the job is submitted again ({} of {}): {}",
                                     ToString(*state_.application), state_.resubmission + 1,
                                     job_->retries.resubmit, diagnostics)});
  TF_PROBE("client/submits-again");
  resubmit_ = true;
  Clean(now, trigger, actions);
}

/// The job as it is can never run: not tried again.
void JobClient::Refuse(Instant now, std::string diagnostics, Actions& actions) {
  const std::int32_t code =
      state_.submitted || state_.resubmission > 0 ? exit_code::kFailed : exit_code::kRefused;
  Conclude(now, kRefused, JobStatus::kFailed, std::move(diagnostics), code, actions);
}

void JobClient::Conclude(Instant now, ClientTrigger trigger, JobStatus status,
                         std::string diagnostics, std::int32_t code, Actions& actions) {
  TF_CHECK(state_.status == JobStatus::kUnfinished);
  state_.status = status;
  state_.diagnostics = std::move(diagnostics);
  exit_code_ = code;
  resubmit_ = false;
  actions.push_back(JobEnded{.status = state_.status, .diagnostics = state_.diagnostics});
  Clean(now, trigger, actions);
}

void JobClient::Clean(Instant now, ClientTrigger trigger, Actions& actions) {
  Move(ClientState::kCleaning, trigger);
  next_poll_.reset();
  EndOperation();
  if (!directory_made_) return Cleaned(now, actions);
  Begin(now, Operation::kDelete, actions);
}

void JobClient::Cleaned(Instant now, Actions& actions) {
  EndOperation();
  if (resubmit_) {
    resubmit_ = false;
    ++state_.resubmission;
    return Obtain(now, kResubmission, actions);
  }
  Move(ClientState::kExited, kCleaned);
  actions.push_back(ExitClient{.code = exit_code_});
}

}  // namespace tfyarn::client
