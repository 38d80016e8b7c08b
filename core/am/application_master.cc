#include "core/am/application_master.h"

#include <utility>
#include <variant>

#include "core/am/am_parts.h"
#include "core/model/check.h"
#include "core/model/deadline.h"
#include "core/model/probe.h"
#include "core/model/visit.h"

namespace tfyarn::am {
namespace {

void OnAppended(AmParts& parts, const JournalAppended& appended) {
  if (!parts.core.out.OnAppended(appended.seq)) return;
  if (!parts.core.hdfs_writes_since) parts.core.hdfs_writes_since = parts.core.now;
  parts.processes.Reconcile();
  parts.leaving.Reconcile();
  parts.launch.OnDurable();
  parts.epochs.OnDurable();
  parts.failover.OnDurable();
  parts.finish.OnDurable();
}

void OnNmReplied(AmParts& parts, const NmReplied& reply) {
  if (parts.core.allocation.OnNmReplied(reply, parts.containers)) return;
  parts.core.Note("a NodeManager answered a call for which the AM no longer waits");
}

void Route(AmParts& parts, const AmEvent& event) {
  std::visit(
      Overloaded{
          [&](const AmStarted& started) { parts.startup.OnStarted(started); },
          [&](const DeadlineReached&) {},
          [&](const JournalRead& read) { parts.startup.OnJournalRead(read.bytes); },
          [&](const JournalAppended& appended) { OnAppended(parts, appended); },
          [&](const JournalFailed& failed) { parts.startup.OnJournalFailed(failed); },
          [&](const RmReplied& reply) { parts.core.allocation.OnReplied(reply, parts.containers); },
          [&](const NmReplied& reply) { OnNmReplied(parts, reply); },
          [&](const HdfsReplied& reply) { parts.finish.OnHdfsReplied(reply); },
          [&](const AgentSaid& said) { parts.agent_desk.OnSaid(said); },
          [&](const HeartbeatsElided& elided) { parts.core.allocation.OnElided(elided); },
          [&](const PeerVouched& word) { parts.agent_desk.OnVouched(word); },
      },
      event);
}

bool IsBookkeeping(const AmEvent& event) {
  return std::holds_alternative<HeartbeatsElided>(event) ||
         std::holds_alternative<PeerVouched>(event);
}

std::optional<Instant> NextOf(const AmParts& parts) {
  const AmCore& core = parts.core;
  std::optional<Instant> next = parts.deadlines.next();
  Earliest(next, core.heartbeats.next_deadline());
  return next;
}

/// So long the AM reads the events that came while it slept before it acts on deadlines that passed
/// meanwhile.
constexpr Duration kReadsWhatCame = 1s;

/// The AM runs so late that it must have been kept from running, by SIGSTOP or by its machine. Its
/// own sleep is no silence of its agents, and an event that meets a deadline may not be read yet.
void WakeUp(AmParts& parts, std::optional<Instant> due) {
  AmCore& core = parts.core;
  if (!due || core.now - *due < core.heartbeats.allowed_silence() / 10) return;
  TF_PROBE("am/woke-late");
  core.heartbeats.Slept(core.now);
  parts.deadlines.PutOff(core.now + kReadsWhatCame);
}

#ifdef TFYARN_CHECKED
/// The ledger is that of the entries as they are read back, and what parts keep beside it agrees.
void CheckLedger(const AmParts& parts) {
  const AmCore& core = parts.core;
  TF_CHECK(core.ledger == core.folded);
  // A verdict ends what is decided, and not what happens; and a new attempt has its tasks back when
  // the RM has answered it.
  const bool comparable = !core.finishing && !parts.recovery.pending();
  for (std::uint32_t i = 0; comparable && i < core.tasks.size(); ++i) {
    const TaskLedger& of = core.ledger.tasks[i];
    TF_CHECK(core.tasks.record(TaskIndex(i)).outcome == of.outcome);
    TF_CHECK(core.tasks.shown(TaskIndex(i)).restarts == of.restarts);
  }
  for (const policy::TypeCounts& type : core.tasks.types())
    TF_CHECK(type.waived == core.ledger.waived.contains(type.name));
  TF_CHECK(parts.deadlines.AgreeWithState());
}
#endif

}  // namespace

ApplicationMaster::ApplicationMaster(std::shared_ptr<const JobSpec> job, AmOptions options,
                                     std::uint64_t seed)
    : parts_(std::make_unique<AmParts>(std::move(job), std::move(options), seed)) {}
ApplicationMaster::~ApplicationMaster() = default;
ApplicationMaster::ApplicationMaster(ApplicationMaster&&) noexcept = default;
ApplicationMaster& ApplicationMaster::operator=(ApplicationMaster&&) noexcept = default;

void ApplicationMaster::Step(Instant now, const AmEvent& event, std::vector<AmAction>& actions) {
  AmCore& core = parts_->core;
  if (core.stopped) return;
  TF_CHECK(now >= core.now);
  const std::optional<Instant> due = IsBookkeeping(event) ? std::nullopt : next_deadline();
  core.now = now;
  WakeUp(*parts_, due);
  core.out.BeginStep(actions);
  core.allocation.BeginStep(now);
  Route(*parts_, event);
  if (core.stopped || IsBookkeeping(event)) return;
  parts_->deadlines.TakeDue();
  parts_->life.Settle();
  parts_->deadlines.Refresh();
#ifdef TFYARN_CHECKED
  CheckLedger(*parts_);
#endif
}

std::optional<Instant> ApplicationMaster::next_deadline() const {
  const AmCore& core = parts_->core;
  if (core.stopped) return std::nullopt;
  std::optional<Instant> next = NextOf(*parts_);
  Earliest(next, core.allocation.next_deadline());
  return next;
}

std::optional<Instant> ApplicationMaster::next_decision() const {
  const AmCore& core = parts_->core;
  if (core.stopped) return std::nullopt;
  std::optional<Instant> next = NextOf(*parts_);
  Earliest(next, core.allocation.next_decision());
  return next;
}

bool ApplicationMaster::FoldsToItsLedger(std::string_view stored) const {
  const AmCore& core = parts_->core;
  const journal::JournalReading reading =
      journal::ReadJournalBytes(std::string(stored) + core.out.Unstored());
  Ledger folded;
  folded.Size(core.tasks.size());
  for (const journal::ReadEntry& read : reading.entries)
    Apply(read.entry, *core.job, core.tasks, folded);
  return folded == core.ledger;
}

const AmSnapshot& ApplicationMaster::snapshot() const {
  return parts_->core.snapshot;
}

}  // namespace tfyarn::am
