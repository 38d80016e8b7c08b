// What agents say, and which agents the AM accepts.
//
// Every message names its sender exactly (the fence: container, incarnation, nonce). The AM refuses
// every agent but the one that it knows for the task, and tells it to end. It answers the accepted
// agent each time that the agent asks.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>

#include "core/model/am.h"
#include "core/model/channel.h"
#include "core/model/elision.h"
#include "core/model/task_index.h"

namespace tfyarn::am {

struct AmParts;

class AgentDesk {
 public:
  explicit AgentDesk(AmParts& parts) : parts_(parts) {}

  void OnSaid(const AgentSaid& said);
  /// Tasks have their containers back: agents that found this attempt before register now.
  void HearEarly();
  void OnVouched(const PeerVouched& word);
  /// Agents that were silent for too long are lost.
  void FindSilent();

 private:
  void On(TaskIndex task, const RegisterAgent& message);
  void TakeToldEnd(TaskIndex task, const RegisterAgent& message);
  void On(TaskIndex task, const AgentHeartbeat& message);
  void On(TaskIndex task, const ProcessRunning& message);
  void On(TaskIndex task, const ProcessEnded& message);
  void On(TaskIndex task, const AddressChanged& message);
  void On(TaskIndex task, const ProgressStalled& message);
  void On(TaskIndex task, const ProcessSigns& message);
  void On(TaskIndex task, const PortReport& message);
  [[nodiscard]] bool AnotherHasStalled(TaskIndex task) const;
  bool BlameStanding(TaskIndex stalled, Duration silent);

  void Refuse(const AgentToAm& message, const std::string& reason);
  void Seen(TaskIndex task, ReportKind kind, TaskAttempt attempt);
  /// Answers a numbered report. False: it is older than what was heard before.
  [[nodiscard]] bool IsNews(TaskIndex task, ReportKind kind, std::uint32_t number);
  [[nodiscard]] bool IsOld(TaskIndex task, ReportKind kind, std::uint32_t number) const;
  /// False, with a note, for what an agent tells of a process that is not the task's present one.
  [[nodiscard]] bool IsOfLivingProcess(TaskIndex task, const ProcessRef& process,
                                       std::string_view what);
  void TakeRunning(TaskIndex task, const ProcessRef& process);
  void TakeEnded(TaskIndex task, const ProcessEnded& report);
  [[nodiscard]] bool IsUnknown(TaskIndex task, const ProcessRef& process) const;

  AmParts& parts_;
  std::map<ContainerId, RegisterAgent> early_;  ///< What each agent said last before that.
  /// Until then who stalls is excused: a peer that stood still was blamed for it.
  Instant stall_excused_until_{};
};

}  // namespace tfyarn::am
