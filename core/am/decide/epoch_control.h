// Epochs: which cluster spec holds, and when the processes of the next one start.
//
// An epoch is prepared from the decision that something must start until every task that starts in
// it has an agent, a known address and no process; under multi-worker also until no process of the
// epoch before can be alive anywhere. Then its spec is assembled once, journalled, and only when
// that is durable are its processes ordered.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/journal/held_orders.h"
#include "core/model/cluster_spec.h"
#include "core/model/ids.h"
#include "core/model/task_index.h"
#include "core/model/time.h"

namespace tfyarn::am {

struct AmParts;

class EpochControl {
 public:
  explicit EpochControl(AmParts& parts) : parts_(parts) {}

  /// A new epoch is decided on; a no-op while one is being prepared whose spec is not assembled.
  void Prepare();
  /// Assembles the spec if everything is there. Once at the end of every step.
  void TryCommit();
  /// Orders the task's process if it starts alone and everything it needs is there.
  void TryStartAlone(TaskIndex task);
  /// The task's next process does not start before the ledger's `rests_until`.
  void LetRest(TaskIndex task);
  /// Deadline::kRested.
  void OnRested(TaskIndex task);
  /// Entries have become durable.
  void OnDurable();
  /// After an AM restart: this epoch had begun.
  void Restore(SpecRef spec);

  /// A process of that epoch was met, of which nothing is known: the next one has a higher number.
  void SkipBeyond(Epoch epoch);
  /// Others hold the task's present address already, or are about to: losing it takes a new epoch.
  [[nodiscard]] bool SpecIsFixedFor(TaskIndex task) const;
  /// Why the processes of the epoch under preparation are not started yet, for people.
  [[nodiscard]] std::string WaitingFor() const;

 private:
  enum class State : std::uint8_t {
    kGathering,   ///< Containers, addresses, ends of old processes are awaited.
    kCommitting,  ///< EpochBegan is on its way to the journal.
    kBegun,
  };
  struct LoneStart {
    TaskIndex task;
    Incarnation incarnation;
    Epoch epoch;  // Under which it was written down.
  };

  [[nodiscard]] bool IsReady() const;
  [[nodiscard]] bool OneFollows() const;
  [[nodiscard]] bool StartsOneByOne() const;
  [[nodiscard]] ClusterSpec Assemble() const;
  void Commit();
  void Begin();
  void LetNonTrainingFollow();
  void StartAlone(JournalSeq entry, const LoneStart& lone);

  AmParts& parts_;
  State state_ = State::kBegun;
  SpecRef next_spec_;  // with kCommitting
  JournalSeq commit_seq_;
  std::vector<TaskIndex> starting_;  // with kCommitting
  journal::HeldOrders<LoneStart> lone_;
};

}  // namespace tfyarn::am
