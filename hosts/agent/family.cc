#include "hosts/agent/family.h"

#include <utility>

namespace tfyarn::agent_host {

std::optional<ProcessInfo> ProcSource::Process(pid_t pid) const {
  return ReadProcess(pid);
}

std::vector<pid_t> ProcSource::Children(pid_t pid, std::int64_t threads) const {
  return ReadChildren(pid, threads);
}

ProcessTable ProcSource::All() const {
  return ReadProcessTable();
}

bool ProcSource::lists_children() const {
  return ChildrenAreListed();
}

const ProcSource& SystemProc() {
  static const ProcSource source;
  return source;
}

Family::Family(pid_t own, IsRoot is_root, const ProcSource& source)
    : own_(own), is_root_(std::move(is_root)), source_(source) {}

void Family::Refresh(Orphans orphans) {
  const Clock::time_point now = Clock::now();
  if (orphans == Orphans::kRecent && read_at_ && now < *read_at_ + kRecent) return;
  read_at_ = now;
  if (!source_.lists_children()) {
    all_ = source_.All();
    return;
  }
  orphans_ = source_.Children(own_, 0);
  std::erase_if(orphans_, is_root_);
}

ProcessTable Family::Read(std::vector<pid_t> from, Orphans orphans) {
  Refresh(orphans);
  if (!source_.lists_children()) return all_;
  from.insert(from.end(), orphans_.begin(), orphans_.end());
  ProcessTable table;
  while (!from.empty()) {
    const pid_t pid = from.back();
    from.pop_back();
    if (table.contains(pid)) continue;
    const auto info = source_.Process(pid);
    if (!info) continue;
    table.emplace(pid, *info);
    // One that has ended as a whole has none; with threads that go on it only looks so.
    if (info->is_zombie() && info->threads <= 1) continue;
    const std::vector<pid_t> children = source_.Children(pid, info->threads);
    from.insert(from.end(), children.begin(), children.end());
  }
  return table;
}

std::optional<std::vector<ProcessInfo>> Family::EndedOrphans() {
  if (!source_.lists_children()) return std::nullopt;
  Refresh(Orphans::kOfNow);
  std::vector<ProcessInfo> ended;
  for (const pid_t pid : orphans_) {
    const auto info = source_.Process(pid);
    if (info && info->is_zombie()) ended.push_back(*info);
  }
  return ended;
}

}  // namespace tfyarn::agent_host
