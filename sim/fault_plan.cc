#include "sim/fault_plan.h"

#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/model/check.h"
#include "core/model/describe.h"

namespace tfyarn::sim {
namespace {

/// A law may draw 0; a fault that strikes for ever at one instant would stop time.
constexpr Duration kShortestInterval = 1ms;

bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

bool IsMessageFault(std::string_view kind) {
  return kind == "drop" || kind == "delay" || kind == "duplicate";
}

/// What a fault without a target strikes, where its kind says so.
std::vector<Struck> ImpliedBy(std::string_view kind) {
  if (StartsWith(kind, "rm_")) return {{.kind = StruckKind::kRm}};
  if (StartsWith(kind, "hdfs_")) return {{.kind = StruckKind::kHdfs}};
  return {};
}

/// `amount` of the candidates, each set equally likely, in the candidates' order.
std::vector<Struck> Choose(std::vector<Struck> candidates, std::size_t amount, Random& draw) {
  amount = std::min(amount, candidates.size());
  std::vector<Struck> chosen;
  for (std::size_t i = 0; i < candidates.size() && amount > 0; ++i) {
    if (draw.UniformInt(candidates.size() - i) >= amount) continue;
    chosen.push_back(std::move(candidates[i]));
    --amount;
  }
  return chosen;
}

void AddTasks(const ClusterView& cluster, const std::string& job, std::vector<Struck>& struck) {
  for (const TaskId& task : cluster.TasksOfJob(job)) {
    struck.push_back({.kind = StruckKind::kTask,
                      .node = cluster.NodeOfTask(job, task).value_or(-1),
                      .job = job,
                      .task = task});
  }
}

template <class Predicate>
std::vector<Struck> NodesThat(const ClusterView& cluster, Predicate matches) {
  const std::vector<PlanNode>& nodes = cluster.nodes();
  std::vector<Struck> struck;
  struck.reserve(static_cast<std::size_t>(std::count_if(nodes.begin(), nodes.end(), matches)));
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (matches(nodes[i])) struck.push_back({.node = static_cast<std::int32_t>(i)});
  }
  return struck;
}

std::string Text(const Struck& struck, const ClusterView& cluster) {
  switch (struck.kind) {
    case StruckKind::kNode:
      return cluster.nodes()[static_cast<std::size_t>(struck.node)].name;
    case StruckKind::kTask:
      return struck.job + " " + ToString(struck.task);
    case StruckKind::kAm:
      return "am of " + struck.job;
    case StruckKind::kJob:
      return struck.job;
    case StruckKind::kRm:
      return "rm";
    case StruckKind::kHdfs:
      return "hdfs";
  }
  return "";
}

std::string Text(const std::vector<Struck>& struck, const ClusterView& cluster) {
  constexpr std::size_t kNamed = 8;
  std::string text;
  for (std::size_t i = 0; i < struck.size() && i < kNamed; ++i) {
    if (i > 0) text += ", ";
    text += Text(struck[i], cluster);
  }
  if (struck.size() > kNamed) text += " and " + std::to_string(struck.size() - kNamed) + " more";
  return text;
}

}  // namespace

std::string DescribeStruck(const FaultOrder& order, const ClusterView& cluster) {
  std::string text;
  for (const std::vector<Struck>& group : order.groups) {
    if (!text.empty()) text += " | ";
    text += group.empty() ? "nobody" : Text(group, cluster);
  }
  if (!order.groups.empty()) return text;
  if (!order.struck.empty()) return Text(order.struck, cluster);
  return order.spec->target ? "nobody" : "everybody";
}

// ---------------------------------------------------------------- planning

FaultPlan::FaultPlan(const std::vector<config::FaultSpec>& faults, const ClusterView& cluster,
                     std::uint64_t seed,
                     const std::map<std::uint32_t, std::vector<Outage>>& outages)
    : faults_(faults), cluster_(cluster), instances_(faults.size(), 0) {
  for (std::uint32_t fault = 0; fault < faults.size(); ++fault) {
    const auto recorded = outages.find(fault);
    if (recorded != outages.end()) {
      PlanOutages(fault, recorded->second);
    } else if (faults[fault].kind != "trace") {
      Plan(fault, seed);
    }
  }
}

void FaultPlan::Plan(std::uint32_t fault, std::uint64_t seed) {
  const config::FaultSpec& spec = faults_[fault];
  const std::size_t first = clocks_.size();
  if (spec.when.every && spec.when.per_node) {
    Random draw(seed, "fault/nodes", fault);
    const std::vector<Struck> nodes =
        spec.target ? Resolve(*spec.target, spec.kind, draw)
                    : NodesThat(cluster_, [](const PlanNode&) { return true; });
    for (const Struck& struck : nodes) {
      if (struck.node >= 0) AddClock(fault, struck.node, seed);
    }
  } else {
    AddClock(fault, -1, seed);
  }
  for (std::size_t clock = first; clock < clocks_.size(); ++clock) {
    if (spec.when.state) {
      waiting_[spec.when.job].push_back(clock);
    } else if (spec.when.every && !spec.when.at) {
      PlanNext(clock, Instant{} + spec.when.after);
    } else {
      Push({.at = Instant{} + spec.when.at.value_or(Duration::zero()) + spec.when.after,
            .fault = fault,
            .clock = clock});
    }
  }
}

void FaultPlan::AddClock(std::uint32_t fault, std::int32_t node, std::uint64_t seed) {
  // A node is known by its name, so that its failures stay the same when other nodes are added.
  std::uint64_t entity = fault;
  if (node >= 0) {
    const std::string& name = cluster_.nodes()[static_cast<std::size_t>(node)].name;
    entity = XXH3_64bits_withSeed(name.data(), name.size(), fault);
  }
  clocks_.push_back({.fault = fault,
                     .node = node,
                     .every = Random(seed, "fault/every", entity),
                     .lasting = Random(seed, "fault/for", entity),
                     .targets = Random(seed, "fault/targets", entity)});
}

// Outages of one node that overlap are one: it is down while any of its sources is.
void FaultPlan::PlanOutages(std::uint32_t fault, std::vector<Outage> outages) {
  const auto nodes = static_cast<std::int64_t>(cluster_.nodes().size());
  if (nodes == 0) return;
  for (Outage& outage : outages) outage.source %= nodes;
  std::sort(outages.begin(), outages.end(), [](const Outage& a, const Outage& b) {
    return a.source != b.source ? a.source < b.source : a.from < b.from;
  });
  for (std::size_t i = 0; i < outages.size();) {
    const Outage& first = outages[i];
    Instant to = first.to;
    for (++i; i < outages.size() && outages[i].source == first.source && outages[i].from <= to;
         ++i) {
      to = std::max(to, outages[i].to);
    }
    Push({.at = first.from,
          .fault = fault,
          .clock = kNoClock,
          .trace_node = static_cast<std::int32_t>(first.source),
          .trace_end = to});
  }
}

void FaultPlan::Push(Due due) {
  due.sequence = next_sequence_++;
  due_.push(due);
}

void FaultPlan::PlanNext(std::size_t clock, Instant from) {
  Clock& c = clocks_[clock];
  const std::optional<config::Distribution>& every = faults_[c.fault].when.every;
  if (!every) return;
  Push({.at = from + std::max(c.every.DrawDuration(*every), kShortestInterval),
        .fault = c.fault,
        .clock = clock});
}

// ---------------------------------------------------------------- firing

std::optional<Instant> FaultPlan::next_deadline() const {
  if (due_.empty()) return std::nullopt;
  return due_.top().at;
}

std::vector<FaultOrder> FaultPlan::Fire(Instant now) {
  std::vector<FaultOrder> orders;
  while (!due_.empty() && due_.top().at <= now) {
    const Due due = due_.top();
    due_.pop();
    if (due.begins) {
      Begin(due, orders);
    } else {
      End(due, orders);
    }
  }
  return orders;
}

void FaultPlan::Begin(const Due& due, std::vector<FaultOrder>& orders) {
  const config::FaultSpec& spec = faults_[due.fault];
  FaultOrder order{
      .fault = due.fault, .instance = instances_[due.fault]++, .kind = spec.kind, .spec = &spec};
  std::optional<Instant> end;
  if (due.clock == kNoClock) {
    order.kind = "node_crash";
    order.struck.push_back({.node = due.trace_node});
    end = due.trace_end;
  } else {
    Clock& clock = clocks_[due.clock];
    if (clock.node >= 0) {
      order.struck.push_back({.node = clock.node});
    } else {
      order.struck = StruckBy(spec, clock.targets);
    }
    for (const config::Target& group : spec.between)
      order.groups.push_back(Resolve(group, spec.kind, clock.targets));
    if (spec.duration) end = due.at + clock.lasting.DrawDuration(*spec.duration);
  }
  order.lasts = end.has_value();
  if (!end) {
    PlanNext(due.clock, due.at);
  } else {
    std::size_t place = open_.size();
    if (free_.empty()) {
      open_.emplace_back();
    } else {
      place = free_.back();
      free_.pop_back();
    }
    open_[place] = {.order = order, .clock = due.clock};
    Push({.at = *end, .begins = false, .fault = due.fault, .order = place});
  }
  orders.push_back(std::move(order));
}

void FaultPlan::End(const Due& due, std::vector<FaultOrder>& orders) {
  Open& open = open_[due.order];
  open.order.begins = false;
  open.order.lasts = false;
  if (open.clock != kNoClock) PlanNext(open.clock, due.at);
  orders.push_back(std::move(open.order));
  free_.push_back(due.order);
}

// ---------------------------------------------------------------- waiting for jobs

bool FaultPlan::Watches(std::string_view job) const {
  return waiting_.find(job) != waiting_.end();
}

void FaultPlan::OnJobState(Instant now, std::string_view job, JobState state) {
  if (Watches(job)) Trigger(now, job, KebabName(state), nullptr);
}

void FaultPlan::OnTaskRegistered(Instant now, std::string_view job, const TaskId& task) {
  if (Watches(job)) Trigger(now, job, "registered", &task);
}

void FaultPlan::Trigger(Instant now, std::string_view job, std::string_view state,
                        const TaskId* task) {
  const auto waiting = waiting_.find(job);
  std::vector<std::size_t> left;
  for (const std::size_t clock : waiting->second) {
    const config::FaultWhen& when = faults_[clocks_[clock].fault].when;
    const bool same_task = task == nullptr || when.task.empty() || when.task == task->type ||
                           when.task == ToString(*task);
    if (*when.state == state && same_task) {
      Push({.at = now + when.after, .fault = clocks_[clock].fault, .clock = clock});
    } else {
      left.push_back(clock);
    }
  }
  if (left.empty()) {
    waiting_.erase(waiting);
  } else {
    waiting->second = std::move(left);
  }
}

// ---------------------------------------------------------------- targets

std::vector<Struck> FaultPlan::StruckBy(const config::FaultSpec& spec, Random& draw) const {
  return spec.target ? Resolve(*spec.target, spec.kind, draw) : ImpliedBy(spec.kind);
}

std::vector<Struck> FaultPlan::Resolve(const config::Target& target, std::string_view kind,
                                       Random& draw) const {
  std::vector<Struck> struck;
  switch (target.kind) {
    case config::TargetKind::kNode:
      return NodesThat(cluster_, [&](const PlanNode& node) { return node.name == target.name; });
    case config::TargetKind::kRack:
      return NodesThat(cluster_, [&](const PlanNode& node) { return node.rack == target.name; });
    case config::TargetKind::kLabel:
      return NodesThat(cluster_, [&](const PlanNode& node) {
        return std::find(node.labels.begin(), node.labels.end(), target.name) != node.labels.end();
      });
    case config::TargetKind::kAllNodes:
      return NodesThat(cluster_, [](const PlanNode&) { return true; });
    case config::TargetKind::kTask:
      if (target.task.empty() && (StartsWith(kind, "client_") || IsMessageFault(kind))) {
        struck.push_back({.kind = StruckKind::kJob, .job = target.name});
      } else if (const Expected<TaskId> task = ParseTaskId(target.task)) {
        const std::optional<std::int32_t> node = cluster_.NodeOfTask(target.name, *task);
        struck.push_back({.kind = StruckKind::kTask,
                          .node = node.value_or(-1),
                          .job = target.name,
                          .task = *task});
      } else {
        // The whole job, or every task of a type.
        AddTasks(cluster_, target.name, struck);
        std::erase_if(struck, [&](const Struck& s) {
          return !target.task.empty() && s.task.type != target.task;
        });
      }
      return struck;
    case config::TargetKind::kAm:
      return {{.kind = StruckKind::kAm,
               .node = cluster_.NodeOfAm(target.name).value_or(-1),
               .job = target.name}};
    case config::TargetKind::kRm:
      return {{.kind = StruckKind::kRm}};
    case config::TargetKind::kHdfs:
      return {{.kind = StruckKind::kHdfs}};
    case config::TargetKind::kRandom:
    case config::TargetKind::kFraction:
      break;
  }
  std::vector<Struck> candidates = target.of != nullptr
                                       ? Resolve(*target.of, kind, draw)
                                       : NodesThat(cluster_, [](const PlanNode&) { return true; });
  const double wanted = target.kind == config::TargetKind::kRandom
                            ? target.amount
                            : std::max(target.amount * static_cast<double>(candidates.size()),
                                       target.amount > 0 ? 1.0 : 0.0);
  const auto amount = static_cast<std::size_t>(std::max(0LL, std::llround(wanted)));
  return Choose(std::move(candidates), amount, draw);
}

}  // namespace tfyarn::sim
