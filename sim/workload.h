// What the user's processes of one job do: start, train together, checkpoint, fail, wait for each
// other, end.
//
// It stands in for TensorFlow and the user's script, and knows nothing of the ApplicationMaster:
// the host tells it which processes run where under which spec, and it answers with exits. It is a
// pure machine like the others, but without a message of its own to send. What TensorFlow does when
// a task dies is measured in the notes cited in workload.cc.
//
// Training. A *team* is the processes that train together under one spec (multi-worker: all with
// one SpecId; parameter-server: those whose addresses the chief's spec lists, whatever epoch they
// were started in; independent: each process alone). It trains while every process that the
// strategy needs takes part, answers and can be reached. Losing a process that holds the state
// (multi-worker: any; parameter-server: the chief or a ps) ends the team's session: what was
// trained since the last checkpoint is lost, and the next session begins with `restore`. Losing the
// last worker, or having a process stand still, only pauses it. Under parameter-server the speed
// does not depend on how many workers there are, nor on slow workers' nodes; a standing worker
// stalls the chief, as it does in TensorFlow.
//
// Time is accounted, not stepped: the end of training is computed, so a job that trains for a month
// costs a few events. Every instant of a session belongs to exactly one of useful, lost, checkpoint
// and restore, or the session is paused, which shows as kIdle. Accounted says how much went where,
// times the GPUs that took part; what a job's containers hold beyond that is `recovery` or
// `waiting` to the result (core/trace/gpu_account.h). All are integers: the sums are exact.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "config/scenario.h"
#include "core/model/agent.h"
#include "core/model/cluster_spec.h"
#include "core/model/exit.h"
#include "core/model/ids.h"
#include "core/model/job_spec.h"
#include "core/model/time.h"
#include "core/trace/record.h"
#include "sim/behavior.h"
#include "sim/training_run.h"

namespace tfyarn::sim {

// ---------------------------------------------------------------- what the host tells

/// A process that the host started because an agent ordered it.
struct SpawnedProcess {
  ContainerId container;
  TaskId task;
  ProcessRef process;
  SpecRef spec;
  std::string host;                   ///< Name of its node.
  std::int32_t pace_permille = 1000;  ///< 2000 = the node computes at half speed; >= 1.
  bool port_taken =
      false;  ///< Another process holds its leased port: it ends 1 with a port conflict.
  bool should_listen = false;  ///< As SpawnProcess says.
};

/// Two groups of hosts that cannot talk (one way is as bad: TCP needs both).
struct PeerCut {
  std::set<std::string> from;
  std::set<std::string> to;  ///< Empty: every host outside `from`.
};

// ---------------------------------------------------------------- what it answers

/// The process has ended by itself or by a signal. After it the container may get another process.
struct ProcessExits {
  ContainerId container;
  TaskAttempt attempt;
  ProcessExit exit;
  bool port_conflict = false;
  std::string stderr_tail;  ///< Its last lines: the scenario's, or why it ended.
};
/// What the job's training does from now on. Checkpoints show only when the workload was made
/// `detailed`.
struct PhaseChanged {
  trace::TrainingPhase phase = trace::TrainingPhase::kIdle;
};
/// Training time whose result is gone with the processes that held it. Comes before the
/// PhaseChanged of the same cause.
struct WorkIsLost {
  Duration work{};
};
/// Where the time of training went since the last such account, summed over all trainings of the
/// job (one; one for each task under `independent`). Made when a session ends or is done, and by
/// Settle; more than one at a time when the sums are too large for one.
struct Accounted {
  struct Split {
    Duration useful{};
    Duration checkpoint{};
    Duration restore{};
    Duration lost{};
  };
  Split wall;
  Split gpu;  ///< The same, times the GPUs that took part.
};
/// The process printed a step. Only when the job has `watch`, and no oftener than needed to keep it
/// content.
struct ProgressIsSeen {
  ContainerId container;
  TaskAttempt attempt;
};
/// What is to be seen of the process from outside is now this.
struct SignsAreSeen {
  ContainerId container;
  TaskAttempt attempt;
  Standstill standstill = Standstill::kNone;
  bool catches_term = false;
};
/// The listener on the process's port is now this, or still at the end of deadlines.listen. Only
/// where its row has `listens`.
struct PortIsSeen {
  ContainerId container;
  TaskAttempt attempt;
  PortListener listener = PortListener::kNobody;
};
/// The process left this file behind (evidence for finish.require).
struct FileIsWritten {
  std::string path;
};

using WorkloadOutput = std::variant<ProcessExits, PhaseChanged, WorkIsLost, Accounted,
                                    ProgressIsSeen, SignsAreSeen, PortIsSeen, FileIsWritten>;

/// How a process is made to stand still.
enum class Freeze {
  kNone,     ///< It is not, or goes on.
  kStopped,  ///< As by SIGSTOP: the kernel shows it, and SIGCONT ends it.
  kBusy,     ///< It looks as if it worked.
};

/// A process that runs now.
struct RunningProcess {
  ContainerId container;
  TaskId task;
  ProcessRef process;
  SpecId spec;
  std::string host;
  bool frozen = false;
};

class JobWorkload {
 public:
  /// `job`: not null. `detailed`: show every checkpoint as a phase, at the price of two events for
  /// each.
  JobWorkload(std::shared_ptr<const config::JobConfig> job, trace::JobIndex index,
              std::uint64_t seed, bool detailed = false);

  /// The container must have no other process.
  void Spawned(Instant now, const SpawnedProcess& process, std::vector<WorkloadOutput>& out);
  /// Harmless when that attempt does not run in that container.
  void Signalled(Instant now, const ContainerId& container, TaskAttempt attempt, StopSignal signal,
                 std::vector<WorkloadOutput>& out);
  /// A fault ends the process this way, now. Harmless when none runs there.
  void Ends(Instant now, const ContainerId& container, ProcessExit exit,
            std::vector<WorkloadOutput>& out);
  /// The process is gone with its container or node: no ProcessExits. Harmless when none runs
  /// there.
  void Vanished(Instant now, const ContainerId& container, std::vector<WorkloadOutput>& out);
  /// Stands still or goes on. A standing process hears only SIGKILL; a stopped one also SIGCONT,
  /// and then the SIGTERM that came before. A hang by a behaviour row is not undone by kNone. `by`:
  /// the fault; the process goes on when the last that made it stand still has ended (kNone), or
  /// SIGCONT has ended them.
  void Froze(Instant now, const ContainerId& container, std::uint64_t by, Freeze how,
             std::vector<WorkloadOutput>& out);
  /// Its node computes at another speed from now on.
  void PaceChanged(Instant now, const ContainerId& container, std::int32_t pace_permille,
                   std::vector<WorkloadOutput>& out);
  /// All cuts there are now; replaces the earlier ones. Also to be called for a job made while
  /// there are cuts.
  /// What later processes do is drawn under another seed.
  void DrawAnew(std::uint64_t seed) { seed_ = seed; }
  void CutsChanged(Instant now, std::vector<PeerCut> cuts, std::vector<WorkloadOutput>& out);
  /// Does what is due. May be called early, and more than once at an instant.
  void DeadlineReached(Instant now, std::vector<WorkloadOutput>& out);
  /// When DeadlineReached next does something if nothing else happens.
  [[nodiscard]] std::optional<Instant> next_deadline() const;
  /// Accounts everything up to `now` (at the horizon): training in progress counts as useful.
  void Settle(Instant now, std::vector<WorkloadOutput>& out);

  [[nodiscard]] trace::TrainingPhase phase() const { return phase_; }
  /// Undisturbed time that the whole training takes: steps x step_time.
  [[nodiscard]] Duration total_work() const { return total_work_; }
  /// True when some process of the job makes progress now (what deadlock detection asks).
  [[nodiscard]] bool makes_progress() const;
  /// What runs, in order of container.
  [[nodiscard]] std::vector<RunningProcess> running() const;

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;
  /// From the end of training to the exit of an evaluator: it scores the last checkpoint.
  static constexpr Duration kEvaluatorAfter = 2s;
  using Out = std::vector<WorkloadOutput>;

  /// How and when a process is going to end, unless something ends it earlier.
  struct End {
    Instant at{};
    ProcessExit exit;
    bool port_conflict = false;
    std::string stderr_tail;
  };
  struct Process {
    SpawnedProcess is;
    ProcessScript script;
    TaskRole role = TaskRole::kServer;
    std::uint32_t ordinal = 0;  // Its task's place in the job.
    std::int64_t gpus = 0;
    bool alive = false;
    bool started = false;           // Takes part: its start delay is over.
    Freeze frozen = Freeze::kNone;  // By all of frozen_by.
    std::vector<std::pair<std::uint64_t, Freeze>> frozen_by;  // Faults in force.
    bool term_waits = false;                                  // SIGTERM came while it was stopped.
    bool hung = false;                                        // By its own row.
    bool winding = false;                                     // Got SIGTERM and is on its way out.
    bool saving = false;                                      // ... and saves before it ends.
    bool attached = false;                                    // Counted in team_.
    bool peers_lost = false;                                  // Will end because of a peer.
    std::optional<Instant> starts_at;
    std::optional<Instant> hangs_at;
    std::optional<Instant> listens_at;
    std::optional<Instant> looked_at;  // Its agent looks whether it listens.
    std::optional<End> end;
    std::unique_ptr<TrainingRun> run;                            // Of a task that trains alone.
    trace::TrainingPhase counted = trace::TrainingPhase::kIdle;  // In alone_in_phase_.
    Instant progress_at = kNever;
    std::int64_t steps_seen = 0;
    Instant due = kNever;

    [[nodiscard]] bool standing() const { return frozen != Freeze::kNone || hung; }
  };
  struct TaskGroup {
    std::string type;
    std::uint32_t first = 0;  // Ordinal of index 0.
    std::uint32_t size = 0;
    std::int64_t gpus = 0;  // Of one task.
    TaskRole role = TaskRole::kServer;
  };
  /// The processes that train together, and what is still missing.
  struct Team {
    SpecRef spec;
    ApplicationId application;  // Of the job's, epochs are counted anew in each.
    Epoch epoch;
    std::uint32_t leader = kNone;  // The chief under parameter-server.
    std::uint32_t members = 0;     // Attached, by role.
    std::uint32_t ps = 0;
    std::uint32_t workers = 0;
    std::uint32_t standing = 0;  // Of the attached.
    std::uint32_t winding = 0;
    std::int64_t gpus = 0;
    bool formed = false;           // In a session.
    bool broken = false;           // Its processes have lost a peer and can never form again.
    bool saving = false;           // A checkpoint out of turn, because of SIGTERM.
    bool ended = false;            // Training is done, and its processes know it.
    Instant suspects_at = kNever;  // Standing peers are taken for gone then.
    Instant progress_at = kNever;
    std::int64_t steps_seen = 0;
    Instant due = kNever;
  };

  // workload.cc: what the job needs, what the host tells
  void CountNeeded(const TaskGroup& group);
  [[nodiscard]] const TaskGroup& GroupOf(const TaskId& task) const;
  [[nodiscard]] std::uint32_t SlotOf(const ContainerId& container) const;
  void StandingChanged(Instant now, std::uint32_t slot, bool stood, Out& out);
  [[nodiscard]] Freeze EffectOf(std::uint32_t slot) const;
  void Thaw(Instant now, std::uint32_t slot, Freeze how, Out& out);
  static void ShowSigns(const Process& process, Out& out);
  static void TellAccount(const TrainingAccount& account, Out& out);

  // workload_process.cc: processes and time
  void RunDue(Instant now, Out& out);
  void RunProcess(Instant at, std::uint32_t slot, Out& out);
  void Start(Instant now, std::uint32_t slot, Out& out);
  void TakePart(Instant now, std::uint32_t slot, Out& out);
  void ShowPort(const Process& process, PortListener listener, Out& out) const;
  void EndNow(Instant now, std::uint32_t slot, const End& end, Out& out);
  /// Removes the process from everything. Peers feel it.
  void Remove(Instant now, std::uint32_t slot, Out& out);
  void Terminate(Instant now, std::uint32_t slot, Out& out);
  void EndsAt(std::uint32_t slot, End end);
  void Reschedule(std::uint32_t slot);
  void Schedule(Instant at, std::uint32_t id, Instant& due);
  void DropStaleDeadlines();
  [[nodiscard]] Instant DueOf(const Process& process) const;
  void UpdatePhase(Out& out);

  // workload_alone.cc: tasks that train alone, evaluators, progress
  void StartAlone(Instant now, std::uint32_t slot, Out& out);
  void AdvanceAlone(Instant now, std::uint32_t slot, Out& out);
  void BreakAlone(Instant now, std::uint32_t slot, Out& out);
  void CountAlone(Process& process);
  void TrainingDone(Instant now);
  [[nodiscard]] bool AloneDone() const { return alone_done_.size() == alone_tasks_; }
  [[nodiscard]] std::int64_t StepsOf(const TrainingRun& run) const;
  void ShowProgress(std::uint32_t slot, Out& out) const;

  // workload_team.cc: training together
  [[nodiscard]] bool InTeam(const Process& process) const;
  [[nodiscard]] bool Belongs(const Process& process) const;
  void TakeTeamSpec(Instant now, std::uint32_t slot, Out& out);
  void Recount(Instant now, Out& out);
  void Attach(std::uint32_t slot);
  void Detach(std::uint32_t slot);
  void JoinTeam(Instant now, std::uint32_t slot, Out& out);
  void LeaveTeam(Instant now, std::uint32_t slot, Out& out);
  void BreakTeam(Instant now, Out& out);
  void TellPeers(Instant now, const Process& gone);
  void LosePeer(Instant now, std::uint32_t slot, const std::string& why);
  void RefreshTeam(Instant now, Out& out);
  void AdvanceTeam(Instant now, Out& out);
  void RescheduleTeam();
  void EndTeam(Instant now, Out& out);
  void WindTeam(Instant now, std::uint32_t slot, bool checkpoint, Out& out);
  void WindMembers(Instant now);
  [[nodiscard]] bool Complete() const;
  [[nodiscard]] bool Separated() const;
  [[nodiscard]] bool IsCore(const Process& process) const;
  [[nodiscard]] bool SomeoneAwake() const;
  [[nodiscard]] std::int32_t TeamPace() const;
  [[nodiscard]] Instant NextTeamChange() const;

  std::shared_ptr<const config::JobConfig> job_;
  trace::JobIndex index_;
  std::uint64_t seed_;
  bool detailed_;
  bool has_chief_ = false;   // A chief drives parameter-server training.
  bool peers_wait_ = false;  // peer_loss: none.
  bool servers_;             // Strategy parameter-server.
  Duration peer_loss_after_{};
  std::int32_t peer_loss_exit_ = 1;
  Duration step_time_{};
  Duration total_work_{};
  Duration progress_every_{};  // Zero = the job has no watch.

  std::vector<TaskGroup> groups_;
  std::uint32_t needed_members_ = 0;
  std::uint32_t needed_ps_ = 0;
  bool needs_worker_ = false;
  bool has_team_ = false;
  std::vector<Process> processes_;  // By slot; slots are used again.
  std::vector<std::uint32_t> free_slots_;
  std::map<ContainerId, std::uint32_t> by_container_;
  std::vector<std::uint32_t> attached_of_;  // By ordinal: the attached process's slot, or kNone.
  std::map<std::uint32_t, std::unique_ptr<TrainingRun>>
      parked_;                          // By ordinal: alone, between two processes.
  std::vector<bool> trains_alone_;      // By ordinal: whichever attempt it is.
  std::uint32_t alone_tasks_ = 0;       // How many those are ...
  std::set<std::uint32_t> alone_done_;  // ... and which of them have been done once.
  std::uint32_t slow_processes_ = 0;    // Whose pace is not 1000.
  std::int32_t alone_in_phase_[5] = {0, 0, 0, 0,
                                     0};  // Changes since the start: kIdle goes below 0.
  Team team_;
  TrainingRun team_run_;
  bool training_done_ = false;
  std::vector<PeerCut> cuts_;
  trace::TrainingPhase phase_ = trace::TrainingPhase::kIdle;
  Instant now_{};

  using Deadline = std::pair<Instant, std::uint32_t>;  // Slot, or kNone for the team.
  std::priority_queue<Deadline, std::vector<Deadline>, std::greater<>> deadlines_;
};

}  // namespace tfyarn::sim
