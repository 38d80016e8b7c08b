#include "core/agent/task_agent.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/model/check.h"
#include "core/model/deadline.h"
#include "core/model/probe.h"

namespace tfyarn::agent {
namespace {

constexpr Duration kLeaseWaitFirst = 1s;
constexpr Duration kLeaseWaitMax = 10s;
constexpr Duration kLeaseGiveUp = 2min;
constexpr Duration kRegisterWaitFirst = 1s;
constexpr Duration kRegisterWaitMax = 5s;
constexpr Duration kRegisterWaitLeast = 100ms;
constexpr Duration kLookWaitFirst = 5s;
constexpr Duration kLookWaitMax = 25s;  // With up to a fifth of jitter on top: 30 s at most.

// ---------------------------------------------------------------- transition tables

using enum AgentTrigger;

template <class State>
using Row = TransitionRow<State, AgentTrigger>;

constexpr Row<PortState> kPortTable[] = {
    {PortState::kNone, kAgentStarted, PortState::kLeasing},
    {PortState::kLeasing, kPortLeased, PortState::kLeased},
    {PortState::kLeasing, kPortLeaseFailed, PortState::kWaiting},
    {PortState::kWaiting, kLeaseRetryDue, PortState::kLeasing},
    {PortState::kLeased, kPortConflict, PortState::kLeasing},
    {PortState::kLeased, kPortLeaseFailed, PortState::kLeasing},
};

constexpr Row<LinkState> kLinkTable[] = {
    {LinkState::kClosed, kPortLeased, LinkState::kRegistering},
    {LinkState::kRegistering, kAgentAccepted, LinkState::kConnected},
    {LinkState::kRegistering, kAmSilent, LinkState::kSearching},
    {LinkState::kRegistering, kNewerAmFound, LinkState::kRegistering},
    {LinkState::kRegistering, kAgentRefused, LinkState::kClosed},
    {LinkState::kConnected, kAmSilent, LinkState::kSearching},
    {LinkState::kConnected, kNewerAmFound, LinkState::kRegistering},
    {LinkState::kConnected, kAgentRefused, LinkState::kClosed},
    {LinkState::kSearching, kAmHeard, LinkState::kRegistering},
    {LinkState::kSearching, kAmHeard, LinkState::kConnected},
    {LinkState::kSearching, kAmVouched, LinkState::kRegistering},
    {LinkState::kSearching, kAmVouched, LinkState::kConnected},
    {LinkState::kSearching, kNewerAmFound, LinkState::kRegistering},
    {LinkState::kSearching, kAgentRefused, LinkState::kClosed},
};

constexpr Row<ProcessState> kProcessTable[] = {
    {ProcessState::kNone, kStartOrdered, ProcessState::kSpawning},
    {ProcessState::kSpawning, kProcessSpawned, ProcessState::kRunning},
    {ProcessState::kSpawning, kSpawnFailed, ProcessState::kNone},
    {ProcessState::kSpawning, kProcessExited, ProcessState::kNone},
    {ProcessState::kRunning, kStopOrdered, ProcessState::kStopping},
    {ProcessState::kRunning, kReplaced, ProcessState::kStopping},
    {ProcessState::kRunning, kAgentLeaving, ProcessState::kStopping},
    {ProcessState::kRunning, kProcessExited, ProcessState::kNone},
    {ProcessState::kStopping, kGraceOver, ProcessState::kKilled},
    {ProcessState::kStopping, kProcessExited, ProcessState::kNone},
    {ProcessState::kKilled, kProcessExited, ProcessState::kNone},
};

constexpr Row<LifeState> kLifeTable[] = {
    {LifeState::kNew, kAgentStarted, LifeState::kServing},
    {LifeState::kServing, kEndOrdered, LifeState::kLeaving},
    {LifeState::kServing, kAgentRefused, LifeState::kLeaving},
    {LifeState::kServing, kTerminationRequested, LifeState::kLeaving},
    {LifeState::kServing, kAmLost, LifeState::kLeaving},
    {LifeState::kServing, kNoPort, LifeState::kLeaving},
    {LifeState::kLeaving, kNothingLeft, LifeState::kExited},
};

}  // namespace

const std::vector<Transition>& TaskAgentTransitions() {
  static const std::vector<Transition> kTransitions = [] {
    std::vector<Transition> all;
    AppendTransitions(all, "life", kLifeTable);
    AppendTransitions(all, "port", kPortTable);
    AppendTransitions(all, "link", kLinkTable);
    AppendTransitions(all, "process", kProcessTable);
    return all;
  }();
  return kTransitions;
}

void TaskAgent::Move(PortState to, AgentTrigger trigger) {
  TF_CHECK(IsAllowed(kPortTable, state_.port, trigger, to));
  state_.port = to;
}
void TaskAgent::Move(LinkState to, AgentTrigger trigger) {
  TF_CHECK(IsAllowed(kLinkTable, state_.link, trigger, to));
  state_.link = to;
}
void TaskAgent::Move(ProcessState to, AgentTrigger trigger) {
  TF_CHECK(IsAllowed(kProcessTable, state_.process_state, trigger, to));
  state_.process_state = to;
}
void TaskAgent::Move(LifeState to, AgentTrigger trigger) {
  TF_CHECK(IsAllowed(kLifeTable, state_.life, trigger, to));
  state_.life = to;
}

// ---------------------------------------------------------------- steps and timers

TaskAgent::TaskAgent(std::shared_ptr<const JobSpec> job, std::uint64_t seed)
    : job_(std::move(job)), jitter_(seed, "agent/look-for-am") {
  TF_CHECK(job_ != nullptr);
  TF_CHECK(job_->heartbeat.every > Duration::zero());
}

void TaskAgent::Step(Instant now, const AgentEvent& event, std::vector<AgentAction>& actions) {
  if (state_.life == LifeState::kExited) return;
  TF_CHECK(state_.life != LifeState::kNew || std::holds_alternative<AgentStarted>(event));
  std::visit([&](const auto& e) { On(now, e, actions); }, event);
  state_.unseen_reports = static_cast<std::uint32_t>(reports_.size());
}

std::optional<Instant> TaskAgent::next_decision() const {
  if (state_.life == LifeState::kExited) return std::nullopt;
  std::optional<Instant> least = next_lease_;
  Earliest(least, lease_give_up_);
  Earliest(least, kill_at_);
  Earliest(least, exit_at_);
  Earliest(least, orphan_deadline());
  Earliest(least, silence_deadline());
  Earliest(least, next_look_);
  Earliest(least, next_register_);
  Earliest(least, next_report());
  Earliest(least, stall_deadline());
  Earliest(least, standstill_deadline());
  if (state_.link == LinkState::kSearching) Earliest(least, next_heartbeat_);
  return least;
}

std::optional<Instant> TaskAgent::next_deadline() const {
  if (state_.life == LifeState::kExited) return std::nullopt;
  std::optional<Instant> least = next_decision();
  Earliest(least, next_heartbeat_);
  return least;
}

// Half a period beyond the third answer's time: it may be on its way.
std::optional<Instant> TaskAgent::silence_deadline() const {
  const bool listening =
      state_.link == LinkState::kRegistering || state_.link == LinkState::kConnected;
  if (!serving() || !listening || state_.vouched) return std::nullopt;
  return state_.last_heard + job_->heartbeat.every * 7 / 2;
}

std::optional<Instant> TaskAgent::orphan_deadline() const {
  if (!serving() || state_.link == LinkState::kClosed || state_.vouched) return std::nullopt;
  return state_.last_heard + job_->deadlines.orphan;
}

std::optional<Instant> TaskAgent::stall_deadline() const {
  if (!last_progress_ || stall_reported_ || state_.process_state != ProcessState::kRunning)
    return std::nullopt;
  return *last_progress_ + job_->watch->stalled;
}

std::optional<Instant> TaskAgent::next_report() const {
  std::optional<Instant> least;
  if (state_.link != LinkState::kConnected) return least;
  for (const Report& report : reports_) Earliest(least, report.next);
  return least;
}

void TaskAgent::On(Instant now, const DeadlineReached&, Actions& actions) {
  TakeProcessTimers(now, actions);
  if (state_.life != LifeState::kExited) TakeLinkTimers(now, actions);
}

void TaskAgent::TakeProcessTimers(Instant now, Actions& actions) {
  if (IsDue(lease_give_up_, now)) {
    Leave(now, job_->deadlines.stop, false, kNoPort,
          fmt::format("no port could be leased for {}s", kLeaseGiveUp / 1s), actions);
  }
  if (IsDue(next_lease_, now)) {
    next_lease_.reset();
    Move(PortState::kLeasing, kLeaseRetryDue);
    actions.push_back(LeasePort{});
  }
  if (IsDue(kill_at_, now)) {
    TF_PROBE("agent/killed-after-its-grace");
    kill_at_.reset();
    Move(ProcessState::kKilled, kGraceOver);
    actions.push_back(
        SignalProcess{.attempt = state_.process->attempt, .signal = StopSignal::kKill});
  }
  if (IsDue(exit_at_, now)) return Exit(actions);
  if (IsDue(standstill_deadline(), now)) {
    TF_PROBE("agent/standstill-lasts");
    TellSigns(now, actions);
  }
  if (IsDue(stall_deadline(), now)) {
    TF_PROBE("agent/stalled");
    stall_reported_ = true;
    ReportStall(now, actions);
  }
}

void TaskAgent::TakeLinkTimers(Instant now, Actions& actions) {
  if (IsDue(orphan_deadline(), now)) {
    TF_PROBE("agent/orphaned");
    Leave(now, job_->deadlines.stop, false, kAmLost,
          fmt::format("heard of no AM for {}s", job_->deadlines.orphan / 1s), actions);
    if (state_.life == LifeState::kExited) return;
  }
  if (IsDue(silence_deadline(), now)) {
    TF_PROBE("agent/am-is-silent");
    Move(LinkState::kSearching, kAmSilent);
    StartLooking(now, actions);
  }
  if (IsDue(next_look_, now)) LookForAm(now, actions);
  if (IsDue(next_register_, now)) {
    TF_PROBE("agent/registers-again");
    Register(now, actions);
  }
  if (IsDue(next_heartbeat_, now)) {
    next_heartbeat_ = now + job_->heartbeat.every;
    Send(AgentHeartbeat{.fence = state_.fence}, actions);
  }
  SayReports(now, actions);
}

void TaskAgent::On(Instant, const HeartbeatsElided& event, Actions&) {
  if (next_heartbeat_) next_heartbeat_ = event.last + job_->heartbeat.every;
}

// No actions here: what became due is due at `now`, and the host will see that.
void TaskAgent::On(Instant now, const PeerVouched& event, Actions&) {
  state_.vouched = event.vouched;
  if (!event.vouched) {
    state_.last_heard = std::max(state_.last_heard, event.last);
    return;
  }
  if (state_.link != LinkState::kSearching) return;
  Move(state_.accepted ? LinkState::kConnected : LinkState::kRegistering, kAmVouched);
  StopLooking();
  for (Report& report : reports_) report.next = now;
}

// ---------------------------------------------------------------- the port

void TaskAgent::On(Instant now, const AgentStarted& event, Actions& actions) {
  TF_CHECK(state_.life == LifeState::kNew);
  state_.fence = event.fence;
  state_.am_attempt = event.am_attempt;
  state_.am_address = event.am_address;
  state_.address = {.host = event.host, .port = 0};
  state_.last_heard = now;
  Move(LifeState::kServing, kAgentStarted);
  LeaseAgain(now, kAgentStarted, actions);
}

void TaskAgent::LeaseAgain(Instant now, AgentTrigger trigger, Actions& actions) {
  Move(PortState::kLeasing, trigger);
  state_.address.port = 0;
  lease_wait_ = kLeaseWaitFirst;
  lease_give_up_ = now + kLeaseGiveUp;
  actions.push_back(LeasePort{});
}

void TaskAgent::On(Instant now, const PortLeased& event, Actions& actions) {
  if (state_.port != PortState::kLeasing || !serving()) {
    actions.push_back(Note{fmt::format("port {} was leased unasked", event.port)});
    return;
  }
  Move(PortState::kLeased, kPortLeased);
  lease_give_up_.reset();
  state_.address.port = event.port;
  if (registered_before_) {
    ReportAddress(now, actions);
  } else {
    Move(LinkState::kRegistering, kPortLeased);
    state_.last_heard = now;
    register_wait_ = kRegisterWaitFirst;
    Register(now, actions);
  }
  SpawnPending(now, actions);
}

void TaskAgent::On(Instant now, const PortLeaseFailed& event, Actions& actions) {
  if (!serving()) return actions.push_back(Note{"leaving: a port is not needed any more"});
  if (state_.port == PortState::kLeasing) {
    Move(PortState::kWaiting, kPortLeaseFailed);
    next_lease_ = now + lease_wait_;
    lease_wait_ = std::min(lease_wait_ * 2, kLeaseWaitMax);
  } else if (state_.port == PortState::kLeased && !has_process()) {
    actions.push_back(Note{fmt::format("port {} was lost: {}", state_.address.port, event.reason)});
    LeaseAgain(now, kPortLeaseFailed, actions);
  } else {
    // A process has the port, or finds it taken and says so itself.
    actions.push_back(Note{fmt::format("port lease failed unasked: {}", event.reason)});
  }
}

// ---------------------------------------------------------------- the link

void TaskAgent::Send(AgentToAm message, Actions& actions) const {
  actions.push_back(SendToAm{.am_attempt = state_.am_attempt,
                             .am_address = state_.am_address,
                             .message = std::move(message)});
}

void TaskAgent::Register(Instant now, Actions& actions) {
  RegisterAgent message{.fence = state_.fence,
                        .address = state_.address,
                        .running = {},
                        .ended = {},
                        .exit = {},
                        .stood = StoodStill(now)};
  if (has_process()) message.running = state_.process;
  for (const Report& report : reports_) {
    const auto* end = std::get_if<ProcessEnded>(&report.message);
    if (end == nullptr || !end->launch_error.empty()) continue;
    TF_PROBE("agent/registers-with-an-end");
    message.ended = end->process;
    message.exit = end->exit;
  }
  const bool first = register_wait_ == kRegisterWaitFirst;
  if (first || registered_as_ != state_.address)
    registered_as_ = first ? std::optional(state_.address) : std::nullopt;
  registered_before_ = true;
  // An AM whose answers do not arrive must not take the agent for silent.
  const Duration often_enough = job_->heartbeat.every * job_->heartbeat.missed / 2;
  const Duration wait = std::clamp<Duration>(often_enough, kRegisterWaitLeast, register_wait_);
  next_register_ = now + wait;
  register_wait_ = std::min(register_wait_ * 2, kRegisterWaitMax);
  Send(std::move(message), actions);
}

void TaskAgent::StartLooking(Instant now, Actions& actions) {
  look_wait_ = kLookWaitFirst;
  LookForAm(now, actions);
}

void TaskAgent::LookForAm(Instant now, Actions& actions) {
  next_look_ = now + jitter_.Between(look_wait_, look_wait_ + look_wait_ / 5);
  look_wait_ = std::min(look_wait_ * 2, kLookWaitMax);
  actions.push_back(ReadAmAddress{});
}

void TaskAgent::StopLooking() {
  next_look_.reset();
}

void TaskAgent::Heard(Instant now, Actions& actions) {
  state_.last_heard = std::max(state_.last_heard, now);
  if (state_.link != LinkState::kSearching) return;
  TF_PROBE("agent/hears-its-am-again");
  Move(state_.accepted ? LinkState::kConnected : LinkState::kRegistering, kAmHeard);
  StopLooking();
  for (Report& report : reports_) report.next = now;
  SayReports(now, actions);
}

void TaskAgent::On(Instant now, const AmAddressRead& event, Actions& actions) {
  if (!serving() || state_.link == LinkState::kClosed || event.am_attempt <= state_.am_attempt)
    return;
  state_.am_attempt = event.am_attempt;
  state_.am_address = event.address;
  state_.accepted = false;
  state_.vouched = false;
  state_.last_heard = now;  // It has heard of an AM.
  next_heartbeat_.reset();
  StopLooking();
  TF_PROBE("agent/newer-am-found");
  Move(LinkState::kRegistering, kNewerAmFound);
  register_wait_ = kRegisterWaitFirst;
  Register(now, actions);
}

}  // namespace tfyarn::agent
