#include "core/model/work_directory.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace tfyarn {
namespace {

/// What a NodeManager writes into a container's work directory. Sources: ContainerLaunch.java,
/// DefaultContainerExecutor.java of Hadoop 3.4.2 (FINAL_CONTAINER_TOKENS_FILE, CONTAINER_SCRIPT,
/// KEYSTORE_FILE, TRUSTSTORE_FILE, SYSFS_DIR, CONTAINER_TEMP_DIR).
constexpr std::array<std::string_view, 8> kOfNodeManagers = {
    "container_tokens",
    "default_container_executor.sh",
    "default_container_executor_session.sh",
    "launch_container.sh",
    "sysfs",
    "tmp",
    "yarn_provided.keystore",
    "yarn_provided.truststore",
};

/// Hadoop's local file system keeps the checksum of NAME in .NAME.crc.
std::string_view WithoutChecksum(std::string_view name) {
  constexpr std::string_view kSuffix = ".crc";
  if (!name.starts_with('.') || !name.ends_with(kSuffix) || name.size() <= kSuffix.size())
    return name;
  return name.substr(1, name.size() - 1 - kSuffix.size());
}

}  // namespace

std::vector<std::string> PartsOf(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, slash);
    if (!part.empty() && part != ".") parts.emplace_back(part);
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return parts;
}

std::string NameInWorkDirectory(std::string_view path) {
  const std::vector<std::string> parts = PartsOf(path);
  return parts.empty() || parts.back() == ".." ? std::string() : parts.back();
}

std::string_view OwnerOf(std::string_view name) {
  if (name.starts_with(kOwnPrefix)) return "tfyarn";
  const std::string_view checked = WithoutChecksum(name);
  const bool yarn =
      std::find(kOfNodeManagers.begin(), kOfNodeManagers.end(), checked) != kOfNodeManagers.end();
  return yarn ? "YARN" : "";
}

bool Exclude(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  const std::size_t common = std::min(a.size(), b.size());
  return std::equal(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(common), b.begin());
}

}  // namespace tfyarn
