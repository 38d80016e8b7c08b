// ApplicationMasters whose process is killed or stands still, or whom the RM does not know any
// more.
#include <deque>
#include <utility>
#include <vector>

#include "sim/faults/effects.h"

namespace tfyarn::sim {

std::vector<AmActor*> SimHost::AmsOf(const FaultOrder& order) {
  std::vector<AmActor*> ams;
  for (const Struck& struck : order.struck) {
    const JobRt* job = JobNamed(struck.job);
    if (job == nullptr || job->am == 0) continue;
    ams.push_back(static_cast<AmActor*>(actors_[job->am].get()));
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
    if (rm_ != nullptr) StepRm(fakes::ForgetRegistration{.attempt = am->attempt});
  }
}

// Source: AMRMTokenSecretManager.retrievePassword (InvalidToken).
template <>
void SimHost::Strike<FaultId::kTokenExpiry>(const FaultOrder& order) {
  for (const AmActor* am : AmsOf(order)) {
    if (rm_ != nullptr) StepRm(fakes::ExpireAmRmToken{.attempt = am->attempt});
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
    Actor* actor = Living(id);
    if (actor == nullptr) continue;
    auto& am = static_cast<AmActor&>(*actor);
    if (--am.pauses == 0) PauseAm(am, false);
  }
  paused_.erase(KeyOf(order));
}

void SimHost::PauseAm(AmActor& am, bool paused) {
  am.paused = paused;
  UpdateLink(am);
  const auto job = jobs_.find(am.job.value);
  if (job != jobs_.end()) {
    for (const std::uint32_t id : std::vector<std::uint32_t>(job->second->agents)) {
      if (actors_[id] != nullptr) UpdateLink(*actors_[id]);
    }
  }
  if (paused) return;
  std::deque<AmEvent> inbox = std::move(am.inbox);
  am.inbox.clear();
  for (AmEvent& event : inbox) {
    kernel_.After(Duration::zero(), [this, id = am.id, event = std::move(event)]() mutable {
      if (Actor* actor = Living(id)) StepAm(static_cast<AmActor&>(*actor), std::move(event));
    });
  }
  Reschedule(am);
}

}  // namespace tfyarn::sim
