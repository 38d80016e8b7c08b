// The AM's containers: what it wants for its tasks, what it starts and ends in them, and what it
// hears of them.
//
// The AM wants, launches, stops and releases. It hears which containers were granted, which
// launches were refused, which containers were lost, and which nodes changed. No record of YARN is
// in this face. Behind it are the session with the ResourceManager and the container requests,
// tokens and calls of NodeManagers, the gang's clocks, hosts that are kept off, and what is known
// of the cluster.
//
// The AM begins every step with BeginStep, takes in the event (OnReplied, OnNmReplied, OnTime),
// orders what follows, and sends with Send, last. Not here: what a lost container means (the
// policy), and what runs in a container (agents).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/allocation/gang_timeouts.h"
#include "core/allocation/slot.h"
#include "core/allocation/suspicion.h"
#include "core/journal/outbox.h"
#include "core/model/am.h"
#include "core/model/host_port.h"
#include "core/model/ids.h"
#include "core/model/job_spec.h"
#include "core/model/launch.h"
#include "core/model/time.h"
#include "core/placement/place_gang.h"

namespace tfyarn::allocation {

struct AllocationOptions;

struct HeldContainer {
  ContainerId id;
  NodeId node;
};

/// The cluster's word that a container has ended.
struct LostContainer {
  ContainerId id;
  std::int32_t exit_status = 0;  ///< As the process's, or one of container_exit.
  std::string diagnostics;
  /// No task has it by the gang, and it was not given back either.
  bool stray = false;
};

/// The AM is accepted.
struct Admission {
  /// Containers of earlier attempts that live.
  std::vector<HeldContainer> living;
  bool known = true;  ///< False: that list was lost with an answer.
};

/// The cluster refuses a call.
struct Rejection {
  enum class Of {
    kSize,  ///< A container of that size.
    kAsk,   ///< What is asked for, for another reason.
    kCall,  ///< Something else; it is repeated.
  };
  Of of = Of::kCall;
  std::string message;
};

/// A node did not start an agent.
struct LaunchRefusal {
  enum class Why {
    kNotReady,   ///< The node has yet to register with the ResourceManager.
    kNoAnswer,   ///< It may have started it.
    kForgotten,  ///< Granted before the cluster restarted: no task's failure, and no node's.
    kRefused,
  };
  Why why = Why::kRefused;
  std::string message;
};

/// Whether the cluster can hold something.
struct Judgement {
  enum class Is {
    kPossible,
    kWait,  ///< Not on the nodes so far; others may still come.
    kNever,
  };
  Is is = Is::kPossible;
  std::string limit;  ///< For people: which one is in the way.
};

/// Hears what comes of the AM's orders, in the order in which it must be acted on.
class Listener {
 public:
  virtual void OnAdmitted(const Admission& admission) = 0;
  /// The ResourceManager has restarted: all that is wanted is told again.
  virtual void OnForgotten() = 0;
  /// The cluster will not have this attempt any more.
  virtual void OnExpelled(const std::string& why) = 0;
  /// The final status is confirmed.
  virtual void OnFinished() = 0;
  virtual void OnRejected(const Rejection& rejection) = 0;
  /// A container of an earlier attempt of which the AM was not told before.
  virtual void OnCameBack(const HeldContainer& container) = 0;
  /// All that one answer says of ends, before OnLost says it of each: the end of one may be the
  /// last that a decision waits for, and the end of another its cause.
  virtual void OnEndsTold(const std::vector<LostContainer>& lost) = 0;
  virtual void OnLost(const LostContainer& lost) = 0;
  virtual void OnNodeLost(const NodeId& node) = 0;
  /// With gang policies `all` and `hold` it is only for launching once complete() is true.
  virtual void OnGranted(const TaskId& task, const HeldContainer& container) = 0;
  /// The cluster will take the container.
  virtual void OnNotice(const ContainerId& container) = 0;
  virtual void OnLaunchRefused(const TaskId& task, const ContainerId& container,
                               const LaunchRefusal& refusal) = 0;
  /// The node cannot stop it: it is out of reach, or does not know the container.
  virtual void OnNotStopped(const ContainerId& container) = 0;
  /// What must be held at once for training to go on.
  [[nodiscard]] virtual std::vector<placement::SlotGroup> Needed() const = 0;

 protected:
  ~Listener() = default;
};

class Allocation {
 public:
  /// `job` and `out` must outlive it.
  Allocation(const JobSpec& job, AllocationOptions options, journal::Outbox& out);
  ~Allocation();
  Allocation(const Allocation&) = delete;
  Allocation& operator=(const Allocation&) = delete;

  // ---- events
  void BeginStep(Instant now);
  /// Takes in what the client saw of the cluster.
  void OnStarted(const AmStarted& started);
  void OnReplied(const RmReplied& reply, Listener& listener);
  /// False: no order waits for that answer.
  [[nodiscard]] bool OnNmReplied(const NmReplied& reply, Listener& listener);
  void OnElided(const HeartbeatsElided& elided);
  /// Lets the gang's clocks run.
  [[nodiscard]] GangTimeouts OnTime();
  [[nodiscard]] std::optional<Instant> next_deadline() const;
  /// The same without heartbeats that would be idle.
  [[nodiscard]] std::optional<Instant> next_decision() const;

  // ---- the attempt
  void Register(const HostPort& address, const std::string& tracking_url);
  /// The final status; repeated until confirmed. All must have been told before.
  void Finish(JobStatus status, const std::string& diagnostics);
  /// Registered, and the cluster knows all that is wanted, given back and kept off.
  [[nodiscard]] bool everything_told() const;
  /// Sends what is due. Last in every step.
  void Send();

  // ---- what is wanted and held
  /// These tasks need containers; none of them may be wanted or have one. The first one while
  /// nothing is wanted starts the gang's deadline. With `kept_counts_as_held` the containers in use
  /// belong to the incomplete gang too: they are given back with it when hold, counted from now,
  /// runs out (policy `all`).
  void Want(const std::vector<SlotRequest>& slots, bool kept_counts_as_held);
  /// The task lacks a container and is to be wanted later: the gang is incomplete, and its deadline
  /// runs on. Until Want, Cancel or CancelAll.
  void Postpone(const TaskId& task);
  /// The task needs none any more; one that it has is released. Unknown tasks are ignored.
  void Cancel(const TaskId& task);
  /// Nothing more is wanted: the gang's clocks stop. Containers that tasks have stay with them.
  void CancelAll();
  /// The task waits for a container.
  [[nodiscard]] bool Wants(const TaskId& task) const;
  /// Every task has a container.
  [[nodiscard]] bool complete() const;
  /// All that trains has its containers: those in use are no part of an incomplete gang any more,
  /// whatever else is still wanted.
  void OnTrainingWhole();
  /// A task has a container already, in use: a former AM attempt's.
  void Adopt(const SlotRequest& slot, const HeldContainer& container);
  /// The caller sees to the end of the task's container itself: the task has none any more, and
  /// Want may ask for another at once. A task without a container is ignored.
  void Detach(const TaskId& task);
  /// Gives up a container in which nothing was started: released, and its task wanted again.
  void GiveUp(const ContainerId& container);
  /// The same of one that was given back with an incomplete gang: its caller releases it.
  void SeeOut(const ContainerId& container);
  /// "2 of 4 worker containers (16 GiB, 4 vcores, 8 GPUs) still missing", joined by "; ".
  [[nodiscard]] std::string Missing() const;
  [[nodiscard]] bool backing_off() const;
  /// What is to be asked for, kept off or said to be missing may have changed since the last Send.
  [[nodiscard]] bool has_news() const;

  // ---- orders
  /// Has the node of the task's container start its agent, as that durable entry says. False: there
  /// is no token for that node, which is kept off from now on.
  [[nodiscard]] bool Launch(JournalSeq rests_on, const AgentLaunch& launch);
  /// Has the node stop it. False: there is no token for that node.
  [[nodiscard]] bool Stop(JournalSeq rests_on, const HeldContainer& container);
  /// Gives it back. One that was given back before is ignored.
  void Release(const ContainerId& container);
  [[nodiscard]] std::size_t unanswered_launches() const;

  // ---- hosts that are kept off
  void Suspect(const std::string& host, Suspicion suspicion);
  /// Of the attempt before, by the journal.
  void TakeOverKeptOff(const std::set<std::string>& hosts);
  /// What the journal must say is kept off where `stored` is what it says: the cluster keeps hosts
  /// off for the next attempt, too. nullopt: nothing to store. Once at the end of a step.
  [[nodiscard]] std::optional<std::vector<std::string>> HostsToStore(
      const std::set<std::string>& stored, bool finishing);
  /// They are stored by that entry, and kept off when it is durable.
  void OnHostsStored(JournalSeq entry);

  // ---- what the cluster can hold
  /// Memory of the largest container, MiB; 0: not known.
  [[nodiscard]] std::int64_t largest_memory() const;
  /// A setting of the cluster allows no container of that size, whatever nodes come; why.
  [[nodiscard]] std::optional<std::string> BeyondSetting(
      const std::vector<placement::SlotGroup>& groups) const;
  /// `groups`: what must be held at once.
  [[nodiscard]] Judgement Judge(const std::vector<placement::SlotGroup>& groups);
  /// After an AM restart: judged when the cluster has counted its nodes. Until then what is out of
  /// reach by the client's list is not asked for, unless some is `held`.
  void JudgeWhenCounted(const std::vector<placement::SlotGroup>& groups, bool held);
  /// What is wanted may be out of reach from now on, or may be again.
  void JudgeAgain();
  [[nodiscard]] bool to_be_judged() const;
  /// It will be judged now.
  void OnJudged();
  /// By the registration, a young cluster knows of no node that is large enough; which limit says
  /// so.
  [[nodiscard]] std::optional<std::string> TooLargeSoFar(
      const std::vector<placement::SlotGroup>& groups) const;
  /// The cluster refuses a size. True where nodes that it has not seen yet may be larger.
  [[nodiscard]] bool MayFitLater(const std::vector<placement::SlotGroup>& groups);
  /// Nothing is asked for from now on and nothing comes of what is granted; what an incomplete gang
  /// holds is given back, with policy `hold` too. The gang's deadline runs on. nullopt: there was
  /// nothing to give back, or nothing is asked for anyway.
  [[nodiscard]] std::optional<GangGivenBack> Suspend();
  /// Says that nodes are waited for that may lift that limit.
  void AwaitNodes(const std::string& limit);
  /// Nodes are not waited for any more: what is wanted is asked for again.
  void WaitNoMore();
  [[nodiscard]] bool awaits_nodes() const;
  /// When nodes have had their time to come; kNever: none are waited for.
  [[nodiscard]] Instant judges_at() const;
  /// For people, while nodes are waited for: what those so far do not allow, and for how long.
  [[nodiscard]] std::string AwaitedNodes() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace tfyarn::allocation
