// The protocol of one AM attempt with the ResourceManager: register, allocate heartbeat, finish.
//
// It keeps response ids, repeats what was not answered, registers again after an RM restart, and
// tells the RM the difference between what is wanted and what the RM knows. What to want is decided
// elsewhere and set here as a whole: asks, blacklist, releases are all absolute, so that a resync
// only has to forget what was told.
//
// The caller steps it in this order: replies to OnReplied, then its own decisions (SetAsks,
// Release, ...), and OnTime last in every step but those of HeartbeatsElided and PeerVouched. Only
// OnTime sends.
//
// Source: hadoop-yarn-client AMRMClientImpl.java, hadoop-yarn-server-resourcemanager
// ApplicationMasterService.java.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/allocation/ask_book.h"
#include "core/model/am.h"
#include "core/model/elision.h"
#include "core/model/ids.h"
#include "core/model/time.h"
#include "core/model/yarn.h"

namespace tfyarn::allocation {

struct RmSessionOptions {
  Duration heartbeat = 1s;  ///< Allocate's grid; well below the RM's AM expiry.
  /// Least time between two allocates. What is new goes so soon, and grants are asked for as often
  /// for a while: a node's heartbeat brings them, and waiting for a slow answer of ours beside that
  /// is lost time.
  Duration fast_heartbeat = 1s;
  Duration fast_for = 10s;       ///< From the last change of asks; a longer wait is not urgent.
  Duration reply_timeout = 10s;  ///< An unanswered call is repeated after this time.
  Duration register_backoff_first = 1s;
  Duration register_backoff_max = 10s;
  Duration finish_interval = 100ms;  ///< Between finish calls that say "not yet".
  Duration finish_retry = 1s;        ///< After a finish call without an answer.
};

/// What one reply brought. At most one of the optional parts is set, but for `resynced` and
/// `nodes_counted`.
struct RmNews {
  /// The first registration of this attempt succeeded.
  std::optional<yarn::RegisterApplicationMasterResponse> registered;
  /// The RM says that we were registered already: the answer to the first call was lost, and with
  /// it the containers of previous attempts. Comes with an empty `registered`.
  bool registered_blindly = false;
  /// Registered again after the RM lost us. Everything is sent again by itself; containers granted
  /// but not started before now are refused by their NMs. Nothing follows from capabilities and
  /// node counts now.
  bool resynced = false;
  /// With `resynced`: containers of earlier attempts that the RM counts now. One that was given
  /// back to the RM before may be among them, if its node had not heard so.
  std::vector<yarn::Container> listed;
  /// An answer with news. Idle ones are not handed out: with elided heartbeats they are not sent.
  std::optional<yarn::AllocateResponse> allocated;
  /// How many nodes the RM counts, by the first answer to an allocate after each registration. It
  /// is real, idle or not; later nodes are told.
  std::optional<std::int32_t> nodes_counted;
  /// The RM will not have us any more; why. Nothing is sent from now on.
  std::optional<std::string> must_stop;
  /// The final status is confirmed. Nothing is sent from now on.
  bool finished = false;
  /// The RM refused a call. Of an allocate nothing was taken; the part at fault is not sent again
  /// until it is set anew: asks (kInvalidResourceRequest, kInvalidLabelResourceRequest), releases
  /// (kInvalidContainerRelease), blacklist (kInvalidResourceBlacklistRequest). After any other code
  /// the call is repeated as it was.
  std::optional<yarn::RpcError> rejected;
  /// The reply was late, repeated or not understood, and changed nothing but tokens of nodes for
  /// which there was none: text for a Note.
  std::optional<std::string> ignored;
};

class RmSession {
 public:
  explicit RmSession(RmSessionOptions options = {});

  /// Registers this attempt, from the next OnTime on. Once.
  void Register(yarn::RegisterApplicationMasterRequest request);
  /// Everything wanted from the RM now, as a whole. Goes with the next heartbeat.
  void SetAsks(std::vector<Ask> asks);
  /// Host names that must get no container, as a whole.
  void SetBlacklist(const std::set<std::string>& hosts);
  [[nodiscard]] const std::set<std::string>& blacklist() const { return blacklist_wanted_; }
  /// What the RM may keep off: as it has confirmed, or is being told.
  [[nodiscard]] std::set<std::string> BlacklistOfRm() const;
  /// What the RM had been told by the attempt before, and keeps off for this one.
  void TakeOverBlacklist(std::set<std::string> hosts) { blacklist_told_ = std::move(hosts); }
  /// Gives a container back. An id that was given before and not forgotten by a resync is ignored.
  void Release(const ContainerId& container);
  /// 0..1000; goes with every heartbeat, and is no reason to send one.
  void SetProgress(std::int32_t permille);
  /// Ends the attempt: no further allocate; finish is repeated until confirmed. Containers must be
  /// released and told before (see everything_told()). The first call counts.
  void Finish(yarn::FinishApplicationMasterRequest request);

  /// Sends what is due at `now`.
  void OnTime(Instant now, std::vector<AmAction>& actions);
  [[nodiscard]] RmNews OnReplied(Instant now, const RmReplied& reply);
  void OnElided(const HeartbeatsElided& elided);

  [[nodiscard]] std::optional<Instant> next_deadline() const;
  /// Like next_deadline(), without heartbeats that would be idle.
  [[nodiscard]] std::optional<Instant> next_decision() const;

  /// Registered, and the RM has not forgotten us since.
  [[nodiscard]] bool registered() const { return registered_; }
  /// All asks, releases and blacklist changes so far were taken by the RM.
  [[nodiscard]] bool everything_told() const;
  /// The newest token for a node; nullptr when none was received.
  [[nodiscard]] const yarn::Token* NmToken(const NodeId& node) const;
  /// The newest AMRM token that the RM sent; nullopt = still the one the process was started with.
  [[nodiscard]] const std::optional<yarn::Token>& am_rm_token() const { return am_rm_token_; }
  [[nodiscard]] std::int32_t last_response_id() const { return last_response_id_; }

 private:
  enum class CallKind { kRegister, kAllocate, kFinish };
  /// The call that is under way or was last; one at a time, but each may be sent several times.
  struct Call {
    CallKind kind = CallKind::kRegister;
    CallId first;  // an answer to any transmission of the same content counts
    CallId id;     // the latest transmission
    Instant sent{};
    bool outstanding = false;
  };

  void SendRegister(Instant now, std::vector<AmAction>& actions);
  void SendAllocate(Instant now, std::vector<AmAction>& actions);
  void SendFinish(Instant now, std::vector<AmAction>& actions);
  void Send(Instant now, CallKind kind, bool again, yarn::RmRequest request,
            std::vector<AmAction>& actions);
  [[nodiscard]] yarn::AllocateRequest ComposeAllocate();

  void OnRegisterAnswered(Instant now, const yarn::RmResponse& response, RmNews& news);
  void OnRegisterFailed(Instant now, const yarn::RpcError& error, RmNews& news);
  void OnAllocateAnswered(Instant now, const RmReplied& reply, RmNews& news);
  void OnAllocateFailed(Instant now, const yarn::RpcError& error, RmNews& news);
  void OnFinishAnswered(Instant now, const yarn::RmResponse& response, RmNews& news);
  void OnFinishFailed(Instant now, const yarn::RpcError& error, RmNews& news);

  void TakeIn(const yarn::AllocateResponse& response);
  void BecomeRegistered(Instant now, RmNews& news);
  void Refuse(const yarn::RpcError& error);
  void AdoptResponseId(const yarn::RpcError& error, std::int32_t expected, RmNews& news);
  void ForgetTold();
  void Resync(Instant now);
  void Stop(const yarn::RpcError& error, RmNews& news);
  void UndoElision();
  void TakeNmTokens(const std::vector<yarn::NmToken>& tokens);
  void KeepNmTokens(const yarn::RmResponse& response);

  [[nodiscard]] bool HasSomethingToSay() const;
  /// Grants may come any moment.
  [[nodiscard]] bool InAHurry(Instant now) const;
  [[nodiscard]] Instant next_send() const;
  [[nodiscard]] Instant due() const;

  RmSessionOptions options_;
  std::optional<yarn::RegisterApplicationMasterRequest> registration_;  // unset: nothing to do yet
  std::optional<yarn::FinishApplicationMasterRequest> finish_;          // set: finishing
  bool registered_ = false;
  bool ever_registered_ = false;
  bool finish_acknowledged_ = false;  // the RM answered "not yet" at least once
  bool stopped_ = false;              // terminal

  Call call_;
  Instant next_send_ = Instant::min();  // when nothing is outstanding and nothing new to be said
  Instant fast_until_ = Instant::min();
  Duration register_backoff_{};
  std::optional<Instant> last_register_;

  std::int32_t last_response_id_ = 0;
  std::optional<yarn::AllocateRequest> unanswered_;  // to be repeated as it is until it is answered
  bool latest_was_elided_ =
      false;  // then it counts as answered, but may still be answered otherwise

  AskBook asks_;
  bool asks_refused_ = false;
  std::set<std::string> blacklist_wanted_;
  std::set<std::string> blacklist_told_;
  bool blacklist_refused_ = false;
  std::set<ContainerId> releases_pending_;  // not yet taken by the RM
  std::set<ContainerId> releases_told_;  // taken, and the container is not yet reported completed
  std::int32_t progress_permille_ = 0;

  std::map<NodeId, yarn::Token> nm_tokens_;
  std::optional<yarn::Token> am_rm_token_;
};

}  // namespace tfyarn::allocation
