// The heap of one ApplicationMaster with 1,000 running tasks, counted by the allocator: every block
// that was allocated while the AM was stepped and that still lives. The cluster spec, which the
// agents share, and the list of nodes, of which the AM is the only owner, are in it; the job's
// description, which the AM was given, is not. Usage: am_heap_bench [MOST_MIB]: exit 1 when the AM
// of a running job on 1,000 nodes has more.
#include <algorithm>
#include <cstdlib>
#include <new>
#include <string>

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
  void BeforeNodes() override { counting = true; }
  void AfterNodes() override { counting = false; }
  std::size_t most = 0;
};

struct Measured {
  std::size_t running = 0;
  std::size_t most = 0;
  std::size_t blocks = 0;
};

Measured Measure(std::int32_t nodes, std::int32_t roomy) {
  constexpr std::int32_t kWorkers = 1000;
  const ApplicationAttemptId attempt{.application = {.cluster_timestamp = 1, .id = 1},
                                     .attempt = 1};
  const std::size_t before = live_bytes;
  const std::size_t blocks_before = live_blocks;
  HeapMeter meter;
  bench::JobWorld world(Instant{},
                        {.job = bench::WorkersJob(kWorkers),
                         .attempt = attempt,
                         .rm = bench::ImmediateRm(attempt, nodes, nodes - roomy),
                         .nodes = [&] { return bench::NodeReports(nodes, nodes - roomy); },
                         .meter = &meter});
  while (world.snapshot().state != JobState::kRunning) world.RunDue(world.next_deadline().value());
  // Some heartbeats on, so that what was only needed to start is gone.
  for (int i = 0; i < 20; ++i) world.RunDue(world.next_deadline().value());
  TF_CHECK(world.snapshot().state == JobState::kRunning);
  return {.running = live_bytes - before,
          .most = meter.most - before,
          .blocks = live_blocks - blocks_before};
}

}  // namespace

int main(int argc, char** argv) {
  constexpr double kMiB = 1024.0 * 1024.0;
  const bool bounded = argc > 1;
  const double bound = bounded ? std::strtod(argv[1], nullptr) : 0;
  bool within = true;
  for (const std::int32_t nodes : {1000, 10'000}) {
    for (const std::int32_t roomy : {nodes, 300}) {
      const Measured heap = Measure(nodes, roomy);
      const std::string name = "heap of one AM, 1,000 tasks, " + std::to_string(roomy) + " of " +
                               std::to_string(nodes) + " nodes with room";
      bench::PrintResult(name, "running", "MiB", {static_cast<double>(heap.running) / kMiB});
      bench::PrintResult(name, "most, actions under way included", "MiB",
                         {static_cast<double>(heap.most) / kMiB});
      bench::PrintResult(name, "blocks when running", "blocks", {static_cast<double>(heap.blocks)});
      within = within && (!bounded || static_cast<double>(heap.running) <= bound * kMiB);
    }
    if (bounded) break;
  }
  return within ? 0 : 1;
}
