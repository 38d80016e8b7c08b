#include "fakes/server/call_fate.h"

#include <algorithm>

namespace tfyarn::fakes {

CallFate FaultRules::Judge(const ServedCall& call) {
  const auto rule = std::find_if(rules_.begin(), rules_.end(), [&](const FaultRule& each) {
    return (each.name.empty() || each.name == call.name) &&
           (!each.attempt || each.attempt == call.attempt);
  });
  if (rule == rules_.end()) return {};
  const CallFate fate = rule->fate;
  if (rule->left > 0 && --rule->left == 0) rules_.erase(rule);
  return fate;
}

}  // namespace tfyarn::fakes
