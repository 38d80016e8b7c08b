#include "hosts/agent/task_process.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "hosts/agent/listeners.h"
#include "hosts/agent/log_tail.h"
#include "hosts/agent/spawner.h"

namespace tfyarn::agent_host {
namespace {

constexpr std::chrono::milliseconds kTimeForStacks{500};

/// Where the next byte goes; 0 for a file that is not there yet.
std::uint64_t SizeOf(const std::string& path) {
  std::error_code none;
  const auto size = std::filesystem::file_size(path, none);
  return none ? 0 : size;
}

}  // namespace

TaskProcess::TaskProcess(Subreaper& subreaper, TaskCommand command, Callbacks callbacks,
                         TaskAttempt attempt)
    : subreaper_(subreaper),
      command_(std::move(command)),
      stdout_from_(SizeOf(command_.stdout_path)),
      stderr_from_(SizeOf(command_.stderr_path)),
      callbacks_(std::move(callbacks)),
      attempt_(attempt),
      term_later_(subreaper.io()) {
  Spawn();
}

void TaskProcess::Spawn() {
  // Where none may be made everything works without.
  if (auto cgroup = TaskCgroup::Create()) cgroup_.emplace(std::move(*cgroup));
  oom_before_ = ReadOomCounters(cgroup_ ? &*cgroup_ : nullptr);
  agent_host::Spawn(subreaper_,
                    {.argv = command_.argv,
                     .environment = command_.environment,
                     .directory = command_.directory,
                     .stdout_path = command_.stdout_path,
                     .stderr_path = command_.stderr_path,
                     .cgroup_procs = cgroup_ ? cgroup_->procs_path() : ""},
                    lifetime_.Guard([this](Expected<Spawned> spawned) {
                      if (spawned) return Began(std::move(*spawned));
                      const auto failed = callbacks_.failed;
                      failed(spawned.error());
                    }));
}

void TaskProcess::Began(Spawned spawned) {
  tree_ = std::make_unique<ProcessTree>(
      subreaper_, std::move(spawned), [this](const TreeExit& exit) { Over(exit); },
      TreeOptions{.saving = command_.stop});
  WatchProgress();
  const pid_t root = tree_->root();
  // What is told may come after what it is told of.
  callbacks_.spawned();
  signs_ = std::make_unique<SignsWatch>(subreaper_.io(), root, callbacks_.signs);
  WatchPort();
}

void TaskProcess::WatchPort() {
  if (!command_.listen || command_.port == 0) return;
  const auto members = [this] {
    std::vector<pid_t> pids;
    for (const ProcessInfo& member : tree_->Members()) pids.push_back(member.pid);
    return pids;
  };
  port_ = std::make_unique<PortWatch>(
      subreaper_.io(), PortWatchOptions{.port = command_.port, .deadline = *command_.listen},
      members, callbacks_.port_use);
}

void TaskProcess::WatchProgress() {
  if (!command_.watch) return;
  auto source = MakeProgressSource(*command_.watch, {.stdout_path = command_.stdout_path,
                                                     .stdout_from = stdout_from_,
                                                     .directory = command_.directory});
  if (!source) return callbacks_.note("watch: " + source.error().message);
  progress_ =
      std::make_unique<ProgressWatch>(subreaper_.io(), std::move(*source), callbacks_.progress);
}

void TaskProcess::Signal(TaskAttempt attempt, StopSignal signal) {
  if (attempt != attempt_ || !tree_) return;
  switch (signal) {
    case StopSignal::kTerm:
      return TerminateInTurn();
    case StopSignal::kKill:
      return tree_->Kill();
    case StopSignal::kContinue:
      return tree_->Continue();
  }
}

void TaskProcess::TerminateInTurn() {
  if (!dumped_ || Clock::now() >= *dumped_ + kTimeForStacks) return tree_->Terminate();
  term_later_.expires_at(*dumped_ + kTimeForStacks);
  term_later_.async_wait(lifetime_.Guard([this](const boost::system::error_code& error) {
    if (!error) tree_->Terminate();
  }));
}

Expected<StackDump> TaskProcess::DumpStacksInto(const std::string& directory) {
  dumped_ = Clock::now();
  return WriteStacksOf(tree_ ? tree_->Members() : std::vector<ProcessInfo>{}, directory);
}

/// It failed by itself, and a process that is not of this task listens where it should have.
bool TaskProcess::PortWasTaken(const TreeExit& exit) const {
  if (command_.port == 0 || !exit.code || *exit.code == 0) return false;
  return WhoListens(command_.port, [] { return std::vector<pid_t>{}; }) == Listener::kStranger;
}

void TaskProcess::Over(const TreeExit& exit) {
  const auto oom =
      FindOomEvidence(oom_before_, ReadOomCounters(cgroup_ ? &*cgroup_ : nullptr), exit);
  if (oom) callbacks_.note(*oom);
  for (const pid_t left : exit.left_behind)
    callbacks_.note("process " + std::to_string(left) + " cannot be killed");
  ProcessExited exited{
      .attempt = attempt_,
      .exit = {.code = exit.code, .signal = exit.signal, .out_of_memory = oom.has_value()},
      .port_conflict = PortWasTaken(exit),
      .stderr_tail = ReadLogTail(command_.stderr_path, stderr_from_)};
  const auto over = callbacks_.over;
  over(std::move(exited));
}

}  // namespace tfyarn::agent_host
