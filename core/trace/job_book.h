// What the machines' records and the RM's books say about each job: the side of the result that is
// about jobs.
//
// A job's living part (its GPU account, which AM attempts it had) exists from its submission until
// it has ended and holds nothing; what stays is the JobResult.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/trace/record.h"
#include "core/trace/result.h"

namespace tfyarn::trace {

class JobBook {
 public:
  explicit JobBook(bool always_tasks) : always_tasks_(always_tasks) {}

  void Create(Instant now, const JobCreated& created);
  /// The RM granted a container: counts it, and its GPUs.
  void Granted(Instant now, const ContainerGranted& granted);
  void Freed(Instant now, JobIndex job, std::int64_t gpus);
  void Trains(Instant now, JobIndex job, TrainingPhase phase);
  void Lost(JobIndex job, Duration work) { At(job).lost_work += work; }
  void Accounted(const TrainingAccounted& account) { AliveAt(account.job).gpu.Add(account); }
  void Leaked(JobIndex job, std::int32_t containers) { At(job).leaked_containers += containers; }

  /// An AM attempt exists: it has a container, or runs.
  void AmAttempt(JobIndex job, const ApplicationAttemptId& attempt);
  void Submitted(JobIndex job, const ApplicationSubmitted& submitted);
  void PortFound(JobIndex job, const PortUseFound& found);
  void AttemptStarted(Instant now, JobIndex job, const TaskAttemptStarted& started);
  void AttemptEnded(Instant now, JobIndex job, const TaskAttemptEnded& ended);
  void EpochSeen(JobIndex job, Epoch epoch);
  /// Restarts that its present application has told of.
  [[nodiscard]] std::int32_t RestartsOf(JobIndex job) { return AliveAt(job).restarts; }
  /// Whether it is the AM that the RM started last; one that is cut off may speak on.
  [[nodiscard]] bool IsLatestAm(const AmOrdered& fact) const;
  void CountRestart(JobIndex job) { ++AliveAt(job).restarts; }
  void Reached(JobIndex job, const VerdictReached& verdict);
  void ApplicationOver(Instant now, const ApplicationEnded& ended);
  void Ended(Instant now, JobIndex job, const JobEnded& ended);

  /// For the fields that need no more than an assignment.
  [[nodiscard]] JobResult& At(JobIndex job);
  [[nodiscard]] const std::vector<JobResult>& jobs() const { return jobs_; }
  [[nodiscard]] bool keeps_tasks() const { return keep_tasks_; }
  /// nullptr: no job of that name yet.
  [[nodiscard]] const JobResult* Find(std::string_view name, JobIndex* index = nullptr) const;
  /// Until the job has ended; nullptr after.
  [[nodiscard]] JobClock* ClockOf(JobIndex job);
  /// The job's GPU time up to `now`.
  [[nodiscard]] GpuSplit SplitAt(JobIndex job, Instant now) const;

  /// Drops the living part of a job that has ended and holds nothing.
  void DropIfOver(Instant now, JobIndex job, bool holds_containers);
  /// Closes every account, and ends jobs whose client did not live to see their end.
  [[nodiscard]] std::vector<JobResult> Take(Instant now);

 private:
  struct Alive {
    GpuAccount gpu;
    std::optional<JobClock> clock;     ///< From submission to the end.
    ApplicationId application;         ///< Whose attempts are being counted.
    std::int32_t resubmission = 0;     ///< Which of the job's applications that is.
    std::int32_t attempts_before = 0;  ///< Of earlier applications.
    std::int32_t attempt = 0;          ///< Highest of this one.
    std::int32_t restarts = 0;         ///< Of this one.
    std::optional<Instant> first_process;
    std::optional<Instant> application_over;
    StageTimes stages_then{};  ///< When the application was over.
    yarn::FinalApplicationStatus final_status = yarn::FinalApplicationStatus::kUndefined;
    std::optional<JobStatus> verdict;  ///< Of its present application.
  };

  [[nodiscard]] Alive& AliveAt(JobIndex job) { return alive_[job]; }
  [[nodiscard]] AttemptResult* AttemptAt(JobResult& job, const TaskId& task,
                                         const ProcessRef& process, const ContainerId& container);
  void Close(JobResult& job, const Alive& alive);
  static void NameLostMaster(Instant now, JobResult& job);
  static void StopClock(Instant at, JobResult& job, Alive& alive);

  bool always_tasks_;
  bool keep_tasks_ = true;
  std::vector<JobResult> jobs_;
  std::map<JobIndex, Alive> alive_;
  std::map<std::string, JobIndex, std::less<>> by_name_;
};

}  // namespace tfyarn::trace
