// What an ApplicationMaster does with what it was given, and with what it was told: as-asked,
// notice-passed-on, gives-not-up, no-idle-containers, depends-kept, and what good-citizen,
// one-owner, one-attempt, one-spec, limits-kept and verdict say of its calls to YARN and HDFS and
// of its orders to agents.
//
// Each property needs a few facts of one container or one application, and none needs another. They
// are counted here from grants, from the RM's answers and from what agents do on their nodes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/journal/journal.h"
#include "core/model/job_spec.h"
#include "core/trace/record.h"

namespace tfyarn::sim {

class ConductWatch {
 public:
  /// Which invariant a finding is of.
  enum class Of : std::uint8_t {
    kAsAsked,
    kNoticePassedOn,
    kGivesNotUp,
    kNoIdleContainers,
    kDependsKept,
    kGoodCitizen,
    kLimitsKept,
    kVerdict,
    kOneOwner,
    kOneAttempt,
    kOneSpec,
  };
  static constexpr std::size_t kOfCount = static_cast<std::size_t>(Of::kOneSpec) + 1;
  struct Broken {
    Of of{};
    trace::JobIndex job;
    std::string what;
  };

  /// `lossy`: messages get lost by chance, and what rests on an answer need not be done by an
  /// instant. `lasts`, by fault: whether it goes on after it has struck; of others no end is heard.
  explicit ConductWatch(bool lossy, std::vector<bool> lasts = {})
      : lossy_(lossy), lasts_(std::move(lasts)) {}
  void JobSubmitted(trace::JobIndex job, std::shared_ptr<const JobSpec> spec);
  void Observe(const trace::TraceRecord& record);
  /// Nothing of the job is asked for any more.
  void Forget(trace::JobIndex job);

  /// How often each was looked at.
  [[nodiscard]] std::uint64_t judged(Of of) const { return judged_[static_cast<std::size_t>(of)]; }
  [[nodiscard]] bool sound() const { return broken_.empty(); }
  [[nodiscard]] std::vector<Broken> TakeNew() { return std::exchange(broken_, {}); }

 private:
  struct NodeFacts {
    std::string partition;
    std::set<ContainerId> containers;  ///< That the RM counts there.
  };
  struct ContainerFacts {
    std::uint32_t job = 0;
    NodeId node;
    Resource resource;
    bool am = false;
    bool freed = false;       ///< The RM counts it no more.
    bool given_back = false;  ///< The AM has ordered its end, in whatever way, ...
    Instant given_back_at{};  ///< ... last then.
    bool held = false;        ///< It counts in ApplicationFacts::held.
    bool leaves = false;      ///< Its agent has told the AM that it ends.
    std::optional<TaskId> launched_for;
    std::optional<TaskId> task;          ///< Its agent's.
    std::optional<TaskAttempt> process;  ///< Lives on its node, ...
    Epoch epoch;                         ///< ... in this epoch.
    std::optional<Instant> stop_called;  ///< The AM has told its node to stop it.
    bool let_go = false;  ///< The node cannot, or it was released: the RM sees to it.
    std::optional<TaskAttempt> told_end;  ///< The AM has ordered this attempt to end.
    std::optional<TaskAttempt> warned;    ///< The AM has passed a notice on to this attempt.
    std::int32_t heard_by = 0;            ///< The latest AM that has heard its agent, ...
    Instant heard_at;                     ///< ... since then.
    std::optional<Instant> noticed_at;    ///< The RM's last word of taking it.
    std::optional<Instant> notice;        ///< The RM has told of it, and nothing was done since.
    std::optional<Instant> owed;  ///< The AM knows that the RM counts it, and is to give it back.
  };
  struct AttemptFacts {
    std::optional<CallId> first_finish;    ///< It tells its final status with that call.
    std::optional<Instant> heard_its_end;  ///< The RM said that another attempt acts, or none.
    bool reported = false;
  };
  /// How far a task has ever come, in whichever container.
  struct CameFar {
    bool ran = false;
    bool ended = false;  ///< Or its container.
    bool well = false;   ///< With 0.
  };
  struct ApplicationFacts {
    std::uint32_t job = 0;
    std::int32_t am_attempt = 0;                    ///< Of the latest AM that started.
    std::map<std::int32_t, AttemptFacts> attempts;  ///< By number: an earlier one may act on.
    ContainerId am_container;
    Instant am_started{};
    bool over = false;              ///< The RM has ended it.
    bool told_over = false;         ///< The RM has told its AM that another attempt acts, or none.
    bool decided = false;           ///< A verdict is on its way to the journal.
    bool awaits = false;            ///< The AM waits for nodes, and says that it asks for nothing.
    bool refused_token = false;     ///< The RM has told its AM that it does not know its token.
    bool others_append = false;     ///< The AM of another attempt has, since it started.
    bool lost_journal = false;      ///< Another one has taken it.
    std::int32_t refused = 0;       ///< Calls in a row that were out of turn, each made ...
    Instant refused_at{};           ///< ... after the AM had heard that of the one before.
    CallId refused_call;            ///< The latest.
    std::int32_t response_id = -1;  ///< Of the latest allocate: a repetition has the same.
    std::map<CallId, Instant> calls;  ///< To the RM, not answered: when each was made.
    std::map<CallId, std::vector<ContainerId>> stops;  ///< Calls to nodes, not answered.
    /// Told their nodes to stop them, and no node has said that it cannot.
    std::set<ContainerId> left_to_node;
    Epoch begun;  ///< The latest in which a process that trains was ordered to start.
    /// The AM has told the RM so, and has not heard of their end.
    std::set<ContainerId> released;
    std::set<std::string> blacklist;
    std::set<std::string> tokens;     ///< Hosts whose NM token it has.
    std::set<std::string> tokenless;  ///< Hosts that it was granted something on, without one.
    std::set<std::string> proven;     ///< Files that HDFS has told an AM of.
    std::optional<JobStatus> verdict;
    std::optional<Instant> decided_at;     ///< The earliest at which an AM decided on a verdict.
    std::optional<Instant> storing_since;  ///< An entry was on its way to HDFS ever since, or is.
    std::optional<Instant> stored_at;      ///< When it came there; unset: it has not.
    std::optional<Instant> stored_before;  ///< The same when its latest AM started.
    std::map<TaskId, Incarnation> incarnations;  ///< The latest agent of a task.
    std::map<TaskId, CameFar> came_far;          ///< What `depends` waits for.
    std::vector<std::pair<JournalSeq, journal::MemoryRaised>>
        to_raise;                           ///< Appended, not stored yet.
    std::map<TaskId, std::int64_t> raised;  ///< Memory in MiB that a task was given instead.
    std::int64_t held = 0;  ///< Containers for tasks that the RM counts, not given back by the AM.
    std::optional<Instant> over_since;  ///< These are more than it has tasks.
    std::uint64_t over_number = 0;
  };
  /// What is looked at later.
  enum class DueFor { kNotice, kHeld, kOwed };
  struct Due {
    Instant at{};
    std::uint64_t order = 0;
    ContainerId container;  ///< For kHeld only its application.
    std::uint64_t over_number = 0;
    DueFor of = DueFor::kNotice;
    friend bool operator>(const Due& a, const Due& b) {
      return std::pair(a.at, a.order) > std::pair(b.at, b.order);
    }
  };

  void Pass(Instant until);
  void JudgeNotice(const Due& due);
  void JudgeHeld(const Due& due);
  void JudgeOwed(const Due& due);
  void Owes(const ContainerId& id, ContainerFacts& container);
  void OwesListed(const ApplicationFacts& application,
                  const std::vector<yarn::Container>& containers);
  void OwesReleased(const ApplicationFacts& application);
  void On(const trace::AmTold& fact);
  void On(const trace::AmOrdered& fact);
  void On(const trace::AgentTold& fact);
  void On(const trace::AgentOrdered& fact);
  void RmSays(ApplicationFacts& application, const RmReplied& reply);
  void HearsItsEnd(ApplicationFacts& application, std::int32_t attempt, const RmReplied& reply);
  void GoesOn(ApplicationFacts& application, const trace::AmOrdered& fact);
  void Allocates(ApplicationFacts& application, const yarn::AllocateRequest& request);
  void Sends(ApplicationFacts& application, const SendToAgent& send);
  [[nodiscard]] static bool HasCome(const CameFar& far, DependencyState state, const JobSpec& spec);
  void CheckDepends(const ApplicationFacts& application, const TaskId& task);
  void Launches(const yarn::StartContainersRequest& request);
  void Ended(const ContainerId& id, const ContainerFacts& container, bool well);
  void CheckEpochBefore(ApplicationFacts& application, const StartProcess& start);
  void NodeAnswers(ApplicationFacts& application, const NmReplied& reply);
  void GivesUp(const ApplicationFacts& application);
  void ProcessStarts(ContainerFacts& container, const ContainerId& id, const SpawnProcess& spawn);
  void CheckPlace(const ContainerFacts& container, const ContainerId& id, const TaskTypeSpec& type);
  void GivenBack(const ContainerId& id);
  void HeldMayChange(const ContainerId& id, ContainerFacts& container);
  [[nodiscard]] ApplicationFacts* ApplicationOf(const ApplicationId& id);
  [[nodiscard]] ApplicationFacts* ApplicationOf(std::uint32_t job,
                                                std::optional<std::int32_t> resubmission);
  [[nodiscard]] ContainerFacts* ContainerOf(const ContainerId& id);
  [[nodiscard]] const JobSpec* SpecOf(std::uint32_t job) const;
  void Counts(Of of) { ++judged_[static_cast<std::size_t>(of)]; }
  void Report(Of of, std::uint32_t job, std::string what);

  bool lossy_ = false;
  Instant now_{};
  std::map<NodeId, NodeFacts> nodes_;
  std::map<ContainerId, ContainerFacts> containers_;
  std::map<ApplicationId, ApplicationFacts> applications_;
  /// By job and resubmission, as the records of AMs have them.
  std::map<std::pair<std::uint32_t, std::optional<std::int32_t>>, ApplicationId> led_;
  std::map<std::uint32_t, std::shared_ptr<const JobSpec>> specs_;
  std::vector<bool> lasts_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> faults_;
  std::optional<Instant> fault_changed_;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> dues_;
  std::uint64_t order_ = 0;
  std::uint64_t judged_[kOfCount] = {};
  std::vector<Broken> broken_;
};

}  // namespace tfyarn::sim
