#include "sim/fault_reach.h"

#include <algorithm>

#include "config/fault_kinds.h"
#include "core/model/check.h"
#include "sim/fault_words.h"
#include "sim/struck_actors.h"

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

std::vector<trace::FaultWithoutEffect> FaultReach::WithoutEffect() const {
  std::vector<bool> struck = world_.marks.struck;
  for (const std::uint64_t key : world_.message_faults.struck()) struck[key >> 32] = true;
  std::vector<trace::FaultWithoutEffect> idle;
  for (std::uint32_t i = 0; i < world_.setup.scenario.faults.size(); ++i) {
    if (struck[i]) continue;
    const config::FaultSpec& fault = world_.setup.scenario.faults[i];
    const config::FaultKind* kind = config::FindFaultKind(fault.kind);
    TF_CHECK(kind != nullptr);
    const bool trap = present_[i] && kind->trap != config::FaultTrap::kNone;
    const char* why = trap                  ? NothingCame(kind->trap)
                      : began_[i]           ? "what it names was not there"
                      : fault.when.moment() ? "what it waits for did not come"
                                            : "the run ended before it";
    idle.push_back({.index = i, .kind = fault.kind, .why = why});
  }
  return idle;
}

void FaultReach::Note(const FaultOrder& order) {
  if (!order.begins) {
    dormant_.erase(KeyOf(order));
    return;
  }
  began_[order.fault] = true;
  if (StrikesNobody(order)) return;
  present_[order.fault] = true;
  if (Reaches(order, false)) {
    world_.marks.struck[order.fault] = true;
  } else {
    dormant_.emplace(KeyOf(order), order);
  }
}

void FaultReach::NoteDormant() {
  std::erase_if(dormant_, [this](const auto& entry) {
    const bool reaches = Reaches(entry.second, true);
    if (reaches) world_.marks.struck[entry.second.fault] = true;
    return reaches;
  });
}

bool FaultReach::Reaches(const FaultOrder& order, bool began) const {
  const config::FaultKind& kind = *order.kind;
  if (kind.trap != config::FaultTrap::kNone) return false;
  if (kind.needs == config::FaultNeeds::kRm && world_.rm.process() == nullptr) return false;
  const auto is_up = [this](const Struck& one) {
    return one.node < 0 || world_.cluster.nodes[one.node].down == 0;
  };
  const std::int32_t own = began ? 1 : 0;
  switch (kind.target) {
    case config::FaultTarget::kNode:
      // An order to the ResourceManager, wherever the node is.
      if (kind.needs == config::FaultNeeds::kRm) return true;
      return std::any_of(order.struck.begin(), order.struck.end(), [&](const Struck& one) {
        return kind.traits.takes_nodes_down ? world_.cluster.nodes[one.node].down == own
                                            : is_up(one);
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
          return world_.rm.downs() == own;
        case config::RmOutage::kStandsStill:
          return world_.rm.process() != nullptr && world_.rm.pauses() == own;
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

bool FaultReach::ReachesSuspendedClient(const FaultOrder& order) const {
  const std::vector<ClientActor*> clients = ClientsOf(world_.cluster, order);
  return std::any_of(clients.begin(), clients.end(),
                     [](const ClientActor* client) { return !client->suspended_by.empty(); });
}

bool FaultReach::ReachesTask(const FaultOrder& order) const {
  const bool needs_process = order.kind->needs == config::FaultNeeds::kProcess;
  const std::vector<AgentActor*> agents = AgentsOf(world_.cluster, order);
  return std::any_of(agents.begin(), agents.end(), [&](const AgentActor* agent) {
    if (!needs_process) return true;
    const std::vector<RunningProcess> running =
        world_.cluster.JobAt(agent->job)->workload->running();
    return std::any_of(running.begin(), running.end(), [&](const RunningProcess& process) {
      return process.container == agent->fence.container;
    });
  });
}

}  // namespace tfyarn::sim
