#include "apps/local/run_directory.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <system_error>

#include "apps/process_environment.h"

namespace tfyarn::local {
namespace {

namespace fs = std::filesystem;

/// Sorts by time, and two runs of one second differ: 20261121-212207-4f2a.
std::string NewId() {
  return fmt::format("{:%Y%m%d-%H%M%S}-{:04x}", fmt::localtime(std::time(nullptr)),
                     apps::RandomSeed() & 0xffff);
}

}  // namespace

Expected<RunDirectory> MakeRunDirectory(const std::string& out, const std::string& job_name) {
  const fs::path path =
      out.empty() ? fs::path("tfyarn-runs") / (job_name + "-" + NewId()) : fs::path(out);
  std::error_code failed;
  if (fs::exists(path, failed) && !(fs::is_directory(path, failed) && fs::is_empty(path, failed))) {
    return Fail(ErrorCode::kFailedPrecondition,
                fmt::format("{} is there and not empty; a run needs a directory of its own",
                            path.string()));
  }
  RunDirectory run{.root = fs::absolute(path, failed).lexically_normal().string()};
  for (const std::string& part :
       {run.root, run.logs(), run.containers(), run.storage(), run.recordings(), run.shared()}) {
    fs::create_directories(part, failed);
    if (failed) {
      return Fail(ErrorCode::kUnavailable,
                  fmt::format("{}: cannot be made: {}", part, failed.message()));
    }
  }
  ::chmod(run.root.c_str(), 0700);
  // In the user's own TMPDIR, or in /tmp.
  run.temporary = (fs::temp_directory_path(failed) / "tfyarn-XXXXXX").string();
  if (failed || ::mkdtemp(run.temporary.data()) == nullptr) {
    return Fail(ErrorCode::kUnavailable,
                fmt::format("no directory for temporary files: {}",
                            failed ? failed.message() : std::strerror(errno)));
  }
  return run;
}

void RemoveTemporary(const RunDirectory& directory) {
  std::error_code ignored;
  if (!directory.temporary.empty()) fs::remove_all(directory.temporary, ignored);
}

}  // namespace tfyarn::local
