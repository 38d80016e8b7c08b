// What happened in a run, and what of it each ApplicationMaster has heard: the evidence that the
// reference model judges by. From the trace: ends of processes as their parents saw them, ends of
// containers as YARN said them, orders, faults, and the messages that reached the AM. What the AM
// says of itself is not evidence.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/trace/record.h"
#include "oracles/policy_rows.h"

namespace tfyarn::oracles {

/// The source that tells of an end, the best first.
enum class Source { kOurOrder, kYarn, kAgent, kDeadline, kContainer, kSilence, kNone };

/// Position of a record in the run, from 1; 0: it has not come.
using Moment = std::uint64_t;

struct Account {
  ContainerId container;
  std::optional<TaskAttempt> attempt;  ///< Empty: of the container.
  Source source = Source::kAgent;
  Classes classes = 0;
  Classes otherwise = 0;  ///< For an AM that does not know that its container was given back.
  std::int32_t exit = 0;
  Moment happened = 0;
  Moment told = 0;
  Instant told_at{};
  std::int32_t told_attempt = 0;  ///< To which application attempt.
  bool spent = false;             ///< The task starts again since, ...
  bool absorbed = false;       ///< ... but this success may have come before that was carried out.
  bool after_success = false;  ///< Spent only because the process had ended well.
  /// Spent for the sake of another task, and heard when that was decided, or later.
  bool taken_along = false;
  bool leaves = false;           ///< Its agent has told that it goes, and its container with it.
  bool obeyed = false;           ///< Its agent has told that it had stopped it.
  bool killed_on_order = false;  ///< By SIGKILL, when it was to end, as its agent has told.
  /// The AM has heard of it, and it is still to be decided on.
  [[nodiscard]] bool IsOpen() const { return (told != 0 || early) && !spent; }
  bool answered = false;      ///< A restart of the task was decided after it happened.
  bool seen = false;          ///< The AM has answered it: what it leads to is stored.
  bool early = false;         ///< A failure that came with a registration: its report is to follow.
  bool perhaps_moot = false;  ///< It may have come too late to change anything.
  /// The journal of an earlier attempt has it; or may have it, as an append was under way.
  bool stored = false, stored_perhaps = false;
  Moment first_told = 0;  ///< To the attempt that wrote it down, or the latest.
  std::string last_words;
};

struct Task {
  TaskId id;
  TaskClass role = TaskClass::kTracked;
  bool chief = false;
  bool in_gang = false;
  bool begins = false;                   ///< With the gang: nothing in `depends` holds it back.
  bool waits_for_runs = false;           ///< Until all of another type run.
  std::optional<ContainerId> container;  ///< The latest that was to be launched for it.
  NodeId node;                           ///< Where that was.
  bool node_lost = false;                ///< The AM was told so since.
  Instant launch_ordered{};
  std::optional<ContainerId> ran_in;               ///< The latest process.
  std::optional<ContainerId> given_up;             ///< Its agent was silent for too long.
  std::optional<ContainerId> turned_away;          ///< Whose agent the AM has refused.
  std::optional<ContainerId> restarted_on_notice;  ///< Marked by YARN when that was decided.
  std::optional<ContainerId> refused;              ///< Its node took it for one of an earlier RM.
  bool launch_failed = false;         ///< Its node has said that it does not start the latest, ...
  std::int32_t unanswered = 0;        ///< ... or so many calls to start it were in vain.
  std::int32_t refused_in_a_row = 0;  ///< Its containers, since one of its agents was heard.
  bool decided = false;               ///< A restart of it, since its latest launch.
  bool free_again = false;            ///< Its latest launch follows too many that were refused.
  bool let_go = false;                ///< The AM gave the gang back, while no process ran in it.
  bool registered = false;            ///< The agent in it was heard of, ...
  Moment registered_at = 0;           ///< ... first then.
  bool came_late = false;   ///< It found the latest AM when `deadlines.registration` was over.
  bool was_silent = false;  ///< When a better account came, or for an earlier AM.
  Instant heard{};
  Instant silent_until{};  ///< It was heard then, after a silence that is one too long.
  bool spawned = false;    ///< A process ever ran.
  Moment spawned_at = 0;
  Instant spawned_when{};
  bool runs = false;
  bool heard_to_run = false;           ///< The AM was told so of any attempt.
  Moment runs_told = 0;                ///< The AM was told so, of the latest that was spawned.
  TaskAttempt attempt;                 ///< The latest that was spawned, and ...
  std::optional<TaskAttempt> settled;  ///< ... up to which a restart has been decided.
  std::optional<TaskAttempt> ordered;  ///< The latest that the AM ordered to start, ...
  Moment ordered_at = 0;               ///< ... first then.
  Instant ordered_when{};
  bool perhaps_ordered = false;  ///< An AM before may have stored an order that it never gave.
  /// A restart of the latest that was spawned has been decided; a later order may never have
  /// arrived.
  [[nodiscard]] bool IsSettled() const { return settled && *settled >= attempt; }
  /// It was ordered to start, and has not been seen to.
  [[nodiscard]] bool MayNeverStart() const { return ordered && (!spawned || *ordered > attempt); }
  /// ... or seen to: since a restart of it was decided.
  [[nodiscard]] bool IsOrderedAgain() const { return ordered && settled && *ordered > *settled; }
  Instant settled_at{};
  Moment stop_ordered = 0;
  /// The last one; it may overtake the order to start.
  struct {
    TaskAttempt attempt;
    Moment said = 0;
    Instant at{};
  } stop;
  bool killed = false;  ///< The latest got SIGKILL from its agent.
  bool warned = false;
  Moment stands_still = 0;    ///< The AM heard so, of the latest.
  bool stood_before = false;  ///< An earlier AM heard so, and may have decided on it.
  std::uint32_t signs = 0;    ///< Number of the newest that it heard of the container.
  bool stood_still = false;
  /// The AM was told another port of its agent, and not that its process runs.
  Moment port_changed = 0;
  Moment stalled = 0;
  std::int32_t restarts = 0;       ///< All that have been announced, ...
  std::int32_t free_restarts = 0;  ///< ... and those for its own failures that nothing paid.
  /// Restarts in one container for failures of its own, surely and perhaps.
  struct {
    std::optional<ContainerId> container;
    std::int32_t surely = 0, perhaps = 0;
  } in_place;
  std::int32_t paid_in_a_row = 0;  ///< Restarts paid for it since a process of its last ran.
  /// Restarts paid because it hung, none of its processes having run for longer than the window.
  std::int32_t hung_in_a_row = 0;
  std::set<TaskAttempt> excused;  ///< Of this peer's processes, those whose end it did not cause.
  bool may_have_excused = false;  ///< Of one that may have been a victim of its end.
  /// The process that started again as one could not reach a peer, or perhaps did.
  std::optional<TaskAttempt> was_excused, may_have_been_excused;
  std::vector<Account> accounts;
};

struct Payment {
  TaskId task;  ///< For whose end.
  Budget budget = Budget::kUser;
  Instant earliest{};
  Instant latest{};
};

/// What is to be asked for waits for the AM's next heartbeat.
inline constexpr Duration kAskWaits = 1s;
/// ... which waits for the answer to the call before, or until that counts as lost.
inline constexpr Duration kCallTakes = 21s;

/// A time in which an AM stands still.
struct Standing {
  std::pair<std::uint32_t, std::uint32_t> fault{};  ///< Its number and instance.
  std::optional<Instant> since, until;
};

struct Job {
  trace::JobIndex index;
  std::shared_ptr<const JobSpec> spec;
  Policy policy = Policy::kDefault;
  bool has_chief = false;
  bool any_stood_still = false;  ///< An AM has ever heard so of a task.
  std::map<TaskId, Task> tasks;
  std::map<ContainerId, Task*> by_container;
  std::set<ContainerId> released;
  std::set<ContainerId> kept;    ///< Of earlier attempts, as the RM has told this one.
  std::set<ContainerId> marked;  ///< YARN has told the AM that it will take them back.
  /// Exit status, as the AM heard it, of containers that were never ordered to start.
  std::map<ContainerId, std::int32_t> never_started;
  std::set<NodeId> nm_tokens;              ///< Nodes for which the AM was given a token.
  std::map<CallId, ContainerId> launches;  ///< Calls to start it.
  std::optional<ApplicationId> application;
  std::int32_t am_attempt = 0;
  std::optional<std::int32_t> resubmission;  ///< Of the application: see trace::AmTold.
  Duration clock{};                          ///< Of its first AM, against the simulation's.
  Instant attempt_begun{};
  Instant taken_over_at{};   ///< When the RM accepted the latest AM: agents may come from then on.
  bool registered = false;   ///< This attempt, ...
  bool forgotten = false;    ///< ... which the RM does not know any more.
  Instant nodes_until{};     ///< So long nodes may come that the RM has not seen.
  bool below_nodes = false;  ///< The RM allows less than a node has: no node can change that.
  Resource largest_node;     ///< Of each amount the most that a node has which the client has seen.
  // What the AM may not have known yet when it decided: see Window.
  JournalSeq appended;
  bool has_read = false;  ///< The latest AM, what the earlier ones have stored.
  /// An AM before the latest has stored something since: it took the journal back, as the latest
  /// had died. What it had heard is not in these books.
  bool taken_back = false;
  bool append_open = false;
  Moment append_ordered = 0;
  Moment stored = 0;  ///< What the AM had heard by then is in its journal.
  Instant stored_at{};
  bool has_registered = false;  ///< The latest AM, and so has announced what it took over.
  Instant unannounced_from{};   ///< What it takes over was decided from then on.
  Instant append_ordered_at{};
  Moment open_window = 0, window = 0;
  Instant open_window_at{}, window_at{}, append_answered{Instant::min()};
  Epoch epoch{1};
  Epoch assembled;
  bool epoch_unsure = false;
  std::optional<Instant> epoch_decided;  ///< The one that has not begun.
  std::map<TaskId, Moment> causes;  ///< Of restarts that were paid: when the latest was decided.
  Moment last_decision = 0;         ///< The latest of all.
  Instant last_decided_at{};
  std::int32_t hidden = 0;         ///< Decisions that may have been stored and never announced.
  std::int32_t restarts_told = 0;  ///< Of the application.
  std::vector<Payment> paid;
  Instant begun{};  ///< The application's first AM.
  std::optional<Instant> first_grant, all_ran, all_heard_to_run;
  /// Since when its AM wanted what it first asked for: one that stands still asks when it goes on.
  std::optional<Instant> first_wanted;
  Standing am_stood;  ///< The latest.
  Moment all_heard_moment = 0;
  std::int64_t never_ran = 0;           ///< Tasks that begin with the gang and have not yet.
  std::int64_t never_heard_to_run = 0;  ///< ... of which the AM has not heard that they did.
  ContainerId am_container;
  Moment notice = 0;       ///< YARN will take containers back.
  bool node_lost = false;  ///< The AM was told so of some node.
  bool kill_wanted = false;
  std::optional<VerdictReached> verdict;
  Instant due = kNever;  ///< A decision must have come by then.
};

/// A truth that is known, or not.
enum class Tri { kNo, kMaybe, kYes };

/// How long a decision may take, once the AM has heard what it rests on.
[[nodiscard]] Duration DecisionBound(const JobSpec& spec);

class RunFacts {
 public:
  RunFacts(bool lossy, Duration spread, std::vector<bool> lasts)
      : spread_(spread), lasts_(std::move(lasts)), faults_(lossy) {}
  void Add(trace::JobIndex index, std::shared_ptr<const JobSpec> spec);
  void Observe(const trace::TraceRecord& record);
  void Drop(trace::JobIndex index) {
    if (index.value < jobs_.size()) jobs_[index.value].reset();
  }

 protected:
  /// When the AM heard of an end for the last time.
  [[nodiscard]] static Instant LastHeard(const Job& job);
  /// From when on the AM may no longer let it run on (deadlines.run); kNever: no such time is
  /// known.
  [[nodiscard]] static Instant RunIsOver(const Job& job);
  [[nodiscard]] Job* JobOf(trace::JobIndex index) {
    return index.value < jobs_.size() ? jobs_[index.value].get() : nullptr;
  }
  /// The record is of the AM that started last, of no other that was paused, cut off or not told
  /// yet that its application is over.
  template <class Fact>
  [[nodiscard]] static bool IsOfLatestAm(const Job& job, const Fact& fact) {
    return fact.am_attempt == job.am_attempt && fact.resubmission == job.resubmission;
  }
  /// Something of the job must be decided by then.
  void Await(Job& job, Instant due);

  [[nodiscard]] bool Heard(const Account& account) const {
    return account.told != 0 && account.told <= as_of_;
  }
  [[nodiscard]] bool Certain(const Job& job, const Account& account) const {
    if (!Heard(account) || account.told >= window_ || account.perhaps_moot) return false;
    return account.told_attempt == job.am_attempt || account.seen ||
           (account.classes == Of(kOk) && account.stored);
  }
  /// The best account of the task's end that the AM surely knew.
  [[nodiscard]] const Account* BestOf(const Job& job, const Task& task) const;
  [[nodiscard]] static bool HangIsShown(const Job& job);
  [[nodiscard]] Classes MayBe(const Job& job, const Task& task) const;
  /// As far as the AM knows.
  [[nodiscard]] bool SeemsToRun(const Task& task) const;
  [[nodiscard]] Tri Lost(const Job& job, const Task& task, ExitClass cls) const;

  std::vector<std::unique_ptr<Job>> jobs_;
  Moment moment_ = 0;
  Instant now_{};
  Instant next_due_ = kNever;
  Duration spread_;  ///< By so much one message may be slower than another, without any fault.
  std::vector<bool>
      lasts_;  ///< By fault: it goes on after it has struck; of others no end is heard.
  Instant
      restored_at_;  ///< One that keeps news from the AM, or was over once it had struck, ended.
  bool faults_;      ///< Something may have kept an agent from being heard.
  std::set<std::pair<std::uint32_t, std::uint32_t>> cut_;  ///< Faults that keep news from the AM.

  Moment as_of_ = ~Moment{0};           ///< What came after it does not count.
  std::optional<Instant> spent_as_of_;  ///< Restarts are spent as they were then; else by now.
  Moment window_ = 0;                   ///< What came before it, the AM knew when it decided.

 private:
  [[nodiscard]] static Task* TaskIn(Job& job, const ContainerId& container) {
    const auto found = job.by_container.find(container);
    return found == job.by_container.end() ? nullptr : found->second;
  }
  [[nodiscard]] static Duration LongestSilence(const Job& job);
  [[nodiscard]] bool HasNotFoundTheAm(const Job& job, const Task& task) const;
  [[nodiscard]] bool IsSilent(const Job& job, const Task& task) const;
  [[nodiscard]] Classes MayBeTimeout(const Job& job, const Task& task) const;
  void On(const trace::AmTold& fact);
  void On(const trace::AmOrdered& fact);
  void On(const trace::AgentTold& fact);
  void On(const trace::AgentOrdered& fact);
  void On(const trace::ContainerFreed& fact);
  void BeginApplication(Job& job, const ApplicationId& application);
  [[nodiscard]] static bool ClocksDiffer(const Job& job, Duration clock);
  void BeginAttempt(Job& job, const AmStarted& started);
  void HeardToRun(Job& job, Task& task);
  void Registered(Job& job, const yarn::RegisterApplicationMasterResponse& taken);
  void Told(Job& job, const NmReplied& reply);
  [[nodiscard]] static bool MayNotLaunch(const Job& job, const Task& task);
  void Told(Job& job, const AgentToAm& message);
  void ReplacedAmTold(Job& job, const trace::AmTold& fact);
  void Told(Job& job, const yarn::ContainerStatus& status);
  void Assigned(Job& job, const TaskId& id, const ContainerId& container);
  void Tell(Job& job, const Task& task, Account& account);
  void Appends(Job& job, const AppendJournal& append);
  void Launches(Job& job, Task& task, const ContainerId& container, const NodeId& node);
  Account& AccountOf(const Job& job, Task& task, const ContainerId& container, TaskAttempt attempt,
                     const ProcessExit& exit, bool port_conflict);
  Account& AccountOf(const Job& job, Task& task, const ContainerId& container, std::int32_t status);
};

}  // namespace tfyarn::oracles
