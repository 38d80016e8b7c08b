#include "core/am/observe/container_events.h"

#include <fmt/format.h>

#include "core/am/am_parts.h"
#include "core/model/check.h"
#include "core/model/probe.h"
#include "core/model/text.h"

namespace tfyarn::am {
namespace {

/// After the cluster's last word of taking a container, its next is another notice. Longer than an
/// answer takes that comes twice, and less than the 15 s that the CapacityScheduler waits before it
/// decides whether it needs a marked container (max_wait_before_kill).
constexpr Duration kNoticeIsNewAfter = 10s;

/// The agent ended for want of an AM that owns it.
bool IsAmLost(const allocation::LostContainer& lost) {
  return lost.exit_status == agent_exit::kAmLost || lost.exit_status == agent_exit::kRefused;
}

}  // namespace

// ---------------------------------------------------------------- the attempt

void ContainerEvents::OnAdmitted(const allocation::Admission& admission) {
  parts_.startup.OnAdmitted(admission);
}

void ContainerEvents::OnForgotten() {
  parts_.core.Note("the RM had lost this attempt: registered again, everything is told again");
}

void ContainerEvents::OnExpelled(const std::string& why) {
  parts_.finish.Abandon(fmt::format("the RM ends this attempt: {}", why), 1);
}

void ContainerEvents::OnFinished() {
  parts_.ending.OnUnregistered();
}

void ContainerEvents::OnRejected(const allocation::Rejection& rejection) {
  AmCore& core = parts_.core;
  if (rejection.of == allocation::Rejection::Of::kCall) {
    TF_PROBE("containers/call-refused");
    return core.Note(fmt::format("the RM refused a call: {}", rejection.message));
  }
  if (rejection.of == allocation::Rejection::Of::kSize &&
      parts_.startup.OnSizeRefused(rejection.message))
    return;
  parts_.finish.Fail(
      {.exit_class = ExitClass::kInfeasible, .at = core.now, .detail = rejection.message},
      "gang/ask-refused",
      fmt::format("the RM refuses what the job asks for: {}", rejection.message));
}

std::vector<placement::SlotGroup> ContainerEvents::Needed() const {
  return parts_.startup.TrainingGroups();
}

// ---------------------------------------------------------------- containers that come

void ContainerEvents::OnCameBack(const allocation::HeldContainer& container) {
  parts_.recovery.OnPreviousContainer(container);
}

void ContainerEvents::OnGranted(const TaskId& name, const allocation::HeldContainer& container) {
  const auto task = parts_.core.tasks.Find(name);
  TF_CHECK(task.has_value());
  parts_.launch.OnGranted(*task, container);
}

void ContainerEvents::OnLaunchRefused(const TaskId& name, const ContainerId& container,
                                      const allocation::LaunchRefusal& refusal) {
  const auto task = parts_.core.tasks.OwnerOf(container);
  TF_CHECK(!task || parts_.core.tasks.id(*task) == name);
  // Otherwise its container is gone, or its agent has registered already.
  if (task && parts_.core.tasks.record(*task).agent == AgentPhase::kLaunching)
    parts_.launch.OnRefused(*task, refusal);
}

void ContainerEvents::OnNotStopped(const ContainerId& container) {
  parts_.leaving.OnNotStopped(container);
}

// ---------------------------------------------------------------- containers that end

/// What the answer says of ends that are known already comes first: the end of another container in
/// the same answer may be the last that a decision waits for.
void ContainerEvents::OnEndsTold(const std::vector<allocation::LostContainer>& told) {
  for (const allocation::LostContainer& lost : told) {
    auto task = parts_.core.tasks.OwnerOf(lost.id);
    if (!task) task = parts_.leaving.TaskOf(lost.id);
    // An AM before has given it up, or lost its node: what it wrote down is still to be decided.
    if (!task) task = parts_.attempts.LastEndedIn(lost.id);
    if (task && !parts_.core.tasks.ProcessAlive(*task))
      parts_.attempts.AmendByCompletion(*task, lost);
  }
}

void ContainerEvents::OnLost(const allocation::LostContainer& lost) {
  AmCore& core = parts_.core;
  const auto owner = core.tasks.OwnerOf(lost.id);
  const auto former = parts_.leaving.TaskOf(lost.id);
  const bool was_leaving = parts_.leaving.OnCompleted(lost.id);
  if (owner) return OnOwnedLost(*owner, lost);
  if (former) return parts_.attempts.AmendByCompletion(*former, lost);
  if (!was_leaving && lost.stray) {
    TF_PROBE("containers/end-of-no-task");
    core.Note(fmt::format("{} has ended ({}), which no task holds: {}", ToString(lost.id),
                          lost.exit_status, lost.diagnostics));
  }
}

void ContainerEvents::OnOwnedLost(TaskIndex task, const allocation::LostContainer& lost) {
  AmCore& core = parts_.core;
  const TaskRecord& record = core.tasks.record(task);
  if (record.agent == AgentPhase::kGranted) {
    TF_PROBE("containers/ended-before-its-launch");
    // Nothing ran in it; the gang asks for another by itself.
    core.Note(fmt::format("{} lost {} before its agent was launched: {}",
                          ToString(core.tasks.id(task)), ToString(lost.id), lost.diagnostics));
    return parts_.leaving.Gone(task);
  }
  const std::string host = core.tasks.shown(task).node.host;
  if (lost.exit_status == container_exit::kDisksFailed) {
    TF_PROBE("containers/node-is-bad");
    core.allocation.Suspect(host, allocation::Suspicion::kNodeBad);
  }
  if (core.tasks.ProcessAlive(task)) {
    // Stopped for a failure whose cause is not known yet: this may be that cause.
    const bool ours = record.process == ProcessPhase::kStopping && !parts_.failover.deciding();
    const AttemptEnd end = parts_.attempts.End(task,
                                               {.yarn_exit = lost.exit_status,
                                                .diagnostics = lost.diagnostics,
                                                .we_stopped = ours,
                                                .timed_out = record.hung,
                                                .am_lost = IsAmLost(lost)},
                                               lost.diagnostics);
    parts_.leaving.Gone(task);
    return parts_.failover.OnEnd(end, false);
  }
  const bool had_process = record.process == ProcessPhase::kEnded;
  if (had_process) parts_.attempts.AmendByCompletion(task, lost);
  parts_.leaving.Gone(task);
  const std::string why = fmt::format("its container ended with {} before a process ran in it: {}",
                                      lost.exit_status, lost.diagnostics);
  policy::ExitEvidence evidence{.yarn_exit = lost.exit_status,
                                .diagnostics = lost.diagnostics,
                                .launch_error = {},
                                .am_lost = IsAmLost(lost)};
  if (!had_process && lost.exit_status >= 0 && !evidence.am_lost) {
    TF_PROBE("containers/died-early");
    evidence.launch_error = why;
    core.allocation.Suspect(host, allocation::Suspicion::kLaunchFailed);
  }
  parts_.failover.OnLostBeforeStart(task, std::move(evidence), why, had_process);
}

// ---------------------------------------------------------------- nodes, notices

void ContainerEvents::OnNodeLost(const NodeId& node) {
  AmCore& core = parts_.core;
  for (std::uint32_t i = 0; i < core.tasks.size(); ++i) {
    const TaskIndex task(i);
    if (!core.tasks.shown(task).has_container || core.tasks.shown(task).node != node) continue;
    const std::string why = fmt::format("node {} is lost", ToString(node));
    const policy::ExitEvidence evidence{.node_lost = true};
    if (core.tasks.record(task).agent == AgentPhase::kGranted) {
      TF_PROBE("containers/node-lost-before-the-launch");
      core.allocation.GiveUp(core.tasks.shown(task).container);
      parts_.leaving.Gone(task);
    } else if (core.tasks.ProcessAlive(task)) {
      TF_PROBE("containers/node-lost-under-a-process");
      const AttemptEnd end = parts_.attempts.End(task, evidence, why);
      parts_.leaving.Release(task);
      parts_.failover.OnEnd(end, false);
    } else {
      parts_.leaving.Release(task);
      TF_PROBE("containers/node-lost-before-the-process");
      parts_.failover.OnLostBeforeStart(task, evidence, why, false);
    }
  }
}

void ContainerEvents::OnNotice(const ContainerId& container) {
  AmCore& core = parts_.core;
  const auto task = core.tasks.OwnerOf(container);
  if (!task) return;
  TaskRecord& record = core.tasks.mutable_record(*task);
  // The RM spares a container that it need not take any more, without a word of it: a mark that
  // comes long after the last one is another, and the process may have resumed its work.
  const bool repeated =
      record.preemption_noticed && core.now - record.noticed_at < kNoticeIsNewAfter;
  if (record.preemption_noticed && !repeated) TF_PROBE("containers/marked-again");
  record.preemption_noticed = true;
  record.noticed_at = core.now;
  if (repeated) return;
  core.Note(fmt::format("{} will lose {} to preemption", ToString(core.tasks.id(*task)),
                        ToString(container)));
  parts_.failover.ObeyNotice(*task);
}

// ---------------------------------------------------------------- the gang's clocks

void ContainerEvents::OnGangTime() {
  AmCore& core = parts_.core;
  const allocation::GangTimeouts timeouts = core.allocation.OnTime();
  parts_.restart.TakeGivenBack(timeouts.given_back);
  if (timeouts.deadline_missed && !core.finishing) {
    // Of a gang that has trained, what is missing beside the training keeps nothing from going on.
    const bool training =
        !core.gang_was_complete || core.tasks.CountTraining(TaskState::kWaiting) > 0;
    const std::string why =
        fmt::format("no complete gang within {}", ToString(core.job->gang.deadline));
    if (!training) {
      TF_PROBE("containers/gang-deadline-beside-the-training");
      return core.Note(fmt::format("{}: {}", why, *timeouts.deadline_missed));
    }
    parts_.finish.Fail({.exit_class = ExitClass::kGangTimeout,
                        .at = core.now,
                        .detail = *timeouts.deadline_missed},
                       "gang/deadline", why);
  }
}

}  // namespace tfyarn::am
