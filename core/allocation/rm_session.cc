#include "core/allocation/rm_session.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/model/check.h"
#include "core/model/probe.h"
#include "core/model/response_id.h"

namespace tfyarn::allocation {
RmSession::RmSession(RmSessionOptions options) : options_(options) {
  TF_CHECK(options.fast_heartbeat > Duration::zero());
  TF_CHECK(options.heartbeat >= options.fast_heartbeat);
  TF_CHECK(options.reply_timeout > Duration::zero());
  TF_CHECK(options.register_backoff_first > Duration::zero());
  TF_CHECK(options.register_backoff_first <= options.register_backoff_max);
}

// ---------------------------------------------------------------- what is wanted

void RmSession::Register(yarn::RegisterApplicationMasterRequest request) {
  TF_CHECK(!registration_.has_value());
  registration_ = std::move(request);
  register_backoff_ = options_.register_backoff_first;
}

void RmSession::SetAsks(std::vector<Ask> asks) {
  if (asks_.SetWanted(std::move(asks))) asks_refused_ = false;
}

void RmSession::SetBlacklist(const std::set<std::string>& hosts) {
  if (hosts == blacklist_wanted_) return;
  TF_CHECK(!hosts.contains("*"));
  blacklist_wanted_ = hosts;
  blacklist_refused_ = false;
}

std::set<std::string> RmSession::BlacklistOfRm() const {
  std::set<std::string> hosts = blacklist_told_;
  if (unanswered_)
    hosts.insert(unanswered_->blacklist_additions.begin(), unanswered_->blacklist_additions.end());
  return hosts;
}

void RmSession::Release(const ContainerId& container) {
  if (!releases_told_.contains(container)) releases_pending_.insert(container);
}

void RmSession::SetProgress(std::int32_t permille) {
  progress_permille_ = std::clamp(permille, 0, 1000);
}

void RmSession::Finish(yarn::FinishApplicationMasterRequest request) {
  if (finish_.has_value() || stopped_) return;
  finish_ = std::move(request);
  // An allocate under way is of no interest any more; a registration is waited for.
  if (registered_) {
    call_.outstanding = false;
    unanswered_.reset();
    latest_was_elided_ = false;
    next_send_ = Instant::min();
  }
}

bool RmSession::HasSomethingToSay() const {
  return (asks_.changed() && !asks_refused_) || !releases_pending_.empty() ||
         (blacklist_wanted_ != blacklist_told_ && !blacklist_refused_);
}

bool RmSession::everything_told() const {
  return registered_ && !HasSomethingToSay() && (!unanswered_.has_value() || IsIdle(*unanswered_));
}

// ---------------------------------------------------------------- sending

Instant RmSession::due() const {
  if (!registration_.has_value() || stopped_) return kNever;
  return call_.outstanding ? call_.sent + options_.reply_timeout : next_send();
}

Instant RmSession::next_send() const {
  const bool allocates = registered_ && !finish_.has_value() && call_.kind == CallKind::kAllocate;
  if (!allocates || !HasSomethingToSay()) return next_send_;
  return std::min(next_send_, call_.sent + options_.fast_heartbeat);
}

bool RmSession::InAHurry(Instant now) const {
  return now < fast_until_ && asks_.told_total() > 0;
}

std::optional<Instant> RmSession::next_deadline() const {
  const Instant at = due();
  return at == kNever ? std::nullopt : std::optional<Instant>(at);
}

std::optional<Instant> RmSession::next_decision() const {
  const bool fast = next_send_ < call_.sent + options_.heartbeat;
  // The first answer says how many nodes there are.
  const bool first = call_.kind != CallKind::kAllocate;
  const bool idle = registered_ && !first && !finish_.has_value() && !call_.outstanding && !fast &&
                    !unanswered_.has_value() && !HasSomethingToSay();
  return idle ? std::nullopt : next_deadline();
}

void RmSession::OnTime(Instant now, std::vector<AmAction>& actions) {
  if (now < due()) return;
  if (!registered_) {
    SendRegister(now, actions);
  } else if (finish_.has_value()) {
    SendFinish(now, actions);
  } else {
    SendAllocate(now, actions);
  }
}

void RmSession::Send(Instant now, CallKind kind, bool again, yarn::RmRequest request,
                     std::vector<AmAction>& actions) {
  const CallId id = call_.id.next();
  call_ = {
      .kind = kind, .first = again ? call_.first : id, .id = id, .sent = now, .outstanding = true};
  latest_was_elided_ = false;
  actions.emplace_back(CallRm{.call = id, .request = std::move(request)});
}

void RmSession::SendRegister(Instant now, std::vector<AmAction>& actions) {
  const bool again = call_.kind == CallKind::kRegister && call_.outstanding;
  if (again) TF_PROBE("session/registration-repeated");
  last_register_ = now;
  Send(now, CallKind::kRegister, again, *registration_, actions);
}

void RmSession::SendAllocate(Instant now, std::vector<AmAction>& actions) {
  const bool again = unanswered_.has_value();
  if (!again) unanswered_ = ComposeAllocate();
  if (!again && !unanswered_->ask.empty()) fast_until_ = now + options_.fast_for;
  Send(now, CallKind::kAllocate, again, *unanswered_, actions);
}

void RmSession::SendFinish(Instant now, std::vector<AmAction>& actions) {
  Send(now, CallKind::kFinish, call_.kind == CallKind::kFinish, *finish_, actions);
}

yarn::AllocateRequest RmSession::ComposeAllocate() {
  yarn::AllocateRequest request{.response_id = last_response_id_,
                                .progress_permille = progress_permille_};
  if (!asks_refused_) request.ask = asks_.TakeChanges();
  request.release.assign(releases_pending_.begin(), releases_pending_.end());
  if (!blacklist_refused_) {
    std::set_difference(blacklist_wanted_.begin(), blacklist_wanted_.end(), blacklist_told_.begin(),
                        blacklist_told_.end(), std::back_inserter(request.blacklist_additions));
    std::set_difference(blacklist_told_.begin(), blacklist_told_.end(), blacklist_wanted_.begin(),
                        blacklist_wanted_.end(), std::back_inserter(request.blacklist_removals));
  }
  return request;
}

// ---------------------------------------------------------------- elision

void RmSession::OnElided(const HeartbeatsElided& elided) {
  if (elided.count == 0) return;
  TF_CHECK(registered_ && !finish_.has_value());
  // A heartbeat that was really sent is answered by now, idly, like those that were not.
  if (unanswered_.has_value()) {
    TF_CHECK(IsIdle(*unanswered_));
    unanswered_.reset();
    last_response_id_ = ResponseIdAfter(last_response_id_, 1);
  }
  last_response_id_ = ResponseIdAfter(last_response_id_, elided.count);
  const CallId id(call_.id.value + elided.count);
  call_ = {.kind = CallKind::kAllocate,
           .first = id,
           .id = id,
           .sent = elided.last,
           .outstanding = false};
  next_send_ = elided.last + options_.heartbeat;
  latest_was_elided_ = true;
}

/// The latest elided heartbeat was not answered idly after all: back to where it is unanswered.
void RmSession::UndoElision() {
  latest_was_elided_ = false;
  last_response_id_ = ResponseIdBefore(last_response_id_);
  unanswered_ = yarn::AllocateRequest{.response_id = last_response_id_,
                                      .progress_permille = progress_permille_};
}

// ---------------------------------------------------------------- tokens

void RmSession::TakeNmTokens(const std::vector<yarn::NmToken>& tokens) {
  for (const yarn::NmToken& token : tokens) nm_tokens_[token.node] = token.token;
}

const yarn::Token* RmSession::NmToken(const NodeId& node) const {
  const auto at = nm_tokens_.find(node);
  return at == nm_tokens_.end() ? nullptr : &at->second;
}

}  // namespace tfyarn::allocation
