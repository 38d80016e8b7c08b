#include "sim/checkers.h"

#include <algorithm>

#include "config/scenario_table.h"
#include "core/model/check.h"
#include "core/model/text.h"
#include "core/model/visit.h"
#include "sim/behavior.h"
#include "sim/checkers_books.h"
#include "sim/random.h"

namespace tfyarn::sim {
namespace {

/// Later violations of the same invariant are counted, but not described.
constexpr std::uint64_t kMostDetails = 100;

/// By how much one message may be slower than another one between the same two.
Duration SpreadOf(const config::NetworkSpec& network) {
  Duration spread{};
  for (const config::Distribution& latency : {network.latency, network.cross_rack}) {
    if (latency.is_constant()) continue;
    const bool bounded = latency.law == config::Law::kUniform;
    spread = std::max(spread, bounded ? SecondsToDuration(latency.b - latency.a) : Duration::max());
  }
  return spread;
}

/// It evaluates or shows something, and does not train.
bool IsBeside(std::string_view type) {
  return type == "evaluator" || type == "tensorboard";
}

/// A type that trains waits for the end of another, which does not train without it.
bool WaitsForItsPeers(const JobSpec& job) {
  const auto trains = [&](const std::string& type) {
    return job.FindType(type) != nullptr && !IsBeside(type);
  };
  return job.strategy != Strategy::kIndependent &&
         std::any_of(job.depends.begin(), job.depends.end(), [&](const Dependency& row) {
           return !row.within && row.state != DependencyState::kRunning && trains(row.task) &&
                  trains(row.after);
         });
}

/// Such a job goes on until it is told otherwise.
bool NothingTrains(const JobSpec& job) {
  return std::all_of(job.tasks.begin(), job.tasks.end(),
                     [](const TaskTypeSpec& type) { return IsBeside(type.name); });
}

/// One of a team leaves it before all is done, with success or where the job's own `success` may
/// let a failure be: the others wait for it.
bool LeavesItsPeers(const JobSpec& job, const config::BehaviorRow& row) {
  const bool let_be = job.success && (row.exit || row.signal);
  // What runs for a time in each attempt is no part of it.
  const bool leaves =
      row.runs ? row.attempt && (let_be || row.exit.value_or(0) == 0) : let_be || row.exit == 0;
  const std::string type = row.task.substr(0, row.task.find(':'));
  return leaves && job.strategy != Strategy::kIndependent &&
         (type.empty() || Trains(job, {.type = type}));
}

bool StandsStill(const config::JobConfig& job) {
  const bool waits = job.training.peer_loss && job.training.peer_loss->wait;
  return waits || job.spec.gang.policy == GangPolicy::kHold || WaitsForItsPeers(job.spec) ||
         NothingTrains(job.spec) ||
         std::any_of(job.behavior.begin(), job.behavior.end(), [&](const config::BehaviorRow& row) {
           return row.hang || row.forever || row.never_listens || row.port_taken ||
                  (row.on_term && row.on_term->ignore) || LeavesItsPeers(job.spec, row);
         });
}

}  // namespace

// ---------------------------------------------------------------- the door

Checkers::Checkers(const config::Scenario& scenario, bool reference)
    : books_(std::make_unique<Books>(scenario)) {
  if (!reference) books_->off_[static_cast<std::size_t>(Invariant::kReferenceVerdict)] = true;
}
Checkers::~Checkers() = default;

void Checkers::JobSubmitted(trace::JobIndex job, std::shared_ptr<const JobSpec> spec) {
  if (books_->on(Invariant::kReferenceVerdict)) books_->reference_.JobSubmitted(job, spec);
  if (books_->on(Invariant::kDurableBeforeVisible)) books_->durable_.JobSubmitted(job, spec);
  books_->conduct_.JobSubmitted(job, spec);
  books_->specs_[job.value] = std::move(spec);
}

void Checkers::JournalStored(trace::JobIndex job, const ApplicationId& application,
                             std::string_view bytes) {
  if (books_->on(Invariant::kDurableBeforeVisible))
    books_->durable_.Stored(job, application, bytes);
}

void Checkers::Observe(const trace::TraceRecord& record) {
  books_->PassLimits(record.at);
  books_->Observe(record);
  books_->ObserveDurable(record);
  books_->ObserveRepeats(record);
  books_->ObserveConduct(record);
  books_->ObserveReference(record);
}

void Checkers::FullScan(Instant now, const WorldView& world) {
  books_->PassLimits(now);
  books_->now_ = now;
  books_->ScanContainers(world);
  books_->ScanProcesses(world);
}

void Checkers::JobSettled(Instant now, trace::JobIndex job, const WorldView& world) {
  books_->Settle(now, job, world);
  books_->reference_.JobSettled(job);
}

void Checkers::Finish(Instant now, trace::StopReason reason) {
  books_->Finish(now, reason);
}

std::vector<Violation> Checkers::TakeNew() {
  return std::exchange(books_->fresh_, {});
}

std::vector<trace::InvariantResult> Checkers::summary() const {
  return {books_->results_.begin(), books_->results_.end()};
}

// ---------------------------------------------------------------- books: what all share

Checkers::Books::Books(const config::Scenario& scenario)
    : times_{.nm_heartbeat = scenario.yarn.nm_heartbeat,
             .nm_expiry = scenario.yarn.nm_expiry,
             .am_expiry = scenario.yarn.am_expiry,
             .container_expiry = scenario.yarn.container_expiry,
             .sigkill_delay = scenario.yarn.sigkill_delay},
      fault_lasts_(FaultsThatLast(scenario)),
      lossy_(scenario.cluster.network.loss > 0),
      conduct_(scenario.cluster.network.loss > 0, fault_lasts_),
      reference_(scenario.cluster.network.loss > 0, SpreadOf(scenario.cluster.network),
                 fault_lasts_) {
  TF_CHECK(config::InvariantNames().size() == kInvariantCount);
  PlanFaults(scenario);
  for (std::size_t i = 0; i < kInvariantCount; ++i) {
    results_[i].name = config::InvariantNames()[i];
    for (const config::InvariantOff& off : scenario.invariants_off) {
      if (off.name != results_[i].name) continue;
      off_[i] = true;
      results_[i].off_because = off.because;
    }
  }
  for (const config::JobConfig& job : scenario.jobs)
    stands_still_[job.spec.name] = StandsStill(job);
  for (const config::ArrivalSpec& arrival : scenario.arrivals) {
    if (arrival.job != nullptr) stands_still_[arrival.prefix + "-"] = StandsStill(*arrival.job);
  }
}

bool Checkers::Books::Checks(Invariant invariant) {
  if (!on(invariant)) return false;
  ++results_[static_cast<std::size_t>(invariant)].checked;
  return true;
}

void Checkers::Books::Report(Invariant invariant, std::string detail) {
  if (!on(invariant)) return;
  trace::InvariantResult& result = results_[static_cast<std::size_t>(invariant)];
  if (result.violations++ == 0) {
    result.first_at = now_;
    result.first_detail = detail;
  }
  if (result.violations > kMostDetails) return;
  fresh_.push_back({.invariant = result.name, .detail = std::move(detail), .at = now_});
}

JobBook* Checkers::Books::JobOf(trace::JobIndex job) {
  const auto found = jobs_.find(job.value);
  return found == jobs_.end() ? nullptr : &found->second;
}

ContainerBook* Checkers::Books::ContainerOf(const ContainerId& id) {
  const auto found = containers_.find(id);
  return found == containers_.end() ? nullptr : &found->second;
}

ApplicationBook& Checkers::Books::ApplicationOf(JobBook& job, const ApplicationId& id) {
  for (ApplicationBook& application : job.applications) {
    if (application.id == id) return application;
  }
  job.applications.push_back({.id = id});
  return job.applications.back();
}

ApplicationBook& Checkers::Books::Acting(JobBook& job) {
  if (job.applications.empty()) job.applications.emplace_back();
  return job.applications.at(job.acting);
}

std::size_t Checkers::Books::LetAct(JobBook& job, std::optional<std::int32_t> resubmission) {
  const std::size_t before = job.acting;
  for (std::size_t i = 0; i < job.applications.size(); ++i) {
    const ApplicationBook& one = job.applications[i];
    if (one.led && one.resubmission == resubmission) job.acting = i;
  }
  return before;
}

AmAttemptBook& Checkers::Books::AttemptOf(JobBook& job, std::int32_t attempt) {
  std::vector<AmAttemptBook>& attempts = Acting(job).attempts;
  for (AmAttemptBook& known : attempts) {
    if (known.attempt == attempt) return known;
  }
  attempts.push_back({.attempt = attempt});
  return attempts.back();
}

std::uint32_t Checkers::Books::NodeIndex(const NodeId& node) {
  const auto [entry, is_new] =
      node_index_.try_emplace(node, static_cast<std::uint32_t>(nodes_.size()));
  if (is_new) nodes_.push_back({.id = node});
  return entry->second;
}

bool Checkers::Books::Undisturbed(Duration quiet) const {
  return wide_faults_under_way_.empty() &&
         (!last_wide_fault_change_ || now_ - *last_wide_fault_change_ > quiet);
}

std::string Checkers::Books::NameOf(const JobBook& job) const {
  return "job " + job.name;
}

// durable-before-visible: its books are HDFS's.
void Checkers::Books::ObserveDurable(const trace::TraceRecord& record) {
  if (!on(Invariant::kDurableBeforeVisible)) return;
  if (const auto* ordered = std::get_if<trace::AmOrdered>(&record.fact)) {
    durable_.Observe(*ordered);
  } else if (const auto* told = std::get_if<trace::AmTold>(&record.fact)) {
    return durable_.Observe(*told);
  } else if (const auto* agent = std::get_if<trace::AgentTold>(&record.fact)) {
    return durable_.Observe(*agent);
  } else {
    return;
  }
  results_[static_cast<std::size_t>(Invariant::kDurableBeforeVisible)].checked = durable_.judged();
  if (durable_.sound()) return;
  const JobBook* job = JobOf(std::get<trace::AmOrdered>(record.fact).job);
  for (const std::string& broken : durable_.TakeNew())
    Report(Invariant::kDurableBeforeVisible, (job == nullptr ? "" : NameOf(*job) + ": ") + broken);
}

// said-again: its books are of what agents and AMs have said.
void Checkers::Books::ObserveRepeats(const trace::TraceRecord& record) {
  if (!on(Invariant::kSaidAgain)) return;
  repeats_.Observe(record);
  results_[static_cast<std::size_t>(Invariant::kSaidAgain)].checked = repeats_.judged();
  if (repeats_.sound()) return;
  for (const RepeatWatch::Broken& broken : repeats_.TakeNew()) {
    const JobBook* job = JobOf(broken.job);
    Report(Invariant::kSaidAgain, (job == nullptr ? "" : NameOf(*job) + ": ") + broken.what);
  }
}

// as-asked, notice-passed-on, gives-not-up, no-idle-containers, depends-kept, and more of six
// others.
void Checkers::Books::ObserveConduct(const trace::TraceRecord& record) {
  using Of = ConductWatch::Of;
  static constexpr std::array<Invariant, ConductWatch::kOfCount> kInvariants = {
      Invariant::kAsAsked,          Invariant::kNoticePassedOn, Invariant::kGivesNotUp,
      Invariant::kNoIdleContainers, Invariant::kDependsKept,    Invariant::kGoodCitizen,
      Invariant::kLimitsKept,       Invariant::kVerdict,        Invariant::kOneOwner,
      Invariant::kOneAttempt,       Invariant::kOneSpec};
  conduct_.Observe(record);
  for (const Of own : {Of::kAsAsked, Of::kNoticePassedOn, Of::kGivesNotUp, Of::kNoIdleContainers,
                       Of::kDependsKept})
    results_[static_cast<std::size_t>(kInvariants[static_cast<std::size_t>(own)])].checked =
        conduct_.judged(own);
  if (conduct_.sound()) return;
  for (const ConductWatch::Broken& broken : conduct_.TakeNew()) {
    const Invariant invariant = kInvariants[static_cast<std::size_t>(broken.of)];
    const JobBook* job = JobOf(broken.job);
    if (on(invariant)) Report(invariant, (job == nullptr ? "" : NameOf(*job) + ": ") + broken.what);
  }
}

// reference-verdict: the model keeps books of its own.
void Checkers::Books::ObserveReference(const trace::TraceRecord& record) {
  if (!on(Invariant::kReferenceVerdict)) return;
  reference_.Observe(record);
  std::uint64_t& checked = results_[static_cast<std::size_t>(Invariant::kReferenceVerdict)].checked;
  if (checked == reference_.judged()) return;
  checked = reference_.judged();
  for (std::string& broken : reference_.TakeNew())
    Report(Invariant::kReferenceVerdict, std::move(broken));
}

// The table: who looks at which kind of record.
void Checkers::Books::Observe(const trace::TraceRecord& record) {
  now_ = record.at;
  std::visit(Overloaded{Ignore<trace::RunStarted, trace::WorkLost, trace::InvariantBroken,
                               trace::ContainersLeaked, trace::RunStopped, trace::TrainingAccounted,
                               trace::JobRunStarted>{},
                        [this](const trace::NodeDeclared& fact) { On(fact); },
                        [this](const trace::NodePower& fact) { On(fact); },
                        [this](const trace::JobCreated& fact) { On(fact); },
                        [this](const trace::ContainerGranted& fact) { On(fact); },
                        [this](const trace::ContainerFreed& fact) { On(fact); },
                        [this](const trace::ContainerLocalizing& fact) { On(fact); },
                        [this](const trace::ContainerLaunched& fact) { On(fact); },
                        [this](const trace::ContainerGone& fact) { On(fact); },
                        [this](const trace::TrainingPhaseChanged& fact) { On(fact); },
                        [this](const trace::FaultBegan& fact) { On(fact); },
                        [this](const trace::FaultEnded& fact) { On(fact); },
                        [this](const trace::AmTold& fact) { On(fact); },
                        [this](const trace::AmOrdered& fact) { On(fact); },
                        [this](const trace::AgentTold& fact) { On(fact); },
                        [this](const trace::AgentOrdered& fact) { On(fact); },
                        [this](const trace::ClientTold& fact) { On(fact); },
                        [this](const trace::ClientOrdered& fact) { On(fact); },
                        [this](const trace::ApplicationEnded& fact) { On(fact); }},
             record.fact);
}

}  // namespace tfyarn::sim
