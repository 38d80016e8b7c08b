// ApplicationMasters whose process is killed or stands still, or whom the RM does not know any
// more.
#include <utility>
#include <vector>

#include "sim/faults/effects.h"

namespace tfyarn::sim {

std::vector<AmActor*> SimHost::AmsOf(const FaultOrder& order) {
  std::vector<AmActor*> ams;
  for (const Struck& struck : order.struck) {
    const JobRecord* job = cluster_.JobNamed(struck.job);
    if (job == nullptr || job->am == nullptr) continue;
    ams.push_back(job->am);
  }
  return ams;
}

template <>
void SimHost::Strike<FaultId::kAmCrash>(const FaultOrder& order) {
  for (AmActor* am : AmsOf(order)) CrashAm(*am);
}

// Source: ApplicationMasterService.allocate (ApplicationMasterNotRegisteredException).
template <>
void SimHost::Strike<FaultId::kAmResync>(const FaultOrder& order) {
  for (const AmActor* am : AmsOf(order)) {
    rm_.Tell(fakes::ForgetRegistration{.attempt = am->attempt});
  }
}

// Source: AMRMTokenSecretManager.retrievePassword (InvalidToken).
template <>
void SimHost::Strike<FaultId::kTokenExpiry>(const FaultOrder& order) {
  for (const AmActor* am : AmsOf(order)) {
    rm_.Tell(fakes::ExpireAmRmToken{.attempt = am->attempt});
  }
}

template <>
void SimHost::Strike<FaultId::kAmPause>(const FaultOrder& order) {
  std::vector<std::uint32_t>& paused = paused_[KeyOf(order)];
  if (order.begins) {
    for (AmActor* am : AmsOf(order)) {
      paused.push_back(am->id);
      if (++am->pauses == 1) PauseAm(*am, true);
    }
    return;
  }
  // The process that stood still goes on, though its job may have another AM by now.
  for (const std::uint32_t id : paused) {
    AmActor* am = cluster_.ams.Living(id);
    if (am != nullptr && --am->pauses == 0) PauseAm(*am, false);
  }
  paused_.erase(KeyOf(order));
}

void SimHost::PauseAm(AmActor& am, bool paused) {
  am.paused = paused;
  links_.Update(am);
  if (const JobRecord* job = cluster_.JobAt(am.job)) {
    for (AgentActor* agent : std::vector<AgentActor*>(job->agents)) links_.Update(*agent);
  }
  if (paused) return;
  for (AmEvent& event : std::exchange(am.inbox, {})) {
    kernel_.After(Duration::zero(), [this, id = am.id, event = std::move(event)]() mutable {
      if (AmActor* same = cluster_.ams.Living(id)) same->Step(std::move(event));
    });
  }
  links_.Reschedule(am);
}

}  // namespace tfyarn::sim
