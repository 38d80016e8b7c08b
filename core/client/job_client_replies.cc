// What the JobClient makes of the answers of RM and HDFS: how it goes from one step to the next.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/client/job_client.h"
#include "core/model/check.h"
#include "core/model/exit.h"
#include "core/model/probe.h"

namespace tfyarn::client {
namespace {

using enum ClientTrigger;

/// What may answer an operation, RpcError aside.
template <class T>
constexpr bool kIsOperationResponse = std::is_same_v<T, yarn::GetNewApplicationResponse> ||
                                      std::is_same_v<T, yarn::GetClusterNodesResponse> ||
                                      std::is_same_v<T, yarn::GetQueueInfoResponse> ||
                                      std::is_same_v<T, yarn::SubmitApplicationResponse> ||
                                      std::is_same_v<T, yarn::KillApplicationResponse>;

bool HasEnded(yarn::YarnApplicationState state) {
  switch (state) {
    case yarn::YarnApplicationState::kFinished:
    case yarn::YarnApplicationState::kFailed:
    case yarn::YarnApplicationState::kKilled:
      return true;
    case yarn::YarnApplicationState::kNew:
    case yarn::YarnApplicationState::kNewSaving:
    case yarn::YarnApplicationState::kSubmitted:
    case yarn::YarnApplicationState::kAccepted:
    case yarn::YarnApplicationState::kRunning:
      return false;
  }
  return false;
}

/// What the queue may use at most, as far as it is known. An RM before Hadoop 3.1 says no amounts,
/// but shares of the nodes that are up.
yarn::PartitionAmounts QueueMaximum(const std::map<std::string, yarn::QueueLimit>& limits,
                                    const SharedList<yarn::NodeReport>& nodes) {
  yarn::PartitionAmounts maximum;
  for (const auto& [partition, limit] : limits) {
    Resource amount = limit.maximum;
    if (IsZero(amount) && limit.share_ppm > 0) {
      for (const yarn::NodeReport& node : nodes) {
        if (node.state == yarn::NodeState::kRunning && node.partition == partition)
          amount += node.capability;
      }
      amount = Share(amount, limit.share_ppm);
    }
    if (!IsZero(amount)) maximum.emplace(partition, std::move(amount));
  }
  return maximum;
}

}  // namespace

// ---------------------------------------------------------------- answers of the RM

void JobClient::On(Instant now, const RmReplied& event, Actions& actions) {
  if (operation_call_ == event.call) return OnOperationReply(now, event.response, actions);
  const bool poll =
      next_poll_ && first_poll_ && event.call >= *first_poll_ && event.call <= last_poll_;
  if (poll && event.call > last_answered_poll_) {
    last_answered_poll_ = event.call;
    const bool answered =
        std::holds_alternative<yarn::GetApplicationReportResponse>(event.response);
    if (std::exchange(rm_is_away_, !answered) && answered) {
      rm_back_at_ = now;
      overdue_poll_.reset();
    }
    OnPollReply(now, event.response, actions);
    if (overdue_poll_ && event.call >= *overdue_poll_ && answered) GiveUpOnAm(now, actions);
    return;
  }
  // An overtaken or repeated answer to a poll is as idle as the poll.
  if (std::holds_alternative<yarn::GetApplicationReportResponse>(event.response)) return;
  actions.push_back(Note{fmt::format("late answer to call {}", event.call.value)});
}

void JobClient::OnOperationReply(Instant now, const yarn::RmResponse& response, Actions& actions) {
  operation_call_.reset();
  if (const auto* error = std::get_if<yarn::RpcError>(&response))
    return OnOperationError(now, *error, actions);
  std::visit(
      [&](const auto& r) {
        if constexpr (kIsOperationResponse<std::decay_t<decltype(r)>>) {
          Got(now, r, actions);
        } else {
          CheckFailed(__FILE__, __LINE__, "an answer of the kind that was asked for");
        }
      },
      response);
}

void JobClient::OnOperationError(Instant now, const yarn::RpcError& error, Actions& actions) {
  if (state_.kill_requested && before_watching()) return ObeyKill(now, actions);
  if (error.code == yarn::RpcErrorCode::kUnavailable)
    return RetryLater(now, error.message, actions);
  switch (operation_) {
    case Operation::kNone:
    case Operation::kMkdirs:
    case Operation::kCreate:
    case Operation::kDelete:
      CheckFailed(__FILE__, __LINE__, "an operation of the RM");
    case Operation::kNewApplication:
    case Operation::kSubmit:
      return Refuse(now, fmt::format("the ResourceManager refused the job: {}", error.message),
                    actions);
    case Operation::kNodes:
      actions.push_back(Note{fmt::format("the nodes are not known: {}", error.message)});
      return Begin(now, Operation::kQueue, actions);
    case Operation::kQueue:
      actions.push_back(Note{fmt::format("the queue is not known: {}", error.message)});
      return GatheredFacts(now, actions);
    case Operation::kKill:
      if (error.code == yarn::RpcErrorCode::kApplicationNotFound) {
        TF_PROBE("client/kill-of-a-forgotten-application");
        return OnForgotten(now, actions);
      }
      return RetryLater(now, error.message, actions);
  }
}

void JobClient::Got(Instant now, const yarn::GetNewApplicationResponse& response,
                    Actions& actions) {
  state_.application = response.application;
  state_.application_directory =
      fmt::format("{}/{}", staging_directory_, ToString(response.application));
  facts_.maximum_container = response.maximum_capability;
  if (state_.kill_requested) return ObeyKill(now, actions);
  // The RM would refuse it too (RMAppManager.validateAndCreateResourceRequest), after everything
  // has been staged.
  const Resource& need = job_->am.resource;
  if (!IsZero(response.maximum_capability) && !FitsIn(need, response.maximum_capability)) {
    return Refuse(
        now,
        fmt::format(
            "the ApplicationMaster asks for {} ({}), but the largest container is {}: lower "
            "am.{}, or raise yarn.scheduler.maximum-allocation",
            FirstShortage(need, response.maximum_capability), ToString(need),
            ToString(response.maximum_capability),
            need.memory_mb > response.maximum_capability.memory_mb ? "memory" : "vcores"),
        actions);
  }
  Move(ClientState::kSurveying, kApplicationObtained);
  Begin(now, Operation::kNodes, actions);
}

void JobClient::Got(Instant now, const yarn::GetClusterNodesResponse& response, Actions& actions) {
  facts_.nodes = response.nodes;
  if (state_.kill_requested) return ObeyKill(now, actions);
  Begin(now, Operation::kQueue, actions);
}

// A submission to such a queue would succeed, and the application fail at once (RMAppManager; seen
// on Hadoop 3.4).
void JobClient::Got(Instant now, const yarn::GetQueueInfoResponse& response, Actions& actions) {
  facts_.queue_maximum = QueueMaximum(response.limits, facts_.nodes);
  if (state_.kill_requested) return ObeyKill(now, actions);
  if (!response.exists) {
    return Refuse(now, fmt::format("queue '{}' does not exist: ask for one that does", job_->queue),
                  actions);
  }
  if (!response.is_leaf) {
    return Refuse(now,
                  fmt::format("queue '{}' has queues below it: ask for one of those", job_->queue),
                  actions);
  }
  const Resource& need = job_->am.resource;
  const auto limit = facts_.queue_maximum.find("");  // The AM's partition.
  if (limit != facts_.queue_maximum.end() && !FitsIn(need, limit->second)) {
    return Refuse(
        now,
        fmt::format(
            "the ApplicationMaster asks for {} ({}), but queue '{}' may never use more than {}",
            FirstShortage(need, limit->second), ToString(need), job_->queue,
            ToString(limit->second)),
        actions);
  }
  GatheredFacts(now, actions);
}

void JobClient::GatheredFacts(Instant now, Actions& actions) {
  actions.push_back(std::exchange(facts_, {}));
  Move(ClientState::kStaging, kFactsGathered);
  Begin(now, Operation::kMkdirs, actions);
}

void JobClient::Got(Instant now, const yarn::SubmitApplicationResponse&, Actions& actions) {
  EndOperation();
  if (!state_.submitted) {
    state_.submitted = now;
    actions.push_back(ApplicationSubmitted{.application = *state_.application,
                                           .resubmission = state_.resubmission});
  }
  if (state_.kill_requested) return ObeyKill(now, actions);
  Move(ClientState::kWatching, kSubmitted);
  next_poll_ = now + options_.poll;
}

void JobClient::Got(Instant now, const yarn::KillApplicationResponse& response, Actions&) {
  if (response.is_kill_completed) return EndOperation();  // The report says how it ended.
  next_try_ = now + options_.poll;
}

void JobClient::OnPollReply(Instant now, const yarn::RmResponse& response, Actions& actions) {
  if (const auto* error = std::get_if<yarn::RpcError>(&response)) {
    if (error->code == yarn::RpcErrorCode::kApplicationNotFound) OnForgotten(now, actions);
    return;  // Anything else: the next poll asks again.
  }
  const auto* answer = std::get_if<yarn::GetApplicationReportResponse>(&response);
  if (answer == nullptr || answer->report.application != *state_.application) return;
  state_.report = answer->report;
  if (answer->report.state == yarn::YarnApplicationState::kRunning) {
    state_.am_seen = true;
    without_am_since_.reset();
    overdue_poll_.reset();
  } else if (!without_am_since_) {
    TF_PROBE("client/its-am-is-gone");
    without_am_since_ = now;
  }
  if (HasEnded(answer->report.state)) OnEnded(now, answer->report, actions);
}

// ---------------------------------------------------------------- answers of HDFS

void JobClient::On(Instant now, const HdfsReplied& event, Actions& actions) {
  if (operation_call_ != event.call) {
    return actions.push_back(Note{fmt::format("late answer to call {}", event.call.value)});
  }
  operation_call_.reset();
  if (state_.kill_requested && before_watching()) return ObeyKill(now, actions);
  if (const auto* error = std::get_if<hdfs::HdfsError>(&event.response))
    return OnHdfsError(now, *error, actions);
  if (operation_ == Operation::kMkdirs) return Begin(now, Operation::kCreate, actions);
  if (operation_ == Operation::kDelete) return Cleaned(now, actions);
  const auto* status = std::get_if<hdfs::FileStatus>(&event.response);
  TF_CHECK(operation_ == Operation::kCreate);
  TF_CHECK(status != nullptr);
  staged_ = *status;
  Move(ClientState::kSubmitting, kStaged);
  Begin(now, Operation::kSubmit, actions);
}

void JobClient::OnHdfsError(Instant now, const hdfs::HdfsError& error, Actions& actions) {
  switch (error.code) {
    case hdfs::HdfsErrorCode::kUnavailable:
    case hdfs::HdfsErrorCode::kSafeMode:
      return RetryLater(now, error.message, actions);
    case hdfs::HdfsErrorCode::kNotFound:
    case hdfs::HdfsErrorCode::kAlreadyExists:
    case hdfs::HdfsErrorCode::kQuotaExceeded:
    case hdfs::HdfsErrorCode::kAccessDenied:
    case hdfs::HdfsErrorCode::kInvalidPath:
    case hdfs::HdfsErrorCode::kLeaseLost:
      break;
  }
  if (operation_ == Operation::kDelete) {
    TF_PROBE("client/delete-is-refused");
    if (error.code != hdfs::HdfsErrorCode::kNotFound) {
      actions.push_back(
          Note{fmt::format("{} is not deleted: {}", state_.application_directory, error.message)});
    }
    return Cleaned(now, actions);
  }
  // Between the job file and the submission a host stages what else the job names: that may be
  // missing, which is the job's fault.
  TF_PROBE("client/staging-is-refused");
  const bool named = operation_ == Operation::kSubmit;
  const bool missing = named && (error.code == hdfs::HdfsErrorCode::kNotFound ||
                                 error.code == hdfs::HdfsErrorCode::kInvalidPath);
  const std::string why =
      named ? fmt::format("what the job needs cannot be staged: {}", error.message)
            : fmt::format("HDFS refused to stage the job ({}): {}", KebabName(error.code),
                          error.message);
  const bool first = !state_.submitted && state_.resubmission == 0;
  const auto code = missing ? exit_code::kRefused : exit_code::kUnreachable;
  Conclude(now, kRefused, JobStatus::kFailed, why, first ? code : exit_code::kFailed, actions);
}

}  // namespace tfyarn::client
