// Effects that go wrong once (RunOptions::sabotage): which action's turn it is, what its sender is
// answered, and the death of a process between two of its actions.
//
// A part that carries actions out has them go through here, and asks, where one can go wrong,
// whether it does. It uses the kernel and the trace.
#pragma once

#include <utility>

#include "core/model/hdfs.h"
#include "core/model/yarn.h"
#include "core/trace/routine.h"
#include "sim/effects.h"
#include "sim/kernel.h"
#include "sim/links.h"
#include "sim/run_setup.h"
#include "sim/trace_tap.h"

namespace tfyarn::sim {

class SabotageDesk {
 public:
  /// All must outlive it.
  SabotageDesk(Kernel& kernel, const RunSetup& setup, TraceTap& trace)
      : kernel_(kernel), setup_(setup), trace_(trace), saboteur_(setup.options.sabotage) {}
  SabotageDesk(const SabotageDesk&) = delete;
  SabotageDesk& operator=(const SabotageDesk&) = delete;

  /// `carry()` carries the action out; `kill()` ends the process of the actor that ordered it.
  /// Makes the action fail where its turn to has come.
  template <class Action, class Carry, class Kill>
  void Obey(EffectActor kind, const AnyActor& actor, const Action& action, Carry carry, Kill kill) {
    if (saboteur_.idle() || trace::IsRoutine(action)) return carry();
    const Sabotage* damage = saboteur_.Next(kind, action);
    if (damage == nullptr) return carry();
    Tell(kind, actor, *damage);
    switch (damage->damage) {
      case Damage::kDiesBefore:
        return kill();
      case Damage::kDies:
        carry();
        return kill();
      case Damage::kLost:
      case Damage::kUnanswered:
      case Damage::kFails:
      case Damage::kTorn:
        Within(damage, std::move(carry));
    }
  }
  /// What `carry()` does goes wrong in this way; nullptr: nothing does.
  template <class Carry>
  void Within(const Sabotage* damage, Carry carry) {
    damage_ = damage;
    carry();
    damage_ = nullptr;
  }

  /// To the effect that is being carried out; nullptr: none.
  [[nodiscard]] const Sabotage* damage() const { return damage_; }
  /// That effect goes wrong in this way.
  [[nodiscard]] bool Is(Damage damage) const {
    return damage_ != nullptr && damage_->damage == damage;
  }
  /// What its sender is answered.
  [[nodiscard]] yarn::RpcError RpcAnswer() const;
  [[nodiscard]] hdfs::HdfsError HdfsAnswer() const;

 private:
  void Tell(EffectActor kind, const AnyActor& actor, const Sabotage& damage);

  Kernel& kernel_;
  const RunSetup& setup_;
  TraceTap& trace_;
  Saboteur saboteur_;
  const Sabotage* damage_ = nullptr;
};

}  // namespace tfyarn::sim
