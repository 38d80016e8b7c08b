// Containers in the RM's books: granted, started, over.
//
// Source: RMContainerImpl.java, SchedulerApplicationAttempt.java, SchedulerNode.java.
#include <algorithm>

#include "core/model/check.h"
#include "core/model/probe.h"
#include "fakes/yarn-rm/rm_applications.h"

namespace tfyarn::fakes {

void RmApplications::Grant(RmApplication& application, AskEntry& ask, RmNode& node,
                           Locality locality, const Resource& resource) {
  RmAttempt& attempt = application.attempt;
  const ContainerId id{.application_attempt = attempt.id,
                       .id = (records_.epoch << kContainerEpochShift) | attempt.next_container++};
  BookedContainer& container = Book(application,
                                    {.id = id,
                                     .node = node.index,
                                     .resource = resource,
                                     .priority = ask.key.priority,
                                     .allocation_request_id = ask.key.allocation_request_id,
                                     .am = ask.am},
                                    node);
  out_.Emit(Granted{.container = id, .node = node.id, .resource = resource, .am = ask.am});
  records_.queues.AddPending(application.leaf, ask.partition, Resource{} - ask.any->capability);
  const bool am = ask.am;
  const AskKey key = ask.key;
  AskUpdate taken = LowerAsk(ask, locality, node.host_place, node.rack_place);
  if (ask.wanted() == 0) {
    scheduler_->BeforeAsksChange(application);
    if (application.asks.at(key).places.empty()) application.asks.erase(key);
    scheduler_->OnAsksChanged(application);
  }
  if (am) {
    attempt.am_container = id;
    attempt.served = true;
    Deliver(container);
    LaunchAm(application);
  } else {
    application.newly_allocated.push_back({.id = id, .key = key, .taken = std::move(taken)});
    if (attempt.registered) out_.NewsFor(application);
  }
}

BookedContainer& RmApplications::Book(RmApplication& application, BookedContainer booked,
                                      RmNode& node) {
  booked.sequence = next_grant_++;
  booked.node_slot = node.containers.size();
  const auto [entry, is_new] = application.containers.emplace(booked.id, std::move(booked));
  TF_CHECK(is_new);
  BookedContainer& container = entry->second;
  node.containers.push_back(&container);
  node.used += container.resource;
  records_.nodes.Restate(node);
  node.free -= container.resource;
  records_.queues.Use(application.leaf, application.user_number, node.partition_number,
                      container.resource);
  node.applications.insert(application.id);
  application.nodes.insert(node.index);
  scheduler_->OnContainerBooked(node);
  return container;
}

void RmApplications::Complete(RmApplication& application, BookedContainer& container,
                              const Ending& ending) {
  const ContainerId id = container.id;
  RmNode& node = records_.nodes.At(container.node);
  TF_CHECK(node.containers.at(container.node_slot) == &container);
  node.containers.back()->node_slot = container.node_slot;
  node.containers[container.node_slot] = node.containers.back();
  node.containers.pop_back();
  node.used -= container.resource;
  records_.nodes.Restate(node);
  node.free += container.resource;
  records_.queues.GiveBack(application.leaf, application.user_number, node.partition_number,
                           container.resource);
  if (container.state == BookedState::kAllocated) {
    TF_PROBE("yarn/ended-before-it-was-told");
    AskAgainFor(application, id);
  }
  records_.preempting.erase(container.sequence);
  std::erase(application.preempt_strict, id);
  std::erase(application.preempt_contract, id);
  const bool reached = container.state != BookedState::kAllocated;
  const std::int32_t index = node.index;
  application.containers.erase(id);
  out_.Emit(Freed{.container = id, .exit_status = ending.exit_status});
  if (ending.tell_node && reached) CleanUpOnNode(node, id);
  scheduler_->OnContainerCompleted(node);

  yarn::ContainerStatus status{.id = id,
                               .state = yarn::ContainerState::kComplete,
                               .exit_status = ending.exit_status,
                               .diagnostics = ending.diagnostics};
  RmAttempt& attempt = application.attempt;
  if (attempt.am_container == id) {
    if (attempt.state != AttemptState::kDone) OnAmExited(application, status);
    return;
  }
  if (!ending.report) return;
  if (attempt.state == AttemptState::kFinishing) {
    // Its AM does not ask any more; the NM may forget it.
    if (!ending.tell_node) node.to_remove.push_back(id);
    return;
  }
  application.finished.push_back(
      {.status = std::move(status), .node = ending.tell_node ? -1 : index});
  if (attempt.registered && attempt.state != AttemptState::kDone) out_.NewsFor(application);
}

// The AM will never hear of the grant, so what it took is open again by itself.
// Source: AbstractYarnScheduler.recoverResourceRequestForContainer.
void RmApplications::AskAgainFor(RmApplication& application, const ContainerId& id) {
  auto& fresh = application.newly_allocated;
  const auto grant = std::find_if(fresh.begin(), fresh.end(),
                                  [&](const FreshGrant& entry) { return entry.id == id; });
  if (grant == fresh.end()) return;
  const FreshGrant lost = std::move(*grant);
  fresh.erase(grant);
  if (application.attempt.state == AttemptState::kDone) return;
  scheduler_->BeforeAsksChange(application);
  RaiseAsk(application.asks, lost.key, lost.taken, records_.shapes);
  records_.queues.AddPending(application.leaf, lost.taken.partition,
                             lost.taken.rows.at(kAnywhere).capability);
  scheduler_->OnAsksChanged(application);
}

// Source: RMNodeImpl.CleanUpContainerTransition.
void RmApplications::CleanUpOnNode(RmNode& node, const ContainerId& container) {
  if (node.state == yarn::NodeState::kLost || node.state == yarn::NodeState::kDecommissioned ||
      node.state == yarn::NodeState::kRebooted || node.state == yarn::NodeState::kShutdown) {
    return;
  }
  node.to_cleanup.push_back(container);
  out_.NewsFor(node);
}

void RmApplications::Deliver(BookedContainer& container) {
  container.state = BookedState::kAcquired;
  unstarted_.emplace_back(records_.now + records_.options.container_expiry, container.id);
}

void RmApplications::MarkRunning(BookedContainer& container) {
  container.state = BookedState::kRunning;
}

yarn::Token RmApplications::TokenOf(const BookedContainer& container) {
  const std::uint32_t terms = records_.tokens->Intern({.resource = container.resource,
                                                       .priority = container.priority,
                                                       .rm_identifier = records_.rm_identifier});
  return MakeContainerToken(records_.container_key.current(), terms, container.id,
                            records_.nodes.At(container.node).id,
                            records_.now + records_.options.container_expiry);
}

// Source: ContainerAllocationExpirer.java, RMContainerImpl.java (ACQUIRED -> EXPIRED).
void RmApplications::ExpireContainers() {
  while (!unstarted_.empty()) {
    const auto [at, id] = unstarted_.front();
    BookedContainer* container = records_.Find(id);
    const bool waits = container != nullptr && container->state == BookedState::kAcquired;
    if (waits && at > records_.now) return;
    unstarted_.pop_front();
    if (!waits) continue;
    Complete(*records_.Find(id.application_attempt.application), *container,
             {.exit_status = -100, .diagnostics = "Container expired since it was unused"});
  }
}

}  // namespace tfyarn::fakes
