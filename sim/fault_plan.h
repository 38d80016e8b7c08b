// When which fault strikes whom: the scenario's faults, turned into orders over time.
//
// The plan decides time and target and nothing else: the host carries the orders out, and
// config/fault_kinds.h says what each kind means. Targets are resolved when a fault strikes ("the
// node that holds worker:1" is a different one after a restart), and the end of a fault has the
// targets of its beginning. Every fault draws from streams of its own, and with `per: node` every
// node does, so that another node or fault shifts no failure.
//
// A fault that comes again and again (`every`) counts the time to the next from the end of the
// last: a machine that is down cannot fail, and availability is MTTF / (MTTF + MTTR).
//
// The moments that a fault may wait for are read from the trace, which has no idle beats: a message
// has the same number whether they are skipped or not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <string>
#include <string_view>
#include <vector>

#include "config/fault_kinds.h"
#include "config/scenario.h"
#include "core/model/am.h"
#include "core/model/ids.h"
#include "core/model/time.h"
#include "core/trace/record.h"
#include "sim/random.h"

namespace tfyarn::sim {

/// One node as selectors see it; its index is its position in the cluster.
struct PlanNode {
  std::string name;
  std::string rack;
  std::vector<std::string> labels;
};

/// What the plan asks about the cluster at the moment a fault strikes.
class ClusterView {
 public:
  virtual ~ClusterView() = default;
  /// Never changes during a run.
  [[nodiscard]] virtual const std::vector<PlanNode>& nodes() const = 0;
  /// Index of the node that holds the task's container now; nullopt when it has none.
  [[nodiscard]] virtual std::optional<std::int32_t> NodeOfTask(std::string_view job,
                                                               const TaskId& task) const = 0;
  /// Tasks of a job that hold a container now, in order.
  [[nodiscard]] virtual std::vector<TaskId> TasksOfJob(std::string_view job) const = 0;
  /// Index of the node that runs the job's AM now.
  [[nodiscard]] virtual std::optional<std::int32_t> NodeOfAm(std::string_view job) const = 0;
  /// Whether the job's client runs now.
  [[nodiscard]] virtual bool HasClient(std::string_view job) const = 0;
};

enum class StruckKind { kNode, kTask, kAm, kJob, kRm, kHdfs };
BOOST_DESCRIBE_ENUM(StruckKind, kNode, kTask, kAm, kJob, kRm, kHdfs)

/// One thing that a fault strikes. A task target stays a task (a fault of nodes means the node that
/// holds it). A task that was named and holds no container is struck by what waits for it
/// (port_in_use, single messages) and by nothing else, as is an AM that does not run. A whole job
/// is all tasks that hold one, but kJob for what concerns its client (client_*) and for single
/// messages (drop, delay, duplicate).
struct Struck {
  StruckKind kind = StruckKind::kNode;
  std::int32_t node =
      -1;           ///< kNode; of kTask and kAm: where it is at that moment, -1 when nowhere.
  std::string job;  ///< kTask, kAm, kJob.
  TaskId task;      ///< kTask.
  friend bool operator==(const Struck&, const Struck&) = default;
};

struct FaultOrder {
  std::uint32_t fault = 0;  ///< Position in the scenario.
  std::uint32_t instance =
      0;  ///< Which time this fault strikes, from 0; with `per: node` counted over all nodes.
  const config::FaultKind* kind = nullptr;  ///< Never null; node_crash for a trace of outages.
  const config::FaultSpec* spec = nullptr;  ///< Parameters. Never null.
  bool begins = true;  ///< False: what began with this fault and instance ends.
  bool lasts = false;  ///< Of a beginning: an order that ends it will follow.
  /// What it strikes, without repetition. Empty when nothing answers the selector at that moment.
  std::vector<Struck> struck;
  std::vector<std::vector<Struck>> groups;  ///< partition: one for each of `between`.
};

/// True when what the scenario names is not there at that moment, or one side of a partition is
/// not.
[[nodiscard]] bool StrikesNobody(const FaultOrder& order);

/// Target as text for the trace: "gpu-2", "gpu-1, gpu-4", "a worker:1", "r1 | am of a", "nobody".
[[nodiscard]] std::string DescribeStruck(const FaultOrder& order, const ClusterView& cluster);

class FaultPlan {
 public:
  /// One outage of a trace: source node (before the modulo) and when it is down.
  struct Outage {
    std::int64_t source = 0;
    Instant from{};
    Instant to{};
  };

  /// `faults` and `cluster` must outlive this; cluster.nodes() is asked at once. `outages`: for
  /// each fault of kind `trace`, by its position.
  FaultPlan(const std::vector<config::FaultSpec>& faults, const ClusterView& cluster,
            std::uint64_t seed, const std::map<std::uint32_t, std::vector<Outage>>& outages = {});

  /// From `now` on random times and targets follow another seed, the wait for the next random fault
  /// too.
  void DrawAnew(std::uint64_t seed, Instant now);
  /// When Fire next returns something.
  [[nodiscard]] std::optional<Instant> next_deadline() const;
  /// Everything due at `now`, in order of time; ends before beginnings at one instant, then in
  /// order of the file.
  [[nodiscard]] std::vector<FaultOrder> Fire(Instant now);

  /// A job has come into this state. Arms the faults that wait for it.
  void OnJobState(Instant now, std::string_view job, JobState state);
  /// The next record of the trace, idle beats apart. Arms the faults that wait for a task's state,
  /// an append or a message: true when one was armed.
  bool Observe(const trace::TraceRecord& record);
  /// True when some fault waits for this job: the host may skip the hooks of other jobs.
  [[nodiscard]] bool Watches(std::string_view job) const;
  [[nodiscard]] bool waits() const { return !waiting_.empty(); }

 private:
  /// One clock of a fault: of the whole, or with `per: node` of one node.
  struct Clock {
    std::uint32_t fault = 0;
    std::int32_t node = -1;  // -1 = the whole.
    Random every;
    Random lasting;
    Random targets;
    std::int64_t seen = 0;  // How often what it waits for has come.
  };
  /// What a fault may wait for.
  struct Moment {
    std::string_view state;    // "" = none.
    std::string_view message;  // "" = none.
    bool append = false;
    const TaskId* task = nullptr;  // Whose state, or whose message.
  };
  struct Due {
    Instant at{};
    bool begins = true;
    std::uint32_t fault = 0;
    std::uint64_t sequence = 0;
    std::size_t clock = 0;         // Of a beginning that is not a trace's.
    std::int32_t trace_node = -1;  // Of a trace's beginning.
    Instant trace_end{};
    std::size_t order = 0;  // Of an end: position in open_.

    friend bool operator>(const Due& a, const Due& b) {
      if (a.at != b.at) return a.at > b.at;
      if (a.begins != b.begins) return a.begins;
      return a.fault != b.fault ? a.fault > b.fault : a.sequence > b.sequence;
    }
  };
  struct Open {
    FaultOrder order;
    std::size_t clock = kNoClock;
  };
  static constexpr std::size_t kNoClock = static_cast<std::size_t>(-1);

  void Plan(std::uint32_t fault, std::uint64_t seed);
  void PlanOutages(std::uint32_t fault, std::vector<Outage> outages);
  void AddClock(std::uint32_t fault, std::int32_t node, std::uint64_t seed);
  void Push(Due due);
  /// Puts the next strike of a repeated fault after `from`.
  void PlanNext(std::size_t clock, Instant from);
  void Begin(const Due& due, std::vector<FaultOrder>& orders);
  void End(const Due& due, std::vector<FaultOrder>& orders);
  /// True when a fault was armed.
  bool Trigger(Instant now, std::string_view job, const Moment& moment);
  void TriggerAfter(std::uint32_t fault, bool ended, Instant at);
  [[nodiscard]] static bool IsMeant(const config::FaultWhen& when, const Moment& moment);
  bool Observe(Instant now, trace::JobIndex job, const AmAction& action);
  bool Observe(Instant now, const trace::AgentTold& told);
  bool Observe(Instant now, const trace::AgentOrdered& ordered);
  [[nodiscard]] const TaskId* TaskIn(const ContainerId& container) const;
  [[nodiscard]] std::vector<Struck> Resolve(const config::Target& target,
                                            const config::FaultKind& kind, Random& draw) const;
  [[nodiscard]] std::vector<Struck> StruckBy(const config::FaultSpec& spec, Random& draw) const;

  const std::vector<config::FaultSpec>& faults_;
  const ClusterView& cluster_;
  std::vector<Clock> clocks_;
  std::vector<std::uint32_t> instances_;  // By fault: the next instance.
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  std::uint64_t next_sequence_ = 0;
  std::vector<Open> open_;  // What has begun and will end; places are used again.
  std::vector<std::size_t> free_;
  std::map<std::string, std::vector<std::size_t>, std::less<>>
      waiting_;                                     // Clocks, by the job they wait for.
  std::vector<std::size_t> after_faults_;           // Clocks that wait for another fault.
  std::map<std::uint32_t, std::string> job_names_;  // Of jobs that were ever waited for.
  std::map<ContainerId, TaskId> task_in_;           // Agents of those jobs.
};

}  // namespace tfyarn::sim
