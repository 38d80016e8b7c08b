// The inside of the fake ResourceManager: its parts, put together.
//
// The records (rm_context.h) are shared by all. Applications change them, nodes use applications,
// and what callers are answered is in a service for clients, one for masters, one for trackers, as
// in YARN; each part uses only those before it. This class hands events, calls and timers to them,
// turns the keys, and writes down and reads what the next RM must know. Not for others:
// resource_manager.h is the face.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "fakes/yarn-rm/messages.h"
#include "fakes/yarn-rm/rm_applications.h"
#include "fakes/yarn-rm/rm_books.h"
#include "fakes/yarn-rm/rm_clients.h"
#include "fakes/yarn-rm/rm_context.h"
#include "fakes/yarn-rm/rm_masters.h"
#include "fakes/yarn-rm/rm_nodes.h"
#include "fakes/yarn-rm/rm_options.h"
#include "fakes/yarn-rm/rm_outbox.h"
#include "fakes/yarn-rm/rm_state_store.h"
#include "fakes/yarn-rm/rm_timers.h"
#include "fakes/yarn-rm/rm_trackers.h"
#include "fakes/yarn-rm/tokens.h"

namespace tfyarn::fakes {

class RmCore {
 public:
  RmCore(RmOptions options, std::uint64_t seed);
  RmCore(RmOptions options, const RmStateStore& store, std::uint64_t seed, Instant now);
  RmCore(const RmCore&) = delete;
  RmCore& operator=(const RmCore&) = delete;

  void Step(Instant now, const RmEvent& event, std::vector<RmAction>& actions);
  [[nodiscard]] std::optional<Instant> next_deadline() const;
  [[nodiscard]] const RmBooks& books() const { return records_.books; }
  [[nodiscard]] RmStateStore StateStore() const;
  [[nodiscard]] std::shared_ptr<const TokenBook> tokens() const { return records_.tokens; }
  [[nodiscard]] yarn::Token AmRmTokenOf(const ApplicationAttemptId& attempt) const;
  [[nodiscard]] bool HasNewsForNode(const NodeId& id) const;
  [[nodiscard]] bool ConfirmNewsForNode(const NodeId& id);

 private:
  void On(const RmCall& call);
  void On(const NmAnswered& answer) { applications_.OnLaunchAnswer(answer); }
  void On(const RmDeadlineReached& event);
  void On(const AmHeartbeatsElided& elided);
  void On(const NodeHeartbeatsElided& elided);
  void On(const AmVouched& vouched) { applications_.OnVouched(vouched); }
  void On(const NodeVouched& vouched) { nodes_.OnVouched(vouched); }
  void On(const DecommissionNode& order) { nodes_.Decommission(order); }
  void On(const RecommissionNode& order) { nodes_.Recommission(order); }
  void On(const PreemptContainer& order) { applications_.Preempt(order); }
  void On(const ForgetRegistration& order) { masters_.Forget(order); }
  void On(const ExpireAmRmToken& order) { masters_.Expire(order); }

  template <class Request>
  [[nodiscard]] yarn::RmResponse Answer(const RmCall& call, const Request& request) {
    if constexpr (requires { clients_.Answer(call, request); }) {
      return clients_.Answer(call, request);
    } else if constexpr (requires { masters_.Answer(call, request); }) {
      return masters_.Answer(call, request);
    } else {
      return trackers_.Answer(call, request);
    }
  }

  void OnTimer(const RmTimers::Timer& timer);
  void ArmKeys();
  void TurnKey(RmTimers::Kind kind, MasterKey& key);
  void SpreadKey(RmTimers::Kind kind);
  void Recover(const RmStateStore& store);

  RmRecords records_;
  RmOutbox out_;
  RmTimers timers_;
  RmApplications applications_;
  RmNodes nodes_;
  RmClientService clients_;
  RmMasterService masters_;
  RmTrackerService trackers_;
};

}  // namespace tfyarn::fakes
