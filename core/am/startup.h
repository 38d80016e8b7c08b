// From the AM's first event to the first ask, and what every step does last.
//
// Begin: read the journal, say that this attempt exists, publish its address, register with the RM,
// take over what an earlier attempt left, ask for what is missing. Settle: after what an event
// brought, everything that may follow from the new state follows, in one fixed order.
#pragma once

#include <string>
#include <vector>

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
  /// Timer::kJournalRetry.
  void OnJournalRetry();
  /// The RM knows this attempt.
  void OnRegistered(const yarn::RegisterApplicationMasterResponse& response, bool blindly);
  /// Fails the job when what its training waits for can never be met any more: the cluster has
  /// shrunk, or the job wants more. Nothing happens while training waits for nothing.
  void CheckWhatTrainingWaitsFor();

 private:
  void AskForEverything();
  /// `groups`: what must be held at once.
  [[nodiscard]] bool FailIfNeverPossible(const std::vector<placement::SlotGroup>& groups);
  [[nodiscard]] std::vector<placement::SlotGroup> TrainingGroups() const;

  AmParts& parts_;
  bool journal_read_ = false;
  Duration read_backoff_{};
};

}  // namespace tfyarn::am
