// The job's states and verdict, and what every step does last.
//
//   allocating -> launching -> registering -> running -> draining -> finished
//
// A restart of everything goes back to the stage of the task that has the furthest to go; a restart
// of one task leaves a running job running. `draining` begins with the durable verdict and
// `finished` is terminal. Every other state may go to `draining`.
#pragma once

#include <optional>

#include "core/model/am.h"
#include "core/model/task_index.h"
#include "core/model/time.h"

namespace tfyarn::am {

struct AmParts;

class JobLife {
 public:
  explicit JobLife(AmParts& parts) : parts_(parts) {}

  /// Everything that may follow from the state after an event, in one fixed order, and what goes
  /// out last.
  void Settle();
  /// Success that is heard of at the very moment at which something is due stands.
  void LetSuccessStand();
  void OnStartDeadline();
  void OnRunDeadline();
  [[nodiscard]] Instant start_by() const;
  [[nodiscard]] Instant run_until() const;

 private:
  enum class Judged { kAll, kSuccess };
  /// What follows from processes that have begun or ended, and from outcomes.
  void FollowProgress();
  void Judge(Judged judged);
  void CompleteGang();
  void UpdateState();
  void StoreKeptOff();
  void Reconcile();
  void ExplainWaiting();
  /// The training tasks have their containers, and nothing but their start is missing.
  [[nodiscard]] bool MustStart(JobState stage) const;
  [[nodiscard]] JobState StageOfTraining() const;
  [[nodiscard]] bool AllSettled() const;
  /// The first cluster spec is out.
  [[nodiscard]] bool HasBegun() const;

  AmParts& parts_;
  bool judge_again_ = false;  ///< The job has failed, unless agents that look for this AM say more.
  bool run_is_over_ = false;  ///< deadlines.run has passed.
  bool run_overdue_ = false;  ///< deadlines.run is over, and agents have yet to find this AM.
  JobState explained_ = JobState::kSubmitted;  ///< What waiting_for was last made for.
};

}  // namespace tfyarn::am
