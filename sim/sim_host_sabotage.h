// Carrying actions out, with the failures of RunOptions::sabotage; included by sources of
// SimHost only.
#pragma once

#include <type_traits>

#include "core/trace/routine.h"
#include "sim/sim_host.h"

namespace tfyarn::sim {

template <class OneActor, class OneAction>
void SimHost::Obey(OneActor& actor, OneAction& action) {
  if (saboteur_.idle() || trace::IsRoutine(action)) return Handle(actor, action);
  constexpr EffectActor kActor = std::is_same_v<OneActor, AmActor>      ? EffectActor::kAm
                                 : std::is_same_v<OneActor, AgentActor> ? EffectActor::kAgent
                                                                        : EffectActor::kClient;
  const Sabotage* damage = saboteur_.Next(kActor, action);
  if (damage == nullptr) return Handle(actor, action);
  TellOfDamage(kActor, actor, *damage);
  switch (damage->damage) {
    case Damage::kDiesBefore:
      return KillProcess(actor);
    case Damage::kDies:
      Handle(actor, action);
      return KillProcess(actor);
    case Damage::kLost:
    case Damage::kUnanswered:
    case Damage::kFails:
    case Damage::kTorn:
      damage_ = damage;
      Handle(actor, action);
      damage_ = nullptr;
  }
}

}  // namespace tfyarn::sim
