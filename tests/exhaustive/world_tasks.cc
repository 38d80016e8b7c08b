// The world's agents and the processes that they run.
#include <algorithm>
#include <utility>

#include "core/model/check.h"
#include "core/model/visit.h"
#include "tests/exhaustive/memory_hash.h"
#include "tests/exhaustive/sink.h"
#include "tests/exhaustive/world.h"

namespace tfyarn::exhaustive {
namespace {

constexpr Duration kNeverBeats = 10000h;
constexpr std::int32_t kFirstPort = 2000;

}  // namespace

// ---------------------------------------------------------------- agents

void World::StepAgent(std::size_t container, const AgentEvent& event) {
  Container& of = containers_[container];
  if (of.agent == nullptr) return;
  Touch(PartOfContainer(container));
  of.stepped = true;
  ScrubStack();
  Record(trace::AgentTold{.container = of.grant.id, .event = event});
  std::vector<AgentAction> actions;
  of.agent->Step(now_, event, actions);
  for (const AgentAction& action : actions) Carry(container, action);
  if (containers_[container].agent == nullptr) return;
  // Its heartbeats are vouched for, also while it looks for its AM.
  agent::TaskAgent& agent = *containers_[container].agent;
  actions.clear();
  agent.Step(now_, HeartbeatsElided{.count = 0, .last = now_ + kNeverBeats}, actions);
  const agent::AgentSnapshot& seen = agent.snapshot();
  if (am_ != nullptr && seen.am_attempt == am_attempt_ && !seen.vouched)
    VouchForAm(container, true);
}

void World::Carry(std::size_t container, const AgentAction& action) {
  Container& of = containers_[container];
  Record(trace::AgentOrdered{.container = of.grant.id, .action = action});
  std::visit(
      Overloaded{
          [&](const LeasePort&) {
            // The first port differs from node to node.
            const auto base = kFirstPort + static_cast<std::int32_t>(container) * 10;
            StepAgent(container, PortLeased{.port = base + of.leases++});
          },
          [&](const SendToAm& send) {
            if (am_ == nullptr || send.am_attempt != am_attempt_) return;
            PostToAm(AgentSaid{.message = send.message}, static_cast<std::int16_t>(container));
          },
          [&](const SpawnProcess& order) { Spawn(container, order); },
          [&](const SignalProcess& order) { Signal(container, order); },
          [&](const ReadAmAddress&) {
            const HostPort address{.host = "am", .port = 1};
            StepAgent(container, AmAddressRead{.am_attempt = published_, .address = address});
          },
          [&](const ExitAgent& exit) { EndContainer(container, exit.code, exit.reason, false); },
          [](const Note&) {},
          [](const DumpStacks&) {},
      },
      action);
}

void World::AgentGone(std::size_t container) {
  Container& of = containers_[container];
  const bool ran = std::exchange(of.process.runs, false);
  of.process.told_to_end = false;
  of.agent.reset();
  of.stepped = true;
  std::erase_if(mail_, [&](const Mail& mail) {
    return std::holds_alternative<AmToAgent>(mail.what) &&
           mail.container == static_cast<std::int16_t>(container);
  });
  if (am_ != nullptr) VouchForAgent(container, false);
  // A task whose work is done is not missed.
  if (ran || (finished_ >> of.task & 1U) == 0) Breaks(container);
  if (ran) TeamChanged();
}

/// To the AM, of an agent: whether it counts as heard all the time.
void World::VouchForAgent(std::size_t container, bool vouched) {
  const AgentFence& fence = containers_[container].fence;
  Touch(kPartAm);
  CatchUp();
  am_stepped_ = true;
  Sink<AmAction> none;
  am_->Step(
      now_,
      PeerVouched{
          .task = fence.task, .incarnation = fence.incarnation, .vouched = vouched, .last = now_},
      *none);
}

/// To an agent, of its AM.
void World::VouchForAm(std::size_t container, bool vouched) {
  Container& of = containers_[container];
  Touch(PartOfContainer(container));
  of.stepped = true;
  std::vector<AgentAction> none;
  of.agent->Step(now_, PeerVouched{.vouched = vouched, .last = now_}, none);
}

// ---------------------------------------------------------------- processes

bool World::Trains(const Container& container) const {
  const std::string& type = container.fence.task.type;
  return type != "evaluator" && type != "tensorboard";
}

/// A ps never does, nor does what only looks on, unless the policy waits for it.
bool World::EndsByItself(const Container& container) const {
  const std::string& type = container.fence.task.type;
  if (type == "evaluator") return scope_.job->policy.name != "default";
  return type != "ps" && type != "tensorboard";
}

void World::Spawn(std::size_t container, const SpawnProcess& order) {
  Container& of = containers_[container];
  std::vector<Books::Living> living;
  for (const Container& other : containers_) {
    if (other.process.runs)
      living.push_back(
          {.task = other.task, .epoch = other.process.ref.epoch, .trains = Trains(other)});
  }
  Touch(kPartBooks);
  books_.OnSpawn(order, of.agent->snapshot().address, Trains(of), living);
  of.process = {.ref = order.process, .since = now_, .runs = true};
  if (LacksPeer(of, *order.spec.get())) of.process.broken = now_;
  finished_ &= ~(1U << of.task);
  TeamChanged();
  StepAgent(container, ProcessSpawned{.attempt = order.process.attempt});
}

/// A member of a collective that has left, or whose place in the spec is gone.
bool World::LacksPeer(const Container& container, const ClusterSpec& spec) const {
  if (scope_.job->strategy != Strategy::kMultiWorker || !Trains(container)) return false;
  if (spec.epoch <= broken_epoch_) return true;
  for (const auto& [type, addresses] : spec.tasks) {
    if (type == "evaluator" || type == "tensorboard") continue;
    for (const HostPort& address : addresses) {
      const bool there =
          std::any_of(containers_.begin(), containers_.end(), [&](const Container& other) {
            return other.agent != nullptr && other.grant.node.host == address.host;
          });
      if (!there) return true;
    }
  }
  return false;
}

/// It ends within this instant, as its next move. What only warns it is YARN's doing, not ours.
void World::Signal(std::size_t container, const SignalProcess& order) {
  Process& process = containers_[container].process;
  if (!process.runs || order.attempt != process.ref.attempt ||
      order.signal == StopSignal::kContinue)
    return;
  process.told_to_end = true;
  process.killed = process.killed || order.signal == StopSignal::kKill;
  const auto state = containers_[container].agent->snapshot().process_state;
  process.ours = process.ours || state != agent::ProcessState::kRunning;
}

void World::EndProcess(std::size_t container, ProcessExit exit, bool fact) {
  Touch(PartOfContainer(container));
  Container& of = containers_[container];
  of.process.runs = false;
  of.process.told_to_end = false;
  const TaskAttempt attempt = of.process.ref.attempt;
  if (fact)
    Know({.kind = FactKind::kProcessEnded,
          .task = of.task,
          .attempt = static_cast<std::int32_t>(attempt.value),
          .code = exit.status()});
  if (exit.status() == 0) {
    finished_ |= 1U << of.task;
  } else {
    Breaks(container);
  }
  TeamChanged();
  StepAgent(container, ProcessExited{.attempt = attempt, .exit = exit});
}

/// The tasks that cannot go on without what was in this container.
void World::Breaks(std::size_t container) {
  const Container& gone = containers_[container];
  if (!Trains(gone)) return;
  broken_epoch_ = std::max(broken_epoch_, gone.process.ref.epoch);
  const JobSpec& job = *scope_.job;
  const bool has_chief = job.FindType("chief") != nullptr;
  for (std::size_t i = 0; i < containers_.size(); ++i) {
    Container& other = containers_[i];
    if (i == container || !other.process.runs || other.process.broken || !Trains(other)) continue;
    bool breaks = false;
    switch (job.strategy) {
      case Strategy::kMultiWorker:
        breaks = true;
        break;
      case Strategy::kParameterServer:
        breaks = gone.fence.task.type == "ps" && other.fence.task.type != "ps" &&
                 (!has_chief || other.fence.task.type == "chief");
        break;
      case Strategy::kIndependent:
        break;
    }
    if (!breaks) continue;
    Touch(PartOfContainer(i));
    other.process.broken = now_;
  }
}

/// All that train together work from the moment at which all of them run; they do not wait for one
/// that has done its work.
void World::TeamChanged() {
  Touch(kPartTeam);
  std::uint32_t there = finished_;
  for (const Container& container : containers_) {
    if (container.process.runs && !container.process.broken) there |= 1U << container.task;
  }
  const bool whole = (team_ & ~there) == 0;
  if (!whole) team_since_.reset();
  if (whole && !team_since_) team_since_ = now_;
}

std::optional<Instant> World::WorkDone(const Container& container) const {
  const Process& process = container.process;
  if (!process.runs || process.broken || !EndsByItself(container)) return std::nullopt;
  const bool alone = scope_.job->strategy == Strategy::kIndependent || !Trains(container);
  if (alone) return process.since + kWork;
  if (!team_since_) return std::nullopt;
  return std::max(*team_since_, process.since) + kWork;
}

std::optional<Instant> World::Quiet() const {
  if (!team_since_ || *team_since_ + kQuietAfter <= now_) return std::nullopt;
  return *team_since_ + kQuietAfter;
}

}  // namespace tfyarn::exhaustive
