// The hold model, by which event queues are compared: N events are pending; each operation takes
// the earliest and puts in a new one an Exp(1 s) time later; with one in ten a further event is put
// in and cancelled at once, as a host puts off a timer.
//
// The times are drawn beforehand and are the same for all peers, so that the queue is measured and
// not the logarithm. No part of tfyarn is used here, so that the peers' programs can share it.
// Source of the model: D. W. Jones, An empirical comparison of priority-queue and event-set
// implementations, CACM 1986.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/summary.h"

namespace tfyarn::bench {

/// Exp(1 s) in nanoseconds, the same sequence everywhere; used round and round.
class Gaps {
 public:
  Gaps() : gaps_(std::size_t{1} << 20) {
    std::uint64_t state = 1;
    for (std::int64_t& gap : gaps_) {
      state = state * 6364136223846793005u + 1442695040888963407u;  // Knuth's MMIX
      const double uniform = (static_cast<double>(state >> 11) + 0.5) / 9007199254740992.0;
      gap = static_cast<std::int64_t>(-std::log(uniform) * 1e6) * 1000;
    }
  }
  std::int64_t Next() { return gaps_[next_++ & (gaps_.size() - 1)]; }

 private:
  std::vector<std::int64_t> gaps_;
  std::size_t next_ = 0;
};

inline constexpr std::size_t kPending[] = {1'000, 100'000, 1'000'000};
inline constexpr std::size_t kOperations = 2'000'000;

/// `once(pending, operations, gaps)` gives nanoseconds per event.
template <class Once>
void MeasureHold(const std::string& name, int repeats, Once once) {
  Gaps gaps;
  for (const std::size_t pending : kPending) {
    std::vector<double> values;
    for (int i = 0; i < repeats; ++i) values.push_back(once(pending, kOperations, gaps));
    PrintResult(name, std::to_string(pending), "ns/event", values);
  }
}

/// The hold model over a bare queue: Push(at, payload), Pop() -> {at, payload}. Cancelling is lazy,
/// as in every peer: the event stays and is skipped when it comes up.
template <class Queue>
double HoldOnce(std::size_t pending, std::size_t operations, Gaps& gaps) {
  constexpr std::uint32_t kCancelled = 1u << 27;
  Queue queue;
  for (std::size_t i = 0; i < pending; ++i) queue.Push(gaps.Next(), static_cast<std::uint32_t>(i));
  const double start = CpuNanoseconds();
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < operations;) {
    const auto [at, payload] = queue.Pop();
    if ((payload & kCancelled) != 0) continue;
    sum += payload;
    queue.Push(at + gaps.Next(), payload);
    if (i % 10 == 0) queue.Push(at + gaps.Next(), kCancelled);
    ++i;
  }
  const double spent = CpuNanoseconds() - start;
  if (sum == 1) std::printf("unlikely\n");  // Keeps the loop.
  return spent / static_cast<double>(operations);
}

}  // namespace tfyarn::bench
