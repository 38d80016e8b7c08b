#include "core/am/decide/launch_control.h"

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

}  // namespace

void LaunchControl::OnGranted(TaskIndex task, const allocation::HeldContainer& container) {
  AmCore& core = parts_.core;
  const Incarnation incarnation = core.tasks.shown(task).incarnation;
  core.tasks.GiveContainer(task, container,
                           core.NonceFor(core.snapshot.attempt.attempt, task, incarnation));
  granted_.push_back(task);
}

void LaunchControl::LaunchReady() {
  if (granted_.empty() || parts_.core.finishing) return;
  AmCore& core = parts_.core;
  std::vector<Launch> batch;
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
    batch.push_back({task, shown.incarnation});
    entry.agents.push_back({.task = shown.task,
                            .incarnation = shown.incarnation,
                            .nonce = core.tasks.record(task).nonce,
                            .container = shown.container,
                            .node = shown.node});
  }
  granted_ = std::move(waiting);
  if (batch.empty()) return;
  const JournalSeq seq = core.Append(entry);
  for (const Launch& launch : batch) core.tasks.mutable_record(launch.task).order_entry = seq;
  launches_.Hold(seq, std::move(batch));
}

bool LaunchControl::MayLaunch(TaskIndex task) const {
  const AmCore& core = parts_.core;
  if (core.job->gang.policy == GangPolicy::kNone) return true;
  const bool whole = core.tasks.CountTraining(TaskState::kWaiting) == 0;
  if (!core.gang_was_complete) return whole && core.allocation.complete();
  return whole || !core.tasks.record(task).training;
}

void LaunchControl::OnDurable() {
  launches_.Send(parts_.core.out, [this](JournalSeq, const std::vector<Launch>& batch) {
    for (const Launch& launch : batch) {
      const bool same = parts_.core.tasks.shown(launch.task).incarnation == launch.incarnation;
      if (same && parts_.core.tasks.record(launch.task).agent == AgentPhase::kGranted)
        Start(launch.task);
    }
  });
}

void LaunchControl::Start(TaskIndex task) {
  AmCore& core = parts_.core;
  if (core.finishing) {
    TF_PROBE("launch/verdict-before-the-launch");
    return;
  }
  core.tasks.SetAgent(task, AgentPhase::kLaunching);
  core.tasks.mutable_record(task).register_by = core.now + core.job->deadlines.registration;
  Order(task);
}

void LaunchControl::Order(TaskIndex task) {
  AmCore& core = parts_.core;
  TaskRecord& record = core.tasks.mutable_record(task);
  ++record.launch_tries;
  const bool ordered = core.allocation.Launch(
      record.order_entry, {.fence = core.tasks.FenceOf(task),
                           .am_attempt = core.snapshot.attempt.attempt,
                           .am_address = core.started.address,
                           .staging_directory = core.options.staging_directory});
  if (!ordered) Lost(task, "no NM token for its node", false, true);
}

void LaunchControl::OnRefused(TaskIndex task, const allocation::LaunchRefusal& refusal) {
  using Why = allocation::LaunchRefusal::Why;
  TaskRecord& record = parts_.core.tasks.mutable_record(task);
  const std::int32_t tries = record.launch_tries;
  const bool not_ready = refusal.why == Why::kNotReady;
  if (not_ready || (refusal.why == Why::kNoAnswer && tries < kMostUnansweredTries)) {
    TF_PROBE("launch/tried-again");
    const Duration pause = std::min<Duration>(kLongestLaunchRetry,
                                              kFirstLaunchRetry * (1LL << std::min(tries - 1, 10)));
    record.launch_again_at = parts_.core.now + pause;
    return;
  }
  const bool forgotten = refusal.why == Why::kForgotten;
  if (forgotten) TF_PROBE("launch/container-of-an-earlier-rm");
  Lost(task, fmt::format("launch refused: {}", refusal.message), !forgotten, forgotten);
}

void LaunchControl::Lost(TaskIndex task, const std::string& why, bool blame_node, bool free) {
  AmCore& core = parts_.core;
  if (blame_node) {
    core.allocation.Suspect(core.tasks.shown(task).node.host, allocation::Suspicion::kLaunchFailed);
  }
  core.Note(fmt::format("{} on {}: {}", ToString(core.tasks.id(task)),
                        ToString(core.tasks.shown(task).node), why));
  parts_.leaving.Release(task);
  parts_.failover.OnLostBeforeStart(task, {.launch_error = why}, why, free);
}

void LaunchControl::StartOnceMore(TaskIndex task) {
  parts_.core.tasks.mutable_record(task).launch_tries = 1;
  Order(task);
}

void LaunchControl::OnRetry(TaskIndex task) {
  parts_.core.tasks.mutable_record(task).launch_again_at = kNever;
  Order(task);
}

void LaunchControl::OnRegistrationTimeout(TaskIndex task) {
  AmCore& core = parts_.core;
  const std::string why = fmt::format("no agent registered within {} of its launch on {}",
                                      ToString(core.job->deadlines.registration),
                                      ToString(core.tasks.shown(task).node));
  TF_PROBE("launch/registration-is-overdue");
  core.allocation.Suspect(core.tasks.shown(task).node.host, allocation::Suspicion::kDiedEarly);
  parts_.leaving.Stop(task);
  parts_.failover.OnLostBeforeStart(task, {.timed_out = true}, why, false);
}

}  // namespace tfyarn::am
