// What the RM's answers mean to the session: the half of RmSession that sends nothing.
#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "core/allocation/rm_session.h"
#include "core/model/probe.h"
#include "core/model/response_id.h"
#include "core/model/rpc_meaning.h"

namespace tfyarn::allocation {
namespace {

using yarn::RpcMeaning;

/// The id that the RM waits for, from "... expect responseId to be 8 but get 6".
std::optional<std::int32_t> ExpectedResponseId(const std::string& message) {
  constexpr std::string_view kBefore = "responseId to be ";
  const auto at = message.find(kBefore);
  if (at == std::string::npos) return std::nullopt;
  std::int32_t id = 0;
  const char* begin = message.data() + at + kBefore.size();
  const auto [end, error] = std::from_chars(begin, message.data() + message.size(), id);
  if (error != std::errc() || id < 0) return std::nullopt;
  return id;
}

/// An earlier call has registered the attempt; only its answer did not come. That holds also where
/// the call that hears it has been repeated since: an RM that always takes longer to answer than
/// the AM waits would never be believed.
bool ProvesRegistration(const yarn::RpcError& error) {
  return MeaningOf(error) == RpcMeaning::kOutOfTurn;
}

}  // namespace

RmNews RmSession::OnReplied(Instant now, const RmReplied& reply) {
  RmNews news;
  const bool of_this_call = reply.call >= call_.first && reply.call <= call_.id;
  const auto* error = std::get_if<yarn::RpcError>(&reply.response);
  const bool awaited = call_.outstanding || latest_was_elided_;
  const bool settles = error == nullptr || reply.call == call_.id ||
                       (call_.kind == CallKind::kRegister && ProvesRegistration(*error));
  const bool in_time = of_this_call && awaited && settles;
  // It holds however late it is heard. Before it is told that the final status has been taken, an
  // attempt that finishes may hear so of an earlier call.
  const bool ends = error != nullptr && MeaningOf(*error) == RpcMeaning::kOver &&
                    (call_.kind != CallKind::kFinish || of_this_call);
  if (ends && !in_time) TF_PROBE("session/late-word-of-the-end");
  if (stopped_ || (!in_time && !ends)) {
    news.ignored = "RM answer to call " + std::to_string(reply.call.value) + " came late or twice";
    KeepNmTokens(reply.response);
    return news;
  }
  // By what the answered call was: the one that is out may be of another kind.
  if (ends && call_.kind != CallKind::kFinish) {
    Stop(*error, news);
    return news;
  }
  switch (call_.kind) {
    case CallKind::kRegister:
      OnRegisterAnswered(now, reply.response, news);
      break;
    case CallKind::kAllocate:
      OnAllocateAnswered(now, reply, news);
      break;
    case CallKind::kFinish:
      OnFinishAnswered(now, reply.response, news);
      break;
  }
  return news;
}

/// An RM gives each node's token once. Where an answer that is of no use any more had it, there
/// will be no other; one that a later answer brought may be newer.
void RmSession::KeepNmTokens(const yarn::RmResponse& response) {
  const auto keep = [this](const std::vector<yarn::NmToken>& tokens) {
    for (const yarn::NmToken& token : tokens) {
      if (nm_tokens_.emplace(token.node, token.token).second)
        TF_PROBE("session/token-in-a-late-answer");
    }
  };
  if (const auto* registered = std::get_if<yarn::RegisterApplicationMasterResponse>(&response))
    keep(registered->nm_tokens_from_previous_attempts);
  if (const auto* allocated = std::get_if<yarn::AllocateResponse>(&response))
    keep(allocated->nm_tokens);
}

// ---------------------------------------------------------------- register

void RmSession::OnRegisterAnswered(Instant now, const yarn::RmResponse& response, RmNews& news) {
  if (const auto* error = std::get_if<yarn::RpcError>(&response); error != nullptr) {
    OnRegisterFailed(now, *error, news);
    return;
  }
  const auto* registered = std::get_if<yarn::RegisterApplicationMasterResponse>(&response);
  if (registered == nullptr) {
    news.ignored = "RM answered registerApplicationMaster with something else";
    return;
  }
  TakeNmTokens(registered->nm_tokens_from_previous_attempts);
  if (ever_registered_) {
    news.listed = registered->containers_from_previous_attempts;
  } else {
    news.registered = *registered;
  }
  BecomeRegistered(now, news);
}

void RmSession::OnRegisterFailed(Instant now, const yarn::RpcError& error, RmNews& news) {
  call_.outstanding = false;
  switch (MeaningOf(error)) {
    case RpcMeaning::kOver:
    case RpcMeaning::kTokenRefused:
      Stop(error, news);
      return;
    case RpcMeaning::kOutOfTurn:
      // Registered twice: the first call arrived, its answer did not.
      news.registered_blindly = !ever_registered_;
      if (!ever_registered_) news.registered = yarn::RegisterApplicationMasterResponse{};
      BecomeRegistered(now, news);
      return;
    case RpcMeaning::kNoAnswer:
      break;
    case RpcMeaning::kUnregistered:
    case RpcMeaning::kPartRefused:
    case RpcMeaning::kFailed:
      news.rejected = error;
      break;
  }
  next_send_ = std::max(now, call_.sent + register_backoff_);
  register_backoff_ = std::min(register_backoff_ * 2, options_.register_backoff_max);
}

void RmSession::BecomeRegistered(Instant now, RmNews& news) {
  news.resynced = ever_registered_;
  if (ever_registered_) TF_PROBE("session/registered-again");
  registered_ = true;
  ever_registered_ = true;
  register_backoff_ = options_.register_backoff_first;
  last_response_id_ = 0;
  call_.outstanding = false;
  next_send_ = now;
}

// ---------------------------------------------------------------- allocate

void RmSession::OnAllocateAnswered(Instant now, const RmReplied& reply, RmNews& news) {
  const auto* response = std::get_if<yarn::AllocateResponse>(&reply.response);
  const bool presumed = latest_was_elided_;
  if (response != nullptr && presumed && IsIdle(*response)) return;  // as presumed
  if (presumed) UndoElision();
  if (const auto* error = std::get_if<yarn::RpcError>(&reply.response); error != nullptr) {
    OnAllocateFailed(now, *error, news);
    return;
  }
  if (response == nullptr || response->response_id != ResponseIdAfter(last_response_id_, 1)) {
    news.ignored = response == nullptr ? std::string("RM answered allocate with something else")
                                       : "RM answered allocate with response id " +
                                             std::to_string(response->response_id) + ", expected " +
                                             std::to_string(ResponseIdAfter(last_response_id_, 1));
    KeepNmTokens(reply.response);
    return;
  }
  call_.outstanding = false;
  switch (response->am_command) {
    case yarn::AmCommand::kResync:
      Resync(now);
      return;
    case yarn::AmCommand::kShutdown:
      Stop({.code = yarn::RpcErrorCode::kApplicationAttemptNotFound,
            .message = "the RM ordered a shutdown"},
           news);
      return;
    case yarn::AmCommand::kNone:
      break;
  }
  const bool first_answer = last_response_id_ == 0;
  TakeIn(*response);
  next_send_ = call_.sent + (InAHurry(now) ? options_.fast_heartbeat : options_.heartbeat);
  if (first_answer) news.nodes_counted = response->num_cluster_nodes;
  if (!IsIdle(*response)) news.allocated = *response;
}

void RmSession::TakeIn(const yarn::AllocateResponse& response) {
  last_response_id_ = response.response_id;
  asks_.OnAnswered(response.allocated_containers);
  for (const ContainerId& container : unanswered_->release) {
    releases_pending_.erase(container);
    releases_told_.insert(container);
  }
  for (const std::string& host : unanswered_->blacklist_additions) blacklist_told_.insert(host);
  for (const std::string& host : unanswered_->blacklist_removals) blacklist_told_.erase(host);
  unanswered_.reset();
  for (const yarn::ContainerStatus& status : response.completed_containers) {
    releases_pending_.erase(status.id);
    releases_told_.erase(status.id);
  }
  TakeNmTokens(response.nm_tokens);
  if (response.am_rm_token.has_value()) am_rm_token_ = response.am_rm_token;
}

void RmSession::OnAllocateFailed(Instant now, const yarn::RpcError& error, RmNews& news) {
  call_.outstanding = false;
  next_send_ = call_.sent + options_.heartbeat;
  switch (MeaningOf(error)) {
    case RpcMeaning::kNoAnswer:
      return;
    case RpcMeaning::kUnregistered:
      Resync(now);
      return;
    case RpcMeaning::kOver:
    case RpcMeaning::kTokenRefused:
      Stop(error, news);
      return;
    case RpcMeaning::kOutOfTurn:
      if (const auto expected = ExpectedResponseId(error.message); expected.has_value()) {
        TF_PROBE("session/response-id-adopted");
        AdoptResponseId(error, *expected, news);
      } else {
        Resync(now);
      }
      return;
    case RpcMeaning::kPartRefused:
      news.rejected = error;
      Refuse(error);
      return;
    case RpcMeaning::kFailed:
      news.rejected = error;
      return;
  }
}

/// Nothing of the request was taken, and the part at fault will not be taken either next time.
void RmSession::Refuse(const yarn::RpcError& error) {
  TF_PROBE("session/refused");
  asks_.OnRefused();
  if (error.code == yarn::RpcErrorCode::kInvalidContainerRelease) {
    for (const ContainerId& container : unanswered_->release) releases_pending_.erase(container);
  } else if (error.code == yarn::RpcErrorCode::kInvalidResourceBlacklistRequest) {
    blacklist_refused_ = true;
  } else {
    asks_refused_ = true;
  }
  unanswered_.reset();
}

/// The RM has answered more often than we know of. What was in those answers is lost, so everything
/// is told again.
void RmSession::AdoptResponseId(const yarn::RpcError& error, std::int32_t expected, RmNews& news) {
  news.resynced = true;
  news.rejected = error;
  ForgetTold();
  last_response_id_ = expected;
}

void RmSession::Resync(Instant now) {
  TF_PROBE("session/resync");
  ForgetTold();
  registered_ = false;
  // At once, unless that is what was just tried: an RM that registers us and forgets us at once
  // must not be hammered.
  next_send_ = now;
  if (last_register_.has_value()) {
    next_send_ = std::max(now, *last_register_ + options_.register_backoff_first);
  }
}

void RmSession::ForgetTold() {
  unanswered_.reset();
  latest_was_elided_ = false;
  last_response_id_ = 0;
  asks_.ForgetTold();
  blacklist_told_.clear();
  releases_pending_.merge(releases_told_);
  releases_told_.clear();
}

// ---------------------------------------------------------------- finish

void RmSession::OnFinishAnswered(Instant now, const yarn::RmResponse& response, RmNews& news) {
  if (const auto* error = std::get_if<yarn::RpcError>(&response); error != nullptr) {
    OnFinishFailed(now, *error, news);
    return;
  }
  const auto* finished = std::get_if<yarn::FinishApplicationMasterResponse>(&response);
  if (finished == nullptr) {
    news.ignored = "RM answered finishApplicationMaster with something else";
    return;
  }
  call_.outstanding = false;
  finish_acknowledged_ = true;
  next_send_ = now + options_.finish_interval;
  news.finished = finished->is_unregistered;
  stopped_ = news.finished;
}

void RmSession::OnFinishFailed(Instant now, const yarn::RpcError& error, RmNews& news) {
  call_.outstanding = false;
  next_send_ = std::max(now, call_.sent + options_.finish_retry);
  switch (MeaningOf(error)) {
    case RpcMeaning::kUnregistered:
      Resync(now);
      return;
    case RpcMeaning::kOver:
    case RpcMeaning::kTokenRefused:
    case RpcMeaning::kOutOfTurn:
      // Once the RM has said "not yet" it goes on by itself, and forgets the attempt when it is
      // through.
      if (finish_acknowledged_) {
        TF_PROBE("session/finished-by-itself");
        news.finished = true;
        stopped_ = true;
      } else {
        Stop(error, news);
      }
      return;
    case RpcMeaning::kNoAnswer:
      return;
    case RpcMeaning::kPartRefused:
    case RpcMeaning::kFailed:
      news.rejected = error;
      return;
  }
}

void RmSession::Stop(const yarn::RpcError& error, RmNews& news) {
  TF_PROBE("session/attempt-is-over");
  stopped_ = true;
  call_.outstanding = false;
  latest_was_elided_ = false;
  news.must_stop = error.message.empty() ? std::string(EnumeratorName(error.code)) : error.message;
}

}  // namespace tfyarn::allocation
