#include "hosts/agent/process_tree.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "core/model/check.h"
#include "hosts/agent/term_plan.h"

namespace tfyarn::agent_host {
namespace {

/// Orphans that end while the task runs are reaped no more often than this.
constexpr Duration kReapPause = 250ms;
constexpr Duration kFirstPause = 2ms;
constexpr Duration kLongestPause = 200ms;
/// For the last output of a program that has saved to go through its pipe.
constexpr Duration kTimeToDrain = 500ms;

/// Ends of children are asked after one by one, by pid: "any child" could be one of a library's.
bool Reap(pid_t pid) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG) == 0 &&
         info.si_pid == pid;
}

bool AnyLives(const std::vector<ProcessInfo>& processes) {
  return std::any_of(processes.begin(), processes.end(), [](const ProcessInfo& before) {
    const auto now = ReadProcess(before.pid);
    return now && now->start_time == before.start_time && !now->is_zombie();
  });
}

}  // namespace

ProcessTree::ProcessTree(Subreaper& subreaper, Spawned root, OnExit on_exit, TreeOptions options)
    : subreaper_(subreaper),
      root_(std::move(root)),
      on_exit_(std::move(on_exit)),
      options_(options),
      root_fd_(subreaper.io()),
      sweep_timer_(subreaper.io()),
      stop_timer_(subreaper.io()),
      give_up_timer_(subreaper.io()),
      saving_timer_(subreaper.io()),
      sessions_{root_.pid},
      remembered_{{root_.pid, root_.start_time}} {
  TF_CHECK(root_.pid > 0);
  subreaper_.Add(root_.pid,
                 lifetime_.Guard([this](const std::optional<std::vector<ProcessInfo>>& orphans) {
                   ChildMayHaveEnded(orphans);
                 }));
  WatchRoot();
}

ProcessTree::~ProcessTree() {
  if (finished_) return;
  ::kill(-root_.pid, SIGKILL);
  subreaper_.Remove(root_.pid);
}

void ProcessTree::WatchRoot() {
  // Without a pidfd (old kernel) SIGCHLD alone tells; it may have come before we were registered.
  SweepIn(root_.pidfd ? kReapPause : Duration{});
  if (!root_.pidfd) return;
  boost::system::error_code error;
  root_fd_.assign(root_.pidfd.get(), error);
  if (error) return;
  (void)root_.pidfd.release();
  root_fd_.async_wait(
      boost::asio::posix::descriptor_base::wait_read,
      lifetime_.Guard([this](const boost::system::error_code&) { RootMayHaveEnded(); }));
}

// With a hundred trees in this process, each of them hears of the ends of all the others: it looks
// at nothing but what is its own.
void ProcessTree::ChildMayHaveEnded(const std::optional<std::vector<ProcessInfo>>& orphans) {
  if (finished_) return;
  if (!root_fd_.is_open()) RootMayHaveEnded();
  const bool mine =
      !orphans || std::any_of(orphans->begin(), orphans->end(),
                              [this](const ProcessInfo& info) { return IsSeed(info); });
  if (mine) SweepIn(root_ended_ ? Duration{} : kReapPause);
}

void ProcessTree::RootMayHaveEnded() {
  if (finished_) return;
  LookAtRoot();
  if (root_ended_) SweepIn(Duration{});
}

void ProcessTree::LookAtRoot() {
  if (root_ended_) return;
  siginfo_t info{};
  // WNOWAIT: it stays a zombie, and its number stays ours.
  const int result =
      ::waitid(P_PID, static_cast<id_t>(root_.pid), &info, WEXITED | WNOHANG | WNOWAIT);
  TF_CHECK(result == 0);  // Fails only when other code reaped our child.
  if (info.si_pid != root_.pid) return;
  root_ended_ = true;
  if (info.si_code == CLD_EXITED) {
    exit_.code = info.si_status;
  } else {
    exit_.signal = info.si_status;
    exit_.core_dumped = info.si_code == CLD_DUMPED;
  }
  if (!killing_ && exit_.signal == SIGTERM && AnyLives(saving_)) return KillIn(options_.saving);
  StartKilling();
}

void ProcessTree::StartKilling() {
  killing_ = true;
  stop_timer_.cancel();
  saving_timer_.cancel();
  ArmGiveUp();
}

void ProcessTree::KillIn(Duration time) {
  saving_timer_.expires_after(time);
  saving_timer_.async_wait(lifetime_.Guard([this](const boost::system::error_code& error) {
    if (!error) Kill();
  }));
}

void ProcessTree::LookAtSaving() {
  if (!root_ended_ || killing_ || AnyLives(saving_)) return;
  if (!AnyLives(passive_)) return StartKilling();
  if (saving_.empty()) return;
  saving_.clear();
  KillIn(kTimeToDrain);
}

void ProcessTree::Terminate() {
  // Those that save beyond the root's end were told before it.
  if (finished_ || root_ended_) return;
  exit_.terminated_by_us = true;
  TermPlan plan = PlanTerm(root_.pid, Members(), HasHandlerForTerm);
  saving_ = std::move(plan.saving);
  passive_ = std::move(plan.passive);
  if (plan.whole_group) ::kill(-root_.pid, SIGTERM);
  for (const pid_t process : plan.told) ::kill(process, SIGTERM);
}

void ProcessTree::Continue() {
  if (finished_) return;
  for (const ProcessInfo& member : Members()) ::kill(member.pid, SIGCONT);
}

void ProcessTree::Kill() {
  if (finished_) return;
  LookAtRoot();
  if (!root_ended_) exit_.killed_by_us = true;
  StartKilling();
  KillGroups({root_.pid});
  SweepIn(Duration{});
}

void ProcessTree::Stop(Duration grace) {
  Terminate();
  if (finished_ || killing_) return;
  const Clock::time_point at = Clock::now() + grace;
  if (stop_at_ && *stop_at_ <= at) return;
  stop_at_ = at;
  stop_timer_.expires_at(at);
  stop_timer_.async_wait(lifetime_.Guard([this](const boost::system::error_code& error) {
    if (!error) Kill();
  }));
}

void ProcessTree::ArmGiveUp() {
  if (give_up_timer_.expiry() != Clock::time_point{}) return;
  give_up_timer_.expires_after(options_.give_up);
  give_up_timer_.async_wait(lifetime_.Guard([this](const boost::system::error_code& error) {
    if (error || finished_) return;
    LookAtRoot();
    std::vector<pid_t> left;
    for (const ProcessInfo& member : Members()) left.push_back(member.pid);
    Finish(std::move(left));
  }));
}

void ProcessTree::SweepIn(Duration delay) {
  const Clock::time_point at = Clock::now() + delay;
  if (finished_ || (sweep_at_ && *sweep_at_ <= at)) return;
  sweep_at_ = at;
  sweep_timer_.expires_at(at);
  sweep_timer_.async_wait(lifetime_.Guard([this](const boost::system::error_code& error) {
    if (error || finished_) return;
    sweep_at_.reset();
    Sweep();
  }));
}

void ProcessTree::Sweep() {
  LookAtRoot();
  LookAtSaving();
  // Only a reading that began after the root's end can show that no process is left.
  const bool root_ended = root_ended_;
  std::set<pid_t> groups;
  std::vector<pid_t> zombies;
  bool alive = false;
  for (const ProcessInfo& member : FindMembers(Family::Orphans::kOfNow)) {
    if (member.pid == root_.pid && root_ended) continue;
    groups.insert(member.group);
    if (!member.is_zombie()) {
      alive = true;
    } else if (member.parent == subreaper_.own_pid() && member.pid != root_.pid) {
      zombies.push_back(member.pid);
    }
  }
  // Reaping comes after it, so that the number of a group whose leader was our orphan is not free.
  if (killing_) KillGroups(groups);
  for (const pid_t zombie : zombies) {
    // What looks like a zombie but cannot be reaped has lost its first thread only.
    if (!Reap(zombie)) alive = true;
  }
  // A process that saves is not always our child, whose end the kernel would tell us.
  if (root_ended && !killing_) return SweepIn(kLongestPause);
  if (!killing_) return;
  if (root_ended && groups.empty()) return Finish({});
  pause_ = alive ? std::clamp(pause_ * 2, kFirstPause, kLongestPause) : Duration{};
  SweepIn(pause_);
}

void ProcessTree::KillGroups(const std::set<pid_t>& groups) const {
  const pid_t own_group = ::getpgrp();
  // No fork slips through a signal to a control group or a process group.
  if (options_.cgroup != nullptr) options_.cgroup->Kill();
  for (const pid_t group : groups) {
    // Group 1 would be every process, and our own ourselves: no member of a tree is in either.
    TF_CHECK(group > 1);
    TF_CHECK(group != own_group);
    ::kill(-group, SIGKILL);
  }
}

std::vector<ProcessInfo> ProcessTree::Members() {
  std::vector<ProcessInfo> members = FindMembers(Family::Orphans::kRecent);
  std::erase_if(members, [](const ProcessInfo& member) { return member.is_zombie(); });
  return members;
}

bool ProcessTree::IsSeed(const ProcessInfo& info) const {
  if (info.pid == root_.pid) return true;
  if (info.parent == subreaper_.own_pid() && info.session != subreaper_.own_session() &&
      !subreaper_.IsRoot(info.pid) && subreaper_.IsOnly(root_.pid)) {
    return true;
  }
  // The number of a session may have been taken again since the last reading; not by an elder.
  if (sessions_.contains(info.session) && info.start_time >= root_.start_time) return true;
  const auto known = remembered_.find(info.pid);
  return known != remembered_.end() && known->second == info.start_time;
}

ProcessTable ProcessTree::ReadTable(Family::Orphans orphans, const std::vector<pid_t>& confined) {
  std::vector<pid_t> from = confined;
  from.push_back(root_.pid);
  for (const auto& [pid, start_time] : remembered_) from.push_back(pid);
  return subreaper_.family().Read(std::move(from), orphans);
}

std::vector<ProcessInfo> ProcessTree::FindMembers(Family::Orphans orphans) {
  std::vector<pid_t> confined;
  if (options_.cgroup != nullptr) confined = options_.cgroup->Processes();
  const ProcessTable table = ReadTable(orphans, confined);
  std::set<pid_t> members;
  // A new member may bring a new session, and the session more members.
  for (std::size_t known_sessions = 0; known_sessions != sessions_.size();) {
    known_sessions = sessions_.size();
    std::vector<pid_t> seeds;
    for (const auto& [pid, info] : table) {
      if (IsSeed(info)) seeds.push_back(pid);
    }
    // One that has come since the table was read is found the next time.
    for (const pid_t pid : confined) {
      if (table.contains(pid)) seeds.push_back(pid);
    }
    members = WithDescendants(table, std::move(seeds));
    for (const pid_t pid : members) sessions_.insert(table.at(pid).session);
  }
  sessions_ = {root_.pid};
  remembered_ = {{root_.pid, root_.start_time}};
  std::vector<ProcessInfo> result;
  for (const pid_t pid : members) {
    const ProcessInfo& info = table.at(pid);
    sessions_.insert(info.session);
    remembered_.emplace(pid, info.start_time);
    result.push_back(info);
  }
  return result;
}

void ProcessTree::Finish(std::vector<pid_t> left_behind) {
  finished_ = true;
  if (!root_ended_) exit_.signal = SIGKILL;
  exit_.left_behind = std::move(left_behind);
  Reap(root_.pid);
  subreaper_.Remove(root_.pid);
  boost::system::error_code ignored;
  root_fd_.close(ignored);
  sweep_timer_.cancel();
  stop_timer_.cancel();
  give_up_timer_.cancel();
  saving_timer_.cancel();
  const OnExit on_exit = std::move(on_exit_);
  const TreeExit exit = exit_;
  on_exit(exit);
}

}  // namespace tfyarn::agent_host
