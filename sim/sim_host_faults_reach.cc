// Whether a fault reaches anything of what it names. One that never does is said in the verdict: it
// was drawn or written for nothing, and a run that it did not disturb proves nothing.
#include <algorithm>

#include "config/fault_kinds.h"
#include "core/model/check.h"
#include "sim/fault_words.h"
#include "sim/sim_host.h"

namespace tfyarn::sim {
namespace {

const char* NothingCame(config::FaultTrap trap) {
  switch (trap) {
    case config::FaultTrap::kStart:
      return "nothing was started there";
    case config::FaultTrap::kProcess:
      return "no process of it started";
    case config::FaultTrap::kMessage:
      return "no such message came";
    case config::FaultTrap::kNone:
      break;
  }
  return nullptr;
}

}  // namespace

std::vector<trace::FaultWithoutEffect> SimHost::FaultsWithoutEffect() const {
  std::vector<bool> struck = marks_.struck;
  for (const std::uint64_t key : message_faults_.struck()) struck[key >> 32] = true;
  std::vector<trace::FaultWithoutEffect> idle;
  for (std::uint32_t i = 0; i < setup_.scenario.faults.size(); ++i) {
    if (struck[i]) continue;
    const config::FaultSpec& fault = setup_.scenario.faults[i];
    const config::FaultKind* kind = config::FindFaultKind(fault.kind);
    TF_CHECK(kind != nullptr);
    const bool trap = marks_.present[i] && kind->trap != config::FaultTrap::kNone;
    const char* why = trap                  ? NothingCame(kind->trap)
                      : marks_.began[i]     ? "what it names was not there"
                      : fault.when.moment() ? "what it waits for did not come"
                                            : "the run ended before it";
    idle.push_back({.index = i, .kind = fault.kind, .why = why});
  }
  return idle;
}

void SimHost::NoteReach(const FaultOrder& order) {
  if (!order.begins) {
    dormant_faults_.erase(KeyOf(order));
    return;
  }
  marks_.began[order.fault] = true;
  if (StrikesNobody(order)) return;
  marks_.present[order.fault] = true;
  if (Reaches(order, false)) {
    marks_.struck[order.fault] = true;
  } else {
    dormant_faults_.emplace(KeyOf(order), order);
  }
}

// Machines and the ResourceManager come and go by faults alone.
void SimHost::NoteReachOfDormant() {
  std::erase_if(dormant_faults_, [this](const auto& entry) {
    const bool reaches = Reaches(entry.second, true);
    if (reaches) marks_.struck[entry.second.fault] = true;
    return reaches;
  });
}

/// What another fault has taken away is not reached: a fault that takes it away as well is, once it
/// alone does. `began`: its effect is there already.
bool SimHost::Reaches(const FaultOrder& order, bool began) {
  const config::FaultKind& kind = *order.kind;
  if (kind.trap != config::FaultTrap::kNone) return false;
  if (kind.needs == config::FaultNeeds::kRm && rm_.process() == nullptr) return false;
  const auto is_up = [this](const Struck& one) {
    return one.node < 0 || cluster_.nodes[one.node].down == 0;
  };
  const std::int32_t own = began ? 1 : 0;
  switch (kind.target) {
    case config::FaultTarget::kNode:
      // An order to the ResourceManager, wherever the node is.
      if (kind.needs == config::FaultNeeds::kRm) return true;
      return std::any_of(order.struck.begin(), order.struck.end(), [&](const Struck& one) {
        return kind.traits.takes_nodes_down ? cluster_.nodes[one.node].down == own : is_up(one);
      });
    case config::FaultTarget::kCaller:
      return order.struck.empty() || std::any_of(order.struck.begin(), order.struck.end(), is_up);
    case config::FaultTarget::kGroups:
      return std::all_of(order.groups.begin(), order.groups.end(),
                         [&](const std::vector<Struck>& group) {
                           return std::any_of(group.begin(), group.end(), is_up);
                         });
    case config::FaultTarget::kRm:
      switch (kind.traits.rm) {
        case config::RmOutage::kRestarts:
          return rm_.downs() == own;
        case config::RmOutage::kStandsStill:
          return rm_.process() != nullptr && rm_.pauses() == own;
        case config::RmOutage::kNone:
          return true;
      }
      return false;
    case config::FaultTarget::kTask:
      return !began && ReachesTask(order);
    case config::FaultTarget::kJob:
      return kind.needs != config::FaultNeeds::kSuspendedClient ||
             (!began && ReachesSuspendedClient(order));
    case config::FaultTarget::kAm:
      return !began || kind.needs != config::FaultNeeds::kRm;
    case config::FaultTarget::kHdfs:
    case config::FaultTarget::kRecorded:
      return true;
  }
  return true;
}

bool SimHost::ReachesSuspendedClient(const FaultOrder& order) {
  const std::vector<ClientActor*> clients = ClientsOf(order);
  return std::any_of(clients.begin(), clients.end(),
                     [](const ClientActor* client) { return !client->suspended_by.empty(); });
}

bool SimHost::ReachesTask(const FaultOrder& order) {
  const bool needs_process = order.kind->needs == config::FaultNeeds::kProcess;
  const std::vector<AgentActor*> agents = AgentsOf(order);
  return std::any_of(agents.begin(), agents.end(), [&](const AgentActor* agent) {
    if (!needs_process) return true;
    const std::vector<RunningProcess> running = cluster_.JobAt(agent->job)->workload->running();
    return std::any_of(running.begin(), running.end(), [&](const RunningProcess& process) {
      return process.container == agent->fence.container;
    });
  });
}

std::vector<AgentActor*> SimHost::AgentsOf(const FaultOrder& order) const {
  std::vector<AgentActor*> agents;
  for (const Struck& struck : order.struck) {
    const JobRecord* job = cluster_.JobNamed(struck.job);
    if (job == nullptr) continue;
    for (AgentActor* agent : job->agents) {
      if (struck.kind == StruckKind::kJob || agent->fence.task == struck.task)
        agents.push_back(agent);
    }
  }
  return agents;
}

}  // namespace tfyarn::sim
