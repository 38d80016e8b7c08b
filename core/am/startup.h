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
  /// shrunk, the job wants more, or no node came in time. Nothing happens while training waits for
  /// nothing.
  void CheckWhatTrainingWaitsFor();
  /// The RM has restarted: its nodes have to register once more.
  void NodesComeAgain();
  /// Nodes that nobody has seen yet may lift `limit`: that is said, what was asked for stands, and
  /// it is judged again when they come or their time is over. False when that is over already.
  [[nodiscard]] bool WaitForNodes(const std::string& limit);
  [[nodiscard]] bool waits_for_nodes() const { return !limit_.empty(); }
  /// For people: "" or what the nodes seen so far do not allow, and until when more may come.
  [[nodiscard]] std::string Doubt() const;

 private:
  void AskForEverything();
  /// `groups`: what must be held at once.
  [[nodiscard]] bool FailIfNeverPossible(const std::vector<placement::SlotGroup>& groups);
  /// The RM counts nodes of which we were not told.
  [[nodiscard]] bool KnowsOfMoreNodes() const;
  /// When the client asked, the RM was so young that nodes may have been missing.
  [[nodiscard]] bool WasSurveyedTooEarly() const;
  [[nodiscard]] std::vector<placement::SlotGroup> TrainingGroups() const;

  AmParts& parts_;
  bool journal_read_ = false;
  Duration read_backoff_{};
  /// All nodes that were up when the client asked for the queue.
  yarn::PartitionAmounts counted_in_queue_;
  Resource maximum_container_;  ///< As far as it is known to stay.
  Instant nodes_come_until_{};
  std::string limit_;  ///< Why nodes are waited for; "" = they are not.
  std::string noted_limit_;
};

}  // namespace tfyarn::am
