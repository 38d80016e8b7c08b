// The ResourceManager's records of nodes, attempts and applications: what its parts share.
//
// Plain data. Public members of the Booked... bases are what checkers see; the rest is the RM's
// own.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/model/ids.h"
#include "core/model/resource.h"
#include "core/model/time.h"
#include "core/model/yarn.h"
#include "fakes/yarn-rm/asks.h"
#include "fakes/yarn-rm/demand_index.h"
#include "fakes/yarn-rm/rm_books.h"

namespace tfyarn::fakes {

// ---------------------------------------------------------------- nodes

/// Source: RMNodeImpl.java.
struct RmNode : BookedNode {
  std::int32_t index = 0;
  std::int32_t partition_number = 0;
  std::int32_t host_place = 0;
  std::int32_t rack_place = 0;
  bool schedulable = false;  ///< RUNNING: the scheduler may use what is free.
  bool leaving = false;      ///< An administrator took it out: it may not register.
  std::int32_t response_id = 0;
  std::optional<yarn::NodeHeartbeatResponse> last_response;  ///< Unset: the last one was idle.
  std::vector<ContainerId> to_cleanup;
  std::vector<ApplicationId> applications_to_cleanup;
  std::vector<ContainerId> to_remove;
  std::set<ApplicationId> applications;  ///< With containers here, or until told to clean up.
  std::uint32_t container_key_sent = 0;
  std::uint32_t nm_key_sent = 0;
  bool news_announced = false;
  bool vouched = false;
  bool restated = false;  ///< Clients have not been told of it as it is now.
  Instant last_heard{};
  std::optional<Instant> watched_until;  ///< Of its liveness timer.
  RmApplication* reserved_for = nullptr;
  AskEntry* reserved_ask = nullptr;
};

// ---------------------------------------------------------------- attempts

/// Source: RMAppAttemptState.java, without the states that last only while the state store writes.
enum class AttemptState {
  kScheduled,  ///< Waits for its AM container.
  kAllocated,  ///< Has it; the NM has not answered the start yet.
  kLaunched,
  kRunning,    ///< Registered.
  kFinishing,  ///< Unregistered; its process still runs.
  kDone,       ///< Terminal.
};

/// Source: RMAppAttemptImpl.java.
struct RmAttempt {
  ApplicationAttemptId id;
  AttemptState state = AttemptState::kScheduled;
  std::optional<ContainerId> am_container;
  bool registered = false;  ///< With this RM process.
  std::int32_t response_id = 0;
  std::optional<yarn::AllocateResponse> last_response;  ///< Unset: the last one was idle.
  std::int64_t next_container = 1;
  Instant last_heard{};
  bool vouched = false;
  std::optional<Instant> watched_until;
  bool amrm_token_expired = false;
  std::uint32_t amrm_key_used = 0;  ///< Key of the token that the AM last showed.
  std::map<std::int32_t, std::uint32_t> nm_tokens_sent;  ///< Node -> key.
  std::uint64_t launch_call = 0;                         ///< Of the RmCallNm that is awaited.
  Instant launch_began{};
  std::optional<Instant> launch_retry_at;
  /// Until the scheduler served something of it the headroom is reported as nothing; the AM's own
  /// container counts.
  bool served = false;
};

// ---------------------------------------------------------------- applications

enum class ApplicationPhase {
  kAccepted,
  kRunning,
  kFinishing,  ///< Final status stored and shown to clients; the AM process still runs.
};

/// Granted, and not told yet.
struct FreshGrant {
  ContainerId id;
  AskKey key;
  AskUpdate taken;  ///< What it took of the ask.
};

struct FinishedContainer {
  yarn::ContainerStatus status;
  std::int32_t node = -1;
};

/// Where an application stands in the queues' demand index.
struct DemandMembership {
  DemandClass* demand_class = nullptr;
  DemandOrder order;
};

/// An application that has not ended. Source: RMAppImpl.java, FiCaSchedulerApp.java.
struct RmApplication : BookedApplication {
  std::shared_ptr<const yarn::SubmitApplicationRequest> submission;
  std::int32_t leaf = 0;
  std::int32_t user_number = 0;
  std::int32_t am_partition = 0;
  Resource am_resource;        ///< Rounded up.
  std::int64_t rank = 0;       ///< Negated priority.
  std::uint64_t sequence = 0;  ///< Order of submission.
  std::int32_t max_attempts = 1;
  std::int32_t counted_failures = 0;
  ApplicationPhase phase = ApplicationPhase::kAccepted;
  yarn::FinalApplicationStatus final_status = yarn::FinalApplicationStatus::kUndefined;
  std::string diagnostics;
  std::string tracking_url;
  RmAttempt attempt;

  // What the scheduler holds of the current attempt.
  bool activated = false;
  bool wanting = false;
  bool poisoned = false;  ///< A row without priority was taken: every further row fails.
  AskTable asks;
  std::set<std::int32_t> blacklist;  ///< Places.
  std::vector<DemandMembership> memberships;
  std::vector<std::pair<std::int32_t, DemandOrder>> located;

  // What the next allocate delivers.
  std::vector<FreshGrant> newly_allocated;
  std::vector<FinishedContainer> finished;
  std::vector<FinishedContainer>
      delivered;  ///< With the last response; the next allocate acknowledges them.
  std::set<std::int32_t> updated_nodes;
  std::vector<ContainerId> preempt_strict;
  std::vector<ContainerId> preempt_contract;
  std::vector<ContainerId> previous_containers;
  bool news_announced = false;

  std::set<std::int32_t> nodes;  ///< That ever held a container of it.
  std::set<ContainerId>
      pending_release;  ///< Released after an RM restart before their node came back.

  [[nodiscard]] bool keeps_containers() const {
    return submission->keep_containers_across_application_attempts;
  }
};

/// The application wants nothing on this node, or its rack. Its AM's own container may be there.
/// Source: SchedulerAppUtils.isPlaceBlacklisted (isWaitingForAMContainer).
[[nodiscard]] inline bool IsBlacklisted(const RmApplication& application, const RmNode& node) {
  if (application.blacklist.empty() || !application.attempt.am_container) return false;
  return application.blacklist.count(node.host_place) > 0 ||
         application.blacklist.count(node.rack_place) > 0;
}

}  // namespace tfyarn::fakes
