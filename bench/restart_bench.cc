// What one restart costs the ApplicationMaster, by the size of the job: workers of an independent
// job are killed one after the other and started again in place, on a cluster of 10,000 nodes. It
// must not grow with the job. Usage: restart_bench [REPEATS [MOST_WORKERS]].
#include <cstdlib>
#include <string>

#include "bench/job_world.h"
#include "bench/stopwatch.h"
#include "bench/summary.h"
#include "core/model/check.h"

namespace {

using namespace tfyarn;

constexpr std::int32_t kNodes = 10'000;

double MicrosecondsOfARestart(std::int32_t workers) {
  constexpr int kRestarts = 500;
  const ApplicationAttemptId attempt{.application = {.cluster_timestamp = 1, .id = 1},
                                     .attempt = 1};
  bench::Stopwatch watch;
  bench::JobWorld world(Instant{}, {.job = bench::WorkersJob(workers, Strategy::kIndependent),
                                    .attempt = attempt,
                                    .rm = bench::ImmediateRm(attempt, kNodes),
                                    .nodes = [] { return bench::NodeReports(kNodes, 0); },
                                    .meter = &watch});
  const auto started = static_cast<std::size_t>(workers);
  while (world.spawned() < started) world.RunDue(world.next_deadline().value());
  watch.am = 0;
  for (int i = 0; i < kRestarts; ++i) {
    world.KillProcess(i % workers);
    const std::size_t wanted = started + static_cast<std::size_t>(i) + 1;
    while (world.spawned() < wanted) world.RunDue(world.next_deadline().value());
  }
  return watch.am / 1e3 / kRestarts;
}

}  // namespace

int main(int argc, char** argv) {
  const int repeats = argc > 1 ? std::atoi(argv[1]) : 10;
  const std::int32_t most = argc > 2 ? std::atoi(argv[2]) : 10'000;
  for (const std::int32_t workers : {10, 100, 1000, 10'000}) {
    if (workers > most) break;
    std::vector<double> samples;
    for (int i = 0; i < repeats; ++i) samples.push_back(MicrosecondsOfARestart(workers));
    bench::PrintResult("restart of one of " + std::to_string(workers), "ApplicationMaster", "us",
                       samples);
  }
}
