// The parts of the AM, each above those that it may call (tools/check_am_calls.py).
//
// - leaving: containers that must go
// - attempts: how processes end, one record each
// - processes: orders to agents to start and stop processes
// - epochs: the cluster spec of each epoch, and when its processes start
// - restart: carrying out what was decided
// - finish: the verdict, the drain, the end
// - failover: what a failure leads to, and which task is to blame
// - gates: `depends`
// - launch: containers become agents
// - recovery: what an earlier attempt left, by the ledger and by what the RM and agents say
// - agent_desk: what agents say, and which of them are let in
// - startup: from the first event to the registered, asking AM
// - containers: what follows from granted and lost containers, lost nodes, notices
// - life: the job's states, and what every step does last
// - deadlines: what is due when, by the state of all of them, and has it carried out
//
// What several of them ask for, and none decides, is in AmCore. Each keeps its own state, and no
// other part changes it.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "core/am/agent_desk.h"
#include "core/am/am_core.h"
#include "core/am/attempts.h"
#include "core/am/container_events.h"
#include "core/am/deadlines.h"
#include "core/am/epoch_control.h"
#include "core/am/failover.h"
#include "core/am/finish.h"
#include "core/am/gates.h"
#include "core/am/job_life.h"
#include "core/am/launch_control.h"
#include "core/am/leaving.h"
#include "core/am/process_control.h"
#include "core/am/recovery.h"
#include "core/am/restart.h"
#include "core/am/startup.h"

namespace tfyarn::am {

struct AmParts {
  AmParts(std::shared_ptr<const JobSpec> job, AmOptions options, std::uint64_t seed)
      : core(std::move(job), std::move(options), seed) {}
  AmParts(const AmParts&) = delete;
  AmParts& operator=(const AmParts&) = delete;

  AmCore core;
  Leaving leaving{core};
  Attempts attempts{core};
  ProcessControl processes{*this};
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
