#include "fakes/yarn-rm/rm_core.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/model/check.h"
#include "core/model/response_id.h"

namespace tfyarn::fakes {

RmCore::RmCore(RmOptions options, std::uint64_t seed)
    : records_(std::move(options)),
      applications_(records_, out_, timers_, seed),
      nodes_(records_, out_, timers_, applications_),
      clients_(records_, applications_),
      masters_(records_, out_, applications_),
      trackers_(records_, out_, applications_, nodes_) {
  ArmKeys();
}

RmCore::RmCore(RmOptions options, const RmStateStore& store, std::uint64_t seed, Instant now)
    : RmCore(std::move(options), seed + static_cast<std::uint64_t>(store.epoch) + 1) {
  records_.now = now;
  Recover(store);
}

void RmCore::Step(Instant now, const RmEvent& event, std::vector<RmAction>& actions) {
  TF_CHECK(now >= records_.now);
  records_.now = now;
  out_.Open(actions);
  std::visit([this](const auto& e) { On(e); }, event);
  applications_.StartNextAttempts();
  applications_.scheduler().Settle();
  out_.Close();
}

std::optional<Instant> RmCore::next_deadline() const {
  Instant next = std::min(timers_.next(), applications_.next_expiry());
  if (const auto at = applications_.scheduler().announce_at()) next = std::min(next, *at);
  if (next == kNever) return std::nullopt;
  return next;
}

// ---------------------------------------------------------------- events

void RmCore::On(const RmCall& call) {
  out_.Emit(RmReply{.id = call.id,
                    .response = std::visit(
                        [&](const auto& request) { return Answer(call, request); }, call.request)});
}

// An RM that stood still finds several watches over at once: they come in the order of what was
// heard, whenever they were armed.
void RmCore::On(const RmDeadlineReached&) {
  while (const auto timer = timers_.TakeDue(records_.now)) OnTimer(*timer);
  applications_.ExpireContainers();
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

void RmCore::OnTimer(const RmTimers::Timer& timer) {
  switch (timer.kind) {
    case RmTimers::Kind::kAmrmKey:
      TurnKey(timer.kind, records_.amrm_key);
      break;
    case RmTimers::Kind::kNmKey:
      TurnKey(timer.kind, records_.nm_key);
      break;
    case RmTimers::Kind::kContainerKey:
      TurnKey(timer.kind, records_.container_key);
      break;
    case RmTimers::Kind::kSchedulingReady:
      records_.ready_at.reset();
      records_.limits.StopWaiting();
      applications_.scheduler().OnReady();
      break;
    case RmTimers::Kind::kNodeExpiry:
      nodes_.OnWatchOver(records_.nodes.At(static_cast<std::int32_t>(timer.a)), timer.at);
      break;
    case RmTimers::Kind::kAmExpiry:
      applications_.OnWatchOver(timer.application(), timer.at);
      break;
    case RmTimers::Kind::kLaunchRetry:
      applications_.OnLaunchRetry(timer.application(), timer.at);
      break;
    case RmTimers::Kind::kPreemptKill:
      applications_.OnNoticeOver(static_cast<std::uint64_t>(timer.a));
      break;
    case RmTimers::Kind::kScheduler:
      applications_.scheduler().OnWake();
      break;
  }
}

// ---------------------------------------------------------------- keys

void RmCore::ArmKeys() {
  timers_.Set(records_.amrm_key.due(), RmTimers::Kind::kAmrmKey);
  timers_.Set(records_.nm_key.due(), RmTimers::Kind::kNmKey);
  timers_.Set(records_.container_key.due(), RmTimers::Kind::kContainerKey);
}

void RmCore::TurnKey(RmTimers::Kind kind, MasterKey& key) {
  switch (key.TakeTurn(records_.now)) {
    case MasterKey::Turn::kNextIsSpread:
      SpreadKey(kind);
      break;
    case MasterKey::Turn::kNextIsUsed:
      // Every node's next grant comes with a new token.
      if (kind != RmTimers::Kind::kNmKey) break;
      for (auto& [id, application] : records_.applications)
        application->attempt.nm_tokens_sent.clear();
      break;
  }
  timers_.Set(key.due(), kind);
}

void RmCore::SpreadKey(RmTimers::Kind kind) {
  if (kind != RmTimers::Kind::kAmrmKey) {
    for (RmNode& node : records_.nodes) out_.NewsFor(node);
    return;
  }
  for (auto& [id, application] : records_.applications) {
    if (application->attempt.registered) out_.NewsFor(*application);
  }
}

yarn::Token RmCore::AmRmTokenOf(const ApplicationAttemptId& attempt) const {
  return MakeAmRmToken(records_.amrm_key.current(), attempt);
}

// ---------------------------------------------------------------- news

bool RmCore::ConfirmNewsForNode(const NodeId& id) {
  if (HasNewsForNode(id)) return true;
  RmNode& node = *records_.nodes.Find(id);
  node.news_announced = false;
  applications_.scheduler().OnHeartbeatLeftOut(node);
  return false;
}

bool RmCore::HasNewsForNode(const NodeId& id) const {
  const RmNode* node = records_.nodes.Find(id);
  if (node == nullptr || trackers_.HasOrders(*node)) return true;
  return applications_.scheduler().HasUseFor(*node);
}

// ---------------------------------------------------------------- restart

RmStateStore RmCore::StateStore() const {
  RmStateStore store{
      .epoch = records_.epoch,
      .amrm_key = records_.amrm_key.stored(),
      .nm_key = records_.nm_key.stored(),
      .container_key = records_.container_key.stored(),
      .tokens = records_.tokens,
      .nodes = records_.nodes.schedulable(),
      .largest_node = records_.limits.largest_node(),
      .partitions = records_.partitions,
      .resource_types = {records_.limits.types().begin(), records_.limits.types().end()}};
  std::map<std::uint64_t, const RmApplication*> in_order;
  for (const auto& [id, application] : records_.applications)
    in_order.emplace(application->sequence, application.get());
  for (const auto& [sequence, application] : in_order) {
    const RmAttempt& attempt = application->attempt;
    StoredApplication stored{.submission = application->submission,
                             .attempt = attempt.id.attempt,
                             .counted_failures = application->counted_failures,
                             .am_container = attempt.am_container,
                             .finishing = attempt.state == AttemptState::kFinishing,
                             .final_status = application->final_status,
                             .diagnostics = application->diagnostics,
                             .tracking_url = application->tracking_url};
    store.applications.push_back(std::move(stored));
  }
  for (const ApplicationId& id : records_.ended.order()) {
    if (const auto* report = records_.ended.Find(id)) store.ended.push_back(*report);
  }
  return store;
}

void RmCore::Recover(const RmStateStore& store) {
  std::vector<RmAction> unheard;  // the host takes no actions before the first Step
  out_.Open(unheard);
  records_.epoch = store.epoch + 1;
  records_.started_at = records_.now;
  records_.rm_identifier =
      records_.options.cluster_timestamp +
      std::max<std::int64_t>(
          std::chrono::duration_cast<std::chrono::milliseconds>(records_.now.time_since_epoch())
              .count(),
          records_.epoch);
  records_.tokens = store.tokens;
  timers_.Clear();
  records_.amrm_key.Restore(store.amrm_key);
  records_.nm_key.Restore(store.nm_key);
  records_.container_key.Restore(store.container_key);
  ArmKeys();
  for (const std::string& partition : store.partitions) (void)records_.PartitionNumber(partition);
  records_.limits.Restore(store);
  if (records_.options.work_preserving_restart && store.nodes > 0) {
    records_.ready_at = records_.now + records_.options.scheduling_wait;
    timers_.Set(*records_.ready_at, RmTimers::Kind::kSchedulingReady);
  }
  for (const yarn::ApplicationReport& report : store.ended) records_.ended.Add(report);
  for (const StoredApplication& stored : store.applications) applications_.Recover(stored);
  applications_.scheduler().Recovered();
  out_.Close();
}

}  // namespace tfyarn::fakes
