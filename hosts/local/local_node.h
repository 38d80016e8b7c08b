// A NodeManager for one machine: makes a container's work directory, starts its process, and ends
// its whole process tree when it is to go.
//
// As on YARN a container's files stand in its work directory as links, its environment says who it
// is (CONTAINER_ID, NM_HOST, LOG_DIRS, ...), stopping is SIGTERM and SIGKILL a moment later, and
// one that uses more memory than it was granted is killed with -104. Beside that a container sees
// the environment of the user who runs the job.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "core/model/ids.h"
#include "core/model/resource.h"
#include "core/model/yarn.h"
#include "core/trace/record.h"
#include "hosts/agent/memory_watch.h"
#include "hosts/agent/process_tree.h"
#include "hosts/agent/spawner.h"
#include "hosts/agent/subreaper.h"
#include "hosts/agent/unique_fd.h"
#include "hosts/runtime/cluster.h"

namespace tfyarn::hosts {

using agent_host::MemoryLimit;
using agent_host::MemoryUse;
using agent_host::MemoryWatch;
using agent_host::ProcessTree;
using agent_host::Spawned;
using agent_host::SpawnSpec;
using agent_host::Subreaper;
using agent_host::TreeExit;
using agent_host::UniqueFd;

struct LocalNodeOptions {
  NodeId node;
  std::string directory;      ///< Absolute: containers' work directories are made below it.
  std::string log_directory;  ///< Absolute: what containers write to stdout and stderr.
  /// Absolute: each container gets a directory in it as its TMPDIR, which goes with it; empty: the
  /// user's own TMPDIR.
  std::string temporary;
  std::map<std::string, std::string> environment;  ///< Every container's, below its own.
  std::vector<std::string> gpus;  ///< For CUDA_VISIBLE_DEVICES of containers that are granted some.
  Duration kill_delay = 5s;       ///< From SIGTERM to SIGKILL when a container is stopped.
  bool watch_memory = true;  ///< Kill what uses more than it was granted, if that is not 0 MiB.
};

class LocalNode {
 public:
  struct Callbacks {
    std::function<void(const ContainerId&, std::int32_t exit_status, const std::string& why)> ended;
    std::function<std::optional<Resource>(const ContainerId&)> grant_of;
    /// Where a file of the staging directory is on this machine.
    std::function<std::string(const std::string&)> locate;
    std::function<void(trace::Fact)> observe;
  };

  LocalNode(boost::asio::io_context& loop, LocalNodeOptions options, Callbacks callbacks);

  [[nodiscard]] yarn::NmResponse Answer(const yarn::NmRequest& request,
                                        const Cluster::Secrets& secrets);
  /// Starts a container's process. `channel`: its descriptor 3 is a copy of it; none when not open.
  /// Errors: its directory cannot be made. What else keeps it from starting is its end, with -1000.
  [[nodiscard]] Expected<void> Launch(const ContainerId& container, const Resource& resource,
                                      const yarn::ContainerLaunchContext& context,
                                      const std::string& secret, const UniqueFd& channel);
  /// False: nothing was started in it. Otherwise `ended` follows, with that exit status.
  bool Stop(const ContainerId& container, std::int32_t exit_status, const std::string& why);
  /// Kills everything at once.
  void KillAll();

  /// Whether something was started in the container and has not ended.
  [[nodiscard]] bool Holds(const ContainerId& container) const {
    return containers_.contains(container);
  }
  [[nodiscard]] std::size_t running() const { return containers_.size(); }
  /// Process of the container's root; nullopt when it does not run.
  [[nodiscard]] std::optional<pid_t> ProcessOf(const ContainerId& container) const;

 private:
  struct Running {
    std::unique_ptr<ProcessTree> tree;  ///< Null until its program runs.
    bool kill = false;                  ///< As soon as there is something to kill.
    std::unique_ptr<MemoryWatch> memory;
    std::optional<std::int32_t> exit_status;  ///< Set: why it was stopped counts.
    std::string why;
    std::vector<std::string> gpus;
  };

  yarn::NmResponse Start(const yarn::StartContainersRequest& request,
                         const Cluster::Secrets& secrets);
  yarn::NmResponse StopThem(const yarn::StopContainersRequest& request);
  yarn::NmResponse Statuses(const yarn::GetContainerStatusesRequest& request) const;
  [[nodiscard]] Expected<void> MakeDirectory(const ContainerId& container,
                                             const yarn::ContainerLaunchContext& context,
                                             const std::string& secret) const;
  [[nodiscard]] std::map<std::string, std::string> EnvironmentOf(
      const ContainerId& container, const Resource& resource,
      const yarn::ContainerLaunchContext& context, const std::vector<std::string>& gpus) const;
  [[nodiscard]] std::string TemporaryOf(const ContainerId& container) const;
  [[nodiscard]] std::vector<std::string> TakeGpus(std::int64_t count);
  void WatchMemory(const ContainerId& container, Running& running, std::int64_t limit_mb);
  void Began(const ContainerId& container, const Resource& resource, Expected<Spawned> spawned);
  [[nodiscard]] std::string LastWords(const ContainerId& container, std::int32_t exit_status) const;
  void Ended(const ContainerId& container, std::int32_t exit_status, const std::string& why);

  boost::asio::io_context& loop_;
  LocalNodeOptions options_;
  Callbacks callbacks_;
  Subreaper subreaper_;
  std::map<ContainerId, Running> containers_;
  std::map<ContainerId, yarn::ContainerStatus> ended_;
  boost::asio::thread_pool remover_{1};  ///< Of what may be many files.
};

}  // namespace tfyarn::hosts
