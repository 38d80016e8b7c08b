#include "sim/links.h"

#include <algorithm>

#include "core/model/check.h"
#include "core/model/deadline.h"

namespace tfyarn::sim {
namespace {

/// An instant on the grid strictly before `now`: how many periods after `start` the last one is.
std::uint64_t BeatsBefore(Instant start, Duration period, Instant now) {
  if (now <= start) return 0;
  return static_cast<std::uint64_t>((now - start - Duration(1)) / period);
}

}  // namespace

AnyActor::AnyActor(Links& links, Place at) : id(links.Add(*this)), place(at), links_(links) {}

AnyActor::~AnyActor() {
  links_.Remove(id);
}

std::uint32_t Links::Add(AnyActor& actor) {
  actors_.push_back(&actor);
  return static_cast<std::uint32_t>(actors_.size() - 1);
}

void Links::Reschedule(AnyActor& actor) {
  if (!actor.alive || actor.paused) return;
  if (const std::optional<Instant> wake = NextTurn(actor))
    ScheduleAt(actor, std::max(*wake, kernel_.now()));
}

std::optional<Instant> Links::NextTurn(const AnyActor& actor) const {
  const bool skip = actor.beat.clean && !actor.beat.awaited;
  std::optional<Instant> turn = actor.NextDeadline(/*decision=*/skip);
  if (skip && actor.beat.forced != kNever) Earliest(turn, actor.beat.forced);
  return turn;
}

void Links::ScheduleAt(AnyActor& actor, Instant at) {
  // A timer that is too early costs one look when it fires; it need not be found and removed.
  if (actor.scheduled <= at) return;
  actor.scheduled = at;
  kernel_.WakeAt(actor.id, at);
}

void Links::Wake(std::uint32_t id) {
  AnyActor* actor = Living(id);
  if (actor == nullptr || actor->scheduled != kernel_.now()) return;
  actor->scheduled = kNever;
  if (actor->paused) return;
  if (!IsDue(NextTurn(*actor), kernel_.now())) return Reschedule(*actor);
  actor->ReachDeadline();
}

void Links::CatchUp(AnyActor& actor) {
  Beat& beat = actor.beat;
  if (!beat.clean || beat.awaited || !beat.last_sent) return;
  const Instant now = kernel_.now();
  // A beat of this very instant is out when its sender's turn is over.
  const Instant end = kernel_.TurnIsOver(actor.id) ? now + Duration(1) : now;
  const std::uint64_t skipped = BeatsBefore(*beat.last_sent, beat.period, end);
  if (skipped == 0) return;
  const Instant latest = *beat.last_sent + beat.period * static_cast<std::int64_t>(skipped);
  // Nor is an answer under way that came in this very instant, right before its sender's turn.
  const Instant answered = latest + beat.round_trip;
  const bool has_come = answered < now || (answered == now && kernel_.TimerHasCome(actor.id));
  const bool answer_under_way = actor.awaits_answers && !has_come;
  const std::uint64_t told = answer_under_way ? skipped - 1 : skipped;
  if (told > 0) {
    beat.last_sent = *beat.last_sent + beat.period * static_cast<std::int64_t>(told);
    beat.sent += told;
    actor.TellElided(told, *beat.last_sent);
  }
  if (!answer_under_way) return;
  // The sender has not been stepped since before `latest`, so its own time does not go back. The
  // beat was idle, so its receiver need only count it, and its answer is known.
  beat.last_sent = latest;
  ++beat.sent;
  actor.SendIdleBeat(latest, answered);
}

std::uint64_t Links::TakeUnseen(Beat& beat) {
  TF_CHECK(beat.sent > beat.seen);
  const std::uint64_t unseen = beat.sent - beat.seen - 1;
  beat.seen = beat.sent;
  return unseen;
}

void Links::BeatSent(AnyActor& actor, std::uint64_t call) {
  Beat& beat = actor.beat;
  beat.last_sent = kernel_.now();
  ++beat.sent;
  beat.forced = kNever;  // Whatever the news was, this beat sees it.
  if (!actor.awaits_answers) return Update(actor);
  beat.awaited = call;
}

void Links::StartAnew(AnyActor& actor) {
  Beat& beat = actor.beat;
  beat.last_sent.reset();
  beat.awaited.reset();
  beat.sent = beat.seen = 0;
  beat.forced = kNever;
  Update(actor);
}

void Links::BeatAnswered(AnyActor& actor, std::uint64_t call) {
  // A late answer to an earlier call does not answer the latest.
  if (actor.beat.awaited != call) return;
  actor.beat.awaited.reset();
  const Instant now = kernel_.now();
  // An actor that waited for longer than a period has left out beats meanwhile, and beats anew.
  if (actor.beat.last_sent && now > *actor.beat.last_sent + actor.beat.period)
    actor.beat.last_sent.reset();
  actor.beat.late = !actor.beat.last_sent || now > *actor.beat.last_sent + actor.beat.round_trip;
  Update(actor);
}

void Links::ForceBeat(AnyActor& actor) {
  Beat& beat = actor.beat;
  if (!elide_ || !beat.last_sent || !actor.alive) return;
  // The first beat that the receiver sees after the news. One at this very instant still comes if
  // its turn is later.
  const Instant now = kernel_.now();
  const std::uint64_t before = BeatsBefore(*beat.last_sent, beat.period, now);
  Instant next = *beat.last_sent + beat.period * static_cast<std::int64_t>(before + 1);
  if (next == now && kernel_.TimerHasCome(actor.id)) next += beat.period;
  if (next >= beat.forced) return;
  beat.forced = next;
  if (beat.clean && !beat.awaited && !actor.paused) ScheduleAt(actor, next);
}

bool Links::IsClean(const AnyActor& actor) const {
  if (!elide_ || !actor.alive || actor.paused || !actor.beat.last_sent) return false;
  return !message_faults_.TouchesBeats() && actor.HasQuietLink();
}

void Links::Update(AnyActor& actor) {
  const bool clean = IsClean(actor);
  if (clean == actor.beat.clean) return;
  // A beat is overdue: its sender stood still, and its grid starts with the beat that comes now.
  if (clean && kernel_.now() > *actor.beat.last_sent + actor.beat.period) return;
  if (!clean) CatchUp(actor);
  actor.beat.clean = clean;
  Vouch(actor, clean);
  Reschedule(actor);
}

void Links::Vouch(AnyActor& actor, bool vouched) {
  Beat& beat = actor.beat;
  if (beat.vouched == vouched) return;
  beat.vouched = vouched;
  actor.Vouch(vouched, beat.last_sent.value_or(kernel_.now()));
}

void Links::DisturbAll() {
  for (std::size_t id = 0; id < actors_.size(); ++id) {
    AnyActor* actor = actors_[id];
    if (actor == nullptr || !actor->alive || !actor->beat.clean) continue;
    CatchUp(*actor);
    actor->beat.clean = false;
    Vouch(*actor, false);
    Reschedule(*actor);
  }
}

void Links::RestoreAll() {
  for (std::size_t id = 0; id < actors_.size(); ++id) {
    AnyActor* actor = actors_[id];
    if (actor == nullptr || !actor->alive) continue;
    // What was sent meanwhile may be lost: a link counts as clean once a beat has come through.
    if (!actor->beat.clean) actor->beat.last_sent.reset();
    Update(*actor);
    Reschedule(*actor);
  }
}

}  // namespace tfyarn::sim
