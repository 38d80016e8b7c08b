#include "core/am/startup.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/am/am_parts.h"
#include "core/model/text.h"
#include "core/placement/feasibility.h"

namespace tfyarn::am {
namespace {

constexpr Duration kFirstRetry = 1s;
constexpr Duration kLongestRetry = 30s;

}  // namespace

void Startup::OnStarted(const AmStarted& started) {
  AmCore& core = parts_.core;
  core.started = started;
  core.started_at = core.now;
  core.snapshot.attempt = started.attempt;
  core.gang.SetNodes(core.now, started.nodes);
  const auto running = std::count_if(
      started.nodes.begin(), started.nodes.end(),
      [](const yarn::NodeReport& node) { return node.state == yarn::NodeState::kRunning; });
  core.exclusion.SetClusterSize(core.now, static_cast<std::int32_t>(running));
  core.Emit(ReadJournal{});
}

void Startup::OnJournalFailed(const JournalFailed& failed) {
  AmCore& core = parts_.core;
  if (failed.seq.value > 0) return core.out.OnFailed(core.now, failed.seq, failed.error.message);
  if (journal_read_) return;
  read_backoff_ = std::clamp(read_backoff_ * 2, kFirstRetry, kLongestRetry);
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
  const auto infeasible =
      placement::FindInfeasible(groups, core.gang.inventory(),
                                {.queue_maximum = core.started.queue_maximum,
                                 .maximum_container = core.started.maximum_container,
                                 .reserved = core.job->am.resource});
  if (!infeasible) return false;
  parts_.finish.Fail(
      {.exit_class = ExitClass::kInfeasible, .at = core.now, .detail = infeasible->text},
      "gang/infeasible", infeasible->text);
  return true;
}

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
