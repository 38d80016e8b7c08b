#include "fakes/yarn-rm/rm_core.h"

#include <algorithm>

#include "core/model/check.h"
#include "core/model/probe.h"
#include "core/model/response_id.h"

namespace tfyarn::fakes {
namespace {

/// Time from a key's creation to its use, so that every NM (or AM) has heard of it.
Duration ActivationDelay(Duration expiry) {
  return expiry + expiry / 2;
}

}  // namespace

RmCore::RmCore(RmOptions options, std::uint64_t seed)
    : RmContext(std::move(options)),
      rm_identifier_(records_.options.cluster_timestamp),
      tokens_(std::make_shared<TokenBook>()),
      amrm_key_{.key = {},
                .every = records_.options.amrm_token_roll,
                .activation = ActivationDelay(records_.options.am_expiry)},
      nm_key_{.key = {},
              .every = records_.options.nm_token_roll,
              .activation = ActivationDelay(records_.options.nm_expiry)},
      container_key_{.key = {},
                     .every = records_.options.nm_token_roll,
                     .activation = ActivationDelay(records_.options.nm_expiry)},
      resource_types_(records_.options.resource_types.begin(),
                      records_.options.resource_types.end()) {
  scheduler_ = MakeScheduler(records_.options.scheduler, *this, seed);
  books_.partitions = records_.partitions;
  for (const std::string& partition : records_.options.partitions) (void)PartitionNumber(partition);
  for (std::size_t q = 0; q < records_.queues.size(); ++q)
    books_.queues.push_back(&records_.queues[static_cast<std::int32_t>(q)]);
  for (RollingKey* key : {&amrm_key_, &nm_key_, &container_key_})
    key->key.rolls_at = Instant{} + key->every;
  ArmKey(TimerKind::kAmrmKey, amrm_key_);
  ArmKey(TimerKind::kNmKey, nm_key_);
  ArmKey(TimerKind::kContainerKey, container_key_);
}

RmCore::RmCore(RmOptions options, const RmStateStore& store, std::uint64_t seed, Instant now)
    : RmCore(std::move(options), seed + static_cast<std::uint64_t>(store.epoch) + 1) {
  records_.now = now;
  Recover(store);
}

void RmCore::Step(Instant now, const RmEvent& event, std::vector<RmAction>& actions) {
  TF_CHECK(now >= records_.now);
  records_.now = now;
  actions_ = &actions;
  std::visit([this](const auto& e) { On(e); }, event);
  StartNextAttempts();
  scheduler_->Settle();
  actions_ = nullptr;
}

std::optional<Instant> RmCore::next_deadline() const {
  Instant next = kNever;
  if (!timers_.empty()) next = timers_.begin()->at;
  if (const auto at = scheduler_->announce_at()) next = std::min(next, *at);
  if (!unstarted_.empty()) next = std::min(next, unstarted_.front().first);
  if (next == kNever) return std::nullopt;
  return next;
}

// ---------------------------------------------------------------- events

void RmCore::On(const RmCall& call) {
  Emit(RmReply{.id = call.id,
               .response = std::visit([&](const auto& request) { return Answer(call, request); },
                                      call.request)});
}

void RmCore::On(const NmAnswered& answer) {
  const auto launch = launches_.find(answer.id);
  if (launch == launches_.end()) {
    Note("answer to a start that is no longer awaited");
    return;
  }
  RmApplication* application = records_.Find(launch->second);
  launches_.erase(launch);
  if (application == nullptr || application->attempt.launch_call != answer.id) return;
  OnLaunchAnswer(*application, answer);
}

void RmCore::On(const RmDeadlineReached&) {
  while (!timers_.empty() && timers_.begin()->at <= records_.now) {
    const Timer timer = *timers_.begin();
    timers_.erase(timers_.begin());
    OnTimer(timer);
  }
  ExpireContainers();
}

void RmCore::On(const AmHeartbeatsElided& elided) {
  RmApplication* application = records_.Find(elided.attempt.application);
  if (application == nullptr || application->attempt.id != elided.attempt) return;
  RmAttempt& attempt = application->attempt;
  attempt.response_id = ResponseIdAfter(attempt.response_id, elided.count);
  if (elided.count > 0) attempt.last_response.reset();
  attempt.last_heard = std::max(attempt.last_heard, elided.last);
}

void RmCore::On(const NodeHeartbeatsElided& elided) {
  RmNode* node = records_.nodes.Find(elided.node);
  if (node == nullptr) return;
  node->response_id = ResponseIdAfter(node->response_id, elided.count);
  if (elided.count > 0) node->last_response.reset();
  node->last_heard = std::max(node->last_heard, elided.last);
}

void RmCore::On(const AmVouched& vouched) {
  RmApplication* application = records_.Find(vouched.attempt.application);
  if (application == nullptr || application->attempt.id != vouched.attempt) return;
  application->attempt.vouched = vouched.vouched;
  if (vouched.vouched) {
    UnwatchAm(*application);
  } else {
    application->attempt.last_heard = std::max(application->attempt.last_heard, vouched.last);
    WatchAm(*application);
  }
}

void RmCore::On(const NodeVouched& vouched) {
  RmNode* node = records_.nodes.Find(vouched.node);
  if (node == nullptr) return;
  node->vouched = vouched.vouched;
  if (vouched.vouched) {
    UnwatchNode(*node);
  } else {
    node->last_heard = std::max(node->last_heard, vouched.last);
    WatchNode(*node);
  }
}

// ---------------------------------------------------------------- timers

// A watch is armed anew only when it is over, for what was heard meanwhile. An RM that stood still
// finds several over at once: they come in the order of what was heard, whenever they were armed.
void RmCore::OnTimer(const Timer& timer) {
  switch (timer.kind) {
    case TimerKind::kAmrmKey:
      RollKey(timer.kind, amrm_key_);
      break;
    case TimerKind::kNmKey:
      RollKey(timer.kind, nm_key_);
      break;
    case TimerKind::kContainerKey:
      RollKey(timer.kind, container_key_);
      break;
    case TimerKind::kSchedulingReady:
      records_.ready_at.reset();
      nodes_awaited_ = 0;
      scheduler_->OnReady();
      break;
    case TimerKind::kNodeExpiry: {
      RmNode& node = records_.nodes.At(static_cast<std::int32_t>(timer.a));
      node.watched_until.reset();
      if (node.vouched) break;
      if (node.last_heard + records_.options.nm_expiry > timer.at) {
        WatchNode(node);
      } else {
        DeactivateNode(node, yarn::NodeState::kLost);
      }
      break;
    }
    case TimerKind::kAmExpiry: {
      RmApplication* application =
          records_.Find(ApplicationId{timer.a, static_cast<std::int32_t>(timer.b)});
      if (application == nullptr || application->attempt.vouched) break;
      application->attempt.watched_until.reset();
      if (application->attempt.last_heard + records_.options.am_expiry > timer.at) {
        WatchAm(*application);
      } else {
        OnAmExpired(*application);
      }
      break;
    }
    case TimerKind::kLaunchRetry: {
      RmApplication* application =
          records_.Find(ApplicationId{timer.a, static_cast<std::int32_t>(timer.b)});
      if (application == nullptr || application->attempt.launch_retry_at != timer.at) break;
      application->attempt.launch_retry_at.reset();
      CallAmLaunch(*application);
      break;
    }
    case TimerKind::kPreemptKill: {
      const auto chosen = records_.preempting.find(static_cast<std::uint64_t>(timer.a));
      if (chosen == records_.preempting.end()) break;
      const Preempted container = chosen->second;
      records_.preempting.erase(chosen);
      TF_PROBE("yarn/preempted-after-its-notice");
      PreemptNow(container);
      break;
    }
    case TimerKind::kScheduler:
      scheduler_->OnWake();
      break;
  }
}

void RmCore::ArmKey(TimerKind kind, const RollingKey& key) {
  timers_.insert({.at = key.key.next ? key.key.activates_at : key.key.rolls_at, .kind = kind});
}

// Source: AMRMTokenSecretManager.rollMasterKey, activateNextMasterKey, and the same of the two
// others.
void RmCore::RollKey(TimerKind kind, RollingKey& rolling) {
  StoredKey& key = rolling.key;
  if (key.next) {
    TF_PROBE("yarn/next-key-in-use");
    key.current = *key.next;
    key.next.reset();
    key.rolls_at = std::max(key.rolls_at + rolling.every, records_.now + Duration(1));
    // Every node's next grant comes with a new token.
    if (kind == TimerKind::kNmKey) {
      for (auto& [id, application] : records_.applications)
        application->attempt.nm_tokens_sent.clear();
    }
  } else {
    key.next = key.current + 1;
    key.activates_at = records_.now + rolling.activation;
    if (kind == TimerKind::kAmrmKey) {
      for (auto& [id, application] : records_.applications) {
        if (application->attempt.registered) NewsFor(*application);
      }
    } else {
      for (RmNode& node : records_.nodes) NewsFor(node);
    }
  }
  ArmKey(kind, rolling);
}

void RmCore::WatchAm(RmApplication& application) {
  RmAttempt& attempt = application.attempt;
  const bool alive = attempt.state == AttemptState::kLaunched ||
                     attempt.state == AttemptState::kRunning ||
                     attempt.state == AttemptState::kFinishing;
  if (attempt.vouched || attempt.watched_until || !alive) return;
  attempt.watched_until = attempt.last_heard + records_.options.am_expiry;
  timers_.insert(TimerOf(*attempt.watched_until, TimerKind::kAmExpiry, application.id));
}

void RmCore::UnwatchAm(RmApplication& application) {
  if (!application.attempt.watched_until) return;
  timers_.erase(TimerOf(*application.attempt.watched_until, TimerKind::kAmExpiry, application.id));
  application.attempt.watched_until.reset();
}

void RmCore::WatchNode(RmNode& node) {
  const bool alive = node.state == yarn::NodeState::kRunning ||
                     node.state == yarn::NodeState::kUnhealthy ||
                     node.state == yarn::NodeState::kDecommissioning;
  if (node.vouched || node.watched_until || !alive) return;
  node.watched_until = node.last_heard + records_.options.nm_expiry;
  timers_.insert({.at = *node.watched_until, .kind = TimerKind::kNodeExpiry, .a = node.index});
}

void RmCore::UnwatchNode(RmNode& node) {
  if (!node.watched_until) return;
  timers_.erase({.at = *node.watched_until, .kind = TimerKind::kNodeExpiry, .a = node.index});
  node.watched_until.reset();
}

// Source: ContainerAllocationExpirer.java, RMContainerImpl.java (ACQUIRED -> EXPIRED).
void RmCore::ExpireContainers() {
  while (!unstarted_.empty()) {
    const auto [at, id] = unstarted_.front();
    BookedContainer* container = records_.Find(id);
    const bool waits = container != nullptr && container->state == BookedState::kAcquired;
    if (waits && at > records_.now) return;
    unstarted_.pop_front();
    if (!waits) continue;
    Complete(*records_.Find(id.application_attempt.application), *container,
             {.exit_status = -100, .diagnostics = "Container expired since it was unused"});
  }
}

// ---------------------------------------------------------------- news and look-ups

void RmCore::NewsFor(RmApplication& application) {
  if (application.news_announced) return;
  application.news_announced = true;
  Emit(NewsForAttempt{.attempt = application.attempt.id});
}

void RmCore::NewsFor(RmNode& node) {
  if (!node.news_announced) SayNews(node);
}

yarn::Token RmCore::AmRmTokenOf(const ApplicationAttemptId& attempt) const {
  return MakeAmRmToken(amrm_key_.key.current, attempt);
}

bool RmCore::ConfirmNewsForNode(const NodeId& id) {
  if (HasNewsForNode(id)) return true;
  RmNode& node = *records_.nodes.Find(id);
  node.news_announced = false;
  scheduler_->OnHeartbeatLeftOut(node);
  return false;
}

bool RmCore::HasNewsForNode(const NodeId& id) const {
  const RmNode* node = records_.nodes.Find(id);
  if (node == nullptr || HasOrders(*node)) return true;
  return scheduler_->HasUseFor(*node);
}

}  // namespace tfyarn::fakes
