// Invariants over time: progress (judged when its due date passes), quiescence, littles-law,
// gpu-seconds.
#include <algorithm>
#include <utility>

#include "config/fault_kinds.h"
#include "core/model/check.h"
#include "core/model/probe.h"
#include "core/model/text.h"
#include "sim/behavior.h"
#include "sim/checkers_books.h"
#include "sim/random.h"

namespace tfyarn::sim {
namespace {

constexpr Duration kGiveBackSlack = 60s;
/// What ends at once again and again rests so long at most (docs/policies.md).
constexpr Duration kLongestRest = 5min;

std::string Seconds(Area area) {
  return std::to_string(static_cast<double>(area) / 1e9);
}

/// Tasks that train, without those that `holds_back` keeps waiting for another type.
template <class HoldsBack>
std::int32_t TrainingWithout(const JobSpec& job, HoldsBack holds_back) {
  std::int32_t size = 0;
  for (const TaskTypeSpec& type : job.tasks) {
    const TaskRole role = RoleOf(job, type.name);
    const bool trains =
        role != TaskRole::kServer && role != TaskRole::kEvaluator && role != TaskRole::kSidecar;
    const bool waits =
        std::any_of(job.depends.begin(), job.depends.end(), [&](const Dependency& dependency) {
          return dependency.task == type.name && !dependency.within && holds_back(dependency);
        });
    if (trains && !waits) size += type.instances;
  }
  return size;
}

}  // namespace

std::vector<bool> FaultsThatLast(const config::Scenario& scenario) {
  std::vector<bool> lasts;
  for (const config::FaultSpec& fault : scenario.faults) {
    const config::FaultKind* kind = config::FindFaultKind(fault.kind);
    TF_CHECK(kind != nullptr);
    lasts.push_back(fault.duration.has_value() || kind->traits.goes_on_for_ever ||
                    kind->target == config::FaultTarget::kRecorded);
  }
  return lasts;
}

void Checkers::Books::PlanFaults(const config::Scenario& scenario) {
  // A few calls, each as slow as all faults together make it.
  double slowed = 3 * std::max(scenario.hdfs.latency.a, scenario.hdfs.latency.b);
  bool slows = false;
  for (const config::FaultSpec& fault : scenario.faults) {
    if (!config::TraitsOf(fault.kind).slows_hdfs) continue;
    slows = true;
    const auto factor = fault.numbers.find("factor");
    slowed *= factor == fault.numbers.end() ? 10 : factor->second;
  }
  if (slows) hdfs_slowed_ = SecondsToDuration(std::min(slowed, 1e6));
  for (const config::FaultSpec& fault : scenario.faults) {
    const auto delay = fault.numbers.find("delay");
    fault_delays_.push_back(delay == fault.numbers.end() ? Duration::zero()
                                                         : SecondsToDuration(delay->second));
  }
}

/// A call and its answer may each be as late as the fault delays them.
void Checkers::Books::WideFaultChanges(std::uint32_t fault) {
  const Instant over = fault < fault_delays_.size() ? now_ + 2 * fault_delays_[fault] : now_;
  last_wide_fault_change_ = std::max(over, last_wide_fault_change_.value_or(now_));
}

void Checkers::Books::On(const trace::JobCreated& fact) {
  JobBook& job = jobs_[fact.job.value];
  job.index = fact.job;
  job.name = fact.name;
  job.queue = fact.queue;
  job.created = job.last_event = now_;
  const auto spec = specs_.find(fact.job.value);
  if (spec != specs_.end()) {
    job.spec = std::move(spec->second);
    specs_.erase(spec);
    job.gang_size = TrainingWithout(*job.spec, [](const Dependency&) { return true; });
    job.running_size = TrainingWithout(*job.spec, [](const Dependency& dependency) {
      return dependency.state != DependencyState::kRunning;
    });
  }
  for (const auto& [name, stands_still] : stands_still_) {
    const bool is_it =
        name == fact.name || (name.back() == '-' && fact.name.compare(0, name.size(), name) == 0);
    if (is_it && stands_still) job.may_stand_still = true;
  }
  // Under tfjob a member starts again alone: it and its collective may wait for each other for
  // ever.
  if (job.spec != nullptr && job.spec->policy.name == "tfjob" && job.gang_size > 1 &&
      job.spec->strategy == Strategy::kMultiWorker)
    job.may_stand_still = true;
  ExpectProgress(job);
  QueueBook& queue = queues_[fact.queue];
  queue.area += static_cast<Area>((now_ - queue.since).count()) * queue.jobs;
  queue.since = now_;
  ++queue.jobs;
}

void Checkers::Books::JobLeaves(JobBook& job) {
  if (job.left) return;
  job.left = true;
  QueueBook& queue = queues_[job.queue];
  queue.area += static_cast<Area>((now_ - queue.since).count()) * queue.jobs;
  queue.since = now_;
  --queue.jobs;
  queue.sojourn += (now_ - job.created).count();
}

void Checkers::Books::On(const trace::TrainingPhaseChanged& fact) {
  JobBook* job = JobOf(fact.job);
  if (job == nullptr) return;
  job->phase = fact.phase;
  job->last_event = now_;
  job->progress_reported = false;
}

void Checkers::Books::On(const trace::FaultBegan& fact) {
  const config::FaultTraits& traits = config::TraitsOf(fact.kind);
  const bool wide = !traits.strikes_only_its_target;
  const std::pair<std::uint32_t, std::uint32_t> instance{fact.fault, fact.instance};
  last_fault_change_ = now_;
  if (wide) WideFaultChanges(fact.fault);
  if (traits.rm == config::RmOutage::kRestarts) rm_restarted_ = now_;
  if (traits.stops_am) am_sleeps_[fact.target] = {.fault = instance, .began = now_, .woke = {}};
  if (fact.fault < fault_lasts_.size() && !fault_lasts_[fact.fault]) return;
  faults_under_way_.insert(instance);
  if (traits.rm != config::RmOutage::kNone) rm_away_.emplace(instance, now_);
  if (traits.takes_nms_away) nm_restarts_.insert(instance);
  if (wide) wide_faults_under_way_.insert(instance);
}

void Checkers::Books::On(const trace::FaultEnded& fact) {
  faults_under_way_.erase({fact.fault, fact.instance});
  rm_away_.erase({fact.fault, fact.instance});
  for (auto& [whose, sleep] : am_sleeps_) {
    if (sleep.fault == std::pair(fact.fault, fact.instance)) sleep.woke = now_;
  }
  if (nm_restarts_.erase({fact.fault, fact.instance}) > 0) nm_restarted_ = now_;
  last_fault_change_ = now_;
  if (wide_faults_under_way_.erase({fact.fault, fact.instance}) > 0) WideFaultChanges(fact.fault);
}

// ---------------------------------------------------------------- progress

/// Node expiry plus an AM's restart, and what the job itself allows between two steps.
Duration Checkers::Books::ProgressBound(const JobBook& job) const {
  Duration bound = times_.nm_expiry + times_.am_expiry + kGiveBackSlack;
  const DeadlineSpec& deadlines = job.spec->deadlines;
  bound += deadlines.registration + deadlines.start + deadlines.stop + deadlines.blame;
  Duration drain{};
  for (const auto& [type, allowed] : job.spec->finish.drain) drain = std::max(drain, allowed);
  return bound + drain + hdfs_slowed_ + kLongestRest;
}

/// It waits for containers beyond those that its gang has to hold.
bool Checkers::Books::AsksForMore(JobBook& job) {
  const std::vector<AmAttemptBook>& attempts = Acting(job).attempts;
  return !attempts.empty() && std::any_of(attempts.back().asks.begin(), attempts.back().asks.end(),
                                          [](const auto& ask) { return ask.second > 0; });
}

void Checkers::Books::ExpectProgress(const JobBook& job) {
  if (job.spec == nullptr || job.may_stand_still) return;
  Expect(Limit::kProgress, now_ + ProgressBound(job) + Duration(1), job.index, {});
}

// progress: a job that holds its gang and whose processes are not made to stand still trains, or
// ends, within the bound after the last thing that happened to it or to the cluster. Looked at as
// soon as that may be over. Returns when to look again.
std::optional<Instant> Checkers::Books::JudgeProgress(JobBook& job) {
  if (job.ended || job.may_stand_still) return std::nullopt;
  const Duration bound = ProgressBound(job);
  const bool trains = job.phase == trace::TrainingPhase::kRestore ||
                      job.phase == trace::TrainingPhase::kTraining ||
                      job.phase == trace::TrainingPhase::kCheckpoint;
  // For the cluster: for containers, or, after its AM's death, for room for the next AM.
  const bool waits =
      job.held == 0 || job.held < job.gang_size || !Acting(job).limits.am_runs || AsksForMore(job);
  if (!waits) Checks(Invariant::kProgress);
  // The end of any of these is a thing that happens.
  if (waits || trains || !faults_under_way_.empty()) return now_ + bound;
  const Instant since = std::max(job.last_event, last_fault_change_.value_or(job.last_event));
  if (now_ - since <= bound) {
    TF_PROBE("checkers/progress-looked-at-again");
    return since + bound + Duration(1);
  }
  if (!std::exchange(job.progress_reported, true)) {
    Report(Invariant::kProgress, NameOf(job) + " holds its gang, but nothing has happened for " +
                                     ToString(bound) + ", which is the bound");
  }
  return now_ + bound;
}

// ---------------------------------------------------------------- the end of a job, the end of the
// run

void Checkers::Books::Settle(Instant now, trace::JobIndex index, const WorldView& world) {
  PassLimits(now);
  now_ = now;
  JobBook* job = JobOf(index);
  if (job == nullptr) return;
  const std::vector<std::string> remains = world.RemainsOf(index);
  SettleContainers(*job, remains);
  // quiescence: nothing is left of a finished job. What a recent fault keeps from ending is not
  // held against it.
  if (job->ended && Undisturbed(times_.nm_expiry + times_.am_expiry) &&
      !DiesWithItsNode(*job, times_.am_expiry) && Checks(Invariant::kQuiescence) &&
      !remains.empty()) {
    std::string all;
    for (const std::string& one : remains) all += (all.empty() ? "" : ", ") + one;
    Report(Invariant::kQuiescence, NameOf(*job) + " has ended, but this is left of it: " + all);
  }
  durable_.Forget(index);
  repeats_.Forget(index);
  conduct_.Forget(index);
  JobLeaves(*job);
  for (const ContainerId& id : job->containers) {
    const auto container = containers_.find(id);
    if (container == containers_.end() || !container->second.freed) continue;
    containers_.erase(container);
  }
  jobs_.erase(index.value);
}

void Checkers::Books::Finish(Instant now, trace::StopReason reason) {
  PassLimits(now);
  now_ = now;
  static_cast<void>(reason);
  // littles-law: jobs in the system over time, by queue, equal the sum of the times that jobs spent
  // in it.
  for (auto& [index, job] : jobs_) JobLeaves(job);
  for (const auto& [name, queue] : queues_) {
    if (!Checks(Invariant::kLittlesLaw) || (queue.area == queue.sojourn && queue.jobs == 0))
      continue;
    Report(Invariant::kLittlesLaw, "queue " + name + ": " + Seconds(queue.area) +
                                       " job-seconds over time, but " + Seconds(queue.sojourn) +
                                       " summed over its jobs");
  }
  // gpu-seconds: GPUs in use over time equal what the containers used.
  gpu_area_ += static_cast<Area>((now - gpus_since_).count()) * gpus_used_;
  gpus_since_ = now;
  Area sum = gpu_of_containers_;
  for (const auto& [id, container] : containers_) {
    if (!container.freed)
      sum += static_cast<Area>((now - container.granted).count()) * container.resource.gpus;
  }
  if (Checks(Invariant::kGpuSeconds) && sum != gpu_area_) {
    Report(Invariant::kGpuSeconds, "the nodes gave out " + Seconds(gpu_area_) +
                                       " GPU-seconds, the containers used " + Seconds(sum));
  }
}

}  // namespace tfyarn::sim
