#include "core/allocation/gang_allocator.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/model/check.h"
#include "core/model/deadline.h"
#include "core/model/probe.h"

namespace tfyarn::allocation {
namespace {

/// Hosts are named only where waiting for the whole gang makes it worth while; `hold` is the naive
/// way throughout.
AskPlannerOptions PlannerOptions(const GangAllocatorOptions& options) {
  return {.heartbeat = options.heartbeat,
          .name_hosts = options.gang.policy == GangPolicy::kAll,
          .planned_hosts_wait = 3 * options.heartbeat + options.heartbeat / 2};
}

}  // namespace

GangAllocator::GangAllocator(GangAllocatorOptions options)
    : options_(std::move(options)),
      planner_(PlannerOptions(options_)),
      random_(options_.seed, "gang-backoff"),
      next_backoff_(options_.gang.backoff.first) {
  TF_CHECK(options_.heartbeat > Duration::zero());
  TF_CHECK(options_.container_expiry > Duration::zero());
  TF_CHECK(options_.gang.backoff.first >= Duration::zero());
}

void GangAllocator::SetNodes(Instant now, const SharedList<yarn::NodeReport>& nodes) {
  planner_.SetNodes(now, nodes);
  Changed(now);
}

void GangAllocator::OnUpdatedNodes(Instant now, const std::vector<yarn::NodeReport>& nodes) {
  planner_.OnUpdatedNodes(nodes);
  Changed(now);
}

void GangAllocator::SetUnseenNodes(Instant now, bool any) {
  if (planner_.SetUnseenNodes(any)) Changed(now);
}

void GangAllocator::SetExcludedHosts(const std::set<std::string>& hosts) {
  if (hosts == excluded_) return;
  excluded_ = hosts;
  Changed(latest_);
}

// ---------------------------------------------------------------- what is wanted

void GangAllocator::Want(Instant now, const std::vector<SlotRequest>& slots,
                         bool kept_counts_as_held) {
  if (slots.empty()) return;
  over_ = false;
  BeginDeadline(now);
  for (const SlotRequest& request : slots) {
    TF_CHECK(request.priority >= 1);
    placements_[request.task.type] = request.placement;
    const bool is_new = slots_.try_emplace(request.task, Slot{.request = request}).second;
    TF_CHECK(is_new);
    wanted_.insert(request.task);
    postponed_.erase(request.task);
  }
  if (kept_counts_as_held && !kept_held_since_.has_value()) kept_held_since_ = now;
  Changed(now);
}

void GangAllocator::Cancel(Instant now, const TaskId& task) {
  const bool was_postponed = postponed_.erase(task) > 0;
  const auto slot = slots_.find(task);
  if (slot == slots_.end()) {
    if (was_postponed) Changed(now);
    return;
  }
  if (slot->second.container.has_value()) GiveToRm(slot->second.container->id);
  Forget(task);
  Changed(now);
}

void GangAllocator::CancelAll(Instant now) {
  const std::set<TaskId> wanted = std::exchange(wanted_, {});
  for (const TaskId& task : wanted) slots_.erase(task);
  postponed_.clear();
  over_ = true;
  Changed(now);
}

/// Its container is gone, and nothing has used it. A gang that was whole has no deadline any more.
void GangAllocator::WantAgain(Instant now, const TaskId& task) {
  BeginDeadline(now);
  if (over_) {
    TF_PROBE("gang/lost-when-all-is-over");
    slots_.erase(task);
  } else {
    wanted_.insert(task);
  }
}

void GangAllocator::Detach(Instant now, const TaskId& task) {
  const auto slot = slots_.find(task);
  if (slot == slots_.end() || !slot->second.container.has_value()) return;
  parted_.insert(slot->second.container->id);
  Forget(task);
  Changed(now);
}

void GangAllocator::Adopt(const SlotRequest& slot, const yarn::Container& container) {
  placements_[slot.task.type] = slot.placement;
  const bool is_new =
      slots_.try_emplace(slot.task, Slot{.request = slot, .container = container, .used = true})
          .second;
  TF_CHECK(is_new);
  const bool unowned = by_container_.emplace(container.id, slot.task).second;
  TF_CHECK(unowned);
}

/// The slot has no container any more.
void GangAllocator::TakeFrom(Slot& slot) {
  by_container_.erase(slot.container->id);
  held_.erase({slot.granted_at, slot.request.task});
  slot.container.reset();
  slot.used = false;
}

void GangAllocator::Forget(const TaskId& task) {
  const auto slot = slots_.find(task);
  TF_CHECK(slot != slots_.end());
  if (slot->second.container.has_value()) TakeFrom(slot->second);
  wanted_.erase(task);
  slots_.erase(slot);
}

/// Each container once: it is parted from here on.
void GangAllocator::GiveToRm(const ContainerId& container) {
  const bool first = parted_.insert(container).second;
  TF_CHECK(first);
  releases_.push_back(container);
}

std::vector<ContainerId> GangAllocator::TakeReleases() {
  return std::exchange(releases_, {});
}

// ---------------------------------------------------------------- what comes and goes

std::vector<Grant> GangAllocator::OnAllocated(Instant now,
                                              const std::vector<yarn::Container>& containers) {
  if (containers.empty()) return {};
  std::vector<Grant> grants;
  placement::PlacementRules rules = RulesNow();
  for (const yarn::Container& container : containers) {
    if (by_container_.contains(container.id) || parted_.contains(container.id))
      continue;  // told twice
    planner_.OnGranted(container);
    if (ended_unseen_.erase(container.id) > 0) {
      TF_PROBE("gang/ended-before-its-grant");
      continue;
    }
    Slot* slot = SlotFor(container, rules);
    if (slot == nullptr) {
      GiveToRm(container.id);
      continue;
    }
    const TaskId& task = slot->request.task;
    slot->container = container;
    slot->granted_at = now;
    slot->used = false;
    wanted_.erase(task);
    held_.emplace(now, task);
    by_container_.emplace(container.id, task);
    rules.Occupy(task.type, container.node.host, RackOf(container.node));
    grants.push_back({.task = task, .container = container});
  }
  Changed(now);
  return grants;
}

GangAllocator::Slot* GangAllocator::SlotFor(const yarn::Container& container,
                                            const placement::PlacementRules& rules) {
  // Then only what was allocated before the rows were withdrawn still comes.
  if (silent() || excluded_.contains(container.node.host)) {
    TF_PROBE("gang/granted-while-silent");
    return nullptr;
  }
  const AskedFor* what = planner_.Find({container.priority, container.allocation_request_id});
  if (what == nullptr || !FitsIn(what->resource, container.resource)) {
    TF_PROBE("gang/granted-unasked");
    return nullptr;
  }
  if (!rules.Allows(what->task_type, container.node.host, RackOf(container.node))) {
    TF_PROBE("gang/granted-against-its-rules");
    return nullptr;
  }
  for (auto task = wanted_.lower_bound({.type = what->task_type, .index = INT32_MIN});
       task != wanted_.end() && task->type == what->task_type; ++task) {
    Slot& slot = slots_.at(*task);
    if (slot.request.resource == what->resource && slot.request.node_label == what->node_label)
      return &slot;
  }
  return nullptr;
}

CompletedContainer GangAllocator::OnCompleted(Instant now, const ContainerId& container) {
  const auto owner = by_container_.find(container);
  if (owner == by_container_.end()) {
    if (parted_.erase(container) == 0) {
      TF_PROBE("gang/ended-unseen");
      ended_unseen_.insert(container);
    }
    return CompletedContainer::kReleased;
  }
  const TaskId task = owner->second;
  Slot& slot = slots_.at(task);
  const bool used = slot.used;
  if (!used) TF_PROBE("gang/lost-before-use");
  if (used) {
    Forget(task);
  } else {
    TakeFrom(slot);
    WantAgain(now, task);
  }
  Changed(now);
  return used ? CompletedContainer::kUsed : CompletedContainer::kWantedAgain;
}

void GangAllocator::Use(const TaskId& task) {
  Slot& slot = slots_.at(task);
  TF_CHECK(slot.container.has_value());
  held_.erase({slot.granted_at, task});
  slot.used = true;
}

void GangAllocator::Refuse(Instant now, const ContainerId& container) {
  const auto owner = by_container_.find(container);
  if (owner == by_container_.end()) return;
  const TaskId task = owner->second;
  TF_PROBE("gang/refused");
  GiveToRm(container);
  TakeFrom(slots_.at(task));
  WantAgain(now, task);
  Changed(now);
}

// ---------------------------------------------------------------- the gang's clocks

/// It runs from the first request: not while nothing may be asked for. `hold` is the naive way: it
/// waits without limit.
void GangAllocator::BeginDeadline(Instant now) {
  if (!deadline_ && !suspended_ && options_.gang.policy != GangPolicy::kHold)
    deadline_ = now + options_.gang.deadline;
}

Duration GangAllocator::hold() const {
  const Duration margin = std::min(options_.expiry_margin, options_.container_expiry / 4);
  return std::min(options_.gang.hold, options_.container_expiry - margin);
}

std::optional<Instant> GangAllocator::HoldEnds() const {
  if (options_.gang.policy != GangPolicy::kAll || wanted_.empty()) return std::nullopt;
  std::optional<Instant> since;
  if (!held_.empty()) since = held_.begin()->first;
  const bool keeps = by_container_.size() > held_.size();
  if (kept_held_since_.has_value() && keeps)
    since = since ? std::min(*since, *kept_held_since_) : *kept_held_since_;
  if (!since.has_value()) return std::nullopt;
  return *since + hold();
}

std::optional<Instant> GangAllocator::next_deadline() const {
  std::optional<Instant> next = planner_.next_deadline();
  for (const std::optional<Instant>& at : {backoff_until_, deadline_, HoldEnds()})
    Earliest(next, at);
  return next;
}

GangTimeouts GangAllocator::OnTime(Instant now) {
  GangTimeouts timeouts;
  bool changed = planner_.OnTime(now);
  if (IsDue(backoff_until_, now)) {
    backoff_until_.reset();
    changed = true;
  }
  if (IsDue(HoldEnds(), now)) {
    TF_PROBE("gang/hold-is-over");
    timeouts.given_back = GiveBack();
    timeouts.given_back->backoff = DrawBackoff();
    backoff_until_ = now + timeouts.given_back->backoff;
    changed = true;
  }
  if (IsDue(deadline_, now)) {
    TF_PROBE("gang/deadline-is-missed");
    deadline_.reset();
    timeouts.deadline_missed = Missing();
  }
  if (changed) Changed(now);
  return timeouts;
}

std::optional<GangGivenBack> GangAllocator::Suspend(Instant now) {
  TF_PROBE("gang/suspended");
  suspended_ = true;
  // It began in this very instant, in which nothing was asked for yet.
  if (deadline_ == now + options_.gang.deadline) deadline_.reset();
  backoff_until_.reset();
  const bool keeps = kept_held_since_.has_value() && by_container_.size() > held_.size();
  std::optional<GangGivenBack> given_back;
  if (!wanted_.empty() && (!held_.empty() || keeps)) {
    TF_PROBE("gang/suspended-with-containers");
    given_back = GiveBack();
  }
  Changed(now);
  return given_back;
}

void GangAllocator::Resume(Instant now) {
  if (!std::exchange(suspended_, false)) return;
  TF_PROBE("gang/resumed");
  if (!wanted_.empty()) BeginDeadline(now);
  Changed(now);
}

GangGivenBack GangAllocator::GiveBack() {
  GangGivenBack given_back;
  for (auto& [task, slot] : slots_) {
    if (!slot.container.has_value() || (slot.used && !kept_held_since_.has_value())) continue;
    if (slot.used) TF_PROBE("gang/gives-back-what-it-used");
    given_back.lost.emplace_back(task, slot.container->id);
    GiveToRm(slot.container->id);
    TakeFrom(slot);
    wanted_.insert(task);
  }
  kept_held_since_.reset();
  planner_.StartRound();
  return given_back;
}

/// Uniform in the upper half of a span that doubles: gangs that collided once drift apart.
Duration GangAllocator::DrawBackoff() {
  const Duration span = std::min(next_backoff_, options_.gang.backoff.max);
  next_backoff_ = std::min(span * 2, options_.gang.backoff.max);
  return random_.Between(span / 2, span);
}

/// After every change: what is asked for follows from what is wanted.
void GangAllocator::Changed(Instant now) {
  latest_ = now;
  news_ = true;
  if (wanted_.empty()) {
    if (complete()) {
      deadline_.reset();
      kept_held_since_.reset();
    } else {
      TF_PROBE("gang/lacks-what-is-wanted-later");
    }
    backoff_until_.reset();
    next_backoff_ = options_.gang.backoff.first;
    if (planner_.asks().empty() && !planner_.next_deadline().has_value()) return;
  }
  const std::vector<WantedGroup> wanted = silent() ? std::vector<WantedGroup>() : Wanted();
  planner_.Plan(now, wanted, RulesNow(), Occupants(), excluded_);
}

// ---------------------------------------------------------------- views

placement::PlacementRules GangAllocator::RulesNow() const {
  placement::PlacementRules rules;
  bool any = false;
  for (const auto& [type, spec] : placements_) {
    rules.SetType(type, spec);
    any = any || spec != PlacementSpec{};
  }
  if (!any) return rules;
  for (const auto& [container, task] : by_container_) {
    const NodeId& node = slots_.at(task).container->node;
    rules.Occupy(task.type, node.host, RackOf(node));
  }
  return rules;
}

std::vector<placement::Occupant> GangAllocator::Occupants() const {
  std::vector<placement::Occupant> occupants;
  if (std::all_of(placements_.begin(), placements_.end(),
                  [](const auto& entry) { return entry.second == PlacementSpec{}; })) {
    return occupants;
  }
  for (const auto& [container, task] : by_container_) {
    occupants.push_back({.task_type = task.type, .node = slots_.at(task).container->node});
  }
  return occupants;
}

std::string GangAllocator::RackOf(const NodeId& node) const {
  return inventory().RackOf(node);
}

std::vector<WantedGroup> GangAllocator::Wanted() const {
  std::map<AskedFor, WantedGroup> groups;
  for (const TaskId& task : wanted_) {
    const SlotRequest& request = slots_.at(task).request;
    WantedGroup& group = groups[{task.type, request.resource, request.node_label}];
    if (group.slots.count++ > 0) continue;
    group.slots.task_type = task.type;
    group.slots.resource = request.resource;
    group.slots.node_label = request.node_label;
    group.slots.placement = request.placement;
    group.priority = request.priority;
  }
  std::vector<WantedGroup> list;
  for (auto& [kind, group] : groups) list.push_back(std::move(group));
  return list;
}

std::vector<placement::SlotGroup> GangAllocator::WantedGroups() const {
  std::vector<placement::SlotGroup> groups;
  for (WantedGroup& group : Wanted()) groups.push_back(std::move(group.slots));
  return groups;
}

const yarn::Container* GangAllocator::ContainerOf(const TaskId& task) const {
  const auto slot = slots_.find(task);
  if (slot == slots_.end() || !slot->second.container.has_value()) return nullptr;
  return &*slot->second.container;
}

std::string GangAllocator::Missing() const {
  std::map<std::string, std::int32_t> all;
  for (const auto& [task, slot] : slots_) ++all[task.type];
  std::string text;
  for (const WantedGroup& group : Wanted()) {
    if (!text.empty()) text += "; ";
    text += fmt::format("{} of {} {} containers ({}) still missing", group.slots.count,
                        all[group.slots.task_type], group.slots.task_type,
                        ToString(group.slots.resource));
  }
  for (const TaskId& task : postponed_) {
    if (!text.empty()) text += "; ";
    text += fmt::format("{} to be asked for again later", ToString(task));
  }
  return text;
}

}  // namespace tfyarn::allocation
