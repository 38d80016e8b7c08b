// How each job came out, counted from what HDFS stored and what nodes started.
//
// trace::JobResult counts what the ApplicationMaster announced. An AM that dies between an entry
// and its announcement leaves one too few there: two runs that must come to the same are compared
// by these counts.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/trace/record.h"

namespace tfyarn::sim {

struct JobTally {
  std::string job;
  /// Restarts that the journals of its applications have, by who paid, but for the next.
  std::map<Budget, std::int32_t> restarts;
  /// Containers of tasks that YARN took with the application attempt (class am-lost), or whose
  /// agent never found the next AM.
  std::int32_t am_lost = 0;
  /// What befell it, not by the AM's order: "worker:1 ends with 1", "a container ends with -102",
  /// "worker:1 ends after chief:0", where both do so at once.
  std::map<std::string, std::int32_t> blows;
  /// Tasks of which a process failed as one of another ended with 0, at once: either may be heard
  /// first.
  std::set<std::string> failed_beside_success;
  /// Tasks of which a process failed as one of another did, at once.
  std::set<std::string> failed_together;
  /// Of tasks around a ps one was taken for hung, as it alone still ran: which an AM that has not
  /// heard of the others' ends in time does not find.
  bool last_one_hung = false;
  /// An evaluator or TensorBoard ended as another task did, at once, one of them not with 0: an AM
  /// that hears of both may decide once on them, and one that dies in between leaves one to the
  /// next.
  bool failed_beside_the_gang = false;
  bool ok_starts_again = false;    ///< A restart had a process as its cause that ended with 0.
  bool failed_by_am_lost = false;  ///< A verdict has such a container as its cause.
  std::map<TaskId, std::int32_t> starts;  ///< Processes that were started for each task.
  /// How often its journals have it start again: more often than it did, where the job ended first.
  std::map<TaskId, std::int32_t> restarted;
  /// Failed verdicts and successes that the journals have: one for each application.
  std::int32_t verdicts = 0;
  friend bool operator==(const JobTally&, const JobTally&) = default;
};

class TallyBook {
 public:
  /// HDFS has taken these bytes into the journal of that application.
  void Stored(trace::JobIndex job, const ApplicationId& application, std::string_view bytes);
  void Observe(const trace::TraceRecord& record);
  /// In order of submission.
  [[nodiscard]] std::vector<JobTally> Finish() const;

 private:
  struct Job {
    JobTally tally;
    std::map<ApplicationId, std::string> journals;
    std::map<ContainerId, TaskId> running;  ///< Processes that were sent no signal.
    std::set<ContainerId> launched;         ///< In which no agent has started yet.
    std::set<ContainerId> marked;           ///< By the RM's notices.
    std::string last_end;                   ///< The task whose process ended last.
    Instant last_end_at{};
    bool last_failed = false;
    bool last_beside = false;
  };
  std::map<trace::JobIndex, Job> jobs_;
};

}  // namespace tfyarn::sim
