// From the AM's first event to the first ask, and what every step does last.
//
// Begin: read the journal, say that this attempt exists, publish its address, register with the RM,
// take over what an earlier attempt left, ask for what is missing. Settle: after what an event
// brought, everything that may follow from the new state follows, in one fixed order.
#pragma once

#include <string>

#include "core/model/am.h"

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

 private:
  void AskForEverything();
  [[nodiscard]] bool FailIfNeverPossible(const Resource& maximum_container);

  AmParts& parts_;
  bool journal_read_ = false;
  Duration read_backoff_{};
};

}  // namespace tfyarn::am
