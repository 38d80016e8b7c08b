#include "apps/yarn/hadoop_environment.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>

namespace tfyarn::apps {
namespace {

std::optional<std::string> Variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

/// Name of the effective user; its number when the system knows no name.
std::string OwnUser() {
  std::array<char, 4096> buffer;
  passwd entry{};
  passwd* found = nullptr;
  ::getpwuid_r(::geteuid(), &entry, buffer.data(), buffer.size(), &found);
  return found == nullptr ? std::to_string(::geteuid()) : found->pw_name;
}

}  // namespace

Expected<std::string> HadoopConfigurationDirectory() {
  std::string name = "HADOOP_CONF_DIR";
  std::string directory = Variable(name).value_or("");
  if (directory.empty()) {
    const std::string home = Variable("HADOOP_HOME").value_or("");
    if (home.empty()) {
      return Fail(ErrorCode::kNotFound,
                  "HADOOP_CONF_DIR is not set; set it to the directory with the cluster's "
                  "core-site.xml and yarn-site.xml");
    }
    name = "HADOOP_HOME/etc/hadoop";
    directory = home + "/etc/hadoop";
  }
  std::error_code failed;
  if (!std::filesystem::is_directory(directory, failed)) {
    return Fail(ErrorCode::kNotFound,
                fmt::format("{} is '{}', which is no directory{}", name, directory,
                            failed ? ": " + failed.message() : ""));
  }
  return directory;
}

config::HadoopSurroundings OwnHadoopSurroundings() {
  return {.variable = Variable, .user = OwnUser(), .open = config::OpenRealFile};
}

}  // namespace tfyarn::apps
