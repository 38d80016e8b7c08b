#include "core/am/startup.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/am/am_parts.h"
#include "core/model/rounded_text.h"
#include "core/model/text.h"
#include "core/placement/feasibility.h"

namespace tfyarn::am {
namespace {

constexpr Duration kFirstReadRetry = 1s;
constexpr Duration kLongestReadRetry = 30s;
/// So long a node that nobody has seen yet may still come, after the RM's start and, when its nodes
/// were asked for before that was over, after the AM's. It is the time for which an RM takes a
/// silent node for alive (yarn.nm.liveness-monitor.expiry-interval-ms); NMs that are alive try
/// every 30 s (yarn.resourcemanager.connect.retry-interval.ms).
/// docs/decisions/0002-nodes-that-may-come.md
constexpr Duration kNodesMayCome = 10min;

}  // namespace

void Startup::OnStarted(const AmStarted& started) {
  AmCore& core = parts_.core;
  core.started = started;
  core.started_at = core.now;
  core.snapshot.attempt = started.attempt;
  core.gang.SetNodes(core.now, started.nodes);
  core.started.nodes = {};  // Of thousands of nodes the gang keeps what it needs.
  std::int32_t running = 0;
  for (const yarn::NodeReport& node : started.nodes) {
    if (node.state != yarn::NodeState::kRunning) continue;
    ++running;
    counted_in_queue_[node.partition] += node.capability;
  }
  core.exclusion.SetClusterSize(core.now, running);
  if (WasSurveyedTooEarly()) nodes_come_until_ = core.now + kNodesMayCome;
  core.Emit(ReadJournal{});
}

void Startup::OnJournalFailed(const JournalFailed& failed) {
  AmCore& core = parts_.core;
  if (failed.error.code == hdfs::HdfsErrorCode::kLeaseLost)
    return parts_.finish.Abandon("a later attempt has taken the journal", 1);
  if (failed.seq.value > 0) return core.out.OnFailed(core.now, failed.seq, failed.error.message);
  if (journal_read_) return;
  read_backoff_ = std::clamp(read_backoff_ * 2, kFirstReadRetry, kLongestReadRetry);
  core.timers.ArmJob(Timer::kJournalRetry, core.now + read_backoff_);
  core.Note(fmt::format("journal: could not be read ({}); again in {}", failed.error.message,
                        ToString(read_backoff_)));
}

void Startup::OnJournalRetry() {
  if (journal_read_) return parts_.core.out.OnRetry();
  parts_.core.Emit(ReadJournal{});
}

void Startup::OnJournalRead(const std::string& bytes) {
  AmCore& core = parts_.core;
  if (journal_read_) return core.Note("journal: read again; nothing changes");
  journal_read_ = true;
  const std::int32_t attempt = core.started.attempt.attempt;
  const JournalReading reading = ReadJournalBytes(bytes);
  core.out.OpenJournal(attempt, reading.next_seq(), bytes.empty());
  (void)parts_.recovery.Read(reading);
  (void)core.out.Append(AttemptStarted{.am_attempt = attempt, .wall = core.WallAt(core.now)});
  core.Emit(PublishAddress{.am_attempt = attempt, .address = core.started.address});
  core.Enter(JobState::kAllocating);
  core.rm.Register({.host = core.started.address.host,
                    .rpc_port = core.started.address.port,
                    .tracking_url = core.options.tracking_url});
}

void Startup::OnRegistered(const yarn::RegisterApplicationMasterResponse& response, bool blindly) {
  AmCore& core = parts_.core;
  if (IsZero(core.started.maximum_container))
    core.started.maximum_container = response.maximum_capability;
  // A younger RM says how large its largest node is so far. It refuses itself what is too large.
  if (core.now >= nodes_come_until_) maximum_container_ = core.started.maximum_container;
  if (!core.policy) {
    parts_.recovery.OnRegistered(response.containers_from_previous_attempts, !blindly);
    return parts_.finish.Fail(
        {.exit_class = ExitClass::kInfeasible, .at = core.now, .detail = core.policy_error},
        "policy/invalid", core.policy_error);
  }
  parts_.recovery.OnRegistered(response.containers_from_previous_attempts, !blindly);
  if (core.finishing || core.snapshot.epoch.value > 0) return;
  if (!FailIfNeverPossible(placement::GroupsOf(*core.job))) AskForEverything();
}

bool Startup::FailIfNeverPossible(const std::vector<placement::SlotGroup>& groups) {
  AmCore& core = parts_.core;
  const auto infeasible = placement::FindInfeasible(groups, core.gang.inventory(),
                                                    {.queue_maximum = core.started.queue_maximum,
                                                     .queue_shares = counted_in_queue_,
                                                     .maximum_container = maximum_container_,
                                                     .reserved = core.job->am.resource});
  if (infeasible && WaitForNodes(infeasible->text)) return false;
  limit_.clear();
  core.timers.Disarm(Timer::kNodesMayCome);
  if (!infeasible) return false;
  if (KnowsOfMoreNodes()) {
    core.Note(fmt::format("not possible on the nodes that are known: {}; but the RM counts more",
                          infeasible->text));
    return false;
  }
  parts_.finish.Fail(
      {.exit_class = ExitClass::kInfeasible, .at = core.now, .detail = infeasible->text},
      "gang/infeasible", infeasible->text);
  return true;
}

// ---------------------------------------------------------------- nodes that may come

/// The RM's start is in the application's id. Of what a young RM had seen the AM does not know how
/// much came since, nor does a later attempt what the first one was told.
bool Startup::WasSurveyedTooEarly() const {
  const AmCore& core = parts_.core;
  if (!core.options.nodes_may_come) return false;
  const WallTime rm_started =
      core.options.cluster_timestamps_from +
      std::chrono::milliseconds(core.started.attempt.application.cluster_timestamp);
  return core.options.surveyed - rm_started < kNodesMayCome;
}

void Startup::NodesComeAgain() {
  nodes_come_until_ = parts_.core.now + kNodesMayCome;
}

bool Startup::KnowsOfMoreNodes() const {
  std::int32_t up = 0;
  parts_.core.gang.inventory().Scan([&](const placement::Node& node) {
    if (node.up) ++up;
    return true;
  });
  return parts_.core.nodes_counted > up;
}

bool Startup::WaitForNodes(const std::string& limit) {
  AmCore& core = parts_.core;
  if (core.now >= nodes_come_until_) return false;
  core.timers.ArmJob(Timer::kNodesMayCome, nodes_come_until_);
  limit_ = limit;
  core.asks_dirty = true;
  if (std::exchange(noted_limit_, limit) != limit) {
    core.Note(fmt::format("not possible so far: {}; nodes may still come for {}, then it fails",
                          limit, RoundedText(nodes_come_until_ - core.now)));
  }
  return true;
}

std::string Startup::Doubt() const {
  if (limit_.empty()) return "";
  return fmt::format("; so far {}: nodes may still come, for up to {}", limit_,
                     ToString(kNodesMayCome));
}

// ---------------------------------------------------------------- what training waits for

/// What training holds and waits for, in the sizes wanted now. A task that has ended needs nothing
/// any more.
std::vector<placement::SlotGroup> Startup::TrainingGroups() const {
  const AmCore& core = parts_.core;
  std::vector<placement::SlotGroup> groups;
  for (std::uint32_t i = 0; i < core.tasks.size(); ++i) {
    const TaskIndex task(i);
    const TaskRecord& record = core.tasks.record(task);
    if (!record.training || record.outcome != Outcome::kOpen) continue;
    const SlotRequest slot = core.SlotFor(task);
    const bool another = groups.empty() || groups.back().task_type != slot.task.type ||
                         groups.back().resource != slot.resource;
    if (another) {
      groups.push_back({.task_type = slot.task.type,
                        .resource = slot.resource,
                        .node_label = slot.node_label,
                        .placement = slot.placement});
    }
    ++groups.back().count;
  }
  return groups;
}

void Startup::CheckWhatTrainingWaitsFor() {
  AmCore& core = parts_.core;
  if (core.tasks.CountTraining(TaskState::kWaiting) == 0) return;
  core.feasibility = false;
  core.asks_dirty = true;  // What the job is said to wait for changes, too.
  if (waits_for_nodes()) core.rm.AskAgain();
  (void)FailIfNeverPossible(TrainingGroups());
}

void Startup::AskForEverything() {
  AmCore& core = parts_.core;
  parts_.epochs.Prepare();
  std::vector<TaskIndex> all;
  all.reserve(core.tasks.size());
  for (std::uint32_t i = 0; i < core.tasks.size(); ++i) {
    all.push_back(TaskIndex(i));
    core.tasks.SetStart(TaskIndex(i), StartMode::kWithEpoch);
  }
  parts_.restart.WantContainers(all);
  core.gates = true;
}

}  // namespace tfyarn::am
