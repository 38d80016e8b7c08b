// When a tree uses too much memory.
#include "hosts/agent/memory_watch.h"

#include "tests/unit/hosts/agent/process_rig.h"

namespace tfyarn::agent_host::memory_watch_test {
namespace {

ProcessInfo Process(pid_t pid, std::uint64_t bytes, std::uint64_t start_time = 1) {
  return {.pid = pid, .start_time = start_time, .rss_bytes = bytes};
}

TEST(MemoryMeterTest, ProcessesAgeAtTheirSecondLook) {
  MemoryMeter meter;
  EXPECT_EQ(meter.Look({Process(1, 10), Process(2, 5)}), (MemoryUse{15, 0}));
  EXPECT_EQ(meter.Look({Process(1, 11), Process(3, 4)}), (MemoryUse{15, 11}));
  EXPECT_EQ(meter.Look({Process(1, 11, 2), Process(3, 4)}), (MemoryUse{15, 4})) << "another pid 1";
}

// Source: ContainersMonitorImpl.isProcessTreeOverLimit.
TEST(MemoryMeterTest, TheLimitHoldsForTheAgedAndTwiceForAll) {
  EXPECT_FALSE(MemoryMeter::IsTooMuch({.bytes = 200, .aged_bytes = 100}, 100));
  EXPECT_TRUE(MemoryMeter::IsTooMuch({.bytes = 201, .aged_bytes = 0}, 100));
  EXPECT_TRUE(MemoryMeter::IsTooMuch({.bytes = 101, .aged_bytes = 101}, 100));
}

class MemoryWatchTest : public ProcessRig {
 protected:
  void Watch(std::uint64_t limit) {
    watch_ = std::make_unique<MemoryWatch>(
        io_, [this] { return tree().Members(); }, MemoryLimit{.bytes = limit, .period = 1ms},
        [this](const MemoryUse& use) { excess_.push_back(use); });
  }

  std::vector<MemoryUse> excess_;
  std::unique_ptr<MemoryWatch> watch_;
};

TEST_F(MemoryWatchTest, AddsUpTheTreeAndSpeaksOnce) {
  SpawnSpec spec = Odd({});
  spec.argv = {"sh", "-c", OddTask() + " grow 64 & exec " + OddTask() + " grow 64"};
  Start(spec);
  Watch(100U << 20);
  Until([&] { return !excess_.empty(); }, "the excess");
  EXPECT_GT(excess_[0].bytes, 100U << 20);
  Until([&] { return watch_->last().bytes > 128U << 20; }, "both");
  EXPECT_EQ(excess_.size(), 1U);
  EXPECT_GE(watch_->peak_bytes(), watch_->last().bytes);
  tree().Kill();
  End();
}

TEST_F(MemoryWatchTest, BelowTheLimitItIsSilent) {
  Start({"grow", "32"});
  UntilSaid();
  Watch(1U << 30);
  Until([&] { return watch_->last().aged_bytes > 32U << 20; }, "two looks");
  EXPECT_TRUE(excess_.empty());
  tree().Kill();
  End();
}

TEST_F(MemoryWatchTest, TheExcessMayEndTheWatch) {
  Start({"grow", "32"});
  watch_ = std::make_unique<MemoryWatch>(
      io_, [this] { return tree().Members(); }, MemoryLimit{.bytes = 8U << 20, .period = 1ms},
      [this](const MemoryUse&) {
        tree().Kill();
        watch_.reset();
      });
  EXPECT_EQ(End().signal, 9);
  EXPECT_EQ(watch_, nullptr);
}

}  // namespace
}  // namespace tfyarn::agent_host::memory_watch_test
