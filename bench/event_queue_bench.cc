// Our event queue and std::priority_queue in the hold model (hold_model.h). Usage:
// event_queue_bench [REPEATS].
#include <cstdlib>
#include <queue>
#include <utility>

#include "bench/hold_model.h"
#include "sim/event_queue.h"

namespace {

using namespace tfyarn;

class OurQueue {
 public:
  void Push(std::int64_t at, std::uint32_t payload) { queue_.Push(Instant(Duration(at)), payload); }
  std::pair<std::int64_t, std::uint32_t> Pop() {
    const auto event = queue_.Pop();
    return {event.at.time_since_epoch().count(), event.payload};
  }

 private:
  sim::EventQueue queue_;
};

class StdQueue {
 public:
  void Push(std::int64_t at, std::uint32_t payload) { queue_.push({at, next_++, payload}); }
  std::pair<std::int64_t, std::uint32_t> Pop() {
    const Event event = queue_.top();
    queue_.pop();
    return {event.at, event.payload};
  }

 private:
  struct Event {
    std::int64_t at;
    std::uint64_t order;
    std::uint32_t payload;
    bool operator<(const Event& other) const {
      return at != other.at ? at > other.at : order > other.order;
    }
  };
  std::priority_queue<Event> queue_;
  std::uint64_t next_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const int repeats = argc > 1 ? std::atoi(argv[1]) : 10;
  bench::MeasureHold("tfyarn EventQueue", repeats, bench::HoldOnce<OurQueue>);
  bench::MeasureHold("std::priority_queue", repeats, bench::HoldOnce<StdQueue>);
}
