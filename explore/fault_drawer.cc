// Drawing faults from the table of kinds: whom, when, for how long, with which parameters. A kind
// that the table gets is drawn without a word here.
#include <algorithm>
#include <optional>

#include "config/fault_id.h"
#include "config/fault_kinds.h"
#include "core/model/ids.h"
#include "explore/draw.h"
#include "explore/generator.h"

namespace tfyarn::explore {
namespace {

using config::FaultCost;
using config::FaultDrawing;
using config::FaultKind;
using config::FaultParam;
using config::FaultParamKind;
using config::FaultTarget;
using config::ForRule;

/// What an AM, its agents, the RM and the nodes must hear of each other, sooner or later.
const std::vector<std::string> kOurMessages = {"RegisterAgent",
                                               "AgentAccepted",
                                               "ProcessRunning",
                                               "ProcessEnded",
                                               "ReportSeen",
                                               "StartProcess",
                                               "StopProcess",
                                               "EndAgent",
                                               "ProcessSigns",
                                               "NewsSeen",
                                               "AddressChanged",
                                               "Allocate",
                                               "StartContainers",
                                               "StopContainers",
                                               "RegisterApplicationMaster",
                                               "FinishApplicationMaster"};
/// A process that has not been reported by its node yet ends with its AM.
constexpr Duration kNodeReports = 3s;
constexpr Duration kShortOutage = 3min;
constexpr Duration kLongOutage = 15min;
constexpr Duration kFirstPhase = 15min;

class FaultDrawer {
 public:
  FaultDrawer(std::uint64_t seed, const Sketch& sketch) : draw_(seed, "faults"), sketch_(sketch) {
    am_dies_ = sketch.harmless && draw_.Percent(50);
    for (const FaultKind& kind : config::FaultKinds()) {
      const FaultDrawing& drawing = kind.drawing;
      if (sketch.healthy &&
          drawing.cost < (sketch.harmless ? FaultCost::kTime : FaultCost::kRestarts))
        continue;
      if (sketch.harmless && (am_dies_ ? drawing.hides_launches : drawing.kills_am)) continue;
      if (sketch.jobs.empty() && StrikesJob(kind)) continue;
      if (sketch.healthy && drawing.keeps_ams_from_starting && sketch.jobs.size() > 1) continue;
      for (std::int64_t n = drawing.weight; n > 0; --n) kinds_.push_back(&kind);
    }
    // Each alone, in pairs, and with itself: the fewer kinds a scenario knows, the likelier.
    const auto some = static_cast<std::size_t>(draw_.Whole(1, 6));
    while (kinds_.size() > some)
      kinds_.erase(kinds_.begin() + draw_.Whole(0, static_cast<std::int64_t>(kinds_.size()) - 1));
  }

  DrawnFaults Finish(std::int64_t count) {
    DrawnFaults drawn{.list = List()};
    for (std::int64_t n = 0; n < count; ++n) {
      const FaultKind& drawn_kind = *draw_.Of(kinds_);
      // Where no node has a GPU nodes are slow instead.
      const FaultKind& kind = drawn_kind.traits.strikes_gpus && !sketch_.gpus
                                  ? config::KindWith(config::FaultId::kSlowNode)
                                  : drawn_kind;
      if (sketch_.healthy && kind.drawing.keeps_ams_from_starting) return WhileRunning(kind);
      drawn.list.items.push_back(Fault(kind));
      drawn.ends = std::max(drawn.ends, ends_);
      drawn.lasts += lasts_;
    }
    return drawn;
  }

 private:
  static bool StrikesJob(const FaultKind& kind) {
    return kind.target == FaultTarget::kTask || kind.target == FaultTarget::kJob ||
           kind.target == FaultTarget::kAm;
  }

  /// Without HDFS YARN starts no AM, and fails an application whose AMs do not start: it must be
  /// the only fault, of the only job, once that runs.
  DrawnFaults WhileRunning(const FaultKind& kind) {
    Node fault = Map({{"kind", Text(kind.name)},
                      {"when", Map({{"job", Text(AnyJob().name)}, {"state", Text("running")}})}});
    const Duration lasts = Lasting(kind, fault);
    return {.list = List({std::move(fault)}), .ends = kFirstPhase + lasts, .lasts = lasts};
  }

  Node Fault(const FaultKind& kind) {
    Node fault = Map({{"kind", Text(kind.name)}});
    moment_ = {};
    // A ResourceManager that comes back has the node end what it starts meanwhile.
    const bool of_rm = kind.traits.rm == config::RmOutage::kRestarts;
    const bool of_running = sketch_.harmless && kind.drawing.of_running;
    only_job_ = nullptr;
    const bool of_nodes = of_rm || kind.target == FaultTarget::kNode;
    const Duration begins = of_running ? WhenItRuns(fault, of_nodes) : When(kind, fault);
    Reach(kind, fault);
    RememberAim(fault);
    lasts_ = {};
    if (kind.lasts != ForRule::kNever) lasts_ = Lasting(kind, fault);
    for (const FaultParam& param : kind.params) Param(kind, param, fault);
    ends_ = begins + lasts_;
    if (const auto at = static_cast<std::size_t>(count_++); at >= ends_of_.size())
      ends_of_.push_back(ends_);
    return fault;
  }

  void RememberAim(const Node& fault) {
    Moment aim;
    const Node* target = fault.Find("target");
    const std::string job = target == nullptr ? "" : TextAt(*target, "job");
    const std::string task = target == nullptr ? "" : TextAt(*target, "task");
    const bool of_one = ParseTaskId(task).has_value();
    for (const JobSketch& sketch : sketch_.jobs) {
      if (of_one && sketch.name == job) aim = {.job = &sketch, .task = task};
    }
    if (static_cast<std::size_t>(count_) >= aims_of_.size()) aims_of_.push_back(aim);
  }

  // ---------------------------------------------------------------- when

  /// That of the moment, rather than another.
  const JobSketch& AnyJob() {
    if (only_job_ != nullptr) return *only_job_;
    return moment_.job != nullptr && draw_.Percent(50) ? *moment_.job : draw_.Of(sketch_.jobs);
  }
  std::string AnyTask(const JobSketch& job) {
    if (&job == moment_.job && !moment_.task.empty() && draw_.Percent(50)) return moment_.task;
    const JobSketch::Type& type =
        draw_.Of(!job.named.empty() && draw_.Percent(30) ? job.named : job.types);
    return type.name + ":" + std::to_string(draw_.Whole(0, type.instances - 1));
  }

  /// All that nodes have started is known to the RM by then, and nothing is yet to be started.
  Duration WhenItRuns(Node& fault, bool of_nodes) {
    if (of_nodes && sketch_.jobs.size() > 1) {
      const Duration at = draw_.Time(5min, 15min);
      Set(fault, "at", Time(at));
      return at;
    }
    only_job_ = &AnyJob();
    Set(fault, "when", Map({{"job", Text(only_job_->name)}, {"state", Text("running")}}));
    const Duration after = draw_.Time(kNodeReports, 5min);
    Set(fault, "after", Time(after));
    return kFirstPhase + after;
  }

  /// Returns the latest time at which it begins if what it waits for comes within a run's first
  /// phase.
  Duration When(const FaultKind& kind, Node& fault) {
    if (kind.armed_at_start && draw_.Percent(40)) return {};
    const int form = static_cast<int>(draw_.Whole(0, 99));
    if (form < 22 || sketch_.jobs.empty()) {
      const Duration at = draw_.Time(1ms, 10min);
      Set(fault, "at", Time(at));
      return at;
    }
    Node when = Map();
    const Duration after = draw_.Percent(30) ? Duration::zero() : SomeTime(1ms, 2min);
    if (form >= 78 && count_ > 0) {
      const std::int64_t other = draw_.Whole(0, count_ - 1);
      Set(when, "fault", Number(other));
      if (draw_.Percent(40)) Set(when, "state", Text("ended"));
      moment_ = aims_of_[static_cast<std::size_t>(other)];
      Set(fault, "when", std::move(when));
      Set(fault, "after", Time(after));
      return ends_of_[static_cast<std::size_t>(other)] + after;
    }
    const JobSketch& job = AnyJob();
    Set(when, "job", Text(job.name));
    moment_.job = &job;
    if (form < 44) {
      Set(when, "state", Text(draw_.Of(config::JobStateNames())));
    } else if (form < 56) {
      moment_.task = AnyTask(job);
      Set(when, "task", Text(moment_.task));
      Set(when, "state", Text(draw_.Of(config::TaskStateNames())));
      if (draw_.Percent(30)) Set(when, "nth", Number(2));
    } else if (form < 68) {
      Set(when, "append", Number(draw_.Whole(1, 30)));
    } else {
      moment_.message = draw_.Of(config::MomentMessageNames());
      Set(when, "message", Text(moment_.message));
      if (draw_.Percent(50)) Set(when, "nth", Number(draw_.Whole(1, 6)));
    }
    Set(fault, "when", std::move(when));
    if (after != Duration::zero()) Set(fault, "after", Time(after));
    return kFirstPhase + after;
  }

  // ---------------------------------------------------------------- whom

  Node AnyNode() { return Map({{"node", Text(draw_.Of(sketch_.nodes))}}); }
  Node TaskOf(const JobSketch& job) {
    return Map({{"job", Text(job.name)}, {"task", Text(AnyTask(job))}});
  }
  Node AnyPlace() {
    const auto form = draw_.Whole(0, 9);
    if (form < 3 || sketch_.jobs.empty()) return AnyNode();
    if (form < 6) return TaskOf(AnyJob());
    if (form < 8) return Map({{"am", Text(AnyJob().name)}});
    if (form < 9 || sketch_.racks.empty()) return Map({{"random", Number(1)}});
    return Map({{"rack", Text(draw_.Of(sketch_.racks))}});
  }
  Node AnyTasks() {
    const JobSketch& job = AnyJob();
    const auto form = draw_.Whole(0, 9);
    if (form < 6) return TaskOf(job);
    if (form < 8) return Map({{"job", Text(job.name)}, {"task", Text(draw_.Of(job.types).name)}});
    if (form < 9) return Map({{"job", Text(job.name)}});
    return Map({{"random", Number(1)}, {"of", Map({{"job", Text(job.name)}})}});
  }

  void Reach(const FaultKind& kind, Node& fault) {
    switch (kind.target) {
      case FaultTarget::kNode: {
        Node place = AnyPlace();
        // On each node of a rack, and twice, they are more than an AM has attempts.
        if (FailsOnce(kind) && place.Find("rack") != nullptr) place = AnyNode();
        return Set(fault, "target", std::move(place));
      }
      case FaultTarget::kTask:
        // Of two that hang at once nothing tells from the outside who kept the others waiting.
        if (sketch_.healthy && kind.traits.stops_processes) {
          const JobSketch& job = AnyJob();
          return Set(fault, "target", Map({{"job", Text(job.name)}, {"task", Text(AnyTask(job))}}));
        }
        return Set(fault, "target", AnyTasks());
      case FaultTarget::kJob:
        return Set(fault, "target", Map({{"job", Text(AnyJob().name)}}));
      case FaultTarget::kAm:
        return Set(fault, "target", Map({{"am", Text(AnyJob().name)}}));
      case FaultTarget::kCaller:
        if (am_dies_ && kind.drawing.hides_launches_of_nodes)
          return Set(fault, "target", Map({{"am", Text(AnyJob().name)}}));
        if (draw_.Percent(20)) return;
        return Set(fault, "target",
                   draw_.Percent(30) || sketch_.jobs.empty() ? AnyPlace() : AnyTasks());
      case FaultTarget::kGroups:
        break;
      case FaultTarget::kRecorded:
      case FaultTarget::kRm:
      case FaultTarget::kHdfs:
        return;
    }
    Node groups = List({AnyPlace()});
    if (draw_.Percent(60)) groups.items.push_back(AnyPlace());
    Set(fault, "between", std::move(groups));
  }

  // ---------------------------------------------------------------- how long, and the rest

  [[nodiscard]] bool FailsOnce(const FaultKind& kind) const {
    return sketch_.healthy && kind.drawing.only_once;
  }

  Duration Lasting(const FaultKind& kind, Node& fault) {
    if (!kind.default_for.empty() && draw_.Percent(30)) return kLongOutage;
    // With `for` all launches fail as long as it lasts, those of AMs too.
    if (FailsOnce(kind)) return {};
    if (!sketch_.healthy && kind.drawing.may_stay && draw_.Percent(15) && MayStay(kind, fault))
      return {};
    Duration most = sketch_.healthy ? kShortOutage : kLongOutage;
    const FaultDrawing& drawing = kind.drawing;
    if (sketch_.healthy && drawing.longest_that_is_survived != Duration::zero())
      most = drawing.longest_that_is_survived;
    if (sketch_.harmless && drawing.longest_that_costs_time != Duration::zero())
      most = drawing.longest_that_costs_time;
    const Duration lasts = std::min(SomeTime(10ms, most), most);
    Set(fault, "for", Time(lasts));
    return lasts;
  }

  /// Now and then about as long as something that a job waits for.
  Duration SomeTime(Duration least, Duration most) {
    static const std::vector<std::int64_t> kTenths = {9, 11, 15, 20};
    const std::vector<Duration>& times =
        moment_.job != nullptr ? moment_.job->times : sketch_.any_times;
    if (times.empty() || !draw_.Percent(30)) return draw_.Time(least, most);
    // In this order with every compiler.
    const auto tenths = draw_.Of(kTenths);
    return std::clamp<Duration>(draw_.Of(times) * tenths / 10, least, most);
  }

  bool MayStay(const FaultKind& kind, const Node& fault) {
    if (!kind.drawing.takes_node) return true;
    const bool one_node = fault.FindPath("target.rack") == nullptr;
    if (!one_node || node_stays_away_ || sketch_.nodes_for_ams < 2) return false;
    node_stays_away_ = true;
    return true;
  }

  void Param(const FaultKind& kind, const FaultParam& param, Node& fault) {
    const bool tells = param.name == "exit";
    if (!param.required && !tells && draw_.Percent(40)) return;
    std::optional<Node> value;
    switch (param.kind) {
      case FaultParamKind::kWhole:
        value = Number(Whole(kind, param, fault));
        break;
      case FaultParamKind::kNumber:
        // Shares are below 1, factors are not.
        value = param.most <= 1
                    ? Text("0." + std::to_string(draw_.Whole(5, sketch_.healthy ? 20 : 70)))
                    : Number(draw_.Whole(2, 30));
        if (param.most <= 1 && value->text == "0.5") value->text = "0.05";
        break;
      case FaultParamKind::kDuration:
        value = Time(sketch_.healthy ? draw_.Time(1ms, 5s) : SomeTime(1ms, 1min));
        break;
      case FaultParamKind::kBytes:
        value = Text(std::to_string(draw_.Whole(0, 4)) + "KiB");
        break;
      case FaultParamKind::kBool:
        value = Flag(sketch_.harmless || draw_.Percent(50));
        break;
      case FaultParamKind::kSignal: {
        static const std::vector<std::string> kSignals = {"KILL", "TERM", "SEGV", "ABRT", "INT"};
        value = Text(sketch_.healthy ? "KILL" : draw_.Of(kSignals));
        break;
      }
      case FaultParamKind::kWord: {
        // The message that is the moment, or its answer's sender.
        const bool same = param.name == "message" && !moment_.message.empty() && draw_.Percent(30);
        const bool ours = param.name == "message" && draw_.Percent(60);
        value = Text(same ? moment_.message : draw_.Of(ours ? kOurMessages : param.choices));
        // Nothing tells a process that is busy for ever from one that trains: its peers fail.
        if (sketch_.healthy && kind.traits.stops_processes && lasts_ > config::kPeersWait)
          value = Text("stopped");
        break;
      }
      case FaultParamKind::kText:
        return;
    }
    Set(fault, param.name, std::move(*value));
  }

  [[nodiscard]] bool AllEndForSure() const {
    return std::all_of(sketch_.jobs.begin(), sketch_.jobs.end(),
                       [](const JobSketch& job) { return job.ends_for_sure; });
  }

  std::int64_t Whole(const FaultKind& kind, const FaultParam& param, const Node& fault) {
    if (param.name == "exit" && kind.traits.loses_containers) {
      static const std::vector<std::int64_t> kStatuses = {-100, -101, -102, -103, -104, -106,
                                                          0,    1,    137,  143,  -105, -107};
      if (sketch_.healthy || draw_.Percent(30)) return -100;
      // What ends by our order, as the last two say, is not started again: its peers may wait for
      // ever.
      return kStatuses[static_cast<std::size_t>(draw_.Whole(0, AllEndForSure() ? 11 : 9))];
    }
    if (param.name == "exit") {
      static const std::vector<std::int64_t> kExits = {1, 2, 3, 42, 75, 126, 134, 137, 139, 143, 0};
      for (const JobSketch& job : sketch_.jobs) {
        std::vector<std::int64_t> named = job.exits;
        std::erase(named, 0);
        if (!named.empty() && draw_.Percent(50)) return draw_.Of(named);
      }
      // For one that has ended well its peers may wait for ever.
      return kExits[static_cast<std::size_t>(draw_.Whole(0, AllEndForSure() ? 10 : 9))];
    }
    // More in a row end an application, or a budget, by rules that are meant so.
    if (sketch_.healthy && param.name == "count") return 1;
    // Every message of a kind, for minutes, is more than is said again in time; and a task of which
    // every beat is lost starts again until no budget is left.
    const bool of_beats = sketch_.healthy && TextAt(fault, "message") == "AgentHeartbeat";
    const std::int64_t floor = (sketch_.harmless || of_beats) && param.name == "nth" ? 1 : 0;
    const auto least = std::max<std::int64_t>(floor, static_cast<std::int64_t>(param.least));
    return draw_.Whole(least, least + 3);
  }

  Draw draw_;
  bool am_dies_ = false;  ///< Of a scenario whose faults cost nothing: some AM of it may die.
  const Sketch& sketch_;
  std::vector<const FaultKind*> kinds_;
  std::int64_t count_ = 0;
  bool node_stays_away_ = false;
  /// What the fault that is drawn waits for.
  struct Moment {
    const JobSketch* job = nullptr;
    std::string task;
    std::string message;
  };
  Moment moment_;
  std::vector<Moment> aims_of_;          ///< The one task that each fault before it strikes.
  const JobSketch* only_job_ = nullptr;  ///< Whom the fault that is drawn is for, if not any.
  Duration lasts_{};                     ///< Of the fault that is drawn.
  Duration ends_{};                      ///< Of the fault that is drawn.
  std::vector<Duration> ends_of_;        ///< Of those before it.
};

}  // namespace

DrawnFaults DrawFaults(std::uint64_t seed, const Sketch& sketch, std::int64_t count) {
  return FaultDrawer(seed, sketch).Finish(count);
}

}  // namespace tfyarn::explore
