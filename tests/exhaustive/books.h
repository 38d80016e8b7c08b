// What must hold on every path, counted from what the world does, not from what the AM says.
//
//   own-address       a process is spawned only under a spec that has its own host and port
//   one-spec          all processes of an epoch have one cluster spec, but for those beside the
//                     training; a collective never runs in two epochs
//   epochs            the epoch of a task's processes never falls
//   started-once      an attempt of a task is spawned once, and a task has one process; a task is
//                     spawned once and once more for each restart that was decided for it
//   durable           no launch, no order to start, no answer to an end, no restart and no verdict
//                     leaves the AM before storage has its entry
//   budgets           no more restarts are paid than the job allows
//   final-once        one verdict, one status for the RM, and both are the same
//   after-final       nothing is spawned under a verdict that its agent's AM has announced
//   released          when the AM has ended, no process runs; the agents that are left end with
//                     the application
//   progress          a verdict comes within a bound that follows from the job's deadlines
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/journal/journal.h"
#include "core/model/agent.h"
#include "core/model/am.h"
#include "tests/exhaustive/facts.h"
#include "tests/exhaustive/scope.h"

namespace tfyarn::exhaustive {

/// Tasks of a job have numbers, in its order.
[[nodiscard]] std::int8_t NumberOf(const JobSpec& job, const TaskId& task);
[[nodiscard]] TaskId TaskOf(const JobSpec& job, std::int8_t number);
[[nodiscard]] std::int8_t CountOf(const JobSpec& job);

class Books {
 public:
  explicit Books(const JobSpec& job);

  struct Living {
    std::int8_t task = -1;
    Epoch epoch;
    bool trains = false;
  };
  /// `own`: where its agent is and the port that it holds; `living`: processes that run now.
  void OnSpawn(const SpawnProcess& order, const HostPort& own, bool trains,
               const std::vector<Living>& living);
  void OnOrdered(const AmAction& action);
  void OnStored(std::string_view journal);
  void OnVerdict(const VerdictReached& verdict);
  void Break(std::string_view rule, const std::string& what);

  [[nodiscard]] const std::string& broken() const { return broken_; }
  [[nodiscard]] bool decided() const { return !status_.empty(); }
  /// Restarts that are stored, in their order.
  [[nodiscard]] const std::vector<Payment>& payments() const { return payments_; }
  /// Of all that matters for the future.
  void AppendTo(std::vector<std::uint64_t>& words) const;

 private:
  void Take(const journal::JournalEntry& entry);
  void CheckBudget(Budget budget);
  void OnOrdered(const SendToAgent& send);
  void OnOrdered(const CallNm& call);
  void OnOrdered(const CallRm& call);
  /// nullopt: as many as there are.
  [[nodiscard]] std::optional<std::int32_t> Allowed(Budget budget) const;

  const JobSpec* job_;
  std::string broken_;
  // What is stored. Lists of keys (books.cc) are sorted.
  std::vector<std::uint64_t> stored_;  ///< Launches and processes.
  std::size_t entries_ = 0;            ///< Of the journal that were taken in.
  std::vector<std::int64_t> ordered_;  ///< By task: its latest attempt that was to start; -1: none.
  std::vector<std::int64_t> settled_;  ///< By task: up to which its ends were decided on.
  std::vector<std::int32_t> restarts_;  ///< By task.
  std::vector<Payment> payments_;
  std::string status_stored_;  ///< Of the verdict, and its rule.
  // What was said and done.
  std::vector<std::uint64_t> spawned_;  ///< Task and attempt.
  std::vector<std::int32_t> spawns_;    ///< By task.
  std::vector<std::uint64_t> specs_;    ///< By epoch: of the training; 0: none yet.
  std::vector<Epoch> epochs_;           ///< By task: the latest that it was spawned in.
  std::size_t restarts_said_ = 0;
  std::string status_;
};

}  // namespace tfyarn::exhaustive
