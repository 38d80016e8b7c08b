// When in its period each node's heartbeat is expected: a ring of slots over one period.
//
// A node heartbeat repeats every period, so nodes can be kept by the time of their last one modulo
// the period. A caller that wants to say "your next heartbeat matters" to the first few nodes needs
// only look at the slots that come next, instead of telling all nodes at once (after Varghese and
// Lauck, "Hashed and hierarchical timing wheels"). A node whose time is not known, or not regular,
// is in no slot.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/model/time.h"

namespace tfyarn::fakes {

class NodeRing {
 public:
  /// `period` > 0. `jitter`: how far a regular heartbeat may be from its expected time.
  NodeRing(Duration period, Duration jitter);

  /// A heartbeat of the node arrived. `shifted`: it was sent out of turn, and the period counts
  /// from it.
  void Heard(std::int32_t node, Instant at, bool shifted);
  /// The node's time is no longer known.
  void Forget(std::int32_t node);

  [[nodiscard]] bool IsPlaced(std::int32_t node) const;
  /// Whether the placed node is in one of these slots, both ends included.
  [[nodiscard]] bool IsWithin(std::int32_t node, std::int64_t first, std::int64_t last) const;
  /// Nodes in no slot that were ever heard or forgotten, ascending.
  [[nodiscard]] const std::vector<std::int32_t>& unplaced() const { return unplaced_; }

  /// Slots are numbered through all periods; slot n begins at BeginOf(n).
  [[nodiscard]] std::int64_t SlotAt(Instant at) const;
  [[nodiscard]] Instant BeginOf(std::int64_t slot) const;
  [[nodiscard]] std::int64_t slots_per_period() const { return kSlots; }
  [[nodiscard]] const std::vector<std::int32_t>& NodesIn(std::int64_t slot) const;

 private:
  static constexpr std::int64_t kSlots = 128;
  struct Place {
    bool known = false;  // ever heard
    bool placed = false;
    Duration phase{};
    std::int32_t slot = 0;
  };

  Place& PlaceOf(std::int32_t node);
  void TakeOut(std::int32_t node, Place& place);
  void AddUnplaced(std::int32_t node);
  void RemoveUnplaced(std::int32_t node);

  Duration period_;
  Duration width_;
  Duration jitter_;
  std::vector<Place> places_;
  std::vector<std::vector<std::int32_t>> slots_;
  std::vector<std::int32_t> unplaced_;
};

}  // namespace tfyarn::fakes
