// Doubles: what a test may put in the place of machines in one run, to see that a checker notices.
//
// A double stands between the host and a machine of the run: it is given the machine, what it is
// told, and the list for its orders. One that calls `real.Step(now, event, actions)` and nothing
// else changes nothing; one that lies adds, drops or changes orders, or does not pass on what it
// was told. Idle heartbeats that the host skips or sends in a machine's past pass it by: runs with
// doubles carry every beat (RunOptions::elide = false).
//
// Not a switch: neither the machines nor the fakes know of it, and the host does nothing else when
// there is one. Fault kinds (fault_plan.h) are what may happen to a cluster; doubles are bugs.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/agent/task_agent.h"
#include "core/am/application_master.h"
#include "core/model/agent.h"
#include "core/model/am.h"
#include "core/model/job_spec.h"
#include "core/model/time.h"
#include "fakes/yarn-rm/messages.h"
#include "fakes/yarn-rm/node_manager.h"
#include "fakes/yarn-rm/resource_manager.h"

namespace tfyarn::sim {

template <class Machine, class Event, class Action>
using DoubleOf = std::function<void(Machine& real, Instant now, const Event& event,
                                    std::vector<Action>& actions)>;

/// Empty members leave the machine as it is.
struct Doubles {
  DoubleOf<fakes::ResourceManager, fakes::RmEvent, fakes::RmAction> rm;
  DoubleOf<fakes::NodeManager, fakes::NmEvent, fakes::NmAction> nm;
  DoubleOf<am::ApplicationMaster, AmEvent, AmAction> am;
  DoubleOf<agent::TaskAgent, AgentEvent, AgentAction> agent;
  /// What ApplicationMasters (no other machine) take for the job's description.
  std::function<std::shared_ptr<const JobSpec>(std::shared_ptr<const JobSpec>)> am_spec;
};

/// Those of a run without any.
[[nodiscard]] inline const Doubles& NoDoubles() {
  static const Doubles kNone;
  return kNone;
}

/// One step of `machine`, or of the double in its place.
template <class Machine, class Event, class Action>
void StepMachine(const DoubleOf<Machine, Event, Action>& in_its_place, Machine& machine,
                 Instant now, const Event& event, std::vector<Action>& actions) {
  if (in_its_place) {
    in_its_place(machine, now, event, actions);
  } else {
    machine.Step(now, event, actions);
  }
}

}  // namespace tfyarn::sim
