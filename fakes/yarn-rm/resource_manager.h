// A fake ResourceManager: YARN's rules for applications, attempts, containers and nodes, as one
// state machine.
//
// It answers calls, assigns containers by the scheduler of its options, and knows its callers only
// by YARN's records. It is as forgiving as a real RM and suffers as a real one does;
// every behaviour cites the Hadoop class that has it, or says "assumption" (3.4.1 was read, 3.4.2
// was run).
//
// Announcements. NewsForAttempt, NewsForNode and NewsForClient say whose next call would not be
// answered idly; a host that carries out every heartbeat may ignore them. Under `capacity`
// containers are assigned when nodes beat, so demand makes nodes news: nodes whose beat is due
// soonest are told first, and told no earlier than RmOptions::heartbeat_jitter plus a slot of 1/128
// period before they are due; a beat that is in flight when it becomes news must arrive. After a
// restart the new RM knows no node and no registered AM: the next call of each is news without
// being announced.
//
// Assumptions for the whole: state transitions inside the RM take no time; every call opens a
// connection (a token whose key has expired is refused at once); a token of kind kNone means that
// the host vouches for the caller.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/model/ids.h"
#include "core/model/time.h"
#include "core/model/yarn.h"
#include "fakes/yarn-rm/messages.h"
#include "fakes/yarn-rm/rm_books.h"
#include "fakes/yarn-rm/rm_options.h"
#include "fakes/yarn-rm/rm_state_store.h"
#include "fakes/yarn-rm/tokens.h"

namespace tfyarn::fakes {

class RmCore;

class ResourceManager {
 public:
  /// The first RM of a cluster; it starts at Instant{}.
  ResourceManager(RmOptions options, std::uint64_t seed);
  /// The successor of the RM that wrote `store`.
  ResourceManager(RmOptions options, const RmStateStore& store, std::uint64_t seed, Instant now);
  ~ResourceManager();
  ResourceManager(ResourceManager&&) noexcept;
  ResourceManager& operator=(ResourceManager&&) noexcept;

  void Step(Instant now, const RmEvent& event, std::vector<RmAction>& actions);
  /// Under a scheduler that assigns at once its pass is a deadline at the same instant as what
  /// caused it.
  [[nodiscard]] std::optional<Instant> next_deadline() const;
  /// The RM sends no heartbeats: the same.
  [[nodiscard]] std::optional<Instant> next_decision() const { return next_deadline(); }
  [[nodiscard]] const RmBooks& books() const;

  /// What survives this RM process.
  [[nodiscard]] RmStateStore state_store() const;
  /// For the NMs, which read container tokens by it. The same for all RMs of a cluster.
  [[nodiscard]] std::shared_ptr<const TokenBook> tokens() const;
  /// The AMRM token that the RM gives an AM in its credentials at launch.
  [[nodiscard]] yarn::Token AmRmTokenOf(const ApplicationAttemptId& attempt) const;
  /// Whether the next heartbeat of that node would do something now; true for a node it does not
  /// know.
  [[nodiscard]] bool HasNewsForNode(const NodeId& node) const;
  /// For a host about to carry out a heartbeat only because it was announced: false = what was
  /// announced has been served by others, the heartbeat may be left out like any idle one, and is
  /// announced again should that change.
  [[nodiscard]] bool ConfirmNewsForNode(const NodeId& node);

 private:
  std::unique_ptr<RmCore> core_;
};

}  // namespace tfyarn::fakes
