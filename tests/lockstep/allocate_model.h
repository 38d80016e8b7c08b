// What YARN may answer the ApplicationMasters of one application: a model of the allocate contract
// that is small enough to be checked by reading.
//
// It is told what happened (a grant, an end, the loss of an AM or of the ResourceManager) and
// judges every answer. It decides nothing: which container comes from which node, and when, is the
// scheduler's choice, and only its legality is judged. Written from the documented contract
// (docs/fakes.md and the sources it names: ApplicationMasterService, DefaultAMSProcessor,
// AppSchedulingInfo, RMAppAttemptImpl), not from the fake's code.
//
// Two precisions. `exact`: the model hears of each grant and end at the moment the ResourceManager
// does (fakes, stepped by hand). Otherwise they are inferred from answers, and each rule allows
// what may have crossed on the way (a cluster behind sockets).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "core/model/ids.h"
#include "core/model/resource.h"
#include "core/model/yarn.h"

namespace tfyarn::lockstep {

template <class Response>
using Answer = tl::expected<Response, yarn::RpcError>;

/// Exit status of containers that were released or lost.
inline constexpr std::int32_t kAborted = -100;

/// Where a node is, for the rules of grants.
struct Place {
  std::string rack;
  std::string partition;
};

struct Terms {
  bool exact = true;
  bool keep_containers = false;         ///< keep_containers_across_application_attempts.
  Resource minimum;                     ///< Sizes are rounded up to multiples of it.
  Resource maximum;                     ///< More than this is refused.
  std::map<std::string, Place> places;  ///< By host.
};

/// Outstanding rows and the blacklist of one attempt.
struct Asks {
  /// (priority, allocation request id) to resource name to the row.
  using Key = std::pair<std::int32_t, std::int64_t>;
  std::map<Key, std::map<std::string, yarn::ResourceRequest>> rows;
  std::set<std::string> blacklist;

  /// Why this grant answers no row; empty when it does.
  [[nodiscard]] std::string WhyNot(const yarn::Container& grant, const Terms& terms) const;
  /// Takes the grant off the rows it answers, and returns them with a count of one each.
  std::vector<yarn::ResourceRequest> Take(const yarn::Container& grant, const Terms& terms);
  /// It has ended before its AM heard of it: the rows are open again.
  void TakeBack(const std::vector<yarn::ResourceRequest>& taken);
};

enum class Life {
  kGranted,  ///< By the scheduler; the AM does not know.
  kHeld,     ///< Delivered to an AM.
  kRunning,  ///< Its node has said so.
  kAway,     ///< The ResourceManager started anew and its node has not brought it back.
  kEnded,    ///< The AM is to be told.
  kTold,     ///< In the last answer, which the next allocate acknowledges.
  kOver,     ///< Settled.
};

struct Held {
  yarn::Container container;
  Life life = Life::kGranted;
  std::vector<yarn::ResourceRequest> taken;  ///< Of the rows, by the grant.
  std::set<std::int32_t> statuses;           ///< With which it may be reported as completed.
  bool owed = true;       ///< The AM must be told of its end; otherwise it may be.
  bool released = false;  ///< While it was away.
};

class AllocateModel {
 public:
  explicit AllocateModel(Terms terms) : terms_(std::move(terms)) {}

  // ---- what happened

  void AttemptBegins(const ApplicationAttemptId& attempt);
  /// The ResourceManager knows that the AM is gone.
  void AttemptEnds();
  void ApplicationEnds();
  /// The ResourceManager was lost; its successor knows what is stored and what nodes bring.
  void RmRestarts();
  /// So long after its start it keeps releases of containers whose nodes are not back.
  void ReleasesAreKept(bool kept) { releases_are_kept_ = kept; }
  /// A grant of the scheduler (exact).
  void Granted(const yarn::Container& container);
  void Runs(const ContainerId& id);
  void Ends(const ContainerId& id, std::int32_t status);
  /// A node registered with it at a ResourceManager that did not know it.
  void Returns(const ContainerId& id);
  /// As it was before the submission.
  void NodeIs(const NodeId& node, yarn::NodeState state) { nodes_[node] = state; }
  /// Its AM's own container has ended, or was given up with its node. An AM is not told; but a
  /// later ResourceManager, to which a node brings it, takes it for a container like others.
  void AmEnded(const yarn::Container& container, std::int32_t status) {
    containers_.emplace(container.id,
                        Held{.container = container, .life = Life::kOver, .statuses = {status}});
  }
  void NodeChanges(const NodeId& node, yarn::NodeState state);
  /// Source: ResourceTrackerService.java#registerNodeManager: tokens given for it are forgotten.
  void NodeRegisters(const NodeId& node) { tokens_sent_.erase(node); }
  void WillBePreempted(const ContainerId& id) { announced_.insert(id); }

  // ---- what was answered

  void Judge(const Answer<yarn::RegisterApplicationMasterResponse>& answer);
  void Judge(const yarn::AllocateRequest& request, const Answer<yarn::AllocateResponse>& answer);
  void Judge(const Answer<yarn::FinishApplicationMasterResponse>& answer);

  // ---- what the model believes

  [[nodiscard]] const std::map<ContainerId, Held>& containers() const { return containers_; }
  [[nodiscard]] const Held* Find(const ContainerId& id) const;
  /// Held by the scheduler for this application.
  [[nodiscard]] static bool IsLive(const Held& held) { return held.life <= Life::kRunning; }
  [[nodiscard]] std::vector<ContainerId> In(Life life) const;
  [[nodiscard]] const Asks& asks() const { return now_; }
  [[nodiscard]] const ApplicationAttemptId& attempt() const { return attempt_; }
  [[nodiscard]] std::int32_t response_id() const { return response_id_; }
  [[nodiscard]] bool registered() const { return registered_; }
  [[nodiscard]] bool finishing() const { return finishing_; }
  [[nodiscard]] bool attempt_runs() const { return attempt_runs_; }
  [[nodiscard]] bool over() const { return over_; }
  [[nodiscard]] const Terms& terms() const { return terms_; }
  [[nodiscard]] const std::vector<std::string>& broken() const { return broken_; }

 private:
  void Break(std::string what) { broken_.push_back(std::move(what)); }
  void Expect(bool holds, const std::string& what) {
    if (!holds) Break(what);
  }
  [[nodiscard]] std::optional<yarn::RpcErrorCode> Refusal(
      const yarn::AllocateRequest& request) const;
  void JudgeRepeated(const yarn::AllocateResponse& answer);
  void Acknowledge();
  void Release(const std::vector<ContainerId>& ids);
  void TakeAsks(const yarn::AllocateRequest& request);
  void JudgeGrants(const yarn::AllocateResponse& answer);
  void JudgeCompleted(const yarn::AllocateResponse& answer);
  void JudgeNodes(const yarn::AllocateResponse& answer);
  void JudgePreempted(const yarn::AllocateResponse& answer);
  void JudgeTokens(const std::vector<yarn::Container>& delivered,
                   const std::vector<yarn::NmToken>& tokens);
  void Leave(Held& held, std::int32_t status, bool owed);
  /// A node may bring it to a ResourceManager that does not know it.
  [[nodiscard]] static bool MayReturn(const Held& held) {
    return held.life == Life::kAway || (held.life == Life::kOver && !held.owed);
  }
  /// To an AM as a previous attempt's; an end may not have been heard of.
  [[nodiscard]] bool MayBeGiven(const Held& held) const {
    return held.life <= Life::kAway || (!terms_.exact && held.life == Life::kEnded);
  }
  /// Of this attempt, or of one whose containers are kept.
  [[nodiscard]] bool IsOfLine(const ContainerId& id) const {
    return terms_.keep_containers || (attempt_runs_ && id.application_attempt == attempt_);
  }

  Terms terms_;
  ApplicationAttemptId attempt_;
  bool attempt_runs_ = false;
  bool registered_ = false;
  bool registered_before_ = false;  // this attempt, with an earlier ResourceManager
  bool finishing_ = false;
  bool over_ = false;
  bool releases_are_kept_ = false;
  std::int32_t response_id_ = 0;
  std::optional<yarn::AllocateResponse> last_;
  Asks now_;
  Asks before_;                   // as of the answer before
  std::set<Asks::Key> replaced_;  // by the last request
  std::map<ContainerId, Held> containers_;
  std::set<NodeId> tokens_sent_;
  std::map<NodeId, yarn::NodeState> nodes_;  // as they are
  std::set<NodeId> changed_;                 // since the last answer of this attempt
  std::set<NodeId> may_have_changed_;        // since the submission
  std::set<ContainerId> announced_;
  std::vector<std::string> broken_;
};

}  // namespace tfyarn::lockstep
