// The parts of the AM, each above those that it may call (tools/check_am_calls.py).
//
// What an event says is observed (observe/); what follows from it is decided, and stored (decide/);
// orders are sent, and repeated until they are seen to be obeyed, when what they rest on is durable
// (reconcile/). So calls go from observe/ to decide/ to reconcile/, never back.
//
// reconcile/
// - leaving: containers that must go
// - processes: orders to agents to start and stop processes
// - ending: the drain after the verdict, the end of every container, the final status
// decide/
// - epochs: the cluster spec of each epoch, and when its processes start
// - restart: what starts again, and what it takes
// - finish: the verdict, and the evidence that it needs
// - failover: what a failure leads to, and which task is to blame
// - gates: `depends`
// - launch: which granted containers become agents, and when
// observe/
// - recovery: what an earlier attempt left, by the ledger and by what the RM and agents say
// - agent_desk: what agents say, and which of them are let in
// - startup: from the first event to the registered, asking AM
// - containers: what follows from granted and lost containers, lost nodes, notices
// beside them
// - attempts: how processes end, one record each
// - life: the job's states, and what every step does last
// - deadlines: what is due when, by the state of all of them, and has it carried out
//
// What several of them ask for, and none decides, is in AmCore. Each keeps its own state, and no
// other part changes it.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "core/am/am_core.h"
#include "core/am/attempts.h"
#include "core/am/deadlines.h"
#include "core/am/decide/epoch_control.h"
#include "core/am/decide/failover.h"
#include "core/am/decide/finish.h"
#include "core/am/decide/gates.h"
#include "core/am/decide/launch_control.h"
#include "core/am/decide/restart.h"
#include "core/am/job_life.h"
#include "core/am/observe/agent_desk.h"
#include "core/am/observe/container_events.h"
#include "core/am/observe/recovery.h"
#include "core/am/observe/startup.h"
#include "core/am/reconcile/ending.h"
#include "core/am/reconcile/leaving.h"
#include "core/am/reconcile/process_control.h"

namespace tfyarn::am {

struct AmParts {
  AmParts(std::shared_ptr<const JobSpec> job, AmOptions options, std::uint64_t seed)
      : core(std::move(job), std::move(options), seed) {}
  AmParts(const AmParts&) = delete;
  AmParts& operator=(const AmParts&) = delete;

  AmCore core;
  Attempts attempts{core};
  Leaving leaving{core};
  ProcessControl processes{*this};
  Ending ending{*this};
  EpochControl epochs{*this};
  Restart restart{*this};
  Finish finish{*this};
  Failover failover{*this};
  Gates gates{*this};
  LaunchControl launch{*this};
  Recovery recovery{*this};
  AgentDesk agent_desk{*this};
  Startup startup{*this};
  ContainerEvents containers{*this};
  JobLife life{*this};
  Deadlines deadlines{*this};
};

}  // namespace tfyarn::am
