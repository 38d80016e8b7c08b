// Containers on the node: from localisation to exit.
//
// Source: ContainerImpl.java, ContainerLaunch.java, DefaultContainerExecutor.java.
#include <fmt/format.h>

#include "core/model/check.h"
#include "core/model/probe.h"
#include "fakes/yarn-rm/node_manager.h"

namespace tfyarn::fakes {
namespace {

using Stage = NmContainer::Stage;

constexpr std::int32_t kInvalidExit = -1000;
/// Source: ContainerExecutor.ExitCode.LOST.
constexpr std::int32_t kLostExit = 154;
constexpr std::int32_t kInterrupted = 130;
constexpr std::int32_t kTerminated = 143;

/// What is found of a process that outlived its NM: the script that notes its exit dies of a broken
/// pipe when it says that a signal killed it, which it does but for these two (run).
/// Source: DefaultContainerExecutor.UnixLocalWrapperScriptBuilder,
/// ContainerExecutor.reacquireContainer.
std::int32_t RecoveredExit(std::int32_t exit_status) {
  constexpr std::int32_t kSignal = 128;
  const bool noted =
      exit_status <= kSignal || exit_status == kInterrupted || exit_status == kTerminated;
  return noted ? exit_status : kLostExit;
}

}  // namespace

NmContainer* NodeManager::Find(const ContainerId& id) {
  const auto found = state_.containers.find(id);
  return found == state_.containers.end() ? nullptr : &found->second;
}

void NodeManager::On(const Localized& event) {
  NmContainer* container = Find(event.container);
  if (container == nullptr || container->stage != Stage::kLocalizing) return;
  container->stage = Stage::kLaunching;
  Emit(Launch{.container = container->id, .context = container->context});
}

void NodeManager::On(const LocalizationFailed& event) {
  NmContainer* container = Find(event.container);
  if (container == nullptr || container->stage != Stage::kLocalizing) return;
  Finish(*container, kInvalidExit, event.diagnostics);
}

void NodeManager::On(const ProcessStarted& event) {
  NmContainer* container = Find(event.container);
  if (container == nullptr || container->stage != Stage::kLaunching) {
    TF_PROBE("nm/start-crossed-its-end");
    // Its order to start crossed its end: nothing of it may live.
    Emit(SignalContainer{.container = event.container, .kill = true});
    return;
  }
  container->stage = Stage::kRunning;
  if (container->stop_status) {
    TF_PROBE("nm/stopped-while-it-launched");
    Signal(*container);
  }
}

void NodeManager::On(const LaunchFailed& event) {
  NmContainer* container = Find(event.container);
  if (container == nullptr || container->stage != Stage::kLaunching) return;
  Finish(*container, container->stop_status.value_or(event.exit_status),
         container->stop_reason + event.diagnostics);
}

// The number is the same whether the process was signalled or the shell returned it (run).
void NodeManager::On(const ProcessEnded& event) {
  NmContainer* container = Find(event.container);
  if (container == nullptr || container->stage == Stage::kDone) return;
  if (container->recovered) {
    TF_PROBE("nm/recovered-process-ended");
    // The NM does not say what stopped it. Source: RecoveredContainerLaunch.call (run).
    const std::int32_t found = RecoveredExit(event.exit_status);
    Finish(*container, found,
           found == 0 ? event.diagnostics
                      : fmt::format("{}Container exited with a non-zero exit code {}. {}\n",
                                    container->stop_reason, found, event.diagnostics));
    return;
  }
  if (container->stop_status) {
    Finish(*container, *container->stop_status,
           fmt::format("{}Container killed on request. Exit code is {}\n", container->stop_reason,
                       event.exit_status));
    return;
  }
  std::string diagnostics = event.diagnostics;
  if (event.exit_status == 137 || event.exit_status == 143) {
    diagnostics = fmt::format(
        "Container killed on request. Exit code is {}\nContainer exited with a non-zero exit code "
        "{}. \nKilled by external signal\n{}",
        event.exit_status, event.exit_status, diagnostics);
  } else if (event.exit_status > 0) {
    diagnostics = fmt::format(
        "Exception from container-launch.\nContainer exited with a non-zero exit code {}. {}\n",
        event.exit_status, diagnostics);
  }
  Finish(*container, event.exit_status, std::move(diagnostics));
}

// Asynchronous. SIGTERM at once (as soon as there is a process), SIGKILL after the grace time. The
// first who wants it to end decides what is reported.
void NodeManager::StopContainer(NmContainer& container, std::int32_t exit_status,
                                std::string reason) {
  if (container.stage == Stage::kDone || container.stop_status) return;
  container.stop_status = exit_status;
  container.stop_reason = std::move(reason);
  switch (container.stage) {
    case Stage::kLocalizing:
      TF_PROBE("nm/stopped-while-localizing");
      Finish(container, exit_status, container.stop_reason);
      break;
    case Stage::kRunning:
      Signal(container);
      break;
    case Stage::kLaunching:
    case Stage::kDone:
      break;
  }
}

void NodeManager::Signal(NmContainer& container) {
  container.kill_at = now_ + options_.sigkill_delay;
  kills_.emplace(*container.kill_at, container.id);
  Emit(SignalContainer{.container = container.id, .kill = false});
}

void NodeManager::KillDue() {
  while (!kills_.empty() && kills_.begin()->first <= now_) {
    const ContainerId id = kills_.begin()->second;
    kills_.erase(kills_.begin());
    NmContainer* container = Find(id);
    TF_CHECK(container != nullptr && container->stage != Stage::kDone);
    container->kill_at.reset();
    TF_PROBE("nm/killed-after-its-grace");
    Emit(SignalContainer{.container = id, .kill = true});
  }
}

void NodeManager::Finish(NmContainer& container, std::int32_t exit_status,
                         std::string diagnostics) {
  if (container.kill_at) {
    kills_.erase({*container.kill_at, container.id});
    container.kill_at.reset();
  }
  container.stage = Stage::kDone;
  container.exit_status = exit_status;
  container.diagnostics = std::move(diagnostics);
  container.context = {};
  changed_.insert(container.id);
  Emit(ContainerDone{.container = container.id, .exit_status = exit_status});
  if (phase_ == Phase::kEmptying) {
    for (const auto& [id, other] : state_.containers) {
      if (other.stage != Stage::kDone) return;
    }
    Register();
    return;
  }
  BeatOutOfTurn();
}

}  // namespace tfyarn::fakes
