// Dispatch of records to the books that fold them, and what is computed from the books at the end.
#include <algorithm>
#include <map>
#include <utility>

#include "core/model/check.h"
#include "core/trace/cluster_book.h"
#include "core/trace/fault_book.h"
#include "core/trace/job_book.h"
#include "core/trace/metrics.h"
#include "core/trace/result.h"
#include "core/trace/visit.h"

namespace tfyarn::trace {
namespace {

constexpr std::size_t kMaxBars = 20'000;
constexpr std::size_t kMaxMarks = 20'000;

Use UseDuring(TrainingPhase phase, bool gang_complete) {
  if (phase == TrainingPhase::kTraining) return Use::kTraining;
  return gang_complete ? Use::kOverhead : Use::kIncomplete;
}

bool IsFailure(ExitClass exit_class) { return exit_class != ExitClass::kOk && exit_class != ExitClass::kKilledByUs; }

}  // namespace

class ResultBuilder::State {
 public:
  explicit State(const ResultOptions& options)
      : options_(options), jobs_(options.always_tasks), cluster_(options.timeline ? kMaxBars : 0) {}

  void Observe(const TraceRecord& record);
  Result Finish(RunFacts facts);

  [[nodiscard]] const JobBook& jobs() const { return jobs_; }
  [[nodiscard]] Instant now() const { return now_; }

  // Facts of the world, and machines' records.
  void On(const RunStarted& fact);
  void On(const NodeDeclared& fact) { cluster_.DeclareNode(now_, fact); }
  void On(const NodePower& fact) { cluster_.Power(now_, fact); }
  void On(const JobCreated& fact);
  void On(const ContainerGranted& fact);
  void On(const ContainerFreed& fact);
  void On(const ContainerLocalizing&) {}
  void On(const ContainerLaunched&) {}
  void On(const ContainerGone&) {}
  void On(const TrainingPhaseChanged& fact);
  void On(const WorkLost& fact) { jobs_.Lost(fact.job, fact.work); }
  void On(const FaultBegan& fact) { faults_.Began(now_, fact); }
  void On(const FaultEnded& fact) { faults_.Ended(now_, fact); }
  void On(const InvariantBroken& fact);
  void On(const ContainersLeaked& fact) { jobs_.Leaked(fact.job, fact.containers); }
  void On(const RunStopped& fact) { stop_reason_ = fact.reason; }
  void On(const AmTold& fact);
  void On(const AmOrdered& fact);
  void On(const AgentTold&) {}
  void On(const AgentOrdered&) {}
  void On(const ClientTold&) {}
  void On(const ClientOrdered& fact);
  void On(const ApplicationEnded& fact) { jobs_.ApplicationOver(now_, fact); }
  void On(const TrainingAccounted& fact);

 private:
  // What AMs say of a job.
  void AmCame(JobIndex job, const ApplicationAttemptId& attempt);
  void AmRegistered(JobIndex job);
  void StateChanged(JobIndex job, const JobStateChanged& changed);
  void GangDone(JobIndex job, const GangCompleted& completed);
  void ProcessStarted(JobIndex job, const TaskAttemptStarted& started);
  void ProcessEnded(JobIndex job, const TaskAttemptEnded& ended);
  void Restarted(JobIndex job, const RestartDecided& decided);
  void Ended(JobIndex job, const JobEnded& ended);

  void UpdateUse(JobIndex job);
  void Mark(JobIndex job, const char* phase);
  void OpenWindow();
  void DropIfOver(JobIndex job);
  [[nodiscard]] MetricWindow Window(Instant now, bool unfinished);
  void FillInvariants(Result& result, std::vector<InvariantResult> known);

  struct JobUse {
    TrainingPhase phase = TrainingPhase::kIdle;
    bool gang_complete = false;
    const char* last_mark = "";
    std::string am_host;         ///< Of the latest AM container; of the one before.
    std::string am_host_before;
  };

  ResultOptions options_;
  Instant now_{};
  std::uint64_t records_ = 0;
  RunStarted started_;
  StopReason stop_reason_ = StopReason::kQuiescent;
  JobBook jobs_;
  ClusterBook cluster_;
  FaultBook faults_;
  std::map<JobIndex, JobUse> uses_;  // of jobs that have not ended
  std::map<std::string, InvariantResult> broken_;
  Timeline timeline_;
  bool window_open_ = false;
  Instant window_from_{};
  UseIntegral window_before_{};
  std::optional<Instant> last_end_;  // of a job
  UseIntegral until_last_end_{};
};

void ResultBuilder::State::Observe(const TraceRecord& record) {
  TF_CHECK(record.at >= now_);
  now_ = record.at;
  ++records_;
  if (!window_open_) OpenWindow();
  std::visit([this](const auto& fact) { On(fact); }, record.fact);
}

/// Nothing has changed the cluster's use between the warmup and the first record after it, so the integral up to then is
/// still exact here.
void ResultBuilder::State::OpenWindow() {
  const Instant warm{options_.warmup};
  if (jobs_.jobs().empty() || now_ < warm) return;
  window_open_ = true;
  window_from_ = std::max(warm, jobs_.jobs().front().submitted);
  window_before_ = cluster_.Until(window_from_);
}

void ResultBuilder::State::On(const RunStarted& fact) { started_ = fact; }

void ResultBuilder::State::On(const JobCreated& fact) {
  jobs_.Create(now_, fact);
  uses_.emplace(fact.job, JobUse{});
  if (!window_open_) OpenWindow();
  Mark(fact.job, "queued");
}

void ResultBuilder::State::On(const ContainerGranted& fact) {
  cluster_.Grant(now_, fact);
  jobs_.Granted(now_, fact);
  if (const auto use = uses_.find(fact.job); fact.am && use != uses_.end()) {
    use->second.am_host_before = std::exchange(use->second.am_host, fact.node.host);
  }
  UpdateUse(fact.job);
}

void ResultBuilder::State::On(const ContainerFreed& fact) {
  const std::optional<ClusterBook::FreedContainer> freed = cluster_.Free(now_, fact.container);
  if (!freed) return;
  jobs_.Freed(now_, freed->job, freed->gpus);
  DropIfOver(freed->job);
}

void ResultBuilder::State::On(const TrainingAccounted& fact) {
  jobs_.Accounted(fact);
  DropIfOver(fact.job);
}

void ResultBuilder::State::On(const TrainingPhaseChanged& fact) {
  jobs_.Trains(now_, fact.job, fact.phase);
  if (fact.phase == TrainingPhase::kTraining || fact.phase == TrainingPhase::kRestore) {
    faults_.JobRecovered(now_, fact.job);
  }
  if (const auto use = uses_.find(fact.job); use != uses_.end()) {
    use->second.phase = fact.phase;
    UpdateUse(fact.job);
    switch (fact.phase) {
      case TrainingPhase::kIdle: Mark(fact.job, "idle"); break;
      case TrainingPhase::kRestore: Mark(fact.job, "restore"); break;
      case TrainingPhase::kTraining: Mark(fact.job, "training"); break;
      case TrainingPhase::kCheckpoint: break;  // too many to draw
      case TrainingPhase::kDone: Mark(fact.job, "done"); break;
    }
  }
  DropIfOver(fact.job);
}

void ResultBuilder::State::On(const InvariantBroken& fact) {
  InvariantResult& broken = broken_[fact.invariant];
  broken.name = fact.invariant;
  if (broken.violations++ > 0) return;
  broken.first_at = now_;
  broken.first_detail = fact.detail;
}

void ResultBuilder::State::On(const AmTold& fact) {
  std::visit(Overloaded{[&](const AmStarted& started) {
                          jobs_.AmAttempt(fact.job, started.attempt);
                          AmCame(fact.job, started.attempt);
                        },
                        [&](const RmReplied& reply) {
                          if (std::holds_alternative<yarn::RegisterApplicationMasterResponse>(reply.response)) {
                            AmRegistered(fact.job);
                          }
                        },
                        Ignore<DeadlineReached, JournalRead, JournalAppended, JournalFailed, NmReplied, HdfsReplied,
                               AgentSaid, HeartbeatsElided, PeerVouched>{}},
             fact.event);
}

void ResultBuilder::State::On(const AmOrdered& fact) {
  const JobIndex job = fact.job;
  std::visit(Overloaded{[&](const JobStateChanged& a) { StateChanged(job, a); },
                        [&](const GangCompleted& a) { GangDone(job, a); },
                        [&](const GangReleased&) {
                          if (const auto use = uses_.find(job); use != uses_.end()) use->second.gang_complete = false;
                          UpdateUse(job);
                        },
                        [&](const SpecAssembled& a) { jobs_.EpochSeen(job, a.epoch); },
                        [&](const TaskAttemptStarted& a) { ProcessStarted(job, a); },
                        [&](const TaskAttemptEnded& a) { ProcessEnded(job, a); },
                        [&](const RestartDecided& a) { Restarted(job, a); },
                        [&](const VerdictReached& a) { jobs_.Reached(job, a); },
                        Ignore<ReadJournal, AppendJournal, PublishAddress, CallRm, CallNm, CallHdfs, SendToAgent,
                               ExitAm, Note>{}},
             fact.action);
}

void ResultBuilder::State::On(const ClientOrdered& fact) {
  std::visit(Overloaded{[&](const ApplicationSubmitted& a) { jobs_.Submitted(fact.job, a); },
                        [&](const JobEnded& a) { Ended(fact.job, a); },
                        Ignore<CallRm, CallHdfs, ClusterFacts, ExitClient, Note>{}},
             fact.action);
}

void ResultBuilder::State::AmCame(JobIndex job, const ApplicationAttemptId& attempt) {
  const auto use = uses_.find(job);
  if (attempt.attempt > 1 && use != uses_.end()) {
    faults_.AmReplaced(now_, job, jobs_.At(job).name, use->second.am_host_before);
  }
}

void ResultBuilder::State::AmRegistered(JobIndex job) {
  JobResult& result = jobs_.At(job);
  if (result.am_registered) return;
  result.am_registered = now_;
  Mark(job, "gang-wait");
}

void ResultBuilder::State::StateChanged(JobIndex job, const JobStateChanged& changed) {
  JobResult& result = jobs_.At(job);
  result.state = changed.state;
  const auto use = uses_.find(job);
  if (changed.state == JobState::kRunning) {
    if (!result.started) result.started = now_;
    faults_.JobRecovered(now_, job);
  }
  if (changed.state == JobState::kAllocating && use != uses_.end()) use->second.gang_complete = false;
  UpdateUse(job);
}

void ResultBuilder::State::GangDone(JobIndex job, const GangCompleted& completed) {
  JobResult& result = jobs_.At(job);
  jobs_.EpochSeen(job, completed.epoch);
  if (const auto use = uses_.find(job); use != uses_.end()) use->second.gang_complete = true;
  UpdateUse(job);
  if (result.gang_complete) return;
  result.gang_complete = now_;
  Mark(job, "launching");
}

void ResultBuilder::State::ProcessStarted(JobIndex job, const TaskAttemptStarted& started) {
  jobs_.AttemptStarted(now_, job, started);
  cluster_.NameContainer(started.container, started.task);
  faults_.ProcessStarted(now_, job, started.task, jobs_.At(job).progressing);
}

void ResultBuilder::State::ProcessEnded(JobIndex job, const TaskAttemptEnded& ended) {
  jobs_.AttemptEnded(now_, job, ended);
  if (IsFailure(ended.exit_class)) {
    faults_.ProcessFailed(now_, job, jobs_.At(job).name, ended.task, ended.node.host);
  }
}

void ResultBuilder::State::Restarted(JobIndex job, const RestartDecided& decided) {
  JobResult& result = jobs_.At(job);
  jobs_.EpochSeen(job, decided.epoch);
  switch (decided.unit) {
    case RestartUnit::kTask: ++result.restarts.task; break;
    case RestartUnit::kGang: ++result.restarts.gang; break;
  }
}

void ResultBuilder::State::Ended(JobIndex job, const JobEnded& ended) {
  jobs_.Ended(now_, job, ended);
  faults_.JobRecovered(now_, job);
  Mark(job, "ended");
  uses_.erase(job);
  last_end_ = now_;
  until_last_end_ = cluster_.Until(now_);
  DropIfOver(job);
}

void ResultBuilder::State::UpdateUse(JobIndex job) {
  const auto use = uses_.find(job);
  if (use == uses_.end()) return;
  cluster_.SetUse(now_, job, UseDuring(use->second.phase, use->second.gang_complete));
}

void ResultBuilder::State::Mark(JobIndex job, const char* phase) {
  const auto use = uses_.find(job);
  if (!options_.timeline || use == uses_.end() || std::string_view(use->second.last_mark) == phase) return;
  use->second.last_mark = phase;
  if (timeline_.marks.size() < kMaxMarks) {
    timeline_.marks.push_back({.job = job, .at = now_, .phase = phase});
  } else {
    ++timeline_.left_out;
  }
}

void ResultBuilder::State::DropIfOver(JobIndex job) {
  if (jobs_.At(job).finished) jobs_.DropIfOver(now_, job, cluster_.HoldsContainers(job));
}

MetricWindow ResultBuilder::State::Window(Instant now, bool unfinished) {
  MetricWindow window;
  window.unit_is_gpu = cluster_.unit_is_gpu();
  window.from = window_open_ ? window_from_ : Instant{options_.warmup};
  window.before = window_before_;
  if (unfinished || !last_end_ || !window_open_ || *last_end_ < window.from) {
    window.until = std::max(now, window.from);
    window.after = window_open_ ? cluster_.Until(now) : window.before;
  } else {
    window.until = *last_end_;
    window.after = until_last_end_;
  }
  return window;
}

void ResultBuilder::State::FillInvariants(Result& result, std::vector<InvariantResult> known) {
  for (InvariantResult& invariant : known) {
    if (const auto broken = broken_.find(invariant.name); broken != broken_.end()) {
      invariant.violations += broken->second.violations;
      invariant.first_at = broken->second.first_at;
      invariant.first_detail = broken->second.first_detail;
      broken_.erase(broken);
    }
    result.invariants.push_back(std::move(invariant));
  }
  for (const auto& [name, broken] : broken_) result.invariants.push_back(broken);
}

Result ResultBuilder::State::Finish(RunFacts facts) {
  const Instant now = now_;
  Result result;
  result.scenario = started_.scenario;
  result.scenario_digest = started_.scenario_digest;
  result.seed = started_.seed;
  result.version = std::move(facts.version);
  result.digest = std::move(facts.digest);
  result.records = records_;
  result.events = facts.events;
  result.wall_seconds = facts.wall_seconds;
  result.peak_rss_bytes = facts.peak_rss_bytes;
  result.stop_reason = stop_reason_;
  result.stopped = now;
  result.tasks_kept = jobs_.keeps_tasks();
  result.jobs = jobs_.Take(now);
  bool unfinished = false, progressing = false;
  for (const JobResult& job : result.jobs) {
    unfinished = unfinished || job.status == JobStatus::kUnfinished;
    progressing = progressing || job.progressing;
  }
  result.deadlocked = stop_reason_ == StopReason::kHorizon && unfinished && !facts.progressing.value_or(progressing);
  const MetricWindow window = Window(now, unfinished);
  result.metrics = ComputeMetrics(result.jobs, window);
  result.histograms = ComputeHistograms(result.jobs, window.from);
  result.faults_left_out = faults_.left_out();
  result.faults = faults_.Take();
  FillInvariants(result, std::move(facts.invariants));
  result.timeline = std::move(timeline_);
  cluster_.FillTimeline(now, result.timeline);
  result.usage = cluster_.TakePoints(now);
  return result;
}

ResultBuilder::ResultBuilder(ResultOptions options) : state_(std::make_unique<State>(options)) {}
ResultBuilder::~ResultBuilder() = default;
ResultBuilder::ResultBuilder(ResultBuilder&&) noexcept = default;
ResultBuilder& ResultBuilder::operator=(ResultBuilder&&) noexcept = default;

void ResultBuilder::Observe(const TraceRecord& record) { state_->Observe(record); }

Result ResultBuilder::Finish(RunFacts facts) { return state_->Finish(std::move(facts)); }

const std::vector<JobResult>& ResultBuilder::jobs() const { return state_->jobs().jobs(); }

std::optional<MetricValue> ResultBuilder::LookupJob(std::string_view name) const {
  constexpr std::string_view kPrefix = "job/";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  // A job's name may have dots, and so may a field: the first split at which both exist is meant.
  for (auto dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.', dot + 1)) {
    JobIndex index;
    const JobResult* job = state_->jobs().Find(name.substr(0, dot), &index);
    if (job == nullptr) continue;
    JobResult current = *job;
    current.gpu = state_->jobs().SplitAt(index, state_->now());
    if (auto value = LookupField(current, name.substr(dot + 1))) return value;
  }
  return std::nullopt;
}

}  // namespace tfyarn::trace
