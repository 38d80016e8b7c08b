// The books that the checkers keep from the trace, and what each checker needs of them. Private to
// checkers*.cc.
//
// One structure for all checkers, because they ask the same few questions (who holds this
// container, which processes live, which application acts); one function per checker and kind of
// record, so that each property is read in one place.
#pragma once

#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/policy/engine.h"
#include "oracles/reference_verdict.h"
#include "sim/checkers.h"
#include "sim/checkers_conduct.h"
#include "sim/checkers_durable.h"
#include "sim/checkers_repeats.h"

namespace tfyarn::sim {

/// In the order of scenario.md; checkers.cc has their names.
enum class Invariant : std::uint8_t {
  kCapacity,
  kOneOwner,
  kReleasedOnce,
  kGangStart,
  kOneSpec,
  kOneAttempt,
  kFinalOnce,
  kVerdict,
  kAfterFinal,
  kBudgets,
  kExcludedNodes,
  kProgress,
  kQuiescence,
  kLittlesLaw,
  kGpuSeconds,
  kGoodCitizen,
  kReferenceVerdict,
  kOwnAddress,
  kLimitsKept,
  kDurableBeforeVisible,
  kRuleMatchesCause,
  kSaidAgain,
  kAsAsked,
  kNoticePassedOn,
  kGivesNotUp,
  kNoIdleContainers,
  kDependsKept,
};
inline constexpr std::size_t kInvariantCount =
    static_cast<std::size_t>(Invariant::kDependsKept) + 1;

/// What must be done by an instant; see checkers_limits.cc.
enum class Limit : std::uint8_t {
  kContainerExpiry,
  kContainerGone,
  kRegistration,
  kStart,
  kRun,
  kGangDeadline,
  kGangHold,
  kStop,
  kStalled,
  kSilence,
  kOrphan,
  kAmStart,
  kEnd,
  kProgress,
};

/// GPUs, or jobs, times nanoseconds.
__extension__ using Area = __int128;

/// From an exit to the verdict that it leads to, at most: a payment may leave the window meanwhile.
constexpr Duration kDecisionTakes = 2min;

/// By fault of `scenario`: whether it goes on after it has struck, to an end that the trace shows
/// or to the run's. Where not, the trace shows no end of it.
std::vector<bool> FaultsThatLast(const config::Scenario& scenario);

/// When a limit is looked at.
struct Due {
  Instant at{};
  Limit limit{};
  std::uint32_t job = 0;
  ContainerId container;  ///< Or only its application.
  friend bool operator>(const Due& a, const Due& b) { return a.at > b.at; }
};

/// What limits-kept needs of a container.
struct ContainerLimits {
  bool known_to_nm = false;  ///< The NM has begun to localize it.
  bool given_back = false;   ///< The AM has ordered its end.
  bool registered = false;   ///< Its agent's registration has reached an AM.
  std::optional<Instant> launch_ordered;
  Instant am_heard{};               ///< The last word of an AM to its agent that the trace has.
  std::int32_t am_attempt = 0;      ///< The AM that its agent belongs to.
  bool orphaned = false;            ///< One came too late: the agent may be leaving.
  Instant progress_at{};            ///< Of its process: the start, or the last progress.
  std::uint32_t stall_told = 0;     ///< Number of the last report that it makes no progress.
  bool stall_said = false;          ///< There was one since then.
  bool watched = false;             ///< Its process trains, or has made progress.
  bool stall_expected = false;      ///< That a report comes is looked at.
  std::optional<Instant> kill_due;  ///< By what its agent was told, SIGKILL may come from then on.
  std::optional<Instant> warned_at;
  std::optional<Instant> term_at;   ///< SIGTERM was ordered, last.
  std::optional<Instant> stop_due;  ///< SIGTERM ends it, or SIGKILL is ordered by then.
  bool killed = false;
  bool stands_still = false;  ///< Its process was seen to, once.
};

/// What limits-kept needs of an application.
struct ApplicationLimits {
  std::optional<Instant> without_am;  ///< Its client has submitted it, or heard that no AM runs.
  std::ptrdiff_t ams_before = 0;      ///< Attempts that had registered by then.
  bool submitted = false;             ///< Its client knows that the RM has it.
  bool am_runs = false;
  std::int32_t am_attempt = 0;
  Instant am_started{};
  std::optional<Instant> am_gone;
  bool am_impeded = false;               ///< The one that ended last did so while a fault went on.
  std::optional<Instant> first_ask;      ///< Of the attempt that acts.
  std::optional<Instant> ever_asked;     ///< Of any attempt.
  std::optional<Instant> first_granted;  ///< Of containers for tasks.
  std::optional<Instant> whole_since;    ///< The gang is held, and nothing was decided since.
  std::optional<Instant> together;       ///< All that train live at once since then.
  std::optional<Instant> all_ran;        ///< They did for long enough that the AM has heard so.
  std::optional<Instant> each_ran;       ///< As many are in `ran_or_let_be` as there can be.
  std::set<TaskId> ever_ran;             ///< Of those that train and wait for no other type ...
  std::set<TaskId> ran_or_let_be;        ///< ... and what of them ended where a row may let it be.
  std::int64_t paid = 0;                 ///< Restarts, on any budget.
};

/// An AM was stopped (`am_pause`).
struct AmSleep {
  std::pair<std::uint32_t, std::uint32_t> fault;
  Instant began{};
  std::optional<Instant> woke;
};

/// What nodes and the RM have shown of an application: rule-matches-cause holds causes against it.
struct Evidence {
  std::set<std::string> hosts;                     ///< Of containers that it held.
  std::map<TaskId, std::set<std::int32_t>> exits;  ///< Of processes, as their parents saw them.
  std::set<std::int32_t> container_exits;          ///< As the RM has them.
  std::set<TaskId> out_of_memory;                  ///< An agent has the proof.
  bool notice = false;                             ///< The RM has told of a preemption.
};

struct NodeBook {
  NodeId id;
  Resource capacity;
  Resource had;        ///< Before it last changed, which was ...
  Instant declared{};  ///< ... then.
  Resource used;
  bool up = true;
  std::optional<Instant> power_changed;  ///< The last time it went down or came up.
};

/// A container from its grant until its job is settled.
struct ContainerBook {
  trace::JobIndex job;
  std::uint32_t node = 0;
  Resource resource;
  bool am = false;
  bool freed = false;
  Instant freed_at{};                     ///< The last time.
  bool taken = false;                     ///< The RM took it, and its node may have yet to hear so.
  bool end_unheard = false;               ///< It ended by itself or the RM took it: no AM was told.
  bool running = false;                   ///< The NM has launched it and it is not gone.
  bool on_node = false;                   ///< The NM has begun to localize it and it is not gone.
  std::optional<Instant> left_node;       ///< When it was gone.
  std::optional<std::int32_t> exit_told;  ///< The exit status that the RM has told an AM.
  bool started_late = false;              ///< It was freed when it was launched.
  bool launched_alone = false;            ///< Its start was ordered before its gang was ever whole.
  Instant granted{};
  Instant said{};  ///< The last time: a RM that recovers its books says it again.
  // The user process that lives in it:
  bool process = false;
  bool training = false;  ///< It is of a type that trains.
  Epoch epoch;
  std::optional<TaskId> task;                ///< Whose agent is in it.
  std::optional<TaskAttempt> start_ordered;  ///< The latest that the AM ordered to start in it.
  std::int32_t port = 0;  ///< That its agent was given on its node; 0 = none is held.
  ContainerLimits limits;
};

/// One AM process.
struct AmAttemptBook {
  std::int32_t attempt = 0;
  bool registered = false;
  bool known_to_rm = false;     ///< It was told so in place of the answer to its registration.
  bool unregistered = false;    ///< The RM has confirmed the final status.
  bool superseded_now = false;  ///< A later attempt has registered.
  CallId learns_from;           ///< An answer to an earlier call may be older than that.
  bool called_since = false;    ///< With news, since then.
  /// The RM's first answer to a later call: it could have learned.
  std::optional<Instant> superseded;
  std::set<std::string> excluded;  ///< Host names that it put on the RM's blacklist.
  /// Outstanding asks for anywhere, as last said and answered: (priority, allocation request id) ->
  /// number.
  std::map<std::pair<std::int32_t, std::int64_t>, std::int32_t> asks;
  std::deque<Instant> allocates;  ///< The latest ones.
  std::map<CallId, bool> finish_calls;
  // What waits for an append is announced when that is answered, and may have been decided while
  // the append before it was under way.
  JournalSeq appended;
  Instant append_ordered{}, append_answered = Instant::min();
  Instant open_from{}, decided_from{};  ///< By the append under way; by the one answered last.
  Instant stored_from{};                ///< What is not announced yet was decided from then on.
};

/// A restart that was paid.
struct Payment {
  Instant told{};
  Instant decided_from{};  ///< It was decided then or later.
};

/// What is known of a task for the verdict: its latest attempt.
struct TaskBook {
  std::optional<TaskAttempt> attempt;
  ContainerId container;  ///< Of its end: one that is lost before a process runs has no attempt.
  bool running = false;
  bool ended = false;
  Instant ended_at{};
  std::uint64_t ended_as = 0;        ///< How many ends of the application's were recorded by then.
  bool restarts = false;             ///< A restart was decided after its end, or stopped it, ...
  Instant restart_cause_at{};        ///< ... for something that happened then.
  bool registered = false;           ///< An AM has ever accepted an agent of it.
  std::int32_t registered_with = 0;  ///< The AM's attempt, the last time.
  std::int32_t paid_in_a_row = 0;    ///< Restarts paid for it since a process of its last ran.
  std::optional<std::int32_t> exit;
  ExitClass exit_class = ExitClass::kUnknown;
  bool unreachable_peer = false;  ///< Its last error says so, perhaps of no peer of this job.
  std::size_t am_attempts = 0;    ///< As many had begun when its end was recorded, ...
  std::int32_t recorded_by = 0;   ///< ... by this one: two of them may act for a while.
  /// A better account came later; until then it was `first`.
  struct {
    std::optional<std::int32_t> exit;
    ExitClass exit_class = ExitClass::kUnknown;
  } first;
  Instant amended_at{};
  std::uint64_t amended_as = 0;  ///< Counted with the ends.
};

/// What is known of a task's processes from the nodes they ran on, whatever the AM says of them.
struct ProcessBook {
  std::int32_t starts = 0;
  std::int32_t restarts = 0;  ///< Announced decisions that start it again.
  std::optional<TaskAttempt> attempt;
  std::optional<std::int32_t> exit;  ///< Of that attempt, as its parent saw it.
  std::int32_t told = 0;             ///< The latest AM attempt that its agent has told of it.
};

/// One application of a job: what is asked of it once.
struct ApplicationBook {
  ApplicationId id;
  bool led = false;                          ///< An AM of it has started, whose records have ...
  std::optional<std::int32_t> resubmission;  ///< ... this.
  std::vector<AmAttemptBook> attempts;
  std::optional<Duration> clock;  ///< Of its first AM, against the simulation's.
  /// A later AM had another clock: what it reads in the journal it takes for earlier, or later.
  bool clocks_differ = false;
  std::map<Epoch, SpecId> specs;
  std::int32_t held = 0;    ///< As JobBook's, of this application.
  bool taken_back = false;  ///< An AM has stored something since a later one registered.
  bool gang_complete = false;
  bool epoch_appended = false;     ///< An AM has given HDFS an entry that an epoch begins.
  bool short_again = false;        ///< One of a first gang was lost, as the AM has decided on.
  bool gang_was_complete = false;  ///< Once, and some of its containers are held still.
  std::optional<Instant> partial_since;  ///< Some but not all of the first gang held.
  std::optional<JobStatus> verdict;
  Instant verdict_at{};
  std::optional<yarn::FinalApplicationStatus> final_status;  ///< As the AM said it.
  std::optional<Instant> ended;
  bool final_taken = false;  ///< The RM has answered that: it has it.
  std::optional<yarn::FinalApplicationStatus> rm_status;
  std::deque<Payment> paid_user;
  std::deque<Payment> paid_infrastructure;
  std::int64_t restarts_paid = 0;
  std::int32_t restarts_told = 0;            ///< Decisions of all payers.
  std::uint64_t ends = 0;                    ///< Of tasks, as recorded.
  std::map<TaskId, std::int32_t> hung_paid;  ///< Restarts paid because a task hung.
  std::map<TaskId, TaskBook> tasks;
  std::map<TaskId, ProcessBook> processes;
  ApplicationLimits limits;
  Evidence evidence;
};

struct JobBook {
  trace::JobIndex index;
  std::shared_ptr<const JobSpec>
      spec;  ///< Null when JobSubmitted was not called: checks that need it are skipped.
  std::string name;
  std::string queue;
  Instant created{};
  bool ended = false;  ///< The client has said JobEnded.
  bool left = false;   ///< Counted out of its queue.
  std::optional<JobStatus> status;
  bool kill_wanted = false;
  bool kill_asked = false;  ///< By its user.
  CallId client_asked;      ///< Its client's last call ...
  CallId client_heard;      ///< ... and the last poll that it took an answer to.
  std::vector<ApplicationBook> applications;
  std::size_t acting = 0;  ///< See Acting.
  std::vector<ContainerId> containers;
  std::int32_t held = 0;  ///< Containers granted and not freed, the AM's apart.
  std::int32_t gang_size =
      0;  ///< Tasks that must hold a container before a training process may start.
  /// Tasks of which a process must run before the job does: also those that start when others run.
  std::int32_t running_size = 0;
  std::map<Epoch, std::int32_t> training_processes;  ///< Living ones.
  trace::TrainingPhase phase = trace::TrainingPhase::kIdle;
  Instant last_event{};
  bool progress_reported = false;
  bool may_stand_still = false;  ///< The scenario makes its processes hang or wait for ever.
};

struct QueueBook {
  std::int64_t jobs = 0;
  Instant since{};
  Area area = 0;     ///< Of jobs in the system over time ...
  Area sojourn = 0;  ///< ... and the sum of the times each was in it.
};

/// Times from the scenario that bounds are made of.
struct CheckerTimes {
  Duration nm_heartbeat{};
  Duration nm_expiry{};
  Duration am_expiry{};
  Duration container_expiry{};
  Duration sigkill_delay{};
};

class Checkers::Books {
 public:
  explicit Books(const config::Scenario& scenario);

  void Observe(const trace::TraceRecord& record);
  void ObserveReference(const trace::TraceRecord& record);
  static void CollectAnew(ApplicationBook& application);
  void ObserveDurable(const trace::TraceRecord& record);
  void ObserveRepeats(const trace::TraceRecord& record);
  void ObserveConduct(const trace::TraceRecord& record);

  // ---- checkers.cc
  [[nodiscard]] bool on(Invariant invariant) const {
    return !off_[static_cast<std::size_t>(invariant)];
  }
  /// Counts one check; returns whether the invariant is on at all.
  bool Checks(Invariant invariant);
  void Report(Invariant invariant, std::string detail);
  [[nodiscard]] JobBook* JobOf(trace::JobIndex job);
  [[nodiscard]] ContainerBook* ContainerOf(const ContainerId& id);
  [[nodiscard]] ApplicationBook& ApplicationOf(JobBook& job, const ApplicationId& id);
  /// That whose AM the record under way is of, else the one whose AM was the last to start.
  [[nodiscard]] ApplicationBook& Acting(JobBook& job);
  /// Its AM's fact is under way: a job that is submitted again has its next application before the
  /// AM of the one before has heard that it is unregistered. Returns who acted before.
  std::size_t LetAct(JobBook& job, std::optional<std::int32_t> resubmission);
  [[nodiscard]] AmAttemptBook& AttemptOf(JobBook& job, std::int32_t attempt);
  [[nodiscard]] std::uint32_t NodeIndex(const NodeId& node);
  /// No fault that reaches beyond single nodes and containers is under way, or began or ended in
  /// the last `quiet`.
  [[nodiscard]] bool Undisturbed(Duration quiet) const;
  void WideFaultChanges(std::uint32_t fault);
  [[nodiscard]] std::string NameOf(const JobBook& job) const;

  // ---- checkers_containers.cc: capacity, one-owner, released-once, gang-start, gpu-seconds
  void On(const trace::NodeDeclared& fact);
  void On(const trace::NodePower& fact);
  void On(const trace::ContainerGranted& fact);
  void On(const trace::ContainerFreed& fact);
  void On(const trace::ContainerLocalizing& fact);
  void On(const trace::ContainerLaunched& fact);
  void On(const trace::ContainerGone& fact);
  void CheckCapacity(const NodeBook& node, const trace::ContainerGranted& fact);
  [[nodiscard]] Resource KnownToRm(const NodeBook& node) const;
  [[nodiscard]] bool ComesBack(const ContainerBook& known) const;
  [[nodiscard]] bool OutOfReach(const ContainerBook& container) const;
  void Allocated(ContainerBook& container, const trace::ContainerGranted& fact);
  [[nodiscard]] static std::int64_t GangLeft(const JobBook& job,
                                             const ApplicationBook& application);
  [[nodiscard]] bool HoldsGang(const JobBook& job, const ApplicationBook& application) const;
  [[nodiscard]] std::optional<Instant> PartOfGangSince(const JobBook& job,
                                                       const ApplicationBook& application) const;
  void HeldChanged(JobBook& job);
  void ScanContainers(const WorldView& world);
  [[nodiscard]] bool MayBeUnnoticed(const NodeBook& node, Duration allowed) const;
  [[nodiscard]] bool DiesWithItsNode(const JobBook& job, Duration allowed);
  void SettleContainers(JobBook& job, const std::vector<std::string>& remains);

  // ---- checkers_processes.cc: gang-start, one-spec, own-address, one-owner, after-final
  void On(const trace::AgentTold& fact);
  void On(const trace::AgentOrdered& fact);
  void ProcessStarts(JobBook& job, ContainerBook& container, const ContainerId& id,
                     const SpawnProcess& spawn);
  void ProcessEnds(ContainerBook& container);
  void CountOut(JobBook& job, ContainerBook& container);
  void CheckStartIsPaid(const JobBook& job, ApplicationBook& application,
                        const SpawnProcess& spawn);
  void OrdersStart(JobBook& job, const StartProcess& start);
  void CheckGangStart(const JobBook& job, const ApplicationBook& application, const TaskId& task);
  void LooksForEpoch(JobBook& job, const AppendJournal& append);
  [[nodiscard]] bool LaunchesAlone(JobBook& job, const ContainerBook& container);
  void CheckLaunchedBeside(const JobBook& job, const ContainerBook& container, const TaskId& task);
  void CheckOwnAddress(const JobBook& job, const ContainerBook& container,
                       const SpawnProcess& spawn);
  void CheckSpec(JobBook& job, ApplicationBook& application, Epoch epoch, SpecId spec);
  void CheckOneEpoch(JobBook& job, const SpawnProcess& spawn);
  void ScanProcesses(const WorldView& world);

  // ---- checkers_am.cc: one-attempt, final-once, after-final, budgets, excluded-nodes,
  // good-citizen
  void On(const trace::AmTold& fact);
  void On(const trace::AmOrdered& fact);
  void Told(JobBook& job, const trace::AmTold& fact);
  void Ordered(JobBook& job, const trace::AmOrdered& fact);
  void On(const trace::ClientTold& fact);
  void On(const trace::ClientOrdered& fact);
  void On(const trace::ApplicationEnded& fact);
  void RmAnswered(JobBook& job, AmAttemptBook& attempt, const RmReplied& reply);
  void Allocates(JobBook& job, AmAttemptBook& attempt, const yarn::AllocateRequest& request);
  void CheckWanted(const JobBook& job, const AmAttemptBook& attempt);
  void CheckAsk(const JobBook& job, AmAttemptBook& attempt, const yarn::ResourceRequest& row);
  void Finishes(JobBook& job, const yarn::FinishApplicationMasterRequest& request);
  void CheckEnd(const JobBook& job, const ApplicationBook& application, JobStatus status);
  void Acts(JobBook& job, AmAttemptBook& attempt, std::string_view what);
  void Restarts(JobBook& job, const RestartDecided& decision, Instant decided_from);
  void TakesOver(JobBook& job, const RestartTakenOver& over);
  void Pays(const JobBook& job, std::deque<Payment>& paid, Instant decided_from,
            std::int32_t allowed, std::string_view budget);
  void VerdictIs(JobBook& job, const VerdictReached& verdict);

  // ---- checkers_verdict.cc: verdict
  bool IsItsTask(const JobBook& job, const TaskId& task);
  void RecordAttempt(JobBook& job, const TaskAttemptStarted& started);
  void RecordAttempt(JobBook& job, const TaskAttemptEnded& ended, std::int32_t am_attempt);
  void CheckExit(JobBook& job, const TaskAttemptEnded& ended, std::int32_t am_attempt);
  void HearsOfExit(JobBook& job, const AgentToAm& message, std::int32_t am_attempt);
  void RefusesWordOf(JobBook& job, const AgentRefused& refused);
  void CheckVerdict(JobBook& job, const ApplicationBook& application,
                    const VerdictReached& verdict);

  // ---- checkers_cause.cc: rule-matches-cause
  [[nodiscard]] std::string CauseMismatch(const JobBook& job, const ApplicationBook& application,
                                          const Cause& cause) const;
  void CheckRule(const JobBook& job, const ApplicationBook& application,
                 const VerdictReached& verdict);
  void CheckPayer(const JobBook& job, const ApplicationBook& application,
                  const RestartDecided& decision);

  // ---- checkers_limits.cc, checkers_limits_early.cc: limits-kept
  /// "deadlines.stop of 15s".
  [[nodiscard]] static std::string Over(std::string_view name, Duration limit);
  void Expect(Limit limit, Instant at, trace::JobIndex job, const ContainerId& container);
  /// Judges what was due before `until`.
  void PassLimits(Instant until);
  [[nodiscard]] std::optional<Instant> HeldUp() const;
  [[nodiscard]] std::optional<Instant> JudgeLimit(JobBook& job, const Due& due);
  [[nodiscard]] std::string LimitBroken(JobBook& job, const ApplicationBook& application,
                                        const Due& due, std::optional<Instant>& not_before);
  [[nodiscard]] static std::ptrdiff_t AmsOf(const ApplicationBook& application);
  [[nodiscard]] std::string AmStartBroken(const JobBook& job, const Due& due);
  void LimitsOf(const ContainerId& id, const ContainerBook& container);
  void LimitsOfEnd(const ContainerId& id, const ContainerBook& container);
  void LimitsOfLaunch(const JobBook& job, ContainerBook& container, const ContainerId& id);
  void LimitsWithoutAm(JobBook& job, ApplicationBook& application);
  [[nodiscard]] bool AmIsImpeded() const;
  void LimitsOfAm(const JobBook& job, ApplicationBook& application, std::int32_t attempt);
  void LimitsOfTraining(const JobBook& job, ApplicationBook& application);
  void LimitsOfGang(JobBook& job);
  void LimitsOfAsk(JobBook& job, const yarn::AllocateRequest& request);
  void LimitsOfStart(JobBook& job, ApplicationBook& application, const ContainerId& id,
                     ContainerBook& container, const SpawnProcess& spawn);
  void LimitsOfPower(std::uint32_t node);
  void ExpectsStall(const JobBook& job, const ContainerId& id, ContainerBook& container);
  void LimitsOfVerdict(JobBook& job, const ApplicationBook& application);
  void LimitsOfPayment(const JobBook& job, ApplicationBook& application);
  void CheckExpiredEarly(const JobBook& job, const ContainerId& id, const ContainerBook& container,
                         std::int32_t exit_status);
  void ToldToEnd(ContainerBook& container, Duration grace);
  void Terminates(const JobBook& job, const ContainerId& id, ContainerBook& container);
  void CheckKill(const JobBook& job, const ContainerId& id, ContainerBook& container);
  void LimitsToldAgent(const JobBook& job, const ContainerId& id, ContainerBook& container,
                       const AgentEvent& event);
  void LimitsOrderedByAgent(const JobBook& job, const ContainerId& id, ContainerBook& container,
                            const AgentAction& action);
  void CheckGrace(const JobBook& job, const SendToAgent& send);
  void CheckGivenUp(const JobBook& job, const TaskAttemptEnded& ended);
  void LimitsOfAttemptEnd(const JobBook& job, ApplicationBook& application,
                          const TaskAttemptEnded& ended);
  void LimitsOfFirstRuns(const JobBook& job, ApplicationLimits& limits) const;
  void CheckMailRead(const JobBook& job, const TaskAttemptEnded& ended, Instant launched);
  void CheckDeadlineVerdict(const JobBook& job, const ApplicationBook& application,
                            const VerdictReached& verdict);
  void CheckClientGivesUp(const JobBook& job);

  // ---- checkers_balance.cc: progress, quiescence, littles-law, gpu-seconds
  void On(const trace::JobCreated& fact);
  void On(const trace::TrainingPhaseChanged& fact);
  void On(const trace::FaultBegan& fact);
  void On(const trace::FaultEnded& fact);
  void JobLeaves(JobBook& job);
  void PlanFaults(const config::Scenario& scenario);
  [[nodiscard]] bool AsksForMore(JobBook& job);
  void ExpectProgress(const JobBook& job);
  [[nodiscard]] std::optional<Instant> JudgeProgress(JobBook& job);
  [[nodiscard]] Duration ProgressBound(const JobBook& job) const;
  void Settle(Instant now, trace::JobIndex job, const WorldView& world);
  void Finish(Instant now, trace::StopReason reason);

  Instant now_{};
  std::vector<Violation> fresh_;
  std::array<trace::InvariantResult, kInvariantCount> results_;
  std::array<bool, kInvariantCount> off_{};

  CheckerTimes times_;
  Duration hdfs_slowed_{};  ///< Where faults slow it down: how long a few calls may take.
  std::vector<NodeBook> nodes_;
  std::map<NodeId, std::uint32_t> node_index_;
  boost::unordered_flat_map<ContainerId, ContainerBook> containers_;
  std::map<std::uint32_t, JobBook> jobs_;
  std::map<std::uint32_t, std::shared_ptr<const JobSpec>>
      specs_;  ///< Of jobs that are about to be created.
  std::map<std::string, QueueBook> queues_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> faults_under_way_;
  std::set<std::pair<std::uint32_t, std::uint32_t>>
      nm_restarts_;                      ///< Of these those of NodeManagers.
  std::optional<Instant> nm_restarted_;  ///< One of them ended.
  std::vector<bool> fault_lasts_;  ///< By fault: from its beginning to an end that the trace shows,
                                   ///< or to the run's.
  std::vector<Duration> fault_delays_;        ///< By fault: of each message.
  std::map<std::string, AmSleep> am_sleeps_;  ///< The latest, by AM.
  std::optional<Instant> last_fault_change_;
  std::set<std::pair<std::uint32_t, std::uint32_t>>
      wide_faults_under_way_;                      ///< Those that reach beyond single nodes.
  std::optional<Instant> last_wide_fault_change_;  ///< Or the end of what it delays.
  std::optional<Instant> rm_restarted_;            ///< The last time that it lost its books.
  /// Faults that keep it from answering, with when they began.
  std::map<std::pair<std::uint32_t, std::uint32_t>, Instant> rm_away_;
  std::map<std::string, bool>
      stands_still_;  ///< By job name or arrival prefix: see JobBook::may_stand_still.

  bool lossy_ = false;  ///< Messages get lost by chance: nothing need be done by an instant.
  std::priority_queue<Due, std::vector<Due>, std::greater<>> dues_;

  DurableWatch durable_;                 ///< durable-before-visible.
  RepeatWatch repeats_;                  ///< said-again.
  ConductWatch conduct_;                 ///< See checkers_conduct.h.
  oracles::ReferenceVerdict reference_;  ///< reference-verdict: the other reading of policies.md.

  // gpu-seconds: use over time by node, and by container.
  Instant gpus_since_{};
  std::int64_t gpus_used_ = 0;
  Area gpu_area_ = 0;
  Area gpu_of_containers_ = 0;
};

}  // namespace tfyarn::sim
