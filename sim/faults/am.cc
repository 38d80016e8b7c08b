// ApplicationMasters whose process is killed or stands still, or whom the RM does not know any
// more.

#include "sim/faults/effects.h"
#include "sim/struck_actors.h"

namespace tfyarn::sim {

template <>
void Strike<FaultId::kAmCrash>(World& world, const FaultOrder& order) {
  for (AmActor* am : AmsOf(world.cluster, order)) world.ams.Kill(*am);
}

// Source: ApplicationMasterService.allocate (ApplicationMasterNotRegisteredException).
template <>
void Strike<FaultId::kAmResync>(World& world, const FaultOrder& order) {
  for (const AmActor* am : AmsOf(world.cluster, order)) {
    world.rm.Tell(fakes::ForgetRegistration{.attempt = am->attempt});
  }
}

// Source: AMRMTokenSecretManager.retrievePassword (InvalidToken).
template <>
void Strike<FaultId::kTokenExpiry>(World& world, const FaultOrder& order) {
  for (const AmActor* am : AmsOf(world.cluster, order)) {
    world.rm.Tell(fakes::ExpireAmRmToken{.attempt = am->attempt});
  }
}

template <>
void Strike<FaultId::kAmPause>(World& world, const FaultOrder& order) {
  if (!order.begins) return world.ams.GoOn(KeyOf(order));
  for (AmActor* am : AmsOf(world.cluster, order)) world.ams.Pause(*am, KeyOf(order));
}

}  // namespace tfyarn::sim
