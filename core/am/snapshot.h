// The ApplicationMaster's state as others may read it: what the simulator polls for `when:` and
// `explain`, and what a status page shows.
//
// It is the state itself, not a copy made for a reader: the machine keeps its tasks here, and keeps
// beside them (task_table.h) what no reader may depend on. References stay valid as long as the
// machine; contents change with every Step.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/am.h"
#include "core/model/channel.h"
#include "core/model/cluster_spec.h"
#include "core/model/describe.h"
#include "core/model/ids.h"
#include "core/model/job_spec.h"

namespace tfyarn::am {

/// Where a task stands. No state is terminal before the job's verdict: an ended task may be started
/// again.
enum class TaskState {
  kWaiting,     ///< Has no container.
  kGranted,     ///< Holds a container in which nothing has been started.
  kLaunching,   ///< Its agent was ordered and has not spoken yet.
  kRegistered,  ///< Its agent is here; no process of this epoch was ordered.
  kStarting,    ///< A process was ordered and not yet seen.
  kRunning,
  kStopping,  ///< Ordered to stop; its end is not yet known.
  kEnded,     ///< Its process has ended. It may still hold its container.
};
BOOST_DESCRIBE_ENUM(TaskState, kWaiting, kGranted, kLaunching, kRegistered, kStarting, kRunning,
                    kStopping, kEnded)
inline constexpr std::size_t kTaskStates = 8;

struct TaskSnapshot {
  TaskId task;
  TaskClass task_class = TaskClass::kTracked;
  TaskState state = TaskState::kWaiting;
  ContainerId container;  ///< Meaningful while has_container.
  bool has_container = false;
  NodeId node;  ///< Of the container, or of the last one.
  Incarnation
      incarnation;      ///< Of the agent in the container, or the next one's while there is none.
  TaskAttempt attempt;  ///< The latest process, or the first one's number before it was ordered.
  HostPort address;     ///< As its agent registered it; port 0 = not known.
  std::int32_t restarts = 0;  ///< Processes started again, whichever budget paid.
};
BOOST_DESCRIBE_STRUCT(TaskSnapshot, (),
                      (task, task_class, state, container, has_container, node, incarnation,
                       attempt, address, restarts))

struct AmSnapshot {
  JobState state = JobState::kSubmitted;  ///< kSubmitted until the journal is read.
  Epoch epoch;  ///< Of the latest spec that was decided on; 0 before the first.
  ApplicationAttemptId attempt;
  std::vector<TaskSnapshot>
      tasks;  ///< In the order of JobSpec::tasks, then by index; its order never changes.
  std::optional<VerdictReached> verdict;  ///< Set when the verdict is durable.
  std::string waiting_for;  ///< For people, one line: what the job waits for now; empty when for
                            ///< nothing but its end.
};
BOOST_DESCRIBE_STRUCT(AmSnapshot, (), (state, epoch, attempt, tasks, verdict, waiting_for))

/// The task of that name; nullptr when the job has none.
[[nodiscard]] const TaskSnapshot* FindTask(const AmSnapshot& snapshot, const TaskId& task);

}  // namespace tfyarn::am
