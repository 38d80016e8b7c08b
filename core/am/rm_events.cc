#include "core/am/rm_events.h"

#include <fmt/format.h>

#include "core/am/am_parts.h"
#include "core/model/check.h"
#include "core/model/probe.h"
#include "core/model/text.h"

namespace tfyarn::am {
namespace {

/// After the RM's last word of taking a container, its next is another notice. Longer than an
/// answer takes that comes twice, and less than the 15 s that the CapacityScheduler waits before it
/// decides whether it needs a marked container (max_wait_before_kill).
constexpr Duration kNoticeIsNewAfter = 10s;

/// The agent ended for want of an AM that owns it.
bool IsAmLost(const yarn::ContainerStatus& status) {
  return status.exit_status == agent_exit::kAmLost || status.exit_status == agent_exit::kRefused;
}

}  // namespace

void RmEvents::OnReplied(const RmReplied& reply) {
  AmCore& core = parts_.core;
  const allocation::RmNews news = core.rm.OnReplied(core.now, reply);
  if (news.ignored) core.Note(*news.ignored);
  if (news.must_stop)
    return parts_.finish.Abandon(fmt::format("the RM ends this attempt: {}", *news.must_stop), 1);
  if (news.finished) return parts_.finish.OnUnregistered();
  if (news.resynced) OnResynced();
  for (const yarn::Container& container : news.listed)
    parts_.recovery.OnPreviousContainer(container);
  if (news.registered) parts_.startup.OnRegistered(*news.registered, news.registered_blindly);
  if (news.rejected) OnRejected(*news.rejected);
  if (news.nodes_counted) parts_.startup.OnNodesCounted(*news.nodes_counted);
  if (news.allocated) OnAllocated(*news.allocated);
}

/// An RM that has restarted learns of its nodes again, too.
void RmEvents::OnResynced() {
  parts_.core.Note("the RM had lost this attempt: registered again, everything is told again");
  parts_.startup.NodesComeAgain();
}

void RmEvents::OnRejected(const yarn::RpcError& error) {
  AmCore& core = parts_.core;
  const bool asks = error.code == yarn::RpcErrorCode::kInvalidResourceRequest ||
                    error.code == yarn::RpcErrorCode::kInvalidLabelResourceRequest;
  if (!asks) {
    TF_PROBE("rm/call-refused");
    return core.Note(fmt::format("the RM refused a call: {}", error.message));
  }
  if (error.code == yarn::RpcErrorCode::kInvalidResourceRequest &&
      parts_.startup.OnSizeRefused(error.message))
    return;
  parts_.finish.Fail(
      {.exit_class = ExitClass::kInfeasible, .at = core.now, .detail = error.message},
      "gang/ask-refused", fmt::format("the RM refuses what the job asks for: {}", error.message));
}

void RmEvents::OnAllocated(const yarn::AllocateResponse& response) {
  AmCore& core = parts_.core;
  for (const yarn::ContainerStatus& status : response.completed_containers) Amend(status);
  for (const yarn::ContainerStatus& status : response.completed_containers) OnCompleted(status);
  if (!response.updated_nodes.empty()) {
    core.gang.OnUpdatedNodes(core.now, response.updated_nodes);
    if (parts_.startup.waits_for_nodes()) {
      TF_PROBE("rm/node-news-while-waiting");
      core.feasibility = true;
    }
    for (const yarn::NodeReport& report : response.updated_nodes) OnNode(report);
  }
  parts_.startup.TakeNodes(response.num_cluster_nodes, response.updated_nodes);
  for (const yarn::Container& container : response.containers_from_previous_attempts) {
    parts_.recovery.OnPreviousContainer(container);
  }
  for (const allocation::Grant& grant :
       core.gang.OnAllocated(core.now, response.allocated_containers)) {
    const auto task = core.tasks.Find(grant.task);
    TF_CHECK(task.has_value());
    parts_.launch.OnGranted(*task, grant.container);
  }
  for (const ContainerId& container : response.preempt_strict) OnPreemptionNotice(container);
  // The CapacityScheduler would take others instead, but these are what it has marked and takes.
  // Source: FiCaSchedulerApp.getAllocation, ProportionalCapacityPreemptionPolicy.
  for (const ContainerId& container : response.preempt_contract) OnPreemptionNotice(container);
}

void RmEvents::ReleaseSurplus() {
  for (const ContainerId& container : parts_.core.gang.TakeReleases()) {
    if (parts_.restart.SeesOut(container)) continue;
    if (!parts_.leaving.Has(container)) given_back_.insert(container);
    parts_.core.rm.Release(container);
  }
}

// ---------------------------------------------------------------- ends of containers

/// What the answer says of ends that are known already comes first: the end of another container in
/// the same answer may be the last that a decision waits for.
void RmEvents::Amend(const yarn::ContainerStatus& status) {
  auto task = parts_.core.tasks.OwnerOf(status.id);
  if (!task) task = parts_.leaving.TaskOf(status.id);
  if (task && !parts_.core.tasks.ProcessAlive(*task))
    parts_.attempts.AmendByCompletion(*task, status, false);
}

void RmEvents::OnCompleted(const yarn::ContainerStatus& status) {
  AmCore& core = parts_.core;
  const auto owner = core.tasks.OwnerOf(status.id);
  const auto former = parts_.leaving.TaskOf(status.id);
  const bool was_leaving = parts_.leaving.OnCompleted(status.id);
  const allocation::CompletedContainer kind = core.gang.OnCompleted(core.now, status.id);
  if (owner) return OnOwnedCompleted(*owner, status);
  if (former) return parts_.attempts.AmendByCompletion(*former, status, false);
  const bool expected = given_back_.erase(status.id) > 0;
  if (!was_leaving && !expected && kind == allocation::CompletedContainer::kReleased) {
    TF_PROBE("rm/end-of-no-task");
    core.Note(fmt::format("{} has ended ({}), which no task holds: {}", ToString(status.id),
                          status.exit_status, status.diagnostics));
  }
}

void RmEvents::OnOwnedCompleted(TaskIndex task, const yarn::ContainerStatus& status) {
  AmCore& core = parts_.core;
  const TaskRecord& record = core.tasks.record(task);
  if (record.agent == AgentPhase::kGranted) {
    TF_PROBE("rm/ended-before-its-launch");
    // Nothing ran in it; the gang asks for another by itself.
    core.Note(fmt::format("{} lost {} before its agent was launched: {}",
                          ToString(core.tasks.id(task)), ToString(status.id), status.diagnostics));
    return parts_.leaving.Gone(task);
  }
  const std::string host = core.tasks.shown(task).node.host;
  if (status.exit_status == container_exit::kDisksFailed) {
    TF_PROBE("rm/node-is-bad");
    core.exclusion.Suspect(core.now, host, allocation::Suspicion::kNodeBad);
  }
  if (core.tasks.ProcessAlive(task)) {
    // Stopped for a failure whose cause is not known yet: this may be that cause.
    const bool ours = record.process == ProcessPhase::kStopping && !parts_.failover.deciding();
    const AttemptEnd end = parts_.attempts.End(task,
                                               {.yarn_exit = status.exit_status,
                                                .diagnostics = status.diagnostics,
                                                .we_stopped = ours,
                                                .timed_out = record.hung,
                                                .am_lost = IsAmLost(status)},
                                               status.diagnostics);
    parts_.leaving.Gone(task);
    return parts_.failover.OnEnd(end, false);
  }
  const bool had_process = record.process == ProcessPhase::kEnded;
  if (had_process) parts_.attempts.AmendByCompletion(task, status, false);
  parts_.leaving.Gone(task);
  const std::string why = fmt::format("its container ended with {} before a process ran in it: {}",
                                      status.exit_status, status.diagnostics);
  policy::ExitEvidence evidence{.yarn_exit = status.exit_status,
                                .diagnostics = status.diagnostics,
                                .launch_error = {},
                                .am_lost = IsAmLost(status)};
  if (!had_process && status.exit_status >= 0 && !evidence.am_lost) {
    TF_PROBE("rm/died-early");
    evidence.launch_error = why;
    core.exclusion.Suspect(core.now, host, allocation::Suspicion::kLaunchFailed);
  }
  parts_.failover.OnLostBeforeStart(task, std::move(evidence), why, had_process);
}

// ---------------------------------------------------------------- nodes

void RmEvents::OnNode(const yarn::NodeReport& report) {
  AmCore& core = parts_.core;
  // A lost node may come back; these two do not come back by themselves.
  if (report.state == yarn::NodeState::kDecommissioned ||
      report.state == yarn::NodeState::kShutdown) {
    TF_PROBE("rm/node-will-not-come-back");
    core.feasibility = true;
  }
  // Of unhealthy and decommissioned nodes the RM reports the containers itself, each with its
  // reason.
  if (report.state != yarn::NodeState::kLost) return;
  for (std::uint32_t i = 0; i < core.tasks.size(); ++i) {
    const TaskIndex task(i);
    if (!core.tasks.shown(task).has_container || core.tasks.shown(task).node != report.node)
      continue;
    const std::string why = fmt::format("node {} is lost", ToString(report.node));
    const policy::ExitEvidence evidence{.node_lost = true};
    if (core.tasks.record(task).agent == AgentPhase::kGranted) {
      TF_PROBE("rm/node-lost-before-the-launch");
      core.gang.Refuse(core.now, core.tasks.shown(task).container);
      parts_.leaving.Gone(task);
    } else if (core.tasks.ProcessAlive(task)) {
      TF_PROBE("rm/node-lost-under-a-process");
      const AttemptEnd end = parts_.attempts.End(task, evidence, why);
      parts_.leaving.Release(task);
      parts_.failover.OnEnd(end, false);
    } else {
      parts_.leaving.Release(task);
      TF_PROBE("rm/node-lost-before-the-process");
      parts_.failover.OnLostBeforeStart(task, evidence, why, false);
    }
  }
}

void RmEvents::OnPreemptionNotice(const ContainerId& container) {
  AmCore& core = parts_.core;
  const auto task = core.tasks.OwnerOf(container);
  if (!task) return;
  TaskRecord& record = core.tasks.mutable_record(*task);
  // The RM spares a container that it need not take any more, without a word of it: a mark that
  // comes long after the last one is another, and the process may have resumed its work.
  const bool repeated =
      record.preemption_noticed && core.now - record.noticed_at < kNoticeIsNewAfter;
  if (record.preemption_noticed && !repeated) TF_PROBE("rm/marked-again");
  record.preemption_noticed = true;
  record.noticed_at = core.now;
  if (repeated) return;
  core.Note(fmt::format("{} will lose {} to preemption", ToString(core.tasks.id(*task)),
                        ToString(container)));
  parts_.failover.ObeyNotice(*task);
}

// ---------------------------------------------------------------- the gang's clocks

void RmEvents::OnGangTime() {
  AmCore& core = parts_.core;
  const auto due = core.gang.next_deadline();
  if (!due || *due > core.now) return;
  const allocation::GangTimeouts timeouts = core.gang.OnTime(core.now);
  parts_.restart.TakeGivenBack(timeouts.given_back);
  if (timeouts.deadline_missed && !core.finishing) {
    // Of a gang that has trained, what is missing beside the training keeps nothing from going on.
    const bool training =
        !core.gang_was_complete || core.tasks.CountTraining(TaskState::kWaiting) > 0;
    const std::string why =
        fmt::format("no complete gang within {}", ToString(core.job->gang.deadline));
    if (!training) {
      TF_PROBE("rm/gang-deadline-beside-the-training");
      return core.Note(fmt::format("{}: {}", why, *timeouts.deadline_missed));
    }
    parts_.finish.Fail({.exit_class = ExitClass::kGangTimeout,
                        .at = core.now,
                        .detail = *timeouts.deadline_missed},
                       "gang/deadline", why);
  }
}

}  // namespace tfyarn::am
