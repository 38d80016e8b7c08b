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
void SimHost::TellOfDamage(EffectActor actor, const AnyActor& by, const Sabotage& damage) {
  const auto fault =
      static_cast<std::uint32_t>(setup_.scenario.faults.size()) + saboteur_.IndexOf(damage);
  const bool dies = damage.damage == Damage::kDies || damage.damage == Damage::kDiesBefore;
  const bool am = actor == EffectActor::kAm;
  const std::string_view job = by.party().job;
  trace_.Tell(trace::FaultBegan{
      .fault = fault,
      .instance = 0,
      .kind = !dies ? "sabotage"
              : am  ? config::KindWith(config::FaultId::kAmCrash).name
                    : config::KindWith(config::FaultId::kContainerLost).name,
      .target = am && !job.empty() && dies ? "am of " + std::string(job) : ToString(damage)});
  kernel_.After(dies ? Duration::zero() : kRpcTimeout,
                [this, fault] { trace_.Tell(trace::FaultEnded{.fault = fault, .instance = 0}); });
}

void SimHost::KillProcess(AmActor& am) {
  if (am.alive) CrashAm(am);
}

void SimHost::KillProcess(AgentActor& agent) {
  if (!agent.alive) return;
  const ContainerId container = agent.fence.container;
  EndAgent(agent);
  // Its node learns of it when the step that runs now is over.
  kernel_.After(Duration::zero(),
                [this, container] { ContainerProcessEnded(container, 128 + kSigkill, ""); });
}

void SimHost::KillProcess(ClientActor& client) {
  if (!client.alive) return;
  client.alive = false;
  links_.Update(client);
  cluster_.JobAt(client.job)->client = nullptr;
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
