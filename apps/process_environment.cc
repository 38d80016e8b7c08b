#include "apps/process_environment.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string_view>
#include <system_error>
#include <utility>

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

void ShowAs(const char* name) {
  ::prctl(PR_SET_NAME, name);
}

std::string OwnDirectory() {
  std::error_code failed;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failed);
  return failed ? "." : self.parent_path().string();
}

}  // namespace tfyarn::apps
