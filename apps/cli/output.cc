#include "apps/cli/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "config/diagnostics.h"

namespace tfyarn::cli {
namespace {

constexpr std::size_t kBuffer = std::size_t{256} * 1024;
constexpr std::size_t kLongestLine = 4000;

bool stdout_was_closed = false;
std::string program = "tfsim";

tl::unexpected<Error> SystemError(std::string_view what, const std::string& path, int error) {
  return Fail(ErrorCode::kUnavailable, fmt::format("{} {}: {}", what, path, std::strerror(error)));
}

/// A file without a name in that directory; -1 where the file system has none.
int OpenNameless(const std::filesystem::path& target) {
  const std::string directory = target.has_parent_path() ? target.parent_path().string() : ".";
  return ::open(directory.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
}

/// 0 or errno.
int GiveName(int fd, const std::string& name) {
  const std::string nameless = fmt::format("/proc/self/fd/{}", fd);
  ::unlink(name.c_str());  // of an earlier process with our number
  const bool linked =
      ::linkat(AT_FDCWD, nameless.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
  return linked ? 0 : errno;
}

/// 0 or errno.
int WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace

bool PrepareStandardStreams() {
  // A file that has reached the shell's limit (ulimit -f) is an error of a write, not the end.
  std::signal(SIGXFSZ, SIG_IGN);
  for (int fd = 0; fd <= 2; ++fd) {
    if (::fcntl(fd, F_GETFD) != -1 || errno != EBADF) continue;
    if (fd == 1) stdout_was_closed = true;
    // The lowest free number is taken, which is this one.
    if (::open("/dev/null", O_RDWR | O_CLOEXEC) != fd) break;
  }
  return !stdout_was_closed;
}

Expected<void> WriteStdout(std::string_view text) {
  if (stdout_was_closed)
    return Fail(ErrorCode::kUnavailable, "cannot write to standard output: it is closed");
  if (const int error = WriteAll(STDOUT_FILENO, text); error != 0) {
    return Fail(ErrorCode::kUnavailable,
                fmt::format("cannot write to standard output: {}", std::strerror(error)));
  }
  return {};
}

void WriteStderr(std::string_view text) {
  static_cast<void>(WriteAll(STDERR_FILENO, text));
}

void TryWriteStderr(std::string_view text) {
  pollfd stream{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
  if (::poll(&stream, 1, 0) > 0) WriteStderr(text);
}

std::string TerminalText(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    out += config::Printable(text.substr(0, end), kLongestLine);
    if (end == text.size()) break;
    out += '\n';
    text.remove_prefix(end + 1);
  }
  return out;
}

const std::string& Program() {
  return program;
}

void SetProgram(std::string_view name) {
  program = name;
}

void Complain(std::string_view message) {
  WriteStderr(program + ": " + TerminalText(message) + "\n");
}

OutputFile::~OutputFile() {
  Discard();
}

OutputFile::OutputFile(OutputFile&& other) noexcept {
  *this = std::move(other);
}

OutputFile& OutputFile::operator=(OutputFile&& other) noexcept {
  if (this == &other) return *this;
  Discard();
  path_ = std::exchange(other.path_, {});
  temporary_ = std::exchange(other.temporary_, {});
  nameless_ = std::exchange(other.nameless_, false);
  fd_ = std::exchange(other.fd_, -1);
  buffer_ = std::exchange(other.buffer_, {});
  return *this;
}

Expected<OutputFile> OutputFile::Create(const std::string& path) {
  OutputFile file;
  file.path_ = path;
  std::error_code error;
  const std::filesystem::path target(path);
  if (target.has_parent_path()) {
    std::filesystem::create_directories(target.parent_path(), error);
    if (error)
      return SystemError("cannot make the directory", target.parent_path().string(), error.value());
  }
  const std::filesystem::file_status status = std::filesystem::status(target, error);
  if (std::filesystem::is_directory(status)) return SystemError("cannot write", path, EISDIR);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    file.fd_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    file.temporary_ = fmt::format("{}.{}.tmp", path, ::getpid());
    file.fd_ = OpenNameless(target);
    file.nameless_ = file.fd_ >= 0;
    if (!file.nameless_)
      file.fd_ = ::open(file.temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  }
  if (file.fd_ < 0) {
    const int reason = errno;
    file.temporary_.clear();
    return SystemError("cannot write", path, reason);
  }
  return file;
}

Expected<void> OutputFile::Write(std::string_view text) {
  buffer_ += text;
  if (buffer_.size() < kBuffer) return {};
  return Flush();
}

Expected<void> OutputFile::Flush() {
  const int error = WriteAll(fd_, buffer_);
  buffer_.clear();
  if (error != 0) return SystemError("cannot write", path_, error);
  return {};
}

Expected<void> OutputFile::Commit() {
  if (auto flushed = Flush(); !flushed) return flushed;
  // A pipe or a device cannot be synced, and need not be.
  if (!temporary_.empty() && ::fsync(fd_) != 0) return SystemError("cannot write", path_, errno);
  if (nameless_) {
    if (const int error = GiveName(fd_, temporary_); error != 0)
      return SystemError("cannot write", path_, error);
    nameless_ = false;
  }
  if (::close(std::exchange(fd_, -1)) != 0) return SystemError("cannot write", path_, errno);
  if (temporary_.empty()) return {};
  if (::rename(temporary_.c_str(), path_.c_str()) != 0)
    return SystemError("cannot write", path_, errno);
  temporary_.clear();
  return {};
}

void OutputFile::Discard() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  if (!temporary_.empty() && !nameless_) ::unlink(temporary_.c_str());
  temporary_.clear();
  nameless_ = false;
}

Expected<void> GrowingFile::Open(const std::string& path) {
  if (path.empty()) return {};
  Expected<OutputFile> file = OutputFile::Create(path);
  if (!file) return tl::unexpected<Error>(file.error());
  file_ = std::move(*file);
  open_ = true;
  return {};
}

void GrowingFile::Add(std::string_view text) {
  if (open_ && state_) state_ = file_.Write(text);
}

Expected<void> GrowingFile::Commit() {
  return state_ && open_ ? file_.Commit() : state_;
}

Expected<void> CheckWritable(const std::string& path) {
  if (path.empty()) return {};
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  // Opening a pipe would be the first thing that its reader sees.
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) &&
      !std::filesystem::is_directory(status)) {
    return {};
  }
  const auto file = OutputFile::Create(path);
  if (!file) return tl::unexpected<Error>(file.error());
  return {};
}

Expected<void> WriteFile(const std::string& path, std::string_view text) {
  auto file = OutputFile::Create(path);
  if (!file) return tl::unexpected<Error>(file.error());
  if (auto written = file->Write(text); !written) return written;
  return file->Commit();
}

bool ColorOn(int fd) {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return ::isatty(fd) == 1 && (no_color == nullptr || *no_color == '\0') &&
         (term == nullptr || std::string_view(term) != "dumb");
}

}  // namespace tfyarn::cli
