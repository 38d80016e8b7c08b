#include "hosts/local/gpus.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

namespace tfyarn::hosts {
namespace {

namespace fs = std::filesystem;
using agent_host::UniqueFd;

bool IsNumber(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
    text.remove_suffix(1);
  return text;
}

/// nullopt: there is no nvidia-smi, or it fails.
std::optional<std::vector<std::string>> AskNvidiaSmi() {
  FILE* const pipe =
      ::popen("timeout 20 nvidia-smi --query-gpu=index --format=csv,noheader 2>/dev/null", "re");
  if (pipe == nullptr) return std::nullopt;
  std::string text;
  char buffer[512];
  while (std::fgets(buffer, sizeof buffer, pipe) != nullptr && text.size() < 65536) text += buffer;
  if (::pclose(pipe) != 0) return std::nullopt;
  std::vector<std::string> gpus;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    const std::string_view line = Trimmed(std::string_view(text).substr(from, end - from));
    if (IsNumber(line)) gpus.emplace_back(line);
    from = end + 1;
  }
  return gpus;
}

/// The driver makes one device for each GPU that this process may use.
std::vector<std::string> LookAtDevices() {
  constexpr std::string_view kDevice = "nvidia";
  std::vector<std::string> gpus;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator("/dev", failed)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(kDevice) && IsNumber(std::string_view(name).substr(kDevice.size())))
      gpus.push_back(name.substr(kDevice.size()));
  }
  std::sort(gpus.begin(), gpus.end(), [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
  return gpus;
}

std::string ReadHolder(int lock) {
  char text[512];
  const ssize_t got = ::pread(lock, text, sizeof text, 0);
  return got > 0 ? std::string(text, static_cast<std::size_t>(got)) : "another run";
}

}  // namespace

std::vector<std::string> VisibleGpus(const std::vector<std::string>& all,
                                     const std::string& visible) {
  std::vector<std::string> gpus;
  for (std::size_t from = 0; from <= visible.size();) {
    const std::size_t end = std::min(visible.find(',', from), visible.size());
    const std::string gpu(Trimmed(std::string_view(visible).substr(from, end - from)));
    if (std::find(all.begin(), all.end(), gpu) == all.end()) break;
    gpus.push_back(gpu);
    from = end + 1;
  }
  return gpus;
}

std::vector<std::string> FindGpus(const std::map<std::string, std::string>& environment) {
  std::vector<std::string> all = LookAtDevices();
  if (auto listed = AskNvidiaSmi()) all = std::move(*listed);
  const auto visible = environment.find("CUDA_VISIBLE_DEVICES");
  return visible == environment.end() ? all : VisibleGpus(all, visible->second);
}

Expected<GpuLocks> GpuLocks::Take(const std::vector<std::string>& gpus, std::size_t count,
                                  const std::string& directory, const std::string& holder) {
  GpuLocks taken;
  if (count == 0) return taken;
  ::mkdir(directory.c_str(), 0777);
  ::chmod(directory.c_str(), 01777);  // Other users' runs lock there too.
  std::string others;
  for (const std::string& gpu : gpus) {
    if (taken.gpus_.size() == count) break;
    const std::string path = directory + "/gpu-" + gpu;
    UniqueFd lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
    if (!lock) {
      return Fail(ErrorCode::kUnavailable,
                  fmt::format("{}: cannot be opened: {}", path, std::strerror(errno)));
    }
    (void)::fchmod(lock.get(), 0666);
    if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
      others +=
          fmt::format("{}GPU {} by {}", others.empty() ? "" : ", ", gpu, ReadHolder(lock.get()));
      continue;
    }
    if (::ftruncate(lock.get(), 0) != 0 ||
        ::pwrite(lock.get(), holder.data(), holder.size(), 0) < 0) {
      return Fail(ErrorCode::kUnavailable,
                  fmt::format("{}: cannot be written: {}", path, std::strerror(errno)));
    }
    taken.gpus_.push_back(gpu);
    taken.locks_.push_back(std::move(lock));
  }
  if (taken.gpus_.size() == count) return taken;
  return Fail(ErrorCode::kFailedPrecondition,
              fmt::format("{} GPUs are wanted and {} of {} are free; held: {}", count,
                          taken.gpus_.size(), gpus.size(), others.empty() ? "none" : others));
}

}  // namespace tfyarn::hosts
