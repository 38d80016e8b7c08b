#include "hosts/local/local_storage.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/post.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "hosts/runtime/write_all.h"

namespace tfyarn::hosts {
namespace {

namespace fs = std::filesystem;
using hdfs::HdfsError;
using hdfs::HdfsErrorCode;
using hdfs::HdfsResponse;

HdfsError ErrorOf(int error, const std::string& path) {
  HdfsErrorCode code = HdfsErrorCode::kUnavailable;
  if (error == ENOENT || error == ENOTDIR) code = HdfsErrorCode::kNotFound;
  if (error == EEXIST) code = HdfsErrorCode::kAlreadyExists;
  if (error == ENOSPC || error == EDQUOT || error == EFBIG) code = HdfsErrorCode::kQuotaExceeded;
  if (error == EACCES || error == EPERM || error == EROFS) code = HdfsErrorCode::kAccessDenied;
  // A directory where a file is meant, or the other way round, will not change by itself.
  if (error == ENAMETOOLONG || error == EINVAL || error == EISDIR || error == ENOTEMPTY ||
      error == ELOOP)
    code = HdfsErrorCode::kInvalidPath;
  return {.code = code, .message = path + ": " + std::strerror(error)};
}

/// Absolute, and nothing in it that leads out of the root.
bool IsPlain(const std::string& path) {
  if (path.empty() || path[0] != '/' || path.find('\0') != std::string::npos) return false;
  for (const fs::path& part : fs::path(path)) {
    if (part == "..") return false;
  }
  return true;
}

/// A file descriptor that is closed.
class File {
 public:
  File(const std::string& path, int flags)
      : file_(::open(path.c_str(), flags | O_CLOEXEC, 0600)), error_(file_ < 0 ? errno : 0) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (file_ >= 0) ::close(file_);
  }
  [[nodiscard]] int error() const { return error_; }
  [[nodiscard]] int get() const { return file_; }

  [[nodiscard]] bool Write(std::string_view bytes) { return WriteAll(file_, bytes) || Failed(); }

  [[nodiscard]] bool ReadAll(std::string& bytes) {
    char buffer[1 << 16];
    while (true) {
      const ssize_t got = ::read(file_, buffer, sizeof buffer);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return Failed();
      if (got == 0) return true;
      bytes.append(buffer, static_cast<std::size_t>(got));
    }
  }

 private:
  bool Failed() {
    error_ = errno;
    return false;
  }

  int file_;
  int error_;
};

/// The file appears whole, or not at all; without `overwrite` EEXIST when there is one, even if
/// another process makes it at the same moment.
int WriteWhole(const std::string& path, std::string_view bytes, bool overwrite) {
  const std::string fresh = path + ".new-" + std::to_string(::getpid());
  File file(fresh, O_WRONLY | O_CREAT | O_TRUNC);
  if (file.error() != 0) return file.error();
  int error = 0;
  if (!file.Write(bytes)) {
    error = file.error();
  } else if (overwrite) {
    if (::rename(fresh.c_str(), path.c_str()) == 0) return 0;
    error = errno;
  } else if (::link(fresh.c_str(), path.c_str()) != 0) {
    error = errno;
  }
  ::unlink(fresh.c_str());
  return error;
}

int ReadWhole(const std::string& path, std::string& bytes) {
  File file(path, O_RDONLY);
  if (file.error() != 0) return file.error();
  return file.ReadAll(bytes) ? 0 : file.error();
}

/// Held while a file and its owner must not change apart.
class Lock {
 public:
  explicit Lock(const std::string& path) : file_(path + ".lock", O_RDWR | O_CREAT) {
    if (file_.error() == 0 && ::flock(file_.get(), LOCK_EX) != 0) error_ = errno;
  }
  [[nodiscard]] int error() const { return file_.error() != 0 ? file_.error() : error_; }

 private:
  File file_;
  int error_ = 0;
};

std::string OwnerFile(const std::string& path) {
  return path + ".writer";
}

}  // namespace

LocalStorage::LocalStorage(boost::asio::io_context& loop, std::string root, std::string keep)
    : loop_(loop), root_(std::move(root)), keep_(std::move(keep)) {
  std::error_code ignored;  // The first call says what is wrong.
  fs::create_directories(root_, ignored);
  ::chmod(root_.c_str(), 0700);
}

void LocalStorage::Call(hdfs::HdfsRequest request, Answer answer) {
  boost::asio::post(loop_, [this, request = std::move(request), answer = std::move(answer)] {
    answer(Carry(request));
  });
}

HdfsResponse LocalStorage::Carry(const hdfs::HdfsRequest& request) const {
  return std::visit(
      [this](const auto& what) -> HdfsResponse {
        if (!IsPlain(what.path)) {
          return HdfsError{.code = HdfsErrorCode::kInvalidPath,
                           .message = "'" + what.path + "' is not an absolute path without '..'"};
        }
        return Do(what);
      },
      request);
}

HdfsResponse LocalStorage::Do(const hdfs::CreateRequest& request) const {
  const std::string path = Locate(request.path);
  std::error_code failed;
  fs::create_directories(fs::path(path).parent_path(), failed);
  if (failed) return ErrorOf(failed.value(), request.path);
  if (const int error = WriteWhole(path, request.bytes, request.overwrite))
    return ErrorOf(error, request.path);
  return Do(hdfs::GetFileStatusRequest{.path = request.path});
}

HdfsResponse LocalStorage::Do(const hdfs::AppendRequest& request) const {
  const std::string path = Locate(request.path);
  std::optional<Lock> lock;
  if (!request.writer.empty()) {
    lock.emplace(path);
    if (lock->error() != 0) return ErrorOf(lock->error(), request.path);
    std::string owner;
    if (ReadWhole(OwnerFile(path), owner) == 0 && owner != request.writer) {
      return HdfsError{.code = HdfsErrorCode::kLeaseLost,
                       .message = request.path + " was taken by " + owner};
    }
  }
  File file(path, O_WRONLY | O_CREAT | O_APPEND);
  if (file.error() != 0) return ErrorOf(file.error(), request.path);
  if (!file.Write(request.bytes)) return ErrorOf(file.error(), request.path);
  return hdfs::Done{};
}

HdfsResponse LocalStorage::Do(const hdfs::ReadRequest& request) const {
  const std::string path = Locate(request.path);
  std::optional<Lock> lock;
  if (!request.writer.empty()) {
    lock.emplace(path);
    if (lock->error() != 0) return ErrorOf(lock->error(), request.path);
    if (const int error = WriteWhole(OwnerFile(path), request.writer, true))
      return ErrorOf(error, request.path);
  }
  hdfs::ReadResponse read;
  if (const int error = ReadWhole(path, read.bytes)) return ErrorOf(error, request.path);
  return read;
}

HdfsResponse LocalStorage::Do(const hdfs::GetFileStatusRequest& request) const {
  struct stat known {};
  if (::stat(Locate(request.path).c_str(), &known) != 0) return ErrorOf(errno, request.path);
  return hdfs::FileStatus{.path = request.path,
                          .directory = S_ISDIR(known.st_mode),
                          .size = static_cast<std::int64_t>(known.st_size),
                          .modification_time = std::int64_t{known.st_mtim.tv_sec} * 1000 +
                                               known.st_mtim.tv_nsec / 1'000'000};
}

HdfsResponse LocalStorage::Do(const hdfs::MkdirsRequest& request) const {
  std::error_code failed;
  fs::create_directories(Locate(request.path), failed);
  if (failed) return ErrorOf(failed.value(), request.path);
  return hdfs::Done{};
}

HdfsResponse LocalStorage::Do(const hdfs::DeleteRequest& request) const {
  const fs::path path = Locate(request.path);
  std::error_code failed;
  if (!keep_.empty() && fs::is_directory(path, failed)) {
    fs::create_directories(keep_, failed);
    fs::rename(path, fs::path(keep_) / path.filename(), failed);
  } else if (request.recursive) {
    fs::remove_all(path, failed);
  } else {
    fs::remove(path, failed);
  }
  if (failed && failed.value() != ENOENT) return ErrorOf(failed.value(), request.path);
  return hdfs::Done{};
}

}  // namespace tfyarn::hosts
