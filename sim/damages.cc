#include "sim/damages.h"

#include <algorithm>
#include <initializer_list>

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

std::optional<EffectName> EffectOf(const trace::TraceRecord& record) {
  if (const auto* am = std::get_if<trace::AmOrdered>(&record.fact))
    return EffectName{EffectActor::kAm, EffectKind(am->action)};
  if (const auto* agent = std::get_if<trace::AgentOrdered>(&record.fact))
    return EffectName{EffectActor::kAgent, EffectKind(agent->action)};
  if (const auto* client = std::get_if<trace::ClientOrdered>(&record.fact))
    return EffectName{EffectActor::kClient, EffectKind(client->action)};
  return std::nullopt;
}

namespace {

/// What a kind has in common its first actions show.
constexpr std::uint64_t kFirstActions = 8;
constexpr std::uint64_t kActionsApart = 7;

void AddDamages(const EffectName& effect, std::uint64_t nth, std::vector<Sabotage>& all) {
  using Error = decltype(Sabotage::error);
  const EffectSort sort = SortOf(effect).value_or(EffectSort::kUnsent);
  const auto add = [&](Damage damage, Error error = {}) {
    all.push_back({.effect = effect, .nth = nth, .damage = damage, .error = error});
  };
  const auto add_call = [&](std::initializer_list<Error> errors) {
    add(Damage::kLost);
    add(Damage::kUnanswered);
    for (const Error& error : errors) add(Damage::kFails, error);
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
      add_call({yarn::RpcErrorCode::kUnavailable});
      break;
    case EffectSort::kNmCall:
      add_call({yarn::RpcErrorCode::kUnavailable, yarn::RpcErrorCode::kNmNotYetReady,
                yarn::RpcErrorCode::kYarn});
      break;
    case EffectSort::kHdfsCall:
      add_call({hdfs::HdfsErrorCode::kUnavailable, hdfs::HdfsErrorCode::kSafeMode});
      break;
    case EffectSort::kJournal:
      add_call({hdfs::HdfsErrorCode::kUnavailable, hdfs::HdfsErrorCode::kSafeMode,
                hdfs::HdfsErrorCode::kQuotaExceeded});
      add(Damage::kTorn);
      break;
    case EffectSort::kMessage:
    case EffectSort::kOrder:
      add(Damage::kLost);
      break;
    case EffectSort::kAnswer:
      add(Damage::kFails);
      break;
  }
}

}  // namespace

std::vector<Sabotage> DamagesOf(const EffectCounts& counts) {
  std::vector<Sabotage> all;
  for (const auto& [effect, count] : counts) {
    for (std::uint64_t nth = 1; nth <= count; nth += nth < kFirstActions ? 1 : kActionsApart)
      AddDamages(effect, nth, all);
  }
  return all;
}

}  // namespace tfyarn::sim
