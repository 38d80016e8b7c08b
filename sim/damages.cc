#include "sim/damages.h"

#include <algorithm>
#include <utility>

namespace tfyarn::sim {

const std::vector<EffectRow>& EffectRows() {
  using enum EffectActor;
  static const std::vector<EffectRow> kRows = {
      {kAm, EffectSort::kAnswer, {"ReadJournal"}},
      {kAm, EffectSort::kJournal, {"AppendJournal"}},
      {kAm, EffectSort::kOrder, {"PublishAddress"}},
      {kAm,
       EffectSort::kRmCall,
       {"RegisterApplicationMaster", "Allocate", "FinishApplicationMaster"}},
      {kAm,
       EffectSort::kUnsent,
       {"GetNewApplication", "SubmitApplication", "GetApplicationReport", "KillApplication",
        "GetClusterNodes", "GetQueueInfo", "RegisterNodeManager", "NodeHeartbeat"}},
      {kAm, EffectSort::kNmCall, {"StartContainers", "StopContainers", "GetContainerStatuses"}},
      {kAm,
       EffectSort::kHdfsCall,
       {"Create", "Append", "Read", "GetFileStatus", "Mkdirs", "Delete"}},
      {kAm,
       EffectSort::kMessage,
       {"AgentAccepted", "AgentRefused", "HeartbeatSeen", "ReportSeen", "StartProcess",
        "StopProcess", "WarnProcess", "EndAgent", "ShowStacks", "NewsSeen"}},
      {kAm, EffectSort::kLast, {"ExitAm"}},
      {kAm,
       EffectSort::kAccount,
       {"JobStateChanged", "GangCompleted", "GangReleased", "SpecAssembled", "TaskAttemptStarted",
        "TaskAttemptEnded", "RestartDecided", "VerdictReached", "Note", "NodesAwaited",
        "PortUseFound", "RestartTakenOver"}},
      {kAgent, EffectSort::kAnswer, {"LeasePort", "SpawnProcess", "ReadAmAddress"}},
      {kAgent,
       EffectSort::kMessage,
       {"RegisterAgent", "AgentHeartbeat", "ProcessRunning", "ProcessEnded", "AddressChanged",
        "ProgressStalled", "ProcessSigns", "PortReport"}},
      {kAgent, EffectSort::kOrder, {"SignalTerm", "SignalKill", "SignalContinue", "DumpStacks"}},
      {kAgent, EffectSort::kLast, {"ExitAgent"}},
      {kAgent, EffectSort::kAccount, {"Note"}},
      {kClient,
       EffectSort::kRmCall,
       {"GetNewApplication", "SubmitApplication", "GetApplicationReport", "KillApplication",
        "GetClusterNodes", "GetQueueInfo"}},
      {kClient,
       EffectSort::kUnsent,
       {"RegisterApplicationMaster", "Allocate", "FinishApplicationMaster", "RegisterNodeManager",
        "NodeHeartbeat"}},
      {kClient,
       EffectSort::kHdfsCall,
       {"Create", "Append", "Read", "GetFileStatus", "Mkdirs", "Delete"}},
      {kClient, EffectSort::kLast, {"ExitClient"}},
      {kClient, EffectSort::kAccount, {"ApplicationSubmitted", "ClusterFacts", "JobEnded", "Note"}},
  };
  return kRows;
}

std::optional<EffectSort> SortOf(const EffectName& effect) {
  for (const EffectRow& row : EffectRows()) {
    if (row.actor == effect.actor &&
        std::find(row.kinds.begin(), row.kinds.end(), effect.kind) != row.kinds.end())
      return row.sort;
  }
  return std::nullopt;
}

std::vector<Sabotage> DamagesOf(const EffectName& effect, std::uint64_t nth) {
  const EffectSort sort = SortOf(effect).value_or(EffectSort::kUnsent);
  std::vector<Sabotage> all;
  const auto add = [&](Damage damage, decltype(Sabotage::error) error = {}) {
    all.push_back({.effect = effect, .nth = nth, .damage = damage, .error = error});
  };
  // Without its client a job goes on, and there is none to be told its end.
  if (sort != EffectSort::kUnsent && effect.actor != EffectActor::kClient) {
    add(Damage::kDies);
    add(Damage::kDiesBefore);
  }
  switch (sort) {
    case EffectSort::kAccount:
    case EffectSort::kUnsent:
    case EffectSort::kLast:
      break;
    case EffectSort::kRmCall:
      add(Damage::kLost);
      add(Damage::kUnanswered);
      add(Damage::kFails, yarn::RpcErrorCode::kUnavailable);
      break;
    case EffectSort::kNmCall:
      add(Damage::kLost);
      add(Damage::kUnanswered);
      for (const yarn::RpcErrorCode code :
           {yarn::RpcErrorCode::kUnavailable, yarn::RpcErrorCode::kNmNotYetReady,
            yarn::RpcErrorCode::kYarn})
        add(Damage::kFails, code);
      break;
    case EffectSort::kHdfsCall:
      add(Damage::kLost);
      add(Damage::kUnanswered);
      for (const hdfs::HdfsErrorCode code :
           {hdfs::HdfsErrorCode::kUnavailable, hdfs::HdfsErrorCode::kSafeMode})
        add(Damage::kFails, code);
      break;
    case EffectSort::kJournal:
      add(Damage::kLost);
      add(Damage::kUnanswered);
      add(Damage::kTorn);
      for (const hdfs::HdfsErrorCode code :
           {hdfs::HdfsErrorCode::kUnavailable, hdfs::HdfsErrorCode::kSafeMode,
            hdfs::HdfsErrorCode::kQuotaExceeded})
        add(Damage::kFails, code);
      break;
    case EffectSort::kMessage:
    case EffectSort::kOrder:
      add(Damage::kLost);
      break;
    case EffectSort::kAnswer:
      add(Damage::kFails);
      break;
  }
  return all;
}

}  // namespace tfyarn::sim
