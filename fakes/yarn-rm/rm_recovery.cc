// What a node brings back when it registers: containers that this ResourceManager, or an earlier
// one, has granted.
//
// Source: AbstractYarnScheduler.java (recoverContainersOnNode),
// ResourceTrackerService.handleNMContainerStatus.
#include "core/model/probe.h"
#include "fakes/yarn-rm/rm_trackers.h"

namespace tfyarn::fakes {
namespace {

yarn::ContainerStatus StatusOf(const yarn::NmContainerStatus& status) {
  return {.id = status.id,
          .state = status.state,
          .exit_status = status.exit_status,
          .diagnostics = status.diagnostics};
}

}  // namespace

// Only the first registration with this RM brings containers back. With a later one they are what
// they are in a heartbeat: what the RM does not have in its books is to end. Source:
// RMNodeImpl.AddNodeTransition, RMNodeImpl.ReconnectNodeTransition (handleNMContainerStatus).
void RmTrackerService::TakeOverNode(RmNode& node, const yarn::RegisterNodeManagerRequest& request,
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
void RmTrackerService::RecoverContainer(RmNode& node, const yarn::NmContainerStatus& status) {
  RmApplication* application = records_.Find(status.id.application_attempt.application);
  const bool booked = records_.Find(status.id) != nullptr;
  const bool complete = status.state == yarn::ContainerState::kComplete;
  const bool ours = status.id.id >> kContainerEpochShift == records_.epoch;
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
      applications_.OnAmExited(*application, StatusOf(status));
    } else if (of_this_attempt || application->keeps_containers()) {
      TF_PROBE("yarn/ended-without-the-rm");
      application->finished.push_back({.status = StatusOf(status), .node = node.index});
      if (attempt.registered) out_.NewsFor(*application);
    }
    return;
  }
  if (!records_.options.work_preserving_restart ||
      (!of_this_attempt && !application->keeps_containers())) {
    TF_PROBE("yarn/not-kept-over-the-restart");
    applications_.CleanUpOnNode(node, status.id);
    return;
  }
  BookedContainer& container = applications_.Book(*application,
                                                  {.id = status.id,
                                                   .node = node.index,
                                                   .resource = status.resource,
                                                   .priority = status.priority,
                                                   .am = am,
                                                   .state = BookedState::kRunning},
                                                  node);
  out_.Emit(
      Granted{.container = status.id, .node = node.id, .resource = status.resource, .am = am});
  if (application->pending_release.erase(status.id) > 0) {
    TF_PROBE("yarn/released-before-its-node-was-back");
    applications_.Complete(
        *application, container,
        {.exit_status = -100, .diagnostics = "Container released by application"});
    return;
  }
  if (!of_this_attempt && attempt.registered) {
    TF_PROBE("yarn/earlier-container-came-back");
    application->previous_containers.push_back(status.id);
    out_.NewsFor(*application);
  }
}

}  // namespace tfyarn::fakes
