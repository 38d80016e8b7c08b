#include "sim/sim_host.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <map>
#include <utility>

#include "config/traces.h"
#include "core/model/check.h"
#include "core/trace/routine.h"
#include "sim/coverage.h"
#include "sim/yarn_options.h"

namespace tfyarn::sim {
namespace {

constexpr std::uint64_t kEventsBetweenScans = 1'000'000;
constexpr std::uint64_t kEventsBetweenProgress = 20'000;
constexpr std::uint32_t kRmActor = 0;

/// The outages of every fault of kind `trace`, as the plan wants them.
std::map<std::uint32_t, std::vector<FaultPlan::Outage>> OutagesOf(
    const std::vector<config::FaultSpec>& faults) {
  std::map<std::uint32_t, std::vector<FaultPlan::Outage>> outages;
  for (std::uint32_t i = 0; i < faults.size(); ++i) {
    if (faults[i].outages == nullptr) continue;
    for (const config::NodeOutage& row : *faults[i].outages) {
      outages[i].push_back(
          {.source = row.node, .from = Instant{} + row.start, .to = Instant{} + row.end});
    }
  }
  return outages;
}

}  // namespace

SimHost::SimHost(const config::Scenario& scenario, const RunOptions& options)
    : scenario_(scenario),
      options_(options),
      doubles_(options.doubles == nullptr ? NoDoubles() : *options.doubles),
      seed_(options.seed),
      horizon_(Instant{} + scenario.horizon),
      saboteur_(options.sabotage),
      nodes_(scenario.cluster),
      network_(scenario.cluster.network, nodes_.rack_indices(), options.seed),
      name_node_(NameNodeOptionsOf(scenario.hdfs)),
      nm_of_node_(static_cast<std::size_t>(nodes_.size()), 0),
      arrivals_(scenario, nodes_.largest().gpus, options.seed),
      checkers_(scenario, options.reference),
      result_({.warmup = scenario.warmup, .always_tasks = options.tasks, .timeline = true}),
      expectations_(scenario.expect),
      launch_delays_(options.seed, "containers"),
      hdfs_delays_(options.seed, "hdfs") {
  // A beat that one of them aims at must be there to be met.
  if (!saboteur_.idle()) options_.elide = false;
  if (options.tally) tally_.emplace();
  nodes_.DrawPorts(seed_, options.shift_ports);
  for (std::int32_t i = 0; i < nodes_.size(); ++i) {
    plan_nodes_.push_back(
        {.name = nodes_[i].id.host, .rack = nodes_[i].rack, .labels = nodes_[i].labels});
  }
  fault_began_.resize(scenario.faults.size());
  fault_present_.resize(scenario.faults.size());
  fault_struck_.resize(scenario.faults.size());
  const ClusterView& view = *this;
  faults_.emplace(scenario.faults, view, options.seed, OutagesOf(scenario.faults));
  rm_ = std::make_unique<fakes::ResourceManager>(RmOptionsOf(scenario, nodes_), SeedFor("rm", 0));
  tokens_ = rm_->tokens();
}

SimHost::~SimHost() = default;

std::uint64_t SimHost::SeedFor(std::string_view what, std::uint64_t entity) const {
  return XXH3_64bits_withSeed(what.data(), what.size(), seed_ * 0x9E3779B97F4A7C15ULL + entity);
}

WallTime SimHost::WallNow() const {
  return kWallStart +
         std::chrono::duration_cast<std::chrono::milliseconds>(kernel_.now().time_since_epoch());
}

Party SimHost::PartyOf(const Actor& actor) const {
  const auto name = [this](trace::JobIndex job) -> std::string_view {
    const auto entry = jobs_.find(job.value);
    return entry == jobs_.end() ? std::string_view() : std::string_view(entry->second->name);
  };
  switch (actor.kind) {
    case ActorKind::kRm:
    case ActorKind::kNm:
      return {.job = {}, .task = {}, .place = actor.place};
    case ActorKind::kClient:
      return {.job = name(static_cast<const ClientActor&>(actor).job),
              .task = {},
              .place = actor.place};
    case ActorKind::kAm:
      return {
          .job = name(static_cast<const AmActor&>(actor).job), .task = {}, .place = actor.place};
    case ActorKind::kAgent: {
      const auto& agent = static_cast<const AgentActor&>(actor);
      return {.job = name(agent.job), .task = agent.fence.task, .place = actor.place};
    }
  }
  return {};
}

void SimHost::Start() {
  Trace(trace::RunStarted{
      .scenario = scenario_.name, .scenario_digest = scenario_.digest, .seed = seed_});
  for (std::int32_t i = 0; i < nodes_.size(); ++i) {
    const NodeInfo& node = nodes_[i];
    Trace(trace::NodeDeclared{.node = node.id,
                              .rack = node.rack,
                              .partition = node.partition,
                              .labels = node.labels,
                              .capacity = node.capacity});
  }
  actors_.push_back(std::make_unique<RmActor>(ActorKind::kRm, kRmActor, kRmPlace));
  for (std::int32_t i = 0; i < nodes_.size(); ++i) StartNm(i, std::nullopt);
  SubmitNextArrival();
  ScheduleFaults();
  Reschedule(*actors_[kRmActor]);
}

void SimHost::DrawAnew(std::uint64_t seed) {
  DisturbAllLinks();
  seed_ = seed;
  network_.DrawAnew(seed);
  launch_delays_ = Random(seed, "containers").Shaking();
  hdfs_delays_ = Random(seed, "hdfs").Shaking();
  faults_->DrawAnew(seed, kernel_.now());
  for (const auto& [index, job] : jobs_) job->workload->DrawAnew(seed);
  ScheduleFaults();
  RestoreAllLinks();
}

RunOutcome SimHost::Run() {
  Start();
  // After all that happens at that instant.
  const auto draw_anew = [this](const Future& future) {
    kernel_.At(future.from + Duration(1), [this, seed = future.seed] { DrawAnew(seed); });
  };
  const std::optional<Future>& other = options_.future;
  for (const config::FutureSpec& spec : scenario_.futures) {
    const Future future{.from = Instant{} + spec.from, .seed = spec.seed};
    if (!other || future.from < other->from) draw_anew(future);
  }
  if (other) draw_anew(*other);
  trace::StopReason reason = trace::StopReason::kQuiescent;
  while (true) {
    if (jobs_alive_ == 0 && !arrivals_.next()) break;
    if (kernel_.empty()) break;
    if (kernel_.next_at() > horizon_) {
      kernel_.PassTo(horizon_);
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
  kernel_.RunNext([this](std::uint32_t actor) { RunTimer(actor); });
  if (options_.coverage != nullptr) options_.coverage->Look(kernel_.now());
  if (kernel_.events() % kEventsBetweenScans == 0) ScanInvariants();
  if (kernel_.events() % kEventsBetweenProgress == 0 && options_.progress) {
    options_.progress({.now = kernel_.now(),
                       .horizon = horizon_,
                       .jobs_total = arrivals_.total(),
                       .jobs_ended = jobs_ended_,
                       .events = kernel_.events()});
  }
  return options_.interrupt == nullptr || !options_.interrupt->load(std::memory_order_relaxed);
}

trace::TraceRecord& SimHost::TakeRecord() {
  if (trace::IsRoutine(record_.fact)) return record_;
  checkers_.Observe(record_);
  digest_.Add(record_);
  if (faults_ && faults_->Observe(record_)) ScheduleFaults();
  if (tally_) tally_->Observe(record_);
  result_.Observe(record_);
  expectations_.Observe(record_, result_);
  if (options_.sink) options_.sink(record_);
  for (const Violation& violation : checkers_.TakeNew()) {
    trace::TraceRecord broken{.at = kernel_.now(),
                              .fact = trace::InvariantBroken{.invariant = violation.invariant,
                                                             .detail = violation.detail}};
    digest_.Add(broken);
    result_.Observe(broken);
    if (options_.sink) options_.sink(broken);
  }
  return record_;
}

void SimHost::ScanInvariants() {
  checkers_.FullScan(kernel_.now(), *this);
}

RunOutcome SimHost::Finish(trace::StopReason reason) {
  SettleWorkloads();
  ScanInvariants();
  checkers_.Finish(kernel_.now(), reason);
  if (options_.coverage != nullptr) options_.coverage->Look(kernel_.now());
  Trace(trace::RunStopped{.reason = reason});
  RunOutcome outcome;
  outcome.result = result_.Finish({.version = TFYARN_VERSION,
                                   .digest = trace::ToString(digest_.value()),
                                   .events = kernel_.events(),
                                   .wall_seconds = 0,
                                   .peak_rss_bytes = 0,
                                   .invariants = checkers_.summary()});
  outcome.result.faults_without_effect = FaultsWithoutEffect();
  expectations_.Finish(outcome.result);
  if (tally_) outcome.tallies = tally_->Finish();
  return outcome;
}

void SimHost::SettleWorkloads() {
  std::vector<std::uint32_t> indices;
  for (const auto& [index, job] : jobs_) indices.push_back(index);
  std::sort(indices.begin(), indices.end());
  for (const std::uint32_t index : indices) {
    std::vector<WorkloadOutput> outputs;
    jobs_.at(index)->workload->Settle(kernel_.now(), outputs);
    HandleWorkload(*jobs_.at(index), outputs);
  }
}

RunOutcome RunScenario(const config::Scenario& scenario, const RunOptions& options) {
  SimHost host(scenario, options);
  return host.Run();
}

}  // namespace tfyarn::sim
