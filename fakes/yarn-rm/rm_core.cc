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
    : options_(std::move(options)),
      random_(seed, "yarn-scheduler"),
      rm_identifier_(options_.cluster_timestamp),
      tokens_(std::make_shared<TokenBook>()),
      amrm_key_{.key = {},
                .every = options_.amrm_token_roll,
                .activation = ActivationDelay(options_.am_expiry)},
      nm_key_{.key = {},
              .every = options_.nm_token_roll,
              .activation = ActivationDelay(options_.nm_expiry)},
      container_key_{.key = {},
                     .every = options_.nm_token_roll,
                     .activation = ActivationDelay(options_.nm_expiry)},
      ring_(options_.nm_heartbeat, options_.heartbeat_jitter),
      partitions_{""},
      resource_types_(options_.resource_types.begin(), options_.resource_types.end()),
      queues_(options_),
      capacity_(options_, queues_, shapes_) {
  books_.partitions = partitions_;
  for (const std::string& partition : options_.partitions) (void)PartitionNumber(partition);
  for (std::size_t q = 0; q < queues_.size(); ++q)
    books_.queues.push_back(&queues_[static_cast<std::int32_t>(q)]);
  for (RollingKey* key : {&amrm_key_, &nm_key_, &container_key_})
    key->key.rolls_at = Instant{} + key->every;
  ArmKey(TimerKind::kAmrmKey, amrm_key_);
  ArmKey(TimerKind::kNmKey, nm_key_);
  ArmKey(TimerKind::kContainerKey, container_key_);
}

RmCore::RmCore(RmOptions options, const RmStateStore& store, std::uint64_t seed, Instant now)
    : RmCore(std::move(options), seed + static_cast<std::uint64_t>(store.epoch) + 1) {
  now_ = now;
  Recover(store);
}

void RmCore::Step(Instant now, const RmEvent& event, std::vector<RmAction>& actions) {
  TF_CHECK(now >= now_);
  now_ = now;
  actions_ = &actions;
  std::visit([this](const auto& e) { On(e); }, event);
  StartNextAttempts();
  if (scheduler_dirty_) {
    scheduler_dirty_ = false;
    if (is_capacity()) {
      if (capacity_.RefreshInterest(static_cast<std::int32_t>(partitions_.size()))) {
        announced_slots_ = 0;  // what was of no interest may be now
        announce_at_ = now_;
      }
      AnnounceDeclined();
      ArmMonitor();
    } else {
      WantPass();
    }
  }
  if (announce_at_ && *announce_at_ <= now_) Announce();
  actions_ = nullptr;
}

std::optional<Instant> RmCore::next_deadline() const {
  Instant next = kNever;
  if (!timers_.empty()) next = timers_.begin()->at;
  if (announce_at_) next = std::min(next, *announce_at_);
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
  RmApplication* application = FindApplication(launch->second);
  launches_.erase(launch);
  if (application == nullptr || application->attempt.launch_call != answer.id) return;
  OnLaunchAnswer(*application, answer);
}

void RmCore::On(const RmDeadlineReached&) {
  while (!timers_.empty() && timers_.begin()->at <= now_) {
    const Timer timer = *timers_.begin();
    timers_.erase(timers_.begin());
    OnTimer(timer);
  }
  ExpireContainers();
}

void RmCore::On(const AmHeartbeatsElided& elided) {
  RmApplication* application = FindApplication(elided.attempt.application);
  if (application == nullptr || application->attempt.id != elided.attempt) return;
  RmAttempt& attempt = application->attempt;
  attempt.response_id = ResponseIdAfter(attempt.response_id, elided.count);
  if (elided.count > 0) attempt.last_response.reset();
  attempt.last_heard = std::max(attempt.last_heard, elided.last);
}

void RmCore::On(const NodeHeartbeatsElided& elided) {
  RmNode* node = FindNode(elided.node);
  if (node == nullptr) return;
  node->response_id = ResponseIdAfter(node->response_id, elided.count);
  if (elided.count > 0) node->last_response.reset();
  node->last_heard = std::max(node->last_heard, elided.last);
}

void RmCore::On(const AmVouched& vouched) {
  RmApplication* application = FindApplication(vouched.attempt.application);
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
  RmNode* node = FindNode(vouched.node);
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
      ready_at_.reset();
      nodes_awaited_ = 0;
      scheduler_dirty_ = true;
      announced_slots_ = 0;
      announce_at_ = now_;
      break;
    case TimerKind::kNodeExpiry: {
      RmNode& node = NodeAt(static_cast<std::int32_t>(timer.a));
      node.watched_until.reset();
      if (node.vouched) break;
      if (node.last_heard + options_.nm_expiry > timer.at) {
        WatchNode(node);
      } else {
        DeactivateNode(node, yarn::NodeState::kLost);
      }
      break;
    }
    case TimerKind::kAmExpiry: {
      RmApplication* application = FindApplication({timer.a, static_cast<std::int32_t>(timer.b)});
      if (application == nullptr || application->attempt.vouched) break;
      application->attempt.watched_until.reset();
      if (application->attempt.last_heard + options_.am_expiry > timer.at) {
        WatchAm(*application);
      } else {
        OnAmExpired(*application);
      }
      break;
    }
    case TimerKind::kLaunchRetry: {
      RmApplication* application = FindApplication({timer.a, static_cast<std::int32_t>(timer.b)});
      if (application == nullptr || application->attempt.launch_retry_at != timer.at) break;
      application->attempt.launch_retry_at.reset();
      CallAmLaunch(*application);
      break;
    }
    case TimerKind::kPreemptKill: {
      const auto chosen = preempting_.find(static_cast<std::uint64_t>(timer.a));
      if (chosen == preempting_.end()) break;
      const Preempted container = chosen->second;
      preempting_.erase(chosen);
      TF_PROBE("yarn/preempted-after-its-notice");
      PreemptNow(container);
      break;
    }
    case TimerKind::kPreemptionMonitor:
      monitor_armed_ = false;
      MonitorQueues();
      break;
    case TimerKind::kPass:
      pass_wanted_ = false;
      Pass();
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
    key.rolls_at = std::max(key.rolls_at + rolling.every, now_ + Duration(1));
    // Every node's next grant comes with a new token.
    if (kind == TimerKind::kNmKey) {
      for (auto& [id, application] : applications_) application->attempt.nm_tokens_sent.clear();
    }
  } else {
    key.next = key.current + 1;
    key.activates_at = now_ + rolling.activation;
    if (kind == TimerKind::kAmrmKey) {
      for (auto& [id, application] : applications_) {
        if (application->attempt.registered) NewsFor(*application);
      }
    } else {
      for (RmNode& node : nodes_) NewsFor(node);
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
  attempt.watched_until = attempt.last_heard + options_.am_expiry;
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
  node.watched_until = node.last_heard + options_.nm_expiry;
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
    BookedContainer* container = FindContainer(id);
    const bool waits = container != nullptr && container->state == BookedState::kAcquired;
    if (waits && at > now_) return;
    unstarted_.pop_front();
    if (!waits) continue;
    Complete(*FindApplication(id.application_attempt.application), *container,
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
  if (node.news_announced) return;
  node.news_announced = true;
  Emit(NewsForNode{.node = node.id});
}

RmApplication* RmCore::FindApplication(const ApplicationId& id) {
  const auto found = applications_.find(id);
  return found == applications_.end() ? nullptr : found->second.get();
}

RmNode* RmCore::FindNode(const NodeId& id) {
  const auto found = node_by_id_.find(id);
  return found == node_by_id_.end() ? nullptr : &NodeAt(found->second);
}

const RmNode* RmCore::FindNode(const NodeId& id) const {
  const auto found = node_by_id_.find(id);
  return found == node_by_id_.end() ? nullptr : &nodes_[static_cast<std::size_t>(found->second)];
}

BookedContainer* RmCore::FindContainer(const ContainerId& id) {
  RmApplication* application = FindApplication(id.application_attempt.application);
  if (application == nullptr) return nullptr;
  const auto found = application->containers.find(id);
  return found == application->containers.end() ? nullptr : &found->second;
}

yarn::Token RmCore::AmRmTokenOf(const ApplicationAttemptId& attempt) const {
  return MakeAmRmToken(amrm_key_.key.current, attempt);
}

bool RmCore::ConfirmNewsForNode(const NodeId& id) {
  if (HasNewsForNode(id)) return true;
  RmNode& node = *FindNode(id);
  node.news_announced = false;
  if (node.schedulable) declined_.insert(node.index);
  return false;
}

bool RmCore::HasNewsForNode(const NodeId& id) const {
  const RmNode* node = FindNode(id);
  if (node == nullptr || HasOrders(*node)) return true;
  return is_capacity() && SchedulingAllowed() && capacity_.MayInterest(*node) &&
         capacity_.Find(*node).DoesSomething();
}

}  // namespace tfyarn::fakes
