#include "hosts/local/local_node.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <boost/asio/post.hpp>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/model/exit.h"
#include "core/model/launch.h"
#include "hosts/agent/log_tail.h"
#include "hosts/agent/spawner.h"
#include "hosts/runtime/staging.h"
#include "wire/private_file.h"

namespace tfyarn::hosts {
namespace {

namespace fs = std::filesystem;
using yarn::RpcError;
using yarn::RpcErrorCode;

RpcError NotHandled(const ContainerId& id) {
  return {.code = RpcErrorCode::kYarn,
          .message = fmt::format("Container {} is not handled by this NodeManager", ToString(id))};
}

/// yarn.nodemanager.container.stderr.tail.bytes by default.
constexpr std::size_t kQuotedStderr = 4096;

/// Code, or 128 + signal, as a NodeManager takes it from the shell that it starts.
std::int32_t StatusOf(const TreeExit& exit) {
  return exit.code ? *exit.code : 128 + exit.signal.value_or(0);
}

}  // namespace

LocalNode::LocalNode(boost::asio::io_context& loop, LocalNodeOptions options, Callbacks callbacks)
    : loop_(loop),
      options_(std::move(options)),
      callbacks_(std::move(callbacks)),
      subreaper_(loop) {}

yarn::NmResponse LocalNode::Answer(const yarn::NmRequest& request,
                                   const Cluster::Secrets& secrets) {
  if (const auto* start = std::get_if<yarn::StartContainersRequest>(&request))
    return Start(*start, secrets);
  if (const auto* stop = std::get_if<yarn::StopContainersRequest>(&request)) return StopThem(*stop);
  return Statuses(std::get<yarn::GetContainerStatusesRequest>(request));
}

yarn::NmResponse LocalNode::Start(const yarn::StartContainersRequest& request,
                                  const Cluster::Secrets& secrets) {
  yarn::StartContainersResponse response;
  for (const yarn::StartContainerRequest& start : request.containers) {
    const auto fail = [&](RpcErrorCode code, std::string why) {
      response.failed.push_back(
          {.container = start.container, .error = {.code = code, .message = std::move(why)}});
    };
    const std::optional<Resource> grant = callbacks_.grant_of(start.container);
    const auto secret = secrets.find(start.container);
    if (!grant) {
      fail(RpcErrorCode::kInvalidContainer, "this container was not granted");
    } else if (containers_.contains(start.container) || ended_.contains(start.container)) {
      fail(RpcErrorCode::kYarn,
           "Attempt to relaunch the same container with id " + ToString(start.container));
    } else if (const auto launched =
                   Launch(start.container, *grant, start.context,
                          secret == secrets.end() ? "" : secret->second, UniqueFd());
               !launched) {
      fail(RpcErrorCode::kYarn, launched.error().message);
    } else {
      response.succeeded.push_back(start.container);
    }
  }
  return response;
}

yarn::NmResponse LocalNode::StopThem(const yarn::StopContainersRequest& request) {
  yarn::StopContainersResponse response;
  for (const ContainerId& id : request.containers) {
    if (Stop(id, container_exit::kKilledByAppMaster,
             "Container killed by the ApplicationMaster.")) {
      response.succeeded.push_back(id);
    } else if (ended_.contains(id)) {
      response.succeeded.push_back(id);
    } else {
      response.failed.push_back({.container = id, .error = NotHandled(id)});
    }
  }
  return response;
}

yarn::NmResponse LocalNode::Statuses(const yarn::GetContainerStatusesRequest& request) const {
  yarn::GetContainerStatusesResponse response;
  for (const ContainerId& id : request.containers) {
    if (containers_.contains(id)) {
      response.statuses.push_back({.id = id, .state = yarn::ContainerState::kRunning});
    } else if (const auto ended = ended_.find(id); ended != ended_.end()) {
      response.statuses.push_back(ended->second);
    } else {
      response.failed.push_back({.container = id, .error = NotHandled(id)});
    }
  }
  return response;
}

Expected<void> LocalNode::Launch(const ContainerId& container, const Resource& resource,
                                 const yarn::ContainerLaunchContext& context,
                                 const std::string& secret, const UniqueFd& channel) {
  callbacks_.observe(trace::ContainerLocalizing{.container = container});
  if (auto made = MakeDirectory(container, context, secret); !made)
    return tl::unexpected<Error>(made.error());
  const std::string name = ToString(container);
  SpawnSpec spec;
  spec.argv = context.command;
  const std::vector<std::string> gpus = TakeGpus(resource.gpus);
  spec.environment = EnvironmentOf(container, resource, context, gpus);
  spec.directory = options_.directory + "/" + name;
  spec.stdout_path = options_.log_directory + "/" + name + ".stdout";
  spec.stderr_path = options_.log_directory + "/" + name + ".stderr";
  spec.channel = channel.get();
  // So that an agent ends its task's processes when this whole cluster is gone.
  spec.parent_death_signal = SIGTERM;
  containers_[container].gpus = gpus;
  Spawn(subreaper_, std::move(spec), [this, container, resource](Expected<Spawned> spawned) {
    Began(container, resource, std::move(spawned));
  });
  return {};
}

void LocalNode::Began(const ContainerId& container, const Resource& resource,
                      Expected<Spawned> spawned) {
  if (!spawned) return Ended(container, container_exit::kInvalid, spawned.error().message);
  Running& running = containers_.at(container);
  running.tree = std::make_unique<ProcessTree>(
      subreaper_, std::move(*spawned),
      [this, container](const TreeExit& exit) { Ended(container, StatusOf(exit), ""); });
  if (options_.watch_memory && resource.memory_mb > 0)
    WatchMemory(container, running, resource.memory_mb);
  callbacks_.observe(trace::ContainerLaunched{.container = container});
  if (running.kill) running.tree->Kill();
}

Expected<void> LocalNode::MakeDirectory(const ContainerId& container,
                                        const yarn::ContainerLaunchContext& context,
                                        const std::string& secret) const {
  const fs::path directory = fs::path(options_.directory) / ToString(container);
  std::error_code failed;
  fs::create_directories(directory, failed);
  if (!failed) fs::create_directories(options_.log_directory, failed);
  const std::string temporary = TemporaryOf(container);
  if (!failed && !temporary.empty()) fs::create_directories(temporary, failed);
  if (failed) {
    return Fail(ErrorCode::kUnavailable,
                fmt::format("{} or {}: cannot be made: {}", directory.string(),
                            options_.log_directory, failed.message()));
  }
  for (const auto& [name, resource] : context.local_resources) {
    fs::create_directories((directory / name).parent_path(), failed);
    if (!failed) fs::create_symlink(callbacks_.locate(resource.path), directory / name, failed);
    if (failed) {
      return Fail(
          ErrorCode::kUnavailable,
          fmt::format("{}: cannot be put into the work directory: {}", name, failed.message()));
    }
  }
  if (secret.empty()) return {};
  const fs::path identity = directory / kIdentityFile;
  fs::create_directories(identity.parent_path(), failed);
  return wire::WritePrivateFile(identity.string(), secret);
}

std::map<std::string, std::string> LocalNode::EnvironmentOf(
    const ContainerId& container, const Resource& resource,
    const yarn::ContainerLaunchContext& context, const std::vector<std::string>& gpus) const {
  const std::string directory = options_.directory + "/" + ToString(container);
  std::map<std::string, std::string> environment = options_.environment;
  for (const auto& [name, value] : context.environment) environment[name] = value;
  // Last, as a NodeManager sets them: a job cannot pass itself off as another container.
  environment["CONTAINER_ID"] = ToString(container);
  environment["NM_HOST"] = options_.node.host;
  environment["NM_PORT"] = fmt::format("{}", options_.node.port);
  environment["LOG_DIRS"] = options_.log_directory;
  environment["PWD"] = directory;
  if (const std::string own = TemporaryOf(container); !own.empty()) environment["TMPDIR"] = own;
  environment["TFYARN_MEMORY_MB"] = fmt::format("{}", resource.memory_mb);
  // A task without GPUs must not take those of another; where there are none nothing is said.
  if (!options_.gpus.empty() || resource.gpus > 0)
    environment["CUDA_VISIBLE_DEVICES"] = fmt::format("{}", fmt::join(gpus, ","));
  return environment;
}

/// A short name: see RunDirectory::temporary.
std::string LocalNode::TemporaryOf(const ContainerId& container) const {
  if (options_.temporary.empty()) return "";
  return fmt::format("{}/{}-{}", options_.temporary, container.application_attempt.attempt,
                     container.id);
}

/// Fewer where the machine has fewer: then the run was told to oversubscribe it.
std::vector<std::string> LocalNode::TakeGpus(std::int64_t count) {
  std::vector<std::string> taken;
  while (static_cast<std::int64_t>(taken.size()) < count && !options_.gpus.empty()) {
    taken.push_back(options_.gpus.front());
    options_.gpus.erase(options_.gpus.begin());
  }
  return taken;
}

void LocalNode::WatchMemory(const ContainerId& container, Running& running, std::int64_t limit_mb) {
  const auto limit = static_cast<std::uint64_t>(limit_mb) << 20;
  ProcessTree* const tree = running.tree.get();
  running.memory = std::make_unique<MemoryWatch>(
      loop_, [tree] { return tree->Members(); }, MemoryLimit{.bytes = limit},
      [this, container, limit](const MemoryUse& use) {
        const auto same = containers_.find(container);
        if (same == containers_.end() || same->second.exit_status) return;
        same->second.exit_status = container_exit::kKilledExceededPmem;
        same->second.why = fmt::format(
            "Container {} is running beyond the 'PHYSICAL' memory limit: {} MiB of {} MiB used. "
            "Killing container.",
            ToString(container), use.bytes >> 20, limit >> 20);
        same->second.tree->Kill();
      });
}

bool LocalNode::Stop(const ContainerId& container, std::int32_t exit_status,
                     const std::string& why) {
  const auto found = containers_.find(container);
  if (found == containers_.end()) return false;
  Running& running = found->second;
  if (!running.exit_status) {
    running.exit_status = exit_status;
    running.why = why;
  }
  if (running.tree) {
    running.tree->Stop(options_.kill_delay);
  } else {
    running.kill = true;
  }
  return true;
}

void LocalNode::KillAll() {
  for (auto& [id, running] : containers_) {
    running.kill = true;
    if (running.tree) running.tree->Kill();
  }
}

std::optional<pid_t> LocalNode::ProcessOf(const ContainerId& container) const {
  const auto found = containers_.find(container);
  if (found == containers_.end() || !found->second.tree) return std::nullopt;
  return found->second.tree->root();
}

/// As a NodeManager's diagnostics quote it. Source: ContainerLaunch.java,
/// handleContainerExitWithFailure.
std::string LocalNode::LastWords(const ContainerId& container, std::int32_t exit_status) const {
  const std::string path = fmt::format("{}/{}.stderr", options_.log_directory, ToString(container));
  return fmt::format("Container exited with a non-zero exit code {}. Last {} bytes of stderr :\n{}",
                     exit_status, kQuotedStderr, agent_host::ReadLogTail(path, 0, kQuotedStderr));
}

void LocalNode::Ended(const ContainerId& container, std::int32_t exit_status,
                      const std::string& diagnostics) {
  const auto found = containers_.find(container);
  if (found == containers_.end()) return;
  const std::int32_t status = found->second.exit_status.value_or(exit_status);
  std::string why = found->second.exit_status ? found->second.why : diagnostics;
  if (why.empty() && status != 0) why = LastWords(container, status);
  for (std::string& gpu : found->second.gpus) options_.gpus.push_back(std::move(gpu));
  containers_.erase(found);
  if (const std::string temporary = TemporaryOf(container); !temporary.empty()) {
    boost::asio::post(remover_, [temporary] {
      std::error_code ignored;
      fs::remove_all(temporary, ignored);
    });
  }
  ended_[container] = {.id = container,
                       .state = yarn::ContainerState::kComplete,
                       .exit_status = status,
                       .diagnostics = why};
  callbacks_.observe(trace::ContainerGone{.container = container});
  callbacks_.ended(container, status, why);
}

}  // namespace tfyarn::hosts
