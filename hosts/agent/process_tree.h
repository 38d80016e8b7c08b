// A task's process and everything that descends from it, until nothing of that is left.
//
// The root's own end is what the task's exit means; then whatever it left behind is killed, because
// a container is over when its process is, and a left-over would hold the port, the GPU and the
// memory that the next attempt needs. The order is: the root's end is recorded; every group that
// still has a member gets SIGKILL; the orphans come to us (subreaper.h) and are reaped; that
// repeats until a reading of the processes (family.h) shows no member, not even a zombie; the root
// is reaped last. Until then it stays a zombie, so that its number, which names its group and its
// session, cannot become another's.
//
// A reading is no snapshot: a process can fork and end while it is made, and its child not be in
// it. But then the process itself is, as a zombie that only we could reap (or its parent, of which
// the same is true): once the root has ended, whatever is left is below an orphan, and the list of
// our children, which is read first, has all of these. So a reading without any member is proof,
// and one with nothing but zombies is not.
//
// One exception: a root without a handler for SIGTERM (the shell of `python3 train.py | tee log`)
// dies of it at once, and the program that it has started may still save. Those that were told and
// have a handler then have their time before SIGKILL.
//
// Descendants that took a session of their own, or whose parents died, are found by descent, by
// session and by being our orphans. SIGTERM goes to the root's group, with the exceptions of
// term_plan.h: a program that made other groups (a shell with job control) passes it on as it sees
// fit. It decides neither when to stop nor what an exit means.
//
// Idea: systemd's KillMode=mixed; docker-init.
#pragma once

#include <sys/types.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "core/model/time.h"
#include "hosts/agent/proc_table.h"
#include "hosts/agent/spawner.h"
#include "hosts/agent/subreaper.h"
#include "hosts/agent/task_cgroup.h"
#include "hosts/runtime/lifetime.h"

namespace tfyarn::agent_host {

/// How the root ended: exactly one of code and signal is set.
struct TreeExit {
  std::optional<int> code;        ///< 0..255.
  std::optional<int> signal;      ///< Number of the signal that ended it.
  bool core_dumped = false;       ///< With signal: the kernel wrote a core file, or piped one.
  bool terminated_by_us = false;  ///< We sent it SIGTERM before it ended.
  bool killed_by_us = false;      ///< We sent it SIGKILL before it ended.
  /// Processes that SIGKILL did not end in time (the kernel holds them in a call to a dead device,
  /// or they belong to another user). Ordinarily empty. When the root is among them its end is not
  /// known, and `signal` is SIGKILL.
  std::vector<pid_t> left_behind;
};

struct TreeOptions {
  /// From the first SIGKILL, or the root's end, to giving up on what cannot be killed.
  Duration give_up = 60s;
  /// How long those that save may outlive a root that SIGTERM has ended, unless Kill() comes.
  Duration saving = 15s;
  /// The group that the root was started in, where there is one; outlives the tree. Not owned.
  const TaskCgroup* cgroup = nullptr;
};

class ProcessTree {
 public:
  using OnExit = std::function<void(const TreeExit&)>;

  /// `root`: started by Spawn() from this process and since the subreaper was made; not reaped.
  /// `on_exit`: called once, from the event loop, never from within a call to this object; it may
  /// destroy this object.
  ProcessTree(Subreaper& subreaper, Spawned root, OnExit on_exit, TreeOptions options = {});
  /// Of a tree that has not ended the root's group gets SIGKILL, without a wait for its end: let
  /// on_exit come first where no process may be left. The next tree reaps it as an orphan.
  ~ProcessTree();
  ProcessTree(const ProcessTree&) = delete;
  ProcessTree& operator=(const ProcessTree&) = delete;

  /// SIGTERM to those that term_plan.h names: ordinarily the root's group. A stopped process does
  /// not see it before it goes on. Harmless when it has ended.
  void Terminate();
  /// SIGCONT to every process of the tree.
  void Continue();
  /// SIGKILL to every process of the tree, repeated until none is left.
  void Kill();
  /// Terminate() now and Kill() after `grace`, unless it has ended by then. A shorter grace
  /// replaces a longer one.
  void Stop(Duration grace);

  [[nodiscard]] pid_t root() const { return root_.pid; }
  /// Reads them from the kernel: the processes of the tree that live now, by pid. It costs some 20
  /// microseconds for each of them, and for each of their threads. Asking now and then makes it
  /// remember who belongs here, even if their parents are gone the next time.
  [[nodiscard]] std::vector<ProcessInfo> Members();

 private:
  using Clock = std::chrono::steady_clock;

  void WatchRoot();
  /// Of this process; it need not be this tree's.
  void ChildMayHaveEnded(const std::optional<std::vector<ProcessInfo>>& orphans);
  void RootMayHaveEnded();
  void LookAtRoot();
  void StartKilling();
  /// The root has ended; some that were told with it have so long to save, or to drain a pipe.
  void KillIn(Duration time);
  /// Ends that time when the last of them has ended.
  void LookAtSaving();
  void ArmGiveUp();
  void SweepIn(Duration delay);
  void Sweep();
  void Finish(std::vector<pid_t> left_behind);
  /// Those that may be members.
  [[nodiscard]] ProcessTable ReadTable(Family::Orphans orphans, const std::vector<pid_t>& confined);
  [[nodiscard]] std::vector<ProcessInfo> FindMembers(Family::Orphans orphans);
  void KillGroups(const std::set<pid_t>& groups) const;
  [[nodiscard]] bool IsSeed(const ProcessInfo& info) const;

  Subreaper& subreaper_;
  Spawned root_;
  OnExit on_exit_;
  TreeOptions options_;
  boost::asio::posix::stream_descriptor root_fd_;
  boost::asio::steady_timer sweep_timer_;
  boost::asio::steady_timer stop_timer_;
  boost::asio::steady_timer give_up_timer_;
  boost::asio::steady_timer saving_timer_;

  TreeExit exit_;
  bool root_ended_ = false;
  bool killing_ = false;  ///< SIGKILL is sent to each process that is found.
  bool finished_ = false;
  std::vector<ProcessInfo> saving_;   ///< Were told, have a handler, and the root had none.
  std::vector<ProcessInfo> passive_;  ///< Read or feed what those write or read.
  Duration pause_{};                  ///< Between two sweeps while a process is left.
  std::optional<Clock::time_point> sweep_at_;
  std::optional<Clock::time_point> stop_at_;
  std::set<pid_t> sessions_;                   ///< Of the members of the last reading.
  std::map<pid_t, std::uint64_t> remembered_;  ///< Start times of the members of the last reading.
  hosts::Lifetime lifetime_;
};

}  // namespace tfyarn::agent_host
