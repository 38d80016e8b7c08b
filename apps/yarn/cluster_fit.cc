#include "apps/yarn/cluster_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

#include "core/placement/feasibility.h"
#include "core/placement/inventory.h"
#include "core/placement/place_gang.h"

namespace tfyarn::apps {
namespace {

using enum CheckState;

Resource SumOf(const std::vector<placement::SlotGroup>& groups) {
  Resource sum;
  for (const placement::SlotGroup& group : groups) sum += Times(group.resource, group.count);
  return sum;
}

/// What an RM of this configuration drops from an ask without a word.
std::string UnknownType(const Resource& ask, const std::vector<std::string>& types) {
  if (types.empty()) return "";
  const auto unknown = [&](std::string_view name) {
    return std::find(types.begin(), types.end(), name) == types.end();
  };
  if (ask.gpus > 0 && unknown(kGpuResourceName)) return std::string(kGpuResourceName);
  for (const auto& [name, amount] : ask.others) {
    if (amount > 0 && unknown(name)) return name;
  }
  return "";
}

Check Judged(std::string subject, CheckState state, std::string text, std::string advice = "") {
  return {.subject = std::move(subject),
          .state = state,
          .text = std::move(text),
          .advice = std::move(advice)};
}

/// How many nodes an assignment uses.
std::size_t NodesOf(const placement::Assignment& assignment) {
  std::vector<std::size_t> nodes;
  for (const auto& group : assignment.groups) {
    for (const placement::Placed& placed : group) nodes.push_back(placed.node);
  }
  std::sort(nodes.begin(), nodes.end());
  return static_cast<std::size_t>(std::unique(nodes.begin(), nodes.end()) - nodes.begin());
}

class Judge {
 public:
  Judge(const JobSpec& job, const AskFacts& facts)
      : job_(job),
        facts_(facts),
        inventory_(facts.cluster.nodes),
        groups_(placement::GroupsOf(job)) {
    for (const yarn::NodeReport& node : facts.cluster.nodes) {
      if (node.state == yarn::NodeState::kRunning) up_[node.partition] += node.capability;
    }
    partitions_.emplace("");  // The AM's.
    for (const placement::SlotGroup& group : groups_) partitions_.insert(group.node_label);
    inventory_.Scan([&](const placement::Node& node) {
      if (!partitions_.contains(node.partition)) return true;
      if (node.up) free_ += node.free;
      largest_ = ComponentMax(largest_, node.capability);
      return true;
    });
  }

  FitResult Run() {
    if (auto refusal = JudgeQueue(job_.queue, facts_)) {
      result_.fit = Fit::kRefused;
      result_.checks.push_back(std::move(*refusal));
      return std::move(result_);
    }
    Attempts();
    if (!Types()) return std::move(result_);
    if (!Sizes()) {
      result_.for_want_of_nodes = true;
      return std::move(result_);
    }
    // The AM's own container is granted first.
    groups_.push_back({.task_type = "ApplicationMaster", .resource = job_.am.resource, .count = 1});
    if (Ever()) Now();
    result_.for_want_of_nodes = result_.fit == Fit::kNever;
    return std::move(result_);
  }

 private:
  void Attempts() {
    if (!facts_.am_attempts || job_.am.attempts <= *facts_.am_attempts) return;
    result_.checks.push_back(
        Judged("am.attempts", kWarning,
               fmt::format("{} are asked for, and the ResourceManager allows {}", job_.am.attempts,
                           *facts_.am_attempts),
               "yarn.resourcemanager.am.max-attempts is the limit"));
  }

  bool Types() {
    for (const placement::SlotGroup& group : groups_) {
      const std::string unknown = UnknownType(group.resource, facts_.types);
      if (unknown.empty()) continue;
      Never(group.task_type,
            fmt::format("asks for {}, which the ResourceManager does not know", unknown),
            "yarn.resource-types names what can be asked for");
      return false;
    }
    return true;
  }

  bool Sizes() {
    const auto infeasible =
        placement::FindInfeasible(groups_, inventory_,
                                  {.queue_maximum = facts_.cluster.queue_maximum,
                                   .queue_shares = up_,
                                   .maximum_container = facts_.cluster.maximum_container,
                                   .reserved = job_.am.resource});
    if (!infeasible) {
      result_.checks.push_back(
          Judged("limits", kOk, "largest container " + LargestContainer() + QueueMaximum()));
      return true;
    }
    const std::string& type = infeasible->task_type;
    Never(type.empty() ? "all tasks" : type, infeasible->text,
          "ask for less, or for other nodes (`node_label`)");
    return false;
  }

  /// As the RM allows it, and the nodes that the job can use have it.
  [[nodiscard]] std::string LargestContainer() const {
    const Resource& most = facts_.cluster.maximum_container;
    if (IsZero(largest_)) return ToString(most);
    if (IsZero(most)) return ToString(largest_);
    return ToString(ComponentMin(most, largest_));
  }

  /// "; queue 'a' at most 8 GiB, 4 vcores" of each partition that the job uses; "" when the RM does
  /// not say it.
  [[nodiscard]] std::string QueueMaximum() const {
    std::string text;
    for (const std::string& partition : partitions_) {
      const auto maximum = facts_.cluster.queue_maximum.find(partition);
      if (maximum == facts_.cluster.queue_maximum.end()) continue;
      text += text.empty() ? fmt::format("; queue '{}' at most ", job_.queue) : ", ";
      text += ToString(maximum->second);
      if (!partition.empty()) text += " of partition " + partition;
    }
    return text;
  }

  bool Ever() {
    if (inventory_.empty()) {
      result_.checks.push_back(
          Judged("all tasks", kNotChecked, "the ResourceManager knows of no node yet"));
      return false;
    }
    const auto placed =
        placement::PlaceGang(groups_, inventory_, {.space = placement::Space::kEmpty});
    if (placed.found == placement::Found::kPlaced) return true;
    if (placed.found == placement::Found::kImpossible) {
      Never("ApplicationMaster",
            fmt::format("the tasks have room on the empty cluster, but not together with the AM's "
                        "own container ({})",
                        ToString(job_.am.resource)),
            "ask for fewer or smaller tasks, or for a smaller `am`");
    } else {
      result_.checks.push_back(
          Judged("all tasks", kNotChecked, "no placement was found, and none is ruled out either"));
    }
    return false;
  }

  void Now() {
    const auto placed = placement::PlaceGang(groups_, inventory_, {});
    const Resource need = SumOf(groups_);
    if (placed.found == placement::Found::kPlaced) {
      result_.fit = Fit::kNow;
      result_.checks.push_back(
          Judged("all tasks", kOk,
                 fmt::format("{} with the AM, of {} that are free: there is room on {} node{}",
                             ToString(need), ToString(free_), NodesOf(placed.assignment),
                             NodesOf(placed.assignment) == 1 ? "" : "s")));
      return;
    }
    result_.fit = Fit::kLater;
    result_.checks.push_back(Judged(
        "all tasks", kWarning,
        fmt::format("{} with the AM do not fit into what is free now, {} on nodes of their own",
                    ToString(need), ToString(free_)),
        "the job would wait for others to leave (`gang.deadline` says how long)"));
  }

  void Never(const std::string& subject, std::string text, std::string advice) {
    result_.fit = Fit::kNever;
    result_.checks.push_back(Judged(subject, kProblem, std::move(text), std::move(advice)));
  }

  const JobSpec& job_;
  const AskFacts& facts_;
  placement::Inventory inventory_;
  std::vector<placement::SlotGroup> groups_;
  std::set<std::string> partitions_;  ///< That the job uses.
  yarn::PartitionAmounts up_;
  Resource free_;     ///< Of these partitions.
  Resource largest_;  ///< Of each resource, on a node of these partitions.
  FitResult result_;
};

}  // namespace

std::string NameOf(Fit fit) {
  switch (fit) {
    case Fit::kNow:
      return "fits now";
    case Fit::kLater:
      return "fits when others leave";
    case Fit::kNever:
      return "can never fit";
    case Fit::kRefused:
      return "would be refused";
    case Fit::kUnknown:
      return "may fit";
  }
  return "";
}

std::optional<Check> JudgeQueue(const std::string& queue, const AskFacts& facts) {
  using hadoop::QueueRunState;
  const std::string subject = "queue " + queue;
  if (facts.queue_state && *facts.queue_state != QueueRunState::kRunning) {
    const bool stopped = *facts.queue_state == QueueRunState::kStopped;
    return Judged(subject, kProblem,
                  fmt::format("queue '{}' is {} and takes no application", queue,
                              stopped ? "STOPPED" : "DRAINING"),
                  "ask for another queue, or have an administrator start it: "
                  "yarn.scheduler.capacity.PATH.state=RUNNING");
  }
  // The RM names a queue by its path, or by the path's last part, and so does a job.
  const auto last = [](const std::string& path) { return path.substr(path.rfind('.') + 1); };
  const auto is_it = [&](const hadoop::QueueRights& each) {
    const bool paths =
        each.queue.find('.') != std::string::npos && queue.find('.') != std::string::npos;
    return paths ? each.queue == queue : last(each.queue) == last(queue);
  };
  bool known = false;
  for (const hadoop::QueueRights& each : facts.queue_rights) {
    if (is_it(each) && each.submit) return std::nullopt;
    known = known || is_it(each);
  }
  if (!known) return std::nullopt;
  return Judged(subject, kProblem, fmt::format("no right to submit to queue '{}'", queue),
                "ask for another queue, or have an administrator allow it: "
                "yarn.scheduler.capacity.PATH.acl_submit_applications");
}

FitResult JudgeFit(const JobSpec& job, const AskFacts& facts) {
  return Judge(job, facts).Run();
}

}  // namespace tfyarn::apps
