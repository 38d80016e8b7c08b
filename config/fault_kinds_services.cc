// Faults of the services, of the network and of the user.
#include "config/fault_kind_list.h"

namespace tfyarn::config {
namespace {

using K = FaultParamKind;

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

FaultParam Method(std::string doc) {
  return {.name = "method",
          .kind = K::kWord,
          .default_text = "any",
          .doc = std::move(doc),
          .choices = {"any", "Allocate", "RegisterApplicationMaster", "FinishApplicationMaster",
                      "GetNewApplication", "SubmitApplication", "GetApplicationReport",
                      "KillApplication", "NodeHeartbeat", "RegisterNodeManager"}};
}

}  // namespace

void AddRmKinds(std::vector<FaultKind>& kinds) {
  kinds.push_back({.name = "rm_restart",
                   .doc = "The ResourceManager is down for `for` and starts from its store.",
                   .target = FaultTarget::kRm,
                   .target_required = false,
                   .lasts = ForRule::kOptional,
                   .default_for = "30s",
                   .example = "{kind: rm_restart, at: 10m, for: 1m}"});
  kinds.push_back(
      {.name = "rm_pause",
       .doc = "The ResourceManager answers no call for `for` and loses nothing.",
       .target = FaultTarget::kRm,
       .target_required = false,
       .lasts = ForRule::kOptional,
       .default_for = "30s",
       .example = "{kind: rm_pause, when: {job: a, state: running}, after: 10s, for: 40s}"});
  kinds.push_back(
      {.name = "rm_drop_response",
       .doc = "The RM carries out calls and its answers are lost.",
       .target = FaultTarget::kCaller,
       .target_required = false,
       .armed_at_start = true,
       .params = {Method("Of which calls."), Times("How many answers in a row.")},
       .example = "{kind: rm_drop_response, at: 1m, target: {am: a}, method: Allocate, count: 3}"});
  kinds.push_back(
      {.name = "rm_duplicate_response",
       .doc = "Answers of the RM arrive twice.",
       .target = FaultTarget::kCaller,
       .target_required = false,
       .armed_at_start = true,
       .params = {Method("Of which calls."), Times("How many answers in a row.")},
       .example = "{kind: rm_duplicate_response, at: 1m, target: {am: a}, method: Allocate}"});
}

void AddAmKinds(std::vector<FaultKind>& kinds) {
  kinds.push_back(
      {.name = "am_crash",
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

void AddNetworkKinds(std::vector<FaultKind>& kinds) {
  kinds.push_back(
      {.name = "partition",
       .doc = "Messages between the first group of `between` and the others are lost; one group "
              "alone is cut off from everybody else. No machine is cut off from itself.",
       .target = FaultTarget::kNothing,
       .target_required = false,
       .lasts = ForRule::kOptional,
       .armed_at_start = true,
       .params =
           {{.name = "direction",
             .kind = K::kWord,
             .default_text = "both",
             .doc =
                 "`forward`: only from the first group to the others; `backward`: only from them.",
             .choices = {"both", "forward", "backward"}}},
       .example =
           "{kind: partition, at: 5m, between: [{rack: r1}, {am: a}], direction: both, for: 2m}"});
  kinds.push_back(
      {.name = "latency",
       .doc = "Messages from and to the targets take longer.",
       .target = FaultTarget::kCaller,
       .target_required = false,
       .lasts = ForRule::kOptional,
       .armed_at_start = true,
       .params = {{.name = "delay",
                   .kind = K::kDuration,
                   .default_text = "100ms",
                   .doc = "How much longer."}},
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
  kinds.push_back(
      {.name = "drop",
       .doc = "One message, by name, is lost.",
       .target = FaultTarget::kCaller,
       .target_required = false,
       .lasts = ForRule::kOptional,
       .armed_at_start = true,
       .params = {Message(), Nth()},
       .example =
           "{kind: drop, message: RegisterAgent, nth: 1, target: {job: a, task: \"worker:0\"}}"});
  kinds.push_back(
      {.name = "delay",
       .doc = "One message, by name, comes late.",
       .target = FaultTarget::kCaller,
       .target_required = false,
       .lasts = ForRule::kOptional,
       .armed_at_start = true,
       .params =
           {Message(),
            Nth(),
            {.name = "delay", .kind = K::kDuration, .default_text = "10s", .doc = "How late."}},
       .example = "{kind: delay, message: StartProcess, delay: 20s, target: {job: a, task: "
                  "\"worker:0\"}}"});
  kinds.push_back(
      {.name = "duplicate",
       .doc = "One message, by name, comes twice.",
       .target = FaultTarget::kCaller,
       .target_required = false,
       .lasts = ForRule::kOptional,
       .armed_at_start = true,
       .params = {Message(), Nth()},
       .example =
           "{kind: duplicate, message: ProcessEnded, target: {job: a, task: \"worker:0\"}}"});
}

void AddHdfsKinds(std::vector<FaultKind>& kinds) {
  kinds.push_back({.name = "hdfs_down",
                   .doc = "HDFS answers no call.",
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

}  // namespace tfyarn::config
