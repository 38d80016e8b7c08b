// The TaskAgent's obedience: what the AM says to it. Orders are repeated, late and out of order;
// each names the attempt it is about, and an attempt that is older than the newest one known has
// had its time.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/agent/task_agent.h"
#include "core/model/check.h"
#include "core/model/probe.h"
#include "core/model/text.h"

namespace tfyarn::agent {
namespace {

using enum AgentTrigger;

/// After a warning the next one is another: the AM passes on what the RM says 10 s later or more,
/// and the way to the agent may have kept the first one for some of them.
constexpr Duration kWarningIsNewAfter = 5s;

}  // namespace

void TaskAgent::On(Instant now, const AmSaid& event, Actions& actions) {
  if (!(FenceOf(event.message) == state_.fence)) {
    TF_PROBE("agent/not-for-this-agent");
    return actions.push_back(Note{fmt::format("not for this agent: {}", ToText(event.message))});
  }
  if (event.am_attempt != state_.am_attempt) {
    TF_PROBE("agent/of-another-am");
    // Reports go to one AM: an agent that obeyed another one would mislead both. A newer one
    // repeats its orders until this agent has found it.
    // How many heartbeats an AM answers when it wakes is no news.
    if (!std::holds_alternative<HeartbeatSeen>(event.message))
      actions.push_back(
          Note{fmt::format("from AM attempt {}, but this agent is attempt {}'s: {}",
                           event.am_attempt, state_.am_attempt, ToText(event.message))});
    const bool newer = event.am_attempt > state_.am_attempt;
    if (newer && serving() && state_.link != LinkState::kClosed && !next_look_) {
      TF_PROBE("agent/newer-am-speaks");
      StartLooking(now, actions);
    }
    return;
  }
  // What it answers is not among the reports that are said again to an AM that is heard again.
  DropAnswered(event.message);
  Heard(now, actions);
  std::visit([&](const auto& order) { Obey(now, order, actions); }, event.message);
}

void TaskAgent::Obey(Instant now, const AgentAccepted&, Actions& actions) {
  if (state_.link != LinkState::kRegistering || !serving()) return;  // A repeated answer.
  Move(LinkState::kConnected, kAgentAccepted);
  state_.accepted = true;
  next_register_.reset();
  next_heartbeat_ = now + job_->heartbeat.every;
  // The AM would take it for the port that follows the next one that is taken.
  if (registered_as_ == state_.address) DropReports(ReportKind::kAddressChanged);
  for (Report& report : reports_) report.next = now;
  SayReports(now, actions);
  signs_told_ = {};  // What an AM attempt before this one was told.
  TellSigns(now, actions);
  port_told_.reset();
  if (port_use_ && port_use_->listener != PortListener::kOurs) TellPort(now, actions);
}

void TaskAgent::Obey(Instant now, const AgentRefused& order, Actions& actions) {
  TF_PROBE("agent/refused");
  if (state_.link != LinkState::kClosed) Move(LinkState::kClosed, kAgentRefused);
  state_.accepted = false;
  next_heartbeat_.reset();
  next_register_.reset();
  StopLooking();
  reports_.clear();  // No AM is left that would answer them.
  Leave(now, job_->deadlines.stop, true, kAgentRefused,
        fmt::format("refused by the AM: {}", order.reason), actions);
}

void TaskAgent::Obey(Instant, const HeartbeatSeen&, Actions&) {}

/// An answer to what was said before the latest news leaves that to be said again.
void TaskAgent::DropAnswered(const AmToAgent& message) {
  if (const auto* seen = std::get_if<ReportSeen>(&message)) {
    std::erase_if(reports_, [&](const Report& report) {
      return report.number == 0 && report.kind == seen->kind && report.attempt == seen->attempt;
    });
  } else if (const auto* news = std::get_if<NewsSeen>(&message)) {
    std::erase_if(reports_, [&](const Report& report) {
      return report.number != 0 && report.number == news->number;
    });
  }
}

void TaskAgent::Obey(Instant now, const ReportSeen&, Actions& actions) {
  ExitIfDone(now, actions);
}

void TaskAgent::Obey(Instant, const NewsSeen&, Actions&) {}

void TaskAgent::Obey(Instant now, const StartProcess& order, Actions& actions) {
  const TaskAttempt attempt = order.process.attempt;
  if (!serving()) {
    TF_PROBE("agent/start-while-leaving");
    return actions.push_back(
        Note{fmt::format("leaving: attempt {} is not started", attempt.value)});
  }
  if (newest_ && attempt < newest_->attempt) {
    TF_PROBE("agent/start-of-an-old-attempt");
    return actions.push_back(Note{fmt::format("attempt {} is older than attempt {}: not started",
                                              attempt.value, newest_->attempt.value)});
  }
  if (newest_ && attempt == newest_->attempt) return RepeatStateOf(now, attempt, actions);
  if (pending_) {
    TF_PROBE("agent/start-replaced");
    actions.push_back(
        Note{fmt::format("attempt {} was replaced by attempt {} before it could start",
                         pending_->process.attempt.value, attempt.value)});
  }
  newest_ = order.process;
  pending_ = order;
  StopRunning(now, job_->deadlines.stop, true, kReplaced, actions);
  SpawnPending(now, actions);
}

void TaskAgent::Obey(Instant now, const StopProcess& order, Actions& actions) {
  if (pending_ && pending_->process.attempt == order.attempt) {
    TF_PROBE("agent/stopped-before-it-ran");
    const ProcessRef process = pending_->process;
    pending_.reset();
    return ReportNeverRan(now, process, actions);
  }
  if (LivesAs(order.attempt)) return StopRunning(now, order.grace, true, kStopOrdered, actions);
  if (newest_ && order.attempt <= newest_->attempt) {
    TF_PROBE("agent/stop-of-an-ended-attempt");
    if (!last_end_ || last_end_->process.attempt != order.attempt) {
      actions.push_back(Note{fmt::format("attempt {} has long ended", order.attempt.value)});
    }
    return RepeatStateOf(now, order.attempt, actions);
  }
  TF_PROBE("agent/stop-before-the-start");
  // It came before the order to start that attempt, or that order was lost: it will not run, and
  // nothing older may.
  newest_ = ProcessRef{.attempt = order.attempt, .epoch = newest_ ? newest_->epoch : Epoch{}};
  pending_.reset();
  StopRunning(now, order.grace, true, kStopOrdered, actions);
  ReportNeverRan(now, *newest_, actions);
}

void TaskAgent::Obey(Instant now, const WarnProcess& order, Actions& actions) {
  const bool warnable = LivesAs(order.attempt) && state_.process_state == ProcessState::kRunning;
  const bool repeated = warned_at_ && now - *warned_at_ < kWarningIsNewAfter;
  if (!warnable || repeated) {
    TF_PROBE("agent/not-to-be-warned");
    return actions.push_back(
        Note{fmt::format("attempt {} cannot be warned (again)", order.attempt.value)});
  }
  if (warned_at_) TF_PROBE("agent/warned-again");
  warned_at_ = now;
  actions.push_back(SignalProcess{.attempt = order.attempt, .signal = StopSignal::kTerm});
}

void TaskAgent::Obey(Instant now, const EndAgent& order, Actions& actions) {
  Leave(now, order.grace, true, kEndOrdered, "ended by the AM", actions);
}

void TaskAgent::Obey(Instant, const ShowStacks& order, Actions& actions) {
  const bool runs = LivesAs(order.attempt) && state_.process_state == ProcessState::kRunning;
  if (runs) return actions.push_back(DumpStacks{.attempt = order.attempt});
  TF_PROBE("agent/no-stacks-to-show");
  actions.push_back(Note{fmt::format("attempt {} has no stacks to show", order.attempt.value)});
}

}  // namespace tfyarn::agent
