#include "sim/sim_host.h"

#include <optional>

#include "sim/coverage.h"

namespace tfyarn::sim {
namespace {

constexpr std::uint64_t kEventsBetweenScans = 1'000'000;
constexpr std::uint64_t kEventsBetweenProgress = 20'000;

}  // namespace

void SimHost::Start() {
  const config::Scenario& scenario = world_.setup.scenario;
  world_.trace.Tell(trace::RunStarted{
      .scenario = scenario.name, .scenario_digest = scenario.digest, .seed = world_.setup.seed});
  const NodeTable& nodes = world_.cluster.nodes;
  for (std::int32_t i = 0; i < nodes.size(); ++i) {
    world_.trace.Tell(trace::NodeDeclared{.node = nodes[i].id,
                                          .rack = nodes[i].rack,
                                          .partition = nodes[i].partition,
                                          .labels = nodes[i].labels,
                                          .capacity = nodes[i].capacity});
  }
  for (std::int32_t i = 0; i < nodes.size(); ++i) world_.nms.Start(i);
  world_.clients.Start();
  world_.faults.Start(fault_effects_);
  world_.rm.Reschedule();
}

void SimHost::PlanFutures() {
  // After all that happens at that instant.
  const auto draw_anew = [this](const Future& future) {
    world_.kernel.At(future.from + Duration(1), [this, seed = future.seed] { DrawAnew(seed); });
  };
  const std::optional<Future>& other = world_.setup.options.future;
  for (const config::FutureSpec& spec : world_.setup.scenario.futures) {
    const Future future{.from = Instant{} + spec.from, .seed = spec.seed};
    if (!other || future.from < other->from) draw_anew(future);
  }
  if (other) draw_anew(*other);
}

void SimHost::DrawAnew(std::uint64_t seed) {
  world_.links.DisturbAll();
  world_.setup.seed = seed;
  world_.cluster.network.DrawAnew(seed);
  world_.nms.DrawAnew();
  world_.hdfs.DrawAnew();
  for (const auto& [index, job] : world_.cluster.jobs) job->workload->DrawAnew(seed);
  world_.faults.DrawAnew();
  world_.links.RestoreAll();
}

RunOutcome SimHost::Run() {
  Start();
  PlanFutures();
  return Finish(RunEvents());
}

trace::StopReason SimHost::RunEvents() {
  const std::atomic<bool>* interrupt = world_.setup.options.interrupt;
  while (!world_.clients.all_over() && !world_.kernel.empty()) {
    if (world_.kernel.next_at() > world_.setup.horizon) {
      world_.kernel.PassTo(world_.setup.horizon);
      return trace::StopReason::kHorizon;
    }
    RunNext();
    if (interrupt != nullptr && interrupt->load(std::memory_order_relaxed))
      return trace::StopReason::kInterrupted;
  }
  return trace::StopReason::kQuiescent;
}

void SimHost::RunNext() {
  Kernel& kernel = world_.kernel;
  kernel.RunNext([this](std::uint32_t actor) { world_.links.Wake(actor); });
  if (Coverage* coverage = world_.setup.options.coverage) coverage->Look(kernel.now());
  if (kernel.events() % kEventsBetweenScans == 0)
    world_.trace.checkers().FullScan(kernel.now(), world_.checkers_view);
  if (kernel.events() % kEventsBetweenProgress == 0) ReportProgress();
}

void SimHost::ReportProgress() const {
  if (!world_.setup.options.progress) return;
  world_.setup.options.progress({.now = world_.kernel.now(),
                                 .horizon = world_.setup.horizon,
                                 .jobs_total = world_.clients.jobs_total(),
                                 .jobs_ended = world_.clients.jobs_ended(),
                                 .events = world_.kernel.events()});
}

RunOutcome SimHost::Finish(trace::StopReason reason) {
  for (JobRecord* job : world_.cluster.JobsInOrder()) world_.workloads.Settle(*job);
  return world_.trace.Finish(reason, world_.checkers_view, fault_effects_.WithoutEffect());
}

RunOutcome RunScenario(const config::Scenario& scenario, const RunOptions& options) {
  SimHost host(scenario, options);
  return host.Run();
}

}  // namespace tfyarn::sim
