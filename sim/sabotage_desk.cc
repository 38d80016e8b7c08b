#include "sim/sabotage_desk.h"

#include <string>
#include <string_view>

#include "config/fault_id.h"
#include "config/fault_kinds.h"
#include "sim/calls.h"

namespace tfyarn::sim {

/// To checkers it is a fault like those of the scenario, behind them in number.
void SabotageDesk::Tell(EffectActor kind, const AnyActor& actor, const Sabotage& damage) {
  const auto fault =
      static_cast<std::uint32_t>(setup_.scenario.faults.size()) + saboteur_.IndexOf(damage);
  const bool dies = damage.damage == Damage::kDies || damage.damage == Damage::kDiesBefore;
  const bool am = kind == EffectActor::kAm;
  const std::string_view job = actor.party().job;
  trace_.Tell(
      trace::FaultBegan{.fault = fault,
                        .instance = 0,
                        .kind = !dies ? "sabotage"
                                : am  ? config::KindWith(config::FaultId::kAmCrash).name
                                      : config::KindWith(config::FaultId::kContainerLost).name,
                        .target = am && !job.empty() && dies ? "am of " + std::string(job)
                                                             : DescribeSabotage(damage)});
  kernel_.After(dies ? Duration::zero() : kRpcTimeout,
                [this, fault] { trace_.Tell(trace::FaultEnded{.fault = fault, .instance = 0}); });
}

yarn::RpcError SabotageDesk::RpcAnswer() const {
  const auto* code = std::get_if<yarn::RpcErrorCode>(&damage_->error);
  return {.code = code == nullptr ? yarn::RpcErrorCode::kYarn : *code,
          .message = "refused: " + DescribeSabotage(*damage_)};
}

hdfs::HdfsError SabotageDesk::HdfsAnswer() const {
  const auto* code = std::get_if<hdfs::HdfsErrorCode>(&damage_->error);
  return {.code = code == nullptr ? hdfs::HdfsErrorCode::kUnavailable : *code,
          .message = "refused: " + DescribeSabotage(*damage_)};
}

}  // namespace tfyarn::sim
