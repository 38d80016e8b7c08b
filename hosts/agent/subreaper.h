// Makes this process the parent of its orphans, and hears when a child of it ends.
//
// A descendant whose parent dies becomes a child of the nearest ancestor that is a subreaper
// (prctl(2), PR_SET_CHILD_SUBREAPER): so a program that forks twice, or takes a session of its own,
// cannot leave its agent. Both the attribute and SIGCHLD belong to the whole process, so there is
// one Subreaper in it. It reaps nothing itself; each ProcessTree reaps what belongs to it, by pid,
// and never "any child".
//
// Which tree owns an orphan? A process never joins a session that exists, so what descends from a
// program that Spawn() started is in that program's session or in one that its descendants made:
// never in ours. A child in our own session is therefore a library's (popen) and is left alone. An
// orphan in a session that no tree has seen belongs to the only tree there is; while there are
// several trees it stays until one is left: better late than another job's process killed.
#pragma once

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "core/model/error.h"
#include "hosts/agent/family.h"

namespace tfyarn::agent_host {

class Subreaper {
 public:
  /// Children are asked after from `io`'s thread. Nothing else in the process may handle SIGCHLD.
  /// Its pending wait keeps io.run() busy until Close() or the destructor.
  explicit Subreaper(boost::asio::io_context& io, const ProcSource& proc = SystemProc());
  Subreaper(const Subreaper&) = delete;
  Subreaper& operator=(const Subreaper&) = delete;

  /// `root` has been forked and will be the root of a tree, or be removed: no orphan of others.
  void Reserve(pid_t root);
  /// Registers the tree of `root` (a child of this process). `ended` is called whenever some child
  /// of this process may have ended, until Remove(root), with the orphans that have ended and wait
  /// to be reaped, which need not be the tree's; nullopt: they are not known (family.h).
  using Ended = std::function<void(const std::optional<std::vector<ProcessInfo>>& orphans)>;
  void Add(pid_t root, Ended ended);
  void Remove(pid_t root);
  /// The caller gave `root` up before it was a tree; it reaps it, and then calls Remove. `root`
  /// does not count as a tree any more.
  void Disown(pid_t root);
  /// Whether `root` is the only tree.
  [[nodiscard]] bool IsOnly(pid_t root) const;
  /// Whether `pid` is, will be or would have been the root of a tree, and so no orphan.
  [[nodiscard]] bool IsRoot(pid_t pid) const {
    return trees_.contains(pid) || disowned_.contains(pid);
  }
  /// Session of this process: children in it are no tree's.
  [[nodiscard]] pid_t own_session() const { return own_session_; }
  [[nodiscard]] pid_t own_pid() const { return own_pid_; }
  /// What descends from this process.
  [[nodiscard]] Family& family() { return family_; }
  [[nodiscard]] boost::asio::io_context& io() { return io_; }
  /// Hears nothing from now on.
  void Close();

 private:
  void Listen();
  void TellTrees();

  boost::asio::io_context& io_;
  boost::asio::signal_set signals_;
  pid_t own_pid_ = 0;
  pid_t own_session_ = 0;
  std::map<pid_t, Ended> trees_;  ///< Empty while the root is only reserved.
  std::set<pid_t> disowned_;
  Family family_;
};

}  // namespace tfyarn::agent_host
