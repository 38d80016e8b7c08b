#include "sim/effects.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <type_traits>

#include "core/model/visit.h"
#include "core/trace/routine.h"
#include "sim/message_faults.h"

namespace tfyarn::sim {
namespace {

template <class Request>
std::string NameOfRequest() {
  return std::string(WithoutRequest(TypeName<Request>()));
}

template <class Variant>
std::string NameOfAlternative(const Variant& value) {
  return std::visit([](const auto& one) { return NameOfRequest<std::decay_t<decltype(one)>>(); },
                    value);
}

std::string NameOfSignal(StopSignal signal) {
  switch (signal) {
    case StopSignal::kTerm:
      return "SignalTerm";
    case StopSignal::kKill:
      return "SignalKill";
    case StopSignal::kContinue:
      return "SignalContinue";
  }
  return "";
}

/// The kinds of one alternative of a variant of actions: of a call or a message those of what it
/// carries.
template <class Action>
void AddKinds(EffectActor actor, std::vector<EffectName>& all) {
  const auto add = [&]<class... One>(std::type_identity<std::variant<One...>>) {
    (all.push_back({.actor = actor, .kind = NameOfRequest<One>()}), ...);
  };
  if constexpr (std::is_same_v<Action, CallRm>) {
    add(std::type_identity<yarn::RmRequest>{});
  } else if constexpr (std::is_same_v<Action, CallNm>) {
    add(std::type_identity<yarn::NmRequest>{});
  } else if constexpr (std::is_same_v<Action, CallHdfs>) {
    add(std::type_identity<hdfs::HdfsRequest>{});
  } else if constexpr (std::is_same_v<Action, SendToAgent>) {
    add(std::type_identity<AmToAgent>{});
  } else if constexpr (std::is_same_v<Action, SendToAm>) {
    add(std::type_identity<AgentToAm>{});
  } else if constexpr (std::is_same_v<Action, SignalProcess>) {
    for (const StopSignal signal : {StopSignal::kTerm, StopSignal::kKill, StopSignal::kContinue})
      all.push_back({.actor = actor, .kind = NameOfSignal(signal)});
  } else {
    all.push_back({.actor = actor, .kind = NameOfRequest<Action>()});
  }
}

template <class... Action>
void AddAll(EffectActor actor, std::type_identity<std::variant<Action...>>,
            std::vector<EffectName>& all) {
  (AddKinds<Action>(actor, all), ...);
}

}  // namespace

std::string EffectKind(const AmAction& action) {
  return std::visit(
      Overloaded{[](const CallRm& call) { return NameOfAlternative(call.request); },
                 [](const CallNm& call) { return NameOfAlternative(call.request); },
                 [](const CallHdfs& call) { return NameOfAlternative(call.request); },
                 [](const SendToAgent& send) { return NameOfAlternative(send.message); },
                 []<class One>(const One&) { return NameOfRequest<One>(); }},
      action);
}

std::string EffectKind(const AgentAction& action) {
  return std::visit(
      Overloaded{[](const SendToAm& send) { return NameOfAlternative(send.message); },
                 [](const SignalProcess& signal) { return NameOfSignal(signal.signal); },
                 []<class One>(const One&) { return NameOfRequest<One>(); }},
      action);
}

std::string EffectKind(const ClientAction& action) {
  return std::visit(Overloaded{[](const CallRm& call) { return NameOfAlternative(call.request); },
                               [](const CallHdfs& call) { return NameOfAlternative(call.request); },
                               []<class One>(const One&) { return NameOfRequest<One>(); }},
                    action);
}

std::vector<EffectName> AllEffects() {
  std::vector<EffectName> all;
  AddAll(EffectActor::kAm, std::type_identity<AmAction>{}, all);
  AddAll(EffectActor::kAgent, std::type_identity<AgentAction>{}, all);
  AddAll(EffectActor::kClient, std::type_identity<ClientAction>{}, all);
  return all;
}

std::string DescribeSabotage(const Sabotage& sabotage) {
  const auto how = [&]() -> std::string {
    switch (sabotage.damage) {
      case Damage::kLost:
        return "is lost";
      case Damage::kUnanswered:
        return "is not answered";
      case Damage::kFails:
        break;
      case Damage::kTorn:
        return "is torn";
      case Damage::kDies:
        return "is its last";
      case Damage::kDiesBefore:
        return "is not carried out, as it is killed";
    }
    return std::visit(Overloaded{[](std::monostate) -> std::string { return "fails"; },
                                 [](const auto& code) { return "fails with " + KebabName(code); }},
                      sabotage.error);
  };
  return fmt::format("{} {} of the {} {}", sabotage.effect.kind, sabotage.nth,
                     KebabName(sabotage.effect.actor), how());
}

const Sabotage* Saboteur::Next(EffectActor actor, std::string kind) {
  const EffectName effect{.actor = actor, .kind = std::move(kind)};
  const std::uint64_t number = ++seen_[effect];
  for (const Sabotage& one : wanted_) {
    if (one.nth == number && one.effect == effect) return &one;
  }
  return nullptr;
}

}  // namespace tfyarn::sim
