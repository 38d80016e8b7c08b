// What the user does, and the user's machine that is lost or sleeps.
#include "sim/faults/effects.h"
#include "sim/struck_actors.h"

namespace tfyarn::sim {

template <>
void Strike<FaultId::kClientKill>(World& world, const FaultOrder& order) {
  for (ClientActor* client : ClientsOf(world.cluster, order))
    client->Step(KillRequested{.reason = "killed by the user"});
}

template <>
void Strike<FaultId::kClientLost>(World& world, const FaultOrder& order) {
  if (!order.begins) return world.clients.Return(KeyOf(order));
  for (ClientActor* client : ClientsOf(world.cluster, order)) {
    if (order.lasts) {
      world.clients.LoseFor(*client, KeyOf(order));
    } else {
      world.clients.Lose(*client);
    }
  }
}

template <>
void Strike<FaultId::kClientSuspend>(World& world, const FaultOrder& order) {
  for (ClientActor* client : ClientsOf(world.cluster, order)) {
    if (order.begins) {
      world.clients.Suspend(*client, KeyOf(order));
    } else {
      world.clients.Resume(*client, KeyOf(order));
    }
  }
}

template <>
void Strike<FaultId::kClientResume>(World& world, const FaultOrder& order) {
  for (ClientActor* client : ClientsOf(world.cluster, order)) world.clients.ResumeAll(*client);
}

}  // namespace tfyarn::sim
