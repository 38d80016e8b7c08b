#include "config/fault_kinds.h"

#include <algorithm>

#include "core/model/channel.h"
#include "core/model/yarn.h"

namespace tfyarn::config {
namespace {

using K = FaultParamKind;

template <class Variant>
void AddNames(std::vector<std::string>& names) {
  boost::mp11::mp_for_each<boost::mp11::mp_transform<boost::mp11::mp_identity, Variant>>([&](auto identity) {
    std::string name(TypeName<typename decltype(identity)::type>());
    constexpr std::string_view kSuffix = "Request";
    if (name.ends_with(kSuffix)) name.erase(name.size() - kSuffix.size());
    names.push_back(std::move(name));
  });
}

FaultParam Nth() {
  return {.name = "nth",
          .kind = K::kWhole,
          .default_text = "1",
          .doc = "Which one, counted from when the fault strikes; 0: every one while it lasts.",
          .most = 1e6};
}

FaultParam Message() {
  return {.name = "message",
          .kind = K::kWord,
          .default_text = "",
          .doc = "Its name: a message between AM and agents, or a call to the RM or an NM.",
          .required = true,
          .choices = MessageNames()};
}

FaultParam Times(std::string doc) {
  return {.name = "count", .kind = K::kWhole, .default_text = "1", .doc = std::move(doc), .least = 1, .most = 1e6};
}

FaultParam Factor(std::string text, std::string doc) {
  return {.name = "factor", .kind = K::kNumber, .default_text = std::move(text), .doc = std::move(doc), .least = 1,
          .most = 1e6};
}

FaultParam Method(std::string doc) {
  return {.name = "method",
          .kind = K::kWord,
          .default_text = "any",
          .doc = std::move(doc),
          .choices = {"any", "Allocate", "RegisterApplicationMaster", "FinishApplicationMaster", "GetNewApplication",
                      "SubmitApplication", "GetApplicationReport", "KillApplication", "NodeHeartbeat",
                      "RegisterNodeManager"}};
}

void AddNodeKinds(std::vector<FaultKind>& kinds) {
  kinds.push_back({.name = "node_crash",
                   .doc = "Machines stop at once with all that runs on them. They come back empty after `for`, or never.",
                   .target = FaultTarget::kNode,
                   .lasts = ForRule::kOptional,
                   .example = "{kind: node_crash, at: 400s, target: {job: a, task: \"worker:1\"}, for: 1h}"});
  kinds.push_back({.name = "node_reboot",
                   .doc = "Machines restart: all that runs on them ends, and they register again after `for`.",
                   .target = FaultTarget::kNode,
                   .lasts = ForRule::kOptional,
                   .default_for = "2m",
                   .example = "{kind: node_reboot, at: 400s, target: {node: n-1}}"});
  kinds.push_back({.name = "node_decommission",
                   .doc = "The RM takes nodes out of service. After `for` they are taken in again.",
                   .target = FaultTarget::kNode,
                   .lasts = ForRule::kOptional,
                   .params = {{.name = "graceful",
                               .kind = K::kDuration,
                               .default_text = "0s",
                               .doc = "How long running containers may go on; 0s: none."}},
                   .example = "{kind: node_decommission, at: 1h, target: {node: n-1}, graceful: 10m}"});
  kinds.push_back({.name = "slow_node",
                   .doc = "Processes on these nodes train slower; a job trains as fast as its slowest.",
                   .target = FaultTarget::kNode,
                   .lasts = ForRule::kOptional,
                   .params = {Factor("4", "Times slower.")},
                   .example = "{kind: slow_node, at: 10m, target: {node: n-1}, factor: 4, for: 1h}"});
  kinds.push_back({.name = "nm_restart",
                   .doc = "NodeManagers are down for `for`; containers go on meanwhile.",
                   .target = FaultTarget::kNode,
                   .lasts = ForRule::kOptional,
                   .default_for = "10s",
                   .params = {{.name = "recover",
                               .kind = K::kBool,
                               .default_text = "true",
                               .doc = "They find their containers again; false: those are killed."}},
                   .example = "{kind: nm_restart, at: 10m, target: {rack: r1}, for: 20s}"});
  kinds.push_back({.name = "nm_heartbeat_loss",
                   .doc = "Heartbeats of these NodeManagers do not reach the RM; everything else goes on.",
                   .target = FaultTarget::kNode,
                   .lasts = ForRule::kOptional,
                   .example = "{kind: nm_heartbeat_loss, at: 10m, target: {node: n-1}, for: 15m}"});
}

void AddLaunchKinds(std::vector<FaultKind>& kinds) {
  kinds.push_back({.name = "launch_fail",
                   .doc = "The next containers on these nodes fail to launch.",
                   .target = FaultTarget::kNode,
                   .lasts = ForRule::kOptional,
                   .armed_at_start = true,
                   .params = {Times("How many launches fail on each node.")},
                   .example = "{kind: launch_fail, target: {node: n-1}, count: 2}"});
  kinds.push_back({.name = "localize_fail",
                   .doc = "The next containers on these nodes fail to localise.",
                   .target = FaultTarget::kNode,
                   .lasts = ForRule::kOptional,
                   .armed_at_start = true,
                   .params = {Times("How many localisations fail on each node.")},
                   .example = "{kind: localize_fail, target: {node: n-1}, count: 2}"});
  kinds.push_back({.name = "localize_slow",
                   .doc = "Localisation on these nodes takes longer.",
                   .target = FaultTarget::kNode,
                   .lasts = ForRule::kOptional,
                   .armed_at_start = true,
                   .params = {Factor("10", "Times longer.")},
                   .example = "{kind: localize_slow, target: {label: gpu}, factor: 20}"});
}

void AddRmKinds(std::vector<FaultKind>& kinds) {
  kinds.push_back({.name = "rm_restart",
                   .doc = "The ResourceManager is down for `for` and starts from its store.",
                   .target = FaultTarget::kRm,
                   .target_required = false,
                   .lasts = ForRule::kOptional,
                   .default_for = "30s",
                   .example = "{kind: rm_restart, at: 10m, for: 1m}"});
  kinds.push_back({.name = "rm_pause",
                   .doc = "The ResourceManager answers nobody for `for` and loses nothing.",
                   .target = FaultTarget::kRm,
                   .target_required = false,
                   .lasts = ForRule::kOptional,
                   .default_for = "30s",
                   .example = "{kind: rm_pause, when: {job: a, state: running}, after: 10s, for: 40s}"});
  kinds.push_back({.name = "rm_drop_response",
                   .doc = "The RM carries out calls and its answers are lost.",
                   .target = FaultTarget::kCaller,
                   .target_required = false,
                   .armed_at_start = true,
                   .params = {Method("Of which calls."), Times("How many answers in a row.")},
                   .example = "{kind: rm_drop_response, at: 1m, target: {am: a}, method: Allocate, count: 3}"});
  kinds.push_back({.name = "rm_duplicate_response",
                   .doc = "Answers of the RM arrive twice.",
                   .target = FaultTarget::kCaller,
                   .target_required = false,
                   .armed_at_start = true,
                   .params = {Method("Of which calls."), Times("How many answers in a row.")},
                   .example = "{kind: rm_duplicate_response, at: 1m, target: {am: a}, method: Allocate}"});
}

void AddAmKinds(std::vector<FaultKind>& kinds) {
  kinds.push_back({.name = "am_crash",
                   .doc = "The ApplicationMaster's process is killed.",
                   .target = FaultTarget::kAm,
                   .example = "{kind: am_crash, when: {job: a, state: running}, after: 30s, target: {am: a}}"});
  kinds.push_back({.name = "am_pause",
                   .doc = "The ApplicationMaster stands still for `for` and then goes on.",
                   .target = FaultTarget::kAm,
                   .lasts = ForRule::kOptional,
                   .default_for = "30s",
                   .example = "{kind: am_pause, at: 5m, target: {am: a}, for: 2m}"});
}

void AddContainerKinds(std::vector<FaultKind>& kinds) {
  kinds.push_back({.name = "container_exit",
                   .doc = "The user's processes end with an exit code.",
                   .target = FaultTarget::kTask,
                   .params = {{.name = "exit", .kind = K::kWhole, .default_text = "1", .doc = "The code.", .most = 255}},
                   .example = "{kind: container_exit, when: {job: a, state: running}, after: 10s, target: {job: a, task: "
                              "\"ps:0\"}, exit: 137}"});
  kinds.push_back({.name = "container_signal",
                   .doc = "The user's processes are ended by a signal.",
                   .target = FaultTarget::kTask,
                   .params = {{.name = "signal", .kind = K::kSignal, .default_text = "KILL", .doc = "Which."}},
                   .example = "{kind: container_signal, at: 5m, target: {job: a, task: \"worker:0\"}, signal: SEGV}"});
  kinds.push_back({.name = "container_oom",
                   .doc = "The kernel's OOM killer ends the user's processes, and the agent sees the proof.",
                   .target = FaultTarget::kTask,
                   .example = "{kind: container_oom, at: 5m, target: {job: a, task: \"worker:0\"}}"});
  kinds.push_back({.name = "container_vmem",
                   .doc = "The NodeManager kills containers for their virtual memory (-103).",
                   .target = FaultTarget::kTask,
                   .example = "{kind: container_vmem, at: 5m, target: {job: a, task: \"worker:0\"}}"});
  kinds.push_back({.name = "container_lost",
                   .doc = "Containers are gone, and the RM reports them so.",
                   .target = FaultTarget::kTask,
                   .params = {{.name = "exit",
                               .kind = K::kWhole,
                               .default_text = "-100",
                               .doc = "The exit status that YARN reports.",
                               .least = -1000,
                               .most = -1}},
                   .example = "{kind: container_lost, at: 5m, target: {job: a, task: \"worker:0\"}}"});
  kinds.push_back({.name = "preempt",
                   .doc = "The RM takes containers back: a notice, then the kill (-102).",
                   .target = FaultTarget::kTask,
                   .params = {{.name = "notice",
                               .kind = K::kDuration,
                               .default_text = "15s",
                               .doc = "From the notice to the kill."}},
                   .example = "{kind: preempt, at: 5m, target: {job: a, task: \"worker:0\"}, notice: 30s}"});
  kinds.push_back({.name = "hang",
                   .doc = "The user's processes stop working and do not end; after `for` they go on.",
                   .target = FaultTarget::kTask,
                   .lasts = ForRule::kOptional,
                   .example = "{kind: hang, at: 5m, target: {job: a, task: \"worker:0\"}}"});
  kinds.push_back({.name = "port_in_use",
                   .doc = "Somebody has taken the leased port when the process starts.",
                   .target = FaultTarget::kTask,
                   .armed_at_start = true,
                   .params = {Times("How many starts of each task.")},
                   .example = "{kind: port_in_use, target: {job: a, task: \"worker:0\"}}"});
}

void AddClientKinds(std::vector<FaultKind>& kinds) {
  kinds.push_back({.name = "client_kill",
                   .doc = "The user kills the job.",
                   .target = FaultTarget::kJob,
                   .example = "{kind: client_kill, at: 2h, target: {job: a}}"});
  kinds.push_back({.name = "client_lost",
                   .doc = "The client's process is gone; after `for` a new one takes over.",
                   .target = FaultTarget::kJob,
                   .lasts = ForRule::kOptional,
                   .example = "{kind: client_lost, at: 2h, target: {job: a}}"});
}

void AddGpuKinds(std::vector<FaultKind>& kinds) {
  kinds.push_back({.name = "gpu_scarcity",
                   .doc = "Free GPUs of these nodes are taken out of service for a time; what is in use stays.",
                   .target = FaultTarget::kNode,
                   .lasts = ForRule::kOptional,
                   .params = {{.name = "gpus",
                               .kind = K::kWhole,
                               .default_text = "",
                               .doc = "How many on each node; without it all.",
                               .least = 1,
                               .most = 1e6}},
                   .example = "{kind: gpu_scarcity, at: 1h, target: {label: gpu}, for: 30m}"});
  kinds.push_back({.name = "gpu_lost",
                   .doc = "GPUs of these nodes fail; a process that uses one ends.",
                   .target = FaultTarget::kNode,
                   .lasts = ForRule::kOptional,
                   .params = {{.name = "gpus",
                               .kind = K::kWhole,
                               .default_text = "1",
                               .doc = "How many on each node.",
                               .least = 1,
                               .most = 1e6}},
                   .example = "{kind: gpu_lost, at: 1h, target: {node: n-1}, gpus: 1}"});
}

void AddNetworkKinds(std::vector<FaultKind>& kinds) {
  kinds.push_back({.name = "partition",
                   .doc = "Messages between the groups of `between` are lost.",
                   .target = FaultTarget::kNothing,
                   .target_required = false,
                   .lasts = ForRule::kOptional,
                   .armed_at_start = true,
                   .params = {{.name = "direction",
                               .kind = K::kWord,
                               .default_text = "both",
                               .doc = "`forward`: only from the first group to the others; `backward`: only from them.",
                               .choices = {"both", "forward", "backward"}}},
                   .example = "{kind: partition, at: 5m, between: [{rack: r1}, {am: a}], direction: both, for: 2m}"});
  kinds.push_back({.name = "latency",
                   .doc = "Messages from and to the targets take longer.",
                   .target = FaultTarget::kCaller,
                   .target_required = false,
                   .lasts = ForRule::kOptional,
                   .armed_at_start = true,
                   .params = {{.name = "delay", .kind = K::kDuration, .default_text = "100ms", .doc = "How much longer."}},
                   .example = "{kind: latency, at: 5m, target: {rack: r1}, delay: 500ms, for: 10m}"});
  kinds.push_back({.name = "loss",
                   .doc = "Messages from and to the targets are lost at random.",
                   .target = FaultTarget::kCaller,
                   .target_required = false,
                   .lasts = ForRule::kOptional,
                   .armed_at_start = true,
                   .params = {{.name = "loss",
                               .kind = K::kNumber,
                               .default_text = "",
                               .doc = "Probability of each.",
                               .required = true,
                               .most = 1}},
                   .example = "{kind: loss, at: 5m, target: {rack: r1}, loss: 0.1, for: 10m}"});
  kinds.push_back({.name = "drop",
                   .doc = "One message, by name, is lost.",
                   .target = FaultTarget::kCaller,
                   .target_required = false,
                   .lasts = ForRule::kOptional,
                   .armed_at_start = true,
                   .params = {Message(), Nth()},
                   .example = "{kind: drop, message: RegisterAgent, nth: 1, target: {job: a, task: \"worker:0\"}}"});
  kinds.push_back({.name = "delay",
                   .doc = "One message, by name, comes late.",
                   .target = FaultTarget::kCaller,
                   .target_required = false,
                   .lasts = ForRule::kOptional,
                   .armed_at_start = true,
                   .params = {Message(), Nth(),
                              {.name = "delay", .kind = K::kDuration, .default_text = "10s", .doc = "How late."}},
                   .example = "{kind: delay, message: StartProcess, delay: 20s, target: {job: a, task: \"worker:0\"}}"});
  kinds.push_back({.name = "duplicate",
                   .doc = "One message, by name, comes twice.",
                   .target = FaultTarget::kCaller,
                   .target_required = false,
                   .lasts = ForRule::kOptional,
                   .armed_at_start = true,
                   .params = {Message(), Nth()},
                   .example = "{kind: duplicate, message: ProcessEnded, target: {job: a, task: \"worker:0\"}}"});
}

void AddHdfsKinds(std::vector<FaultKind>& kinds) {
  kinds.push_back({.name = "hdfs_down",
                   .doc = "HDFS answers nobody.",
                   .target = FaultTarget::kHdfs,
                   .target_required = false,
                   .lasts = ForRule::kOptional,
                   .example = "{kind: hdfs_down, at: 5m, for: 10m}"});
  kinds.push_back({.name = "hdfs_safemode",
                   .doc = "HDFS can be read and not written.",
                   .target = FaultTarget::kHdfs,
                   .target_required = false,
                   .lasts = ForRule::kOptional,
                   .example = "{kind: hdfs_safemode, at: 5m, for: 10m}"});
  kinds.push_back({.name = "hdfs_slow",
                   .doc = "HDFS takes longer for everything.",
                   .target = FaultTarget::kHdfs,
                   .target_required = false,
                   .lasts = ForRule::kOptional,
                   .params = {Factor("10", "Times longer.")},
                   .example = "{kind: hdfs_slow, at: 5m, factor: 20, for: 10m}"});
  kinds.push_back({.name = "hdfs_quota",
                   .doc = "The space for what jobs write is limited.",
                   .target = FaultTarget::kHdfs,
                   .target_required = false,
                   .lasts = ForRule::kOptional,
                   .params = {{.name = "bytes",
                               .kind = K::kBytes,
                               .default_text = "0B",
                               .doc = "Of all replicas together."}},
                   .example = "{kind: hdfs_quota, at: 5m, bytes: 1GiB, for: 10m}"});
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
                   .doc = "Node failures of a real system. Its first failure is at 0s; its node k is node k modulo the "
                          "number of nodes here, down while any of its sources is.",
                   .target = FaultTarget::kNothing,
                   .target_required = false,
                   .armed_at_start = true,
                   .params = {{.name = "format", .kind = K::kWord, .default_text = "", .doc = "Of which trace.",
                               .required = true, .choices = {"lanl"}},
                              {.name = "file", .kind = K::kText, .default_text = "",
                               .doc = "The file, plain or .xz, relative to this one.", .required = true},
                              {.name = "system", .kind = K::kWhole, .default_text = "", .doc = "Which of its systems.",
                               .required = true, .least = 1, .most = 1000}},
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
      "node_unhealthy", "disk_full", "disks_failed", "rm_failover",  "rm_slow",    "am_resync",  "client_suspend",
      "client_resume",  "gpu_slow",  "reorder",      "token_expiry", "clock_skew", "clock_jump"};
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

std::string TargetText(FaultTarget target) {
  switch (target) {
    case FaultTarget::kNode:
      return "{node: N}, {rack: R}, {label: L}, nodes (all), {random: K, of: ...}, {fraction: F, of: ...}; {job: J, task: "
             "T} and {am: J} mean the node that holds it then";
    case FaultTarget::kTask: return "{job: J, task: T}, {job: J} (all its tasks), {random: K, of: {job: J}}";
    case FaultTarget::kJob: return "{job: J}";
    case FaultTarget::kAm: return "{am: J}";
    case FaultTarget::kRm: return "rm";
    case FaultTarget::kHdfs: return "hdfs";
    case FaultTarget::kCaller: return "{job: J, task: T}, {job: J}, {am: J}, or nodes; without it everybody";
    case FaultTarget::kNothing: return "none";
  }
  return {};
}

}  // namespace tfyarn::config
