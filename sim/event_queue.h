// The pending events of a simulation: a 4-ary heap of (time, order, payload), least first.
//
// Ties are stable: at one instant, events pushed with Push come first, in the order of their
// pushing; events pushed with PushLate come after all of those, in the order of the rank they name.
// Machines' timers are late: a message that arrives at the very instant of a heartbeat is seen by
// it, whether or not the host skipped the heartbeats before.
//
// There is no cancel: the code that takes an event up knows whether it still means something (a
// timer that was put off, a message to a process that is gone), which is cheaper than finding it in
// the heap.
//
// An entry is 16 bytes, order and payload in one word, and the four children of an entry share a
// cache line: a million pending events cost one miss a level. Measured against other queues in
// docs/performance.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include "core/model/check.h"
#include "core/model/time.h"

namespace tfyarn::sim {

/// Allocates whole cache lines.
template <class T>
struct CacheLineAllocator {
  using value_type = T;
  static constexpr std::align_val_t kLine{64};
  CacheLineAllocator() = default;
  template <class U>
  explicit CacheLineAllocator(const CacheLineAllocator<U>&) {}
  T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), kLine)); }
  void deallocate(T* p, std::size_t) { ::operator delete(p, kLine); }
  friend bool operator==(const CacheLineAllocator&, const CacheLineAllocator&) { return true; }
};

class EventQueue {
 public:
  /// Payloads and ranks are below 2^28; a run has fewer than 2^35 events.
  static constexpr std::uint32_t kPayloadBits = 28;
  static constexpr std::uint64_t kMaxPayload = (std::uint64_t{1} << kPayloadBits) - 1;

  struct Event {
    Instant at{};
    std::uint32_t payload = 0;
    bool late = false;
    std::uint64_t order = 0;  ///< Of a late event: its rank.
  };

  EventQueue() : heap_(kPadding) {}

  void Push(Instant at, std::uint32_t payload) {
    TF_CHECK(next_order_ < kLate);
    Insert(at, next_order_++, payload);
  }

  /// Two late events with the same instant, rank and payload are interchangeable.
  void PushLate(Instant at, std::uint64_t rank, std::uint32_t payload) {
    Insert(at, kLate | rank, payload);
  }

  [[nodiscard]] bool empty() const { return heap_.size() == kPadding; }
  [[nodiscard]] std::size_t size() const { return heap_.size() - kPadding; }
  /// When the least event is; the queue must not be empty.
  [[nodiscard]] Instant next_at() const { return Instant(Duration(heap_[kPadding].at)); }

  Event Pop() {
    TF_CHECK(!empty());
    const Entry least = heap_[kPadding];
    const Entry last = heap_.back();
    heap_.pop_back();
    if (!empty()) Refill(last);
    const std::uint64_t order = least.key >> kPayloadBits;
    return {.at = Instant(Duration(least.at)),
            .payload = static_cast<std::uint32_t>(least.key & kMaxPayload),
            .late = (order & kLate) != 0,
            .order = order & ~kLate};
  }

 private:
  static constexpr std::uint64_t kLate = std::uint64_t{1} << 35;
  static constexpr std::size_t kArity = 4;
  // Entry i stands at i + kPadding, so that children 4i+1 .. 4i+4 begin a cache line.
  static constexpr std::size_t kPadding = kArity - 1;

  struct Entry {
    std::int64_t at = 0;
    std::uint64_t key = 0;  ///< Order above, payload in the low bits.
  };

  static bool Less(const Entry& a, const Entry& b) {
    return a.at != b.at ? a.at < b.at : a.key < b.key;
  }

  void Insert(Instant at, std::uint64_t order, std::uint64_t payload) {
    const Entry entry{at.time_since_epoch().count(), (order << kPayloadBits) | payload};
    heap_.push_back(entry);
    Rise(heap_.size() - kPadding - 1, entry);
  }

  void Rise(std::size_t hole, const Entry& entry) {
    Entry* const entries = heap_.data() + kPadding;
    while (hole > 0) {
      const std::size_t parent = (hole - 1) / kArity;
      if (!Less(entry, entries[parent])) break;
      entries[hole] = entries[parent];
      hole = parent;
    }
    entries[hole] = entry;
  }

  void Refill(const Entry& last) {
    Entry* const entries = heap_.data() + kPadding;
    const std::size_t count = size();
    std::size_t hole = 0;
    for (std::size_t first = 1; first < count; first = hole * kArity + 1) {
      const std::size_t end = first + kArity < count ? first + kArity : count;
      std::size_t least = first;
      for (std::size_t child = first + 1; child < end; ++child) {
        if (Less(entries[child], entries[least])) least = child;
      }
      if (!Less(entries[least], last)) break;
      entries[hole] = entries[least];
      hole = least;
    }
    entries[hole] = last;
  }

  std::vector<Entry, CacheLineAllocator<Entry>> heap_;
  std::uint64_t next_order_ = 0;
};

}  // namespace tfyarn::sim
