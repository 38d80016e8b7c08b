#include "apps/process_environment.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <span>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "config/load.h"

namespace tfyarn::apps {

std::map<std::string, std::string> OwnEnvironment() {
  std::map<std::string, std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0) continue;
    environment.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return environment;
}

Expected<std::string> ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return Fail(ErrorCode::kNotFound,
                fmt::format("{}: cannot be read: {}", path, std::strerror(errno)));
  }
  return std::string((std::istreambuf_iterator<char>(file)), {});
}

Expected<StagedJob> ReadStagedJob(const std::string& path) {
  auto text = ReadText(path);
  if (!text) return tl::unexpected<Error>(text.error());
  auto job = config::LoadJobText(*text, path);
  if (!job) return Fail(ErrorCode::kInvalidArgument, config::Render(job.error(), {}));
  return StagedJob{.spec = std::make_shared<const JobSpec>(std::move(*job)),
                   .text = std::move(*text)};
}

std::uint64_t RandomSeed() {
  std::random_device entropy;
  return (std::uint64_t{entropy()} << 32) | entropy();
}

namespace {

/// The words with which this process was started, each with a NUL at its end, where the kernel
/// reads them for /proc/PID/cmdline; empty when it does not say where.
std::span<char> CommandLine() {
  constexpr std::size_t kArgStart = 48 - 3;  // proc(5): the field behind the name is number 3.
  const auto stat = ReadText("/proc/self/stat");
  if (!stat) return {};
  std::istringstream fields(stat->substr(stat->rfind(')') + 1));
  const std::vector<std::string> words(std::istream_iterator<std::string>(fields), {});
  if (words.size() < kArgStart + 2) return {};
  const auto start = static_cast<std::uintptr_t>(std::stoull(words[kArgStart]));
  const auto end = static_cast<std::uintptr_t>(std::stoull(words[kArgStart + 1]));
  if (start == 0 || end <= start) return {};
  return {reinterpret_cast<char*>(start), end - start};  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace

/// `ps -f` shows the words in memory, and another place for them takes rights that we do not have
/// (PR_SET_MM): they are overwritten. What is left behind the name stays NUL, which ps drops.
void ShowAs(const char* name) {
  ::prctl(PR_SET_NAME, name);
  const std::span<char> words = CommandLine();
  const std::size_t length = std::strlen(name);
  if (words.size() <= length) return;
  // Started without a loader: where the program is says more.
  if (std::filesystem::path(words.data()).filename() == name) return;
  std::fill(words.begin(), words.end(), '\0');
  std::copy_n(name, length, words.begin());
  // glibc's messages begin with it, and it points to what was overwritten.
  ::program_invocation_name = ::program_invocation_short_name = words.data();
}

std::string OwnDirectory() {
  std::error_code failed;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failed);
  return failed ? "." : self.parent_path().string();
}

}  // namespace tfyarn::apps
