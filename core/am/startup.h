// From the AM's first event to the first ask.
//
// The AM reads the journal, stores that this attempt exists, publishes its address, registers with
// the RM, takes over what an earlier attempt left, and asks for what is missing. A job whose
// training can never fit fails here; where a young RM may not have seen all its nodes, the AM waits
// for them.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/journal/journal.h"
#include "core/model/am.h"
#include "core/placement/feasibility.h"
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
  /// The RM knows this attempt.
  void OnRegistered(const yarn::RegisterApplicationMasterResponse& response, bool blindly);
  /// Fails the job when what its training waits for can never be met any more: the cluster has
  /// shrunk, the job wants more, or no node came in time. Nothing happens while training waits for
  /// nothing.
  void CheckWhatTrainingWaitsFor();
  /// The RM has restarted: its nodes have to register once more.
  void NodesComeAgain();
  /// The RM refuses a size. True when nodes that it has not seen yet may be larger: they are waited
  /// for.
  [[nodiscard]] bool OnSizeRefused(const std::string& limit);
  /// So many nodes the RM counts now that it has registered this attempt.
  void OnNodesCounted(std::int32_t nodes);
  /// An answer of the RM: so many nodes it counts. `changed`: reports that the allocator has taken
  /// in since the last call.
  void TakeNodes(std::int32_t counted, const std::vector<yarn::NodeReport>& changed);
  [[nodiscard]] bool waits_for_nodes() const { return !limit_.empty(); }
  /// Deadline::kNodesMayCome.
  [[nodiscard]] Instant judges_nodes_at() const;
  /// For people: what the nodes seen so far do not allow, and for how long more may come. Only
  /// while they are waited for.
  [[nodiscard]] std::string WaitingFor() const;

 private:
  void AskForEverything();
  void JudgeWhenCounted(const std::vector<placement::SlotGroup>& groups);
  void WaitIfTooLargeSoFar(const std::vector<placement::SlotGroup>& groups,
                           const Resource& largest);
  /// `groups`: what must be held at once.
  [[nodiscard]] bool FailIfNeverPossible(const std::vector<placement::SlotGroup>& groups);
  void FailAsImpossible(const std::string& limit);
  void TakeJournalBack(const journal::JournalReading& reading);
  /// Until nodes come that may lift `limit` nothing is asked for and nothing held: that is said,
  /// and it is judged again when some come or their time is over.
  void WaitForNodes(const std::string& limit);
  void WaitNoMore();
  /// What the nodes that are known cannot hold, or the queue or a container because of them.
  [[nodiscard]] std::optional<placement::Infeasible> LimitOfNodes(
      const std::vector<placement::SlotGroup>& groups) const;
  /// The RM has seen every node that we know.
  [[nodiscard]] bool RmKnowsThemAll() const;
  /// When the client asked, the RM was so young that nodes may have been missing.
  [[nodiscard]] bool WasSurveyedTooEarly() const;
  [[nodiscard]] std::vector<placement::SlotGroup> TrainingGroups() const;
  /// Nothing runs before what does not train has its container, too.
  [[nodiscard]] bool WaitsForEveryTask() const;

  AmParts& parts_;
  bool journal_read_ = false;
  bool journal_lost_ = false;        ///< Another attempt has taken it; it is taken back.
  bool judge_when_counted_ = false;  ///< After an AM restart, until the RM has counted its nodes.
  Duration read_backoff_{};
  /// All nodes that were up when the client asked for the queue.
  yarn::PartitionAmounts counted_in_queue_;
  std::set<std::string> partitions_;  ///< In which tasks of the job may run; "" = the default one.
  std::int32_t known_ = 0;            ///< Nodes that are up as far as we were told.
  std::int32_t out_of_reach_ = 0;     ///< Of these, in other partitions.
  Instant nodes_come_until_{};
  std::string limit_;          ///< Why nodes are waited for; "" = they are not.
  bool size_refused_ = false;  ///< By the RM, which knows of no node that is large enough.
};

}  // namespace tfyarn::am
