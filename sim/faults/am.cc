// ApplicationMasters whose process is killed or stands still, or whom the RM does not know any
// more.
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
  for (AmActor* am : AmsOf(order)) ams_.Kill(*am);
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
  if (!order.begins) return ams_.GoOn(KeyOf(order));
  for (AmActor* am : AmsOf(order)) ams_.Pause(*am, KeyOf(order));
}

}  // namespace tfyarn::sim
