#include "core/am/launch_control.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/am/am_parts.h"
#include "core/model/launch.h"
#include "core/model/probe.h"
#include "core/model/text.h"

namespace tfyarn::am {
namespace {

constexpr Duration kFirstLaunchRetry = 1s;
constexpr Duration kLongestLaunchRetry = 10s;
/// A NM that restarts is back within seconds; one that is silent for longer is treated as gone.
constexpr std::int32_t kMostUnansweredTries = 8;
/// yarn.resourcemanager.nm-tokens.master-key-rolling-interval-secs, as Hadoop has it by default.
constexpr Duration kNmKeyRoll = 24h;

}  // namespace

void LaunchControl::OnGranted(TaskIndex task, const yarn::Container& container) {
  AmCore& core = parts_.core;
  const Incarnation incarnation = core.tasks.shown(task).incarnation;
  core.tasks.GiveContainer(task, container,
                           core.NonceFor(core.snapshot.attempt.attempt, task, incarnation));
  granted_.push_back(task);
}

void LaunchControl::LaunchReady() {
  if (granted_.empty() || parts_.core.finishing) return;
  AmCore& core = parts_.core;
  Logged batch;
  journal::AgentsLaunched entry{.at = core.StoredAt(core.now), .agents = {}};
  std::vector<TaskIndex> waiting;
  for (const TaskIndex task : std::exchange(granted_, {})) {
    if (core.tasks.record(task).agent != AgentPhase::kGranted ||
        core.tasks.record(task).launch_logged)
      continue;
    if (!MayLaunch(task)) {
      waiting.push_back(task);
      continue;
    }
    const TaskSnapshot& shown = core.tasks.shown(task);
    core.tasks.mutable_record(task).launch_logged = true;
    batch.launches.push_back({task, shown.incarnation});
    entry.agents.push_back({.task = shown.task,
                            .incarnation = shown.incarnation,
                            .nonce = core.tasks.record(task).nonce,
                            .container = shown.container,
                            .node = shown.node});
  }
  granted_ = std::move(waiting);
  if (batch.launches.empty()) return;
  batch.seq = core.Append(entry);
  for (const Launch& launch : batch.launches)
    core.tasks.mutable_record(launch.task).order_entry = batch.seq;
  logged_.push_back(std::move(batch));
}

bool LaunchControl::MayLaunch(TaskIndex task) const {
  const AmCore& core = parts_.core;
  if (core.job->gang.policy == GangPolicy::kNone) return true;
  const bool whole = core.tasks.CountTraining(TaskState::kWaiting) == 0;
  if (!core.gang_was_complete) return whole && core.gang.complete();
  return whole || !core.tasks.record(task).training;
}

void LaunchControl::OnDurable() {
  while (!logged_.empty() && parts_.core.out.IsDurable(logged_.front().seq)) {
    const Logged batch = std::move(logged_.front());
    logged_.pop_front();
    for (const Launch& launch : batch.launches) {
      const bool same = parts_.core.tasks.shown(launch.task).incarnation == launch.incarnation;
      if (same && parts_.core.tasks.record(launch.task).agent == AgentPhase::kGranted)
        Start(launch.task);
    }
  }
}

void LaunchControl::Start(TaskIndex task) {
  AmCore& core = parts_.core;
  if (core.finishing) {
    TF_PROBE("launch/verdict-before-the-launch");
    return;
  }
  core.gang.Use(core.tasks.id(task));
  core.tasks.SetAgent(task, AgentPhase::kLaunching);
  core.tasks.mutable_record(task).register_by = core.now + core.job->deadlines.registration;
  CallStart(task);
}

void LaunchControl::CallStart(TaskIndex task) {
  AmCore& core = parts_.core;
  const TaskSnapshot& shown = core.tasks.shown(task);
  ++core.tasks.mutable_record(task).launch_tries;
  yarn::StartContainersRequest request;
  request.containers.push_back({.container = shown.container,
                                .container_token = core.tasks.record(task).container_token,
                                .context = ContextFor(task)});
  auto call = core.NextCallTo(shown.node, std::move(request));
  if (!call) {
    // The RM gives it once, with an answer that was lost; it rolls its keys after that time.
    TF_PROBE("launch/no-nm-token");
    core.exclusion.Close(core.now, shown.node.host, core.now + kNmKeyRoll);
    return Lost(task, "no NM token for its node", false, true);
  }
  calls_[call->call] = {task, shown.incarnation};
  core.out.Order(core.tasks.record(task).order_entry, std::move(*call));
}

yarn::ContainerLaunchContext LaunchControl::ContextFor(TaskIndex task) const {
  const AmCore& core = parts_.core;
  yarn::ContainerLaunchContext context = core.options.agent_context;
  auto environment =
      ToEnvironment(AgentLaunch{.fence = core.tasks.FenceOf(task),
                                .am_attempt = core.snapshot.attempt.attempt,
                                .am_address = core.started.address,
                                .staging_directory = core.options.staging_directory});
  context.environment.merge(environment);
  return context;
}

bool LaunchControl::OnNmReplied(const NmReplied& reply) {
  const auto call = calls_.find(reply.call);
  if (call == calls_.end()) return false;
  const Launch launch = call->second;
  calls_.erase(call);
  AmCore& core = parts_.core;
  const bool current = core.tasks.shown(launch.task).incarnation == launch.incarnation &&
                       core.tasks.record(launch.task).agent == AgentPhase::kLaunching;
  if (!current) return true;  // It registered already, or its container is gone.
  if (const auto* error = std::get_if<yarn::RpcError>(&reply.response)) {
    OnStartFailed(launch.task, *error);
  } else if (const auto* started = std::get_if<yarn::StartContainersResponse>(&reply.response)) {
    if (!started->failed.empty()) OnStartFailed(launch.task, started->failed.front().error);
  }
  return true;
}

void LaunchControl::OnStartFailed(TaskIndex task, const yarn::RpcError& error) {
  AmCore& core = parts_.core;
  const std::int32_t tries = core.tasks.record(task).launch_tries;
  const bool not_ready = error.code == yarn::RpcErrorCode::kNmNotYetReady;
  const bool silent = error.code == yarn::RpcErrorCode::kUnavailable;
  if (not_ready || (silent && tries < kMostUnansweredTries)) {
    TF_PROBE("launch/tried-again");
    const Duration pause = std::min<Duration>(kLongestLaunchRetry,
                                              kFirstLaunchRetry * (1LL << std::min(tries - 1, 10)));
    core.tasks.mutable_record(task).launch_again_at = core.now + pause;
    return;
  }
  // An earlier try had started it, and its answer was lost; or the call arrived twice.
  if (error.message.find("relaunch the same container") != std::string::npos) return;
  // Granted by an RM that has restarted since: no task's failure, and no node's.
  const bool forgotten = error.code == yarn::RpcErrorCode::kInvalidContainer;
  if (forgotten) TF_PROBE("launch/container-of-an-earlier-rm");
  Lost(task, fmt::format("launch refused: {}", error.message), !forgotten, forgotten);
}

void LaunchControl::Lost(TaskIndex task, const std::string& why, bool blame_node, bool free) {
  AmCore& core = parts_.core;
  if (blame_node) {
    core.exclusion.Suspect(core.now, core.tasks.shown(task).node.host,
                           allocation::Suspicion::kLaunchFailed);
  }
  core.Note(fmt::format("{} on {}: {}", ToString(core.tasks.id(task)),
                        ToString(core.tasks.shown(task).node), why));
  parts_.leaving.Release(task);
  parts_.failover.OnLostBeforeStart(task, {.launch_error = why}, why, free);
}

void LaunchControl::StartOnceMore(TaskIndex task) {
  parts_.core.tasks.mutable_record(task).launch_tries = 1;
  CallStart(task);
}

void LaunchControl::OnRetry(TaskIndex task) {
  parts_.core.tasks.mutable_record(task).launch_again_at = kNever;
  CallStart(task);
}

void LaunchControl::OnRegistrationTimeout(TaskIndex task) {
  AmCore& core = parts_.core;
  const std::string why = fmt::format("no agent registered within {} of its launch on {}",
                                      ToString(core.job->deadlines.registration),
                                      ToString(core.tasks.shown(task).node));
  TF_PROBE("launch/registration-is-overdue");
  core.exclusion.Suspect(core.now, core.tasks.shown(task).node.host,
                         allocation::Suspicion::kDiedEarly);
  parts_.leaving.Stop(task);
  parts_.failover.OnLostBeforeStart(task, {.timed_out = true}, why, false);
}

}  // namespace tfyarn::am
