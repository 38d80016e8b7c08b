#include "sim/message_faults.h"

#include <algorithm>

#include "core/model/describe.h"

namespace tfyarn::sim {
namespace {

constexpr std::string_view kAnyAnswer = "*Response";

template <class Variant>
std::string_view NameOf(const Variant& value) {
  return std::visit(
      [](const auto& alternative) { return TypeName<std::decay_t<decltype(alternative)>>(); },
      value);
}

bool Concerns(const MessageFaults::Rule& rule, std::string_view message, const Party& party) {
  const bool any_answer = rule.message == kAnyAnswer && message.ends_with("Response");
  if (rule.message != message && !any_answer) return false;
  if (!rule.job.empty() && rule.job != party.job) return false;
  if (!rule.task.type.empty() && rule.task != party.task) return false;
  return rule.places.empty() ||
         std::find(rule.places.begin(), rule.places.end(), party.place) != rule.places.end();
}

}  // namespace

void MessageFaults::Remove(std::uint64_t key) {
  std::erase_if(rules_, [key](const Rule& rule) { return rule.key == key; });
}

MessageFate MessageFaults::Decide(std::string_view message, const Party& party) {
  MessageFate fate;
  if (rules_.empty()) return fate;
  for (Rule& rule : rules_) {
    if (!Concerns(rule, message, party)) continue;
    ++rule.seen;
    if (rule.seen < rule.first || (rule.count != 0 && rule.seen >= rule.first + rule.count))
      continue;
    struck_.insert(rule.key);
    switch (rule.effect) {
      case MessageEffect::kDrop:
        fate.dropped = true;
        break;
      case MessageEffect::kDelay:
        fate.delay += rule.delay;
        break;
      case MessageEffect::kDuplicate:
        ++fate.copies;
        break;
    }
  }
  std::erase_if(rules_, [](const Rule& rule) {
    return rule.count != 0 && rule.seen >= rule.first + rule.count - 1;
  });
  return fate;
}

std::int64_t MessageFaults::yet_to_drop() const {
  std::int64_t messages = 0;
  for (const Rule& rule : rules_) {
    if (rule.effect != MessageEffect::kDrop || rule.count == 0 || rule.seen < rule.first) continue;
    messages += rule.first + rule.count - 1 - rule.seen;
  }
  return messages;
}

bool MessageFaults::TouchesBeats() const {
  return std::any_of(rules_.begin(), rules_.end(), [](const Rule& rule) {
    return rule.message == kAnyAnswer || rule.message == "AgentHeartbeat" ||
           rule.message == "HeartbeatSeen" || rule.message == "NodeHeartbeat" ||
           rule.message == "NodeHeartbeatResponse" || rule.message == "Allocate" ||
           rule.message == "AllocateResponse" || rule.message == "GetApplicationReport" ||
           rule.message == "GetApplicationReportResponse";
  });
}

std::string_view WithoutRequest(std::string_view name) {
  constexpr std::string_view kSuffix = "Request";
  return name.ends_with(kSuffix) ? name.substr(0, name.size() - kSuffix.size()) : name;
}

std::string_view MessageName(const AgentToAm& message) {
  return NameOf(message);
}
std::string_view MessageName(const AmToAgent& message) {
  return NameOf(message);
}
std::string_view RequestName(const yarn::RmRequest& request) {
  return WithoutRequest(NameOf(request));
}
std::string_view RequestName(const yarn::NmRequest& request) {
  return WithoutRequest(NameOf(request));
}

std::string ResponseName(const yarn::RmRequest& request) {
  return std::string(RequestName(request)) + "Response";
}

}  // namespace tfyarn::sim
