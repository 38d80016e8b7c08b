#include "hosts/local/fault_driver.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "config/fault_kinds.h"
#include "config/names.h"
#include "hosts/runtime/clock.h"

namespace tfyarn::hosts {
namespace {

using config::RealEffect;

/// How often the recordings are read; a state counts from its own time, not from when it is seen.
constexpr Duration kLook = 10ms;
/// The same while an AM stands still.
constexpr Duration kLookForPort = 1ms;
/// An agent that has no port by then keeps the AM waiting no longer.
constexpr Duration kPortPatience = 5s;

RealEffect EffectOf(const config::FaultSpec& spec) {
  const config::FaultKind* kind = config::FindFaultKind(spec.kind);
  return kind == nullptr ? RealEffect::kNone : kind->here.effect;
}

double NumberOf(const config::FaultSpec& spec, const std::string& name) {
  const auto number = spec.numbers.find(name);
  return number == spec.numbers.end() ? 0 : number->second;
}

Duration FromSeconds(double seconds) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

bool Names(const std::string& selector, const TaskId& task) {
  return selector.empty() || selector == task.type || selector == ToString(task);
}

}  // namespace

FaultDriver::FaultDriver(std::string job, std::vector<config::FaultSpec> faults, World world)
    : job_(std::move(job)),
      faults_(std::move(faults)),
      world_(std::move(world)),
      reader_(world_.recordings),
      timer_(world_.loop) {}

FaultDriver::~FaultDriver() {
  Finish();
}

void FaultDriver::Start(Instant began) {
  schedule_.emplace(faults_, began);
  Look();
}

void FaultDriver::Finish() {
  if (std::exchange(over_, true)) return;
  timer_.cancel();
  LetMasterGoOn();
  while (!stopped_.empty()) End(stopped_.begin()->first);
  ballast_.clear();
  stolen_.clear();
}

// ---------------------------------------------------------------- when

void FaultDriver::LookAgain() {
  const Duration pause = held_master_ ? kLookForPort : kLook;
  auto next = Now() + pause;
  if (const auto due = schedule_->next_deadline()) next = std::min(next, *due);
  timer_.expires_at(std::chrono::steady_clock::time_point(next.time_since_epoch()));
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error && !over_) Look();
  });
}

void FaultDriver::Look() {
  for (const trace::TraceRecord& record : reader_.Take()) Follow(record);
  if (held_master_) StealPorts();
  for (const FaultStrike& strike : schedule_->Take(Now())) Carry(strike);
  LookAgain();
}

void FaultDriver::Follow(const trace::TraceRecord& record) {
  places_.Observe(record);
  if (const auto* granted = std::get_if<trace::ContainerGranted>(&record.fact)) {
    if (granted->am) schedule_->OnJobState(record.at, JobState::kSubmitted);
    return;
  }
  const auto* ordered = std::get_if<trace::AmOrdered>(&record.fact);
  if (ordered == nullptr) return;
  if (const auto* state = std::get_if<JobStateChanged>(&ordered->action)) {
    schedule_->OnJobState(record.at, state->state);
  } else if (const auto* send = std::get_if<SendToAgent>(&ordered->action)) {
    const auto* accepted = std::get_if<AgentAccepted>(&send->message);
    if (accepted != nullptr) schedule_->OnTaskRegistered(record.at, accepted->fence.task);
  }
}

void FaultDriver::Carry(const FaultStrike& strike) {
  const config::FaultSpec& spec = faults_[strike.fault];
  if (strike.begins) {
    world_.record(
        trace::FaultBegan{.fault = strike.fault, .kind = spec.kind, .target = Describe(spec)});
    Begin(strike.fault, spec);
  } else {
    world_.record(trace::FaultEnded{.fault = strike.fault});
    End(strike.fault);
  }
}

// ---------------------------------------------------------------- whom

std::vector<TaskId> FaultDriver::Struck(const config::FaultSpec& spec) const {
  if (!spec.target || spec.target->kind != config::TargetKind::kTask) return {};
  const config::SelectedTask named = config::SplitTask(spec.target->task);
  if (named.index) return {TaskId{.type = named.type, .index = *named.index}};
  std::vector<TaskId> tasks = places_.Tasks();
  std::erase_if(tasks, [&](const TaskId& task) { return !Names(spec.target->task, task); });
  return tasks;
}

/// As the simulator names them: by these names result.json matches faults and what they did.
std::string FaultDriver::Describe(const config::FaultSpec& spec) const {
  if (!spec.target || spec.target->kind == config::TargetKind::kHdfs) return "hdfs";
  if (spec.target->kind == config::TargetKind::kAm) return "am of " + job_;
  if (EffectOf(spec) == RealEffect::kKillJob) return job_;
  std::string text;
  for (const TaskId& task : Struck(spec))
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", job_, ToString(task));
  return text.empty() ? "nobody" : text;
}

std::optional<pid_t> FaultDriver::AgentOf(const TaskId& task) const {
  const auto container = places_.ContainerOf(task);
  return container ? world_.process_of(*container) : std::nullopt;
}

std::optional<pid_t> FaultDriver::MasterProcess() const {
  const auto container = world_.am();
  return container ? world_.process_of(*container) : std::nullopt;
}

// ---------------------------------------------------------------- what

void FaultDriver::Begin(std::uint32_t fault, const config::FaultSpec& spec) {
  switch (EffectOf(spec)) {
    case RealEffect::kNone:
      return;
    case RealEffect::kTakePort:
      return (void)wanted_ports_.insert(spec.target->task);
    case RealEffect::kKillJob:
      return world_.kill_job();
    case RealEffect::kFillDisk:
      return Fill(fault, spec);
    case RealEffect::kKillAm:
      if (const auto master = MasterProcess()) (void)::kill(*master, SIGKILL);
      return;
    case RealEffect::kStopAm:
      return StopMaster(fault);
    case RealEffect::kKillAgent:
    case RealEffect::kSignalProcess:
    case RealEffect::kStopProcesses:
    case RealEffect::kPreempt:
      for (const TaskId& task : Struck(spec)) {
        if (const auto agent = AgentOf(task)) HurtTask(fault, spec, task, *agent);
      }
      return;
  }
}

void FaultDriver::HurtTask(std::uint32_t fault, const config::FaultSpec& spec, const TaskId& task,
                           pid_t agent) {
  const RealEffect effect = EffectOf(spec);
  if (effect == RealEffect::kKillAgent) {
    (void)::kill(agent, SIGKILL);
  } else if (effect == RealEffect::kSignalProcess) {
    const auto process = TaskProcessOf(agent);
    if (process) SignalExactly(*process, static_cast<int>(NumberOf(spec, "signal")));
  } else if (effect == RealEffect::kStopProcesses) {
    Stop(fault, TaskTreeOf(agent));
    Stop(fault, TaskTreeOf(agent));  // Whom they started in the meantime.
  } else if (effect == RealEffect::kPreempt) {
    world_.preempt(*places_.ContainerOf(task), FromSeconds(NumberOf(spec, "notice")));
  }
}

void FaultDriver::StopMaster(std::uint32_t fault) {
  const auto master = MasterProcess();
  if (!master) return;
  if (const auto process = agent_host::ReadProcess(*master)) Stop(fault, {*process});
}

void FaultDriver::Stop(std::uint32_t fault, const Processes& processes) {
  Processes& stopped = stopped_[fault];
  for (const agent_host::ProcessInfo& process : processes) {
    if (SignalExactly(process, SIGSTOP)) stopped.push_back(process);
  }
}

void FaultDriver::Fill(std::uint32_t fault, const config::FaultSpec& spec) {
  auto ballast =
      Ballast::Fill(world_.directory, static_cast<std::uint64_t>(NumberOf(spec, "bytes")));
  if (!ballast) return world_.complain(ballast.error().message);
  ballast_.emplace(fault, std::move(*ballast));
}

void FaultDriver::End(std::uint32_t fault) {
  ballast_.erase(fault);
  const auto stopped = stopped_.extract(fault);
  if (stopped.empty()) return;
  for (const agent_host::ProcessInfo& process : stopped.mapped()) SignalExactly(process, SIGCONT);
}

// ---------------------------------------------------------------- ports

void FaultDriver::Seen(const trace::Fact& fact) {
  if (over_ || wanted_ports_.empty()) return;
  if (const auto* gone = std::get_if<trace::ContainerGone>(&fact)) {
    launching_.erase(gone->container);
    return;
  }
  const auto* localizing = std::get_if<trace::ContainerLocalizing>(&fact);
  const auto master = MasterProcess();
  if (localizing == nullptr || !master || localizing->container == world_.am()) return;
  launching_[localizing->container] = Now();
  if (held_master_) return;
  held_master_ = agent_host::ReadProcess(*master);
  if (held_master_) SignalExactly(*held_master_, SIGSTOP);
  LookAgain();
}

void FaultDriver::StealPorts() {
  std::erase_if(launching_, [&](const auto& launch) {
    const auto task = places_.TaskIn(launch.first);
    const auto port = places_.PortIn(launch.first);
    if (!task || !port) return Now() - launch.second > kPortPatience;
    if (wanted_ports_.erase(ToString(*task)) > 0) StealPort(*port);
    return true;
  });
  if (launching_.empty()) LetMasterGoOn();
}

void FaultDriver::StealPort(std::int32_t port) {
  auto socket = ListenOn(port);
  if (!socket) return world_.complain(socket.error().message);
  stolen_.push_back(std::move(*socket));
}

void FaultDriver::LetMasterGoOn() {
  if (held_master_) SignalExactly(*held_master_, SIGCONT);
  held_master_.reset();
}

}  // namespace tfyarn::hosts
