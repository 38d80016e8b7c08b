// Names in faults and expectations: nodes, racks, labels, jobs, tasks and faults that must exist.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "config/fault_kinds.h"
#include "config/names.h"
#include "config/scenario_table.h"

namespace tfyarn::config {
namespace {

class ReferenceCheck {
 public:
  ReferenceCheck(Decoder& decoder, const Scenario& scenario)
      : decoder_(decoder),
        scenario_(scenario),
        jobs_(scenario),
        jobs_known_(!decoder.Broken("arrivals") &&
                    std::none_of(scenario.jobs.begin(), scenario.jobs.end(),
                                 [](const JobConfig& job) { return job.spec.name.empty(); })),
        cluster_known_(!decoder.Broken("cluster")) {
    if (!cluster_known_) return;
    for (std::int32_t i = 1; i <= scenario.cluster.racks; ++i) racks_.insert(fmt::format("r{}", i));
    const std::vector<std::string> names = NodeNames(scenario.cluster);
    const std::vector<std::string> racks = RacksOfNodes(scenario.cluster);
    nodes_.insert(names.begin(), names.end());
    for (const NodeClass& node_class : scenario.cluster.nodes) {
      labels_.insert(node_class.labels.begin(), node_class.labels.end());
      for (std::int32_t i = 0; i < node_class.count; ++i) {
        const std::size_t at = places_.size();
        places_.push_back({.name = names[at], .rack = racks[at], .node_class = &node_class});
      }
    }
  }

  void CheckTarget(const Node& node, const Target& target) {
    switch (target.kind) {
      case TargetKind::kNode:
        return WantIn(node, "node", target.name, nodes_);
      case TargetKind::kRack:
        WantIn(node, "rack", target.name, racks_);
        if (racks_.contains(target.name) && !Finds(target, IsAny))
          decoder_.Error(node.Nearest("rack"),
                         fmt::format("`rack`: there is no node in {}", target.name));
        return;
      case TargetKind::kLabel:
        return WantIn(node, "label", target.name, labels_);
      case TargetKind::kTask:
        return WantTask(node, target.name, target.task);
      case TargetKind::kAm:
        return (void)WantJob(node.Nearest("am"), target.name);
      case TargetKind::kRandom:
      case TargetKind::kFraction:
        if (target.amount == 0)
          decoder_.Error(node.Nearest("fraction"), "`fraction`: 0 is a part of nothing");
        return CheckTarget(node.Nearest("of"), *target.of);
      case TargetKind::kRm:
      case TargetKind::kHdfs:
      case TargetKind::kAllNodes:
        return;
    }
  }

  /// Of a fault of GPUs.
  void WantGpus(const Node& node, const Target& target) {
    const auto has_gpus = [](const NodeClass& of) { return of.resources.gpus > 0; };
    if (Finds(target, IsAny) && !Finds(target, has_gpus))
      decoder_.Error(node, "`target`: none of these nodes has a GPU");
  }

  /// A fault that waits for another, which waits for it in the end, never comes. Said once of each
  /// circle.
  void WantNoCircle(const Node& node, std::size_t first) {
    const auto next = [&](std::size_t fault) {
      const auto& after = scenario_.faults[fault].when.fault;
      return after && *after >= 0 ? static_cast<std::size_t>(*after) : scenario_.faults.size();
    };
    const std::size_t count = scenario_.faults.size();
    std::size_t at = next(first);
    for (std::size_t steps = 0; steps < count && at > first && at < count; ++steps) at = next(at);
    if (at != first || next(first) == first) return;
    decoder_.Error(node,
                   fmt::format("fault {} and fault {} wait for each other", first, next(first)));
  }

  /// `node` holds `job` and `task`.
  void WantTask(const Node& node, const std::string& job_name, const std::string& task) {
    const JobConfig* job = WantJob(node.Nearest("job"), job_name);
    if (job == nullptr || task.empty() || IsBroken(*job)) return;
    const SelectedTask selected = SplitTask(task);
    const TaskTypeSpec* type = job->spec.FindType(selected.type);
    const Decoder::Scope scope(decoder_, "task");
    if (type == nullptr) {
      std::vector<std::string> types;
      for (const TaskTypeSpec& known : job->spec.tasks) types.push_back(known.name);
      decoder_.Unknown(node.Nearest("task"), "task type", selected.type, types);
    } else if (selected.index && *selected.index >= type->instances &&
               !IsShapedByTrace(job_name, selected.type)) {
      decoder_.Error(node.Nearest("task"),
                     decoder_.Named(fmt::format("there is no task {}, {} has {}", task, type->name,
                                                Counted(type->instances, "instance"))));
    }
  }

  /// The job, or nullptr with an error at `node`.
  const JobConfig* WantJob(const Node& node, std::string_view name) {
    if (!jobs_known_) return nullptr;
    const JobConfig* job = jobs_.Find(name);
    if (job != nullptr) return job;
    const Decoder::Scope scope(decoder_, "job");
    decoder_.Unknown(node, "job", name, jobs_.All());
    return nullptr;
  }

  /// The position of a fault other than `self`.
  void WantOther(const Node& node, std::int64_t fault, std::size_t self) {
    const auto count = static_cast<std::int64_t>(scenario_.faults.size());
    if (fault >= count) {
      decoder_.Error(node, fmt::format("there is no fault {}: the list has {}, counted from 0",
                                       fault, Counted(count, "fault")));
    } else if (fault == static_cast<std::int64_t>(self)) {
      decoder_.Error(node, "a fault cannot wait for itself");
    }
  }

  /// `text` is "fault/N" and perhaps more.
  void WantFault(const Node& node, std::string_view text) {
    std::size_t index = 0;
    const std::string_view number = text.substr(6);
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), index);
    (void)end;
    if (error == std::errc() && index < scenario_.faults.size()) return;
    decoder_.Error(
        node, fmt::format("there is no {}: the scenario has {}, counted from 0",
                          Printable(text.substr(0, text.find('.'))),
                          Counted(static_cast<std::int64_t>(scenario_.faults.size()), "fault")));
  }

 private:
  struct NodePlace {
    std::string name;
    std::string rack;
    const NodeClass* node_class = nullptr;
  };

  static bool IsAny(const NodeClass& /*node_class*/) { return true; }
  /// Whether the target may be a node for whose class `fits` holds.
  [[nodiscard]] bool Finds(const Target& target, bool (*fits)(const NodeClass&)) const {
    return std::any_of(places_.begin(), places_.end(), [&](const NodePlace& place) {
      return fits(*place.node_class) && MayBe(target, place);
    });
  }
  static bool MayBe(const Target& target, const NodePlace& place) {
    const auto& labels = place.node_class->labels;
    switch (target.kind) {
      case TargetKind::kNode:
        return place.name == target.name;
      case TargetKind::kRack:
        return place.rack == target.name;
      case TargetKind::kLabel:
        return std::find(labels.begin(), labels.end(), target.name) != labels.end();
      case TargetKind::kRandom:
      case TargetKind::kFraction:
        return MayBe(*target.of, place);
      case TargetKind::kTask:
      case TargetKind::kAm:
      case TargetKind::kRm:
      case TargetKind::kHdfs:
      case TargetKind::kAllNodes:
        return true;
    }
    return true;
  }

  /// What is wrong with a job hides what tasks it has.
  [[nodiscard]] bool IsBroken(const JobConfig& job) const {
    for (std::size_t i = 0; i < scenario_.jobs.size(); ++i) {
      if (&scenario_.jobs[i] == &job) return decoder_.BrokenItem("jobs", i);
    }
    return false;
  }

  void WantIn(const Node& node, std::string_view what, const std::string& name,
              const std::set<std::string>& known) {
    if (!cluster_known_ || known.contains(name)) return;
    const Decoder::Scope scope(decoder_, std::string(what));
    decoder_.Unknown(node.Nearest(what), what, name, {known.begin(), known.end()});
  }

  /// Workers of a trace's jobs are as many as the row says.
  [[nodiscard]] bool IsShapedByTrace(std::string_view job, std::string_view type) const {
    if (type != "worker") return false;
    const bool listed = std::any_of(scenario_.jobs.begin(), scenario_.jobs.end(),
                                    [&](const JobConfig& known) { return known.spec.name == job; });
    return !listed && std::any_of(scenario_.arrivals.begin(), scenario_.arrivals.end(),
                                  [&](const ArrivalSpec& arrival) {
                                    return !arrival.trace_file.empty() &&
                                           job.starts_with(arrival.prefix + "-");
                                  });
  }

  Decoder& decoder_;
  const Scenario& scenario_;
  JobNames jobs_;
  bool jobs_known_;
  bool cluster_known_;
  std::set<std::string> nodes_;
  std::set<std::string> racks_;
  std::vector<NodePlace> places_;  // of all nodes
  std::set<std::string> labels_;
};

/// The job in "job/NAME.FIELD", as far as it can be told: the longest known one.
std::string JobOf(const JobNames& jobs, std::string_view metric) {
  const std::string_view rest = metric.substr(4);
  for (std::size_t dot = rest.rfind('.'); dot != std::string_view::npos && dot > 0;
       dot = rest.rfind('.', dot - 1)) {
    if (jobs.Find(rest.substr(0, dot)) != nullptr) return std::string(rest.substr(0, dot));
  }
  return std::string(rest.substr(0, rest.find('.')));
}

}  // namespace

void CheckTargets(Decoder& decoder, const Node& node, const Scenario& scenario) {
  ReferenceCheck check(decoder, scenario);
  const Node& faults = node.Nearest("faults");
  for (std::size_t i = 0; i < scenario.faults.size(); ++i) {
    const FaultSpec& fault = scenario.faults[i];
    if (decoder.BrokenItem("faults", i)) continue;
    const Node& at = ItemOf(faults, i);
    if (fault.target && at.Find("target") != nullptr)
      check.CheckTarget(*at.Find("target"), *fault.target);
    if (fault.target && TraitsOf(fault.kind).strikes_gpus)
      check.WantGpus(at.Nearest("target"), *fault.target);
    for (std::size_t g = 0; g < fault.between.size(); ++g) {
      check.CheckTarget(ItemOf(at.Nearest("between"), g), fault.between[g]);
    }
    const Node& when = at.Nearest("when");
    if (!fault.when.job.empty()) check.WantTask(when, fault.when.job, fault.when.task);
    if (fault.when.fault) {
      check.WantOther(when.Nearest("fault"), *fault.when.fault, i);
      check.WantNoCircle(when.Nearest("fault"), i);
    }
  }
}

void CheckExpectations(Decoder& decoder, const Node& node, const Scenario& scenario) {
  ReferenceCheck check(decoder, scenario);
  const JobNames jobs(scenario);
  const Node& list = node.Nearest("expect");
  for (std::size_t i = 0; i < scenario.expect.size(); ++i) {
    const Expectation& expectation = scenario.expect[i];
    if (decoder.BrokenItem("expect", i)) continue;
    const Node& at = ItemOf(list, i);
    const Node* named = nullptr;
    for (const std::string_view key : {"job", "metric", "never", "eventually"}) {
      if (named == nullptr) named = at.Find(key);
    }
    if (named == nullptr) continue;
    std::set<std::string> seen;
    for (const Comparison& comparison : expectation.all_of) {
      if (comparison.metric.starts_with("fault/")) check.WantFault(*named, comparison.metric);
      if (!comparison.metric.starts_with("job/")) continue;
      const std::string job =
          at.Find("job") != nullptr ? at.Find("job")->text : JobOf(jobs, comparison.metric);
      if (seen.insert(job).second) (void)check.WantJob(*named, job);
    }
    if (!expectation.after.empty()) check.WantFault(at.Nearest("after"), expectation.after);
  }
}

}  // namespace tfyarn::config
