// The heap of one ApplicationMaster with 1,000 running tasks, counted by the allocator: every block
// that was allocated while the AM was stepped and that still lives. The cluster spec, which the
// agents share, is in it; the job's description, which the AM was given, is not. Usage:
// am_heap_bench.
#include <algorithm>
#include <cstdlib>
#include <new>

#include "bench/job_world.h"
#include "bench/summary.h"
#include "core/model/check.h"

namespace {

struct Header {
  std::size_t size;
  bool counted;
};
constexpr std::size_t kHeader = 16;
static_assert(sizeof(Header) <= kHeader);

bool counting = false;
std::size_t live_bytes = 0;
std::size_t live_blocks = 0;

void* Allocate(std::size_t size) {
  auto* header = static_cast<Header*>(std::malloc(size + kHeader));
  if (header == nullptr) throw std::bad_alloc();
  *header = {size, counting};
  if (counting) {
    live_bytes += size;
    ++live_blocks;
  }
  return reinterpret_cast<char*>(header) + kHeader;
}

void Free(void* block) {
  if (block == nullptr) return;
  auto* header = reinterpret_cast<Header*>(static_cast<char*>(block) - kHeader);
  if (header->counted) {
    live_bytes -= header->size;
    --live_blocks;
  }
  std::free(header);
}

}  // namespace

void* operator new(std::size_t size) {
  return Allocate(size);
}
void* operator new[](std::size_t size) {
  return Allocate(size);
}
void operator delete(void* block) noexcept {
  Free(block);
}
void operator delete[](void* block) noexcept {
  Free(block);
}
void operator delete(void* block, std::size_t) noexcept {
  Free(block);
}
void operator delete[](void* block, std::size_t) noexcept {
  Free(block);
}

namespace {

using namespace tfyarn;

class HeapMeter : public bench::StepMeter {
 public:
  void BeforeAm() override { counting = true; }
  void AfterAm() override {
    counting = false;
    most = std::max(most, live_bytes);
  }
  std::size_t most = 0;
};

}  // namespace

int main() {
  constexpr std::int32_t kWorkers = 1000;
  const ApplicationAttemptId attempt{.application = {.cluster_timestamp = 1, .id = 1},
                                     .attempt = 1};
  HeapMeter meter;
  bench::JobWorld world(Instant{}, {.job = bench::WorkersJob(kWorkers),
                                    .attempt = attempt,
                                    .rm = bench::ImmediateRm(attempt),
                                    .meter = &meter});
  while (world.snapshot().state != JobState::kRunning) world.RunDue(world.next_deadline().value());
  // Some heartbeats on, so that what was only needed to start is gone.
  for (int i = 0; i < 20; ++i) world.RunDue(world.next_deadline().value());
  TF_CHECK(world.snapshot().state == JobState::kRunning);
  constexpr double kMiB = 1024.0 * 1024.0;
  bench::PrintResult("heap of one AM, 1,000 tasks", "running", "MiB",
                     {static_cast<double>(live_bytes) / kMiB});
  bench::PrintResult("heap of one AM, 1,000 tasks", "most, actions under way included", "MiB",
                     {static_cast<double>(meter.most) / kMiB});
  bench::PrintResult("heap of one AM, 1,000 tasks", "blocks when running", "blocks",
                     {static_cast<double>(live_blocks)});
}
