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

const Doubles& DoublesOf(const RunOptions& options) {
  return options.doubles == nullptr ? NoDoubles() : *options.doubles;
}

}  // namespace

SimHost::SimHost(const config::Scenario& scenario, const RunOptions& options)
    : Driver<fakes::ResourceManager>(kernel_, links_, DoublesOf(options)),
      Driver<fakes::NodeManager>(kernel_, links_, DoublesOf(options)),
      Driver<client::JobClient>(kernel_, links_, DoublesOf(options)),
      Driver<am::ApplicationMaster>(kernel_, links_, DoublesOf(options)),
      Driver<agent::TaskAgent>(kernel_, links_, DoublesOf(options)),
      scenario_(scenario),
      options_(options),
      doubles_(DoublesOf(options)),
      seed_(options.seed),
      horizon_(Instant{} + scenario.horizon),
      saboteur_(options.sabotage),
      // A beat that one of them aims at must be there to be met.
      links_(kernel_, message_faults_, options.elide && saboteur_.idle()),
      cluster_(scenario, options.seed),
      name_node_(NameNodeOptionsOf(scenario.hdfs)),
      rm_actor_(links_, *this, kRmPlace),
      arrivals_(scenario, cluster_.nodes.largest().gpus, options.seed),
      checkers_(scenario, options.reference),
      result_({.warmup = scenario.warmup, .always_tasks = options.tasks, .timeline = true}),
      expectations_(scenario.expect),
      launch_delays_(options.seed, "containers"),
      hdfs_delays_(options.seed, "hdfs") {
  if (options.tally) tally_.emplace();
  cluster_.nodes.DrawPorts(seed_, options.shift_ports);
  for (std::int32_t i = 0; i < cluster_.nodes.size(); ++i) {
    plan_nodes_.push_back({.name = cluster_.nodes[i].id.host,
                           .rack = cluster_.nodes[i].rack,
                           .labels = cluster_.nodes[i].labels});
  }
  fault_began_.resize(scenario.faults.size());
  fault_present_.resize(scenario.faults.size());
  fault_struck_.resize(scenario.faults.size());
  const ClusterView& view = *this;
  faults_.emplace(scenario.faults, view, options.seed, OutagesOf(scenario.faults));
  rm_actor_.machine = std::make_unique<fakes::ResourceManager>(
      RmOptionsOf(scenario, cluster_.nodes), SeedFor("rm", 0));
  tokens_ = rm_actor_.machine->tokens();
}

SimHost::~SimHost() = default;

std::uint64_t SimHost::SeedFor(std::string_view what, std::uint64_t entity) const {
  return XXH3_64bits_withSeed(what.data(), what.size(), seed_ * 0x9E3779B97F4A7C15ULL + entity);
}

WallTime SimHost::WallNow() const {
  return kWallStart +
         std::chrono::duration_cast<std::chrono::milliseconds>(kernel_.now().time_since_epoch());
}

std::string_view SimHost::NameOf(trace::JobIndex index) const {
  const JobRecord* job = cluster_.JobAt(index);
  return job == nullptr ? std::string_view() : std::string_view(job->name);
}

void SimHost::Start() {
  Trace(trace::RunStarted{
      .scenario = scenario_.name, .scenario_digest = scenario_.digest, .seed = seed_});
  for (std::int32_t i = 0; i < cluster_.nodes.size(); ++i) {
    const NodeInfo& node = cluster_.nodes[i];
    Trace(trace::NodeDeclared{.node = node.id,
                              .rack = node.rack,
                              .partition = node.partition,
                              .labels = node.labels,
                              .capacity = node.capacity});
  }
  for (std::int32_t i = 0; i < cluster_.nodes.size(); ++i) StartNm(i, std::nullopt);
  SubmitNextArrival();
  ScheduleFaults();
  links_.Reschedule(rm_actor_);
}

void SimHost::DrawAnew(std::uint64_t seed) {
  links_.DisturbAll();
  seed_ = seed;
  cluster_.network.DrawAnew(seed);
  launch_delays_ = Random(seed, "containers").Shaking();
  hdfs_delays_ = Random(seed, "hdfs").Shaking();
  faults_->DrawAnew(seed, kernel_.now());
  for (const auto& [index, job] : cluster_.jobs) job->workload->DrawAnew(seed);
  ScheduleFaults();
  links_.RestoreAll();
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
  kernel_.RunNext([this](std::uint32_t actor) { links_.Wake(actor); });
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

void SimHost::StepRm(fakes::RmEvent&& event) {
  TF_CHECK(rm_actor_.machine != nullptr);
  rm_actor_.StepNow(std::move(event));
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
  for (JobRecord* job : cluster_.JobsInOrder()) {
    std::vector<WorkloadOutput> outputs;
    job->workload->Settle(kernel_.now(), outputs);
    HandleWorkload(*job, outputs);
  }
}

RunOutcome RunScenario(const config::Scenario& scenario, const RunOptions& options) {
  SimHost host(scenario, options);
  return host.Run();
}

}  // namespace tfyarn::sim
