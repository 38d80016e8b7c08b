// limits-kept and progress: budgets, deadlines and expiries, counted here from what nodes, agents,
// the RM and HDFS show, and judged at the instant at which they are over.
//
// Each limit has one or both of two sides: what it says is done by then plus kLimitSlack (here),
// and nothing is decided on it before it is over (checkers_limits_early.cc). For the first, a due
// date is kept and looked at when it has passed, whatever happens meanwhile: a run in which nothing
// happens any more is judged too. What a fault may hold up is looked at again when its effects are
// over.
#include <algorithm>

#include "core/am/task_table.h"
#include "core/model/probe.h"
#include "core/model/text.h"
#include "core/policy/engine.h"
#include "sim/behavior.h"
#include "sim/checkers_books.h"

namespace tfyarn::sim {
namespace {

/// For messages, a journal entry, a launch, and their repetitions.
constexpr Duration kLimitSlack = 2min;
/// From the end of a process's grace to SIGKILL: one timer of its agent.
constexpr Duration kKillFollows = 1s;
/// What runs for less than this may have ended before the AM heard that the others run.
constexpr Duration kHeardToRun = 5s;
/// Under policy default, of a sidecar: docs/policies.md, row `sidecar`.
constexpr std::int32_t kSidecarRestarts = 3;
/// Between two steps in which an agent, its container and the node are made to end.
constexpr Duration kStepOfEnding = 30s;

/// Restarts that a policy other than `default` allows in an application's life; nullopt: any
/// number. docs/policies.md, options.
std::optional<std::int64_t> RestartsAllowed(const JobSpec& job) {
  const auto option = [&job](const char* name) -> std::optional<std::int64_t> {
    const auto entry = job.policy.options.find(name);
    if (entry == job.policy.options.end() || entry->second.empty()) return std::nullopt;
    return std::strtoll(entry->second.c_str(), nullptr, 10);
  };
  if (job.policy.name == "tony") return option("retry_count").value_or(job.retries.user);
  if (job.policy.name == "tf-yarn") return job.retries.user;
  if (job.policy.name != "tfjob") return std::nullopt;
  if (const auto limit = option("backoff_limit")) return limit;
  if (job.retries.user == 0) return std::nullopt;
  return job.retries.user;
}

/// From the verdict to the end: tracked tasks end, then services, then sidecars, each within its
/// drain and its stop.
Duration EndTakes(const JobSpec& job) {
  Duration drain{};
  for (const auto& [type, allowed] : job.finish.drain) drain = std::max(drain, allowed);
  return 3 * (drain + job.deadlines.stop + kStepOfEnding);
}

/// For another type, by `depends`.
bool Waits(const JobSpec& job, const TaskId& task) {
  return std::any_of(job.depends.begin(), job.depends.end(),
                     [&](const Dependency& row) { return row.task == task.type && !row.within; });
}

/// Since when all that train have run, as the AM must have heard by `at`.
std::optional<Instant> AllRan(const ApplicationLimits& limits, Instant at) {
  if (limits.all_ran || !limits.together) return limits.all_ran;
  return at - *limits.together >= kHeardToRun ? limits.together : std::nullopt;
}

/// What an AM may take beyond the limits where nothing else goes wrong.
constexpr Duration kQuietSlack = 30s;

/// How long an AM may keep a container whose agent is silent: its peers may be blamed, and stopped,
/// before.
Duration SilenceTakes(const JobSpec& spec) {
  return spec.heartbeat.every * spec.heartbeat.missed + spec.deadlines.blame + spec.deadlines.stop +
         kQuietSlack;
}

}  // namespace

std::string Checkers::Books::Over(std::string_view name, Duration limit) {
  return std::string(name) + " of " + ToString(limit);
}

// ---------------------------------------------------------------- due dates

void Checkers::Books::Expect(Limit limit, Instant at, trace::JobIndex job,
                             const ContainerId& container) {
  if (!on(limit == Limit::kProgress ? Invariant::kProgress : Invariant::kLimitsKept)) return;
  if (lossy_ && limit != Limit::kProgress) return;
  dues_.push({.at = at, .limit = limit, .job = job.value, .container = container});
}

void Checkers::Books::PassLimits(Instant until) {
  while (!dues_.empty() && dues_.top().at < until) {
    const Due due = dues_.top();
    dues_.pop();
    now_ = due.at;
    JobBook* job = JobOf(trace::JobIndex(due.job));
    if (job == nullptr || job->spec == nullptr) continue;
    const std::optional<Instant> again =
        due.limit == Limit::kProgress ? JudgeProgress(*job) : JudgeLimit(*job, due);
    if (again) dues_.push({*again, due.limit, due.job, due.container});
  }
}

/// While faults, or what they lead to, may hold anything up: until when. Else nullopt.
std::optional<Instant> Checkers::Books::HeldUp() const {
  const Duration effects = times_.nm_expiry + times_.am_expiry + kLimitSlack;
  if (!faults_under_way_.empty()) {
    TF_PROBE("checkers/limit-is-held-up");
    return now_ + effects;
  }
  if (last_fault_change_ && now_ - *last_fault_change_ <= effects)
    return *last_fault_change_ + effects + Duration(1);
  return std::nullopt;
}

/// Reports what is still not so at its due date, unless something holds it up. Returns when to look
/// again.
std::optional<Instant> Checkers::Books::JudgeLimit(JobBook& job, const Due& due) {
  ApplicationBook* application = nullptr;
  for (ApplicationBook& one : job.applications) {
    if (one.id == due.container.application_attempt.application) application = &one;
  }
  std::optional<Instant> not_before;
  const std::string broken = due.limit == Limit::kAmStart ? AmStartBroken(job, due)
                             : application == nullptr
                                 ? std::string()
                                 : LimitBroken(job, *application, due, not_before);
  if (not_before && *not_before > now_) return not_before;
  Checks(Invariant::kLimitsKept);
  if (broken.empty()) return std::nullopt;
  // What silences an agent is a fault that may go on.
  if (const std::optional<Instant> later = due.limit == Limit::kSilence ? std::nullopt : HeldUp())
    return later;
  Report(Invariant::kLimitsKept, NameOf(job) + ": " + broken);
  return std::nullopt;
}

/// What is wrong when the limit is over; empty: nothing. `not_before`: it is not over yet.
std::string Checkers::Books::LimitBroken(JobBook& job, const ApplicationBook& application,
                                         const Due& due, std::optional<Instant>& not_before) {
  const JobSpec& spec = *job.spec;
  const ApplicationLimits& limits = application.limits;
  ContainerBook* container = ContainerOf(due.container);
  const bool decided = application.verdict || application.ended || job.ended || job.kill_wanted;
  // Without an AM nothing is decided; its successor has as long as it had.
  const auto not_until = [&](Instant at) { not_before = std::max(not_before.value_or(at), at); };
  const auto from_am = [&](Duration limit) {
    not_until(limits.am_runs ? limits.am_started + limit + kLimitSlack
                             : now_ + times_.am_expiry + kLimitSlack);
  };
  switch (due.limit) {
    case Limit::kContainerExpiry:
      if (container == nullptr || container->freed || container->limits.known_to_nm) return {};
      return ToString(due.container) + " was never launched, and is still allocated when " +
             Over("yarn.expiry.container", times_.container_expiry) + " is over";
    case Limit::kContainerGone:
      if (container == nullptr || container->freed || container->running) return {};
      return ToString(due.container) + " has ended, and is still allocated when " +
             Over("yarn.expiry.nm", times_.nm_expiry) + " is over";
    case Limit::kRegistration:
      if (container == nullptr || container->freed || decided) return {};
      if (container->limits.registered || container->limits.given_back) return {};
      from_am(spec.deadlines.registration);
      return "the agent in " + ToString(due.container) +
             " has not registered, and nothing is done when " +
             Over("deadlines.registration", spec.deadlines.registration) + " is over";
    case Limit::kStart:
      if (decided || !limits.whole_since) return {};
      if (static_cast<std::int32_t>(limits.ever_ran.size()) >= job.gang_size) return {};
      not_until(*limits.whole_since + spec.deadlines.start + kLimitSlack);
      // It does not run while what an earlier AM launched may yet find the next one.
      from_am(spec.deadlines.start +
              (application.attempts.size() > 1 ? spec.deadlines.registration : Duration::zero()));
      return "not every process has run, and the job goes on when " +
             Over("deadlines.start", spec.deadlines.start) + " is over";
    case Limit::kRun:
      // When all ran later, or again, there is another due date.
      if (decided || !AllRan(limits, now_) ||
          now_ < *AllRan(limits, now_) + *spec.deadlines.run + kLimitSlack)
        return {};
      // A fault may have kept from the AM that all run until its end.
      if (last_fault_change_ && *last_fault_change_ > *AllRan(limits, now_))
        not_until(*last_fault_change_ + *spec.deadlines.run + kLimitSlack);
      // It decides nothing while what an earlier AM launched may yet find the next one.
      from_am(application.attempts.size() > 1 ? spec.deadlines.registration : Duration::zero());
      return "the job goes on when " + Over("deadlines.run", *spec.deadlines.run) + " is over";
    case Limit::kGangDeadline:
      if (decided || application.gang_complete || !limits.first_ask) return {};
      not_until(*limits.first_ask + spec.gang.deadline + kLimitSlack);
      from_am(spec.gang.deadline);
      // The AM does not hear that a restart of the RM took what was not launched: the gang may have
      // been complete for it.
      if (rm_restarted_) not_until(*rm_restarted_ + spec.gang.deadline + kLimitSlack);
      return "the gang was never complete, and the job waits on when " +
             Over("gang.deadline", spec.gang.deadline) + " is over";
    case Limit::kGangHold:
      if (decided || application.gang_complete || !application.partial_since ||
          !PartOfGangSince(job, application))
        return {};
      not_until(*application.partial_since + spec.gang.hold + kLimitSlack);
      from_am(spec.gang.hold);
      return "an incomplete gang keeps " + std::to_string(application.held) + " containers when " +
             Over("gang.hold", spec.gang.hold) + " is over";
    case Limit::kStop:
      if (container == nullptr || !container->process || !container->running) return {};
      if (!container->limits.stop_due || container->limits.killed) return {};
      not_until(*container->limits.stop_due + kKillFollows);
      return "the process in " + ToString(due.container) +
             " was told to end and is neither gone nor killed when " +
             Over("deadlines.stop", spec.deadlines.stop) + " is over";
    case Limit::kStalled: {
      const bool runs = container != nullptr && container->process && container->limits.watched &&
                        container->running && !container->freed && !container->limits.given_back &&
                        !container->limits.term_at && !container->limits.killed;
      if (!runs || !spec.watch || decided) {
        if (container != nullptr) container->limits.stall_expected = false;
        return {};
      }
      // After a report the agent must send another once its process has made progress again.
      const Instant from = container->limits.stall_said ? now_ : container->limits.progress_at;
      not_until(from + spec.watch->stalled + kLimitSlack);
      from_am(spec.watch->stalled);
      return "the process in " + ToString(due.container) +
             " makes no progress, and its agent does not say so when " +
             Over("watch.stalled", spec.watch->stalled) + " is over";
    }
    case Limit::kSilence: {
      if (container == nullptr || container->freed || container->limits.given_back || decided)
        return {};
      const NodeBook& node = nodes_[container->node];
      const bool silent = !node.up && node.power_changed;
      const bool hears = limits.am_runs && silent && limits.am_started <= *node.power_changed;
      // Whatever else happens may keep the AM from it.
      if (!hears || last_fault_change_ > node.power_changed || !Undisturbed(kLimitSlack) ||
          std::any_of(am_sleeps_.begin(), am_sleeps_.end(),
                      [](const auto& entry) { return !entry.second.woke; }))
        return {};
      not_until(*node.power_changed + SilenceTakes(spec));
      // An earlier AM's agent may not have found this one before its node went.
      if (due.container.application_attempt.attempt < limits.am_attempt)
        from_am(spec.deadlines.registration);
      return "the agent in " + ToString(due.container) +
             " is silent with its node, and its AM keeps the container when " +
             Over("heartbeat", spec.heartbeat.every * spec.heartbeat.missed) + " is over";
    }
    case Limit::kOrphan: {
      if (limits.am_runs || !limits.am_gone) return {};
      not_until(*limits.am_gone + spec.deadlines.orphan + spec.deadlines.stop + kLimitSlack);
      for (const ContainerId& id : job.containers) {
        const ContainerBook* one = ContainerOf(id);
        if (one == nullptr || !one->process || !one->running || !nodes_[one->node].up) continue;
        if (id.application_attempt.application != application.id) continue;
        return "there is no ApplicationMaster, and the process in " + ToString(id) +
               " goes on when " + Over("deadlines.orphan", spec.deadlines.orphan) + " is over";
      }
      return {};
    }
    case Limit::kEnd:
      if (application.ended || job.ended) return {};
      from_am(EndTakes(spec));
      return "its verdict stands, and the application has not ended when `finish.drain` and "
             "`deadlines.stop` are over";
    case Limit::kAmStart:
    case Limit::kProgress:
      return {};
  }
  return {};
}

/// How many of its AM attempts have registered.
std::ptrdiff_t Checkers::Books::AmsOf(const ApplicationBook& application) {
  return std::count_if(application.attempts.begin(), application.attempts.end(),
                       [](const AmAttemptBook& one) { return one.registered || one.known_to_rm; });
}

std::string Checkers::Books::AmStartBroken(const JobBook& job, const Due& due) {
  for (const ApplicationBook& application : job.applications) {
    if (application.id != due.container.application_attempt.application) continue;
    const std::optional<Instant>& since = application.limits.without_am;
    const bool waits = since && now_ - *since >= *job.spec->deadlines.am_start + kLimitSlack;
    if (!waits || AmsOf(application) > application.limits.ams_before) return {};
    if (application.ended || job.ended || job.kill_wanted) return {};
    return "no ApplicationMaster has registered, and the client waits on when " +
           Over("deadlines.am_start", *job.spec->deadlines.am_start) + " is over";
  }
  return {};
}

// ---------------------------------------------------------------- what due dates follow from

void Checkers::Books::LimitsOf(const ContainerId& id, const ContainerBook& container) {
  Expect(Limit::kContainerExpiry, now_ + times_.container_expiry + kLimitSlack, container.job, id);
}

void Checkers::Books::LimitsOfEnd(const ContainerId& id, const ContainerBook& container) {
  if (!container.freed)
    Expect(Limit::kContainerGone, now_ + times_.nm_expiry + kLimitSlack, container.job, id);
  JobBook* job = JobOf(container.job);
  if (!container.am || job == nullptr || job->spec == nullptr) return;
  ApplicationLimits& limits = ApplicationOf(*job, id.application_attempt.application).limits;
  if (id.application_attempt.attempt != limits.am_attempt) return;
  limits.am_runs = false;
  limits.am_gone = now_;
  limits.am_impeded = AmIsImpeded();
  Expect(Limit::kOrphan,
         now_ + job->spec->deadlines.orphan + job->spec->deadlines.stop + kLimitSlack,
         container.job, id);
}

void Checkers::Books::LimitsOfLaunch(const JobBook& job, ContainerBook& container,
                                     const ContainerId& id) {
  if (container.limits.launch_ordered) return;
  container.limits.launch_ordered = now_;
  if (job.spec == nullptr) return;
  Expect(Limit::kRegistration, now_ + job.spec->deadlines.registration + kLimitSlack, container.job,
         id);
}

/// Its client has submitted it, or hears that its AM no longer runs.
void Checkers::Books::LimitsWithoutAm(JobBook& job, ApplicationBook& application) {
  ApplicationLimits& limits = application.limits;
  if (limits.without_am || job.spec == nullptr) return;
  limits.without_am = now_;
  limits.ams_before = AmsOf(application);
  if (job.spec->deadlines.am_start)
    Expect(Limit::kAmStart, now_ + *job.spec->deadlines.am_start + kLimitSlack, job.index,
           {.application_attempt = {.application = application.id}});
}

/// A fault, or what the AM missed during one, may have kept it from seeing that all run.
bool Checkers::Books::AmIsImpeded() const {
  return !faults_under_way_.empty() ||
         (last_fault_change_ && now_ - *last_fault_change_ <= kLimitSlack);
}

void Checkers::Books::LimitsOfAm(const JobBook& job, ApplicationBook& application,
                                 std::int32_t attempt) {
  ApplicationLimits& limits = application.limits;
  // An earlier attempt that starts late learns at once that it is over: the later one leads.
  if (limits.am_runs && attempt < limits.am_attempt) return;
  // One that ended too soon to store that all had run, or that a fault kept from it, leaves its
  // successor to see it anew.
  const Instant ended = limits.am_runs ? now_ : limits.am_gone.value_or(now_);
  const bool impeded = limits.am_runs ? AmIsImpeded() : limits.am_impeded;
  limits.all_ran = AllRan(limits, ended);
  if (limits.all_ran && (impeded || ended - *limits.all_ran <= kLimitSlack)) {
    TF_PROBE("checkers/successor-has-yet-to-see-all-run");
    limits.all_ran.reset();
  }
  limits.together.reset();
  limits.am_runs = true;
  limits.am_started = now_;
  limits.am_attempt = attempt;
  limits.whole_since.reset();
  limits.first_ask.reset();
  LimitsOfTraining(job, application);
}

/// After every start and end of a process that trains.
void Checkers::Books::LimitsOfTraining(const JobBook& job, ApplicationBook& application) {
  ApplicationLimits& limits = application.limits;
  if (job.spec == nullptr || !job.spec->deadlines.run || limits.all_ran) return;
  std::int32_t alive = 0;
  for (const auto& [epoch, processes] : job.training_processes) alive += processes;
  const bool all = job.gang_size > 0 && alive >= job.running_size;
  if (all && !limits.together) {
    limits.together = now_;
    Expect(Limit::kRun, now_ + *job.spec->deadlines.run + kLimitSlack, job.index,
           {.application_attempt = {.application = application.id}});
  } else if (!all && limits.together) {
    // A fault may keep their words from the AM.
    if (faults_under_way_.empty()) limits.all_ran = AllRan(limits, now_);
    limits.together.reset();
  }
}

/// After every change of what the job holds, of its processes and of what was decided.
void Checkers::Books::LimitsOfGang(JobBook& job) {
  if (job.spec == nullptr || job.applications.empty() || job.gang_size == 0) return;
  ApplicationBook& application = job.applications.back();
  ApplicationLimits& limits = application.limits;
  const ContainerId any{.application_attempt = {.application = application.id}};
  // What does not train, or waits for another type, is part of what is asked for.
  if (application.held < job.spec->task_count()) {
    limits.whole_since.reset();
  } else if (!limits.whole_since) {
    limits.whole_since = now_;
    if (static_cast<std::int32_t>(limits.ever_ran.size()) < job.gang_size)
      Expect(Limit::kStart, now_ + job.spec->deadlines.start + kLimitSlack, job.index, any);
  }
  if (application.partial_since == now_ && job.spec->gang.policy == GangPolicy::kAll)
    Expect(Limit::kGangHold, now_ + job.spec->gang.hold + kLimitSlack, job.index, any);
}

void Checkers::Books::LimitsOfAsk(JobBook& job, const yarn::AllocateRequest& request) {
  for (const ContainerId& id : request.release) {
    if (ContainerBook* container = ContainerOf(id)) container->limits.given_back = true;
  }
  if (job.spec == nullptr || job.spec->gang.policy == GangPolicy::kHold) return;
  ApplicationBook& application = Acting(job);
  const bool asks = std::any_of(request.ask.begin(), request.ask.end(),
                                [](const auto& row) { return row.num_containers > 0; });
  if (!asks) return;
  if (!application.limits.ever_asked) application.limits.ever_asked = now_;
  // A gang of which all wait for what does not train is complete, and lacks something all the same.
  if (application.gang_complete || application.limits.first_ask) return;
  application.limits.first_ask = now_;
  Expect(Limit::kGangDeadline, now_ + job.spec->gang.deadline + kLimitSlack, job.index,
         {.application_attempt = {.application = application.id}});
}

/// The agents on that node fall silent, and their AMs are to give the containers back.
void Checkers::Books::LimitsOfPower(std::uint32_t node) {
  if (!on(Invariant::kLimitsKept) || lossy_) return;
  for (const auto& [id, container] : containers_) {
    if (container.node != node || !container.process || container.freed) continue;
    const JobBook* job = JobOf(container.job);
    if (job == nullptr || job->spec == nullptr || !container.limits.registered) continue;
    Expect(Limit::kSilence, now_ + SilenceTakes(*job->spec), container.job, id);
  }
}

/// From its start, or its first progress, on: its agent says when it makes none.
void Checkers::Books::ExpectsStall(const JobBook& job, const ContainerId& id,
                                   ContainerBook& container) {
  if (job.spec == nullptr || !job.spec->watch) return;
  container.limits.watched = true;
  if (container.limits.stall_expected) return;
  container.limits.stall_expected = true;
  Expect(Limit::kStalled, now_ + job.spec->watch->stalled + kLimitSlack, job.index, id);
}

void Checkers::Books::LimitsOfStart(JobBook& job, ApplicationBook& application,
                                    const ContainerId& id, ContainerBook& container,
                                    const SpawnProcess& spawn) {
  container.limits.kill_due.reset();
  container.limits.term_at.reset();
  container.limits.stop_due.reset();
  container.limits.killed = container.limits.stands_still = false;
  container.limits.progress_at = now_;
  container.limits.stall_said = container.limits.watched = false;
  if (job.spec == nullptr) return;
  const JobSpec& spec = *job.spec;
  ApplicationLimits& limits = application.limits;
  if (Trains(spec, spawn.task) && !Waits(spec, spawn.task)) {
    if (container.training) limits.ever_ran.insert(spawn.task);
    // Also in a container that YARN has taken by then: the AM may hear of the process first.
    limits.ran_or_let_be.insert(spawn.task);
  }
  // Under parameter-server the chief alone reports steps from its start on; an agent watches the
  // others from their first report on.
  const bool serves = spec.strategy == Strategy::kParameterServer &&
                      RoleOf(spec, spawn.task.type) != TaskRole::kChief;
  if (Trains(spec, spawn.task) && !serves) ExpectsStall(job, id, container);
  LimitsOfFirstRuns(job, limits);
  LimitsOfTraining(job, application);
  // A sidecar is started again, a few times, at no budget's cost.
  const TaskTypeSpec* type = spec.FindType(spawn.task.type);
  const bool has_class = type != nullptr && type->task_class;  // Its name says nothing then.
  const bool sidecar = spec.policy.name == "default" && spec.on_exit.empty() && !spec.watch &&
                       (has_class ? *type->task_class == TaskClass::kSidecar
                                  : RoleOf(spec, spawn.task.type) == TaskRole::kSidecar);
  if (!sidecar || !Checks(Invariant::kLimitsKept)) return;
  const std::int32_t starts = application.processes[spawn.task].starts;
  if (starts <= 1 + kSidecarRestarts) return;
  Report(Invariant::kLimitsKept, NameOf(job) + ": " + ToString(spawn.task) +
                                     ", a sidecar, starts for the " + std::to_string(starts) +
                                     "th time, allowed " + std::to_string(1 + kSidecarRestarts));
}

/// What has ended for good need not run any more, also where it never ran: the others run without
/// it.
void Checkers::Books::LimitsOfAttemptEnd(const JobBook& job, ApplicationBook& application,
                                         const TaskAttemptEnded& ended) {
  if (job.spec == nullptr) return;
  const JobSpec& spec = *job.spec;
  // The rows of `default` start again what trains, or fail the job.
  const bool may_stay = spec.policy.name != "default" || !spec.on_exit.empty() ||
                        spec.strategy == Strategy::kIndependent;
  if (!may_stay || !Trains(spec, ended.task) || Waits(spec, ended.task)) return;
  application.limits.ran_or_let_be.insert(ended.task);
  LimitsOfFirstRuns(job, application.limits);
}

/// What the job's file or policy has made a sidecar, or drained, need not have run. Where all else
/// waits by `depends` the AM begins to count when it could start processes: not known here.
void Checkers::Books::LimitsOfFirstRuns(const JobBook& job, ApplicationLimits& limits) const {
  if (limits.each_ran || !job.spec->deadlines.run) return;
  const Expected<policy::Engine> policy = policy::Engine::Make(*job.spec);
  if (!policy) return;
  std::int32_t needed = 0;
  std::int32_t missing = 0;
  for (const TaskTypeSpec& type : job.spec->tasks) {
    const TaskId first{.type = type.name};
    if (!Trains(*job.spec, first) || Waits(*job.spec, first) ||
        !policy::IsTraining(policy->ClassOf(type.name), type.name))
      continue;
    needed += type.instances;
    missing += type.instances - static_cast<std::int32_t>(std::count_if(
                                    limits.ran_or_let_be.begin(), limits.ran_or_let_be.end(),
                                    [&](const TaskId& task) { return task.type == type.name; }));
  }
  if (needed > 0 && missing <= 0) limits.each_ran = now_;
}

void Checkers::Books::LimitsOfVerdict(JobBook& job, const ApplicationBook& application) {
  if (job.spec == nullptr) return;
  Expect(Limit::kEnd, now_ + EndTakes(*job.spec) + kLimitSlack, job.index,
         {.application_attempt = {.application = application.id}});
}

void Checkers::Books::LimitsOfPayment(const JobBook& job, ApplicationBook& application) {
  ++application.limits.paid;
  const std::optional<std::int64_t> allowed = RestartsAllowed(*job.spec);
  if (!allowed || !Checks(Invariant::kLimitsKept) || application.limits.paid <= *allowed) return;
  Report(Invariant::kLimitsKept, NameOf(job) + ": " + std::to_string(application.limits.paid) +
                                     " restarts paid under policy " + job.spec->policy.name +
                                     ", allowed " + std::to_string(*allowed));
}

// SIGTERM, but for a mere warning, is followed by SIGKILL when deadlines.stop is over.
void Checkers::Books::Terminates(const JobBook& job, const ContainerId& id,
                                 ContainerBook& container) {
  container.limits.term_at = now_;
  if (container.limits.warned_at == now_) return;
  container.limits.stop_due = now_ + job.spec->deadlines.stop;
  Expect(Limit::kStop, *container.limits.stop_due + kKillFollows, container.job, id);
}

}  // namespace tfyarn::sim
