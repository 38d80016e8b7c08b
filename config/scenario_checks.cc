// What must hold between the parts of a scenario: every name exists, and numbers of different
// blocks agree.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "config/fault_kinds.h"
#include "config/names.h"
#include "config/scenario_table.h"
#include "fakes/yarn-rm/schedulers.h"

namespace tfyarn::config {
namespace {

/// The place of a key, for errors about it.
Node KeyNode(const Entry& entry) {
  Node key{.kind = NodeKind::kScalar,
           .place = entry.key_place,
           .end = entry.key_place,
           .text = entry.key};
  key.end.col += static_cast<std::uint32_t>(entry.key.size());
  return key;
}

// ---------------------------------------------------------------- jobs

void CheckJobNames(Decoder& decoder, const Node& node, const Scenario& scenario) {
  std::set<std::string> names;
  const Node& jobs = node.Nearest("jobs");
  for (std::size_t i = 0; i < scenario.jobs.size(); ++i) {
    if (scenario.jobs[i].spec.name.empty() || names.insert(scenario.jobs[i].spec.name).second)
      continue;
    decoder.Error(ItemOf(jobs, i).Nearest("name"),
                  fmt::format("`name`: there are two jobs `{}`", scenario.jobs[i].spec.name));
  }
  const Node& arrivals = node.Nearest("arrivals");
  std::set<std::string> prefixes;
  for (std::size_t i = 0; i < scenario.arrivals.size(); ++i) {
    if (prefixes.insert(scenario.arrivals[i].prefix).second) continue;
    decoder.Error(ItemOf(arrivals, i).Nearest("prefix"),
                  fmt::format("`prefix`: `{}` is used twice", scenario.arrivals[i].prefix),
                  {"give each its own"});
  }
}

/// The queues that jobs can go to.
class QueueNames {
 public:
  explicit QueueNames(const YarnSpec& yarn) {
    std::set<std::string> paths = {"root.default"};
    for (const QueueSpec& queue : yarn.queues) {
      paths.insert(queue.path);
      for (std::size_t dot = queue.path.rfind('.'); dot != std::string::npos && dot > 0;
           dot = queue.path.rfind('.', dot - 1)) {
        parents_.insert(queue.path.substr(0, dot));
      }
    }
    parents_.insert("root");
    for (const std::string& path : paths) {
      if (parents_.contains(path)) continue;
      leaves_.push_back(path);
      names_.insert(path);
      names_.insert(path.substr(path.rfind('.') + 1));
      if (path.starts_with("root.")) names_.insert(path.substr(5));
    }
  }

  void Want(Decoder& decoder, const Node& at, const std::string& queue) const {
    if (names_.contains(queue)) return;
    const Decoder::Scope scope(decoder, "queue");
    if (parents_.contains(queue)) {
      return decoder.Error(at, decoder.Named(fmt::format(
                                   "`{}` has queues below it; jobs go to one of those", queue)));
    }
    decoder.Unknown(at, "queue", queue, leaves_);
  }

 private:
  std::vector<std::string> leaves_;
  std::set<std::string> parents_;
  std::set<std::string>
      names_;  // a leaf goes by its path, with or without the root, or by its last part
};

/// What a job wants of the cluster.
void CheckPlacement(Decoder& decoder, const Node& node, const Scenario& scenario,
                    const QueueNames& queues, const JobConfig& job) {
  if (!decoder.Broken("yarn") && fakes::FindScheduler(scenario.yarn.scheduler)->has_limits) {
    queues.Want(decoder, node.Nearest("queue"), job.spec.queue);
  }
  if (!decoder.Broken("yarn") && job.spec.gang.policy == GangPolicy::kAll &&
      job.spec.gang.hold >= scenario.yarn.container_expiry) {
    decoder.Error(
        node.Nearest("gang.hold"),
        fmt::format("`hold`: {} is not below yarn.expiry.container, {}: the RM would take the "
                    "containers back",
                    ToString(job.spec.gang.hold), ToString(scenario.yarn.container_expiry)));
  }
  if (decoder.Broken("cluster")) return;
  std::vector<std::string> partitions;
  for (const NodeClass& node_class : scenario.cluster.nodes) {
    if (!node_class.partition.empty()) partitions.push_back(node_class.partition);
  }
  for (const TaskTypeSpec& task : job.spec.tasks) {
    if (task.node_label.empty()) continue;
    if (std::find(partitions.begin(), partitions.end(), task.node_label) != partitions.end())
      continue;
    const Decoder::Scope scope(decoder, "node_label");
    decoder.Unknown(node.Nearest("tasks").Nearest(task.name).Nearest("node_label"), "partition",
                    task.node_label, partitions);
  }
}

void CheckJobs(Decoder& decoder, const Node& node, const Scenario& scenario) {
  CheckJobNames(decoder, node, scenario);
  const QueueNames queues(scenario.yarn);
  const Node& jobs = node.Nearest("jobs");
  for (std::size_t i = 0; i < scenario.jobs.size(); ++i) {
    if (decoder.BrokenItem("jobs", i)) continue;
    CheckPlacement(decoder, ItemOf(jobs, i), scenario, queues, scenario.jobs[i]);
  }
  const Node& arrivals = node.Nearest("arrivals");
  for (std::size_t i = 0; i < scenario.arrivals.size(); ++i) {
    const ArrivalSpec& arrival = scenario.arrivals[i];
    const Node& at = ItemOf(arrivals, i);
    if (decoder.BrokenItem("arrivals", i)) continue;
    if (arrival.job != nullptr)
      CheckPlacement(decoder, at.Nearest("template"), scenario, queues, *arrival.job);
    if (decoder.Broken("yarn")) continue;
    for (std::size_t q = 0; q < arrival.queues.size(); ++q) {
      queues.Want(decoder, ItemOf(at.Nearest("trace.queues"), q), arrival.queues[q]);
    }
    const Node* by_cluster = at.FindPath("trace.queue_of_cluster");
    if (by_cluster == nullptr) continue;
    for (const Entry& entry : by_cluster->entries) {
      const auto queue = arrival.queue_of_cluster.find(entry.key);
      if (queue != arrival.queue_of_cluster.end()) queues.Want(decoder, entry.value, queue->second);
    }
  }
}

// ---------------------------------------------------------------- sweep

void CheckWhere(Decoder& decoder, const Node& node, const Scenario& scenario) {
  const Node& list = node.Nearest("expect");
  std::vector<std::string> paths;
  if (scenario.sweep) {
    for (const auto& [path, values] : scenario.sweep->matrix) paths.push_back(path);
  }
  for (std::size_t i = 0; i < scenario.expect.size(); ++i) {
    const Node* where = ItemOf(list, i).Find("where");
    if (where == nullptr) continue;
    const Decoder::Scope scope(decoder, "where");
    for (const Entry& entry : where->entries) {
      const auto at = std::find(paths.begin(), paths.end(), entry.key);
      if (at == paths.end()) {
        decoder.Unknown(KeyNode(entry), "path in the matrix", entry.key, paths);
        continue;
      }
      const auto& values =
          scenario.sweep->matrix[static_cast<std::size_t>(at - paths.begin())].second;
      const auto value = scenario.expect[i].where.find(entry.key);
      if (value == scenario.expect[i].where.end()) continue;
      if (std::find(values.begin(), values.end(), value->second) == values.end()) {
        decoder.Unknown(entry.value, "value in the matrix", value->second, values);
      }
    }
  }
}

}  // namespace

const JobConfig* JobNames::Find(std::string_view name) const {
  for (const JobConfig& job : scenario_.jobs) {
    if (job.spec.name == name) return &job;
  }
  for (const ArrivalSpec& arrival : scenario_.arrivals) {
    if (arrival.job == nullptr || name.size() <= arrival.prefix.size() + 1 ||
        !name.starts_with(arrival.prefix) || name[arrival.prefix.size()] != '-') {
      continue;
    }
    const std::string_view number = name.substr(arrival.prefix.size() + 1);
    std::int64_t index = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), index);
    const std::int64_t most = arrival.count > 0   ? arrival.count
                              : arrival.limit > 0 ? arrival.limit
                                                  : 10'000'000;
    const bool is_number = error == std::errc() && end == number.data() + number.size();
    if (is_number && index >= 1 && index <= most && number[0] != '0') return arrival.job.get();
  }
  return nullptr;
}

std::vector<std::string> JobNames::All() const {
  std::vector<std::string> names;
  for (const JobConfig& job : scenario_.jobs) names.push_back(job.spec.name);
  for (const ArrivalSpec& arrival : scenario_.arrivals) names.push_back(arrival.prefix + "-1");
  return names;
}

void CheckScenario(Decoder& decoder, const Node& node, const Scenario& scenario) {
  const bool any_broken = decoder.Broken("jobs") || decoder.Broken("arrivals");
  if (!any_broken && scenario.jobs.empty() && scenario.arrivals.empty()) {
    decoder.Error(node, "the scenario has no job", {"give `jobs` or `arrivals`"});
  }
  if (!decoder.Broken("defaults")) CheckJobs(decoder, node, scenario);
  CheckTargets(decoder, node, scenario);
  CheckExpectations(decoder, node, scenario);
  if (!decoder.Broken("expect") && !decoder.Broken("sweep")) CheckWhere(decoder, node, scenario);
  if (!decoder.Broken("warmup") && !decoder.Broken("horizon") &&
      scenario.warmup >= scenario.horizon) {
    decoder.Error(node.Nearest("warmup"), "`warmup`: must be shorter than horizon");
  }
}

}  // namespace tfyarn::config
