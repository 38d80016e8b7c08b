#include "core/am/observe/startup.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/am/am_parts.h"
#include "core/model/probe.h"
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
  core.allocation.OnStarted(started);
  core.started.nodes = {};  // Of thousands of nodes the allocation keeps what it needs.
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
  core.allocation.Register(core.started.address, core.options.tracking_url);
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

void Startup::OnAdmitted(const allocation::Admission& admission) {
  AmCore& core = parts_.core;
  if (!core.policy) {
    parts_.recovery.OnAdmitted(admission);
    return parts_.finish.Fail(
        {.exit_class = ExitClass::kInfeasible, .at = core.now, .detail = core.policy_error},
        "policy/invalid", core.policy_error);
  }
  const bool taken_over = parts_.recovery.taken_over();
  if (taken_over) (void)core.allocation.Suspend();  // Nothing is asked for before it is judged.
  parts_.recovery.OnAdmitted(admission);
  parts_.agent_desk.HearEarly();
  if (core.finishing) {
    TF_PROBE("startup/goes-on");
    return;
  }
  const std::vector<placement::SlotGroup> groups =
      taken_over ? TrainingGroups() : placement::GroupsOf(*core.job);
  if (const auto never = core.allocation.BeyondSetting(groups)) return FailAsImpossible(*never);
  if (taken_over) return core.allocation.JudgeWhenCounted(groups, core.tasks.containers() > 0);
  if (FailIfNeverPossible(groups)) return;
  if (const auto limit = core.allocation.TooLargeSoFar(groups)) (void)OnSizeRefused(*limit);
  AskForEverything();
}

bool Startup::FailIfNeverPossible(const std::vector<placement::SlotGroup>& groups) {
  const allocation::Judgement judgement = parts_.core.allocation.Judge(groups);
  switch (judgement.is) {
    case allocation::Judgement::Is::kPossible:
      return false;
    case allocation::Judgement::Is::kWait:
      WaitForNodes(judgement.limit);
      return false;
    case allocation::Judgement::Is::kNever:
      FailAsImpossible(judgement.limit);
      return true;
  }
  return false;
}

void Startup::FailAsImpossible(const std::string& limit) {
  TF_PROBE("startup/impossible");
  parts_.finish.Fail({.exit_class = ExitClass::kInfeasible, .at = parts_.core.now, .detail = limit},
                     "gang/infeasible", limit);
}

bool Startup::OnSizeRefused(const std::string& limit) {
  if (!parts_.core.allocation.MayFitLater(TrainingGroups())) return false;
  WaitForNodes(limit);
  return true;
}

void Startup::WaitForNodes(const std::string& limit) {
  allocation::Allocation& allocation = parts_.core.allocation;
  parts_.restart.TakeGivenBack(allocation.Suspend());
  allocation.AwaitNodes(limit);
}

// ---------------------------------------------------------------- what training waits for

bool Startup::WaitsForEveryTask() const {
  const AmCore& core = parts_.core;
  return core.job->gang.policy != GangPolicy::kNone && !core.gang_was_complete;
}

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
  core.allocation.OnJudged();
  const bool complete = WaitsForEveryTask() ? core.allocation.complete()
                                            : core.tasks.CountTraining(TaskState::kWaiting) == 0;
  if (complete) return core.allocation.WaitNoMore();
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
