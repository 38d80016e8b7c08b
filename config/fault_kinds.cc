#include "config/fault_kinds.h"

#include <algorithm>

#include "config/fault_kind_list.h"
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
    AddNodeKinds(all);
    AddLaunchKinds(all);
    AddRmKinds(all);
    AddAmKinds(all);
    AddContainerKinds(all);
    AddClientKinds(all);
    AddGpuKinds(all);
    AddNetworkKinds(all);
    AddHdfsKinds(all);
    all.push_back({.name = "trace",
                   .doc = "Node failures of a real system. Its first failure is at 0s; its node k "
                          "is node k modulo the "
                          "number of nodes here, down while any of its sources is.",
                   .target = FaultTarget::kNothing,
                   .target_required = false,
                   .armed_at_start = true,
                   .params = {{.name = "format",
                               .kind = FaultParamKind::kWord,
                               .default_text = "",
                               .doc = "Of which trace.",
                               .required = true,
                               .choices = {"lanl"}},
                              {.name = "file",
                               .kind = FaultParamKind::kText,
                               .default_text = "",
                               .doc = "The file, plain or .xz, relative to this one.",
                               .required = true},
                              {.name = "system",
                               .kind = FaultParamKind::kWhole,
                               .default_text = "",
                               .doc = "Which of its systems.",
                               .required = true,
                               .least = 1,
                               .most = 1000}},
                   .example = "{kind: trace, format: lanl, file: ../traces/lanl.csv, system: 20}"});
    return all;
  }();
  return kinds;
}

const FaultKind* FindFaultKind(std::string_view name) {
  for (const FaultKind& kind : FaultKinds()) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

const std::vector<std::string>& LaterFaultKinds() {
  static const std::vector<std::string> kinds = {
      "node_unhealthy", "disk_full",      "disks_failed",  "rm_failover", "rm_slow",
      "am_resync",      "client_suspend", "client_resume", "gpu_slow",    "reorder",
      "token_expiry",   "clock_skew",     "clock_jump"};
  return kinds;
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
      return "{job: J, task: T}, {job: J}, {am: J}, or nodes; without it everybody";
    case FaultTarget::kNothing:
      return "none";
  }
  return {};
}

}  // namespace tfyarn::config
