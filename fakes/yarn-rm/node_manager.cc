#include "fakes/yarn-rm/node_manager.h"

#include <algorithm>

#include "core/model/check.h"
#include "core/model/probe.h"
#include "core/model/response_id.h"

namespace tfyarn::fakes {
namespace {

constexpr std::int32_t kKilledByResourceManager = -106;
constexpr std::int32_t kKilledAfterAppCompletion = -107;
/// yarn.nodemanager.duration-to-track-stopped-containers.
constexpr Duration kTrackStopped = 10min;

bool IsDone(const NmContainer& container) {
  return container.stage == NmContainer::Stage::kDone;
}

yarn::ContainerState StateOf(const NmContainer& container) {
  return IsDone(container) ? yarn::ContainerState::kComplete : yarn::ContainerState::kRunning;
}

}  // namespace

void NodeManager::Keys::Set(std::uint32_t key) {
  if (key == current) return;
  previous = current;
  current = key;
}

NodeManager::NodeManager(NmOptions options, std::shared_ptr<const TokenBook> tokens,
                         std::uint64_t seed)
    : NodeManager(std::move(options), std::move(tokens), NmState{}, seed) {}

NodeManager::NodeManager(NmOptions options, std::shared_ptr<const TokenBook> tokens, NmState state,
                         std::uint64_t)
    : options_(std::move(options)),
      tokens_(std::move(tokens)),
      state_(std::move(state)),
      grid_(options_.heartbeat_phase) {
  TF_CHECK(options_.heartbeat > Duration::zero());
  TF_CHECK(tokens_ != nullptr);
  for (auto& [id, container] : state_.containers) {
    if (IsDone(container)) continue;
    container.recovered = container.stage == NmContainer::Stage::kRunning;
    if (container.kill_at) kills_.emplace(*container.kill_at, id);
  }
}

void NodeManager::Step(Instant now, const NmEvent& event, std::vector<NmAction>& actions) {
  TF_CHECK(now >= now_);
  now_ = now;
  actions_ = &actions;
  std::visit([this](const auto& e) { On(e); }, event);
  actions_ = nullptr;
}

std::optional<Instant> NodeManager::next_deadline() const {
  Instant next = kNever;
  if (!kills_.empty()) next = kills_.begin()->first;
  if (retry_at_) next = std::min(next, *retry_at_);
  if (phase_ == Phase::kRegistered && awaited_call_ == 0) next = std::min(next, next_beat_);
  if (next == kNever) return std::nullopt;
  return next;
}

std::optional<Instant> NodeManager::next_decision() const {
  Instant next = kNever;
  if (!kills_.empty()) next = kills_.begin()->first;
  if (retry_at_) next = std::min(next, *retry_at_);
  if (phase_ == Phase::kRegistered && awaited_call_ == 0 && HasNews())
    next = std::min(next, next_beat_);
  if (next == kNever) return std::nullopt;
  return next;
}

NmState NodeManager::state() const {
  if (options_.recovery && phase_ != Phase::kShutDown) return state_;
  return NmState{.next_call = state_.next_call};
}

bool NodeManager::HasNews() const {
  return !changed_.empty() || health_changed_ || uncertain_;
}

// ---------------------------------------------------------------- events

// Files that were being fetched are fetched again; a process that was being started is the host's
// to report.
void NodeManager::On(const NmStarted&) {
  if (phase_ == Phase::kShutDown) {
    state_.containers.clear();
    state_.applications.clear();
    kills_.clear();
  }
  for (auto& [id, container] : state_.containers) {
    if (container.stage == NmContainer::Stage::kLocalizing) {
      Emit(Localize{.container = id, .context = container.context});
    }
  }
  Register();
}

void NodeManager::On(const RmAnswered& answer) {
  if (phase_ == Phase::kShutDown || answer.id != last_call_) return;
  awaited_call_ = 0;
  if (const auto* registered = std::get_if<yarn::RegisterNodeManagerResponse>(&answer.response)) {
    OnRegistered(*registered);
  } else if (const auto* beat = std::get_if<yarn::NodeHeartbeatResponse>(&answer.response)) {
    OnBeatAnswered(*beat);
  } else {
    OnCallFailed();
  }
  if (phase_ == Phase::kRegistered && awaited_call_ == 0 && beat_again_) Beat();
}

void NodeManager::On(const NmDeadlineReached&) {
  KillDue();
  if (retry_at_ && *retry_at_ <= now_) Register();
  if (phase_ == Phase::kRegistered && awaited_call_ == 0 && next_beat_ <= now_) Beat();
}

void NodeManager::On(const OwnHeartbeatsElided& elided) {
  if (elided.count == 0) return;
  response_id_ = ResponseIdAfter(response_id_, elided.count);
  state_.next_call += elided.count;
  last_call_ = state_.next_call - 1;
  grid_ = elided.last.time_since_epoch();
  next_beat_ = elided.last + options_.heartbeat;
}

// A real NM needs a restart to tell the RM a new capacity; the registration is the same.
void NodeManager::On(const CapacityChanged& change) {
  options_.capacity = change.capacity;
  if (phase_ == Phase::kRegistered) Register();
}

void NodeManager::On(const HealthChanged& change) {
  healthy_ = change.healthy;
  health_report_ = change.report;
  health_changed_ = true;
}

void NodeManager::On(const ClockChanged& change) {
  options_.clock_offset = change.offset;
}

// ---------------------------------------------------------------- calls to the RM

void NodeManager::Register() {
  phase_ = Phase::kRegistering;
  retry_at_.reset();
  capacity_sent_ = options_.capacity;
  yarn::RegisterNodeManagerRequest request{.node = options_.node,
                                           .rack = options_.rack,
                                           .partition = options_.partition,
                                           .resource = options_.capacity,
                                           .containers = {},
                                           .running_applications = {}};
  for (const auto& [id, container] : state_.containers) {
    request.containers.push_back({.id = id,
                                  .state = StateOf(container),
                                  .resource = container.resource,
                                  .priority = container.priority,
                                  .exit_status = container.exit_status,
                                  .diagnostics = container.diagnostics});
    reporting_.insert(id);
    changed_.erase(id);
  }
  for (const auto& [id, application] : state_.applications) {
    if (!application.over) request.running_applications.push_back(id);
  }
  last_call_ = state_.next_call++;
  awaited_call_ = last_call_;
  Emit(NmCallRm{.id = last_call_, .request = std::move(request)});
}

void NodeManager::Beat() {
  beat_again_ = false;
  yarn::NodeHeartbeatRequest request{.node = options_.node,
                                     .response_id = response_id_,
                                     .healthy = healthy_,
                                     .health_report = health_report_,
                                     .containers = {}};
  reporting_ = std::move(changed_);
  changed_.clear();
  for (const ContainerId& id : reporting_) {
    const auto found = state_.containers.find(id);
    if (found == state_.containers.end()) continue;
    const NmContainer& container = found->second;
    request.containers.push_back({.id = id,
                                  .state = StateOf(container),
                                  .exit_status = container.exit_status,
                                  .diagnostics = container.diagnostics});
  }
  // The RM takes in nothing of an uncertain beat where it had the one before: one more tells again
  // what is new in it.
  if (uncertain_) changed_ = reporting_;
  health_changed_ = health_changed_ && uncertain_;
  uncertain_ = false;
  grid_ = now_.time_since_epoch();
  next_beat_ = now_ + options_.heartbeat;
  last_call_ = state_.next_call++;
  awaited_call_ = last_call_;
  Emit(NmCallRm{.id = last_call_, .request = std::move(request)});
}

// Source: NodeStatusUpdaterImpl.sendOutofBandHeartBeat.
void NodeManager::BeatOutOfTurn() {
  if (phase_ != Phase::kRegistered) return;
  if (awaited_call_ != 0) {
    beat_again_ = true;
  } else {
    Beat();
  }
}

void NodeManager::OnRegistered(const yarn::RegisterNodeManagerResponse& response) {
  if (response.action == yarn::NodeAction::kShutdown) {
    TF_PROBE("nm/registration-is-refused");
    ShutDown();
    return;
  }
  phase_ = Phase::kRegistered;
  rm_identifier_ = response.rm_identifier;
  container_keys_.Set(response.container_token_key);
  nm_keys_.Set(response.nm_token_key);
  response_id_ = 0;
  uncertain_ = false;
  ForgetDelivered();
  PlaceOnGrid();
  if (options_.capacity != capacity_sent_) {
    TF_PROBE("nm/capacity-changed-meanwhile");
    Register();  // It changed meanwhile.
  }
}

void NodeManager::PlaceOnGrid() {
  const Duration since = now_.time_since_epoch() - grid_;
  Duration into = since % options_.heartbeat;
  if (into < Duration::zero()) into += options_.heartbeat;
  next_beat_ = now_ + options_.heartbeat - into;
}

void NodeManager::OnCallFailed() {
  TF_PROBE("nm/call-failed");
  changed_.insert(reporting_.begin(), reporting_.end());
  reporting_.clear();
  if (phase_ == Phase::kRegistering) {
    retry_at_ = now_ + options_.register_retry;
    return;
  }
  uncertain_ = true;
  next_beat_ = std::max(next_beat_, now_);
}

void NodeManager::OnBeatAnswered(const yarn::NodeHeartbeatResponse& response) {
  if (phase_ != Phase::kRegistered) return;
  switch (response.action) {
    case yarn::NodeAction::kNormal:
      break;
    case yarn::NodeAction::kResync:
      TF_PROBE("nm/resync");
      Resync();
      return;
    case yarn::NodeAction::kShutdown:
      ShutDown();
      return;
  }
  response_id_ = response.response_id;
  if (response.container_token_key) container_keys_.Set(*response.container_token_key);
  if (response.nm_token_key) nm_keys_.Set(*response.nm_token_key);
  ForgetDelivered();
  for (const ContainerId& id : response.containers_to_be_removed) Forget(id);
  for (const ContainerId& id : response.containers_to_cleanup) {
    if (NmContainer* container = Find(id)) {
      TF_PROBE("nm/cleaned-up-by-the-rm");
      StopContainer(*container, kKilledByResourceManager,
                    "Container killed by the ResourceManager\n");
    }
  }
  for (const ApplicationId& id : response.applications_to_cleanup) {
    const auto found = state_.applications.find(id);
    if (found == state_.applications.end()) continue;
    found->second.over = true;
    std::vector<ContainerId> done;
    for (auto& [container_id, container] : state_.containers) {
      if (container_id.application_attempt.application != id) continue;
      if (IsDone(container)) {
        done.push_back(container_id);
      } else {
        StopContainer(container, kKilledAfterAppCompletion,
                      "Container killed on application-finish event: Application killed by "
                      "ResourceManager\n");
      }
    }
    for (const ContainerId& container : done) {
      if (changed_.count(container) == 0) Forget(container);
    }
    const bool empty = std::none_of(
        state_.containers.begin(), state_.containers.end(),
        [&](const auto& entry) { return entry.first.application_attempt.application == id; });
    if (empty) state_.applications.erase(id);
  }
}

/// The RM has what the answered call reported. Of applications that are over nothing more is
/// needed.
void NodeManager::ForgetDelivered() {
  const std::set<ContainerId> delivered = std::move(reporting_);
  reporting_.clear();
  for (const ContainerId& id : delivered) {
    const NmContainer* container = Find(id);
    if (container == nullptr || !IsDone(*container) || changed_.count(id) > 0) continue;
    const auto application = state_.applications.find(id.application_attempt.application);
    if (application == state_.applications.end() || application->second.over) Forget(id);
  }
}

void NodeManager::Forget(const ContainerId& id) {
  const auto found = state_.containers.find(id);
  if (found == state_.containers.end() || !IsDone(found->second)) return;
  state_.containers.erase(found);
  changed_.erase(id);
  state_.recently_stopped.emplace_back(now_, id);
  while (state_.recently_stopped.front().first + kTrackStopped < now_)
    state_.recently_stopped.pop_front();
  const ApplicationId application = id.application_attempt.application;
  const auto owner = state_.applications.find(application);
  if (owner == state_.applications.end() || !owner->second.over) return;
  const bool empty =
      std::none_of(state_.containers.begin(), state_.containers.end(), [&](const auto& entry) {
        return entry.first.application_attempt.application == application;
      });
  if (empty) state_.applications.erase(owner);
}

// Source: NodeStatusUpdaterImpl, ContainerManagerImpl.cleanupContainersOnNMResync: without
// work-preserving restart all containers are killed first.
void NodeManager::Resync() {
  if (options_.work_preserving_restart) {
    Register();
    return;
  }
  TF_PROBE("nm/empties-before-it-registers");
  phase_ = Phase::kEmptying;
  for (auto& [id, container] : state_.containers) {
    if (!IsDone(container)) {
      StopContainer(container, kKilledByResourceManager, "Containers cleaned up on NM Resync\n");
    }
  }
  const bool empty = std::all_of(state_.containers.begin(), state_.containers.end(),
                                 [](const auto& entry) { return IsDone(entry.second); });
  if (empty && phase_ == Phase::kEmptying) Register();
}

void NodeManager::ShutDown() {
  TF_PROBE("nm/shut-down");
  phase_ = Phase::kShutDown;
  retry_at_.reset();
  beat_again_ = false;
  awaited_call_ = 0;
  Emit(NmNote{.text = "the RM ordered a shutdown"});
  for (auto& [id, container] : state_.containers) {
    if (!IsDone(container)) {
      StopContainer(container, kKilledByResourceManager, "Containers cleaned up on NM shutdown\n");
    }
  }
}

}  // namespace tfyarn::fakes
