#include "core/am/task_table.h"

#include <fmt/format.h>

#include <string_view>

#include "core/am/deadlines.h"
#include "core/am/transitions.h"
#include "core/model/check.h"
#include "core/model/port_use.h"
#include "core/model/probe.h"

namespace tfyarn::am {
namespace {

constexpr auto kAddressNews = static_cast<std::size_t>(ReportKind::kAddressChanged);

bool MayBeAlive(ProcessPhase phase) {
  return phase == ProcessPhase::kOrdered || phase == ProcessPhase::kRunning ||
         phase == ProcessPhase::kStopping;
}

std::int32_t& CountOf(policy::TypeCounts& counts, policy::Outcome outcome, std::int32_t& nowhere) {
  switch (outcome) {
    case policy::Outcome::kOpen:
      return nowhere;
    case policy::Outcome::kOk:
      return counts.ok;
    case policy::Outcome::kFailed:
      return counts.failed;
    case policy::Outcome::kIgnored:
      return counts.ignored;
  }
  return nowhere;
}

template <class Phase>
using Move = TransitionRow<Phase, std::string_view>;

constexpr Move<AgentPhase> kAgentMoves[] = {
    {AgentPhase::kNone, "ContainerGranted", AgentPhase::kGranted},
    {AgentPhase::kGranted, "LaunchDecided", AgentPhase::kLaunching},
    {AgentPhase::kLaunching, "AgentRegistered", AgentPhase::kUp},
    {AgentPhase::kGranted, "ContainerGone", AgentPhase::kNone},
    {AgentPhase::kLaunching, "ContainerGone", AgentPhase::kNone},
    {AgentPhase::kUp, "ContainerGone", AgentPhase::kNone},
};

constexpr Move<ProcessPhase> kProcessMoves[] = {
    {ProcessPhase::kNone, "StartOrdered", ProcessPhase::kOrdered},
    {ProcessPhase::kOrdered, "ProcessSeen", ProcessPhase::kRunning},
    {ProcessPhase::kOrdered, "StopOrdered", ProcessPhase::kStopping},
    {ProcessPhase::kRunning, "StopOrdered", ProcessPhase::kStopping},
    {ProcessPhase::kOrdered, "EndHeard", ProcessPhase::kEnded},
    {ProcessPhase::kRunning, "EndHeard", ProcessPhase::kEnded},
    {ProcessPhase::kStopping, "EndHeard", ProcessPhase::kEnded},
    {ProcessPhase::kEnded, "StartOrdered", ProcessPhase::kOrdered},
    // A new AM attempt learns from the journal what was ordered, and from agents what runs.
    {ProcessPhase::kNone, "StopRemembered", ProcessPhase::kStopping},
    {ProcessPhase::kNone, "UnknownProcessFound", ProcessPhase::kRunning},
    {ProcessPhase::kEnded, "UnknownProcessFound", ProcessPhase::kRunning},
    {ProcessPhase::kOrdered, "ContainerGone", ProcessPhase::kNone},
    {ProcessPhase::kRunning, "ContainerGone", ProcessPhase::kNone},
    {ProcessPhase::kStopping, "ContainerGone", ProcessPhase::kNone},
    {ProcessPhase::kEnded, "ContainerGone", ProcessPhase::kNone},
};

template <class Phase, std::size_t n>
bool MayMove(const Move<Phase> (&moves)[n], Phase from, Phase to) {
  return from == to || IsAllowed(moves, from, to);
}

}  // namespace

const std::vector<Transition>& TaskTransitions() {
  static const std::vector<Transition> kTransitions = [] {
    std::vector<Transition> all;
    AppendTransitions(all, "container and agent", kAgentMoves);
    AppendTransitions(all, "process", kProcessMoves);
    return all;
  }();
  return kTransitions;
}

TaskTable::TaskTable(const JobSpec& job,
                     const std::function<TaskClass(const std::string&)>& class_of,
                     AmSnapshot& snapshot)
    : snapshot_(&snapshot) {
  const auto count = static_cast<std::size_t>(job.task_count());
  records_.reserve(count);
  snapshot.tasks.reserve(count);
  for (std::size_t type = 0; type < job.tasks.size(); ++type) {
    const TaskTypeSpec& spec = job.tasks[type];
    const TaskClass task_class = class_of(spec.name);
    const bool training = policy::IsTraining(task_class, spec.name);
    first_of_type_.push_back(static_cast<std::uint32_t>(records_.size()));
    types_.push_back({.name = spec.name, .task_class = task_class, .instances = spec.instances});
    registered_.push_back(0);
    for (std::int32_t i = 0; i < spec.instances; ++i) {
      TaskRecord& record = records_.emplace_back();
      record.type = static_cast<std::uint32_t>(type);
      record.training = training;
      TaskSnapshot& shown = snapshot.tasks.emplace_back();
      shown.task = {.type = spec.name, .index = i};
      shown.task_class = task_class;
      ++counts_[0];
      if (training) ++training_counts_[0], ++training_tasks_;
    }
  }
  first_of_type_.push_back(static_cast<std::uint32_t>(records_.size()));
}

std::pair<std::uint32_t, std::uint32_t> TaskTable::RangeOf(std::size_t type) const {
  return {first_of_type_[type], first_of_type_[type + 1] - first_of_type_[type]};
}

std::optional<std::size_t> TaskTable::FindType(const std::string& type) const {
  for (std::size_t i = 0; i < types_.size(); ++i) {
    if (types_[i].name == type) return i;
  }
  return std::nullopt;
}

std::optional<TaskIndex> TaskTable::Find(const TaskId& task) const {
  const auto type = FindType(task.type);
  if (!type) return std::nullopt;
  const auto [first, count] = RangeOf(*type);
  if (task.index < 0 || static_cast<std::uint32_t>(task.index) >= count) return std::nullopt;
  return TaskIndex(first + static_cast<std::uint32_t>(task.index));
}

std::optional<TaskIndex> TaskTable::OwnerOf(const ContainerId& container) const {
  const auto entry = owner_of_.find(container);
  if (entry == owner_of_.end()) return std::nullopt;
  return entry->second;
}

AgentFence TaskTable::FenceOf(TaskIndex task) const {
  const TaskSnapshot& of = shown(task);
  return {.container = of.container,
          .task = of.task,
          .incarnation = of.incarnation,
          .nonce = record(task).nonce};
}

ProcessRef TaskTable::ProcessOf(TaskIndex task) const {
  return {.attempt = shown(task).attempt, .epoch = record(task).process_epoch};
}

bool TaskTable::ProcessAlive(TaskIndex task) const {
  return MayBeAlive(record(task).process);
}

void TaskTable::GiveContainer(TaskIndex task, const allocation::HeldContainer& container,
                              Nonce nonce) {
  TaskRecord& of = Touch(task);
  TF_CHECK(of.agent == AgentPhase::kNone);
  of.agent = AgentPhase::kGranted;
  of.nonce = nonce;
  of.launch_tries = 0;
  of.launch_logged = false;
  of.order_entry = {};
  of.register_by = of.launch_again_at = kNever;
  of.preemption_noticed = of.container_ends = false;
  of.address_stale = false;
  of.latest_news = {};
  TaskSnapshot& to = MutableShown(task);
  to.container = container.id;
  owner_of_[container.id] = task;
  to.has_container = true;
  to.node = container.node;
  Refresh(task);
}

void TaskTable::SetAgent(TaskIndex task, AgentPhase phase) {
  TF_CHECK(phase != AgentPhase::kNone);
  TaskRecord& of = Touch(task);
  TF_CHECK(MayMove(kAgentMoves, of.agent, phase));
  of.agent = phase;
  if (phase == AgentPhase::kUp) of.ever_registered = true;
  Refresh(task);
}

void TaskTable::SetProcess(TaskIndex task, ProcessPhase phase) {
  TaskRecord& of = Touch(task);
  TF_CHECK(MayMove(kProcessMoves, of.process, phase));
  policy::TypeCounts& counts = types_[of.type];
  // One that is to end may not have begun.
  counts.running += static_cast<int>(phase == ProcessPhase::kRunning) -
                    static_cast<int>(of.process == ProcessPhase::kRunning);
  alive_[static_cast<std::size_t>(shown(task).task_class)] +=
      static_cast<int>(MayBeAlive(phase)) - static_cast<int>(MayBeAlive(of.process));
  progressed_ = progressed_ || of.process != phase;
  of.process = phase;
  if (phase == ProcessPhase::kRunning) HasRun(of);
  Refresh(task);
}

void TaskTable::HasRun(TaskRecord& of) {
  of.has_run = true;
  CountEverRan(of);
}

/// What is to start again after all, and has not run yet, is waited for again.
void TaskTable::CountEverRan(TaskRecord& of) {
  const bool before = of.ever_ran;
  of.ever_ran = of.has_run || of.outcome != policy::Outcome::kOpen;
  if (before && !of.ever_ran) TF_PROBE("tasks/is-to-run-after-all");
  if (of.training) training_ever_ran_ += static_cast<int>(of.ever_ran) - static_cast<int>(before);
}

void TaskTable::SetOutcome(TaskIndex task, policy::Outcome outcome) {
  TaskRecord& of = Touch(task);
  std::int32_t nowhere = 0;
  --CountOf(types_[of.type], of.outcome, nowhere);
  ++CountOf(types_[of.type], outcome, nowhere);
  if (of.training) {
    training_ended_ += static_cast<int>(outcome != policy::Outcome::kOpen) -
                       static_cast<int>(of.outcome != policy::Outcome::kOpen);
  }
  progressed_ = progressed_ || of.outcome != outcome;
  of.outcome = outcome;
  CountEverRan(of);
  Refresh(task);
}

void TaskTable::DropContainer(TaskIndex task) {
  TaskRecord& of = Touch(task);
  TF_CHECK(of.agent != AgentPhase::kNone);
  TF_CHECK(MayMove(kAgentMoves, of.agent, AgentPhase::kNone));
  of.agent = AgentPhase::kNone;
  of.preemption_noticed = of.container_ends = false;
  of.address_stale = false;
  TaskSnapshot& to = MutableShown(task);
  owner_of_.erase(to.container);
  to.has_container = false;
  to.incarnation = to.incarnation.next();
  SetProcess(task, ProcessPhase::kNone);
}

ProcessRef TaskTable::BeginProcess(Instant now, TaskIndex task, Epoch epoch) {
  TaskRecord& of = Touch(task);
  TF_CHECK(!ProcessAlive(task));
  TF_CHECK(of.agent == AgentPhase::kUp);
  TaskSnapshot& to = MutableShown(task);
  if (of.ever_ordered) to.attempt = to.attempt.next();
  of.ever_ordered = true;
  of.process_epoch = epoch;
  of.process_ordered_at = of.heard_from = now;
  of.process_address = to.address;
  of.address_news = of.latest_news[kAddressNews];
  of.lost_early = 0;
  of.told_end.reset();
  of.hung = false;
  of.stalled = false;
  of.standstill = Standstill::kNone;
  of.catches_term = false;
  of.port_use.reset();
  of.stop_grace = of.stop_told = kUndecided;
  of.order_again_at = of.overdue_at = kNever;
  SetStart(task, StartMode::kNone);
  SetProcess(task, ProcessPhase::kOrdered);
  return ProcessOf(task);
}

std::string TaskTable::WithWhoDoesNotListen(std::string why) const {
  constexpr int kNamed = 3;
  int found = 0;
  for (std::uint32_t i = 0; i < size(); ++i) {
    const TaskIndex task(i);
    const std::optional<PortUse>& use = record(task).port_use;
    if (!use || use->listener == PortListener::kOurs || !ProcessAlive(task)) continue;
    if (++found <= kNamed) why += "; " + PortUseInBrief(id(task), *use, shown(task).address.port);
  }
  if (found > kNamed) why += fmt::format("; and so {} more", found - kNamed);
  return why;
}

void TaskTable::SetAddress(TaskIndex task, const HostPort& address) {
  MutableShown(task).address = address;
  Touch(task).address_stale = false;
  Refresh(task);
}

void TaskTable::SetStart(TaskIndex task, StartMode start) {
  TaskRecord& of = Touch(task);
  starters_ += static_cast<int>(start == StartMode::kWithEpoch) -
               static_cast<int>(of.start == StartMode::kWithEpoch);
  of.start = start;
  Refresh(task);
}

void TaskTable::PortWasTaken(TaskIndex task) {
  TaskRecord& of = Touch(task);
  // The agent's next address may have overtaken its report of the end, and may be the one that it
  // had, where the spec did not have it.
  const bool told =
      of.latest_news[kAddressNews] != of.address_news || shown(task).address != of.process_address;
  if (told) TF_PROBE("tasks/next-port-overtook-the-end");
  of.address_stale = !told;
  Refresh(task);
}

void TaskTable::RestUntil(TaskIndex task, Instant until) {
  TaskRecord& of = Touch(task);
  of.resting = true;
  of.rests_until = until;
  Refresh(task);
}

void TaskTable::EndRest(TaskIndex task) {
  Touch(task).resting = false;
  Refresh(task);
}

void TaskTable::PutOff(Instant now, Instant to) {
  for (std::uint32_t i = 0; i < size(); ++i) {
    TaskRecord& of = Touch(TaskIndex(i));
    for (Instant* wait : {&of.register_by, &of.launch_again_at, &of.order_again_at, &of.overdue_at,
                          &of.rests_until, &of.drain_until})
      am::PutOff(*wait, now, to);
    if (of.asks_later) am::PutOff(of.ask_from, now, to);
  }
}

void TaskTable::HoldBack(std::size_t type, bool held_back) {
  const auto [first, count] = RangeOf(type);
  for (std::uint32_t i = first; i < first + count; ++i) Touch(TaskIndex(i)).held_back = held_back;
}

void TaskTable::ForgetTouched() {
  for (const TaskIndex task : touched_) records_[task.value].touched = false;
  touched_.clear();
}

void TaskTable::SetInTrouble(TaskIndex task) {
  TaskRecord& of = Touch(task);
  if (of.training || of.in_trouble) return;
  of.in_trouble = true;
  ++beside_in_trouble_;
}

void TaskTable::Restore(TaskIndex task, Incarnation incarnation, TaskAttempt attempt, Epoch epoch,
                        bool ever_ordered) {
  TaskRecord& of = Touch(task);
  of.process_epoch = epoch;
  of.ever_ordered = ever_ordered;
  TaskSnapshot& to = MutableShown(task);
  to.incarnation = incarnation;
  to.attempt = attempt;
  Refresh(task);
}

std::int32_t TaskTable::Count(TaskState state) const {
  return counts_[static_cast<std::size_t>(state)];
}

std::int32_t TaskTable::CountTraining(TaskState state) const {
  return training_counts_[static_cast<std::size_t>(state)];
}

std::int32_t TaskTable::training_alive() const {
  return CountTraining(TaskState::kStarting) + CountTraining(TaskState::kRunning) +
         CountTraining(TaskState::kStopping);
}

policy::TaskFacts TaskTable::FactsOf(std::size_t type, std::int32_t index) const {
  const TaskRecord& of = records_[first_of_type_[type] + static_cast<std::uint32_t>(index)];
  return {.ended = of.outcome != policy::Outcome::kOpen,
          .ok = of.outcome == policy::Outcome::kOk,
          .running = of.process == ProcessPhase::kRunning};
}

TaskState TaskTable::StateOf(const TaskRecord& record) {
  switch (record.process) {
    case ProcessPhase::kOrdered:
      return TaskState::kStarting;
    case ProcessPhase::kRunning:
      return TaskState::kRunning;
    case ProcessPhase::kStopping:
      return TaskState::kStopping;
    case ProcessPhase::kEnded:
      return TaskState::kEnded;
    case ProcessPhase::kNone:
      break;
  }
  if (record.outcome != policy::Outcome::kOpen) return TaskState::kEnded;
  switch (record.agent) {
    case AgentPhase::kNone:
      return TaskState::kWaiting;
    case AgentPhase::kGranted:
      return TaskState::kGranted;
    case AgentPhase::kLaunching:
      return TaskState::kLaunching;
    case AgentPhase::kUp:
      return TaskState::kRegistered;
  }
  return TaskState::kWaiting;
}

void TaskTable::Refresh(TaskIndex task) {
  TaskRecord& of = Touch(task);
  const bool ready = of.start == StartMode::kWithEpoch && of.agent == AgentPhase::kUp &&
                     !of.address_stale && !of.resting && !ProcessAlive(task);
  starters_ready_ += static_cast<int>(ready) - static_cast<int>(of.ready);
  of.ready = ready;
  TaskSnapshot& to = MutableShown(task);
  const TaskState state = StateOf(of);
  if (state == to.state) return;
  --counts_[static_cast<std::size_t>(to.state)];
  ++counts_[static_cast<std::size_t>(state)];
  if (of.training) {
    --training_counts_[static_cast<std::size_t>(to.state)];
    ++training_counts_[static_cast<std::size_t>(state)];
  }
  registered_[of.type] += static_cast<int>(state == TaskState::kRegistered) -
                          static_cast<int>(to.state == TaskState::kRegistered);
  to.state = state;
}

}  // namespace tfyarn::am
