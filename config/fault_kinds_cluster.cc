// Faults of nodes and of what runs on them.
#include "config/fault_kind_list.h"

namespace tfyarn::config {
namespace {
using K = FaultParamKind;
}  // namespace

FaultParam Times(std::string doc) {
  return {.name = "count",
          .kind = K::kWhole,
          .default_text = "1",
          .doc = std::move(doc),
          .least = 1,
          .most = 1e6};
}

FaultParam Factor(std::string text, std::string doc) {
  return {.name = "factor",
          .kind = K::kNumber,
          .default_text = std::move(text),
          .doc = std::move(doc),
          .least = 1,
          .most = 1e6,
          .step = 0.001};
}

void AddNodeKinds(std::vector<FaultKind>& kinds) {
  kinds.push_back(
      {.name = "node_crash",
       .doc = "Nodes stop at once with all that runs on them. They come back empty after `for`, "
              "or never.",
       .target = FaultTarget::kNode,
       .lasts = ForRule::kOptional,
       .example = "{kind: node_crash, at: 400s, target: {job: a, task: \"worker:1\"}, for: 1h}"});
  kinds.push_back(
      {.name = "node_reboot",
       .doc = "Nodes restart: all that runs on them ends, and they register again after `for`.",
       .target = FaultTarget::kNode,
       .lasts = ForRule::kOptional,
       .default_for = "2m",
       .example = "{kind: node_reboot, at: 400s, target: {node: n-1}}"});
  kinds.push_back(
      {.name = "node_decommission",
       .doc = "The RM takes nodes out of service, and ends what runs there. After `for` they are "
              "taken in again.",
       .target = FaultTarget::kNode,
       .lasts = ForRule::kOptional,
       .params = {{.name = "graceful",
                   .kind = K::kDuration,
                   .default_text = "0s",
                   .doc = "How long running containers may go on before that; 0s: not at all."}},
       .example = "{kind: node_decommission, at: 1h, target: {node: n-1}, graceful: 10m}"});
  kinds.push_back(
      {.name = "slow_node",
       .doc = "Processes on these nodes train slower; a job trains as fast as its slowest.",
       .target = FaultTarget::kNode,
       .lasts = ForRule::kOptional,
       .params = {Factor("4", "Times slower.")},
       .example = "{kind: slow_node, at: 10m, target: {node: n-1}, factor: 4, for: 1h}"});
  kinds.push_back(
      {.name = "nm_restart",
       .doc = "NodeManagers are down for `for`; containers go on meanwhile.",
       .target = FaultTarget::kNode,
       .lasts = ForRule::kOptional,
       .default_for = "10s",
       .params = {{.name = "recover",
                   .kind = K::kBool,
                   .default_text = "true",
                   .doc = "They find their containers again; false: those are killed."}},
       .example = "{kind: nm_restart, at: 10m, target: {rack: r1}, for: 20s}"});
  kinds.push_back(
      {.name = "nm_heartbeat_loss",
       .doc = "Heartbeats of these NodeManagers do not reach the RM; everything else goes on.",
       .target = FaultTarget::kNode,
       .lasts = ForRule::kOptional,
       .example = "{kind: nm_heartbeat_loss, at: 10m, target: {node: n-1}, for: 15m}"});
}

void AddLaunchKinds(std::vector<FaultKind>& kinds) {
  kinds.push_back(
      {.name = "launch_fail",
       .doc = "The next containers on these nodes fail to launch.",
       .target = FaultTarget::kNode,
       .lasts = ForRule::kOptional,
       .armed_at_start = true,
       .params = {Times("How many launches fail on each node; with `for` all while it lasts.")},
       .example = "{kind: launch_fail, target: {node: n-1}, count: 2}"});
  kinds.push_back({.name = "localize_fail",
                   .doc = "The next containers on these nodes fail in localization.",
                   .target = FaultTarget::kNode,
                   .lasts = ForRule::kOptional,
                   .armed_at_start = true,
                   .params = {Times(
                       "How many localizations fail on each node; with `for` all while it lasts.")},
                   .example = "{kind: localize_fail, target: {node: n-1}, count: 2}"});
  kinds.push_back({.name = "localize_slow",
                   .doc = "Localization on these nodes takes longer.",
                   .target = FaultTarget::kNode,
                   .lasts = ForRule::kOptional,
                   .armed_at_start = true,
                   .params = {Factor("10", "Times longer.")},
                   .example = "{kind: localize_slow, target: {label: gpu}, factor: 20}"});
}

void AddContainerKinds(std::vector<FaultKind>& kinds) {
  kinds.push_back({.name = "container_exit",
                   .doc = "The user's processes end with an exit code.",
                   .target = FaultTarget::kTask,
                   .params = {{.name = "exit",
                               .kind = K::kWhole,
                               .default_text = "1",
                               .doc = "The code.",
                               .most = 255}},
                   .example = "{kind: container_exit, when: {job: a, state: running}, after: 10s, "
                              "target: {job: a, task: "
                              "\"ps:0\"}, exit: 137}"});
  kinds.push_back(
      {.name = "container_signal",
       .doc = "The user's processes are ended by a signal.",
       .target = FaultTarget::kTask,
       .params = {{.name = "signal", .kind = K::kSignal, .default_text = "KILL", .doc = "Which."}},
       .example =
           "{kind: container_signal, at: 5m, target: {job: a, task: \"worker:0\"}, signal: SEGV}"});
  kinds.push_back(
      {.name = "container_oom",
       .doc = "The kernel's OOM killer ends the user's processes, and the agent sees the proof.",
       .target = FaultTarget::kTask,
       .example = "{kind: container_oom, at: 5m, target: {job: a, task: \"worker:0\"}}"});
  kinds.push_back(
      {.name = "container_vmem",
       .doc = "The NodeManager kills containers for their virtual memory (-103).",
       .target = FaultTarget::kTask,
       .example = "{kind: container_vmem, at: 5m, target: {job: a, task: \"worker:0\"}}"});
  kinds.push_back(
      {.name = "container_lost",
       .doc = "Containers are gone, and the RM reports them so.",
       .target = FaultTarget::kTask,
       .params = {{.name = "exit",
                   .kind = K::kWhole,
                   .default_text = "-100",
                   .doc = "The exit status that YARN reports.",
                   .least = -1000,
                   .most = 255}},
       .example = "{kind: container_lost, at: 5m, target: {job: a, task: \"worker:0\"}}"});
  kinds.push_back(
      {.name = "preempt",
       .doc = "The RM takes containers back: a notice, then the kill (-102).",
       .target = FaultTarget::kTask,
       .params = {{.name = "notice",
                   .kind = K::kDuration,
                   .default_text = "15s",
                   .doc = "From the notice to the kill."}},
       .example = "{kind: preempt, at: 5m, target: {job: a, task: \"worker:0\"}, notice: 30s}"});
  kinds.push_back(
      {.name = "hang",
       .doc = "The user's processes stop working and do not end; after `for` they go on.",
       .target = FaultTarget::kTask,
       .lasts = ForRule::kOptional,
       .params = {{.name = "state",
                   .kind = K::kWord,
                   .default_text = "stopped",
                   .doc =
                       "`stopped`: as by SIGSTOP, which their agent sees; `busy`: they look as if "
                       "they worked.",
                   .choices = {"stopped", "busy"}}},
       .example = "{kind: hang, at: 5m, target: {job: a, task: \"worker:0\"}}"});
  kinds.push_back({.name = "port_in_use",
                   .doc = "Another program has taken the task's port when its process starts.",
                   .target = FaultTarget::kTask,
                   .armed_at_start = true,
                   .params = {Times("How many starts of each task.")},
                   .example = "{kind: port_in_use, target: {job: a, task: \"worker:0\"}}"});
}

void AddGpuKinds(std::vector<FaultKind>& kinds) {
  kinds.push_back(
      {.name = "gpu_scarcity",
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
                   .doc = "GPUs of these nodes fail, and the first process that has some ends.",
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

}  // namespace tfyarn::config
