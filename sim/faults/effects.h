// What a kind of fault does in a simulation, and how it ends: a file in sim/faults defines
// `Strike<FaultId::kXY>` of a kind, or of several that do nearly the same. When and whom
// it strikes is the plan's (fault_plan.h), whether it reaches anything is told by the kind's
// contract (config/fault_kinds.h).
//
// Both halves are one function, called with `order.begins` true and, where the fault lasts, false.
// Faults overlap: what one began only its own end may end, so effects are counted or kept by KeyOf.
#pragma once

#include "config/fault_id.h"
#include "sim/fault_words.h"
#include "sim/world.h"

namespace tfyarn::sim {

using config::FaultId;

/// What this kind of fault does to the world and, when not order.begins, how what it began ends.
template <FaultId id>
void Strike(World& world, const FaultOrder& order);

#define TF_STRIKE(Name) \
  template <>           \
  void Strike<FaultId::k##Name>(World & world, const FaultOrder& order);
TF_FAULTS_THAT_STRIKE(TF_STRIKE)
#undef TF_STRIKE

}  // namespace tfyarn::sim
