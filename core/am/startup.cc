#include "core/am/startup.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/am/am_parts.h"
#include "core/model/probe.h"
#include "core/model/rounded_text.h"
#include "core/model/text.h"
#include "core/placement/feasibility.h"

namespace tfyarn::am {
namespace {

constexpr Duration kFirstReadRetry = 1s;
constexpr Duration kLongestReadRetry = 30s;
/// Three heartbeats to the RM: an AM that it has replaced is told so before.
constexpr Duration kTakesBackAfter = 3s;

/// Of the attempt whose word counts in the end.
std::int32_t NewestWriter(const journal::JournalReading& reading) {
  return reading.entries.empty() ? 0 : reading.entries.back().writer.am_attempt;
}

}  // namespace

void Startup::OnStarted(const AmStarted& started) {
  AmCore& core = parts_.core;
  core.started = started;
  core.started_at = core.now;
  core.snapshot.attempt = started.attempt;
  core.gang.SetNodes(core.now, started.nodes);
  core.started.nodes = {};  // Of thousands of nodes the gang keeps what it needs.
  for (const TaskTypeSpec& type : core.job->tasks) partitions_.insert(type.node_label);
  std::int32_t running = 0;
  auto partition = counted_in_queue_.end();  // Most nodes are in the partition of the one before.
  for (const yarn::NodeReport& node : started.nodes) {
    if (node.state != yarn::NodeState::kRunning) continue;
    ++known_;
    partitions_.contains(node.partition) ? ++running : ++out_of_reach_;
    if (partition == counted_in_queue_.end() || partition->first != node.partition)
      partition = counted_in_queue_.try_emplace(node.partition).first;
    partition->second += node.capability;
  }
  core.exclusion.SetClusterSize(core.now, running);
  if (out_of_reach_ > 0) TF_PROBE("startup/nodes-out-of-reach");
  if (WasSurveyedTooEarly()) nodes_come_until_ = core.now + core.job->deadlines.nodes;
  core.Emit(ReadJournal{});
}

void Startup::OnJournalFailed(const JournalFailed& failed) {
  AmCore& core = parts_.core;
  if (failed.error.code == hdfs::HdfsErrorCode::kLeaseLost && journal_read_) {
    TF_PROBE("startup/journal-taken-by-another-attempt");
    journal_lost_ = true;
    core.out.RetryAt(core.now + kTakesBackAfter);
    return core.Note(
        "journal: another attempt has taken it; where the RM does not end this one, it "
        "takes it back");
  }
  if (failed.seq.value > 0) return core.out.OnFailed(core.now, failed.seq, failed.error.message);
  if (journal_read_ && !journal_lost_) return;
  TF_PROBE("startup/journal-is-not-read");
  read_backoff_ = std::clamp(read_backoff_ * 2, kFirstReadRetry, kLongestReadRetry);
  core.out.RetryAt(core.now + read_backoff_);
  core.Note(fmt::format("journal: could not be read ({}); again in {}", failed.error.message,
                        ToString(read_backoff_)));
}

void Startup::OnJournalRetry() {
  AmCore& core = parts_.core;
  if (journal_read_ && !journal_lost_) return core.out.OnRetry();
  core.out.RetryAt(kNever);
  core.Emit(ReadJournal{});
}

void Startup::OnJournalRead(const std::string& bytes) {
  AmCore& core = parts_.core;
  if (journal_read_ && !journal_lost_) return core.Note("journal: read again; nothing changes");
  const std::int32_t attempt = core.started.attempt.attempt;
  const journal::JournalReading reading = journal::ReadJournalBytes(bytes);
  if (reading.refused) {
    TF_PROBE("startup/journal-of-another-version");
    return parts_.finish.Abandon(
        fmt::format("the journal was written by another version of tfyarn ({}): all attempts of a "
                    "job need the same version",
                    *reading.refused),
        1);
  }
  if (NewestWriter(reading) > attempt) {
    TF_PROBE("startup/journal-of-a-later-attempt");
    return parts_.finish.Abandon("a later attempt has taken the journal", 1);
  }
  if (std::exchange(journal_read_, true)) return TakeJournalBack(reading);
  core.out.OpenJournal(attempt, reading.next_seq(), bytes.empty());
  parts_.recovery.Read(reading);
  (void)core.Append(journal::AttemptStarted{.am_attempt = attempt, .at = core.StoredAt(core.now)});
  core.Emit(PublishAddress{.am_attempt = attempt, .address = core.started.address});
  core.Enter(JobState::kAllocating);
  core.rm.Register({.host = core.started.address.host,
                    .rpc_port = core.started.address.port,
                    .tracking_url = core.options.tracking_url});
}

/// An earlier attempt that starts late, or at the same time, reads the journal and takes it. What
/// it has decided since counts no more: it may have acted on that, and the next attempt must know.
void Startup::TakeJournalBack(const journal::JournalReading& reading) {
  AmCore& core = parts_.core;
  journal_lost_ = false;
  const JournalSeq known = core.out.durable();
  const bool gone = reading.next_seq() <= known;
  const bool decided = std::any_of(
      reading.entries.begin(), reading.entries.end(), [&](const journal::ReadEntry& read) {
        return read.seq > known && read.writer.am_attempt < core.started.attempt.attempt &&
               !std::holds_alternative<journal::AttemptStarted>(read.entry);
      });
  if (gone || decided) {
    TF_PROBE("startup/journal-has-what-another-decided");
    return parts_.finish.Abandon(
        gone ? "the journal is gone" : "an earlier attempt has decided what this one does not know",
        1);
  }
  TF_PROBE("startup/journal-taken-back");
  core.Note("journal: taken back");
  core.out.OnRetry();
}

void Startup::OnRegistered(const yarn::RegisterApplicationMasterResponse& response, bool blindly) {
  AmCore& core = parts_.core;
  if (IsZero(core.started.maximum_container))
    core.started.maximum_container = response.maximum_capability;
  core.registered_maximum = response.maximum_capability;
  if (!core.policy) {
    parts_.recovery.OnRegistered(response.containers_from_previous_attempts, !blindly);
    return parts_.finish.Fail(
        {.exit_class = ExitClass::kInfeasible, .at = core.now, .detail = core.policy_error},
        "policy/invalid", core.policy_error);
  }
  const bool taken_over = parts_.recovery.taken_over();
  if (taken_over) (void)core.gang.Suspend(core.now);  // Nothing is asked for before it is judged.
  parts_.recovery.OnRegistered(response.containers_from_previous_attempts, !blindly);
  parts_.agent_desk.HearEarly();
  if (core.finishing) {
    TF_PROBE("startup/goes-on");
    return;
  }
  const std::vector<placement::SlotGroup> groups =
      taken_over ? TrainingGroups() : placement::GroupsOf(*core.job);
  if (const auto never =
          placement::FindBeyondSetting(groups, core.gang.inventory(), response.maximum_capability))
    return FailAsImpossible(never->text);
  if (taken_over) return JudgeWhenCounted(groups);
  if (FailIfNeverPossible(groups)) return;
  WaitIfTooLargeSoFar(groups, response.maximum_capability);
  AskForEverything();
}

/// A young RM that has told the client of no node, and seen none since that is large enough,
/// refuses what is asked for: it says so with the registration.
void Startup::WaitIfTooLargeSoFar(const std::vector<placement::SlotGroup>& groups,
                                  const Resource& largest) {
  const AmCore& core = parts_.core;
  if (core.now >= nodes_come_until_ || known_ > 0 || waits_for_nodes()) return;
  const auto too_large =
      placement::FindInfeasible(groups, placement::Inventory(), {.maximum_container = largest});
  if (too_large) (void)OnSizeRefused(too_large->text);
}

/// The client's list of nodes is as old as the application: how many the RM counts says whether
/// some have come since. What is out of reach by that list is not asked for before.
void Startup::JudgeWhenCounted(const std::vector<placement::SlotGroup>& groups) {
  AmCore& core = parts_.core;
  judge_when_counted_ = true;
  if (core.tasks.containers() > 0 || !LimitOfNodes(groups)) core.gang.Resume(core.now);
}

bool Startup::FailIfNeverPossible(const std::vector<placement::SlotGroup>& groups) {
  AmCore& core = parts_.core;
  const std::optional<placement::Infeasible> infeasible = LimitOfNodes(groups);
  if (!infeasible) {
    WaitNoMore();
    return false;
  }
  if (core.nodes_counted > known_ && !size_refused_) {
    TF_PROBE("startup/rm-counts-more-nodes");
    WaitNoMore();
    core.Note(fmt::format("not possible on the nodes that are known: {}; but the RM counts more",
                          infeasible->text));
    return false;
  }
  if (core.now < nodes_come_until_) {
    TF_PROBE("startup/waits-for-nodes");
    WaitForNodes(infeasible->text);
    return false;
  }
  WaitNoMore();
  FailAsImpossible(infeasible->text);
  return true;
}

void Startup::FailAsImpossible(const std::string& limit) {
  TF_PROBE("startup/impossible");
  parts_.finish.Fail({.exit_class = ExitClass::kInfeasible, .at = parts_.core.now, .detail = limit},
                     "gang/infeasible", limit);
}

std::optional<placement::Infeasible> Startup::LimitOfNodes(
    const std::vector<placement::SlotGroup>& groups) const {
  const AmCore& core = parts_.core;
  // A young RM says how large its largest node is so far.
  const bool young = core.now < nodes_come_until_;
  return placement::FindInfeasible(
      groups, core.gang.inventory(),
      {.queue_maximum = core.started.queue_maximum,
       .queue_shares = counted_in_queue_,
       .maximum_container = young ? Resource() : core.started.maximum_container,
       .reserved = core.job->am.resource});
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
  return core.options.surveyed - rm_started < core.job->deadlines.nodes;
}

void Startup::NodesComeAgain() {
  TF_PROBE("startup/nodes-come-again");
  nodes_come_until_ = parts_.core.now + parts_.core.job->deadlines.nodes;
  parts_.core.nodes_counted = 0;
  size_refused_ = false;
}

void Startup::OnNodesCounted(std::int32_t nodes) {
  AmCore& core = parts_.core;
  core.nodes_counted = nodes;
  core.gang.SetUnseenNodes(core.now, nodes > known_);
  if (std::exchange(judge_when_counted_, false)) {
    if (nodes > known_ || !LimitOfNodes(TrainingGroups())) core.gang.Resume(core.now);
    core.feasibility = true;
  }
  if (waits_for_nodes() && (!size_refused_ || RmKnowsThemAll())) core.feasibility = true;
}

void Startup::TakeNodes(std::int32_t counted, const std::vector<yarn::NodeReport>& changed) {
  AmCore& core = parts_.core;
  core.nodes_counted = counted;
  if (!changed.empty()) {
    known_ = out_of_reach_ = 0;
    core.gang.inventory().Scan([&](const placement::Node& node) {
      if (node.up) ++known_;
      if (node.up && !partitions_.contains(node.partition)) ++out_of_reach_;
      return true;
    });
  }
  // What the job cannot use is no choice that it has.
  core.exclusion.SetClusterSize(core.now, counted - out_of_reach_);
  core.gang.SetUnseenNodes(core.now, counted > known_);
}

bool Startup::RmKnowsThemAll() const {
  return known_ > 0 && parts_.core.nodes_counted >= known_;
}

/// The RM grants nothing larger than the largest node that it has seen: which says nothing of nodes
/// that it has not seen, or not again after its restart. If it has seen all that we know, and they
/// could hold it, then a setting of its own does not allow it.
bool Startup::OnSizeRefused(const std::string& limit) {
  AmCore& core = parts_.core;
  const bool setting = RmKnowsThemAll() && !LimitOfNodes(TrainingGroups());
  if (core.now >= nodes_come_until_ || setting) return false;
  TF_PROBE("startup/size-refused-for-now");
  size_refused_ = true;
  WaitForNodes(limit);
  return true;
}

void Startup::WaitForNodes(const std::string& limit) {
  AmCore& core = parts_.core;
  if (!core.gang.suspended()) parts_.restart.TakeGivenBack(core.gang.Suspend(core.now));
  if (std::exchange(limit_, limit) == limit) return;
  const Duration left = nodes_come_until_ - core.now;
  core.Emit(NodesAwaited{.limit = limit, .at_most = left});
  core.Note(
      fmt::format("not possible so far: {}; nodes may still come for {}, then it fails; "
                  "nothing is asked for meanwhile",
                  limit, RoundedText(left)));
}

void Startup::WaitNoMore() {
  AmCore& core = parts_.core;
  // An AM that takes over asks for nothing before it is judged, and need not have waited since.
  if (limit_.empty() && !core.gang.suspended()) return;
  core.gang.Resume(core.now);
  if (limit_.empty()) return;
  TF_PROBE("startup/nodes-came");
  limit_.clear();
  core.Emit(NodesAwaited{});
}

Instant Startup::judges_nodes_at() const {
  return waits_for_nodes() && !parts_.core.feasibility ? nodes_come_until_ : kNever;
}

std::string Startup::WaitingFor() const {
  if (limit_.empty()) return "";
  return fmt::format("nodes that may still come, for up to {}: {}",
                     ToString(parts_.core.job->deadlines.nodes), limit_);
}

// ---------------------------------------------------------------- what training waits for

bool Startup::WaitsForEveryTask() const {
  const AmCore& core = parts_.core;
  return core.job->gang.policy != GangPolicy::kNone && !core.gang_was_complete;
}

/// What training holds and waits for, in the sizes wanted now. A task that has ended needs nothing
/// any more.
std::vector<placement::SlotGroup> Startup::TrainingGroups() const {
  const AmCore& core = parts_.core;
  const bool every = WaitsForEveryTask();
  std::vector<placement::SlotGroup> groups;
  for (std::uint32_t i = 0; i < core.tasks.size(); ++i) {
    const TaskIndex task(i);
    const TaskRecord& record = core.tasks.record(task);
    if (record.outcome != policy::Outcome::kOpen || !(record.training || every)) continue;
    const allocation::SlotRequest slot = core.SlotFor(task);
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
  core.feasibility = false;
  const bool complete = WaitsForEveryTask() ? core.gang.complete()
                                            : core.tasks.CountTraining(TaskState::kWaiting) == 0;
  if (complete) return WaitNoMore();
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
}

}  // namespace tfyarn::am
