// When each fault was noticed, and when what it hurt ran again. See FaultResult for what the two
// words mean here.
//
// A fault and what it did are matched by name: whatever the fault's target lists (a node, `JOB
// TASK`, a job, `am of JOB`) and what AMs then record about it. A fault that no AM noticed within
// 15 minutes after its end is no longer waited for, so that a later failure on the same node is
// not attributed to it.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/trace/record.h"
#include "core/trace/result.h"

namespace tfyarn::trace {

class FaultBook {
 public:
  static constexpr std::size_t kMaxFaults = 10'000;
  static constexpr Duration kPatience = std::chrono::minutes(15);

  void Began(Instant now, const FaultBegan& fault);
  void Ended(Instant now, const FaultEnded& fault);
  /// A process of the task ended without success on that host.
  void ProcessFailed(Instant now, JobIndex job, const std::string& job_name, const TaskId& task,
                     const std::string& host);
  /// A later AM attempt of the job started; the one before ran on that host.
  void AmReplaced(Instant now, JobIndex job, const std::string& job_name,
                  const std::string& host_before);
  /// A process of the task runs again. `progressing`: so does the job's training.
  void ProcessStarted(Instant now, JobIndex job, const TaskId& task, bool progressing);
  /// The job trains again, or its AM calls it running, or it has ended.
  void JobRecovered(Instant now, JobIndex job);

  [[nodiscard]] std::vector<FaultResult> Take() { return std::move(faults_); }
  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }

 private:
  void Detect(Instant now, const std::string& target, JobIndex job, const TaskId& task);
  template <class Predicate>
  void Heal(Instant now, JobIndex job, Predicate healed);
  [[nodiscard]] bool Expired(Instant now, std::size_t position) const;

  std::vector<FaultResult> faults_;
  std::uint64_t left_out_ = 0;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t>
      running_;  // (fault, instance) -> position
  std::map<std::string, std::vector<std::size_t>>
      by_target_;  // positions that may still be noticed
  std::map<std::size_t, std::set<std::pair<JobIndex, TaskId>>>
      hurt_;                                             // by position; never an empty set
  std::map<JobIndex, std::set<std::size_t>> hurt_jobs_;  // positions in whose hurt_ a job stands
};

}  // namespace tfyarn::trace
