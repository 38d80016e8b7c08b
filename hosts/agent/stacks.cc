#include "hosts/agent/stacks.h"

#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace tfyarn::agent_host {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestPart = 16U << 10;

std::vector<std::string> ThreadsOf(pid_t pid) {
  std::vector<std::string> threads;
  std::error_code error;
  const fs::path directory = "/proc/" + std::to_string(pid) + "/task";
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    threads.push_back(entry->path().filename().string());
    if (threads.size() > kMostDumpedThreads) break;
  }
  return threads;
}

void Append(std::string& text, const std::string& name, const std::string& path) {
  std::string part = ReadSmallFile(path, kLongestPart).value_or("");
  while (part.ends_with('\n')) part.pop_back();
  text += name + ": " + (part.empty() ? "(not readable)" : part) + "\n";
}

std::string Describe(const ProcessInfo& process, const std::string& status, bool asked) {
  const std::string base = "/proc/" + std::to_string(process.pid);
  std::string text = "process " + std::to_string(process.pid) + "\n";
  text += asked ? "It was sent SIGUSR1: its own output is on its stderr.\n"
                : "It does not catch SIGUSR1 (faulthandler.register), so it was not asked.\n";
  text += "\n" + status + "\n";
  std::vector<std::string> threads = ThreadsOf(process.pid);
  const bool too_many = threads.size() > kMostDumpedThreads;
  if (too_many) threads.pop_back();
  for (const std::string& thread : threads) {
    const std::string place = base + "/task/" + thread;
    text += "thread " + thread + "\n";
    Append(text, "name", place + "/comm");
    Append(text, "syscall", place + "/syscall");
    Append(text, "waits in", place + "/wchan");
    Append(text, "kernel stack", place + "/stack");
    text += "\n";
    if (text.size() > kLongestDump) break;
  }
  if (too_many || text.size() > kLongestDump) {
    text.resize(std::min(text.size(), kLongestDump));
    text += "\n(more was left out)\n";
  }
  return text;
}

}  // namespace

bool CatchesSignal(const std::string& status, int signal) {
  // SigCgt: a mask of 16 hexadecimal digits. Source: proc(5).
  constexpr std::string_view kName = "\nSigCgt:\t";
  const std::size_t place = status.find(kName);
  if (place == std::string::npos) return false;
  std::uint64_t mask = 0;
  const char* const begin = status.data() + place + kName.size();
  std::from_chars(begin, status.data() + status.size(), mask, 16);
  return (mask >> (signal - 1) & 1U) != 0;
}

Expected<StackDump> WriteStacksOf(const std::vector<ProcessInfo>& processes,
                                  const std::string& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  StackDump dump;
  const std::size_t count = std::min(processes.size(), kMostDumpedProcesses);
  for (std::size_t i = 0; i < count; ++i) {
    const pid_t pid = processes[i].pid;
    const std::string base = "/proc/" + std::to_string(pid);
    const auto status = ReadSmallFile(base + "/status", kLongestPart);
    if (!status || status->empty()) continue;
    const bool asked = CatchesSignal(*status, SIGUSR1) && ::kill(pid, SIGUSR1) == 0;
    if (asked) dump.asked.push_back(pid);
    const std::string path = directory + "/stack-" + std::to_string(pid) + ".txt";
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file << Describe(processes[i], *status, asked) << std::flush;
    if (!file) {
      return Fail(ErrorCode::kUnavailable, "cannot write " + path + ": " + std::strerror(errno));
    }
    dump.files.push_back(path);
  }
  return dump;
}

}  // namespace tfyarn::agent_host
