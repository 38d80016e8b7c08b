#include "sim/sim_host.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/model/check.h"
#include "sim/coverage.h"
#include "sim/yarn_options.h"

namespace tfyarn::sim {
namespace {

constexpr std::uint64_t kEventsBetweenScans = 1'000'000;
constexpr std::uint64_t kEventsBetweenProgress = 20'000;

}  // namespace

SimHost::SimHost(const config::Scenario& scenario, const RunOptions& options)
    : Driver<client::JobClient>(kernel_, links_, setup_),
      setup_(scenario, options),
      // A beat that one of them aims at must be there to be met.
      links_(kernel_, message_faults_, options.elide && options.sabotage.empty()),
      cluster_(scenario, options),
      plan_view_(cluster_),
      fault_schedule_(kernel_, setup_, plan_view_),
      marks_(scenario.faults.size()),
      trace_(kernel_, setup_, fault_schedule_),
      sabotage_(kernel_, setup_, trace_),
      hdfs_(kernel_, setup_, cluster_.network, sabotage_),
      workloads_(kernel_, cluster_, trace_, hdfs_),
      rm_(kernel_, links_, setup_, cluster_, message_faults_, trace_, sabotage_),
      claims_(kernel_, setup_, cluster_, rm_),
      nms_(kernel_, links_, setup_, cluster_, marks_, trace_, hdfs_, rm_, claims_),
      agents_(kernel_, links_, setup_, cluster_, message_faults_, marks_, trace_, sabotage_, hdfs_,
              workloads_, rm_, nms_),
      ams_(kernel_, links_, setup_, cluster_, message_faults_, fault_schedule_, trace_, sabotage_,
           hdfs_, rm_, nms_, agents_),
      checkers_view_(cluster_, rm_.actor()),
      arrivals_(scenario, cluster_.nodes.largest().gpus, options.seed) {
  rm_.SetJobEnds(*this);
}

SimHost::~SimHost() = default;

void SimHost::Start() {
  trace_.Tell(trace::RunStarted{.scenario = setup_.scenario.name,
                                .scenario_digest = setup_.scenario.digest,
                                .seed = setup_.seed});
  for (std::int32_t i = 0; i < cluster_.nodes.size(); ++i) {
    const NodeInfo& node = cluster_.nodes[i];
    trace_.Tell(trace::NodeDeclared{.node = node.id,
                                    .rack = node.rack,
                                    .partition = node.partition,
                                    .labels = node.labels,
                                    .capacity = node.capacity});
  }
  for (std::int32_t i = 0; i < cluster_.nodes.size(); ++i) nms_.Start(i);
  SubmitNextArrival();
  fault_schedule_.Start(*this);
  rm_.Reschedule();
}

void SimHost::DrawAnew(std::uint64_t seed) {
  links_.DisturbAll();
  setup_.seed = seed;
  cluster_.network.DrawAnew(seed);
  nms_.DrawAnew();
  hdfs_.DrawAnew();
  for (const auto& [index, job] : cluster_.jobs) job->workload->DrawAnew(seed);
  fault_schedule_.DrawAnew();
  links_.RestoreAll();
}

RunOutcome SimHost::Run() {
  Start();
  // After all that happens at that instant.
  const auto draw_anew = [this](const Future& future) {
    kernel_.At(future.from + Duration(1), [this, seed = future.seed] { DrawAnew(seed); });
  };
  const std::optional<Future>& other = setup_.options.future;
  for (const config::FutureSpec& spec : setup_.scenario.futures) {
    const Future future{.from = Instant{} + spec.from, .seed = spec.seed};
    if (!other || future.from < other->from) draw_anew(future);
  }
  if (other) draw_anew(*other);
  trace::StopReason reason = trace::StopReason::kQuiescent;
  while (true) {
    if (jobs_alive_ == 0 && !arrivals_.next()) break;
    if (kernel_.empty()) break;
    if (kernel_.next_at() > setup_.horizon) {
      kernel_.PassTo(setup_.horizon);
      reason = trace::StopReason::kHorizon;
      break;
    }
    if (!RunNext()) {
      reason = trace::StopReason::kInterrupted;
      break;
    }
  }
  return Finish(reason);
}

bool SimHost::RunNext() {
  kernel_.RunNext([this](std::uint32_t actor) { links_.Wake(actor); });
  if (setup_.options.coverage != nullptr) setup_.options.coverage->Look(kernel_.now());
  if (kernel_.events() % kEventsBetweenScans == 0) ScanInvariants();
  if (kernel_.events() % kEventsBetweenProgress == 0 && setup_.options.progress) {
    setup_.options.progress({.now = kernel_.now(),
                             .horizon = setup_.horizon,
                             .jobs_total = arrivals_.total(),
                             .jobs_ended = jobs_ended_,
                             .events = kernel_.events()});
  }
  return setup_.options.interrupt == nullptr ||
         !setup_.options.interrupt->load(std::memory_order_relaxed);
}

void SimHost::ScanInvariants() {
  trace_.checkers().FullScan(kernel_.now(), checkers_view_);
}

RunOutcome SimHost::Finish(trace::StopReason reason) {
  SettleWorkloads();
  return trace_.Finish(reason, checkers_view_, FaultsWithoutEffect());
}

void SimHost::SettleWorkloads() {
  for (JobRecord* job : cluster_.JobsInOrder()) {
    workloads_.Settle(*job);
  }
}

RunOutcome RunScenario(const config::Scenario& scenario, const RunOptions& options) {
  SimHost host(scenario, options);
  return host.Run();
}

}  // namespace tfyarn::sim
