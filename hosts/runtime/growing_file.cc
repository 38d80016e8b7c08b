#include "hosts/runtime/growing_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "hosts/runtime/write_all.h"

namespace tfyarn::hosts {

GrowingFile::GrowingFile(const std::string& path, bool if_new)
    : file_(::open(path.c_str(),
                   O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | (if_new ? O_EXCL : O_TRUNC), 0600)) {
  if (file_ < 0) error_ = errno;
}

GrowingFile::GrowingFile(GrowingFile&& other) noexcept
    : file_(std::exchange(other.file_, -1)),
      error_(other.error_),
      written_(other.written_),
      waiting_(std::exchange(other.waiting_, {})) {}

GrowingFile& GrowingFile::operator=(GrowingFile&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(error_, other.error_);
  std::swap(written_, other.written_);
  std::swap(waiting_, other.waiting_);
  return *this;
}

GrowingFile::~GrowingFile() {
  if (file_ >= 0) WriteWaiting();
  Close();
}

bool GrowingFile::Append(std::string_view bytes) {
  if (file_ < 0) return false;
  // First what waits: what the disk takes of it makes room for this.
  WriteWaiting();
  if (!waiting_.empty() && waiting_.size() + bytes.size() > kMostWaiting) return false;
  waiting_ += bytes;
  WriteWaiting();
  return true;
}

void GrowingFile::WriteWaiting() {
  std::string_view rest = waiting_;
  error_ = WriteAll(file_, rest) ? 0 : errno;
  const std::size_t done = waiting_.size() - rest.size();
  written_ += done;
  waiting_.erase(0, done);
}

std::string GrowingFile::Read(std::uint64_t offset, std::size_t most) const {
  std::string bytes;
  if (file_ >= 0 && offset < written_) {
    bytes.resize(std::min<std::uint64_t>(most, written_ - offset));
    const ssize_t read = ::pread(file_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(read, 0)));
  }
  if (const std::uint64_t at = offset + bytes.size(); at >= written_ && at < size())
    bytes += waiting_.substr(at - written_, most - bytes.size());
  return bytes;
}

void GrowingFile::Close() {
  if (file_ >= 0) ::close(std::exchange(file_, -1));
  waiting_.clear();
}

}  // namespace tfyarn::hosts
