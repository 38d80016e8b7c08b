// durable-before-visible: what leaves an ApplicationMaster and rests on a journal entry leaves it
// only when HDFS has that entry.
//
// The books are the fake HDFS's: an entry counts from the instant at which the NameNode has taken
// the append, whether or not the AM hears of it, and whether or not its writer still lives. That is
// what the next attempt would read. docs/invariants.md says which order rests on which entry.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/journal/journal.h"
#include "core/model/am.h"
#include "core/model/job_spec.h"
#include "core/trace/record.h"

namespace tfyarn::sim {

/// The verdict that an AM tells the RM so.
[[nodiscard]] JobStatus StatusOf(yarn::FinalApplicationStatus status);

class DurableWatch {
 public:
  /// The job is about to be created. Without its spec every task counts as one that trains.
  void JobSubmitted(trace::JobIndex job, std::shared_ptr<const JobSpec> spec);
  /// HDFS has taken these bytes into the journal of that application.
  void Stored(trace::JobIndex job, const ApplicationId& application, std::string_view bytes);
  void Observe(const trace::AmTold& told);
  void Observe(const trace::AmOrdered& ordered);
  void Observe(const trace::AgentTold& told);
  /// Nothing of the job is asked for any more.
  void Forget(trace::JobIndex job);

  /// How often something was looked up.
  [[nodiscard]] std::uint64_t judged() const { return judged_; }
  [[nodiscard]] bool sound() const { return broken_.empty(); }
  /// What was wrong since the last call: what, which id, which entry was missing.
  [[nodiscard]] std::vector<std::string> TakeNew() { return std::exchange(broken_, {}); }

 private:
  /// What HDFS has of one task.
  struct TaskEntries {
    std::vector<TaskAttempt> starts;     ///< That may be ordered.
    std::int32_t restarts = 0;           ///< Decisions that name it.
    std::optional<TaskAttempt> decided;  ///< Ends up to this attempt's are decided on.
    std::vector<TaskAttempt> seen;       ///< Failures, and ends because of them: undecided.
    std::vector<TaskAttempt> ordered;    ///< Not from HDFS: attempts whose start was ordered.
  };
  /// What HDFS has of one application.
  struct Journal {
    std::vector<ContainerId> launches;  ///< In order.
    std::map<Epoch, SpecRef> specs;
    std::map<TaskId, TaskEntries> tasks;
    std::int64_t restarts = 0;
    std::int64_t restarts_told = 0;
    std::optional<JobStatus> verdict;
    /// Not from HDFS: the files that success requires are looked for, so success is decided, and
    /// what ends from then on changes nothing.
    bool evidence_sought = false;
  };
  /// The end of a container's last process: by itself, and the AM has been told.
  struct End {
    TaskId task;
    TaskAttempt attempt;
    bool told = false;
    std::optional<TaskAttempt> ran;  ///< Its latest process, whether or not it has ended.
  };

  void Store(Journal& journal, const journal::JournalEntry& entry);
  Journal& JournalOf(trace::JobIndex job, const ContainerId& container);
  Journal& JournalOf(const trace::AmOrdered& ordered);
  void Judge(const CallNm& call, trace::JobIndex job);
  void JudgeTaken(const Journal& journal, const ContainerId& container, std::string_view how,
                  const std::map<ContainerId, End>& ends);
  void Judge(Journal& journal, const SendToAgent& send, trace::JobIndex job);
  void JudgeStart(Journal& journal, const StartProcess& start, const JobSpec* job);
  void Missing(const std::string& what, const std::string& entry);
  [[nodiscard]] static bool MayEnd(const Journal& journal, const TaskId& task, TaskAttempt attempt);
  [[nodiscard]] static bool IsDecided(const Journal& journal, const TaskId& task,
                                      TaskAttempt attempt);

  using Key = std::pair<std::uint32_t, ApplicationId>;
  std::map<Key, Journal> journals_;
  /// By job and resubmission, as the records of AMs have them.
  std::map<std::pair<std::uint32_t, std::optional<std::int32_t>>, ApplicationId> applications_;
  std::map<std::uint32_t, std::map<ContainerId, End>> ends_;
  /// By job: the latest AM that has given an order.
  std::map<std::uint32_t, std::pair<std::optional<std::int32_t>, std::int32_t>> acting_;
  std::map<std::uint32_t, std::shared_ptr<const JobSpec>> specs_;
  std::uint64_t judged_ = 0;
  std::vector<std::string> broken_;
};

}  // namespace tfyarn::sim
