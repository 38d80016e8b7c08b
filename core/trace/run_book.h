// All books of one run together: each record goes to those that it concerns, and at the end they
// make the Result.
//
// Private to ResultBuilder, which is what others see. Every alternative of Fact and of the
// machines' events and actions is either handled or named as ignored: a new one does not compile
// until its author has decided.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/trace/cluster_book.h"
#include "core/trace/fault_book.h"
#include "core/trace/job_book.h"
#include "core/trace/metrics.h"
#include "core/trace/record.h"
#include "core/trace/result.h"

namespace tfyarn::trace {

class RunBook {
 public:
  /// Bars and outages of the picture; its marks; its marks as long as checkpoints are among them.
  static constexpr std::size_t kMaxBars = 100'000;
  static constexpr std::size_t kMaxMarks = 200'000;
  static constexpr std::size_t kMaxMarksInDetail = 100'000;

  explicit RunBook(const ResultOptions& options)
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
  void On(const ContainerLaunched& fact);
  void On(const ContainerGone&) {}
  void On(const TrainingPhaseChanged& fact);
  void On(const WorkLost& fact);
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
  void On(const JobRunStarted& fact) { started_ = {.scenario = fact.name}; }

 private:
  // What AMs say of a job.
  void AmCame(JobIndex job, const ApplicationAttemptId& attempt);
  void AmRegistered(JobIndex job);
  void StateChanged(JobIndex job, const JobStateChanged& changed);
  void Submitted(JobIndex job, const ApplicationSubmitted& submitted);
  void VerdictDone(JobIndex job, const VerdictReached& verdict);
  void GangDone(JobIndex job, const GangCompleted& completed);
  void ProcessStarted(JobIndex job, const TaskAttemptStarted& started);
  void ProcessEnded(JobIndex job, const TaskAttemptEnded& ended);
  void Restarted(JobIndex job, const RestartDecided& decided);
  void Ended(JobIndex job, const JobEnded& ended);

  void UpdateUse(JobIndex job);
  /// Tells the job's clock, and marks the stage it is in then.
  template <class Change>
  void Clock(JobIndex job, Change change);
  void Mark(JobIndex job, std::string_view phase);
  void OpenWindow();
  void DropIfOver(JobIndex job);
  [[nodiscard]] MetricWindow Window(Instant now, bool unfinished);
  void FillInvariants(Result& result, std::vector<InvariantResult> known);

  struct JobUse {
    TrainingPhase phase = TrainingPhase::kIdle;
    bool gang_complete = false;
    std::string_view last_mark;
    std::string am_host;  ///< Of the latest AM container; of the one before.
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

}  // namespace tfyarn::trace
