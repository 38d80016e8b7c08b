// The core's own time for one gang of 1,000 workers: from the AM's first step until every agent
// holds the cluster spec and has been told to start its process. Everything else (RM, network,
// start of containers) takes no time and is not counted. The AM knows the cluster's nodes, as it
// always does: with room on enough of them it asks for containers anywhere; where only 300 have
// room it plans, and asks on named hosts. Usage: gang_1000_bench [REPEATS].
#include <fmt/format.h>

#include <cstdlib>

#include "bench/job_world.h"
#include "bench/stopwatch.h"
#include "bench/summary.h"
#include "core/model/check.h"

namespace {

using namespace tfyarn;

constexpr std::int32_t kWorkers = 1000;
constexpr std::int32_t kFewRoomy = 300;

void Measure(std::int32_t nodes, std::int32_t roomy, int repeats) {
  const auto job = bench::WorkersJob(kWorkers);
  const ApplicationAttemptId attempt{.application = {.cluster_timestamp = 1, .id = 1},
                                     .attempt = 1};
  const std::int32_t full = nodes - roomy;
  std::vector<double> am;
  std::vector<double> agents;
  std::vector<double> both;
  for (int i = 0; i < repeats; ++i) {
    bench::Stopwatch watch;
    bench::JobWorld world(Instant{}, {.job = job,
                                      .attempt = attempt,
                                      .rm = bench::ImmediateRm(attempt, nodes, full),
                                      .nodes = [&] { return bench::NodeReports(nodes, full); },
                                      .meter = &watch});
    while (world.spawned() < kWorkers) world.RunDue(world.next_deadline().value());
    TF_CHECK(world.spawned() == kWorkers);
    am.push_back(watch.am / 1e6);
    agents.push_back(watch.agents / 1e6);
    both.push_back(am.back() + agents.back());
  }
  const std::string name =
      fmt::format("gang of 1,000 to the spec, {} of {} nodes with room", roomy, nodes);
  bench::PrintResult(name, "ApplicationMaster", "ms", am);
  bench::PrintResult(name, "1,000 agents", "ms", agents);
  bench::PrintResult(name, "both", "ms", both);
}

}  // namespace

int main(int argc, char** argv) {
  const int repeats = argc > 1 ? std::atoi(argv[1]) : 10;
  for (const std::int32_t nodes : {1000, 10'000}) {
    Measure(nodes, nodes, repeats);
    Measure(nodes, kFewRoomy, repeats);
  }
}
