// SimHost and effects that go wrong once: what their senders are answered, and the death of a
// process between two of its actions.
#include <utility>

#include "config/fault_id.h"
#include "config/fault_kinds.h"
#include "sim/behavior.h"
#include "sim/sim_host.h"
#include "sim/sim_host_calls.h"

namespace tfyarn::sim {

/// To checkers it is a fault like those of the scenario, behind them in number.
void SimHost::TellOfDamage(const Actor& actor, const Sabotage& damage) {
  const auto fault =
      static_cast<std::uint32_t>(scenario_.faults.size()) + saboteur_.IndexOf(damage);
  const bool dies = damage.damage == Damage::kDies || damage.damage == Damage::kDiesBefore;
  const bool am = actor.kind == ActorKind::kAm;
  const auto job = am ? jobs_.find(static_cast<const AmActor&>(actor).job.value) : jobs_.end();
  Trace(trace::FaultBegan{
      .fault = fault,
      .instance = 0,
      .kind = !dies ? "sabotage"
              : am  ? config::KindWith(config::FaultId::kAmCrash).name
                    : config::KindWith(config::FaultId::kContainerLost).name,
      .target = job != jobs_.end() && dies ? "am of " + job->second->name : ToString(damage)});
  kernel_.After(dies ? Duration::zero() : kRpcTimeout,
                [this, fault] { Trace(trace::FaultEnded{.fault = fault, .instance = 0}); });
}

void SimHost::KillProcess(Actor& actor) {
  if (!actor.alive) return;
  switch (actor.kind) {
    case ActorKind::kAm:
      return CrashAm(static_cast<AmActor&>(actor));
    case ActorKind::kAgent: {
      auto& agent = static_cast<AgentActor&>(actor);
      const ContainerId container = agent.fence.container;
      EndAgent(agent);
      // Its node learns of it when the step that runs now is over.
      return kernel_.After(Duration::zero(), [this, container] {
        ContainerProcessEnded(container, 128 + kSigkill, "");
      });
    }
    case ActorKind::kClient: {
      auto& client = static_cast<ClientActor&>(actor);
      client.alive = false;
      UpdateLink(client);
      jobs_.at(client.job.value)->client = 0;
      return;
    }
    case ActorKind::kRm:
    case ActorKind::kNm:
      return;
  }
}

yarn::RpcError SimHost::RpcErrorOfDamage() const {
  const auto* code = std::get_if<yarn::RpcErrorCode>(&damage_->error);
  return {.code = code == nullptr ? yarn::RpcErrorCode::kYarn : *code,
          .message = "refused: " + ToString(*damage_)};
}

hdfs::HdfsError SimHost::HdfsErrorOfDamage() const {
  const auto* code = std::get_if<hdfs::HdfsErrorCode>(&damage_->error);
  return {.code = code == nullptr ? hdfs::HdfsErrorCode::kUnavailable : *code,
          .message = "refused: " + ToString(*damage_)};
}

}  // namespace tfyarn::sim
