#include "hosts/agent/task_cgroup.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <utility>

#include "hosts/agent/proc_table.h"
#include "hosts/agent/unique_fd.h"

namespace tfyarn::agent_host {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "tfyarn-task-";
constexpr std::size_t kLongestGroupFile = 1U << 20;

/// Calls `visit` with each line.
template <class Visit>
void ForEachLine(std::string_view text, Visit visit) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    visit(line);
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
}

std::vector<std::string_view> Split(std::string_view line, char separator) {
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t end = line.find(separator);
    words.push_back(line.substr(0, end));
    if (end == std::string_view::npos) return words;
    line.remove_prefix(end + 1);
  }
}

bool HasWord(std::string_view list, std::string_view word) {
  const std::vector<std::string_view> words = Split(list, ',');
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// Where `path` of a hierarchy, of which `root` is mounted at `place`, is seen.
std::string Below(std::string_view place, std::string_view root, std::string_view path) {
  if (root != "/") {
    if (!path.starts_with(root)) return "";
    path.remove_prefix(root.size());
  }
  std::string directory(place);
  if (!path.empty() && path != "/") directory.append(path);
  return directory;
}

/// The pid in a name that Create gave; nullopt when it is none.
std::optional<pid_t> AgentOf(std::string_view name) {
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  pid_t pid = 0;
  const auto result = std::from_chars(name.data(), name.data() + name.size(), pid);
  return result.ec == std::errc() && pid > 0 ? std::optional(pid) : std::nullopt;
}

/// What agents that were killed left in `parent`. A group with processes cannot be removed.
void RemoveOld(const std::string& parent) {
  std::error_code error;
  for (fs::directory_iterator entry(parent, error), end; !error && entry != end;
       entry.increment(error)) {
    const auto agent = AgentOf(entry->path().filename().string());
    if (agent && ::kill(*agent, 0) != 0 && errno == ESRCH) ::rmdir(entry->path().c_str());
  }
}

void AddProcesses(const fs::path& group, std::vector<pid_t>& pids) {
  const auto text = ReadSmallFile(group / "cgroup.procs", kLongestGroupFile);
  if (!text) return;
  ForEachLine(*text, [&](std::string_view line) {
    pid_t pid = 0;
    std::from_chars(line.data(), line.data() + line.size(), pid);
    if (pid > 0) pids.push_back(pid);
  });
}

}  // namespace

std::optional<std::uint64_t> CounterIn(std::string_view text, std::string_view name) {
  std::optional<std::uint64_t> counter;
  ForEachLine(text, [&](std::string_view line) {
    if (!line.starts_with(name) || line.size() <= name.size() || line[name.size()] != ' ') return;
    std::uint64_t value = 0;
    const char* const end = line.data() + line.size();
    if (std::from_chars(line.data() + name.size() + 1, end, value).ec == std::errc()) {
      counter = value;
    }
  });
  return counter;
}

OwnCgroups FindOwnCgroups(std::string_view cgroup, std::string_view mountinfo) {
  std::string_view unified_path;
  std::string_view memory_path;
  // ID:CONTROLLERS:PATH; 0 and no controllers for version 2. Source: cgroups(7).
  ForEachLine(cgroup, [&](std::string_view line) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) return;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    if (controllers.empty()) unified_path = line.substr(second + 1);
    if (HasWord(controllers, "memory")) memory_path = line.substr(second + 1);
  });
  OwnCgroups own;
  // ... ROOT MOUNT_POINT OPTIONS ... - TYPE SOURCE SUPER_OPTIONS. Source: proc(5).
  ForEachLine(mountinfo, [&](std::string_view line) {
    const std::size_t dash = line.find(" - ");
    if (dash == std::string_view::npos) return;
    const std::vector<std::string_view> front = Split(line.substr(0, dash), ' ');
    const std::vector<std::string_view> back = Split(line.substr(dash + 3), ' ');
    if (front.size() < 6 || back.size() < 3) return;
    if (back[0] == "cgroup2" && !unified_path.empty() && own.unified.empty()) {
      own.unified = Below(front[4], front[3], unified_path);
    } else if (back[0] == "cgroup" && HasWord(back[2], "memory") && !memory_path.empty() &&
               own.memory_v1.empty()) {
      own.memory_v1 = Below(front[4], front[3], memory_path);
    }
  });
  return own;
}

OwnCgroups FindOwnCgroups() {
  return FindOwnCgroups(ReadSmallFile("/proc/self/cgroup", kLongestGroupFile).value_or(""),
                        ReadSmallFile("/proc/self/mountinfo", kLongestGroupFile).value_or(""));
}

Expected<TaskCgroup> TaskCgroup::Create(const std::string& parent) {
  if (parent.empty()) {
    return Fail(ErrorCode::kFailedPrecondition, "no control groups (version 2) are mounted here");
  }
  RemoveOld(parent);
  static std::atomic<unsigned> count = 0;
  TaskCgroup group(parent + "/" + std::string(kPrefix) + std::to_string(::getpid()) + "-" +
                   std::to_string(++count));
  if (::mkdir(group.directory_.c_str(), 0755) != 0) {
    const std::string words = std::strerror(errno);
    group.directory_.clear();
    return Fail(ErrorCode::kFailedPrecondition,
                "cannot make a control group in " + parent + ": " + words);
  }
  if (::access(group.procs_path().c_str(), W_OK) != 0) {
    return Fail(ErrorCode::kFailedPrecondition, "no control groups (version 2) in " + parent);
  }
  return group;
}

TaskCgroup::TaskCgroup(TaskCgroup&& other) noexcept
    : directory_(std::exchange(other.directory_, std::string())) {}

TaskCgroup::~TaskCgroup() {
  if (!directory_.empty()) ::rmdir(directory_.c_str());
}

std::vector<pid_t> TaskCgroup::Processes() const {
  std::vector<pid_t> pids;
  AddProcesses(directory_, pids);
  std::error_code error;
  for (fs::recursive_directory_iterator entry(directory_, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->is_directory(error)) AddProcesses(entry->path(), pids);
  }
  return pids;
}

bool TaskCgroup::Kill() const {
  const UniqueFd file(::open((directory_ + "/cgroup.kill").c_str(), O_WRONLY | O_CLOEXEC));
  return file && ::write(file.get(), "1", 1) == 1;
}

std::optional<std::uint64_t> TaskCgroup::OomKills() const {
  const auto text = ReadSmallFile(directory_ + "/memory.events", kLongestGroupFile);
  return text ? CounterIn(*text, "oom_kill") : std::nullopt;
}

}  // namespace tfyarn::agent_host
