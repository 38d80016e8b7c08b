// From one RM process to the next: what is written down, what nodes bring back.
//
// Source: RMAppManager.recover, RMAppAttemptImpl.AttemptRecoveredTransition,
// AbstractYarnScheduler.java (recoverContainersOnNode),
// ResourceTrackerService.handleNMContainerStatus.
#include <algorithm>

#include "core/model/check.h"
#include "core/model/probe.h"
#include "fakes/yarn-rm/rm_core.h"

namespace tfyarn::fakes {
namespace {

yarn::ContainerStatus StatusOf(const yarn::NmContainerStatus& status) {
  return {.id = status.id,
          .state = status.state,
          .exit_status = status.exit_status,
          .diagnostics = status.diagnostics};
}

}  // namespace

RmStateStore RmCore::StateStore() const {
  RmStateStore store{.epoch = epoch_,
                     .amrm_key = amrm_key_.key,
                     .nm_key = nm_key_.key,
                     .container_key = container_key_.key,
                     .tokens = tokens_,
                     .nodes = records_.nodes.schedulable(),
                     .largest_node = largest_node_,
                     .partitions = records_.partitions,
                     .resource_types = {resource_types_.begin(), resource_types_.end()}};
  std::map<std::uint64_t, const RmApplication*> in_order;
  for (const auto& [id, application] : records_.applications)
    in_order.emplace(application->sequence, application.get());
  for (const auto& [sequence, application] : in_order) {
    const RmAttempt& attempt = application->attempt;
    StoredApplication stored{.submission = application->submission,
                             .attempt = attempt.id.attempt,
                             .counted_failures = application->counted_failures,
                             .am_container = attempt.am_container,
                             .finishing = attempt.state == AttemptState::kFinishing,
                             .final_status = application->final_status,
                             .diagnostics = application->diagnostics,
                             .tracking_url = application->tracking_url};
    store.applications.push_back(std::move(stored));
  }
  for (const ApplicationId& id : ended_order_) {
    if (const auto found = ended_.find(id); found != ended_.end())
      store.ended.push_back(found->second);
  }
  return store;
}

void RmCore::Recover(const RmStateStore& store) {
  std::vector<RmAction> unheard;  // nobody listens yet
  actions_ = &unheard;
  epoch_ = store.epoch + 1;
  started_at_ = records_.now;
  rm_identifier_ =
      records_.options.cluster_timestamp +
      std::max<std::int64_t>(
          std::chrono::duration_cast<std::chrono::milliseconds>(records_.now.time_since_epoch())
              .count(),
          epoch_);
  tokens_ = store.tokens;
  timers_.clear();
  amrm_key_.key = store.amrm_key;
  nm_key_.key = store.nm_key;
  container_key_.key = store.container_key;
  ArmKey(TimerKind::kAmrmKey, amrm_key_);
  ArmKey(TimerKind::kNmKey, nm_key_);
  ArmKey(TimerKind::kContainerKey, container_key_);
  for (const std::string& partition : store.partitions) (void)PartitionNumber(partition);
  resource_types_.insert(store.resource_types.begin(), store.resource_types.end());
  largest_node_ = store.largest_node;
  any_node_seen_ = !IsZero(largest_node_);
  nodes_awaited_ = store.nodes;
  if (records_.options.work_preserving_restart && nodes_awaited_ > 0) {
    records_.ready_at = records_.now + records_.options.scheduling_wait;
    timers_.insert({.at = *records_.ready_at, .kind = TimerKind::kSchedulingReady});
  }
  for (const yarn::ApplicationReport& report : store.ended) {
    ended_.insert_or_assign(report.application, report);
    ended_order_.push_back(report.application);
  }
  for (const StoredApplication& stored : store.applications) RecoverApplication(stored);
  scheduler_->Recovered();
  actions_ = nullptr;
}

void RmCore::RecoverApplication(const StoredApplication& stored) {
  const auto leaf = records_.queues.Find(stored.submission->queue);
  TF_CHECK(leaf.has_value());
  RmApplication& application = AddApplication(stored.submission, *leaf);
  application.counted_failures = stored.counted_failures;
  application.diagnostics = stored.diagnostics;
  application.tracking_url = stored.tracking_url;
  application.final_status = stored.final_status;
  if (!stored.am_container) {
    TF_PROBE("yarn/recovered-before-its-am");
    application.attempt.id.attempt = stored.attempt - 1;
    StartAttempt(application);
    return;
  }
  RmAttempt& attempt = application.attempt;
  if (stored.finishing) TF_PROBE("yarn/recovered-while-finishing");
  attempt.id.attempt = stored.attempt;
  attempt.am_container = stored.am_container;
  attempt.state = stored.finishing ? AttemptState::kFinishing : AttemptState::kLaunched;
  application.phase = stored.finishing ? ApplicationPhase::kFinishing : ApplicationPhase::kAccepted;
  if (!stored.finishing) application.diagnostics = "Attempt recovered after RM restart";
  attempt.last_heard = records_.now;
  scheduler_->OnAttemptRecovered(application);
  WatchAm(application);
}

// Only the first registration with this RM brings containers back. With a later one they are what
// they are in a heartbeat: what the RM does not have in its books is to end. Source:
// RMNodeImpl.AddNodeTransition, RMNodeImpl.ReconnectNodeTransition (handleNMContainerStatus).
void RmCore::TakeOverNode(RmNode& node, const yarn::RegisterNodeManagerRequest& request,
                          bool is_new) {
  for (const yarn::NmContainerStatus& status : request.containers) {
    if (is_new) {
      RecoverContainer(node, status);
    } else {
      TF_PROBE("yarn/container-of-a-node-that-is-known");
      TakeContainerStatus(node, StatusOf(status));
    }
  }
  for (const ApplicationId& id : request.running_applications) {
    if (RmApplication* application = records_.Find(id)) {
      node.applications.insert(id);
      application->nodes.insert(node.index);
    } else {
      TF_PROBE("yarn/application-over-before-its-node");
      node.applications_to_cleanup.push_back(id);
    }
  }
}

// A container that this RM granted is in its books or over; one of an earlier RM is taken back.
void RmCore::RecoverContainer(RmNode& node, const yarn::NmContainerStatus& status) {
  RmApplication* application = records_.Find(status.id.application_attempt.application);
  const bool booked = records_.Find(status.id) != nullptr;
  const bool complete = status.state == yarn::ContainerState::kComplete;
  const bool ours = status.id.id >> kContainerEpochShift == epoch_;
  if (application == nullptr || booked || ours) {
    TF_PROBE("yarn/container-is-not-recovered");
    TakeContainerStatus(node, StatusOf(status));
    return;
  }
  RmAttempt& attempt = application->attempt;
  const bool am = attempt.am_container == status.id;
  // Its AM's end may have come with the same registration. Source: recoverContainersOnNode
  // (isStopped).
  const bool of_this_attempt =
      status.id.application_attempt == attempt.id && attempt.state != AttemptState::kDone;
  if (complete) {
    if (am && attempt.state != AttemptState::kDone) {
      TF_PROBE("yarn/am-ended-without-the-rm");
      node.to_remove.push_back(status.id);
      OnAmExited(*application, StatusOf(status));
    } else if (of_this_attempt || application->keeps_containers()) {
      TF_PROBE("yarn/ended-without-the-rm");
      application->finished.push_back({.status = StatusOf(status), .node = node.index});
      if (attempt.registered) NewsFor(*application);
    }
    return;
  }
  if (!records_.options.work_preserving_restart ||
      (!of_this_attempt && !application->keeps_containers())) {
    TF_PROBE("yarn/not-kept-over-the-restart");
    CleanUpOnNode(node, status.id);
    return;
  }
  BookedContainer& container = Book(*application,
                                    {.id = status.id,
                                     .node = node.index,
                                     .resource = status.resource,
                                     .priority = status.priority,
                                     .am = am,
                                     .state = BookedState::kRunning},
                                    node);
  Emit(Granted{.container = status.id, .node = node.id, .resource = status.resource, .am = am});
  if (application->pending_release.erase(status.id) > 0) {
    TF_PROBE("yarn/released-before-its-node-was-back");
    Complete(*application, container,
             {.exit_status = -100, .diagnostics = "Container released by application"});
    return;
  }
  if (!of_this_attempt && attempt.registered) {
    TF_PROBE("yarn/earlier-container-came-back");
    application->previous_containers.push_back(status.id);
    NewsFor(*application);
  }
}

}  // namespace tfyarn::fakes
