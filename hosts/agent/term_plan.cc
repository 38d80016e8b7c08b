#include "hosts/agent/term_plan.h"

#include <signal.h>

#include <map>
#include <set>
#include <string>

#include "hosts/agent/stacks.h"

namespace tfyarn::agent_host {
namespace {

constexpr std::size_t kMostOfStatus = 16U << 10;

/// The members above `process`, its parent first.
std::vector<pid_t> Above(const std::map<pid_t, pid_t>& parents, pid_t process) {
  std::vector<pid_t> above;
  // A reading is no snapshot: what looks like a circle ends, too.
  std::set<pid_t> seen{process};
  auto at = parents.find(process);
  while (at != parents.end() && parents.contains(at->second) && seen.insert(at->second).second) {
    above.push_back(at->second);
    at = parents.find(at->second);
  }
  return above;
}

}  // namespace

TermPlan PlanTerm(pid_t root, const std::vector<ProcessInfo>& members,
                  const std::function<bool(pid_t)>& catches) {
  std::map<pid_t, pid_t> parents;
  std::set<pid_t> catching;
  for (const ProcessInfo& member : members) {
    parents.emplace(member.pid, member.parent);
    if (catches(member.pid)) catching.insert(member.pid);
  }
  if (catching.empty() || catching.contains(root)) return {};
  std::set<pid_t> below;  // Of one that catches it.
  std::set<pid_t> wrappers;
  for (const ProcessInfo& member : members) {
    const std::vector<pid_t> above = Above(parents, member.pid);
    for (const pid_t each : above) {
      if (catching.contains(each)) below.insert(member.pid);
      if (catching.contains(member.pid)) wrappers.insert(each);
    }
  }
  TermPlan plan{.whole_group = false, .told = {}, .saving = {}, .passive = {}};
  std::vector<pid_t> later;
  for (const ProcessInfo& member : members) {
    const bool in_group = member.group == root;
    if (catching.contains(member.pid) && (in_group || !below.contains(member.pid))) {
      plan.told.push_back(member.pid);
      plan.saving.push_back(member);
    } else if (in_group && (below.contains(member.pid) || wrappers.contains(member.pid))) {
      later.push_back(member.pid);
    } else if (in_group) {
      plan.passive.push_back(member);
    }
  }
  plan.told.insert(plan.told.end(), later.begin(), later.end());
  return plan;
}

bool HasHandlerForTerm(pid_t pid) {
  const auto status = ReadSmallFile("/proc/" + std::to_string(pid) + "/status", kMostOfStatus);
  return status && CatchesSignal(*status, SIGTERM);
}

}  // namespace tfyarn::agent_host
