#include "core/trace/job_book.h"

#include <algorithm>
#include <utility>

#include "core/model/check.h"
#include "core/model/port_use.h"

namespace tfyarn::trace {
namespace {

JobStatus StatusOf(yarn::FinalApplicationStatus status) {
  switch (status) {
    case yarn::FinalApplicationStatus::kSucceeded:
      return JobStatus::kSucceeded;
    case yarn::FinalApplicationStatus::kKilled:
      return JobStatus::kKilled;
    case yarn::FinalApplicationStatus::kUndefined:
    case yarn::FinalApplicationStatus::kFailed:
    case yarn::FinalApplicationStatus::kEnded:
      return JobStatus::kFailed;
  }
  CheckFailed(__FILE__, __LINE__, "a final status");
}

bool IsProgress(TrainingPhase phase) {
  switch (phase) {
    case TrainingPhase::kRestore:
    case TrainingPhase::kTraining:
    case TrainingPhase::kCheckpoint:
      return true;
    case TrainingPhase::kIdle:
    case TrainingPhase::kDone:
      return false;
  }
  CheckFailed(__FILE__, __LINE__, "a training phase");
}

}  // namespace

std::optional<Duration> JobResult::queue_wait() const {
  if (!am_registered) return std::nullopt;
  return *am_registered - submitted;
}

std::optional<Duration> JobResult::gang_wait() const {
  // Of a run whose events were cut the second may be known alone, or of an earlier attempt.
  if (!am_registered || !gang_complete || *gang_complete < *am_registered) return std::nullopt;
  return *gang_complete - *am_registered;
}

std::optional<Duration> JobResult::start_wait() const {
  if (!started) return std::nullopt;
  return *started - submitted;
}

std::optional<Duration> JobResult::completion_time() const {
  if (!finished) return std::nullopt;
  return *finished - submitted;
}

JobResult& JobBook::At(JobIndex job) {
  TF_CHECK(job.value < jobs_.size());
  return jobs_[job.value];
}

const JobResult* JobBook::Find(std::string_view name, JobIndex* index) const {
  const auto entry = by_name_.find(name);
  if (entry == by_name_.end()) return nullptr;
  if (index != nullptr) *index = entry->second;
  return &jobs_[entry->second.value];
}

void JobBook::Create(Instant now, const JobCreated& created) {
  TF_CHECK(created.job.value == jobs_.size());
  JobResult job;
  job.name = created.name;
  job.queue = created.queue;
  job.task_count = created.tasks;
  job.gpus = created.gpus;
  job.submitted = now;
  jobs_.push_back(std::move(job));
  AliveAt(created.job).clock.emplace(now);
  by_name_.emplace(created.name, created.job);
  if (jobs_.size() <= kMaxJobsWithTasks || always_tasks_ || !keep_tasks_) return;
  keep_tasks_ = false;
  for (JobResult& earlier : jobs_) earlier.tasks = {};
}

void JobBook::Granted(Instant now, const ContainerGranted& granted) {
  if (granted.am) {
    AmAttempt(granted.job, granted.container.application_attempt);
  } else {
    ++At(granted.job).containers;
  }
  if (granted.resource.gpus > 0) AliveAt(granted.job).gpu.Hold(now, granted.resource.gpus);
}

void JobBook::Freed(Instant now, JobIndex job, std::int64_t gpus) {
  if (gpus > 0) AliveAt(job).gpu.Hold(now, -gpus);
}

void JobBook::Trains(Instant now, JobIndex job, TrainingPhase phase) {
  AliveAt(job).gpu.Enter(now, phase);
  At(job).progressing = IsProgress(phase);
}

void JobBook::AmAttempt(JobIndex job, const ApplicationAttemptId& attempt) {
  Alive& alive = AliveAt(job);
  if (alive.application != attempt.application) {
    alive.attempts_before += alive.attempt;
    alive.attempt = alive.restarts = 0;
    alive.application = attempt.application;
  }
  alive.attempt = std::max(alive.attempt, attempt.attempt);
  JobResult& result = At(job);
  result.am_attempts = std::max(result.am_attempts, alive.attempts_before + alive.attempt);
  result.application = attempt.application;
}

bool JobBook::IsLatestAm(const AmOrdered& fact) const {
  const auto alive = alive_.find(fact.job);
  if (alive == alive_.end()) return true;
  const std::int32_t of = fact.resubmission.value_or(0);
  if (of != alive->second.resubmission) return of > alive->second.resubmission;
  return fact.am_attempt >= alive->second.attempt;
}

void JobBook::Submitted(JobIndex job, const ApplicationSubmitted& submitted) {
  JobResult& result = At(job);
  result.application = submitted.application;
  if (submitted.resubmission == 0) return;
  result.restarts.job = std::max(result.restarts.job, submitted.resubmission);
  result.epochs = 0;
  result.cause.reset();
  Alive& alive = AliveAt(job);
  alive.resubmission = submitted.resubmission;
  alive.application_over.reset();
  alive.verdict.reset();
}

AttemptResult* JobBook::AttemptAt(JobResult& job, const TaskId& task, const ProcessRef& process,
                                  const ContainerId& container) {
  if (!keep_tasks_) return nullptr;
  auto entry = std::lower_bound(job.tasks.begin(), job.tasks.end(), task,
                                [](const TaskResult& t, const TaskId& id) { return t.task < id; });
  if (entry == job.tasks.end() || entry->task != task) {
    entry = job.tasks.insert(entry, TaskResult{.task = task, .attempts = {}});
  }
  // A number counts once per container: one that ended before a process ran in it leaves its number
  // to the next, and the attempts of a resubmitted job count from 0 again.
  auto& attempts = entry->attempts;
  const auto known = std::find_if(attempts.rbegin(), attempts.rend(), [&](const AttemptResult& a) {
    return a.attempt == process.attempt && a.container == container;
  });
  if (known != attempts.rend()) return &*known;
  AttemptResult attempt;
  attempt.container = container;
  attempt.attempt = process.attempt;
  attempt.epoch = process.epoch;
  attempts.push_back(std::move(attempt));
  return &attempts.back();
}

void JobBook::AttemptStarted(Instant now, JobIndex job, const TaskAttemptStarted& started) {
  Alive& alive = AliveAt(job);
  if (!alive.first_process) alive.first_process = now;
  // Told, too, by an AM whose predecessor died before it could tell of the epoch.
  EpochSeen(job, started.process.epoch);
  AttemptResult* attempt = AttemptAt(At(job), started.task, started.process, started.container);
  if (attempt == nullptr || attempt->started) return;
  attempt->node = started.node.host;
  attempt->container = started.container;
  attempt->started = now;
}

void JobBook::PortFound(JobIndex job, const PortUseFound& found) {
  AttemptResult* attempt = AttemptAt(At(job), found.task, found.process, found.container);
  if (attempt != nullptr) attempt->port = PortUseInBrief(found.task, found.use, found.address.port);
}

void JobBook::AttemptEnded(Instant now, JobIndex job, const TaskAttemptEnded& ended) {
  AttemptResult* attempt = AttemptAt(At(job), ended.task, ended.process, ended.container);
  if (attempt == nullptr) return;
  attempt->node = ended.node.host;
  attempt->container = ended.container;
  attempt->exit = ended.exit;
  attempt->exit_class = ended.exit_class;
  attempt->diagnostics = ended.diagnostics;
  if (!attempt->finished) attempt->finished = now;
}

void JobBook::EpochSeen(JobIndex job, Epoch epoch) {
  JobResult& result = At(job);
  result.epochs = std::max(result.epochs, epoch.value);
}

void JobBook::Reached(JobIndex job, const VerdictReached& verdict) {
  JobResult& result = At(job);
  result.diagnostics = verdict.diagnostics;
  result.rule = verdict.rule;
  result.cause = verdict.cause;
  AliveAt(job).verdict = verdict.status;
}

void JobBook::ApplicationOver(Instant now, const ApplicationEnded& ended) {
  Alive& alive = AliveAt(ended.job);
  alive.application_over = now;
  if (alive.clock) alive.stages_then = alive.clock->Until(now);
  alive.final_status = ended.final_status;
}

void JobBook::Ended(Instant now, JobIndex job, const JobEnded& ended) {
  JobResult& result = At(job);
  result.status = ended.status;
  result.finished = now;
  result.progressing = false;
  StopClock(now, result, AliveAt(job));
  // Its client may end it otherwise when no AM is left to tell the ResourceManager of the verdict.
  const bool by_verdict = AliveAt(job).verdict == ended.status;
  if (!by_verdict || result.diagnostics.empty()) result.diagnostics = ended.diagnostics;
  if (!by_verdict) {
    result.rule.clear();
    result.cause.reset();
    NameLostMaster(now, result);
  }
  if (ended.status == JobStatus::kSucceeded) result.cause.reset();
  if (!result.started) result.started = AliveAt(job).first_process;
}

/// An ApplicationMaster that has no attempt left gives no verdict: the ResourceManager's is all
/// there is. Source: RMAppImpl.java, getAppAttemptFailedDiagnostics.
void JobBook::NameLostMaster(Instant now, JobResult& job) {
  if (job.status != JobStatus::kFailed) return;
  const std::string& text = job.diagnostics;
  const auto failed = text.find("Application application_");
  if (failed == std::string::npos) return;
  const auto times = text.find(" times", text.find(" failed ", failed));
  if (times == std::string::npos || text.find(" due to ", times) == std::string::npos) return;
  job.rule = "yarn/am-attempts";
  job.cause = Cause{.exit_class = ExitClass::kAmLost, .at = now, .detail = text};
}

void JobBook::StopClock(Instant at, JobResult& job, Alive& alive) {
  if (!alive.clock) return;
  job.stages = alive.clock->Until(at);
  alive.clock.reset();
}

JobClock* JobBook::ClockOf(JobIndex job) {
  const auto alive = alive_.find(job);
  if (alive == alive_.end() || !alive->second.clock) return nullptr;
  return &*alive->second.clock;
}

GpuSplit JobBook::SplitAt(JobIndex job, Instant now) const {
  GpuSplit split = jobs_[job.value].gpu;
  if (const auto alive = alive_.find(job); alive != alive_.end())
    split += alive->second.gpu.split(now);
  return split;
}

void JobBook::DropIfOver(Instant now, JobIndex job, bool holds_containers) {
  if (holds_containers || !At(job).finished) return;
  const auto alive = alive_.find(job);
  if (alive == alive_.end()) return;
  TF_CHECK(alive->second.gpu.held() == 0);
  // Late records bring the living part of an ended job back: what it held before is added to, not
  // replaced.
  At(job).gpu += alive->second.gpu.split(now);
  alive_.erase(alive);
}

std::vector<JobResult> JobBook::Take(Instant now) {
  for (auto& [job, alive] : alive_) {
    JobResult& result = At(job);
    result.gpu += alive.gpu.split(now);
    StopClock(now, result, alive);
    if (!result.finished) Close(result, alive);
  }
  return std::move(jobs_);
}

void JobBook::Close(JobResult& job, const Alive& alive) {
  if (!alive.application_over) return;
  job.status = StatusOf(alive.final_status);
  job.finished = alive.application_over;
  job.stages = alive.stages_then;
  job.progressing = false;
  if (job.status == JobStatus::kSucceeded) job.cause.reset();
  if (!job.started) job.started = alive.first_process;
}

}  // namespace tfyarn::trace
