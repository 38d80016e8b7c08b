#include "tests/exhaustive/world.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <utility>

#include "core/model/check.h"
#include "core/model/deadline.h"
#include "core/model/text.h"
#include "tests/exhaustive/arena.h"
#include "tests/exhaustive/hash_of.h"
#include "tests/exhaustive/memory_hash.h"

namespace tfyarn::exhaustive {
namespace {

/// Moves of the present state: outside the arena, for they are no part of it.
constexpr std::size_t kMostMoves = 192;
std::array<Move, kMostMoves> moves;  // NOLINT: of the one world that is asked.
std::size_t move_count = 0;          // NOLINT

/// What a job may take for one epoch from the start of its containers to its end, with all its
/// deadlines used up, and what the world adds.
Duration Bound(const JobSpec& job) {
  const DeadlineSpec& deadlines = job.deadlines;
  const Duration epoch = job.gang.deadline + deadlines.registration + deadlines.start +
                         deadlines.blame + deadlines.stop + kNodeExpiry + kAmRestart + kWork +
                         kQuietAfter + job.heartbeat.every * job.heartbeat.missed + 60s;
  const std::int32_t restarts = job.retries.user + job.retries.infrastructure;
  return epoch * (2 + std::min(restarts, 4));
}

}  // namespace

World::World(const Scope& scope, Listener* listener)
    : scope_(scope), listener_(listener), faults_left_(scope.faults), books_(*scope.job) {
  for (std::int8_t i = 0; i < CountOf(*scope.job); ++i) {
    const std::string type = TaskOf(*scope.job, i).type;
    const bool beside = type == "evaluator" || type == "tensorboard";
    const bool needs_servers = scope.job->strategy == Strategy::kParameterServer && type != "ps";
    if (!beside && !needs_servers) team_ |= 1U << i;
  }
}
World::~World() = default;

void World::Record(trace::Fact fact) {
  if (listener_ != nullptr) listener_->OnRecord({.at = now_, .fact = std::move(fact)});
}

void World::Know(Fact fact) {
  fact.at = now_;
  facts_.insert(std::upper_bound(facts_.begin(), facts_.end(), fact), fact);
  Touch(kPartBooks);
}

/// What was known of a container before its launch.
void World::KnowWhose(std::size_t container) {
  const std::int8_t before = SubjectOf(container);
  containers_[container].task = NumberOf(*scope_.job, containers_[container].fence.task);
  for (Fact& fact : facts_) {
    if (fact.task == before) fact.task = containers_[container].task;
  }
  std::sort(facts_.begin(), facts_.end());
}

std::string World::HowBroken() const {
  if (over_ || !books_.broken().empty()) return books_.broken();
  return "progress: nothing happens any more, and the AM has not ended";
}

std::int8_t World::SubjectOf(std::size_t container) const {
  const std::int8_t task = containers_[container].task;
  return task >= 0 ? task : static_cast<std::int8_t>(-1 - static_cast<int>(container));
}

std::int32_t World::Inside(std::size_t container) const {
  if (containers_[container].at == At::kGranted) return kNotLaunched;
  const Process& process = containers_[container].process;
  return process.runs ? static_cast<std::int32_t>(process.ref.attempt.value) : kNoProcess;
}

// ---------------------------------------------------------------- what can happen next

void World::AddMove(MoveKind kind, std::size_t item, std::uint64_t content, Fault fault) const {
  const std::uint64_t id =
      Mix(static_cast<std::uint64_t>(kind) << 8 | static_cast<std::uint64_t>(fault), content);
  TF_CHECK(move_count < kMostMoves);
  moves[move_count++] = {
      .kind = kind, .fault = fault, .item = static_cast<std::uint16_t>(item), .id = id};
}

std::span<const Move> World::Moves() const {
  move_count = 0;
  if (!over_ && books_.broken().empty()) ListMoves();
  if (scope_.drain_in_order && books_.decided()) move_count = std::min<std::size_t>(move_count, 1);
  return {moves.data(), move_count};
}

void World::ListMoves() const {
  const auto add = [this](MoveKind kind, std::size_t item, std::uint64_t content) {
    AddMove(kind, item, content, Fault::kExit1);
  };
  if (am_starts_ && *am_starts_ <= now_) add(MoveKind::kAmStarts, 0, 0);
  for (std::size_t i = 0; i < mail_.size(); ++i) {
    // Copies of one message are one move, and the older goes first.
    if (i > 0 && mail_[i].hash == mail_[i - 1].hash) continue;
    add(MoveKind::kDelivered, i, mail_[i].hash);
  }
  if (append_) add(MoveKind::kStored, 0, append_->order.seq.value);
  for (std::size_t i = 0; i < containers_.size(); ++i) {
    const Container& container = containers_[i];
    if (container.agent == nullptr) continue;
    const Process& process = container.process;
    const auto done = WorkDone(container);
    if (process.told_to_end || (process.runs && done && *done <= now_)) add(MoveKind::kEnds, i, i);
    const bool late = process.broken && *process.broken + kVictimEnds <= now_;
    if (process.runs && process.broken && !process.told_to_end && (*process.broken == now_ || late))
      add(MoveKind::kPeerless, i, i);
  }
  if (IsDue(AmWakes(), now_)) add(MoveKind::kAmTimer, 0, 0);
  for (std::size_t i = 0; i < containers_.size(); ++i) {
    const Container& container = containers_[i];
    if (container.agent != nullptr && IsDue(container.agent->next_decision(), now_))
      add(MoveKind::kAgentTimer, i, i);
    if (container.at != At::kGone && IsDue(container.taken_at, now_)) add(MoveKind::kTaken, i, i);
    if (IsDue(container.given_up_at, now_)) add(MoveKind::kNodeGivenUp, i, i);
  }
  if (MayPass() && NextInstant()) add(MoveKind::kTimePasses, 0, 0);
  if (faults_left_ > 0) ListFaults();
}

void World::ListFaults() const {
  const auto add = [this](Fault fault, std::size_t item, std::uint64_t content) {
    if (scope_.kinds.Has(fault)) AddMove(MoveKind::kFault, item, content, fault);
  };
  if (outcome_.status != JobStatus::kUnfinished) return;  // What strikes now is too late.
  for (std::size_t i = 0; i < containers_.size(); ++i) {
    const Container& container = containers_[i];
    if (container.process.runs && !container.process.told_to_end) {
      add(Fault::kExit1, i, i);
      if (EndsByItself(container)) add(Fault::kExit0, i, i);
      add(Fault::kKilled, i, i);
    }
    if (container.at == At::kGone || !container.node_up || !container.told) continue;
    add(Fault::kContainerLost, i, i);
    add(Fault::kPreempted, i, i);
    if (!container.taken_at) add(Fault::kPreemptedWithNotice, i, i);
    add(Fault::kNodeLost, i, i);
    if (container.agent != nullptr) add(Fault::kAgentKilled, i, i);
  }
  if (am_ != nullptr) add(Fault::kAmKilled, 0, 0);
  if (append_) {
    add(Fault::kAppendFails, 0, append_->order.seq.value);
    add(Fault::kAppendUnanswered, 0, append_->order.seq.value);
  }
  for (std::size_t i = 0; i < mail_.size(); ++i) {
    if (i > 0 && mail_[i].hash == mail_[i - 1].hash) continue;
    const auto* event = std::get_if<AmEvent>(&mail_[i].what);
    const bool of_agent = event == nullptr || std::holds_alternative<AgentSaid>(*event);
    const bool of_journal = event != nullptr && (std::holds_alternative<JournalAppended>(*event) ||
                                                 std::holds_alternative<JournalFailed>(*event));
    if (!of_journal) add(Fault::kMessageLost, i, mail_[i].hash);
    if (of_agent) add(Fault::kMessageRepeated, i, mail_[i].hash);
  }
}

// ---------------------------------------------------------------- time

/// Idle calls to the RM are skipped; one is made, at its time, when there is news.
std::optional<Instant> World::AmWakes() const {
  if (am_ == nullptr) return std::nullopt;
  std::optional<Instant> wakes = am_->next_decision();
  if (last_beat_ && !yarn::IsIdle(rm_.news)) {
    const auto beats =
        std::max<std::int64_t>(1, (now_ - *last_beat_ + kBeat - Duration(1)) / kBeat);
    Earliest(wakes, *last_beat_ + kBeat * beats);
  }
  return wakes;
}

std::optional<Instant> World::NextInstant() const {
  std::optional<Instant> next = AmWakes();
  Earliest(next, am_starts_);
  Earliest(next, Quiet());
  for (const Container& container : containers_) {
    if (container.at != At::kGone) Earliest(next, container.taken_at);
    Earliest(next, container.given_up_at);
    if (container.agent == nullptr) continue;
    Earliest(next, container.agent->next_decision());
    if (container.process.runs) {
      Earliest(next, WorkDone(container));
      if (container.process.broken) Earliest(next, *container.process.broken + kVictimEnds);
    }
  }
  return next;
}

/// Nothing must happen at this instant any more.
bool World::MayPass() const {
  const std::optional<Instant> next = NextInstant();
  if (next && *next <= now_) return false;
  const auto waits = [&](Instant sent) {
    return !next || scope_.latency == Duration::zero() || *next > sent + scope_.latency;
  };
  if (append_ && waits(append_->sent)) return false;
  for (const Mail& mail : mail_) {
    if (waits(mail.sent)) return false;
  }
  return std::none_of(containers_.begin(), containers_.end(),
                      [](const Container& container) { return container.process.told_to_end; });
}

void World::Pass() {
  Touch(kPartAll);
  now_ = *NextInstant();
  if (!books_.decided() && now_ > disturbed_ + Bound(*scope_.job))
    books_.Break("progress",
                 fmt::format("no verdict {} after the last fault", ToString(now_ - disturbed_)));
}

// ---------------------------------------------------------------- moves

void World::Take(const Move& move) {
  if (listener_ != nullptr) listener_->OnMove(*this, move);
  touched_ = 0;
  const std::size_t item = move.item;
  switch (move.kind) {
    case MoveKind::kAmStarts:
      StartAm();
      break;
    case MoveKind::kDelivered:
      Deliver(item);
      break;
    case MoveKind::kStored:
      Store();
      break;
    case MoveKind::kEnds: {
      const Process& process = containers_[item].process;
      ProcessExit exit;
      if (!process.told_to_end) {
        exit.code = 0;
      } else {
        exit.signal = process.killed ? 9 : 15;
      }
      EndProcess(item, exit, !process.ours);
      break;
    }
    case MoveKind::kPeerless:
      EndProcess(item, {.code = 1}, true);
      break;
    case MoveKind::kTaken:
      EndContainer(item, container_exit::kPreempted, "Container preempted by scheduler", true);
      break;
    case MoveKind::kNodeGivenUp:
      GiveUpNode(item);
      break;
    case MoveKind::kAmTimer:
      StepAm(DeadlineReached{});
      break;
    case MoveKind::kAgentTimer:
      StepAgent(item, DeadlineReached{});
      break;
    case MoveKind::kTimePasses:
      Pass();
      break;
    case MoveKind::kFault:
      Strike(move);
      break;
  }
}

/// All processes run, no message is on its way, and an end now makes no victim of an earlier one.
bool World::IsQuiet() const {
  return now_ > disturbed_ + scope_.job->deadlines.blame + kNotice && am_ != nullptr &&
         team_since_ && finished_ == 0 && !append_ && mail_.empty() &&
         std::none_of(containers_.begin(), containers_.end(),
                      [](const Container& c) { return c.process.broken || c.taken_at; });
}

void World::Strike(const Move& move) {
  Touch(kPartAll);
  overlapping_ = overlapping_ || (faults_left_ < scope_.faults && !IsQuiet());
  --faults_left_;
  disturbed_ = now_;
  const std::size_t item = move.item;
  switch (move.fault) {
    case Fault::kExit1:
      return EndProcess(item, {.code = 1}, true);
    case Fault::kExit0:
      return EndProcess(item, {.code = 0}, true);
    case Fault::kKilled:
      return EndProcess(item, {.signal = 9}, true);
    case Fault::kContainerLost:
      return EndContainer(item, container_exit::kAborted, "", true);
    case Fault::kPreempted:
      return EndContainer(item, container_exit::kPreempted, "Container preempted by scheduler",
                          true);
    case Fault::kPreemptedWithNotice:
      containers_[item].taken_at = now_ + kNotice;
      rm_.news.preempt_strict.push_back(containers_[item].grant.id);
      Touch(kPartRm | PartOfContainer(item));
      return Know(
          {.kind = FactKind::kNoticeGiven, .task = SubjectOf(item), .attempt = Inside(item)});
    case Fault::kAgentKilled:
      return EndContainer(item, 137, "Container killed on request. Exit code is 137", true);
    case Fault::kNodeLost:
      return LoseNode(item);
    case Fault::kAmKilled:
      return KillAm();
    case Fault::kAppendFails:
      return FailAppend(false);
    case Fault::kAppendUnanswered:
      return FailAppend(true);
    case Fault::kMessageLost:
      return LoseMail(item);
    case Fault::kMessageRepeated: {
      Mail again = mail_[item];
      return Post(std::move(again));
    }
  }
}

// ---------------------------------------------------------------- which state it is

std::uint64_t World::Key(MemoryHash& memory) {
  if (am_stepped_) {
    am_memory_ = am_ == nullptr ? 0 : memory.Of(am_.get(), sizeof(*am_));
    am_stepped_ = false;
  }
  for (Container& container : containers_) {
    if (!container.stepped) continue;
    container.memory =
        container.agent == nullptr ? 0 : memory.Of(container.agent.get(), sizeof(*container.agent));
    container.stepped = false;
  }
  const Arena::Leave leave;
  static std::vector<std::uint64_t> words;
  words.clear();
  AppendTo(words);
  return XXH3_64bits(words.data(), words.size() * sizeof(words[0]));
}

void World::AppendTo(std::vector<std::uint64_t>& words) const {
  const auto put = [&](auto... values) {
    (words.push_back(static_cast<std::uint64_t>(values)), ...);
  };
  const auto instant = [&](std::optional<Instant> at) {
    put(at ? at->time_since_epoch().count() : -1);
  };
  const auto text = [&](const std::string& value) { put(XXH3_64bits(value.data(), value.size())); };
  put(now_.time_since_epoch().count(), faults_left_, disturbed_.time_since_epoch().count(), over_,
      overlapping_, am_memory_, am_attempt_, published_);
  instant(am_starts_);
  instant(last_beat_);
  instant(team_since_);
  put(finished_, broken_epoch_.value);
  // Only another attempt reads it.
  const bool read = am_starts_ || (faults_left_ > 0 && scope_.kinds.Has(Fault::kAmKilled));
  if (read) text(journal_);
  if (append_) {
    put(append_->order.seq.value);
    text(append_->order.bytes);
    if (scope_.latency > Duration::zero()) instant(append_->sent);
  }
  put(mail_.size());
  for (const Mail& mail : mail_) {
    put(mail.hash);
    if (scope_.latency > Duration::zero()) instant(mail.sent);
  }
  for (const Container& container : containers_) {
    const Process& process = container.process;
    put(container.at, container.node_up, container.task, container.memory,
        process.ref.attempt.value, process.ref.epoch.value, process.runs, process.told_to_end,
        process.killed, process.ours);
    if (process.runs) instant(process.since);
    if (process.runs) instant(process.broken);
    instant(container.taken_at);
    instant(container.given_up_at);
  }
  AppendRm(words);
  books_.AppendTo(words);
  for (const Fact& fact : facts_)
    put(fact.at.time_since_epoch().count(), fact.kind, fact.task, fact.attempt, fact.code,
        fact.detail);
  put(outcome_.status, outcome_.PaidBy(Budget::kUser), outcome_.PaidBy(Budget::kInfrastructure));
  text(outcome_.rule);
}

}  // namespace tfyarn::exhaustive
