// The changes of state that the ApplicationMaster knows, for checks and for the diagrams in docs/.
// Declarations only: each table is in the file that makes the changes and checks every one of them
// against it (am_core.cc, task_table.cc).
#pragma once

#include <vector>

#include "core/am/task_table.h"
#include "core/model/describe.h"
#include "core/model/transition.h"

namespace tfyarn::am {

BOOST_DESCRIBE_ENUM(AgentPhase, kNone, kGranted, kLaunching, kUp)
BOOST_DESCRIBE_ENUM(ProcessPhase, kNone, kOrdered, kRunning, kStopping, kEnded)

/// Of the job: between values of JobState.
[[nodiscard]] const std::vector<Transition>& JobTransitions();

/// Of a task: region "container and agent" between values of AgentPhase, region "process" between
/// values of ProcessPhase.
[[nodiscard]] const std::vector<Transition>& TaskTransitions();

}  // namespace tfyarn::am
