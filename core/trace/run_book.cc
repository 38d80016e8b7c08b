#include "core/trace/run_book.h"

#include <algorithm>
#include <utility>

#include "core/model/check.h"
#include "core/model/visit.h"

namespace tfyarn::trace {
namespace {

std::string_view StageName(JobStage stage) {
  switch (stage) {
    case JobStage::kQueued:
      return "queued";
    case JobStage::kGang:
      return "gang";
    case JobStage::kLocalizing:
      return "localizing";
    case JobStage::kRegistering:
      return "registering";
    case JobStage::kRunning:
      return "running";
    case JobStage::kTraining:
      return "training";
    case JobStage::kCheckpoint:
      return "checkpoint";
    case JobStage::kLost:
      return "lost";
    case JobStage::kRestart:
      return "restart";
    case JobStage::kRestore:
      return "restore";
    case JobStage::kEnding:
      return "ending";
  }
  CheckFailed(__FILE__, __LINE__, "a job's stage");
}

Use UseDuring(TrainingPhase phase, bool gang_complete) {
  if (phase == TrainingPhase::kTraining) return Use::kTraining;
  return gang_complete ? Use::kOverhead : Use::kIncomplete;
}

bool IsFailure(ExitClass exit_class) {
  return exit_class != ExitClass::kOk && exit_class != ExitClass::kKilledByUs;
}

/// An AM that missed the answer to its registration hears from the next one that it is registered.
/// (A wrong response id is refused likewise, but only of one that is registered.)
bool SaysRegistered(const yarn::RmResponse& response) {
  const auto* error = std::get_if<yarn::RpcError>(&response);
  return std::holds_alternative<yarn::RegisterApplicationMasterResponse>(response) ||
         (error != nullptr && error->code == yarn::RpcErrorCode::kInvalidApplicationMasterRequest);
}

}  // namespace

void RunBook::Observe(const TraceRecord& record) {
  TF_CHECK(record.at >= now_);
  now_ = record.at;
  ++records_;
  if (!window_open_) OpenWindow();
  std::visit([this](const auto& fact) { On(fact); }, record.fact);
}

/// Nothing has changed the cluster's use between the warmup and the first record after it, so the
/// integral up to then is still exact here.
void RunBook::OpenWindow() {
  const Instant warm{options_.warmup};
  if (jobs_.jobs().empty() || now_ < warm) return;
  window_open_ = true;
  window_from_ = std::max(warm, jobs_.jobs().front().submitted);
  window_before_ = cluster_.Until(window_from_);
}

void RunBook::On(const RunStarted& fact) {
  started_ = fact;
}

void RunBook::On(const JobCreated& fact) {
  jobs_.Create(now_, fact);
  uses_.emplace(fact.job, JobUse{});
  if (!window_open_) OpenWindow();
  Mark(fact.job, StageName(JobStage::kQueued));
}

void RunBook::On(const ContainerGranted& fact) {
  cluster_.Grant(now_, fact);
  jobs_.Granted(now_, fact);
  if (const auto use = uses_.find(fact.job); fact.am && use != uses_.end()) {
    use->second.am_host_before = std::exchange(use->second.am_host, fact.node.host);
  }
  UpdateUse(fact.job);
}

void RunBook::On(const ContainerFreed& fact) {
  const std::optional<ClusterBook::FreedContainer> freed = cluster_.Free(now_, fact.container);
  if (!freed) return;
  jobs_.Freed(now_, freed->job, freed->gpus);
  if (freed->launched) Clock(freed->job, [&](JobClock& clock) { clock.Launched(now_, -1); });
  DropIfOver(freed->job);
}

void RunBook::On(const ContainerLaunched& fact) {
  const std::optional<JobIndex> job = cluster_.Launch(fact.container);
  if (job) Clock(*job, [&](JobClock& clock) { clock.Launched(now_, 1); });
}

void RunBook::On(const WorkLost& fact) {
  jobs_.Lost(fact.job, fact.work);
  Clock(fact.job, [&](JobClock& clock) { clock.Lost(now_, fact.work); });
  if (!options_.timeline) return;
  if (timeline_.losses.size() < kMaxBars) {
    timeline_.losses.push_back({.job = fact.job, .at = now_, .work = fact.work});
  } else {
    ++timeline_.left_out;
  }
}

void RunBook::On(const TrainingAccounted& fact) {
  jobs_.Accounted(fact);
  DropIfOver(fact.job);
}

void RunBook::On(const TrainingPhaseChanged& fact) {
  jobs_.Trains(now_, fact.job, fact.phase);
  if (fact.phase == TrainingPhase::kTraining || fact.phase == TrainingPhase::kRestore) {
    faults_.JobRecovered(now_, fact.job);
  }
  if (const auto use = uses_.find(fact.job); use != uses_.end()) {
    use->second.phase = fact.phase;
    UpdateUse(fact.job);
  }
  Clock(fact.job, [&](JobClock& clock) { clock.Trains(now_, fact.phase); });
  DropIfOver(fact.job);
}

void RunBook::On(const InvariantBroken& fact) {
  InvariantResult& broken = broken_[fact.invariant];
  broken.name = fact.invariant;
  if (broken.violations++ > 0) return;
  broken.first_at = now_;
  broken.first_detail = fact.detail;
}

void RunBook::On(const AmTold& fact) {
  std::visit(Overloaded{[&](const AmStarted& started) {
                          jobs_.AmAttempt(fact.job, started.attempt);
                          AmCame(fact.job, started.attempt);
                        },
                        [&](const RmReplied& reply) {
                          if (SaysRegistered(reply.response)) AmRegistered(fact.job);
                        },
                        Ignore<DeadlineReached, JournalRead, JournalAppended, JournalFailed,
                               NmReplied, HdfsReplied, AgentSaid, HeartbeatsElided, PeerVouched>{}},
             fact.event);
}

void RunBook::On(const AmOrdered& fact) {
  const JobIndex job = fact.job;
  if (!jobs_.IsLatestAm(fact)) return;
  std::visit(Overloaded{[&](const JobStateChanged& a) { StateChanged(job, a); },
                        [&](const GangCompleted& a) { GangDone(job, a); },
                        [&](const GangReleased&) {
                          if (const auto use = uses_.find(job); use != uses_.end())
                            use->second.gang_complete = false;
                          Clock(job, [&](JobClock& clock) { clock.GangIncomplete(now_); });
                          UpdateUse(job);
                        },
                        [&](const SpecAssembled& a) { jobs_.EpochSeen(job, a.epoch); },
                        [&](const TaskAttemptStarted& a) { ProcessStarted(job, a); },
                        [&](const TaskAttemptEnded& a) { ProcessEnded(job, a); },
                        [&](const RestartDecided& a) { Restarted(job, a); },
                        [&](const RestartTakenOver& a) {
                          if (jobs_.RestartsOf(job) < a.number) Restarted(job, a.decided);
                        },
                        [&](const VerdictReached& a) { VerdictDone(job, a); },
                        [&](const PortUseFound& a) { jobs_.PortFound(job, a); },
                        Ignore<ReadJournal, AppendJournal, PublishAddress, CallRm, CallNm, CallHdfs,
                               SendToAgent, ExitAm, Note, NodesAwaited>{}},
             fact.action);
}

void RunBook::On(const ClientOrdered& fact) {
  std::visit(Overloaded{[&](const ApplicationSubmitted& a) { Submitted(fact.job, a); },
                        [&](const JobEnded& a) { Ended(fact.job, a); },
                        Ignore<CallRm, CallHdfs, ClusterFacts, ExitClient, Note>{}},
             fact.action);
}

void RunBook::AmCame(JobIndex job, const ApplicationAttemptId& attempt) {
  const auto use = uses_.find(job);
  if (attempt.attempt > 1 && use != uses_.end()) {
    faults_.AmReplaced(now_, job, jobs_.At(job).name, use->second.am_host_before);
  }
}

void RunBook::AmRegistered(JobIndex job) {
  Clock(job, [&](JobClock& clock) { clock.AmRegistered(now_); });
  JobResult& result = jobs_.At(job);
  if (!result.am_registered) result.am_registered = now_;
}

void RunBook::StateChanged(JobIndex job, const JobStateChanged& changed) {
  JobResult& result = jobs_.At(job);
  result.state = changed.state;
  const auto use = uses_.find(job);
  if (changed.state == JobState::kRunning) {
    if (!result.started) result.started = now_;
    faults_.JobRecovered(now_, job);
  }
  if (changed.state == JobState::kAllocating && use != uses_.end())
    use->second.gang_complete = false;
  Clock(job, [&](JobClock& clock) { clock.StateChanged(now_, changed.state); });
  UpdateUse(job);
}

void RunBook::GangDone(JobIndex job, const GangCompleted& completed) {
  JobResult& result = jobs_.At(job);
  jobs_.EpochSeen(job, completed.epoch);
  if (const auto use = uses_.find(job); use != uses_.end()) use->second.gang_complete = true;
  Clock(job, [&](JobClock& clock) { clock.GangComplete(now_, completed.containers); });
  UpdateUse(job);
  if (!result.gang_complete) result.gang_complete = now_;
}

void RunBook::Submitted(JobIndex job, const ApplicationSubmitted& submitted) {
  jobs_.Submitted(job, submitted);
  if (submitted.resubmission > 0) Clock(job, [&](JobClock& clock) { clock.Resubmitted(now_); });
}

void RunBook::VerdictDone(JobIndex job, const VerdictReached& verdict) {
  jobs_.Reached(job, verdict);
  Clock(job, [&](JobClock& clock) { clock.Deciding(now_); });
}

void RunBook::ProcessStarted(JobIndex job, const TaskAttemptStarted& started) {
  jobs_.AttemptStarted(now_, job, started);
  cluster_.NameContainer(started.container, started.task);
  faults_.ProcessStarted(now_, job, started.task, jobs_.At(job).progressing);
}

void RunBook::ProcessEnded(JobIndex job, const TaskAttemptEnded& ended) {
  jobs_.AttemptEnded(now_, job, ended);
  if (IsFailure(ended.exit_class)) {
    faults_.ProcessFailed(now_, job, jobs_.At(job).name, ended.task, ended.node.host);
  }
}

void RunBook::Restarted(JobIndex job, const RestartDecided& decided) {
  JobResult& result = jobs_.At(job);
  jobs_.EpochSeen(job, decided.epoch);
  jobs_.CountRestart(job);
  switch (decided.unit) {
    case RestartUnit::kTask:
      ++result.restarts.task;
      break;
    case RestartUnit::kGang:
      ++result.restarts.gang;
      break;
  }
}

void RunBook::Ended(JobIndex job, const JobEnded& ended) {
  jobs_.Ended(now_, job, ended);
  faults_.JobRecovered(now_, job);
  Mark(job, "ended");
  uses_.erase(job);
  last_end_ = now_;
  until_last_end_ = cluster_.Until(now_);
  DropIfOver(job);
}

void RunBook::UpdateUse(JobIndex job) {
  const auto use = uses_.find(job);
  if (use == uses_.end()) return;
  cluster_.SetUse(now_, job, UseDuring(use->second.phase, use->second.gang_complete));
}

template <class Change>
void RunBook::Clock(JobIndex job, Change change) {
  // A job that has ended has no clock any more.
  JobClock* clock = jobs_.ClockOf(job);
  if (clock == nullptr) return;
  change(*clock);
  // Checkpoints are the first detail that a picture of a long run can do without.
  if (clock->stage() == JobStage::kCheckpoint && timeline_.marks.size() >= kMaxMarksInDetail) {
    ++timeline_.left_out;
  } else {
    Mark(job, StageName(clock->stage()));
  }
}

void RunBook::Mark(JobIndex job, std::string_view phase) {
  const auto use = uses_.find(job);
  if (!options_.timeline || use == uses_.end() || use->second.last_mark == phase) return;
  use->second.last_mark = phase;
  if (timeline_.marks.size() < kMaxMarks) {
    timeline_.marks.push_back({.job = job, .at = now_, .phase = std::string(phase)});
  } else {
    ++timeline_.left_out;
  }
}

void RunBook::DropIfOver(JobIndex job) {
  if (jobs_.At(job).finished) jobs_.DropIfOver(now_, job, cluster_.HoldsContainers(job));
}

}  // namespace tfyarn::trace
