// A ResourceManager for one machine: grants what fits at once, without waiting for a heartbeat.
//
// It speaks YARN's records and keeps YARN's promises to an AM (attempts, response ids, absolute
// asks, completed containers told once, containers kept over AM attempts), without queues, tokens
// or other nodes. It starts nothing itself: LocalNode does, and tells it what has ended.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/model/ids.h"
#include "core/model/resource.h"
#include "core/model/time.h"
#include "core/model/yarn.h"
#include "core/trace/record.h"

namespace tfyarn::hosts {

struct LocalRmOptions {
  NodeId node;  ///< Name of the one node.
  std::string rack = "/local";
  Resource capacity;                   ///< That containers may hold together.
  std::int64_t cluster_timestamp = 0;  ///< ms since 1970; part of every application's id.
  std::int32_t am_attempts = 2;        ///< Where the application does not say.
  Duration am_expiry = 60s;            ///< An AM that does not call for so long has failed.
};

class LocalRm {
 public:
  /// What it orders, carried out at once; none of these may call back into it.
  struct Node {
    /// The AM's container, with its context.
    std::function<void(const ContainerId&, const Resource&, const yarn::ContainerLaunchContext&)>
        launch_am;
    /// The container must go; `exit_status` is what it counts as. False: nothing was started in it,
    /// and no end will be told.
    std::function<bool(const ContainerId&, std::int32_t exit_status, const std::string& why)> stop;
    /// Whether something was started in it and has not ended.
    std::function<bool(const ContainerId&)> started;
    std::function<void(trace::Fact)> observe;
  };

  LocalRm(LocalRmOptions options, Node node);

  /// `user`: nullopt. The AM of an attempt: its id.
  [[nodiscard]] yarn::RmResponse Answer(const std::optional<ApplicationAttemptId>& am,
                                        const yarn::RmRequest& request, Instant now);
  /// Nothing of that container is left.
  void ContainerEnded(const ContainerId& container, std::int32_t exit_status,
                      const std::string& diagnostics, Instant now);
  /// Looks for AMs that have fallen silent. `late`: how much later than it wanted this process
  /// comes to it. On a machine that is busy, or was suspended, it heard no AM in that time, so it
  /// is no AM's silence.
  void ExpireAms(Instant now, Duration late = {});
  /// Its AM's next allocate call hears that the container will be taken.
  void AnnouncePreemption(const ContainerId& container);
  /// Takes it, with -102; harmless when it is not held any more.
  void Preempt(const ContainerId& container);

  /// What a granted container may hold; nullopt when it is not granted (any more).
  [[nodiscard]] std::optional<Resource> GrantOf(const ContainerId& container) const;
  /// Of the application that runs; nullopt when none does.
  [[nodiscard]] std::optional<ContainerId> AmContainer() const;
  /// No container holds anything.
  [[nodiscard]] bool idle() const;
  [[nodiscard]] const Resource& used() const { return used_; }
  [[nodiscard]] const Resource& capacity() const { return options_.capacity; }

 private:
  using AskKey = std::tuple<std::int32_t, std::int64_t, std::string>;

  struct Application {
    ApplicationId id;
    yarn::SubmitApplicationRequest submission;
    yarn::YarnApplicationState state = yarn::YarnApplicationState::kAccepted;
    yarn::FinalApplicationStatus final_status = yarn::FinalApplicationStatus::kUndefined;
    std::string diagnostics;
    std::string tracking_url;
    std::int32_t attempt = 0;
    std::int64_t next_container = 1;
    ContainerId am_container;
    bool registered = false;
    bool unregistered = false;
    bool killed = false;
    Instant heard{};
    std::int32_t response_id = 0;
    yarn::AllocateResponse last_response;
    std::map<AskKey, yarn::ResourceRequest> asks;
    std::map<ContainerId, yarn::Container> containers;  ///< Granted and not ended, AM's included.
    std::vector<yarn::ContainerStatus> completed;       ///< Not told yet.
    std::vector<ContainerId> to_be_preempted;           ///< Not told yet.

    [[nodiscard]] bool keeps() const {
      return submission.keep_containers_across_application_attempts;
    }
  };

  yarn::RmResponse Client(const yarn::RmRequest& request, Instant now);
  yarn::RmResponse Master(const ApplicationAttemptId& am, const yarn::RmRequest& request,
                          Instant now);
  yarn::RmResponse Submit(const yarn::SubmitApplicationRequest& request, Instant now);
  yarn::RmResponse Report(const ApplicationId& id) const;
  yarn::RmResponse Kill(const yarn::KillApplicationRequest& request);
  yarn::RmResponse Register(Application& application,
                            const yarn::RegisterApplicationMasterRequest& request);
  yarn::RmResponse Allocate(Application& application, const yarn::AllocateRequest& request);
  yarn::RmResponse Finish(Application& application,
                          const yarn::FinishApplicationMasterRequest& request);

  [[nodiscard]] std::optional<yarn::RpcError> CheckAsks(const yarn::AllocateRequest& request) const;
  void TakeAsks(Application& application, const yarn::AllocateRequest& request);
  void Release(Application& application, const ContainerId& container);
  std::vector<yarn::Container> Grant(Application& application);
  [[nodiscard]] std::int32_t Wanted(const Application& application, std::int32_t priority,
                                    std::int64_t request_id) const;
  void CountDown(Application& application, std::int32_t priority, std::int64_t request_id);
  const yarn::Container& Allot(Application& application, const Resource& resource,
                               std::int32_t priority, std::int64_t request_id, bool am);
  void Free(Application& application, const ContainerId& container, std::int32_t exit_status);

  /// Tells the AM how a container ended, if it is one of this attempt.
  void Complete(Application& application, const ContainerId& container, std::int32_t exit_status,
                const std::string& diagnostics);
  void StartAttempt(Application& application, Instant now);
  /// Of the containers of an attempt that has ended only those that run can be kept.
  void LetGo(Application& application);
  void AmEnded(Application& application, std::int32_t exit_status, const std::string& diagnostics,
               Instant now);
  void Over(Application& application, yarn::YarnApplicationState state,
            yarn::FinalApplicationStatus status, std::string diagnostics);
  void StopAll(Application& application, std::int32_t exit_status, const std::string& why);

  [[nodiscard]] yarn::NodeReport NodeNow() const;

  LocalRmOptions options_;
  Node node_;
  Resource used_;
  std::int32_t next_application_ = 1;
  std::uint64_t next_token_ = 1;
  std::map<ApplicationId, Application> applications_;
};

}  // namespace tfyarn::hosts
