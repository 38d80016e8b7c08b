// From the AM's first event to the first ask.
//
// The AM reads the journal, stores that this attempt exists, publishes its address, registers with
// the RM, takes over what an earlier attempt left, and asks for what is missing. A job whose
// training can never fit fails here; where a young RM may not have seen all its nodes, the AM waits
// for them.
#pragma once

#include <string>
#include <vector>

#include "core/allocation/allocation.h"
#include "core/journal/journal.h"
#include "core/model/am.h"
#include "core/placement/place_gang.h"

namespace tfyarn::am {

struct AmParts;

class Startup {
 public:
  explicit Startup(AmParts& parts) : parts_(parts) {}

  void OnStarted(const AmStarted& started);
  void OnJournalRead(const std::string& bytes);
  void OnJournalFailed(const JournalFailed& failed);
  /// Deadline::kJournalRetry.
  void OnJournalRetry();
  /// The cluster knows this attempt.
  void OnAdmitted(const allocation::Admission& admission);
  /// Fails the job when what its training waits for can never be met any more: the cluster has
  /// shrunk, the job wants more, or no node came in time. Nothing happens while training waits for
  /// nothing.
  void CheckWhatTrainingWaitsFor();
  /// The RM refuses a size. True when nodes that it has not seen yet may be larger: they are waited
  /// for.
  [[nodiscard]] bool OnSizeRefused(const std::string& limit);
  /// What training holds and waits for, in the sizes wanted now. A task that has ended needs
  /// nothing any more.
  [[nodiscard]] std::vector<placement::SlotGroup> TrainingGroups() const;

 private:
  void AskForEverything();
  /// `groups`: what must be held at once.
  [[nodiscard]] bool FailIfNeverPossible(const std::vector<placement::SlotGroup>& groups);
  void FailAsImpossible(const std::string& limit);
  void TakeJournalBack(const journal::JournalReading& reading);
  /// Until nodes come that may lift `limit` nothing is asked for and nothing held: that is said,
  /// and it is judged again when some come or their time is over.
  void WaitForNodes(const std::string& limit);
  /// Nothing runs before what does not train has its container, too.
  [[nodiscard]] bool WaitsForEveryTask() const;

  AmParts& parts_;
  bool journal_read_ = false;
  bool journal_lost_ = false;  ///< Another attempt has taken it; it is taken back.
  Duration read_backoff_{};
};

}  // namespace tfyarn::am
