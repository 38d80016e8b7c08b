// The TaskAgent's process and life: what the host says of the process, how it is started and ended,
// what is reported of it, and how the agent leaves.
#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include "core/agent/environment.h"
#include "core/agent/task_agent.h"
#include "core/model/check.h"
#include "core/model/probe.h"

namespace tfyarn::agent {
namespace {

using enum AgentTrigger;

constexpr Duration kReportEvery = 2s;
/// A process that stands still for so long does so for a reason: a debugger's or a disk's moment is
/// over by then.
constexpr Duration kStandstillCounts = 3s;
/// What a stopped process gets to die of its SIGTERM once it may go on.
constexpr Duration kAfterContinue = 1s;
/// How long a leaving agent waits for its last report to be seen. A NodeManager gives it less.
constexpr Duration kFarewell = 1s;

std::int32_t ExitCodeOf(AgentTrigger trigger) {
  switch (trigger) {
    case kEndOrdered:
      return agent_exit::kOrdered;
    case kAgentRefused:
      return agent_exit::kRefused;
    case kTerminationRequested:
      return agent_exit::kTerminated;
    case kAmLost:
      return agent_exit::kAmLost;
    case kNoPort:
      return agent_exit::kNoPort;
    case kAgentStarted:
    case kPortLeased:
    case kPortLeaseFailed:
    case kLeaseRetryDue:
    case kPortConflict:
    case kAgentAccepted:
    case kAmSilent:
    case kAmHeard:
    case kAmVouched:
    case kNewerAmFound:
    case kStartOrdered:
    case kProcessSpawned:
    case kSpawnFailed:
    case kStopOrdered:
    case kReplaced:
    case kAgentLeaving:
    case kGraceOver:
    case kProcessExited:
    case kNothingLeft:
      break;
  }
  CheckFailed(__FILE__, __LINE__, "a trigger that makes the agent leave");
}

/// Whether a process of that type makes progress from its start on. A ps, an evaluator or
/// TensorBoard says nothing of steps, nor do workers that only compute what their chief hands out:
/// they are watched from their first progress on, if there is any.
bool MakesProgress(const JobSpec& job, const std::string& type) {
  const TaskTypeSpec* spec = job.FindType(type);
  const TaskClass task_class =
      spec != nullptr && spec->task_class ? *spec->task_class : DefaultClass(type);
  if (task_class != TaskClass::kTracked) return false;
  if (job.strategy != Strategy::kParameterServer || type == "chief" || type == "master")
    return true;
  return job.FindType("chief") == nullptr && job.FindType("master") == nullptr;
}

}  // namespace

// ---------------------------------------------------------------- what the host says

bool TaskAgent::LivesAs(TaskAttempt attempt) const {
  return has_process() && state_.process->attempt == attempt;
}

void TaskAgent::On(Instant now, const ProcessSpawned& event, Actions& actions) {
  if (state_.process_state != ProcessState::kSpawning || !LivesAs(event.attempt)) {
    return actions.push_back(
        Note{fmt::format("attempt {} spawned, but was not expected", event.attempt.value)});
  }
  Move(ProcessState::kRunning, kProcessSpawned);
  spawned_at_ = now;
  if (job_->watch && MakesProgress(*job_, state_.fence.task.type)) last_progress_ = now;
  stall_reported_ = false;
  ReportRunning(now, actions);
  if (early_stop_) {
    TF_PROBE("agent/stopped-while-it-spawned");
    const EarlyStop stop = *early_stop_;
    early_stop_.reset();
    StopRunning(now, stop.grace, stop.on_order, stop.trigger, actions);
  }
}

void TaskAgent::On(Instant now, const SpawnFailed& event, Actions& actions) {
  if (state_.process_state != ProcessState::kSpawning || !LivesAs(event.attempt)) {
    return actions.push_back(
        Note{fmt::format("attempt {} failed to spawn, but was not expected", event.attempt.value)});
  }
  ProcessEnded end{.fence = state_.fence, .process = *state_.process};
  end.launch_error = event.reason.empty() ? "could not be started" : event.reason;
  ProcessGone(now, kSpawnFailed, std::move(end), actions);
}

void TaskAgent::On(Instant now, const ProcessExited& event, Actions& actions) {
  if (!LivesAs(event.attempt)) {
    return actions.push_back(
        Note{fmt::format("attempt {} exited, but does not live", event.attempt.value)});
  }
  ProcessEnded end{.fence = state_.fence, .process = *state_.process};
  end.exit = event.exit;
  end.port_conflict = event.port_conflict;
  end.stderr_tail = event.stderr_tail;
  ProcessGone(now, kProcessExited, std::move(end), actions);
}

void TaskAgent::ProcessGone(Instant now, AgentTrigger trigger, ProcessEnded end, Actions& actions) {
  end.agent_leaves = state_.life != LifeState::kServing;
  Move(ProcessState::kNone, trigger);
  if (early_stop_ && early_stop_->on_order) {
    TF_PROBE("agent/ended-while-it-spawned");
    stopped_on_order_ = true;
  }
  end.exit.stopped_by_agent = end.exit.stopped_by_agent || stopped_on_order_;
  kill_at_.reset();
  early_stop_.reset();
  last_progress_.reset();
  signs_ = signs_told_ = {};
  stands_since_.reset();
  port_use_.reset();
  port_told_.reset();
  DropReports(ReportKind::kProcessRunning);
  DropReports(ReportKind::kPortReport);
  DropReports(ReportKind::kProgressStalled);
  const bool port_conflict = end.port_conflict;
  ReportEnd(now, std::move(end), actions);
  if (port_conflict && serving() && state_.port == PortState::kLeased)
    LeaseAgain(now, kPortConflict, actions);
  SpawnPending(now, actions);
  ExitIfDone(now, actions);
}

void TaskAgent::On(Instant now, const ProgressSeen& event, Actions& actions) {
  if (!LivesAs(event.attempt) || !job_->watch) {
    return actions.push_back(
        Note{fmt::format("progress of attempt {}, which is not watched", event.attempt.value)});
  }
  last_progress_ = now;
  if (!stall_reported_) return;
  stall_reported_ = false;
  TF_PROBE("agent/moves-again");
  DropReports(ReportKind::kProgressStalled);  // It moves again: a report that the AM has not seen
                                              // would now be false.
}

// ---------------------------------------------------------------- what is to be seen of it

/// TensorFlow's collectives install a handler for SIGTERM that only takes note of it, and nothing
/// outside the process tells that from the handler of a program that saves.
void TaskAgent::On(Instant now, const ProcessSignsSeen& event, Actions& actions) {
  if (!LivesAs(event.attempt)) {
    return actions.push_back(
        Note{fmt::format("signs of attempt {}, which does not live", event.attempt.value)});
  }
  if (event.standstill != signs_.standstill) stands_since_ = now;
  signs_ = {.standstill = event.standstill,
            .catches_term = event.catches_term && job_->framework != Framework::kTensorflow};
  if (signs_.standstill == Standstill::kNone) stands_since_.reset();
  if (state_.process_state == ProcessState::kStopping) Wake(now, actions);
  TellSigns(now, actions);
}

std::optional<Instant> TaskAgent::standstill_deadline() const {
  if (!stands_since_ || signs_told_.standstill == signs_.standstill) return std::nullopt;
  return *stands_since_ + kStandstillCounts;
}

/// A standstill counts when it has lasted, or when it keeps the process from ending as told.
void TaskAgent::TellSigns(Instant now, Actions& actions) {
  if (!has_process()) return;
  const bool lasts = stands_since_ && now >= *stands_since_ + kStandstillCounts;
  const bool counts = lasts || state_.process_state == ProcessState::kStopping ||
                      state_.process_state == ProcessState::kKilled;
  const Signs telling{.standstill = counts ? signs_.standstill : Standstill::kNone,
                      .catches_term = signs_.catches_term};
  if (telling == signs_told_) return;
  signs_told_ = telling;
  if (telling.standstill != Standstill::kNone) {
    told_standstill_ = {.process = *state_.process, .standstill = telling.standstill, .until = {}};
  } else if (told_standstill_ && !told_standstill_->until) {
    told_standstill_->until = now;
  }
  AddNews(now, ReportKind::kProcessSigns, state_.process->attempt,
          ProcessSigns{.fence = state_.fence,
                       .process = *state_.process,
                       .standstill = telling.standstill,
                       .catches_term = telling.catches_term},
          actions);
}

/// For an AM that has not been told. It hears of it before the end of the process: what an agent
/// has to report comes after it was accepted.
std::optional<PastStandstill> TaskAgent::StoodStill(Instant now) const {
  if (!told_standstill_) return std::nullopt;
  const ToldStandstill& told = *told_standstill_;
  const TaskAttempt attempt = told.process.attempt;
  if (!LivesAs(attempt) && !IsUnseen(ReportKind::kProcessEnded, attempt)) return std::nullopt;
  PastStandstill stood{.process = told.process, .standstill = told.standstill, .ago = {}};
  if (!told.until) return stood;
  stood.ago = now - *told.until;
  if (*stood.ago >= job_->deadlines.blame) return std::nullopt;
  TF_PROBE("agent/registers-with-a-standstill");
  return stood;
}

/// A stopped process hears no SIGTERM: it may go on for a moment, and does not have the whole
/// grace.
void TaskAgent::Wake(Instant now, Actions& actions) {
  if (signs_.standstill != Standstill::kStopped) return;
  actions.push_back(
      SignalProcess{.attempt = state_.process->attempt, .signal = StopSignal::kContinue});
  TF_PROBE("agent/continued-to-end");
  kill_at_ = std::min(*kill_at_, now + kAfterContinue);
}

// ---------------------------------------------------------------- does it listen

void TaskAgent::On(Instant now, const PortUseSeen& event, Actions& actions) {
  if (!LivesAs(event.attempt) || !should_listen_) {
    return actions.push_back(
        Note{fmt::format("port use of attempt {}, which is not watched", event.attempt.value)});
  }
  port_use_ = event.use;
  TellPort(now, actions);
}

/// That no process listens is no news before the task's process has had its time. Where it listens
/// instead may change often, and is told with the first report only.
void TaskAgent::TellPort(Instant now, Actions& actions) {
  if (!port_use_ || state_.process_state != ProcessState::kRunning) return;
  const bool early = now < spawned_at_ + job_->deadlines.listen;
  if (port_use_->listener == PortListener::kNobody && early) return;
  if (port_told_ == port_use_->listener) return;
  TF_PROBE("agent/port-use-told");
  port_told_ = port_use_->listener;
  AddNews(now, ReportKind::kPortReport, state_.process->attempt,
          PortReport{.fence = state_.fence,
                     .process = *state_.process,
                     .use = *port_use_,
                     .after = now - spawned_at_},
          actions);
}

// ---------------------------------------------------------------- starting and ending it

/// True when the spec says that this task listens elsewhere than at the port it holds.
bool TaskAgent::HasWrongAddress(const StartProcess& order) const {
  if (order.spec.get() == nullptr) return false;
  const auto type = order.spec.get()->tasks.find(state_.fence.task.type);
  if (type == order.spec.get()->tasks.end()) return false;
  const auto index = static_cast<std::size_t>(state_.fence.task.index);
  if (index >= type->second.size() || type->second[index].port == 0) return false;
  return type->second[index].port != state_.address.port;
}

void TaskAgent::SpawnPending(Instant now, Actions& actions) {
  if (!pending_ || has_process() || state_.port != PortState::kLeased || !serving()) return;
  const StartProcess order = *pending_;
  pending_.reset();
  if (HasWrongAddress(order)) {
    TF_PROBE("agent/wrong-address");
    // The AM has not heard of the port that is held now. A process told to listen elsewhere can
    // only fail.
    ProcessEnded end{.fence = state_.fence, .process = order.process};
    end.launch_error =
        fmt::format("the cluster spec does not have the leased port {}", state_.address.port);
    end.port_conflict = true;
    ReportEnd(now, std::move(end), actions);
    ReportAddress(now, actions);
    return;
  }
  state_.process = order.process;
  should_listen_ =
      order.spec.get() != nullptr && ShouldListen(*job_, state_.fence.task, *order.spec.get());
  stopped_on_order_ = false;
  warned_at_.reset();
  Move(ProcessState::kSpawning, kStartOrdered);
  actions.push_back(SpawnProcess{.task = state_.fence.task,
                                 .process = order.process,
                                 .spec = order.spec,
                                 .resume = order.resume,
                                 .should_listen = should_listen_});
}

void TaskAgent::StopRunning(Instant now, Duration grace, bool on_order, AgentTrigger trigger,
                            Actions& actions) {
  switch (state_.process_state) {
    case ProcessState::kNone:
      return;
    case ProcessState::kSpawning:
      TF_PROBE("agent/stop-while-it-spawns");
      if (!early_stop_)
        early_stop_ = EarlyStop{.grace = grace, .on_order = false, .trigger = trigger};
      early_stop_->grace = std::min(early_stop_->grace, grace);
      early_stop_->on_order = early_stop_->on_order || on_order;
      return;
    case ProcessState::kRunning:
      Move(ProcessState::kStopping, trigger);
      kill_at_ = now + grace;
      actions.push_back(
          SignalProcess{.attempt = state_.process->attempt, .signal = StopSignal::kTerm});
      TellSigns(now, actions);
      Wake(now, actions);
      break;
    case ProcessState::kStopping:
      kill_at_ = std::min(*kill_at_, now + grace);
      break;
    case ProcessState::kKilled:
      break;
  }
  stopped_on_order_ = stopped_on_order_ || on_order;
}

// ---------------------------------------------------------------- reports

bool TaskAgent::IsUnseen(ReportKind kind, TaskAttempt attempt) const {
  return std::any_of(reports_.begin(), reports_.end(), [&](const Report& report) {
    return report.kind == kind && report.attempt == attempt;
  });
}

void TaskAgent::AddReport(Instant now, ReportKind kind, TaskAttempt attempt, AgentToAm message,
                          Actions& actions, std::uint32_t number) {
  reports_.push_back({.kind = kind,
                      .attempt = attempt,
                      .number = number,
                      .message = std::move(message),
                      .next = now});
  if (state_.link != LinkState::kConnected)
    return;  // Said when an AM has accepted the agent, or is heard again.
  reports_.back().next = now + kReportEvery;
  Send(reports_.back().message, actions);
}

/// What goes on again may have been given up by its peers meanwhile: that it stood still, the AM
/// must hear, too.
bool TaskAgent::TellsHowItWas(const Report& report, const ProcessSigns& now) {
  const auto* before = std::get_if<ProcessSigns>(&report.message);
  return before != nullptr && before->process == now.process &&
         before->standstill != Standstill::kNone && now.standstill == Standstill::kNone;
}

template <class Message>
void TaskAgent::AddNews(Instant now, ReportKind kind, TaskAttempt attempt, Message message,
                        Actions& actions) {
  std::erase_if(reports_, [&](const Report& report) {
    if constexpr (std::is_same_v<Message, ProcessSigns>) {
      if (TellsHowItWas(report, message)) return false;
    }
    return report.kind == kind;
  });
  message.number = ++last_number_;
  AddReport(now, kind, attempt, std::move(message), actions, last_number_);
}

void TaskAgent::DropReports(ReportKind kind) {
  std::erase_if(reports_, [kind](const Report& report) { return report.kind == kind; });
}

void TaskAgent::SayReports(Instant now, Actions& actions) {
  if (state_.link != LinkState::kConnected) return;
  for (Report& report : reports_) {
    if (report.next > now) continue;
    report.next = now + kReportEvery;
    Send(report.message, actions);
  }
}

void TaskAgent::ReportRunning(Instant now, Actions& actions) {
  AddReport(now, ReportKind::kProcessRunning, state_.process->attempt,
            ProcessRunning{.fence = state_.fence, .process = *state_.process}, actions);
}

void TaskAgent::ReportAddress(Instant now, Actions& actions) {
  AddNews(now, ReportKind::kAddressChanged, newest_ ? newest_->attempt : TaskAttempt{},
          AddressChanged{.fence = state_.fence, .address = state_.address}, actions);
}

void TaskAgent::ReportStall(Instant now, Actions& actions) {
  AddNews(now, ReportKind::kProgressStalled, state_.process->attempt,
          ProgressStalled{
              .fence = state_.fence, .process = *state_.process, .silent = now - *last_progress_},
          actions);
}

void TaskAgent::ReportEnd(Instant now, ProcessEnded end, Actions& actions) {
  if (!last_end_ || last_end_->process.attempt <= end.process.attempt) last_end_ = end;
  const TaskAttempt attempt = end.process.attempt;
  AddReport(now, ReportKind::kProcessEnded, attempt, std::move(end), actions);
}

void TaskAgent::ReportNeverRan(Instant now, ProcessRef process, Actions& actions) {
  ProcessEnded end{.fence = state_.fence, .process = process};
  end.exit.stopped_by_agent = true;
  end.launch_error = "stopped before it ran";
  ReportEnd(now, std::move(end), actions);
}

/// The AM repeats an order for that attempt, so it has not heard how it ended.
void TaskAgent::RepeatStateOf(Instant now, TaskAttempt attempt, Actions& actions) {
  if (LivesAs(attempt)) {
    const bool seen_running = state_.process_state != ProcessState::kSpawning;
    if (seen_running && !IsUnseen(ReportKind::kProcessRunning, attempt))
      ReportRunning(now, actions);
  } else if (last_end_ && last_end_->process.attempt == attempt) {
    if (!IsUnseen(ReportKind::kProcessEnded, attempt)) {
      TF_PROBE("agent/end-told-again");
      ReportEnd(now, *last_end_, actions);
    }
  }
}

// ---------------------------------------------------------------- leaving

void TaskAgent::On(Instant now, const TerminationRequested&, Actions& actions) {
  Leave(now, job_->deadlines.stop, false, kTerminationRequested, "SIGTERM", actions);
}

void TaskAgent::Leave(Instant now, Duration grace, bool on_order, AgentTrigger trigger,
                      std::string reason, Actions& actions) {
  if (serving()) {
    Move(LifeState::kLeaving, trigger);
    state_.exit_code = ExitCodeOf(trigger);
    exit_reason_ = std::move(reason);
    pending_.reset();
    next_lease_.reset();
    lease_give_up_.reset();
    next_register_.reset();
    StopLooking();
  }
  StopRunning(now, grace, on_order, kAgentLeaving, actions);
  ExitIfDone(now, actions);
}

void TaskAgent::ExitIfDone(Instant now, Actions& actions) {
  if (state_.life != LifeState::kLeaving || has_process()) return;
  const bool end_unseen = std::any_of(reports_.begin(), reports_.end(), [](const Report& report) {
    return report.kind == ReportKind::kProcessEnded;
  });
  if (!end_unseen || state_.link != LinkState::kConnected) return Exit(actions);
  if (!exit_at_) exit_at_ = now + kFarewell;
}

void TaskAgent::Exit(Actions& actions) {
  Move(LifeState::kExited, kNothingLeft);
  actions.push_back(ExitAgent{.code = state_.exit_code, .reason = exit_reason_});
}

}  // namespace tfyarn::agent
