// Timers and elision.
//
// Four links are periodic: an AM's allocate, an agent's heartbeat, a client's report query, a
// NodeManager's heartbeat. Each sender beats on a grid: one period after the last beat it sent. An
// idle beat changes nothing but counters, so while nothing disturbs the link the host skips it: it
// wakes the sender at next_decision() instead of next_deadline(), or at the first point of the grid
// at which the receiver has news for it. What was skipped is told to the sender before its next
// step (CatchUp) and to the receiver before the next beat it sees (TakeUnseen). A beat whose answer
// would still be under way is really sent, in the sender's own past, so that "sent and not
// answered" looks the same in both modes.
#include <fmt/format.h>

#include "core/model/check.h"
#include "core/model/deadline.h"
#include "core/model/response_id.h"
#include "sim/sim_host.h"

namespace tfyarn::sim {
namespace {

/// An instant on the grid strictly before `now`: how many periods after `start` the last one is.
std::uint64_t BeatsBefore(Instant start, Duration period, Instant now) {
  if (now <= start) return 0;
  return static_cast<std::uint64_t>((now - start - Duration(1)) / period);
}

/// A step about beats that were never sent: nothing comes of it.
template <class Action, class Machine, class Event>
void StepQuietly(Machine& machine, Instant at, const Event& event) {
  std::vector<Action> none;
  machine.Step(at, event, none);
  TF_CHECK(none.empty());
}

}  // namespace

std::optional<Instant> SimHost::MachineDeadline(const Actor& actor, bool decision) const {
  switch (actor.kind) {
    case ActorKind::kRm:
      if (rm_ == nullptr) return std::nullopt;
      return decision ? rm_->next_decision() : rm_->next_deadline();
    case ActorKind::kNm: {
      const auto& nm = static_cast<const NmActor&>(actor);
      return decision ? nm.machine->next_decision() : nm.machine->next_deadline();
    }
    case ActorKind::kClient: {
      const auto& client = static_cast<const ClientActor&>(actor);
      return decision ? client.machine->next_decision() : client.machine->next_deadline();
    }
    case ActorKind::kAm: {
      const auto& am = static_cast<const AmActor&>(actor);
      return decision ? am.machine->next_decision() : am.machine->next_deadline();
    }
    case ActorKind::kAgent: {
      const auto& agent = static_cast<const AgentActor&>(actor);
      return decision ? agent.machine->next_decision() : agent.machine->next_deadline();
    }
  }
  return std::nullopt;
}

void SimHost::Reschedule(Actor& actor) {
  if (!actor.alive || actor.paused) return;
  if (const std::optional<Instant> wake = NextTurn(actor))
    ScheduleAt(actor, std::max(*wake, kernel_.now()));
}

std::optional<Instant> SimHost::NextTurn(const Actor& actor) const {
  const bool skip = actor.beat.clean && !actor.beat.awaited;
  std::optional<Instant> turn =
      MachineDeadline(actor, skip || (actor.kind == ActorKind::kRm && options_.elide));
  if (skip && actor.beat.forced != kNever) Earliest(turn, actor.beat.forced);
  return turn;
}

void SimHost::ScheduleAt(Actor& actor, Instant at) {
  // A timer that is too early costs one look when it fires; it need not be found and removed.
  if (actor.scheduled <= at) return;
  actor.scheduled = at;
  kernel_.WakeAt(actor.id, at);
}

void SimHost::RunTimer(std::uint32_t index) {
  Actor* actor = Living(index);
  if (actor == nullptr || actor->scheduled != kernel_.now()) return;
  actor->scheduled = kNever;
  if (actor->paused) return;
  if (!IsDue(NextTurn(*actor), kernel_.now())) return Reschedule(*actor);
  switch (actor->kind) {
    case ActorKind::kRm:
      return StepRm(fakes::RmDeadlineReached{});
    case ActorKind::kNm:
      return StepNm(static_cast<NmActor&>(*actor), fakes::NmDeadlineReached{});
    case ActorKind::kClient:
      return StepClient(static_cast<ClientActor&>(*actor), DeadlineReached{});
    case ActorKind::kAm:
      return StepAm(static_cast<AmActor&>(*actor), DeadlineReached{});
    case ActorKind::kAgent:
      return StepAgent(static_cast<AgentActor&>(*actor), DeadlineReached{});
  }
}

void SimHost::CatchUp(Actor& actor) {
  Beat& beat = actor.beat;
  if (!beat.clean || beat.awaited || !beat.last_sent) return;
  // A beat of this very instant is out when its sender's turn is over.
  const Instant end = kernel_.TurnIsOver(actor.id) ? kernel_.now() + Duration(1) : kernel_.now();
  const std::uint64_t skipped = BeatsBefore(*beat.last_sent, beat.period, end);
  if (skipped == 0) return;
  const Instant latest = *beat.last_sent + beat.period * static_cast<std::int64_t>(skipped);
  // Nor is an answer under way that came in this very instant, right before its sender's turn.
  const Instant answered = latest + beat.round_trip;
  const bool has_come =
      answered < kernel_.now() || (answered == kernel_.now() && kernel_.TimerHasCome(actor.id));
  const bool answer_under_way = actor.kind != ActorKind::kAgent && !has_come;
  const std::uint64_t told = answer_under_way ? skipped - 1 : skipped;
  if (told > 0) {
    beat.last_sent = *beat.last_sent + beat.period * static_cast<std::int64_t>(told);
    beat.sent += told;
    TellElided(actor, told, *beat.last_sent);
  }
  if (answer_under_way) SendIdleBeatInThePast(actor, latest);
}

void SimHost::TellElided(Actor& actor, std::uint64_t count, Instant last) {
  switch (actor.kind) {
    case ActorKind::kRm:
      return;
    case ActorKind::kNm:
      return StepQuietly<fakes::NmAction>(*static_cast<NmActor&>(actor).machine, last,
                                          fakes::OwnHeartbeatsElided{.count = count, .last = last});
    case ActorKind::kClient:
      return StepQuietly<ClientAction>(*static_cast<ClientActor&>(actor).machine, last,
                                       HeartbeatsElided{.count = count, .last = last});
    case ActorKind::kAm:
      return StepQuietly<AmAction>(*static_cast<AmActor&>(actor).machine, last,
                                   HeartbeatsElided{.count = count, .last = last});
    case ActorKind::kAgent:
      return StepQuietly<AgentAction>(*static_cast<AgentActor&>(actor).machine, last,
                                      HeartbeatsElided{.count = count, .last = last});
  }
}

void SimHost::SendIdleBeatInThePast(Actor& actor, Instant at) {
  // The sender has not been stepped since before `at`, so its own time does not go back. The beat
  // was idle, so its receiver need only count it, and its answer is known.
  Beat& beat = actor.beat;
  beat.last_sent = at;
  ++beat.sent;
  const Instant answered = at + beat.round_trip;
  switch (actor.kind) {
    case ActorKind::kRm:
    case ActorKind::kAgent:
      return;
    case ActorKind::kNm: {
      std::vector<fakes::NmAction> actions;
      static_cast<NmActor&>(actor).machine->Step(at, fakes::NmDeadlineReached{}, actions);
      TF_CHECK(actions.size() == 1);
      const auto& call = std::get<fakes::NmCallRm>(actions.front());
      const auto& request = std::get<yarn::NodeHeartbeatRequest>(call.request);
      beat.awaited = call.id;
      yarn::NodeHeartbeatResponse idle{.response_id = request.response_id + 1};
      kernel_.AtTurnOf(actor.id, answered, [this, id = actor.id, call_id = call.id, idle] {
        Actor* sender = Living(id);
        if (sender == nullptr) return;
        BeatAnswered(*sender, call_id);
        StepNm(static_cast<NmActor&>(*sender), fakes::RmAnswered{.id = call_id, .response = idle});
      });
      return;
    }
    case ActorKind::kClient: {
      auto& client = static_cast<ClientActor&>(actor);
      std::vector<ClientAction> actions;
      client.machine->Step(at, DeadlineReached{}, actions);
      TF_CHECK(actions.size() == 1 && client.last_report);
      const CallId call = std::get<CallRm>(actions.front()).call;
      beat.awaited = call.value;
      kernel_.AtTurnOf(actor.id, answered, [this, id = actor.id, call] {
        Actor* sender = Living(id);
        if (sender == nullptr) return;
        BeatAnswered(*sender, call.value);
        auto& same = static_cast<ClientActor&>(*sender);
        StepClient(same, RmReplied{.call = call, .response = *same.last_report});
      });
      return;
    }
    case ActorKind::kAm: {
      std::vector<AmAction> actions;
      static_cast<AmActor&>(actor).machine->Step(at, DeadlineReached{}, actions);
      TF_CHECK(actions.size() == 1);
      const auto& call = std::get<CallRm>(actions.front());
      const auto& request = std::get<yarn::AllocateRequest>(call.request);
      TF_CHECK(yarn::IsIdle(request));
      beat.awaited = call.call.value;
      yarn::AllocateResponse idle{.response_id = ResponseIdAfter(request.response_id, 1)};
      kernel_.AtTurnOf(actor.id, answered, [this, id = actor.id, call_id = call.call, idle] {
        Actor* sender = Living(id);
        if (sender == nullptr) return;
        BeatAnswered(*sender, call_id.value);
        StepAm(static_cast<AmActor&>(*sender), RmReplied{.call = call_id, .response = idle});
      });
      return;
    }
  }
}

std::uint64_t SimHost::TakeUnseen(Beat& beat) {
  TF_CHECK(beat.sent > beat.seen);
  const std::uint64_t unseen = beat.sent - beat.seen - 1;
  beat.seen = beat.sent;
  return unseen;
}

void SimHost::TellRmOfBeats(std::uint32_t sender) {
  Actor* actor = Living(sender);
  if (actor == nullptr || rm_ == nullptr) return;
  CatchUp(*actor);
  Beat& beat = actor->beat;
  const std::uint64_t unseen = beat.sent - std::exchange(beat.seen, beat.sent);
  TellRmOfBeats(static_cast<AmActor&>(*actor), unseen, beat.last_sent.value_or(kernel_.now()));
}

void SimHost::TellRmOfBeats(const AmActor& am, std::uint64_t unseen, Instant last) {
  if (unseen == 0 || rm_ == nullptr) return;
  StepRm(fakes::AmHeartbeatsElided{.attempt = am.attempt, .count = unseen, .last = last});
}

void SimHost::BeatSent(Actor& actor, std::uint64_t call) {
  Beat& beat = actor.beat;
  beat.last_sent = kernel_.now();
  ++beat.sent;
  beat.forced = kNever;  // Whatever the news was, this beat sees it.
  if (actor.kind == ActorKind::kAgent) return UpdateLink(actor);
  beat.awaited = call;
}

void SimHost::StartBeatsAnew(Actor& actor) {
  // Registering starts response ids and the grid over, at both ends.
  Beat& beat = actor.beat;
  beat.last_sent.reset();
  beat.awaited.reset();
  beat.sent = beat.seen = 0;
  beat.forced = kNever;
  UpdateLink(actor);
}

void SimHost::BeatAnswered(Actor& actor, std::uint64_t call) {
  // A late answer to an earlier call does not answer the latest.
  if (actor.beat.awaited != call) return;
  actor.beat.awaited.reset();
  // An actor that waited for longer than a period has left out beats meanwhile, and beats anew.
  if (actor.beat.last_sent && kernel_.now() > *actor.beat.last_sent + actor.beat.period)
    actor.beat.last_sent.reset();
  actor.beat.late =
      !actor.beat.last_sent || kernel_.now() > *actor.beat.last_sent + actor.beat.round_trip;
  UpdateLink(actor);
}

void SimHost::ForceBeat(Actor& actor) {
  Beat& beat = actor.beat;
  if (!options_.elide || !beat.last_sent || !actor.alive) return;
  // The first beat that the receiver sees after the news. One at this very instant still comes if
  // its turn is later.
  const std::uint64_t before = BeatsBefore(*beat.last_sent, beat.period, kernel_.now());
  Instant next = *beat.last_sent + beat.period * static_cast<std::int64_t>(before + 1);
  if (next == kernel_.now() && kernel_.TimerHasCome(actor.id)) next += beat.period;
  if (next >= beat.forced) return;
  beat.forced = next;
  if (beat.clean && !beat.awaited && !actor.paused) ScheduleAt(actor, next);
}

bool SimHost::LinkIsClean(const Actor& actor) const {
  if (!options_.elide || !actor.alive || actor.paused || !actor.beat.last_sent) return false;
  if (message_faults_.TouchesBeats()) return false;
  switch (actor.kind) {
    case ActorKind::kRm:
      return false;
    case ActorKind::kNm:
      if (nodes_[actor.place].muted > 0) return false;
      // The RM expects the next one a period after the last one came.
      if (actor.beat.late) return false;
      // While it ends its containers to register anew it does not beat.
      if (!static_cast<const NmActor&>(actor).machine->registered()) return false;
      return rm_answers() && network_.Undisturbed(actor.place, kRmPlace);
    case ActorKind::kClient:
      // What an idle answer says is the report before it; of an error there is none.
      if (!static_cast<const ClientActor&>(actor).last_report) return false;
      [[fallthrough]];
    case ActorKind::kAm:
      return rm_answers() && network_.Undisturbed(actor.place, kRmPlace);
    case ActorKind::kAgent: {
      const auto& agent = static_cast<const AgentActor&>(actor);
      if (agent.disowned || agent.am == 0 || actors_[agent.am] == nullptr) return false;
      // Before its first answer it may take its AM for silent, and several answers are under way at
      // once.
      if (agent.beat.round_trip >= agent.beat.period) return false;
      // One that looks for its AM has not heard from it yet, and the AM may have given it up in the
      // very instant of its first beat.
      if (agent.machine->snapshot().link != agent::LinkState::kConnected) return false;
      // The next answer may come after the agent has taken its AM for silent.
      if (!agent.beat.vouched &&
          kernel_.now() - agent.machine->snapshot().last_heard > agent.beat.period * 3 / 2)
        return false;
      const auto& am = static_cast<const AmActor&>(*actors_[agent.am]);
      // What it has yet to read it has yet to answer, and may stand still again before that.
      const bool reads = !am.paused && am.inbox.empty();
      return am.alive && reads && network_.Undisturbed(actor.place, am.place);
    }
  }
  return false;
}

void SimHost::UpdateLink(Actor& actor) {
  const bool clean = LinkIsClean(actor);
  if (clean == actor.beat.clean) return;
  // A beat is overdue: its sender stood still, and its grid starts with the beat that comes now.
  if (clean && kernel_.now() > *actor.beat.last_sent + actor.beat.period) return;
  if (!clean) CatchUp(actor);
  actor.beat.clean = clean;
  Vouch(actor, clean);
  Reschedule(actor);
}

void SimHost::Vouch(Actor& actor, bool vouched) {
  Beat& beat = actor.beat;
  if (beat.vouched == vouched) return;
  beat.vouched = vouched;
  const Instant last = beat.last_sent.value_or(kernel_.now());
  switch (actor.kind) {
    case ActorKind::kRm:
    case ActorKind::kClient:
      return;
    case ActorKind::kNm:
      if (rm_ != nullptr)
        StepRm(
            fakes::NodeVouched{.node = nodes_[actor.place].id, .vouched = vouched, .last = last});
      return;
    case ActorKind::kAm:
      if (rm_ != nullptr) {
        const ApplicationAttemptId attempt = static_cast<AmActor&>(actor).attempt;
        StepRm(fakes::AmVouched{.attempt = attempt, .vouched = vouched, .last = last});
      }
      return;
    case ActorKind::kAgent: {
      auto& agent = static_cast<AgentActor&>(actor);
      Actor* am = agent.am == 0 ? nullptr : actors_[agent.am].get();
      if (am != nullptr && am->alive) {
        CatchUp(*am);
        StepQuietly<AmAction>(*static_cast<AmActor&>(*am).machine, kernel_.now(),
                              PeerVouched{.task = agent.fence.task,
                                          .incarnation = agent.fence.incarnation,
                                          .vouched = vouched,
                                          .last = last});
        Reschedule(*am);
      }
      if (agent.alive) {
        CatchUp(agent);
        const Instant answered = last + beat.round_trip;
        const bool under_way = !vouched && am != nullptr && answered > kernel_.now();
        // What the AM has answered comes, whatever became of the AM meanwhile.
        if (under_way) {
          const std::int32_t attempt = static_cast<AmActor&>(*am).attempt.attempt;
          kernel_.AtTurnOf(agent.id, answered,
                           [this, id = agent.id, fence = agent.fence, from = am->id, attempt] {
                             AgentHears(
                                 id, from,
                                 AmSaid{.message = HeartbeatSeen{fence}, .am_attempt = attempt});
                           });
        }
        const Instant heard = answered <= kernel_.now() ? answered : last;
        StepQuietly<AgentAction>(*agent.machine, kernel_.now(),
                                 PeerVouched{.task = {},
                                             .incarnation = {},
                                             .vouched = vouched,
                                             .last = vouched ? kernel_.now() : heard});
        Reschedule(agent);
      }
      return;
    }
  }
}

void SimHost::DisturbAllLinks() {
  for (const std::unique_ptr<Actor>& actor : actors_) {
    if (actor == nullptr || !actor->alive || !actor->beat.clean) continue;
    CatchUp(*actor);
    actor->beat.clean = false;
    Vouch(*actor, false);
    Reschedule(*actor);
  }
}

void SimHost::RestoreAllLinks() {
  for (const std::unique_ptr<Actor>& actor : actors_) {
    if (actor == nullptr || !actor->alive) continue;
    // What was sent meanwhile may be lost: a link counts as clean once a beat has come through.
    if (!actor->beat.clean) actor->beat.last_sent.reset();
    UpdateLink(*actor);
    Reschedule(*actor);
  }
}

}  // namespace tfyarn::sim
