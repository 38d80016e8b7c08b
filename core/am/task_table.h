// Every task of the job, and how many are in which state.
//
// The part of a task that others may read is in AmSnapshot; what only the AM's parts need is in
// TaskRecord, at the same position. Parts change a task only through this table. So the state
// shown, the counts per type that the policy judges by, and the counts that the barriers ask for
// always agree. Nothing here decides or sends.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/allocation/allocation.h"
#include "core/am/snapshot.h"
#include "core/model/channel.h"
#include "core/model/job_spec.h"
#include "core/model/task_index.h"
#include "core/model/time.h"
#include "core/policy/job_view.h"
#include "core/policy/outcome.h"

namespace tfyarn::am {

/// What the task has of a container and an agent.
enum class AgentPhase : std::uint8_t {
  kNone,       ///< No container.
  kGranted,    ///< A container, nothing in it.
  kLaunching,  ///< Its agent was ordered and has not spoken to this AM attempt.
  kUp,         ///< Its agent is accepted.
};

/// How far the latest process of the task has come.
enum class ProcessPhase : std::uint8_t {
  kNone,     ///< None was ordered, or it went with a container that is gone.
  kOrdered,  ///< To run; not yet seen.
  kRunning,
  kStopping,  ///< To stop; its end not yet known.
  kEnded,     ///< Ended; its agent is still here.
};

/// Whether a process of the task is to be ordered, and with whom.
enum class StartMode : std::uint8_t {
  kNone,
  kWithEpoch,  ///< With all others of the epoch that is being prepared.
  kAlone,      ///< As soon as its agent is ready, with the spec of the epoch that has begun.
};

/// In place of a grace time: no end was decided.
inline constexpr Duration kUndecided{-1};

struct TaskRecord {
  std::uint32_t type = 0;  ///< Position in JobSpec::tasks.
  bool training = false;   ///< See IsTraining.
  bool chief = false;      ///< The policy gives it the chief's role.
  AgentPhase agent = AgentPhase::kNone;
  ProcessPhase process = ProcessPhase::kNone;
  policy::Outcome outcome = policy::Outcome::kOpen;
  StartMode start = StartMode::kNone;
  bool ready = false;  ///< Counted as ready: see TaskTable::starters_ready().
  bool start_logged =
      false;                ///< ProcessesOrdered for its next process is on its way to the journal.
  bool in_trouble = false;  ///< Beside training only: it has failed before it was first ready.
  bool unannounced =
      false;  ///< Found running after an AM restart: its start may not have been said.
  bool launch_logged = false;  ///< The present container's agent is in the journal.
  bool ever_registered = false;
  bool ever_ordered = false;        ///< A process was ordered at some time: the next one resumes.
  bool has_run = false;             ///< A process of it has run.
  bool ever_ran = false;            ///< The same, or its outcome is known without.
  bool preemption_noticed = false;  ///< The RM has announced to take its container.
  Instant noticed_at;               ///< Valid with preemption_noticed: when it last said so.
  bool address_stale = false;       ///< The agent is about to tell another port.
  bool resting = false;             ///< Its next process must wait until rests_until.
  bool asks_later = false;          ///< It is asked for at ask_from.
  bool held_back = false;           ///< A row of `depends` keeps it from starting.
  bool touched = false;             ///< See TaskTable::touched.
  bool container_ends = false;  ///< Its latest process said so with its end, or cannot start there.
  bool hung = false;            ///< Its present process was found to hang.
  bool stalled = false;         ///< Of the job's `watch`: its present process stalls.
  Standstill standstill = Standstill::kNone;  ///< Of its present process, as its agent says.
  bool catches_term = false;                  ///< Its present process may save on SIGTERM.
  std::optional<PortUse> port_use;            ///< Of its present process, once its agent has told.
  /// Of its present process: its agent has registered with that end, and not reported it yet.
  std::optional<ProcessExit> told_end;
  /// Of its present process, once its end was decided by this AM attempt: how long it has.
  Duration stop_grace = kUndecided;
  /// The same, as its agent was told: a shorter one may wait for the journal.
  Duration stop_told = kUndecided;
  /// That the latest order to start its agent, or to its agent, rests on; 0: one of an earlier AM
  /// attempt.
  JournalSeq order_entry;
  HostPort process_address;  ///< What the latest process was told to be its own.
  /// By ReportKind: number of the latest report of its present agent (channel.h).
  std::array<std::uint32_t, kReportKinds> latest_news{};
  std::uint32_t address_news = 0;  ///< Of its addresses, when the latest process was ordered.
  Epoch process_epoch;             ///< Of the latest process ...
  SpecRef process_spec;            ///< ... and the cluster spec that it was ordered under.
  Instant process_ordered_at{};
  Instant heard_from{};  ///< Its agent cannot have heard that order before: later, where only the
                         ///< next AM gives it.
  Instant rests_until = kNever;
  Nonce nonce;
  std::int32_t launch_tries = 0;  ///< StartContainers calls for this container.
  /// Containers in a row that were lost before a process was ordered in them, and when the next one
  /// is asked for.
  std::int32_t lost_early = 0;
  Instant ask_from{};

  // Waits; which of them count, its state says (deadlines.cc). kNever: not waited for.
  Instant register_by = kNever;      ///< Of the agent that this AM attempt has launched.
  Instant launch_again_at = kNever;  ///< StartContainers was not answered well.
  Instant order_again_at = kNever;   ///< The order to its process is out, and may be lost.
  /// Of a process that starts alone: it runs by then. Of one that was told to stop: it has ended.
  Instant overdue_at = kNever;
  Instant drain_until = kNever;  ///< finish.drain lets its process go on after the verdict.
};

class TaskTable final : public policy::JobView {
 public:
  /// `snapshot` must outlive the table; its tasks are filled here.
  TaskTable(const JobSpec& job, const std::function<TaskClass(const std::string&)>& class_of,
            AmSnapshot& snapshot);

  [[nodiscard]] std::size_t size() const { return records_.size(); }
  [[nodiscard]] const TaskRecord& record(TaskIndex task) const { return records_[task.value]; }
  [[nodiscard]] const TaskSnapshot& shown(TaskIndex task) const {
    return snapshot_->tasks[task.value];
  }
  [[nodiscard]] const TaskId& id(TaskIndex task) const { return shown(task).task; }
  /// Position of the type's first task and how many it has; `type` as in JobSpec::tasks.
  [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> RangeOf(std::size_t type) const;
  [[nodiscard]] std::optional<TaskIndex> Find(const TaskId& task) const;
  /// The task that has the container now.
  [[nodiscard]] std::optional<TaskIndex> OwnerOf(const ContainerId& container) const;
  [[nodiscard]] std::optional<std::size_t> FindType(const std::string& type) const;
  /// The fence that messages between the AM and the task's present agent carry.
  [[nodiscard]] AgentFence FenceOf(TaskIndex task) const;
  [[nodiscard]] ProcessRef ProcessOf(TaskIndex task) const;
  /// True while a process of the task may be alive.
  [[nodiscard]] bool ProcessAlive(TaskIndex task) const;

  // Changes. Each keeps every count right.
  void GiveContainer(TaskIndex task, const allocation::HeldContainer& container, Nonce nonce);
  void SetAgent(TaskIndex task, AgentPhase phase);
  void SetProcess(TaskIndex task, ProcessPhase phase);
  void SetOutcome(TaskIndex task, policy::Outcome outcome);
  /// The container is gone or no longer the task's: the next one has the next incarnation.
  void DropContainer(TaskIndex task);
  /// After an AM restart: the agent that the journal names is gone; the next one has the next
  /// incarnation.
  void SkipIncarnation(TaskIndex task) {
    MutableShown(task).incarnation = shown(task).incarnation.next();
  }
  /// A process of it ran, although it was not seen to.
  void NoteRan(TaskIndex task) { HasRun(Touch(task)); }
  /// A new process: the number it gets.
  ProcessRef BeginProcess(Instant now, TaskIndex task, Epoch epoch);
  void SetAddress(TaskIndex task, const HostPort& address);
  void ShowRestarts(TaskIndex task, std::int32_t restarts) {
    MutableShown(task).restarts = restarts;
  }
  void SetStart(TaskIndex task, StartMode start);
  /// Its latest process ended for its port: the agent tells another one, unless it has already.
  void PortWasTaken(TaskIndex task);
  /// Its next process does not start before.
  void RestUntil(TaskIndex task, Instant until);
  void EndRest(TaskIndex task);
  /// Waits that have passed by `now` end `to` then.
  void PutOff(Instant now, Instant to);
  /// A row of `depends` keeps the type's tasks from starting, or none does any more.
  void HoldBack(std::size_t type, bool held_back);
  void Waive(std::size_t type) {
    types_[type].waived = true;
    progressed_ = true;
  }
  /// What has no rule here.
  [[nodiscard]] TaskRecord& mutable_record(TaskIndex task) { return Touch(task); }
  /// What is due of it may have changed.
  TaskRecord& Touch(TaskIndex task) {
    TaskRecord& of = records_[task.value];
    if (!std::exchange(of.touched, true)) touched_.push_back(task);
    return of;
  }
  /// Tasks that may have changed since ForgetTouched, each once.
  [[nodiscard]] const std::vector<TaskIndex>& touched() const { return touched_; }
  void ForgetTouched();
  /// A process has begun, is to end or has ended, or an outcome has changed, since
  /// ForgetProgress: what success and `depends` are judged by.
  [[nodiscard]] bool progressed() const { return progressed_; }
  void ForgetProgress() { progressed_ = false; }
  /// After an AM restart: numbers as the journal has them.
  void Restore(TaskIndex task, Incarnation incarnation, TaskAttempt attempt, Epoch epoch,
               bool ever_ordered);

  /// A task beside training failed before it was ready: no spec waits for it.
  void SetInTrouble(TaskIndex task);

  // Counts, all O(1).
  [[nodiscard]] std::int32_t Count(TaskState state) const;
  [[nodiscard]] std::int32_t CountTraining(TaskState state) const;
  /// Of one type: whose agent is up, and which has no process.
  [[nodiscard]] std::int32_t CountRegistered(std::size_t type) const { return registered_[type]; }
  [[nodiscard]] std::int32_t training_tasks() const { return training_tasks_; }
  /// Training tasks that have ended for good.
  [[nodiscard]] std::int32_t training_ended() const { return training_ended_; }
  /// Training tasks of which a process has ever run, or whose outcome was known without one.
  [[nodiscard]] std::int32_t training_ever_ran() const { return training_ever_ran_; }
  /// Tasks that have a container.
  [[nodiscard]] std::int32_t containers() const {
    return static_cast<std::int32_t>(owner_of_.size());
  }
  /// Tasks of the class of which a process may be alive.
  [[nodiscard]] std::int32_t AliveOf(TaskClass task_class) const {
    return alive_[static_cast<std::size_t>(task_class)];
  }
  /// Training tasks of which a process may be alive.
  [[nodiscard]] std::int32_t training_alive() const;
  /// Tasks that start with the epoch that is being prepared, and those among them whose agent waits
  /// with a known address and no process.
  [[nodiscard]] std::int32_t starters() const { return starters_; }
  [[nodiscard]] std::int32_t starters_ready() const { return starters_ready_; }
  /// `why` some wait for others, and who of the living processes does not listen where its peers
  /// look for it, if any.
  [[nodiscard]] std::string WithWhoDoesNotListen(std::string why) const;
  [[nodiscard]] std::int32_t beside_in_trouble() const { return beside_in_trouble_; }

  // JobView.
  [[nodiscard]] const std::vector<policy::TypeCounts>& types() const override { return types_; }
  [[nodiscard]] policy::TaskFacts FactsOf(std::size_t type, std::int32_t index) const override;

 private:
  TaskSnapshot& MutableShown(TaskIndex task) { return snapshot_->tasks[task.value]; }
  /// Recomputes the state shown and moves the counts.
  void Refresh(TaskIndex task);
  void HasRun(TaskRecord& of);
  void CountEverRan(TaskRecord& of);
  [[nodiscard]] static TaskState StateOf(const TaskRecord& record);

  AmSnapshot* snapshot_;
  std::vector<TaskRecord> records_;
  std::vector<TaskIndex> touched_;
  bool progressed_ = true;
  std::map<ContainerId, TaskIndex> owner_of_;
  std::vector<policy::TypeCounts> types_;
  std::vector<std::uint32_t> first_of_type_;  // and one behind the last
  std::array<std::int32_t, kTaskStates> counts_{};
  std::array<std::int32_t, kTaskStates> training_counts_{};
  std::vector<std::int32_t> registered_;  // by type: in state kRegistered
  std::array<std::int32_t, 4> alive_{};   // by class
  std::int32_t training_tasks_ = 0;
  std::int32_t training_ended_ = 0;
  std::int32_t training_ever_ran_ = 0;
  std::int32_t starters_ = 0;
  std::int32_t starters_ready_ = 0;
  std::int32_t beside_in_trouble_ = 0;
};

}  // namespace tfyarn::am
