// The calls of NodeManagers that are under way: which agent each starts, or which container it
// stops, and what its answer means.
#pragma once

#include <cstddef>
#include <map>

#include "core/allocation/allocation.h"
#include "core/model/am.h"
#include "core/model/ids.h"
#include "core/model/yarn.h"

namespace tfyarn::allocation {

class NodeCalls {
 public:
  /// The call that starts the task's agent in the container.
  [[nodiscard]] CallNm Start(const TaskId& task, const yarn::Container& container,
                             const yarn::Token& nm_token, yarn::ContainerLaunchContext context);
  /// The call that stops the container; one for each.
  [[nodiscard]] CallNm Stop(const HeldContainer& container, const yarn::Token& nm_token);
  /// Says what the answer means, unless all is well. False: no call waits for it.
  [[nodiscard]] bool OnReplied(const NmReplied& reply, Listener& listener);
  /// The container has ended: no node needs to stop it.
  void Forget(const ContainerId& container);
  [[nodiscard]] std::size_t unanswered_starts() const { return starts_.size(); }

 private:
  struct StartCall {
    TaskId task;
    ContainerId container;
  };
  [[nodiscard]] CallNm Next(const NodeId& node, const yarn::Token& nm_token,
                            yarn::NmRequest request);
  static void SayIfRefused(const StartCall& call, const yarn::NmResponse& response,
                           Listener& listener);

  CallId last_;
  std::map<CallId, StartCall> starts_;
  std::map<CallId, ContainerId> stops_;
  std::map<ContainerId, CallId> stop_of_;
};

}  // namespace tfyarn::allocation
