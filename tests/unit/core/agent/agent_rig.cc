#include "tests/unit/core/agent/agent_rig.h"

#include <utility>

#include "core/model/text.h"

namespace tfyarn::agent {
namespace {

void Remove(std::string& text, const std::string& part) {
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part))
    text.erase(at, part.size());
}

std::string Text(const AgentAction& action, const AgentFence& fence) {
  std::string text;
  if (const auto* send = std::get_if<SendToAm>(&action)) {
    text = "AM" + std::to_string(send->am_attempt) + " <- " + ToText(send->message);
  } else {
    text = ToText(action);
  }
  Remove(text, "fence=" + ToText(fence) + " ");
  Remove(text, "fence=" + ToText(fence));
  return text;
}

}  // namespace

AgentStarted StartedEvent() {
  AgentStarted started;
  started.fence = {
      .container = {.application_attempt = {.application = {0, 7}, .attempt = 1}, .id = 3},
      .task = {"worker", 0},
      .incarnation = Incarnation(2),
      .nonce = Nonce(99)};
  started.am_attempt = 1;
  started.am_address = {.host = "am", .port = 1};
  started.host = "n1";
  return started;
}

AgentRig::AgentRig(JobSpec job, std::uint64_t seed)
    : agent_(std::make_shared<const JobSpec>(std::move(job)), seed) {}

std::vector<std::string> AgentRig::Tell(Duration at, const AgentEvent& event) {
  std::vector<AgentAction> actions;
  agent_.Step(kStart + at, event, actions);
  std::vector<std::string> texts;
  for (const AgentAction& action : actions) texts.push_back(Text(action, fence()));
  return texts;
}

std::vector<std::string> AgentRig::RunTo(Duration until) {
  std::vector<std::string> all;
  while (deadline() && *deadline() <= until) {
    const Duration at = *deadline();
    for (std::string& text : Tell(at, DeadlineReached{})) all.push_back(ToString(at) + " " + text);
  }
  return all;
}

std::vector<std::string> AgentRig::RunQuietlyTo(Duration until) {
  std::vector<std::string> all;
  for (std::string& text : RunTo(until)) {
    if (text.find("AgentHeartbeat") == std::string::npos) all.push_back(std::move(text));
  }
  return all;
}

void AgentRig::Connect() {
  (void)Tell(0s, StartedEvent());
  (void)Tell(0s, PortLeased{.port = 2222});
  (void)Say(0s, AgentAccepted{});
}

void AgentRig::RunProcess(Duration at, std::uint32_t attempt) {
  (void)Say(at, Start(attempt));
  (void)Tell(at, ProcessSpawned{.attempt = TaskAttempt(attempt)});
  (void)Say(at,
            ReportSeen{
                .fence = {}, .kind = ReportKind::kProcessRunning, .attempt = TaskAttempt(attempt)});
}

AgentFence AgentRig::fence() const {
  return StartedEvent().fence;
}

ProcessRef AgentRig::Process(std::uint32_t attempt, std::uint32_t epoch) {
  return {.attempt = TaskAttempt(attempt), .epoch = Epoch(epoch)};
}

StartProcess AgentRig::Start(std::uint32_t attempt, std::int32_t port, std::uint32_t epoch) {
  ClusterSpec spec;
  spec.epoch = Epoch(epoch);
  spec.tasks["worker"] = {{.host = "n1", .port = port}};
  return {.fence = {},
          .process = Process(attempt, epoch),
          .spec = Share(std::move(spec)),
          .resume = attempt > 0};
}

std::optional<Duration> AgentRig::deadline() const {
  const auto at = agent_.next_deadline();
  return at ? std::optional<Duration>(*at - kStart) : std::nullopt;
}

std::optional<Duration> AgentRig::decision() const {
  const auto at = agent_.next_decision();
  return at ? std::optional<Duration>(*at - kStart) : std::nullopt;
}

}  // namespace tfyarn::agent
