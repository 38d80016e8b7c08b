#include "oracles/run_facts.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <utility>

#include "config/fault_kinds.h"

namespace tfyarn::oracles {
namespace {

bool KilledOnOrder(const ProcessExit& exit) {
  constexpr int kSigkill = 9;
  return exit.stopped_by_agent && exit.signal == kSigkill;
}

/// The agent tells of an attempt that it was to stop before it ran, and a later one runs.
bool WasOvertaken(const Task& task, const Account& account) {
  return account.attempt && *account.attempt < task.attempt && account.source == Source::kOurOrder;
}

}  // namespace

Duration DecisionBound(const JobSpec& spec) {
  return spec.deadlines.blame + spec.deadlines.stop + 60s;
}

void RunFacts::Await(Job& job, Instant due) {
  if (job.verdict) return;
  job.due = std::min(job.due, due);
  next_due_ = std::min(next_due_, job.due);
}

// ---------------------------------------------------------------- evidence

void RunFacts::Add(trace::JobIndex index, std::shared_ptr<const JobSpec> spec) {
  const std::optional<Policy> policy = PolicyNamed(spec->policy.name);
  if (!policy) return;
  auto job = std::make_unique<Job>();
  job->index = index;
  job->spec = std::move(spec);
  job->policy = *policy;
  if (jobs_.size() <= index.value) jobs_.resize(index.value + std::size_t{1});
  jobs_[index.value] = std::move(job);
}

void RunFacts::Observe(const trace::TraceRecord& record) {
  ++moment_;
  now_ = record.at;
  if (const auto* told = std::get_if<trace::AgentTold>(&record.fact)) {
    On(*told);
  } else if (const auto* agent = std::get_if<trace::AgentOrdered>(&record.fact)) {
    On(*agent);
  } else if (const auto* am_told = std::get_if<trace::AmTold>(&record.fact)) {
    On(*am_told);
  } else if (const auto* ordered = std::get_if<trace::AmOrdered>(&record.fact)) {
    On(*ordered);
  } else if (const auto* freed = std::get_if<trace::ContainerFreed>(&record.fact)) {
    On(*freed);
  } else if (const auto* gone = std::get_if<trace::ContainerGone>(&record.fact)) {
    for (const auto& job : jobs_) {
      if (job == nullptr) continue;
      if (job->am_container == gone->container) job->due = kNever;
      if (Task* task = TaskIn(*job, gone->container);
          task != nullptr && task->ran_in == gone->container)
        task->runs = false;
    }
  } else if (const auto* granted = std::get_if<trace::ContainerGranted>(&record.fact)) {
    Job* job = granted->am ? nullptr : JobOf(granted->job);
    if (job != nullptr && !job->first_grant) job->first_grant = now_;
  } else if (const auto* began = std::get_if<trace::FaultBegan>(&record.fact)) {
    const config::FaultTraits& traits = config::TraitsOf(began->kind);
    faults_ = faults_ || !traits.spares_agents;
    const bool lasts = began->fault >= lasts_.size() || lasts_[began->fault];
    if (traits.keeps_news_from_am && lasts) cut_.insert({began->fault, began->instance});
    if (traits.keeps_news_from_am && !lasts) restored_at_ = now_;
    for (const auto& job : jobs_) {
      if (job != nullptr && traits.stops_am && began->target == "am of " + job->spec->name)
        job->am_stood = {.fault = {began->fault, began->instance}, .since = now_, .until = {}};
    }
  } else if (const auto* ended = std::get_if<trace::FaultEnded>(&record.fact)) {
    if (cut_.erase({ended->fault, ended->instance}) > 0) restored_at_ = now_;
    for (const auto& job : jobs_) {
      if (job != nullptr && job->am_stood.since &&
          job->am_stood.fault == std::pair(ended->fault, ended->instance))
        job->am_stood.until = now_;
      if (job != nullptr && job->due != kNever)
        job->due = std::max(job->due, now_ + DecisionBound(*job->spec));
    }
  } else if (const auto* client = std::get_if<trace::ClientOrdered>(&record.fact)) {
    const auto* call = std::get_if<CallRm>(&client->action);
    Job* job = JobOf(client->job);
    if (job != nullptr && call != nullptr &&
        std::holds_alternative<yarn::KillApplicationRequest>(call->request))
      job->kill_wanted = true;
  }
}

void RunFacts::BeginApplication(Job& job, const ApplicationId& application) {
  const bool kill_wanted = job.kill_wanted;
  job = Job{.index = job.index, .spec = job.spec, .policy = job.policy, .application = application};
  job.kill_wanted = kill_wanted;
  job.begun = now_;
  const JobSpec& spec = *job.spec;
  const bool knows_master = job.policy != Policy::kTony && job.policy != Policy::kTfYarn;
  const bool first_worker =
      job.policy == Policy::kDefault || job.policy == Policy::kTony || job.policy == Policy::kHbox;
  const auto is_chief = [&](const std::string& type) {
    return type == "chief" || (knows_master && type == "master");
  };
  job.has_chief = std::any_of(spec.tasks.begin(), spec.tasks.end(),
                              [&](const TaskTypeSpec& type) { return is_chief(type.name); });
  for (const TaskTypeSpec& type : spec.tasks) {
    const TaskClass role = RoleOf(spec, job.policy, type);
    const auto waits = [&](auto... state) {
      return std::any_of(spec.depends.begin(), spec.depends.end(), [&](const Dependency& rule) {
        return rule.task == type.name && !rule.within && (... && (rule.state == state));
      });
    };
    for (std::int32_t i = 0; i < type.instances; ++i) {
      Task& task = job.tasks[TaskId{.type = type.name, .index = i}];
      task.id = {.type = type.name, .index = i};
      task.role = role;
      task.chief = is_chief(type.name) ||
                   (!job.has_chief && first_worker && type.name == "worker" && i == 0);
      task.in_gang = role != TaskClass::kDrained && role != TaskClass::kSidecar &&
                     type.name != "evaluator" && type.name != "tensorboard";
      task.begins = task.in_gang && !waits();
      task.waits_for_runs = waits(DependencyState::kRunning);
      job.never_ran += task.begins ? 1 : 0;
      job.never_heard_to_run += task.begins ? 1 : 0;
    }
  }
}

// Another application begins with empty books; another attempt of the same knows what was stored.
void RunFacts::BeginAttempt(Job& job, const AmStarted& started) {
  if (job.application != started.attempt.application) {
    BeginApplication(job, started.attempt.application);
  } else {
    job.epoch_unsure = true;
    job.hidden += job.append_open ? 2 : 1;
  }
  if (std::exchange(job.has_registered, false) || job.unannounced_from == Instant{})
    job.unannounced_from = job.stored_at;
  const Moment surely = std::exchange(job.stored, 0);
  const Moment perhaps = job.append_open ? job.append_ordered : surely;
  if (job.all_heard_moment > surely) job.all_heard_to_run.reset();
  // Which of them ran is stored when all have: this AM hears it anew.
  if (!job.all_heard_to_run) {
    job.never_heard_to_run = 0;
    for (auto& [id, task] : job.tasks) {
      task.heard_to_run = false;
      job.never_heard_to_run += task.begins ? 1 : 0;
    }
  }
  for (auto& [id, task] : job.tasks) {
    // What the AM before has decided on it may be stored.
    task.was_silent = task.was_silent || IsSilent(job, task) || HasNotFoundTheAm(job, task);
    task.stood_before = task.stood_before || task.stands_still != 0;
    task.stands_still = 0;  // That is not stored.
    task.perhaps_ordered |= job.append_open && task.registered;
    task.refused_in_a_row = 0;
    for (Account& account : task.accounts) {
      account.early = false;  // Its agent registers with this one, too.
      if (account.told == 0 || account.told_attempt != job.am_attempt) continue;
      account.stored = account.stored || account.told <= surely;
      account.stored_perhaps = account.stored_perhaps || account.told <= perhaps;
      if (!account.stored_perhaps) account.first_told = 0;
    }
  }
  job.am_attempt = started.attempt.attempt;
  job.attempt_begun = now_;
  job.am_container = started.container;
  job.has_read = false;
  job.kept.clear();
  job.registered = job.forgotten = job.below_nodes = false;
  // The RM's start is in the application's id; when the client asked for the nodes is not known.
  const Instant rm_started =
      Instant{} + std::chrono::milliseconds(started.attempt.application.cluster_timestamp);
  const Duration nodes = job.spec->deadlines.nodes;
  job.nodes_until = now_ - rm_started < nodes ? now_ + nodes : Instant{};
  job.largest_node = Resource();
  for (const yarn::NodeReport& node : started.nodes) {
    job.largest_node.memory_mb = std::max(job.largest_node.memory_mb, node.capability.memory_mb);
    job.largest_node.vcores = std::max(job.largest_node.vcores, node.capability.vcores);
    job.largest_node.gpus = std::max(job.largest_node.gpus, node.capability.gpus);
  }
  job.nm_tokens.clear();
  job.launches.clear();
  job.append_open = false;
  job.append_ordered = job.open_window = job.window = moment_;
  job.append_ordered_at = job.open_window_at = job.window_at = now_;
  job.due = kNever;
}

/// By when something was decided a later AM judges by the clock of its own node. Which decisions
/// follow where that is wrong, this model does not know.
bool RunFacts::ClocksDiffer(const Job& job, Duration clock) {
  constexpr Duration kClockStep = 1ms;  // AMs are told the calendar in milliseconds.
  return clock - job.clock > kClockStep || job.clock - clock > kClockStep;
}

void RunFacts::On(const trace::AmTold& fact) {
  Job* job = JobOf(fact.job);
  if (job == nullptr) return;
  // Where two applications of a job live at once, the later one is judged.
  if (fact.resubmission.value_or(0) < job->resubmission.value_or(0)) return;
  if (const auto* started = std::get_if<AmStarted>(&fact.event)) {
    // One of an earlier attempt may start late: it reads of the later one, and ends.
    if (started->attempt.application == job->application &&
        started->attempt.attempt < job->am_attempt)
      return;
    const Duration clock = started->wall.time_since_epoch() - now_.time_since_epoch();
    const bool first = job->application != started->attempt.application;
    if (!first && ClocksDiffer(*job, clock)) return Drop(fact.job);
    BeginAttempt(*job, *started);
    if (first) job->clock = clock;
    job->resubmission = fact.resubmission;
  }
  if (!IsOfLatestAm(*job, fact)) return ReplacedAmTold(*job, fact);
  if (std::holds_alternative<JournalRead>(fact.event)) {
    job->has_read = true;
  } else if (std::holds_alternative<JournalAppended>(fact.event)) {
    job->window = job->open_window;
    job->window_at = job->open_window_at;
    job->append_open = false;
    job->append_answered = now_;
    job->stored = job->append_ordered;
    job->stored_at = job->append_ordered_at;
  } else if (const auto* said = std::get_if<AgentSaid>(&fact.event)) {
    Told(*job, said->message);
  } else if (const auto* reply = std::get_if<RmReplied>(&fact.event)) {
    if (const auto* taken =
            std::get_if<yarn::RegisterApplicationMasterResponse>(&reply->response)) {
      if (!std::exchange(job->has_registered, true)) {
        job->taken_over_at = now_;
        if (const Instant over = RunIsOver(*job); over != kNever)
          Await(*job, over + DecisionBound(*job->spec));
      }
      for (const yarn::NmToken& token : taken->nm_tokens_from_previous_attempts)
        job->nm_tokens.insert(token.node);
      Registered(*job, *taken);
    }
    const auto* error = std::get_if<yarn::RpcError>(&reply->response);
    if (error != nullptr && error->code == yarn::RpcErrorCode::kApplicationMasterNotRegistered)
      job->forgotten = job->registered;
    const auto* allocated = std::get_if<yarn::AllocateResponse>(&reply->response);
    if (allocated == nullptr) return;
    for (const yarn::NmToken& token : allocated->nm_tokens) job->nm_tokens.insert(token.node);
    for (const yarn::Container& container : allocated->containers_from_previous_attempts)
      job->kept.insert(container.id);
    // Where the answer with its node's token was lost, nothing can be launched in it.
    for (const yarn::Container& container : allocated->allocated_containers) {
      if (!job->nm_tokens.contains(container.node))
        job->never_started[container.id] = container_exit::kInvalid;
    }
    for (const auto* containers : {&allocated->preempt_strict, &allocated->preempt_contract}) {
      job->marked.insert(containers->begin(), containers->end());
      if (!containers->empty()) job->notice = moment_;
    }
    for (const yarn::ContainerStatus& status : allocated->completed_containers) Told(*job, status);
    for (const yarn::NodeReport& report : allocated->updated_nodes) {
      if (report.state != yarn::NodeState::kLost) continue;
      job->node_lost = true;
      for (auto& [id, task] : job->tasks)
        task.node_lost = task.node_lost || (task.container && task.node == report.node);
    }
  } else if (const auto* node = std::get_if<NmReplied>(&fact.event)) {
    Told(*job, *node);
  }
}

/// An RM that has forgotten the AM has started again, and learns of its nodes again, too.
void RunFacts::Registered(Job& job, const yarn::RegisterApplicationMasterResponse& taken) {
  if (std::exchange(job.forgotten, false)) job.nodes_until = now_ + job.spec->deadlines.nodes;
  job.registered = true;
  for (const yarn::Container& container : taken.containers_from_previous_attempts)
    job.kept.insert(container.id);
  const Resource& most = taken.maximum_capability;
  job.below_nodes = job.below_nodes || most.memory_mb < job.largest_node.memory_mb ||
                    most.vcores < job.largest_node.vcores || most.gpus < job.largest_node.gpus;
}

void RunFacts::Told(Job& job, const NmReplied& reply) {
  const auto launch = job.launches.find(reply.call);
  Task* launched = launch == job.launches.end() ? nullptr : TaskIn(job, launch->second);
  if (launched != nullptr && launched->container == launch->second) {
    const auto* error = std::get_if<yarn::RpcError>(&reply.response);
    // One that its node is not ready for is one of the tries, too.
    if (error != nullptr && (error->code == yarn::RpcErrorCode::kUnavailable ||
                             error->code == yarn::RpcErrorCode::kNmNotYetReady)) {
      ++launched->unanswered;
    } else if (error != nullptr) {
      launched->launch_failed = true;
    }
  }
  if (const auto* begun = std::get_if<yarn::StartContainersResponse>(&reply.response)) {
    for (const yarn::FailedContainer& failed : begun->failed) {
      Task* task = TaskIn(job, failed.container);
      if (task == nullptr) continue;
      task->launch_failed = task->launch_failed || task->container == failed.container;
      if (failed.error.code == yarn::RpcErrorCode::kInvalidContainer)
        task->refused = failed.container;
    }
  }
  const auto* statuses = std::get_if<yarn::GetContainerStatusesResponse>(&reply.response);
  if (statuses == nullptr) return;
  for (const yarn::ContainerStatus& status : statuses->statuses) {
    if (status.state == yarn::ContainerState::kComplete) Told(job, status);
  }
}

void RunFacts::Appends(Job& job, const AppendJournal& append) {
  if (job.append_open && append.seq == job.appended) return;  // Again, after a failure.
  const bool waited = job.append_answered == now_;
  job.open_window = waited ? job.append_ordered : moment_;
  job.open_window_at = waited ? job.append_ordered_at : now_;
  job.append_ordered = moment_;
  job.append_ordered_at = now_;
  job.appended = append.seq;
  job.append_open = true;
}

void RunFacts::On(const trace::AmOrdered& fact) {
  Job* job = JobOf(fact.job);
  if (job == nullptr || !IsOfLatestAm(*job, fact)) return;
  if (const auto* append = std::get_if<AppendJournal>(&fact.action)) {
    Appends(*job, *append);
  } else if (const auto* call = std::get_if<CallRm>(&fact.action)) {
    const auto* ask = std::get_if<yarn::AllocateRequest>(&call->request);
    if (ask == nullptr) return;
    if (!ask->ask.empty() && !job->first_wanted) {
      const Standing& stood = job->am_stood;
      const bool waited = stood.until && now_ - *stood.until <= kAskWaits;
      job->first_wanted = waited ? stood.since : now_;
    }
    job->released.insert(ask->release.begin(), ask->release.end());
  } else if (const auto* node = std::get_if<CallNm>(&fact.action)) {
    if (const auto* stop = std::get_if<yarn::StopContainersRequest>(&node->request))
      job->released.insert(stop->containers.begin(), stop->containers.end());
    const auto* start = std::get_if<yarn::StartContainersRequest>(&node->request);
    if (start == nullptr) return;
    for (const yarn::StartContainerRequest& one : start->containers) {
      const auto name = one.context.environment.find("TFYARN_TASK");
      if (name == one.context.environment.end()) continue;
      const Expected<TaskId> id = ParseTaskId(name->second);
      const auto task = id ? job->tasks.find(*id) : job->tasks.end();
      if (task != job->tasks.end()) Launches(*job, task->second, one.container, node->node);
      job->launches[node->call] = one.container;
    }
  } else if (const auto* send = std::get_if<SendToAgent>(&fact.action)) {
    Task* task = TaskIn(*job, send->container);
    if (task == nullptr) return;
    const auto* stop = std::get_if<StopProcess>(&send->message);
    const auto* start = std::get_if<StartProcess>(&send->message);
    if (start != nullptr && task->ordered != start->process.attempt) {
      task->ordered = start->process.attempt;
      task->ordered_at = moment_;
      task->ordered_when = now_;
    }
    if (std::holds_alternative<WarnProcess>(send->message)) task->warned = true;
    // The AM has given it up before, and leaves with that what is told of it afterwards.
    if (std::holds_alternative<AgentRefused>(send->message)) task->turned_away = send->container;
    if (stop != nullptr && (task->stop.said == 0 || task->stop.attempt != stop->attempt))
      task->stop = {stop->attempt, moment_, now_};
    const auto* seen = std::get_if<ReportSeen>(&send->message);
    // A container that is not needed any more is given back when the end in it is stored.
    const bool ends = std::holds_alternative<EndAgent>(send->message);
    for (Account& account : task->accounts) {
      if (!account.attempt || account.container != send->container) continue;
      const bool answered = seen != nullptr && seen->kind == ReportKind::kProcessEnded &&
                            account.attempt == seen->attempt;
      const bool stored = ends && Heard(account) && account.told_attempt == job->am_attempt;
      account.seen = account.seen || answered || stored;
    }
    if ((stop != nullptr && stop->attempt == task->attempt && task->stop_ordered == 0) || ends)
      task->stop_ordered = moment_;
  } else if (const auto* ended = std::get_if<TaskAttemptEnded>(&fact.action)) {
    Assigned(*job, ended->task, ended->container);
    if (ended->exit_class == ExitClass::kHeartbeatLost) {
      if (Task* task = TaskIn(*job, ended->container)) task->given_up = ended->container;
    }
  } else if (std::holds_alternative<GangReleased>(fact.action)) {
    // The order waits for the next call to the RM, and is dropped if the container ends before.
    for (auto& [id, task] : job->tasks) task.let_go = task.ran_in != task.container;
    // What came to an end that sent the gang back ran beside tasks that are gone by that.
    if (job->all_heard_to_run == now_) job->all_heard_to_run.reset();
  } else if (std::holds_alternative<ExitAm>(fact.action)) {
    job->due = kNever;
  }
}

void RunFacts::Launches(Job& job, Task& task, const ContainerId& container, const NodeId& node) {
  if (task.container == container) return;  // Again.
  // A failure that waits for its cause is still to be decided on when its task has lost its
  // container and gets another one.
  const bool waits = task.spawned && !task.IsSettled();
  // So may one of what was ordered to start, which the AM took for a process that ran.
  const bool taken_for_run = task.MayNeverStart() && (!task.settled || task.IsOrderedAgain());
  for (Account& account : task.accounts) {
    const bool kept = taken_for_run && account.container == task.container && account.told != 0;
    account.perhaps_moot = account.perhaps_moot || kept;
    account.spent = account.spent || !(kept || (waits && account.container == task.ran_in));
  }
  constexpr std::int32_t kFreeInARow = 3;
  if (task.registered) task.refused_in_a_row = 0;
  if (task.container && task.refused == task.container) ++task.refused_in_a_row;
  task.free_again = task.refused_in_a_row > kFreeInARow && !std::exchange(task.decided, false);
  task.container = container;
  task.node = node;
  task.node_lost = task.let_go = false;
  task.launch_ordered = now_;
  task.registered = task.came_late = task.launch_failed = task.perhaps_ordered = false;
  task.signs = 0;
  task.unanswered = 0;
  job.by_container[container] = &task;
}

void RunFacts::On(const trace::AgentTold& fact) {
  Job* job = JobOf(fact.job);
  if (job == nullptr) return;
  if (const auto* exited = std::get_if<ProcessExited>(&fact.event)) {
    Task* task = TaskIn(*job, fact.container);
    if (task == nullptr) return;
    if (task->attempt == exited->attempt) task->runs = false;
    Account& account = AccountOf(*job, *task, fact.container, exited->attempt, exited->exit,
                                 exited->port_conflict);
    account.last_words = exited->stderr_tail;
  } else if (const auto* failed = std::get_if<SpawnFailed>(&fact.event)) {
    Task* task = TaskIn(*job, fact.container);
    if (task == nullptr) return;
    task->runs = false;
    AccountOf(*job, *task, fact.container, failed->attempt, {}, false).classes =
        Of(kLaunchError, kUserPermanent);
  } else if (const auto* signs = std::get_if<ProcessSignsSeen>(&fact.event)) {
    Task* task = TaskIn(*job, fact.container);
    if (task != nullptr && signs->standstill != Standstill::kNone) task->stood_still = true;
  }
}

void RunFacts::On(const trace::AgentOrdered& fact) {
  const auto* spawn = std::get_if<SpawnProcess>(&fact.action);
  const auto* signal = std::get_if<SignalProcess>(&fact.action);
  if (spawn == nullptr && signal == nullptr) return;
  Job* job = JobOf(fact.job);
  Task* task = job == nullptr ? nullptr : TaskIn(*job, fact.container);
  if (task == nullptr) return;
  if (signal != nullptr) {
    if (signal->signal == StopSignal::kKill && signal->attempt == task->attempt)
      task->killed = true;
    return;
  }
  const bool first = !task->spawned && task->begins;
  if (first && --job->never_ran == 0 && !job->all_ran) job->all_ran = now_;
  task->attempt = spawn->process.attempt;
  task->spawned = task->runs = true;
  task->spawned_at = moment_;
  task->spawned_when = now_;
  task->paid_in_a_row = 0;
  task->ran_in = fact.container;
  task->runs_told = 0;
  task->killed = task->warned = task->stood_still = task->was_silent = false;
  for (Account& account : task->accounts) {
    account.absorbed = false;
    account.spent = account.spent || WasOvertaken(*task, account);
  }
  task->stop_ordered = task->stop.attempt == task->attempt ? task->stop.said : 0;
  task->stands_still = task->stalled = 0;
  task->stood_before = false;
}

void RunFacts::On(const trace::ContainerFreed& fact) {
  Job* job = JobOf(fact.job);
  if (job == nullptr) return;
  Task* task = TaskIn(*job, fact.container);
  if (task != nullptr) AccountOf(*job, *task, fact.container, fact.exit_status);
}

/// How the process's parent saw the end of that attempt.
Account& RunFacts::AccountOf(const Job& job, Task& task, const ContainerId& container,
                             TaskAttempt attempt, const ProcessExit& exit, bool port_conflict) {
  for (Account& known : task.accounts) {
    if (known.container != container || known.attempt != attempt) continue;
    known.killed_on_order |= KilledOnOrder(exit);
    return known;
  }
  Account account{.container = container,
                  .attempt = attempt,
                  .exit = exit.status(),
                  .happened = moment_,
                  .spent = task.settled && attempt <= *task.settled};
  account.classes = ClassOfCode(exit.status());
  if (port_conflict) account.classes = Of(kPortConflict);
  if (exit.out_of_memory) account.classes = Of(kOom);
  const bool failed = exit.status() != 0;
  account.absorbed =
      account.spent && account.classes == Of(kOk) && !exit.stopped_by_agent && !port_conflict;
  account.killed_on_order = KilledOnOrder(exit);
  // Our own order counts, unless the process had ended by itself before it.
  if (exit.stopped_by_agent) {
    account.source = Source::kOurOrder;
    account.classes = Of(kKilledByUs) | (failed ? 0 : Of(kOk)) |
                      (task.warned ? account.classes | Of(kPreempted) : 0);
  } else if (task.stop_ordered != 0) {
    account.classes |= Of(kKilledByUs);
  }
  if (failed && (task.warned || (job.notice != 0 && task.in_gang)))
    account.classes |= Of(kPreempted);
  account.spent = account.spent || WasOvertaken(task, account);
  return task.accounts.emplace_back(std::move(account));
}

/// What YARN says of the container's end.
Account& RunFacts::AccountOf(const Job& job, Task& task, const ContainerId& container,
                             std::int32_t status) {
  for (Account& known : task.accounts) {
    if (known.container == container && !known.attempt && known.exit == status) return known;
  }
  const bool ran = task.ran_in == container ||
                   std::any_of(task.accounts.begin(), task.accounts.end(), [&](const Account& a) {
                     return a.container == container && a.attempt;
                   });
  const bool released = job.released.count(container) > 0;
  // Another RM may say it in other words.
  const bool answered = std::any_of(
      task.accounts.begin(), task.accounts.end(),
      [&](const Account& a) { return a.container == container && !a.attempt && a.answered; });
  // That it was taken away in the job's name is no reason of YARN's: what the agent says goes
  // first.
  const bool in_our_name = status == container_exit::kKilledByAppMaster ||
                           status == container_exit::kKilledAfterAppCompletion;
  const bool by_yarn = status < 0 && !in_our_name;
  const bool foretold = task.restarted_on_notice == container || task.turned_away == container;
  return task.accounts.emplace_back(Account{
      .container = container,
      .source = released ? Source::kOurOrder : (by_yarn ? Source::kYarn : Source::kContainer),
      .classes = ClassOfContainer(status, released, ran),
      .otherwise = ClassOfContainer(status, false, ran),
      .exit = status,
      .happened = moment_,
      .spent = task.container != container,
      .answered = answered || foretold});
}

namespace {

/// As far as the AM knows.
Tri EndedWell(const Job& job, const Task& task, const ContainerId& container) {
  if (task.IsSettled()) return Tri::kNo;  // It starts again all the same.
  Tri well = Tri::kNo;
  for (const Account& account : task.accounts) {
    if (account.spent || account.container != container || account.attempt != task.attempt ||
        account.classes != Of(kOk) || account.told == 0)
      continue;
    const bool heard = account.told_attempt == job.am_attempt || account.stored;
    // The word of an agent that it refuses it does not take.
    if (account.seen || (heard && task.turned_away != container)) return Tri::kYes;
    if (heard || account.stored_perhaps) well = Tri::kMaybe;
  }
  return well;
}

/// The AM had heard before how the process in that container ended, and may have decided on it.
/// What starts again by the policies that start tasks again, and has peers, is decided on later: of
/// a collective when all have been heard, else when `deadlines.blame` is over.
bool EndKnown(const Job& job, const Task& task, const Account& of_container, Instant now) {
  const bool starts_again = job.policy == Policy::kDefault || job.policy == Policy::kSliderTf ||
                            job.policy == Policy::kFrameworkLauncher;
  const bool has_peers = starts_again && job.spec->on_exit.empty() &&
                         job.spec->strategy != Strategy::kIndependent && task.in_gang;
  const bool collective = job.spec->strategy == Strategy::kMultiWorker;
  const bool failure = (of_container.classes & ~kFailure) == 0;
  const auto is_older = [&](const Account& account) {
    return account.attempt == task.attempt && account.told != 0 &&
           account.container == of_container.container &&
           now - account.told_at >= job.spec->deadlines.blame;
  };
  const bool waits =
      collective || (failure && std::none_of(task.accounts.begin(), task.accounts.end(), is_older));
  if (has_peers && waits && of_container.source != Source::kOurOrder) return false;
  return std::any_of(task.accounts.begin(), task.accounts.end(), [&](const Account& account) {
    return account.attempt == task.attempt && account.told != 0 && !account.spent &&
           account.container == of_container.container;
  });
}

/// The RM has told this AM that the container has ended: its agent is none of the task's any more.
bool HeardOfContainer(const Job& job, const Task& task, const ContainerId& container) {
  return std::any_of(task.accounts.begin(), task.accounts.end(), [&](const Account& account) {
    return account.container == container && !account.attempt && account.told != 0 &&
           account.told_attempt == job.am_attempt;
  });
}

}  // namespace

// ---------------------------------------------------------------- what the AM hears

/// Heartbeats without news are not in the trace: one may have come since the last message.
Duration RunFacts::LongestSilence(const Job& job) {
  return job.spec->heartbeat.every * (job.spec->heartbeat.missed - 1);
}

void RunFacts::Tell(Job& job, const Task& task, Account& account) {
  if (account.told != 0 && account.told_attempt == job.am_attempt) return;
  // That was so for an AM before, which knew how the process had ended.
  if (account.after_success && !account.answered)
    account.spent = task.container != account.container;
  account.told = moment_;
  if (account.first_told == 0) account.first_told = moment_;
  account.told_at = now_;
  account.told_attempt = job.am_attempt;
  // Once the AM knows that a process ended well, what becomes of its container changes nothing.
  const Tri well = account.attempt ? Tri::kNo : EndedWell(job, task, account.container);
  account.after_success = !account.spent && well == Tri::kYes;
  account.spent = account.spent || account.after_success;
  // It refuses the agent of a container that has ended or that it has given back, and needs no word
  // of one in which no process ran; the agent may have been the faster one.
  const bool given_back = job.released.count(account.container) > 0;
  const bool refused =
      account.attempt && !account.early && HeardOfContainer(job, task, account.container);
  const bool unused = task.ran_in != account.container && account.source != Source::kOurOrder;
  account.perhaps_moot = refused || well == Tri::kMaybe || (unused && task.let_go) ||
                         (given_back && (account.attempt || unused)) ||
                         (!account.attempt && EndKnown(job, task, account, now_));
  if (!account.spent) Await(job, now_ + DecisionBound(*job.spec));
}

/// Of an end that an AM hears after its successor has started, the successor may read in the
/// journal.
void RunFacts::ReplacedAmTold(Job& job, const trace::AmTold& fact) {
  if (job.has_read && std::holds_alternative<JournalAppended>(fact.event)) job.taken_back = true;
  const auto* said = std::get_if<AgentSaid>(&fact.event);
  const auto* ended = said == nullptr ? nullptr : std::get_if<ProcessEnded>(&said->message);
  Task* task = ended == nullptr ? nullptr : TaskIn(job, ended->fence.container);
  if (task == nullptr || job.has_read || fact.resubmission != job.resubmission) return;
  Account& account = AccountOf(job, *task, ended->fence.container, ended->process.attempt,
                               ended->exit, ended->port_conflict);
  if (account.told != 0 && account.told_attempt == job.am_attempt) return;
  account.stored_perhaps = true;
  account.told = moment_;
  if (account.first_told == 0) account.first_told = moment_;
  account.told_at = now_;
  account.told_attempt = fact.am_attempt;
}

void RunFacts::Told(Job& job, const yarn::ContainerStatus& status) {
  Task* task = TaskIn(job, status.id);
  if (task == nullptr) {
    job.never_started[status.id] = status.exit_status;
    return;
  }
  // By then it may have been given up: a better account only corrects the record.
  if (task->container == status.id) task->was_silent |= IsSilent(job, *task);
  Account& end = AccountOf(job, *task, status.id, status.exit_status);
  // It was given back to clean up after a lost agent, and YARN had lost the node before.
  const bool node_was_lost = status.exit_status == container_exit::kAborted &&
                             status.diagnostics.find("on a *lost* node") != std::string::npos;
  if (node_was_lost && !task->IsSettled() && task->stop_ordered == 0) end.classes |= Of(kNodeLost);
  // What it has ordered to start there it may take for a process that ran.
  if (task->container == status.id && task->MayNeverStart() && end.source != Source::kOurOrder)
    end.classes |= ClassOfContainer(status.exit_status, false, true);
  Tell(job, *task, end);
  bool ended_on_order = false;
  for (Account& account : task->accounts) {
    if (account.container != status.id) continue;
    // Another one ran in it since, or was to.
    const bool settled = task->IsOrderedAgain() && account.attempt <= task->settled;
    if (account.attempt < task->attempt || settled) continue;
    // The AM may have that from its agent already, unless it had given that up.
    const bool refused = task->given_up == status.id || task->turned_away == status.id;
    const bool heard = account.told != 0 && account.told_attempt == job.am_attempt;
    if (heard && account.obeyed && !refused) ended_on_order = true;
    if (!account.early) continue;
    Tell(job, *task, account);
    ended_on_order = ended_on_order || (account.classes & Of(kKilledByUs)) != 0;
  }
  // Its process had ended on our order before: what then took its container is no cause.
  end.spent = end.spent || ended_on_order;
}

/// For which task a container was that it never ordered to start, only the AM can say.
void RunFacts::Assigned(Job& job, const TaskId& id, const ContainerId& container) {
  const auto heard = job.never_started.find(container);
  const auto task = job.tasks.find(id);
  if (heard == job.never_started.end() || task == job.tasks.end()) return;
  // A process that is to start again, and was never seen to end, is no reason.
  const Task& of = task->second;
  if (of.runs && !(of.settled && of.attempt <= *of.settled)) return;
  Launches(job, task->second, container, {});
  Tell(job, task->second, AccountOf(job, task->second, container, heard->second));
  job.never_started.erase(heard);
}

/// A process whose container was lost or given back before the AM heard of it, or whose agent the
/// AM has given up, never ran as far as the AM knows: it refuses the agent.
void RunFacts::HeardToRun(Job& job, Task& task) {
  const auto is_lost = [&](const Task& of) {
    const bool given_back = of.container && job.released.count(*of.container) > 0;
    return given_back || (of.container && of.given_up == of.container) ||
           std::any_of(of.accounts.begin(), of.accounts.end(), [&](const Account& account) {
             return account.container == of.container && !account.attempt && account.told != 0;
           });
  };
  if (is_lost(task) || job.all_heard_to_run) return;
  if (!std::exchange(task.heard_to_run, true) && task.begins) --job.never_heard_to_run;
  // What waits (`depends`) counts once its agent is there; what waits for runs, as it runs.
  const bool waits = std::any_of(job.tasks.begin(), job.tasks.end(), [&](const auto& entry) {
    const Task& other = entry.second;
    // The container of one that starts again before it ever ran may be on its way back.
    const bool replaced = other.decided && !other.spawned;
    const bool there =
        other.registered && other.heard >= job.attempt_begun && !is_lost(other) && !replaced;
    const bool ended =
        std::any_of(other.accounts.begin(), other.accounts.end(),
                    [](const Account& account) { return account.told != 0 && !account.spent; });
    return other.in_gang && !other.begins && !other.heard_to_run &&
           (other.waits_for_runs || (!there && !(other.spawned && ended)));
  });
  if (waits || job.never_heard_to_run > 0) return;
  job.all_heard_to_run = now_;
  job.all_heard_moment = moment_;
  if (job.spec->deadlines.run)
    Await(job, now_ + *job.spec->deadlines.run + DecisionBound(*job.spec));
}

Instant RunFacts::LastHeard(const Job& job) {
  Instant last = job.begun;
  for (const auto& [id, task] : job.tasks) {
    for (const Account& account : task.accounts) {
      if (account.told != 0) last = std::max(last, account.told_at);
    }
  }
  return last;
}

Instant RunFacts::RunIsOver(const Job& job) {
  if (!job.all_heard_to_run || !job.spec->deadlines.run || !job.has_registered) return kNever;
  const Instant over = *job.all_heard_to_run + *job.spec->deadlines.run;
  if (job.am_attempt <= 1) return over;
  // What has yet to find the next AM may have ended in time.
  return std::max(over, job.taken_over_at + job.spec->deadlines.registration);
}

void RunFacts::Told(Job& job, const AgentToAm& message) {
  const ContainerId& container = FenceOf(message).container;
  Task* task = TaskIn(job, container);
  if (task == nullptr || task->container != container) return;
  const bool silent = task->registered && now_ - task->heard >= LongestSilence(job);
  if (silent && task->heard >= job.attempt_begun) task->given_up = container;
  if (silent) task->silent_until = now_;
  if (!task->registered || task->heard < job.attempt_begun)
    task->came_late = now_ - job.attempt_begun >= job.spec->deadlines.registration;
  task->heard = now_;
  if (!task->registered) task->registered_at = moment_;
  task->registered = true;
  const auto* registers = std::get_if<RegisterAgent>(&message);
  // An AM that the RM has not answered takes no agent in yet.
  if (registers != nullptr && registers->running && job.has_registered) HeardToRun(job, *task);
  // Of a success there is no more to know; a failure is decided on its report, unless that does not
  // come any more.
  if (registers != nullptr && registers->ended && registers->exit) {
    Account& end =
        AccountOf(job, *task, container, registers->ended->attempt, *registers->exit, false);
    end.early = registers->exit->status() != 0;
    // The report alone would say that its port was taken.
    if (end.classes == Of(kPortConflict)) end.classes |= ClassOfCode(registers->exit->status());
    if (!end.early) Tell(job, *task, end);
  }
  if (registers != nullptr && registers->running && registers->running->attempt == task->attempt)
    task->runs_told = moment_;
  if (const auto* ended = std::get_if<ProcessEnded>(&message)) {
    Account& account =
        AccountOf(job, *task, container, ended->process.attempt, ended->exit, ended->port_conflict);
    account.leaves |= ended->agent_leaves;
    account.obeyed |= ended->exit.stopped_by_agent;
    if (!ended->launch_error.empty()) account.classes |= Of(kLaunchError);
    if (ended->launch_error.empty()) HeardToRun(job, *task);
    Tell(job, *task, account);
  } else if (const auto* running = std::get_if<ProcessRunning>(&message)) {
    HeardToRun(job, *task);
    if (running->process.attempt == task->attempt) task->runs_told = moment_;
  } else if (const auto* stalled = std::get_if<ProgressStalled>(&message)) {
    if (stalled->process.attempt == task->attempt) task->stalled = moment_;
  } else if (std::holds_alternative<AddressChanged>(message)) {
    // A port is taken before its process runs, or the report of that, or of its end, is overtaken.
    const bool end_told = std::any_of(
        task->accounts.begin(), task->accounts.end(),
        [&](const Account& end) { return end.attempt == task->attempt && end.told != 0; });
    if (task->ordered && (task->runs_told == 0 || task->IsOrderedAgain() || !end_told))
      task->port_changed = moment_;
  } else if (const auto* signs = std::get_if<ProcessSigns>(&message)) {
    const bool late = std::any_of(
        task->accounts.begin(), task->accounts.end(),
        [&](const Account& end) { return end.attempt == signs->process.attempt && end.told != 0; });
    const bool overtaken = signs->number < task->signs;
    task->signs = std::max(task->signs, signs->number);
    if (late || overtaken || signs->process.attempt != task->attempt) return;
    if (signs->standstill != Standstill::kNone) {
      task->stands_still = moment_;
      job.any_stood_still = true;
    } else if (task->stop_ordered == 0) {  // To be stopped it is woken.
      task->stands_still = 0;
    }
  }
}

}  // namespace tfyarn::oracles
