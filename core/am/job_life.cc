#include "core/am/job_life.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "core/am/am_parts.h"
#include "core/model/probe.h"
#include "core/model/text.h"

namespace tfyarn::am {

void JobLife::Settle() {
  AmCore& core = parts_.core;
  if (core.stopped) return;
  Reconcile();
  // What the journal says of the tasks is not all that is known of them before the RM has answered.
  if (!parts_.recovery.pending()) FollowProgress();
  if (run_overdue_ && !core.finishing) OnRunDeadline();
  if (!core.finishing) parts_.failover.OnSettled();
  if (core.allocation.to_be_judged() && !core.finishing) parts_.startup.CheckWhatTrainingWaitsFor();
  if (!core.finishing) {
    CompleteGang();
    parts_.launch.LaunchReady();
    parts_.epochs.TryCommit();
    UpdateState();
  } else {
    parts_.finish.Advance();
  }
  ExplainWaiting();
  StoreKeptOff();
  Reconcile();
  core.out.Flush();
  core.allocation.Send();
}

void JobLife::FollowProgress() {
  AmCore& core = parts_.core;
  const bool judge_again = std::exchange(judge_again_, false);
  // Success stands, whatever waits in vain for the end that decides it.
  if (!core.job->depends.empty()) LetSuccessStand();
  if ((core.tasks.progressed() || parts_.gates.awaits_agents()) && !core.finishing)
    parts_.gates.Check();
  if ((core.tasks.progressed() || judge_again) && !core.finishing) Judge(Judged::kAll);
  // A task that has ended needs no node any more: the nodes that there are may do for the others.
  if (core.tasks.progressed() && core.allocation.awaits_nodes()) core.allocation.JudgeAgain();
  core.tasks.ForgetProgress();
}

void JobLife::Reconcile() {
  parts_.processes.Reconcile();
  parts_.leaving.Reconcile();
}

void JobLife::StoreKeptOff() {
  AmCore& core = parts_.core;
  auto hosts = core.allocation.HostsToStore(core.ledger.kept_off, core.finishing);
  if (hosts)
    core.allocation.OnHostsStored(core.Append(journal::HostsKeptOff{.hosts = std::move(*hosts)}));
}

// ---------------------------------------------------------------- the verdict

/// No limit starts anything again after it.
void JobLife::LetSuccessStand() {
  const AmCore& core = parts_.core;
  if (core.tasks.progressed() && !core.finishing && !parts_.recovery.pending())
    Judge(Judged::kSuccess);
}

void JobLife::Judge(Judged judged) {
  AmCore& core = parts_.core;
  if (!core.policy) return;
  const std::optional<policy::Verdict> verdict = core.policy->Judge(core.tasks);
  if (!verdict) return;
  if (judged == Judged::kSuccess && verdict->status != JobStatus::kSucceeded) return;
  // Who has yet to find this AM may have ended in a way that decides otherwise.
  judge_again_ = verdict->status != JobStatus::kSucceeded && core.AwaitsAgents();
  if (judge_again_) {
    TF_PROBE("life/judged-when-agents-are-heard");
    return;
  }
  if (verdict->probe != nullptr) verdict->probe->Pass();
  if (verdict->status == JobStatus::kSucceeded)
    return parts_.finish.Succeed(verdict->rule, verdict->why);
  const Cause cause = parts_.failover.first_tallied().value_or(
      Cause{.exit_class = ExitClass::kUnknown, .at = core.now});
  if (!parts_.failover.RetryInstead(*verdict, cause))
    parts_.finish.Fail(cause, verdict->rule, verdict->why, parts_.failover.first_tried());
}

// ---------------------------------------------------------------- stages

void JobLife::CompleteGang() {
  AmCore& core = parts_.core;
  // A task may rest before its next container is asked for: the allocator does not know of it.
  const bool complete = core.tasks.CountTraining(TaskState::kWaiting) == 0 &&
                        (core.gang_was_complete || core.allocation.complete());
  if (!complete) {
    if (core.gang_was_complete && core.epoch_in_force() == Epoch())
      TF_PROBE("life/gang-lost-before-its-first-process");
    core.gang_open = true;
    // Lost before the first process: it is collected as the first time, with what does not train.
    if (core.epoch_in_force() == Epoch()) core.gang_was_complete = false;
    return;
  }
  core.allocation.OnTrainingWhole();
  if (!core.gang_open || core.tasks.containers() == 0 || core.snapshot.epoch.value == 0) return;
  core.gang_open = false;
  core.gang_was_complete = true;
  core.Emit(GangCompleted{.epoch = core.snapshot.epoch, .containers = core.tasks.containers()});
}

JobState JobLife::StageOfTraining() const {
  const TaskTable& tasks = parts_.core.tasks;
  if (tasks.training_tasks() == 0 && !parts_.core.ever_running) {
    // Of a job that only evaluates or shows something, any process makes it run.
    TF_PROBE("life/nothing-trains");
    if (tasks.Count(TaskState::kRunning) + tasks.Count(TaskState::kEnded) > 0)
      return JobState::kRunning;
    return tasks.Count(TaskState::kWaiting) > 0 ? JobState::kAllocating : JobState::kLaunching;
  }
  if (tasks.CountTraining(TaskState::kWaiting) > 0) return JobState::kAllocating;
  const bool together = parts_.core.job->gang.policy != GangPolicy::kNone;
  if (tasks.CountTraining(TaskState::kGranted) > 0) {
    return together && !parts_.core.allocation.complete() ? JobState::kAllocating
                                                          : JobState::kLaunching;
  }
  if (tasks.CountTraining(TaskState::kLaunching) > 0 &&
      parts_.core.allocation.unanswered_launches() > 0)
    return JobState::kLaunching;
  return AllSettled() && HasBegun() ? JobState::kRunning : JobState::kRegistering;
}

/// Each training task runs, has ended, or waits by `depends` for others.
bool JobLife::AllSettled() const {
  const TaskTable& tasks = parts_.core.tasks;
  return tasks.CountTraining(TaskState::kRunning) + tasks.training_ended() +
             parts_.gates.closed_training() >=
         tasks.training_tasks();
}

bool JobLife::HasBegun() const {
  const TaskTable& tasks = parts_.core.tasks;
  if (parts_.core.epoch_in_force() == Epoch()) return false;
  // What does not train may hold back all that does: it has to run first.
  return parts_.gates.closed_training() < tasks.training_tasks() ||
         tasks.Count(TaskState::kRunning) + tasks.Count(TaskState::kEnded) > 0;
}

void JobLife::UpdateState() {
  AmCore& core = parts_.core;
  if (core.snapshot.epoch.value == 0) return;
  JobState stage = StageOfTraining();
  // Processes that end as soon as they run may never all run at one moment.
  const bool all_have_run =
      HasBegun() && core.tasks.training_ever_ran() + parts_.gates.closed_training() >=
                        core.tasks.training_tasks();
  if (stage != JobState::kRunning && !core.ever_running && all_have_run)
    TF_PROBE("life/never-all-at-one-moment");
  if (!core.ever_running && all_have_run) stage = JobState::kRunning;
  const bool stays = core.snapshot.state == JobState::kRunning &&
                     core.job->strategy != Strategy::kMultiWorker &&
                     core.tasks.training_alive() > 0;
  if (stage != JobState::kRunning && stays) return;
  const bool was_running = core.ever_running;
  // deadlines.start counts from the complete gang to every process running.
  if (!MustStart(stage)) {
    core.start_by = kNever;
  } else if (core.start_by == kNever) {
    core.start_by = core.now + core.job->deadlines.start;
  }
  core.Enter(stage);
  if (stage != JobState::kRunning || was_running) return;
  (void)core.Append(journal::AllRunning{.at = core.StoredAt(core.now)});
  // Where processes have ended by now the stage is another one already, and no event will say so.
  UpdateState();
}

bool JobLife::MustStart(JobState stage) const {
  const AmCore& core = parts_.core;
  if (stage == JobState::kRunning || stage == JobState::kAllocating || AllSettled() ||
      core.tasks.training_tasks() == 0)
    return false;
  if (core.tasks.CountTraining(TaskState::kStopping) > 0) {
    // It has its own time to end, and may not start again at all.
    TF_PROBE("life/what-is-to-end-need-not-start");
    return false;
  }
  // What an earlier attempt started may run: its agents have yet to find this one.
  if (!core.AwaitsAgents()) return true;
  TF_PROBE("life/agents-look-for-this-am");
  return false;
}

Instant JobLife::start_by() const {
  return parts_.core.snapshot.verdict ? kNever : parts_.core.start_by;
}

Instant JobLife::run_until() const {
  const AmCore& core = parts_.core;
  const std::optional<Duration>& limit = core.job->deadlines.run;
  if (!limit || !core.ever_running || !core.ledger.all_running || run_is_over_ ||
      core.snapshot.verdict)
    return kNever;
  return core.InstantAt(*core.ledger.all_running) + *limit;
}

void JobLife::OnStartDeadline() {
  TF_PROBE("life/start-deadline");
  AmCore& core = parts_.core;
  core.start_by = kNever;
  for (std::uint32_t i = 0; i < core.tasks.size(); ++i) {
    const TaskIndex task(i);
    const TaskSnapshot& shown = core.tasks.shown(task);
    if (!core.tasks.record(task).training || shown.state == TaskState::kRunning ||
        shown.state == TaskState::kEnded || !core.MayStart(task)) {
      continue;
    }
    const std::string why =
        fmt::format("{} was {} when the start deadline of {} had passed", ToString(shown.task),
                    KebabName(shown.state), ToString(core.job->deadlines.start));
    return parts_.finish.Fail({.task = shown.task,
                               .exit_class = ExitClass::kTimeout,
                               .node = shown.node.host,
                               .at = core.now,
                               .detail = why},
                              "deadlines/start", why);
  }
}

void JobLife::OnRunDeadline() {
  AmCore& core = parts_.core;
  run_is_over_ = true;
  // The job may have ended in time, and nothing of what its agents say has reached this AM.
  run_overdue_ = core.AwaitsAgents();
  if (run_overdue_) {
    TF_PROBE("life/run-deadline-before-agents-are-heard");
    return;
  }
  TF_PROBE("life/run-deadline");
  // What was heard at that very moment came in time.
  if (core.tasks.progressed()) Judge(Judged::kAll);
  if (core.finishing) return;
  const std::string why =
      core.tasks.WithWhoDoesNotListen(fmt::format("the job had not ended {} after it first ran",
                                                  ToString(core.job->deadlines.run.value_or(0s))));
  parts_.finish.Fail({.exit_class = ExitClass::kTimeout, .at = core.now, .detail = why},
                     "deadlines/run", why);
}

// ---------------------------------------------------------------- for people

void JobLife::ExplainWaiting() {
  AmCore& core = parts_.core;
  std::string& text = core.snapshot.waiting_for;
  if (core.finishing) {
    text = parts_.finish.WaitingFor();
    return;
  }
  if (core.snapshot.state != JobState::kAllocating) explained_ = core.snapshot.state;
  switch (core.snapshot.state) {
    case JobState::kSubmitted:
      text = "the journal to be read";
      return;
    case JobState::kAllocating:
      if (explained_ == JobState::kAllocating && !core.allocation.has_news() &&
          !core.allocation.awaits_nodes())
        return;
      explained_ = JobState::kAllocating;
      text = core.allocation.backing_off() ? "a pause before the gang is asked for again"
                                           : core.allocation.Missing();
      if (text.empty()) text = "the ResourceManager";
      if (core.allocation.awaits_nodes()) text = core.allocation.AwaitedNodes();
      return;
    case JobState::kLaunching:
      text = fmt::format("{} agents to be launched", core.tasks.Count(TaskState::kGranted) +
                                                         core.tasks.Count(TaskState::kLaunching));
      return;
    case JobState::kRegistering:
      text = parts_.epochs.WaitingFor();
      if (text.empty())
        text = fmt::format("{} processes to run", core.tasks.Count(TaskState::kStarting));
      return;
    case JobState::kRunning:
      text = parts_.gates.WaitingFor();
      return;
    case JobState::kDraining:
    case JobState::kFinished:
      text.clear();
      return;
  }
}

}  // namespace tfyarn::am
