// The TaskAgent: the machine inside every task's container.
//
// It holds a port for its task, registers with the AM, starts and ends the task's process on the
// AM's orders, reports how it ended, and ends process and container when no AM owns them any
// more. It decides nothing about the job. It does no I/O and knows no clock: AgentHost, or the
// simulator, carries out its actions and tells it events.
//
// Its state is four regions that change independently: the port, the link to the AM, the process,
// and the agent's own life. task_agent.cc has their transition tables, as data that every change of
// state is checked against.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/model/agent.h"
#include "core/model/describe.h"
#include "core/model/job_spec.h"
#include "core/model/random_stream.h"
#include "core/model/time.h"
#include "core/model/transition.h"

namespace tfyarn::agent {

enum class PortState {
  kNone,     ///< Not asked for yet.
  kLeasing,  ///< LeasePort is out.
  kWaiting,  ///< The last try failed; the next one has its time.
  kLeased,
};
BOOST_DESCRIBE_ENUM(PortState, kNone, kLeasing, kWaiting, kLeased)

enum class LinkState {
  kClosed,       ///< No address to register yet.
  kRegistering,  ///< RegisterAgent is repeated.
  kConnected,    ///< Accepted by the AM attempt it knows.
  kSearching,    ///< Hears no AM: looks for a newer attempt's address, and still tries the one it
                 ///< knows.
};
BOOST_DESCRIBE_ENUM(LinkState, kClosed, kRegistering, kConnected, kSearching)

enum class ProcessState {
  kNone,      ///< None, or the last one has ended.
  kSpawning,  ///< SpawnProcess is out.
  kRunning,
  kStopping,  ///< SIGTERM was sent; SIGKILL has its time.
  kKilled,    ///< SIGKILL was sent.
};
BOOST_DESCRIBE_ENUM(ProcessState, kNone, kSpawning, kRunning, kStopping, kKilled)

enum class LifeState {
  kNew,  ///< AgentStarted has not come.
  kServing,
  kLeaving,  ///< Ends its process, reports that, and exits.
  kExited,   ///< Terminal.
};
BOOST_DESCRIBE_ENUM(LifeState, kNew, kServing, kLeaving, kExited)

/// What changes a state: the words of the transition tables.
enum class AgentTrigger {
  kAgentStarted,
  kPortLeased,
  kPortLeaseFailed,  ///< An answer to LeasePort, or a lease lost before any process used it.
  kLeaseRetryDue,
  kPortConflict,  ///< A process found its port taken.
  kAgentAccepted,
  kAgentRefused,
  kAmSilent,  ///< Three answers are missing.
  kAmHeard,
  kAmVouched,  ///< The host answers for the AM.
  kNewerAmFound,
  kStartOrdered,
  kProcessSpawned,
  kSpawnFailed,
  kStopOrdered,
  kReplaced,  ///< A newer attempt was ordered while this one lives.
  kAgentLeaving,
  kGraceOver,
  kProcessExited,
  kEndOrdered,
  kTerminationRequested,
  kAmLost,       ///< No AM heard of for deadlines.orphan.
  kNoPort,       ///< No port could be leased for too long.
  kNothingLeft,  ///< No process, and its end reported or given up.
};
BOOST_DESCRIBE_ENUM(AgentTrigger, kAgentStarted, kPortLeased, kPortLeaseFailed, kLeaseRetryDue,
                    kPortConflict, kAgentAccepted, kAgentRefused, kAmSilent, kAmHeard, kAmVouched,
                    kNewerAmFound, kStartOrdered, kProcessSpawned, kSpawnFailed, kStopOrdered,
                    kReplaced, kAgentLeaving, kGraceOver, kProcessExited, kEndOrdered,
                    kTerminationRequested, kAmLost, kNoPort, kNothingLeft)

/// What callers may see of an agent.
struct AgentSnapshot {
  LifeState life = LifeState::kNew;
  PortState port = PortState::kNone;
  LinkState link = LinkState::kClosed;
  ProcessState process_state = ProcessState::kNone;
  AgentFence fence;
  HostPort address;             ///< Port 0 while none is leased.
  std::int32_t am_attempt = 0;  ///< The newest AM attempt it knows of.
  HostPort am_address;
  bool accepted = false;              ///< By that attempt.
  bool vouched = false;               ///< The host answers for the AM being alive.
  Instant last_heard{};               ///< Of any AM; the start, before.
  std::optional<ProcessRef> process;  ///< The newest one it knows of, running or not.
  std::uint32_t unseen_reports = 0;   ///< Reports without an answer.
  std::int32_t exit_code = 0;         ///< In kExited.
};
BOOST_DESCRIBE_STRUCT(AgentSnapshot, (),
                      (life, port, link, process_state, fence, address, am_attempt, am_address,
                       accepted, vouched, last_heard, process, unseen_reports, exit_code))

/// Every change of state there is, in the order of the regions.
[[nodiscard]] const std::vector<Transition>& TaskAgentTransitions();

class TaskAgent {
 public:
  /// `job`: not null. `seed`: of the jitter with which it looks for a new AM.
  TaskAgent(std::shared_ptr<const JobSpec> job, std::uint64_t seed);

  /// Advances by one event. Appends what the host must do, in this order. `now` never goes back.
  /// The first event is AgentStarted. After ExitAgent every event is ignored.
  void Step(Instant now, const AgentEvent& event, std::vector<AgentAction>& actions);
  /// When the host must step with DeadlineReached at the latest; nullopt = nothing pending.
  [[nodiscard]] std::optional<Instant> next_deadline() const;
  /// The next deadline at which it would do more than repeat an idle heartbeat. A heartbeat to an
  /// AM that it hears nothing of is a question, not idle.
  [[nodiscard]] std::optional<Instant> next_decision() const;
  [[nodiscard]] const AgentSnapshot& snapshot() const { return state_; }

 private:
  using Actions = std::vector<AgentAction>;

  /// A report that the AM has not answered.
  struct Report {
    ReportKind kind = ReportKind::kProcessRunning;
    TaskAttempt attempt;
    std::uint32_t number = 0;  ///< 0: answered by ReportSeen; else by NewsSeen.
    AgentToAm message;
    Instant next{};  ///< When it is said again.
  };

  void On(Instant now, const AgentStarted& event, Actions& actions);
  void On(Instant now, const PortLeased& event, Actions& actions);
  void On(Instant now, const PortLeaseFailed& event, Actions& actions);
  void On(Instant now, const AmSaid& event, Actions& actions);
  void On(Instant now, const AmAddressRead& event, Actions& actions);
  void On(Instant now, const ProcessSpawned& event, Actions& actions);
  void On(Instant now, const SpawnFailed& event, Actions& actions);
  void On(Instant now, const ProcessExited& event, Actions& actions);
  void On(Instant now, const ProgressSeen& event, Actions& actions);
  void On(Instant now, const ProcessSignsSeen& event, Actions& actions);
  void On(Instant now, const PortUseSeen& event, Actions& actions);
  void On(Instant now, const TerminationRequested& event, Actions& actions);
  void On(Instant now, const DeadlineReached& event, Actions& actions);
  void On(Instant now, const HeartbeatsElided& event, Actions& actions);
  void On(Instant now, const PeerVouched& event, Actions& actions);

  void Obey(Instant now, const AgentAccepted& order, Actions& actions);
  void Obey(Instant now, const AgentRefused& order, Actions& actions);
  void Obey(Instant now, const HeartbeatSeen& order, Actions& actions);
  void Obey(Instant now, const ReportSeen& order, Actions& actions);
  void Obey(Instant now, const StartProcess& order, Actions& actions);
  void Obey(Instant now, const StopProcess& order, Actions& actions);
  void Obey(Instant now, const WarnProcess& order, Actions& actions);
  void Obey(Instant now, const EndAgent& order, Actions& actions);
  void Obey(Instant now, const ShowStacks& order, Actions& actions);
  void DropAnswered(const AmToAgent& message);
  void Obey(Instant now, const NewsSeen& order, Actions& actions);

  void Move(PortState to, AgentTrigger trigger);
  void Move(LinkState to, AgentTrigger trigger);
  void Move(ProcessState to, AgentTrigger trigger);
  void Move(LifeState to, AgentTrigger trigger);

  void LeaseAgain(Instant now, AgentTrigger trigger, Actions& actions);
  void Heard(Instant now, Actions& actions);
  void Register(Instant now, Actions& actions);
  void StartLooking(Instant now, Actions& actions);
  void LookForAm(Instant now, Actions& actions);
  void StopLooking();
  void Send(AgentToAm message, Actions& actions) const;

  void AddReport(Instant now, ReportKind kind, TaskAttempt attempt, AgentToAm message,
                 Actions& actions, std::uint32_t number = 0);
  /// Of something that changes again: takes the place of an older one of its kind.
  template <class Message>
  void AddNews(Instant now, ReportKind kind, TaskAttempt attempt, Message message,
               Actions& actions);
  [[nodiscard]] static bool TellsHowItWas(const Report& report, const ProcessSigns& now);
  void DropReports(ReportKind kind);
  void SayReports(Instant now, Actions& actions);
  void ReportRunning(Instant now, Actions& actions);
  void ReportAddress(Instant now, Actions& actions);
  void ReportStall(Instant now, Actions& actions);
  void ReportEnd(Instant now, ProcessEnded end, Actions& actions);
  void ReportNeverRan(Instant now, ProcessRef process, Actions& actions);
  void RepeatStateOf(Instant now, TaskAttempt attempt, Actions& actions);
  [[nodiscard]] bool IsUnseen(ReportKind kind, TaskAttempt attempt) const;

  void SpawnPending(Instant now, Actions& actions);
  void ProcessGone(Instant now, AgentTrigger trigger, ProcessEnded end, Actions& actions);
  void StopRunning(Instant now, Duration grace, bool on_order, AgentTrigger trigger,
                   Actions& actions);
  void Wake(Instant now, Actions& actions);
  void TellSigns(Instant now, Actions& actions);
  [[nodiscard]] std::optional<PastStandstill> StoodStill(Instant now) const;
  void TellPort(Instant now, Actions& actions);
  void Leave(Instant now, Duration grace, bool on_order, AgentTrigger trigger, std::string reason,
             Actions& actions);
  void ExitIfDone(Instant now, Actions& actions);
  void Exit(Actions& actions);

  void TakeProcessTimers(Instant now, Actions& actions);
  void TakeLinkTimers(Instant now, Actions& actions);

  [[nodiscard]] bool has_process() const { return state_.process_state != ProcessState::kNone; }
  [[nodiscard]] bool serving() const { return state_.life == LifeState::kServing; }
  [[nodiscard]] bool LivesAs(TaskAttempt attempt) const;
  [[nodiscard]] bool HasWrongAddress(const StartProcess& order) const;
  [[nodiscard]] std::optional<Instant> silence_deadline() const;
  [[nodiscard]] std::optional<Instant> orphan_deadline() const;
  [[nodiscard]] std::optional<Instant> stall_deadline() const;
  [[nodiscard]] std::optional<Instant> standstill_deadline() const;
  [[nodiscard]] std::optional<Instant> next_report() const;

  /// What is to be seen of the living process.
  struct Signs {
    Standstill standstill = Standstill::kNone;
    bool catches_term = false;
    friend bool operator==(const Signs&, const Signs&) = default;
  };

  /// A standstill of a process that an AM was told of.
  struct ToldStandstill {
    ProcessRef process;
    Standstill standstill = Standstill::kNone;
    std::optional<Instant> until;  ///< Unset while it lasts, or when it lasted until the end.
  };

  /// A stop that was wanted before the process was seen running.
  struct EarlyStop {
    Duration grace{};
    bool on_order = false;
    AgentTrigger trigger = AgentTrigger::kStopOrdered;
  };

  std::shared_ptr<const JobSpec> job_;
  RandomStream jitter_;
  AgentSnapshot state_;

  std::optional<Instant> next_lease_;     ///< In PortState::kWaiting.
  std::optional<Instant> lease_give_up_;  ///< While no port is leased.
  Duration lease_wait_{};
  /// The address that every registration with this AM has told; unset when they differ.
  std::optional<HostPort> registered_as_;
  bool registered_before_ = false;  ///< An AM was told an address: another one is AddressChanged.

  std::optional<Instant> next_heartbeat_;  ///< While accepted.
  std::optional<Instant> next_register_;   ///< While the known AM attempt has not accepted it.
  Duration register_wait_{};
  std::optional<Instant> next_look_;  ///< In LinkState::kSearching.
  Duration look_wait_{};
  std::vector<Report> reports_;    ///< In the order they were made.
  std::uint32_t last_number_ = 0;  ///< Of reports that tell news.

  std::optional<ProcessRef> newest_;      ///< The newest attempt ordered to start or to stop.
  std::optional<StartProcess> pending_;   ///< Waits for an older process to end, or for a port.
  std::optional<EarlyStop> early_stop_;   ///< In ProcessState::kSpawning.
  std::optional<Instant> kill_at_;        ///< In ProcessState::kStopping.
  std::optional<Instant> warned_at_;      ///< The living process was sent SIGTERM as a warning.
  bool stopped_on_order_ = false;         ///< The living process was signalled on the AM's order.
  std::optional<ProcessEnded> last_end_;  ///< How the newest ended attempt ended.
  std::optional<Instant> last_progress_;  ///< Of the living process, when it is watched.
  bool stall_reported_ = false;
  Signs signs_;
  Signs signs_told_;                     ///< To the AM that it knows.
  std::optional<Instant> stands_since_;  ///< While signs_ has a standstill.
  std::optional<ToldStandstill> told_standstill_;
  bool should_listen_ = false;  ///< The living process; see ShouldListen.
  Instant spawned_at_{};
  std::optional<PortUse> port_use_;        ///< As last seen.
  std::optional<PortListener> port_told_;  ///< To the AM that it knows.

  std::optional<Instant> exit_at_;  ///< Leaving, and only waits for its last report to be seen.
  std::string exit_reason_;
};

}  // namespace tfyarn::agent
