// A scheduler: it is told of nodes, asks and containers, and grants when it likes.
//
// The ResourceManager keeps the records (rm_context.h) and calls the functions below after it has
// changed them; a function that a scheduler has no use for does nothing. A host that leaves out
// idle heartbeats must be told which matter: a scheduler that assigns on heartbeats announces them
// (resource_manager.h, Announcements). Which schedulers there are is in schedulers.h.
//
// Source: YarnScheduler.java, AbstractYarnScheduler.java; the functions about nodes are the events
// of SchedulerEventType.java.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "core/model/resource.h"
#include "core/model/time.h"
#include "fakes/yarn-rm/rm_context.h"

namespace tfyarn::fakes {

class Scheduler {
 public:
  enum class Beat {
    kInTurn,
    kOutOfTurn,  ///< Sent at once, and the node's period counts from it.
    kRepeated,   ///< Its answer was lost: nothing is assigned.
  };

  explicit Scheduler(RmContext& rm) : rm_(rm), records_(rm.records()) {}
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;
  virtual ~Scheduler() = default;

  // ---------------------------------------------------------------- nodes
  /// What is free on the node may be used from now on (or no longer).
  virtual void OnNodeAdded(RmNode& node) = 0;
  virtual void OnNodeRemoved(RmNode& node) = 0;
  /// The capacity of such a node is another one.
  virtual void OnNodeResized(RmNode& node) = 0;
  /// The node, which may have been added before, has registered: when it will beat is not known.
  virtual void OnNodeRegistered(RmNode&) {}
  /// Of any node that is not away; its orders and containers have been taken in.
  virtual void OnNodeHeartbeat(RmNode&, Beat) {}
  /// A node that was on its way out is back in use.
  virtual void OnNodeRecommissioned(RmNode&) {}

  // ---------------------------------------------------------------- applications
  /// A new attempt, with the ask for its AM's container among its asks.
  virtual void OnAttemptAdded(RmApplication& application) = 0;
  /// An attempt whose AM an earlier RM started.
  virtual void OnAttemptRecovered(RmApplication& application) = 0;
  /// Its asks and containers are gone.
  virtual void OnAttemptRemoved(RmApplication& application) = 0;
  /// The asks are about to change: the scheduler keeps nothing that points at them.
  virtual void BeforeAsksChange(RmApplication& application) = 0;
  /// Between these two: the ask is replaced by another, or dropped.
  virtual void OnAskReplaced(AskEntry&) {}
  virtual void OnAsksChanged(RmApplication& application) = 0;
  /// `shorter`: some place was taken off.
  virtual void OnBlacklistChanged(RmApplication& application, bool shorter) = 0;

  // ---------------------------------------------------------------- containers
  /// Of this scheduler's grant, or taken over from an earlier RM.
  virtual void OnContainerBooked(RmNode& node) = 0;
  virtual void OnContainerCompleted(RmNode& node) = 0;

  // ---------------------------------------------------------------- time
  /// The wait after a restart is over.
  virtual void OnReady() { changed_ = true; }
  /// As it was ordered by RmContext::WakeScheduler.
  virtual void OnWake() = 0;
  /// An event has been dealt with.
  void Settle() {
    if (changed_) {
      changed_ = false;
      OnChanged();
    }
    if (announce_at_ && *announce_at_ <= records_.now) Announce();
  }
  /// The RM has read what its predecessor stored: no node is there for it yet.
  void Recovered() { changed_ = false; }
  /// When Settle must be called even if nothing happens.
  [[nodiscard]] std::optional<Instant> announce_at() const { return announce_at_; }

  // ---------------------------------------------------------------- questions
  /// Whether a heartbeat of the node would change anything now.
  [[nodiscard]] virtual bool HasUseFor(const RmNode&) const { return false; }
  /// A heartbeat that was announced was left out, as it has no use any more.
  virtual void OnHeartbeatLeftOut(RmNode&) {}
  /// Whether queues still wait for what a container was to be taken for.
  [[nodiscard]] virtual bool IsStarved(std::int32_t) const { return false; }
  /// What the application may still be given in the partition.
  [[nodiscard]] virtual Resource HeadroomOf(const RmApplication& application,
                                            std::int32_t partition) const = 0;
  /// The most that the queue may ever use.
  [[nodiscard]] virtual Resource MaximumOf(std::int32_t queue, std::int32_t partition) const = 0;

 protected:
  /// Something that assignments depend on is not as it was after the last event.
  virtual void OnChanged() = 0;
  /// `announce_at_` has come.
  virtual void Announce() {}

  RmContext& rm_;
  RmRecords& records_;
  bool changed_ = false;
  std::optional<Instant> announce_at_;
};

/// The scheduler of that name, one of schedulers.h. `rm` outlives it; `seed` is of its draws.
[[nodiscard]] std::unique_ptr<Scheduler> MakeScheduler(std::string_view name, RmContext& rm,
                                                       std::uint64_t seed);

}  // namespace tfyarn::fakes
