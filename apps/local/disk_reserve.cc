#include "apps/local/disk_reserve.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace tfyarn::local {
namespace {

namespace fs = std::filesystem;

/// Records, journal, result and report of a job that failed: some hundred KiB.
constexpr off_t kReserve = off_t{4} << 20;
/// Less than this is none: it is gone with the next lines of a log.
constexpr std::uint64_t kNoRoom = std::uint64_t{256} << 10;
/// So long nothing of the job can be decided for want of room.
constexpr Duration kStuck = 10s;

std::string FileIn(const std::string& directory) {
  return directory + "/reserve";
}

}  // namespace

Expected<void> DiskReserve::Take() {
  const std::string path = FileIn(directory_);
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  const int error = file < 0 ? errno : ::posix_fallocate(file, 0, kReserve);
  if (file >= 0) ::close(file);
  taken_ = error == 0;
  if (taken_) return {};
  (void)::unlink(path.c_str());
  return Fail(ErrorCode::kUnavailable,
              fmt::format("{}: no room for {} MiB of records: {}", directory_, kReserve >> 20,
                          std::strerror(error)));
}

void DiskReserve::Look(Instant now, bool alone) {
  struct statvfs room {};
  if (!taken_ || ::statvfs(directory_.c_str(), &room) != 0) return;
  if (std::uint64_t{room.f_bavail} * room.f_frsize >= kNoRoom) return full_since_.reset();
  was_full_ = true;
  if (!full_since_) full_since_ = now;
  if (alone || now - *full_since_ >= kStuck) GiveBack();
}

void DiskReserve::GiveBack() {
  if (std::exchange(taken_, false)) (void)::unlink(FileIn(directory_).c_str());
}

std::string DiskReserve::Account() const {
  if (!was_full_) return "";
  std::string largest = "nothing of this job's";
  std::uintmax_t most = 0;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(directory_ + "/logs", failed)) {
    const std::uintmax_t size = entry.is_regular_file(failed) ? entry.file_size(failed) : 0;
    if (failed || size <= most) continue;
    most = size;
    largest = fmt::format("{} with {} MiB", entry.path().filename().string(), size >> 20);
  }
  return fmt::format("{}: the disk was full while the job ran; its largest log is {}", directory_,
                     largest);
}

}  // namespace tfyarn::local
