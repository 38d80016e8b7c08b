// A TaskAgent at the bench: told events at instants, its actions read back as short texts.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/agent/task_agent.h"

namespace tfyarn::agent {

inline constexpr Instant kStart = Instant{} + 1000s;

class AgentRig {
 public:
  explicit AgentRig(JobSpec job = {}, std::uint64_t seed = 1);

  /// Steps at kStart + `at` (not before the last step) and returns the actions as texts. The
  /// agent's own fence is left out of messages, and SendToAm is written "AM1 <- MESSAGE".
  std::vector<std::string> Tell(Duration at, const AgentEvent& event);
  /// A message of the AM with the agent's fence.
  template <class Message>
  std::vector<std::string> Say(Duration at, Message message) {
    message.fence = fence();
    return Tell(at, AmSaid{.message = message, .am_attempt = state().am_attempt});
  }
  /// Steps at every deadline up to and including `until`, as a host does; each text begins with its
  /// time, "5s ".
  std::vector<std::string> RunTo(Duration until);
  /// As RunTo, but without heartbeats.
  std::vector<std::string> RunQuietlyTo(Duration until);

  /// Started, leased port 2222, accepted by AM attempt 1: all at 0s.
  void Connect();
  /// Connected, and attempt `attempt` runs; its report is seen.
  void RunProcess(Duration at, std::uint32_t attempt);

  [[nodiscard]] AgentFence fence() const;
  [[nodiscard]] static ProcessRef Process(std::uint32_t attempt, std::uint32_t epoch = 1);
  /// An order to start it under a spec that has worker:0 at `port`.
  [[nodiscard]] static StartProcess Start(std::uint32_t attempt, std::int32_t port = 2222,
                                          std::uint32_t epoch = 1);
  [[nodiscard]] const AgentSnapshot& state() const { return agent_.snapshot(); }
  [[nodiscard]] TaskAgent& agent() { return agent_; }
  /// next_deadline() and next_decision() relative to kStart.
  [[nodiscard]] std::optional<Duration> deadline() const;
  [[nodiscard]] std::optional<Duration> decision() const;

 private:
  TaskAgent agent_;
};

[[nodiscard]] AgentStarted StartedEvent();

}  // namespace tfyarn::agent
