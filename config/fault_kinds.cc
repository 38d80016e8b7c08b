#include "config/fault_kinds.h"

#include <algorithm>

#include "config/faults/parts.h"
#include "config/type.h"
#include "core/model/am.h"
#include "core/model/channel.h"
#include "core/model/yarn.h"

namespace tfyarn::config {
namespace {

template <class Variant>
void AddNames(std::vector<std::string>& names) {
  boost::mp11::mp_for_each<boost::mp11::mp_transform<boost::mp11::mp_identity, Variant>>(
      [&](auto identity) {
        std::string name(TypeName<typename decltype(identity)::type>());
        constexpr std::string_view kSuffix = "Request";
        if (name.ends_with(kSuffix)) name.erase(name.size() - kSuffix.size());
        names.push_back(std::move(name));
      });
}

}  // namespace

const std::vector<FaultKind>& FaultKinds() {
  static const std::vector<FaultKind> kinds = [] {
    std::vector<FaultKind> all;
#define TF_ADD_KIND(Name)                    \
  all.push_back(KindOf<FaultId::k##Name>()); \
  all.back().id = FaultId::k##Name;
    TF_FAULT_KINDS(TF_ADD_KIND)
#undef TF_ADD_KIND
    return all;
  }();
  return kinds;
}

const FaultKind& KindWith(FaultId id) {
  return FaultKinds()[static_cast<std::size_t>(id)];
}

const FaultKind* FindFaultKind(std::string_view name) {
  for (const FaultKind& kind : FaultKinds()) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

const FaultTraits& TraitsOf(std::string_view name) {
  static const FaultTraits unknown;
  const FaultKind* kind = FindFaultKind(name);
  return kind == nullptr ? unknown : kind->traits;
}

const std::vector<std::string>& MessageNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    AddNames<AgentToAm>(all);
    AddNames<AmToAgent>(all);
    AddNames<yarn::RmRequest>(all);
    AddNames<yarn::NmRequest>(all);
    return all;
  }();
  return names;
}

const std::vector<std::string>& MomentMessageNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all = MessageNames();
    std::erase_if(all, [](const std::string& name) {
      return name.find("Heartbeat") != std::string::npos || name == "RegisterNodeManager";
    });
    return all;
  }();
  return names;
}

const std::vector<std::string>& JobStateNames() {
  static const std::vector<std::string> names = Choice<JobState>().info.choices;
  return names;
}

const std::vector<std::string>& TaskStateNames() {
  static const std::vector<std::string> names = {"registered", "running", "ended"};
  return names;
}

std::string TargetText(FaultTarget target) {
  switch (target) {
    case FaultTarget::kNode:
      return "{node: N}, {rack: R}, {label: L}, nodes (all), {random: K, of: ...}, {fraction: F, "
             "of: ...}; {job: J, task: "
             "T} and {am: J} mean the node that holds it then";
    case FaultTarget::kTask:
      return "{job: J, task: T}, {job: J} (all its tasks), {random: K, of: {job: J}}";
    case FaultTarget::kJob:
      return "{job: J}";
    case FaultTarget::kAm:
      return "{am: J}";
    case FaultTarget::kRm:
      return "rm";
    case FaultTarget::kHdfs:
      return "hdfs";
    case FaultTarget::kCaller:
      return "{job: J, task: T}, {job: J}, {am: J}, or nodes; without it the whole cluster";
    case FaultTarget::kGroups:
    case FaultTarget::kRecorded:
      return "none";
  }
  return {};
}

}  // namespace tfyarn::config
