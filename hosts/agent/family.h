// The processes that descend from this one, found along the lists of children that the kernel
// keeps, so that a look costs what is looked at and not what else the machine runs.
//
// A process that started others as their subreaper (subreaper.h) is an ancestor of everything that
// they leave behind: whatever belongs to one of its trees is below the tree's root or below a child
// of this process that is no root, an orphan. So a tree is read from its root and from the orphans,
// and the list of one's own children, which is one file, names these.
//
// Where the kernel lists no children, all of /proc is read, and shared by those who ask within a
// moment.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <vector>

#include "hosts/agent/proc_table.h"

namespace tfyarn::agent_host {

/// Where processes are read; each call is a reading of the kernel. Tests count them.
class ProcSource {
 public:
  virtual ~ProcSource() = default;
  /// See ReadProcess, ReadChildren, ReadProcessTable and ChildrenAreListed.
  [[nodiscard]] virtual std::optional<ProcessInfo> Process(pid_t pid) const;
  [[nodiscard]] virtual std::vector<pid_t> Children(pid_t pid, std::int64_t threads) const;
  [[nodiscard]] virtual ProcessTable All() const;
  [[nodiscard]] virtual bool lists_children() const;
};
/// The kernel's own.
[[nodiscard]] const ProcSource& SystemProc();

class Family {
 public:
  using IsRoot = std::function<bool(pid_t)>;
  /// How old the list of orphans may be. What is about to be killed must not be missed; what is
  /// watched comes up at the next look.
  enum class Orphans { kOfNow, kRecent };

  /// `own`: this process. `is_root`: which of its children are no orphans. `source` outlives this.
  Family(pid_t own, IsRoot is_root, const ProcSource& source);

  /// `from`, the orphans, and everything that descends from them; more where children are not
  /// listed.
  [[nodiscard]] ProcessTable Read(std::vector<pid_t> from, Orphans orphans);
  /// Orphans that have ended and wait to be reaped; nullopt where children are not listed.
  [[nodiscard]] std::optional<std::vector<ProcessInfo>> EndedOrphans();

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kRecent{200};

  /// Takes a reading that is too old for `orphans` anew.
  void Refresh(Orphans orphans);

  pid_t own_;
  IsRoot is_root_;
  const ProcSource& source_;
  std::optional<Clock::time_point> read_at_;
  std::vector<pid_t> orphans_;
  ProcessTable all_;  ///< Where children are not listed.
};

}  // namespace tfyarn::agent_host
