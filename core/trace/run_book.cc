#include "core/trace/run_book.h"

#include <algorithm>
#include <utility>

#include "core/model/check.h"
#include "core/trace/visit.h"

namespace tfyarn::trace {
namespace {

constexpr std::size_t kMaxMarks = 20'000;

Use UseDuring(TrainingPhase phase, bool gang_complete) {
  if (phase == TrainingPhase::kTraining) return Use::kTraining;
  return gang_complete ? Use::kOverhead : Use::kIncomplete;
}

bool IsFailure(ExitClass exit_class) {
  return exit_class != ExitClass::kOk && exit_class != ExitClass::kKilledByUs;
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
  Mark(fact.job, "queued");
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
  DropIfOver(freed->job);
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
    switch (fact.phase) {
      case TrainingPhase::kIdle:
        Mark(fact.job, "idle");
        break;
      case TrainingPhase::kRestore:
        Mark(fact.job, "restore");
        break;
      case TrainingPhase::kTraining:
        Mark(fact.job, "training");
        break;
      case TrainingPhase::kCheckpoint:
        break;  // too many to draw
      case TrainingPhase::kDone:
        Mark(fact.job, "done");
        break;
    }
  }
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
                          if (std::holds_alternative<yarn::RegisterApplicationMasterResponse>(
                                  reply.response)) {
                            AmRegistered(fact.job);
                          }
                        },
                        Ignore<DeadlineReached, JournalRead, JournalAppended, JournalFailed,
                               NmReplied, HdfsReplied, AgentSaid, HeartbeatsElided, PeerVouched>{}},
             fact.event);
}

void RunBook::On(const AmOrdered& fact) {
  const JobIndex job = fact.job;
  std::visit(Overloaded{[&](const JobStateChanged& a) { StateChanged(job, a); },
                        [&](const GangCompleted& a) { GangDone(job, a); },
                        [&](const GangReleased&) {
                          if (const auto use = uses_.find(job); use != uses_.end())
                            use->second.gang_complete = false;
                          UpdateUse(job);
                        },
                        [&](const SpecAssembled& a) { jobs_.EpochSeen(job, a.epoch); },
                        [&](const TaskAttemptStarted& a) { ProcessStarted(job, a); },
                        [&](const TaskAttemptEnded& a) { ProcessEnded(job, a); },
                        [&](const RestartDecided& a) { Restarted(job, a); },
                        [&](const VerdictReached& a) { jobs_.Reached(job, a); },
                        Ignore<ReadJournal, AppendJournal, PublishAddress, CallRm, CallNm, CallHdfs,
                               SendToAgent, ExitAm, Note>{}},
             fact.action);
}

void RunBook::On(const ClientOrdered& fact) {
  std::visit(Overloaded{[&](const ApplicationSubmitted& a) { jobs_.Submitted(fact.job, a); },
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
  JobResult& result = jobs_.At(job);
  if (result.am_registered) return;
  result.am_registered = now_;
  Mark(job, "gang-wait");
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
  UpdateUse(job);
}

void RunBook::GangDone(JobIndex job, const GangCompleted& completed) {
  JobResult& result = jobs_.At(job);
  jobs_.EpochSeen(job, completed.epoch);
  if (const auto use = uses_.find(job); use != uses_.end()) use->second.gang_complete = true;
  UpdateUse(job);
  if (result.gang_complete) return;
  result.gang_complete = now_;
  Mark(job, "launching");
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

void RunBook::Mark(JobIndex job, const char* phase) {
  const auto use = uses_.find(job);
  if (!options_.timeline || use == uses_.end() || std::string_view(use->second.last_mark) == phase)
    return;
  use->second.last_mark = phase;
  if (timeline_.marks.size() < kMaxMarks) {
    timeline_.marks.push_back({.job = job, .at = now_, .phase = phase});
  } else {
    ++timeline_.left_out;
  }
}

void RunBook::DropIfOver(JobIndex job) {
  if (jobs_.At(job).finished) jobs_.DropIfOver(now_, job, cluster_.HoldsContainers(job));
}

}  // namespace tfyarn::trace
