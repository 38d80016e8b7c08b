#include "sim/event_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/random.h"

namespace tfyarn::sim::event_queue_test {
namespace {

using Queue = EventQueue;

std::vector<std::uint32_t> Drain(Queue& queue) {
  std::vector<std::uint32_t> order;
  while (!queue.empty()) order.push_back(queue.Pop().payload);
  return order;
}

TEST(EventQueueTest, TheEarliestComesFirst) {
  Queue queue;
  queue.Push(Instant{} + 3s, 3);
  queue.Push(Instant{} + 1s, 1);
  queue.Push(Instant{} + 2s, 2);
  EXPECT_EQ(Drain(queue), (std::vector<std::uint32_t>{1, 2, 3}));
}

TEST(EventQueueTest, AtOneInstantTheOrderOfPushingStays) {
  Queue queue;
  for (std::uint32_t i = 0; i < 1000; ++i) queue.Push(Instant{} + 1s, i);
  std::vector<std::uint32_t> expected(1000);
  for (std::uint32_t i = 0; i < 1000; ++i) expected[i] = i;
  EXPECT_EQ(Drain(queue), expected);
}

// A heartbeat timer must see a message of the same instant, whichever was scheduled first.
TEST(EventQueueTest, LateEventsFollowAllOthersOfTheirInstantByRank) {
  Queue queue;
  queue.PushLate(Instant{} + 1s, 7, 107);
  queue.PushLate(Instant{} + 1s, 2, 102);
  queue.Push(Instant{} + 1s, 1);
  queue.Push(Instant{} + 2s, 2);
  queue.Push(Instant{} + 1s, 3);
  EXPECT_EQ(Drain(queue), (std::vector<std::uint32_t>{1, 3, 102, 107, 2}));
}

TEST(EventQueueTest, AgreesWithSortingUnderRandomPushesAndPops) {
  Random random(1, "event-queue-test");
  Queue queue;
  std::vector<std::pair<std::int64_t, std::uint32_t>> model;
  std::uint32_t pushed = 0;
  for (int step = 0; step < 20'000; ++step) {
    if (model.empty() || random.Chance(0.55)) {
      const auto at = static_cast<std::int64_t>(random.UniformInt(500));
      queue.Push(Instant(Duration(at)), pushed);
      model.emplace_back(at, pushed++);
    } else {
      const auto least = std::min_element(model.begin(), model.end());
      EXPECT_EQ(queue.Pop().payload, least->second);
      model.erase(least);
    }
  }
}

}  // namespace
}  // namespace tfyarn::sim::event_queue_test
