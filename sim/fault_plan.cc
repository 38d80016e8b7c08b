#include "sim/fault_plan.h"

#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "config/fault_id.h"
#include "config/fault_kinds.h"
#include "core/model/check.h"
#include "core/model/describe.h"
#include "sim/message_faults.h"

namespace tfyarn::sim {
namespace {

/// A law may draw 0; a fault that strikes for ever at one instant would stop time.
constexpr Duration kShortestInterval = 1ms;

const config::FaultKind& KindOf(const config::FaultSpec& spec) {
  const config::FaultKind* kind = config::FindFaultKind(spec.kind);
  TF_CHECK(kind != nullptr);
  return *kind;
}

/// Single messages, between whom is the target's.
bool StrikesMessages(const config::FaultKind& kind) {
  return kind.trap == config::FaultTrap::kMessage && !kind.traits.strikes_answers_of_rm;
}

/// What a fault without a target strikes, where its kind says so.
std::vector<Struck> ImpliedBy(const config::FaultKind& kind) {
  if (kind.target == config::FaultTarget::kRm || kind.traits.strikes_answers_of_rm)
    return {{.kind = StruckKind::kRm}};
  if (kind.target == config::FaultTarget::kHdfs) return {{.kind = StruckKind::kHdfs}};
  return {};
}

/// `amount` of the candidates, each set equally likely, in the candidates' order.
template <class Candidate>
std::vector<Candidate> Choose(std::vector<Candidate> candidates, std::size_t amount, Random& draw) {
  amount = std::min(amount, candidates.size());
  std::vector<Candidate> chosen;
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

/// Whether a task or AM that is nowhere is out of reach for faults of that kind.
bool NeedsPlace(const config::FaultKind& kind) {
  switch (kind.target) {
    case config::FaultTarget::kNode:
    case config::FaultTarget::kAm:
    case config::FaultTarget::kGroups:
      return true;
    case config::FaultTarget::kTask:
    case config::FaultTarget::kCaller:
      return kind.trap == config::FaultTrap::kNone;
    case config::FaultTarget::kRecorded:
    case config::FaultTarget::kJob:
    case config::FaultTarget::kRm:
    case config::FaultTarget::kHdfs:
      return false;
  }
  return false;
}

/// Takes away what is not there.
std::vector<Struck> Present(std::vector<Struck> struck, const config::FaultKind& kind,
                            const ClusterView& cluster) {
  const bool needs_place = NeedsPlace(kind);
  const bool needs_client = kind.target == config::FaultTarget::kJob;
  std::erase_if(struck, [&](const Struck& one) {
    if (one.kind == StruckKind::kJob) return needs_client && !cluster.HasClient(one.job);
    const bool placed = one.kind == StruckKind::kTask || one.kind == StruckKind::kAm;
    return placed && needs_place && one.node < 0;
  });
  return struck;
}

bool SelectsNodes(config::TargetKind kind) {
  switch (kind) {
    case config::TargetKind::kNode:
    case config::TargetKind::kRack:
    case config::TargetKind::kLabel:
    case config::TargetKind::kAllNodes:
      return true;
    case config::TargetKind::kTask:
    case config::TargetKind::kAm:
    case config::TargetKind::kRm:
    case config::TargetKind::kHdfs:
    case config::TargetKind::kRandom:
    case config::TargetKind::kFraction:
      return false;
  }
  return false;
}

bool Selects(const config::Target& target, const PlanNode& node) {
  if (target.kind == config::TargetKind::kNode) return node.name == target.name;
  if (target.kind == config::TargetKind::kRack) return node.rack == target.name;
  if (target.kind == config::TargetKind::kAllNodes) return true;
  return std::find(node.labels.begin(), node.labels.end(), target.name) != node.labels.end();
}

/// By position; the target is one that SelectsNodes.
std::vector<std::int32_t> NodesOf(const config::Target& target, const ClusterView& cluster) {
  std::vector<std::int32_t> nodes;
  for (std::size_t i = 0; i < cluster.nodes().size(); ++i) {
    if (Selects(target, cluster.nodes()[i])) nodes.push_back(static_cast<std::int32_t>(i));
  }
  return nodes;
}

std::vector<Struck> Strike(const std::vector<std::int32_t>& nodes) {
  std::vector<Struck> struck;
  struck.reserve(nodes.size());
  for (const std::int32_t node : nodes) struck.push_back({.node = node});
  return struck;
}

/// How many of so many candidates a kRandom or kFraction wants.
std::size_t WantedOf(const config::Target& target, std::size_t candidates) {
  const double wanted = target.kind == config::TargetKind::kRandom
                            ? target.amount
                            : std::max(target.amount * static_cast<double>(candidates),
                                       target.amount > 0 ? 1.0 : 0.0);
  return static_cast<std::size_t>(std::max(0LL, std::llround(wanted)));
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

bool StrikesNobody(const FaultOrder& order) {
  const auto empty = [](const std::vector<Struck>& group) { return group.empty(); };
  if (!order.groups.empty()) return std::any_of(order.groups.begin(), order.groups.end(), empty);
  return order.struck.empty() && order.spec->target.has_value();
}

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
    } else if (KindOf(faults[fault]).target != config::FaultTarget::kRecorded) {
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
        spec.target ? Resolve(*spec.target, KindOf(spec), draw) : Strike(NodesOf({}, cluster_));
    for (const Struck& struck : nodes) {
      if (struck.node >= 0) AddClock(fault, struck.node, seed);
    }
  } else {
    AddClock(fault, -1, seed);
  }
  for (std::size_t clock = first; clock < clocks_.size(); ++clock) {
    if (spec.when.fault) {
      after_faults_.push_back(clock);
    } else if (spec.when.moment()) {
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

void FaultPlan::DrawAnew(std::uint64_t seed, Instant now) {
  std::vector<Due> kept;
  std::vector<std::size_t> awaited;
  for (; !due_.empty(); due_.pop()) {
    const Due& due = due_.top();
    const bool by_clock = due.begins && due.trace_node < 0 && due.clock != kNoClock;
    if (by_clock && faults_[clocks_[due.clock].fault].when.every) {
      awaited.push_back(due.clock);
    } else {
      kept.push_back(due);
    }
  }
  for (const Due& due : kept) due_.push(due);
  for (std::size_t i = 0; i < clocks_.size(); ++i) {
    Clock& clock = clocks_[i];
    clock.every = Random(seed, "fault/every", i);
    clock.lasting = Random(seed, "fault/for", i);
    clock.targets = Random(seed, "fault/targets", i);
  }
  std::sort(awaited.begin(), awaited.end());
  for (const std::size_t clock : awaited) PlanNext(clock, now);
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
  const config::FaultKind& kind = KindOf(spec);
  FaultOrder order{
      .fault = due.fault, .instance = instances_[due.fault]++, .kind = &kind, .spec = &spec};
  std::optional<Instant> end;
  if (due.clock == kNoClock) {
    order.kind = &config::KindWith(config::FaultId::kNodeCrash);
    order.struck.push_back({.node = due.trace_node});
    end = due.trace_end;
  } else {
    Clock& clock = clocks_[due.clock];
    if (clock.node >= 0) {
      order.struck.push_back({.node = clock.node});
    } else {
      order.struck = Present(StruckBy(spec, clock.targets), kind, cluster_);
    }
    for (const config::Target& group : spec.between) {
      order.groups.push_back(Present(Resolve(group, kind, clock.targets), kind, cluster_));
    }
    if (spec.duration) end = due.at + clock.lasting.DrawDuration(*spec.duration);
  }
  order.lasts = end.has_value();
  TriggerAfter(due.fault, false, due.at);
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
  TriggerAfter(due.fault, true, due.at);
  if (open.clock != kNoClock) PlanNext(open.clock, due.at);
  orders.push_back(std::move(open.order));
  free_.push_back(due.order);
}

// ---------------------------------------------------------------- waiting for moments

bool FaultPlan::Watches(std::string_view job) const {
  return waiting_.find(job) != waiting_.end();
}

void FaultPlan::OnJobState(Instant now, std::string_view job, JobState state) {
  Trigger(now, job, {.state = KebabName(state)});
}

bool FaultPlan::IsMeant(const config::FaultWhen& when, const Moment& moment) {
  if (when.append) return moment.append;
  const bool same_task = when.task.empty() ||
                         (moment.task != nullptr &&
                          (when.task == moment.task->type || when.task == ToString(*moment.task)));
  if (!when.message.empty()) return when.message == moment.message && same_task;
  // `running` is a state of jobs and of tasks.
  return *when.state == moment.state && same_task && when.task.empty() == (moment.task == nullptr);
}

bool FaultPlan::Trigger(Instant now, std::string_view job, const Moment& moment) {
  const auto waiting = waiting_.find(job);
  if (waiting == waiting_.end()) return false;
  const std::size_t before = waiting->second.size();
  std::erase_if(waiting->second, [&](std::size_t index) {
    Clock& clock = clocks_[index];
    const config::FaultWhen& when = faults_[clock.fault].when;
    if (!IsMeant(when, moment) || ++clock.seen < when.append.value_or(when.nth)) return false;
    Push({.at = now + when.after, .fault = clock.fault, .clock = index});
    return true;
  });
  const bool armed = waiting->second.size() < before;
  if (waiting->second.empty()) waiting_.erase(waiting);
  return armed;
}

void FaultPlan::TriggerAfter(std::uint32_t fault, bool ended, Instant at) {
  std::erase_if(after_faults_, [&](std::size_t index) {
    const config::FaultWhen& when = faults_[clocks_[index].fault].when;
    if (*when.fault != fault || (when.state == "ended") != ended) return false;
    Push({.at = at + when.after, .fault = clocks_[index].fault, .clock = index});
    return true;
  });
}

bool FaultPlan::Observe(const trace::TraceRecord& record) {
  if (!waits()) return false;
  if (const auto* created = std::get_if<trace::JobCreated>(&record.fact)) {
    if (Watches(created->name)) job_names_[created->job.value] = created->name;
  } else if (const auto* ordered = std::get_if<trace::AmOrdered>(&record.fact)) {
    return Observe(record.at, ordered->job, ordered->action);
  } else if (const auto* told = std::get_if<trace::AgentTold>(&record.fact)) {
    return Observe(record.at, *told);
  } else if (const auto* sent = std::get_if<trace::AgentOrdered>(&record.fact)) {
    return Observe(record.at, *sent);
  } else if (const auto* client = std::get_if<trace::ClientOrdered>(&record.fact)) {
    const auto name = job_names_.find(client->job.value);
    const auto* call = std::get_if<CallRm>(&client->action);
    if (name != job_names_.end() && call != nullptr)
      return Trigger(record.at, name->second, {.message = RequestName(call->request)});
  }
  return false;
}

const TaskId* FaultPlan::TaskIn(const ContainerId& container) const {
  const auto task = task_in_.find(container);
  return task == task_in_.end() ? nullptr : &task->second;
}

bool FaultPlan::Observe(Instant now, trace::JobIndex job, const AmAction& action) {
  const auto name = job_names_.find(job.value);
  if (name == job_names_.end()) return false;
  if (std::holds_alternative<AppendJournal>(action))
    return Trigger(now, name->second, {.append = true});
  if (const auto* rm_call = std::get_if<CallRm>(&action))
    return Trigger(now, name->second, {.message = RequestName(rm_call->request)});
  if (const auto* nm_call = std::get_if<CallNm>(&action))
    return Trigger(now, name->second, {.message = RequestName(nm_call->request)});
  const auto* send = std::get_if<SendToAgent>(&action);
  if (send == nullptr) return false;
  const TaskId* task = TaskIn(send->container);
  bool armed = Trigger(now, name->second, {.message = MessageName(send->message), .task = task});
  if (std::holds_alternative<AgentAccepted>(send->message) && task != nullptr)
    armed = Trigger(now, name->second, {.state = "registered", .task = task}) || armed;
  return armed;
}

bool FaultPlan::Observe(Instant now, const trace::AgentTold& told) {
  const auto name = job_names_.find(told.job.value);
  if (name == job_names_.end()) return false;
  if (const auto* started = std::get_if<AgentStarted>(&told.event))
    task_in_[told.container] = started->fence.task;
  const bool runs = std::holds_alternative<ProcessSpawned>(told.event);
  if (!runs && !std::holds_alternative<ProcessExited>(told.event)) return false;
  return Trigger(now, name->second,
                 {.state = runs ? "running" : "ended", .task = TaskIn(told.container)});
}

bool FaultPlan::Observe(Instant now, const trace::AgentOrdered& ordered) {
  const auto name = job_names_.find(ordered.job.value);
  const auto* send = std::get_if<SendToAm>(&ordered.action);
  if (name == job_names_.end() || send == nullptr) return false;
  return Trigger(now, name->second,
                 {.message = MessageName(send->message), .task = TaskIn(ordered.container)});
}

// ---------------------------------------------------------------- targets

std::vector<Struck> FaultPlan::StruckBy(const config::FaultSpec& spec, Random& draw) const {
  const config::FaultKind& kind = KindOf(spec);
  return spec.target ? Resolve(*spec.target, kind, draw) : ImpliedBy(kind);
}

std::vector<Struck> FaultPlan::Resolve(const config::Target& target, const config::FaultKind& kind,
                                       Random& draw) const {
  std::vector<Struck> struck;
  switch (target.kind) {
    case config::TargetKind::kNode:
    case config::TargetKind::kRack:
    case config::TargetKind::kLabel:
    case config::TargetKind::kAllNodes:
      return Strike(NodesOf(target, cluster_));
    case config::TargetKind::kTask:
      if (target.task.empty() &&
          (kind.target == config::FaultTarget::kJob || StrikesMessages(kind))) {
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
  const config::Target of = target.of != nullptr ? *target.of : config::Target{};
  if (SelectsNodes(of.kind)) {
    // Only those chosen are made: one of thousands of nodes, as a rule.
    std::vector<std::int32_t> nodes = NodesOf(of, cluster_);
    const std::size_t wanted = WantedOf(target, nodes.size());
    return Strike(Choose(std::move(nodes), wanted, draw));
  }
  std::vector<Struck> candidates = Resolve(of, kind, draw);
  const std::size_t wanted = WantedOf(target, candidates.size());
  return Choose(std::move(candidates), wanted, draw);
}

}  // namespace tfyarn::sim
