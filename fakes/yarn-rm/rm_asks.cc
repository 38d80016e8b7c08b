// What an allocate asks for: checks, rows, releases, blacklist; and the demand that follows from
// it.
//
// Source: DefaultAMSProcessor.java, RMServerUtils.java, SchedulerUtils.java,
// AbstractYarnScheduler.java.
#include <fmt/format.h>

#include <algorithm>

#include "core/model/check.h"
#include "core/model/probe.h"
#include "fakes/yarn-rm/rm_core.h"

namespace tfyarn::fakes {
namespace {

using yarn::RpcError;
using yarn::RpcErrorCode;

constexpr std::string_view kAny = "*";

RpcError NullPointer() {
  return {.code = RpcErrorCode::kNullPointer, .message = "java.lang.NullPointerException"};
}

}  // namespace

std::optional<RpcError> RmCore::CheckAllocate(const RmApplication& application,
                                              const yarn::AllocateRequest& request) const {
  for (const yarn::ResourceRequest& row : request.ask) {
    if (auto error = CheckRow(application, row)) return error;
  }
  const auto& additions = request.blacklist_additions;
  if (std::find(additions.begin(), additions.end(), kAny) != additions.end()) {
    return RpcError{.code = RpcErrorCode::kInvalidResourceBlacklistRequest,
                    .message = "Cannot add * to the blacklist!"};
  }
  if (application.keeps_containers()) return std::nullopt;
  for (const ContainerId& id : request.release) {
    if (id.application_attempt == application.attempt.id) continue;
    return RpcError{
        .code = RpcErrorCode::kInvalidContainerRelease,
        .message = fmt::format(
            "Cannot release container : {} not belonging to this application attempt : {}",
            ToString(id), ToString(application.attempt.id))};
  }
  return std::nullopt;
}

// A bad row fails the whole allocate: nothing of it is taken and the response id stays (run).
std::optional<RpcError> RmCore::CheckRow(const RmApplication& application,
                                         const yarn::ResourceRequest& row) const {
  if (row.resource_name.empty() || application.poisoned) return NullPointer();
  const std::string& label =
      row.node_label_expression ? *row.node_label_expression : partitions_.front();
  if (row.resource_name != kAny && !label.empty()) {
    return RpcError{.code = RpcErrorCode::kInvalidLabelResourceRequest,
                    .message = fmt::format(
                        "Invalid resource request, queue={} specified node label expression in a "
                        "resource request has resource name = {}",
                        application.queue, row.resource_name)};
  }
  if (label.find("&&") != std::string::npos) {
    return RpcError{
        .code = RpcErrorCode::kInvalidLabelResourceRequest,
        .message = fmt::format(
            "Invalid resource request, queue={} specified more than one node label in a "
            "node label expression, node label expression = {}",
            application.queue, label)};
  }
  if (!FindPartition(label)) {
    return RpcError{
        .code = RpcErrorCode::kInvalidLabelResourceRequest,
        .message = fmt::format("Invalid label resource request, cluster do not contain , label= {}",
                               label)};
  }
  return CheckCapability(WithKnownTypes(row.capability));
}

void RmCore::TakeAsks(RmApplication& application, const std::vector<yarn::ResourceRequest>& rows) {
  if (rows.empty()) return;
  application.attempt.served = true;
  std::map<AskKey, AskUpdate> updates;
  for (const yarn::ResourceRequest& row : rows) {
    const Resource capability = Normalized(WithKnownTypes(row.capability));
    if (!row.priority) {
      // Taken, never granted; what is pending stays raised, and every further row fails (run).
      application.poisoned = true;
      queues_.AddPending(application.leaf, 0, Times(capability, std::max(row.num_containers, 0)));
      continue;
    }
    const AskKey key{.priority = *row.priority, .allocation_request_id = row.allocation_request_id};
    AskUpdate& update = updates[key];
    const bool any = row.resource_name == kAny;
    if (any) {
      // An unset label is the application's own; this submission record has none, so the default
      // partition.
      update.partition = row.node_label_expression ? *FindPartition(*row.node_label_expression) : 0;
    }
    update.rows.insert_or_assign(
        any ? kAnywhere : places_.Of(row.resource_name),
        AskRow{.capability = capability, .count = row.num_containers, .relax = row.relax_locality});
  }
  ClearDemand(application);
  for (const auto& [key, update] : updates) {
    if (const auto known = application.asks.find(key); known != application.asks.end()) {
      // A changed ask keeps no node; the next heartbeats keep one again if need be.
      while (!known->second.reserved.empty())
        DropReservation(NodeAt(known->second.reserved.back()));
    }
    for (const PendingChange& change : UpdateAsk(application.asks, key, update, shapes_)) {
      queues_.AddPending(application.leaf, change.partition, change.amount);
    }
  }
  RefreshDemand(application);
  scheduler_dirty_ = true;
}

// Answered in the same response, while the process may run on (run). Twice is once.
void RmCore::TakeReleases(RmApplication& application, const std::vector<ContainerId>& releases) {
  for (const ContainerId& id : releases) {
    const auto found = application.containers.find(id);
    if (found == application.containers.end()) {
      TF_PROBE("yarn/release-of-no-container");
      // Its node may not be back yet. Source: AbstractYarnScheduler.releaseContainers.
      if (epoch_ > 0 && now_ < started_at_ + options_.nm_expiry)
        application.pending_release.insert(id);
      continue;
    }
    if (found->second.am) continue;  // assumption: an AM cannot release itself
    Complete(application, found->second,
             {.exit_status = -100, .diagnostics = "Container released by application"});
  }
}

void RmCore::TakeBlacklist(RmApplication& application, const yarn::AllocateRequest& request) {
  if (request.blacklist_additions.empty() && request.blacklist_removals.empty()) return;
  for (const std::string& name : request.blacklist_additions)
    application.blacklist.insert(places_.Of(name));
  for (const std::string& name : request.blacklist_removals)
    application.blacklist.erase(places_.Of(name));
  if (!request.blacklist_removals.empty() && is_capacity()) announce_at_ = now_;
  scheduler_dirty_ = true;
}

// ---------------------------------------------------------------- demand

// Under the capacity scheduler an application stands in the index with the first ask that stops
// those behind it; the others look at all asks.
void RmCore::RefreshDemand(RmApplication& application) {
  ClearDemand(application);
  bool wanting = false;
  std::set<std::int32_t> closed;  // partitions whose deciding ask was found
  std::set<std::int32_t> located;
  for (auto& [key, ask] : application.asks) {
    if (ask.wanted() == 0) continue;
    wanting = true;
    if (!application.activated || closed.count(ask.partition) > 0) continue;
    const DemandOrder order{.rank = application.rank, .sequence = application.sequence, .key = key};
    if (is_capacity()) {
      if (!ask.any->relax && ask.places.empty()) continue;  // can never be granted
      if (ask.any->relax) closed.insert(ask.partition);
      if (!ask.places.empty() || located.count(ask.partition) > 0) {
        if (!located.insert(ask.partition).second) continue;
        queues_[application.leaf].demand.AddLocated(ask.partition, order, application);
        application.located.emplace_back(ask.partition, order);
        continue;
      }
    }
    DemandClass& demand_class =
        queues_[application.leaf].demand.Add(ask.partition, ask.shape, application.user_number,
                                             order, {.application = &application, .ask = &ask});
    if (static_cast<std::int64_t>(ask.reserved.size()) < ask.wanted()) {
      demand_class.reservable.emplace(order, Demand{.application = &application, .ask = &ask});
    }
    application.memberships.push_back({.demand_class = &demand_class, .order = order});
  }
  SetWanting(application, wanting && application.activated);
  scheduler_dirty_ = true;
}

void RmCore::ClearDemand(RmApplication& application) {
  DemandIndex& demand = queues_[application.leaf].demand;
  for (const DemandMembership& member : application.memberships)
    demand.Remove(*member.demand_class, member.order);
  for (const auto& [partition, order] : application.located) demand.RemoveLocated(partition, order);
  application.memberships.clear();
  application.located.clear();
}

void RmCore::RefreshReservable(RmApplication& application, const AskEntry& ask) {
  for (const DemandMembership& member : application.memberships) {
    if (member.order.key != ask.key) continue;
    const auto known = member.demand_class->all.find(member.order);
    TF_CHECK(known != member.demand_class->all.end());
    if (static_cast<std::int64_t>(ask.reserved.size()) < ask.wanted()) {
      member.demand_class->reservable.emplace(member.order, known->second);
    } else {
      member.demand_class->reservable.erase(member.order);
    }
  }
}

void RmCore::SetWanting(RmApplication& application, bool wanting) {
  if (application.wanting == wanting) return;
  application.wanting = wanting;
  queues_.SetWanting(application.leaf, application.user_number, wanting);
}

// What is pending below zero is not made good: the deficit outlives the application (run).
// Source: AppSchedulingInfo.stop.
void RmCore::DropAsks(RmApplication& application) {
  ClearDemand(application);
  for (auto& [key, ask] : application.asks) {
    while (!ask.reserved.empty()) DropReservation(NodeAt(ask.reserved.back()));
    if (ask.wanted() == 0) continue;
    queues_.AddPending(application.leaf, ask.partition,
                       Resource{} - Times(ask.any->capability, ask.wanted()));
  }
  application.asks.clear();
  application.poisoned = false;
  SetWanting(application, false);
  scheduler_dirty_ = true;
}

void RmCore::DropReservation(RmNode& node) {
  TF_PROBE("yarn/reservation-dropped");
  TF_CHECK(node.reserved_for != nullptr);
  AskEntry& ask = *node.reserved_ask;
  RmApplication& application = *node.reserved_for;
  ask.reserved.erase(std::find(ask.reserved.begin(), ask.reserved.end(), node.index));
  node.reserved_for = nullptr;
  node.reserved_ask = nullptr;
  --reserved_nodes_;
  RefreshReservable(application, ask);
  scheduler_dirty_ = true;
  if (is_capacity()) AnnounceNode(node);
}

}  // namespace tfyarn::fakes
