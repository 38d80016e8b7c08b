#include "hosts/local/machine.h"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>

namespace tfyarn::hosts {
namespace {

std::string ReadAll(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Directory of this process in cgroup v2; "" where that is not used.
std::string OwnCgroup() {
  std::istringstream lines(ReadAll("/proc/self/cgroup"));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("0::")) return "/sys/fs/cgroup" + line.substr(3);
  }
  return "";
}

std::int64_t Processors() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  std::int64_t processors = 1;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) == 0) processors = CPU_COUNT(&allowed);
  const std::string cgroup = OwnCgroup();
  const std::int64_t quota = cgroup.empty() ? 0 : ProcessorsOf(ReadAll(cgroup + "/cpu.max"));
  return quota > 0 ? std::min(processors, quota) : processors;
}

std::int64_t MemoryMb() {
  std::int64_t megabytes = std::numeric_limits<std::int64_t>::max();
  std::istringstream lines(ReadAll("/proc/meminfo"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    std::int64_t kilobytes = 0;
    if (words >> name >> kilobytes && name == "MemTotal:") megabytes = kilobytes >> 10;
  }
  const std::string cgroup = OwnCgroup();
  const std::string limit = cgroup.empty() ? "" : ReadAll(cgroup + "/memory.max");
  std::int64_t bytes = 0;
  if (std::from_chars(limit.data(), limit.data() + limit.size(), bytes).ec == std::errc{})
    megabytes = std::min(megabytes, bytes >> 20);
  return megabytes;
}

}  // namespace

std::int64_t ProcessorsOf(const std::string& cpu_max) {
  std::istringstream words(cpu_max);
  std::int64_t quota = 0;
  std::int64_t period = 0;
  if (!(words >> quota >> period) || quota <= 0 || period <= 0) return 0;
  return (quota + period - 1) / period;
}

Resource MachineCapacity() {
  return {.memory_mb = MemoryMb(), .vcores = Processors()};
}

}  // namespace tfyarn::hosts
