#include "hosts/agent/proc_table.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <memory>

#include "hosts/agent/open_directory.h"
#include "hosts/agent/unique_fd.h"

namespace tfyarn::agent_host {
namespace {

std::uint64_t PageSize() {
  static const auto size = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

/// The next word of `text` as a number; 0 when it is none.
template <class T>
T TakeNumber(std::string_view& text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  const std::size_t space = text.find(' ');
  text.remove_prefix(space == std::string_view::npos ? text.size() : space);
  return error == std::errc() ? value : T{};
}

constexpr std::size_t kLongestList = std::size_t{4} << 20;

/// Adds the numbers in a file of children.
void AddChildren(const std::string& path, std::vector<pid_t>& children) {
  const std::string list = ReadSmallFile(path, kLongestList).value_or("");
  std::string_view text = list;
  while (!text.empty()) {
    if (const auto pid = TakeNumber<pid_t>(text); pid > 0) children.push_back(pid);
  }
}

}  // namespace

std::optional<std::string> ReadSmallFile(const std::string& path, std::size_t limit) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file) return std::nullopt;
  std::string text;
  while (text.size() < limit) {
    const std::size_t before = text.size();
    text.resize(std::min(limit, before + 4096));
    const ssize_t got = ::read(file.get(), text.data() + before, text.size() - before);
    text.resize(before + (got > 0 ? static_cast<std::size_t>(got) : 0));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
  }
  return text;
}

std::optional<ProcessInfo> ParseStat(std::string_view text) {
  // PID (NAME) STATE PPID PGRP SESSION ...; NAME may hold spaces and parentheses: its end is the
  // last one. Source: proc(5).
  ProcessInfo info;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), info.pid);
  const std::size_t close = text.rfind(')');
  if (error != std::errc() || close == std::string_view::npos || close + 3 >= text.size()) {
    return std::nullopt;
  }
  info.state = text[close + 2];
  text.remove_prefix(close + 3);
  info.parent = TakeNumber<pid_t>(text);
  info.group = TakeNumber<pid_t>(text);
  info.session = TakeNumber<pid_t>(text);
  for (int field = 7; field < 20; ++field) TakeNumber<std::int64_t>(text);
  info.threads = TakeNumber<std::int64_t>(text);
  TakeNumber<std::int64_t>(text);  // nothing since Linux 2.6.17
  info.start_time = TakeNumber<std::uint64_t>(text);
  TakeNumber<std::uint64_t>(text);  // size of its address space
  info.rss_bytes = TakeNumber<std::uint64_t>(text) * PageSize();
  return info;
}

std::optional<ProcessInfo> ReadProcess(pid_t pid) {
  const auto text = ReadSmallFile("/proc/" + std::to_string(pid) + "/stat", 4096);
  return text ? ParseStat(*text) : std::nullopt;
}

ProcessTable ReadProcessTable() {
  ProcessTable table;
  const auto directory = OpenDirectory("/proc");
  if (!directory) return table;
  while (const dirent* entry = ::readdir(directory.get())) {
    const std::string_view name = entry->d_name;
    pid_t pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error != std::errc() || end != name.data() + name.size()) continue;
    if (const auto info = ReadProcess(pid)) table.emplace_hint(table.end(), pid, *info);
  }
  return table;
}

std::vector<pid_t> ReadChildren(pid_t pid, std::int64_t threads) {
  std::vector<pid_t> children;
  const std::string tasks = "/proc/" + std::to_string(pid) + "/task/";
  if (threads == 1) {
    AddChildren(tasks + std::to_string(pid) + "/children", children);
    return children;
  }
  const auto directory = OpenDirectory(tasks);
  if (!directory) return children;
  while (const dirent* entry = ::readdir(directory.get())) {
    if (entry->d_name[0] != '.') AddChildren(tasks + entry->d_name + "/children", children);
  }
  return children;
}

bool ChildrenAreListed() {
  static const bool listed = [] {
    const std::string self = std::to_string(::getpid());
    return ::access(("/proc/" + self + "/task/" + self + "/children").c_str(), R_OK) == 0;
  }();
  return listed;
}

std::set<pid_t> WithDescendants(const ProcessTable& table, std::vector<pid_t> roots) {
  std::multimap<pid_t, pid_t> children;
  for (const auto& [pid, info] : table) children.emplace(info.parent, pid);
  std::set<pid_t> found(roots.begin(), roots.end());
  while (!roots.empty()) {
    const auto [first, last] = children.equal_range(roots.back());
    roots.pop_back();
    for (auto child = first; child != last; ++child) {
      if (found.insert(child->second).second) roots.push_back(child->second);
    }
  }
  return found;
}

}  // namespace tfyarn::agent_host
