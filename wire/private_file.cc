#include "wire/private_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/rand.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <utility>

namespace tfyarn::wire {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{1} << 20;
constexpr mode_t kOthers = S_IRWXG | S_IRWXO;

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

tl::unexpected<Error> SystemFailed(std::string_view what, const std::string& path) {
  return Fail(ErrorCode::kUnavailable,
              fmt::format("cannot {} {}: {}", what, path, std::strerror(errno)));
}

bool WriteAll(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

/// What keeps `path` from being a private file; empty when nothing does.
std::string FaultOf(const struct stat& facts, const std::string& path) {
  if (!S_ISREG(facts.st_mode)) return "is not a plain file";
  if (facts.st_uid != ::geteuid() && facts.st_uid != 0)
    return fmt::format("belongs to user {}, not to you (user {})", facts.st_uid, ::geteuid());
  if ((facts.st_mode & kOthers) != 0) {
    return fmt::format("holds a key and can be used by others (mode {:04o}): chmod 600 {}",
                       facts.st_mode & 07777, path);
  }
  if (facts.st_size > static_cast<off_t>(kMaxBytes))
    return fmt::format("has {} bytes; most are {}", facts.st_size, kMaxBytes);
  return {};
}

}  // namespace

Expected<void> WritePrivateFile(const std::string& path, std::string_view bytes) {
  std::uint64_t random = 0;
  if (RAND_bytes(reinterpret_cast<unsigned char*>(&random), sizeof random) != 1)
    return Fail(ErrorCode::kUnavailable, "no random number for the name of a temporary file");
  const std::string beside = fmt::format("{}.{:016x}.tmp", path, random);
  {
    const Descriptor file(::open(
        beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
    if (file.number() < 0) return SystemFailed("create", beside);
    if (!WriteAll(file.number(), bytes)) {
      auto failed = SystemFailed("write", beside);
      (void)::unlink(beside.c_str());
      return failed;
    }
  }
  if (std::rename(beside.c_str(), path.c_str()) != 0) {
    auto failed = SystemFailed("rename to", path);
    (void)::unlink(beside.c_str());
    return failed;
  }
  return {};
}

Expected<std::string> ReadPrivateFile(const std::string& path) {
  // Without O_NONBLOCK a pipe in the file's place would hold us up.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (file.number() < 0 && errno == ENOENT)
    return Fail(ErrorCode::kNotFound, path + " does not exist");
  if (file.number() < 0 && errno == ELOOP)
    return Fail(ErrorCode::kFailedPrecondition, path + " is a link; expected a plain file");
  if (file.number() < 0) return SystemFailed("open", path);
  struct stat facts {};
  if (::fstat(file.number(), &facts) != 0) return SystemFailed("look at", path);
  if (const std::string fault = FaultOf(facts, path); !fault.empty())
    return Fail(ErrorCode::kFailedPrecondition, path + " " + fault);
  std::string bytes(kMaxBytes + 1, '\0');
  std::size_t size = 0;
  while (size < bytes.size()) {
    const ssize_t got = ::read(file.number(), bytes.data() + size, bytes.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return SystemFailed("read", path);
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  if (size > kMaxBytes)
    return Fail(ErrorCode::kFailedPrecondition, path + " grows while it is read");
  bytes.resize(size);
  return bytes;
}

}  // namespace tfyarn::wire
