#include "core/am/am_core.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/allocation/allocation_options.h"
#include "core/am/transitions.h"
#include "core/journal/codec.h"
#include "core/model/check.h"
#include "core/model/random_stream.h"

namespace tfyarn::am {
namespace {

std::uint64_t Mix(std::uint64_t x) {
  return MixBits(x + kGoldenGamma);
}

allocation::AllocationOptions AllocationOptionsOf(AmOptions& options, std::uint64_t seed) {
  return {.seed = seed,
          .heartbeat = options.rm_heartbeat,
          .fast_heartbeat = options.rm_heartbeat_fast,
          .container_expiry = options.container_expiry,
          .agent_context = std::move(options.agent_context),
          .cluster_timestamps_from = options.cluster_timestamps_from,
          .surveyed = options.surveyed,
          .nodes_may_come = options.nodes_may_come};
}

/// The first four stages follow from where the training tasks stand (JobLife::StageOfTraining), so
/// one event may skip some.
constexpr TransitionRow<JobState, std::string_view> kStages[] = {
    {JobState::kSubmitted, "JournalRead", JobState::kAllocating},
    {JobState::kAllocating, "GangComplete", JobState::kLaunching},
    {JobState::kAllocating, "EveryContainerLaunched", JobState::kRegistering},
    {JobState::kAllocating, "EveryProcessRuns", JobState::kRunning},
    {JobState::kLaunching, "EveryContainerLaunched", JobState::kRegistering},
    {JobState::kLaunching, "EveryProcessRuns", JobState::kRunning},
    {JobState::kLaunching, "ContainerNeeded", JobState::kAllocating},
    {JobState::kRegistering, "EveryProcessRuns", JobState::kRunning},
    {JobState::kRegistering, "ContainerNeeded", JobState::kAllocating},
    {JobState::kRegistering, "ContainerToLaunch", JobState::kLaunching},
    {JobState::kRunning, "ProcessToStart", JobState::kRegistering},
    {JobState::kRunning, "ContainerNeeded", JobState::kAllocating},
    {JobState::kRunning, "ContainerToLaunch", JobState::kLaunching},
    {JobState::kSubmitted, "VerdictDurable", JobState::kDraining},
    {JobState::kAllocating, "VerdictDurable", JobState::kDraining},
    {JobState::kLaunching, "VerdictDurable", JobState::kDraining},
    {JobState::kRegistering, "VerdictDurable", JobState::kDraining},
    {JobState::kRunning, "VerdictDurable", JobState::kDraining},
    {JobState::kDraining, "FinalStatusConfirmed", JobState::kFinished},
};

std::optional<policy::Engine> MakePolicy(const JobSpec& job, std::string& error) {
  Expected<policy::Engine> policy = policy::Engine::Make(job);
  if (policy) return std::move(*policy);
  error = policy.error().message;
  return std::nullopt;
}

}  // namespace

AmCore::AmCore(std::shared_ptr<const JobSpec> job_spec, AmOptions am_options,
               std::uint64_t random_seed)
    : job(std::move(job_spec)),
      options(std::move(am_options)),
      seed(random_seed),
      policy(MakePolicy(*job, policy_error)),
      tasks(
          *job,
          [this](const std::string& type) {
            return policy ? policy->ClassOf(type) : DefaultClass(type);
          },
          snapshot),
      heartbeats(job->heartbeat.every * job->heartbeat.missed, tasks.size()),
      allocation(*job, AllocationOptionsOf(options, seed), out) {
  snapshot.state = JobState::kSubmitted;
  ledger.Size(tasks.size());
#ifdef TFYARN_CHECKED
  folded = ledger;
#endif
  for (std::uint32_t i = 0; policy && i < tasks.size(); ++i) {
    tasks.mutable_record(TaskIndex(i)).chief = policy->IsChief(tasks.id(TaskIndex(i)));
  }
}

JournalSeq AmCore::Append(const journal::JournalEntry& entry) {
  const JournalSeq seq = out.Append(entry);
  Take(entry);
  return seq;
}

void AmCore::Take(const journal::JournalEntry& entry) {
  Apply(entry, *job, tasks, ledger);
#ifdef TFYARN_CHECKED
  const auto read_back = journal::DecodeEntry(journal::EncodeEntry(entry));
  TF_CHECK(read_back.has_value());
  Apply(*read_back, *job, tasks, folded);
#endif
}

const std::vector<Transition>& JobTransitions() {
  static const std::vector<Transition> kTransitions = [] {
    std::vector<Transition> all;
    AppendTransitions(all, "", kStages);
    return all;
  }();
  return kTransitions;
}

void AmCore::Enter(JobState state) {
  if (snapshot.state == state) return;
  TF_CHECK(IsAllowed(kStages, snapshot.state, state));
  snapshot.state = state;
  if (state == JobState::kRunning) ever_running = true;
  Emit(JobStateChanged{.state = state});
}

/// Its agent has not found this attempt, which has not launched it.
bool AmCore::IsOfEarlierAttempt(TaskIndex task) const {
  const TaskRecord& record = tasks.record(task);
  return record.agent == AgentPhase::kLaunching && record.register_by == kNever;
}

bool AmCore::Awaits(TaskIndex task) const {
  return agents_until != kNever && IsOfEarlierAttempt(task);
}

bool AmCore::AwaitsAgents() const {
  if (agents_until == kNever) return false;
  for (std::uint32_t i = 0; i < tasks.size(); ++i) {
    if (IsOfEarlierAttempt(TaskIndex(i))) return true;
  }
  return false;
}

StoredTime AmCore::StoredAt(Instant instant) const {
  return started.wall + clock_behind + (instant - started_at);
}

Instant AmCore::InstantAt(StoredTime at) const {
  return started_at + (at - started.wall - clock_behind);
}

Instant AmCore::AgentsLookUntil() const {
  return hdfs_writes_since.value_or(now) + kAgentsLook;
}

allocation::SlotRequest AmCore::SlotFor(TaskIndex task) const {
  const TaskTypeSpec& type = TypeOf(task);
  allocation::SlotRequest slot{.task = tasks.id(task),
                               .resource = type.resource,
                               .node_label = type.node_label,
                               .placement = type.placement,
                               .priority = static_cast<std::int32_t>(tasks.record(task).type) + 1};
  const std::int64_t raised = ledger.of(task).memory_mb;
  if (raised > 0) slot.resource.memory_mb = raised;
  return slot;
}

Nonce AmCore::NonceFor(std::int32_t am_attempt, TaskIndex task, Incarnation incarnation) const {
  std::uint64_t x = Mix(seed);
  x = Mix(x ^ static_cast<std::uint64_t>(am_attempt));
  x = Mix(x ^ task.value);
  return Nonce(Mix(x ^ incarnation.value));
}

Cause AmCore::CauseOf(const AttemptEnd& end) const {
  return {.task = tasks.id(end.task),
          .exit = end.record.exit,
          .exit_class = end.record.exit_class,
          .node = end.node.host,
          .at = end.at,
          .detail = end.detail};
}

journal::JournaledCause AmCore::Journaled(const Cause& cause) const {
  return {.task = cause.task,
          .exit = cause.exit,
          .exit_class = cause.exit_class,
          .node = cause.node,
          .at = StoredAt(cause.at),
          .detail = cause.detail};
}

Cause AmCore::FromJournal(const journal::JournaledCause& cause) const {
  return {.task = cause.task,
          .exit = cause.exit,
          .exit_class = cause.exit_class,
          .node = cause.node,
          .at = InstantAt(cause.at),
          .detail = cause.detail};
}

}  // namespace tfyarn::am
