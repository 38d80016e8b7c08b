#include "hosts/agent/temporary_directory.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace tfyarn::agent_host {

Expected<std::string> MakeTemporaryDirectory(const std::string& directory) {
  std::error_code ignored;  // The last step says what is wrong.
  std::filesystem::create_directories(std::filesystem::path(directory).parent_path(), ignored);
  const bool made = ::mkdir(directory.c_str(), 0700) == 0 || errno == EEXIST;
  if (!made || ::access(directory.c_str(), W_OK | X_OK) != 0) {
    return Fail(ErrorCode::kUnavailable, fmt::format("no directory for temporary files: {}: {}",
                                                     directory, std::strerror(errno)));
  }
  return fmt::format("/proc/{}/cwd/{}", ::getpid(), directory);
}

}  // namespace tfyarn::agent_host
