// The core's own time for one gang of 1,000 workers: from the AM's first step until every agent
// holds the cluster spec and has been told to start its process. Everything else (RM, network,
// start of containers) takes no time and is not counted. Usage: gang_1000_bench [REPEATS].
#include <cstdlib>

#include "bench/job_world.h"
#include "bench/stopwatch.h"
#include "bench/summary.h"
#include "core/model/check.h"

using namespace tfyarn;

int main(int argc, char** argv) {
  constexpr std::int32_t kWorkers = 1000;
  const int repeats = argc > 1 ? std::atoi(argv[1]) : 10;
  const auto job = bench::WorkersJob(kWorkers);
  const ApplicationAttemptId attempt{.application = {.cluster_timestamp = 1, .id = 1},
                                     .attempt = 1};
  std::vector<double> am;
  std::vector<double> agents;
  std::vector<double> both;
  for (int i = 0; i < repeats; ++i) {
    bench::Stopwatch watch;
    bench::JobWorld world(
        Instant{},
        {.job = job, .attempt = attempt, .rm = bench::ImmediateRm(attempt), .meter = &watch});
    while (world.spawned() < kWorkers) world.RunDue(world.next_deadline().value());
    TF_CHECK(world.spawned() == kWorkers);
    am.push_back(watch.am / 1e6);
    agents.push_back(watch.agents / 1e6);
    both.push_back(am.back() + agents.back());
  }
  bench::PrintResult("gang of 1,000 to the spec", "ApplicationMaster", "ms", am);
  bench::PrintResult("gang of 1,000 to the spec", "1,000 agents", "ms", agents);
  bench::PrintResult("gang of 1,000 to the spec", "both", "ms", both);
}
