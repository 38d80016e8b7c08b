// One run of a task's process: started, watched, ended as a whole, and its end with all evidence of
// what it was.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/model/agent.h"
#include "core/model/error.h"
#include "core/model/job_spec.h"
#include "hosts/agent/oom_evidence.h"
#include "hosts/agent/port_watch.h"
#include "hosts/agent/process_tree.h"
#include "hosts/agent/progress_watch.h"
#include "hosts/agent/signs_watch.h"
#include "hosts/agent/stacks.h"
#include "hosts/agent/subreaper.h"
#include "hosts/agent/task_cgroup.h"

namespace tfyarn::agent_host {

struct TaskCommand {
  std::vector<std::string> argv;
  std::map<std::string, std::string> environment;
  std::string directory;
  std::string stdout_path;
  std::string stderr_path;
  std::int32_t port = 0;  ///< The task's; 0: none.
  std::optional<WatchSpec> watch;
  std::optional<Duration> listen;  ///< It should listen on `port` so soon.
  /// For a program that saves when SIGTERM has ended the shell that it was started from.
  Duration stop = 15s;
};

class TaskProcess {
 public:
  struct Callbacks {
    std::function<void()> spawned;
    std::function<void(const Error&)> failed;  ///< In place of both others. May destroy this.
    std::function<void(ProcessExited)> over;   ///< Once; nothing of it is left. May destroy this.
    std::function<void()> progress;
    std::function<void(const Signs&)> signs;  ///< They have changed.
    std::function<void(const PortUse&)> port_use;
    std::function<void(const std::string&)> note;
  };

  /// `callbacks` may come from now on, from the event loop. Destroyed before its end, it kills.
  TaskProcess(Subreaper& subreaper, TaskCommand command, Callbacks callbacks, TaskAttempt attempt);

  /// Harmless for another attempt. A SIGTERM that follows a dump of stacks waits half a second:
  /// one that comes with SIGUSR1 would end the process before it has printed anything.
  void Signal(TaskAttempt attempt, StopSignal signal);
  /// What its processes are doing, into files in `directory`.
  [[nodiscard]] Expected<StackDump> DumpStacksInto(const std::string& directory);

 private:
  using Clock = std::chrono::steady_clock;

  void Spawn();
  void Began(Spawned spawned);
  void WatchProgress();
  void WatchPort();
  void TerminateInTurn();
  void Over(const TreeExit& exit);
  [[nodiscard]] bool PortWasTaken(const TreeExit& exit) const;

  Subreaper& subreaper_;
  TaskCommand command_;
  std::uint64_t stdout_from_;
  std::uint64_t stderr_from_;
  Callbacks callbacks_;
  TaskAttempt attempt_;
  std::optional<TaskCgroup> cgroup_;
  OomCounters oom_before_;
  std::unique_ptr<ProcessTree> tree_;
  std::unique_ptr<ProgressWatch> progress_;
  std::unique_ptr<SignsWatch> signs_;
  std::unique_ptr<PortWatch> port_;
  std::optional<Clock::time_point> dumped_;
  boost::asio::steady_timer term_later_;
  hosts::Lifetime lifetime_;
};

}  // namespace tfyarn::agent_host
