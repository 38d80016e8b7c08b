// ApplicationMasters whose process is killed, or stands still.
#include <deque>
#include <utility>
#include <vector>

#include "sim/faults/effects.h"

namespace tfyarn::sim {

template <>
void SimHost::Strike<FaultId::kAmCrash>(const FaultOrder& order) {
  for (const Struck& struck : order.struck) {
    const JobRt* job = JobNamed(struck.job);
    if (job == nullptr || job->am == 0) continue;
    CrashAm(static_cast<AmActor&>(*actors_[job->am]));
  }
}

template <>
void SimHost::Strike<FaultId::kAmPause>(const FaultOrder& order) {
  std::vector<std::uint32_t>& paused = paused_[KeyOf(order)];
  if (order.begins) {
    for (const Struck& struck : order.struck) {
      const JobRt* job = JobNamed(struck.job);
      if (job == nullptr || job->am == 0) continue;
      paused.push_back(job->am);
      auto& am = static_cast<AmActor&>(*actors_[job->am]);
      if (++am.pauses == 1) PauseAm(am, true);
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
    After(Duration::zero(), [this, id = am.id, event = std::move(event)]() mutable {
      if (Actor* actor = Living(id)) StepAm(static_cast<AmActor&>(*actor), std::move(event));
    });
  }
  Reschedule(am);
}

}  // namespace tfyarn::sim
