#include "core/am/decide/epoch_control.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/am/am_parts.h"
#include "core/model/check.h"
#include "core/model/probe.h"
#include "core/model/text.h"

namespace tfyarn::am {

void EpochControl::LetRest(TaskIndex task) {
  AmCore& core = parts_.core;
  const TaskLedger& ledger = core.ledger.of(task);
  if (!ledger.rests_until) return;
  const Instant until = core.InstantAt(*ledger.rests_until);
  if (until <= core.now) return;
  if (core.tasks.record(task).resting) {
    return core.tasks.RestUntil(task, until);
  }
  TF_PROBE("epochs/rests-before-its-start");
  core.tasks.RestUntil(task, until);
  core.Note(
      fmt::format("{} has ended {} times in a row within {} of its start: it does not start again "
                  "for {}",
                  ToString(core.tasks.id(task)), ledger.ended_early, ToString(kShortLife),
                  ToString(until - core.now)));
}

void EpochControl::OnRested(TaskIndex task) {
  parts_.core.tasks.EndRest(task);
  TryStartAlone(task);
}

void EpochControl::Prepare() {
  AmCore& core = parts_.core;
  if (state_ == State::kGathering) return;
  if (state_ == State::kCommitting) TF_PROBE("epochs/overtaken-while-committing");
  starting_.clear();  // Their epoch is overtaken: they start in the next one.
  state_ = State::kGathering;
  core.snapshot.epoch = core.snapshot.epoch.next();
}

void EpochControl::TryCommit() {
  if (state_ != State::kGathering || parts_.core.finishing) return;
  LetNonTrainingFollow();
  if (IsReady()) Commit();
}

/// Tasks that need nothing of each other do not wait for each other, once all had their start
/// together.
bool EpochControl::StartsOneByOne() const {
  return parts_.core.job->strategy == Strategy::kIndependent &&
         parts_.core.epoch_in_force().value > 0;
}

bool EpochControl::IsReady() const {
  const AmCore& core = parts_.core;
  if (StartsOneByOne()) return core.tasks.starters_ready() > 0;
  if (core.tasks.starters() == 0) return core.epoch_in_force().value == 0 && OneFollows();
  if (core.tasks.starters_ready() < core.tasks.starters()) return false;
  if (core.job->strategy == Strategy::kMultiWorker && parts_.leaving.maybe_training() > 0)
    TF_PROBE("epochs/waits-for-the-one-before");
  return core.job->strategy != Strategy::kMultiWorker || parts_.leaving.maybe_training() == 0;
}

/// All that was to begin the first epoch follows it by itself, as each lost its container while a
/// spec was stored: who is there first begins it, once those that train are there.
bool EpochControl::OneFollows() const {
  const AmCore& core = parts_.core;
  bool one = false;
  for (std::uint32_t i = 0; i < core.tasks.size(); ++i) {
    const TaskIndex task(i);
    const TaskRecord& record = core.tasks.record(task);
    if (record.start != StartMode::kAlone) continue;
    const bool there = record.agent == AgentPhase::kUp && !record.address_stale;
    if (record.training && !there) return false;
    one = one || (there && core.MayStart(task));
  }
  if (one) TF_PROBE("epochs/begins-with-one-that-follows");
  return one;
}

/// The first spec waits for the evaluator's address too, but not for one that has trouble getting
/// there.
void EpochControl::LetNonTrainingFollow() {
  AmCore& core = parts_.core;
  const std::int32_t missing = core.tasks.starters() - core.tasks.starters_ready();
  if (missing == 0 || missing > core.tasks.beside_in_trouble()) return;
  for (std::uint32_t i = 0; i < core.tasks.size(); ++i) {
    const TaskIndex task(i);
    const TaskRecord& record = core.tasks.record(task);
    if (!record.training && record.in_trouble && record.start == StartMode::kWithEpoch &&
        !record.ready) {
      TF_PROBE("epochs/does-not-wait-for-what-is-beside");
      core.tasks.SetStart(task, StartMode::kAlone);
    }
  }
}

void EpochControl::Commit() {
  AmCore& core = parts_.core;
  journal::EpochBegan entry{.at = core.StoredAt(core.now), .spec = Assemble(), .processes = {}};
  TF_CHECK(starting_.empty());
  for (std::uint32_t i = 0; i < core.tasks.size(); ++i) {
    const TaskIndex task(i);
    const TaskRecord& record = core.tasks.record(task);
    if (record.start != StartMode::kWithEpoch || (StartsOneByOne() && !record.ready)) continue;
    if (!core.MayStart(task)) {
      core.tasks.SetStart(task,
                          StartMode::kAlone);  // It follows with this spec when its gate opens.
      continue;
    }
    starting_.push_back(task);
    const TaskSnapshot& shown = core.tasks.shown(task);
    entry.processes.push_back(
        {.task = shown.task,
         .attempt = record.ever_ordered ? shown.attempt.next() : shown.attempt});
  }
  commit_seq_ = core.Append(entry);
  next_spec_ = core.ledger.spec;
  core.out.EmitWhenDurable(commit_seq_,
                           SpecAssembled{.spec = next_spec_, .epoch = core.snapshot.epoch});
  state_ = State::kCommitting;
}

ClusterSpec EpochControl::Assemble() const {
  const AmCore& core = parts_.core;
  ClusterSpec spec{.epoch = core.snapshot.epoch, .tasks = {}};
  for (std::size_t type = 0; type < core.job->tasks.size(); ++type) {
    const auto [first, count] = core.tasks.RangeOf(type);
    std::vector<HostPort>& addresses = spec.tasks[core.job->tasks[type].name];
    addresses.reserve(count);
    for (std::uint32_t i = first; i < first + count; ++i) {
      addresses.push_back(core.tasks.shown(TaskIndex(i)).address);
    }
  }
  return spec;
}

void EpochControl::OnDurable() {
  AmCore& core = parts_.core;
  if (state_ == State::kCommitting && core.out.IsDurable(commit_seq_)) Begin();
  lone_.Send(core.out,
             [this](JournalSeq entry, const LoneStart& lone) { StartAlone(entry, lone); });
}

void EpochControl::StartAlone(JournalSeq entry, const LoneStart& lone) {
  AmCore& core = parts_.core;
  const TaskRecord& record = core.tasks.record(lone.task);
  const bool same = core.tasks.shown(lone.task).incarnation == lone.incarnation;
  core.tasks.mutable_record(lone.task).start_logged = false;
  if (core.finishing || !same || record.start != StartMode::kAlone ||
      record.agent != AgentPhase::kUp || core.tasks.ProcessAlive(lone.task)) {
    TF_PROBE("epochs/lone-start-overtaken");
    return;
  }
  // Another epoch has begun with the same append: the journal must say under which it starts.
  if (lone.epoch != core.epoch_in_force()) return TryStartAlone(lone.task);
  parts_.processes.Start(lone.task, entry);
}

void EpochControl::Begin() {
  AmCore& core = parts_.core;
  state_ = State::kBegun;
  core.spec = std::move(next_spec_);
  if (core.finishing) {
    TF_PROBE("epochs/verdict-before-it-begins");
    return;
  }
  for (const TaskIndex task : std::exchange(starting_, {})) {
    const TaskRecord& record = core.tasks.record(task);
    if (record.start != StartMode::kWithEpoch) continue;
    if (record.agent == AgentPhase::kUp) {
      parts_.processes.Start(task, commit_seq_);
    } else if (!record.training) {
      // Its container was lost meanwhile, and no peer waits for it: it follows.
      TF_PROBE("epochs/lost-as-it-begins");
      core.tasks.SetStart(task, StartMode::kAlone);
    }
  }
  for (std::uint32_t i = 0; i < core.tasks.size(); ++i) {
    if (core.tasks.record(TaskIndex(i)).start == StartMode::kAlone) TryStartAlone(TaskIndex(i));
  }
  if (core.tasks.starters() > 0) {
    TF_PROBE("epochs/next-one-at-once");
    Prepare();
  }
}

void EpochControl::TryStartAlone(TaskIndex task) {
  AmCore& core = parts_.core;
  const TaskRecord& record = core.tasks.record(task);
  // While a spec is under way to the journal nothing starts under the one that it replaces.
  if (core.finishing || core.epoch_in_force().value == 0 || state_ == State::kCommitting ||
      record.start != StartMode::kAlone || record.start_logged || record.agent != AgentPhase::kUp ||
      record.address_stale || record.resting || core.tasks.ProcessAlive(task) ||
      !core.MayStart(task)) {
    return;
  }
  const TaskSnapshot& shown = core.tasks.shown(task);
  const TaskAttempt attempt = record.ever_ordered ? shown.attempt.next() : shown.attempt;
  const JournalSeq seq = core.Append(
      journal::ProcessesOrdered{.at = core.StoredAt(core.now),
                                .epoch = core.epoch_in_force(),
                                .processes = {{.task = shown.task, .attempt = attempt}}});
  core.tasks.mutable_record(task).start_logged = true;
  lone_.Hold(seq, {.task = task, .incarnation = shown.incarnation, .epoch = core.epoch_in_force()});
}

void EpochControl::Restore(SpecRef spec) {
  AmCore& core = parts_.core;
  core.spec = std::move(spec);
  core.snapshot.epoch = core.epoch_in_force();
  state_ = State::kBegun;
}

void EpochControl::SkipBeyond(Epoch epoch) {
  Epoch& prepared = parts_.core.snapshot.epoch;
  if (prepared > epoch) return;
  if (state_ == State::kCommitting) starting_.clear();
  state_ = State::kGathering;
  TF_PROBE("epochs/skips-an-unknown-epoch");
  prepared = epoch.next();
}

bool EpochControl::SpecIsFixedFor(TaskIndex task) const {
  const TaskRecord& record = parts_.core.tasks.record(task);
  switch (record.start) {
    case StartMode::kNone:
      return record.training && parts_.core.epoch_in_force().value > 0 && record.ever_ordered;
    case StartMode::kWithEpoch:
      // Where they start one by one, the next may be committing without it.
      return state_ == State::kCommitting &&
             std::find(starting_.begin(), starting_.end(), task) != starting_.end();
    case StartMode::kAlone:
      // One that is on its way to the journal has its address, too.
      return parts_.core.epoch_in_force().value > 0 || state_ == State::kCommitting;
  }
  return false;
}

std::string EpochControl::WaitingFor() const {
  const AmCore& core = parts_.core;
  switch (state_) {
    case State::kCommitting:
      return "the journal to store the cluster spec";
    case State::kBegun:
      return "";
    case State::kGathering:
      break;
  }
  const std::int32_t missing = core.tasks.starters() - core.tasks.starters_ready();
  if (missing > 0) {
    return fmt::format("{} of {} tasks to be ready for epoch {}", missing, core.tasks.starters(),
                       core.snapshot.epoch.value);
  }
  return fmt::format("{} containers of the epoch before to be gone",
                     parts_.leaving.maybe_training());
}

}  // namespace tfyarn::am
