#include "hosts/local/unpack.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <system_error>

namespace tfyarn::hosts {
namespace {

namespace fs = std::filesystem;

constexpr int kSafely = ARCHIVE_EXTRACT_PERM | ARCHIVE_EXTRACT_TIME |
                        ARCHIVE_EXTRACT_SECURE_SYMLINKS | ARCHIVE_EXTRACT_SECURE_NODOTDOT;
constexpr const char* kEmpty = "there is nothing in it";
constexpr std::size_t kBlock = std::size_t{1} << 16;

struct CloseReader {
  void operator()(archive* reader) const { archive_read_free(reader); }
};
struct CloseWriter {
  void operator()(archive* writer) const { archive_write_free(writer); }
};
using Reader = std::unique_ptr<archive, CloseReader>;
using Writer = std::unique_ptr<archive, CloseWriter>;

Reader NewReader() {
  Reader reader(archive_read_new());
  archive_read_support_filter_all(reader.get());
  archive_read_support_format_tar(reader.get());
  archive_read_support_format_zip(reader.get());
  return reader;
}

std::string Why(archive* of) {
  const char* text = archive_error_string(of);
  return text == nullptr ? "unknown error" : text;
}

/// A link may name only what is inside.
bool LeadsOut(const std::string& from, const char* target) {
  if (target == nullptr) return false;
  if (target[0] == '/') return true;
  const fs::path resolved = (fs::path(from).parent_path() / target).lexically_normal();
  return !resolved.empty() && *resolved.begin() == "..";
}

class Unpacking {
 public:
  Unpacking(const std::string& name, const UnpackLimits& limits)
      : name_(name), limits_(limits), reader_(NewReader()), writer_(archive_write_disk_new()) {
    // Names are looked at one by one; the directory that they are put below may be absolute.
    archive_write_disk_set_options(writer_.get(), kSafely);
  }

  Expected<void> Run(const std::string& directory) {
    if (archive_read_open_filename(reader_.get(), name_.c_str(), kBlock) != ARCHIVE_OK)
      return Bad(Why(reader_.get()));
    archive_entry* entry = nullptr;
    for (std::uint64_t count = 0;; ++count) {
      const int next = archive_read_next_header(reader_.get(), &entry);
      if (next == ARCHIVE_EOF && count == 0) return Bad(kEmpty);
      if (next == ARCHIVE_EOF) return {};
      if (next < ARCHIVE_WARN) return Bad(Why(reader_.get()));
      if (count == limits_.entries) return Bad(fmt::format("more than {} entries", count));
      if (auto done = Take(directory, entry); !done) return done;
    }
  }

 private:
  Expected<void> Take(const std::string& directory, archive_entry* entry) {
    const char* path = archive_entry_pathname(entry);
    if (path == nullptr || path[0] == '/' || LeadsOut("", path))
      return Bad(fmt::format("'{}' is no name inside it", path == nullptr ? "" : path));
    const std::string inside = path;
    if (LeadsOut(inside, archive_entry_symlink(entry)) ||
        LeadsOut("", archive_entry_hardlink(entry)))
      return Bad(fmt::format("the link '{}' leads out of it", inside));
    archive_entry_set_pathname(entry, (fs::path(directory) / inside).c_str());
    if (const char* hard = archive_entry_hardlink(entry))
      archive_entry_set_hardlink(entry, (fs::path(directory) / hard).c_str());
    if (archive_write_header(writer_.get(), entry) < ARCHIVE_WARN) return CannotWrite();
    return TakeData();
  }

  Expected<void> TakeData() {
    const void* block = nullptr;
    std::size_t size = 0;
    la_int64_t offset = 0;
    while (true) {
      const int got = archive_read_data_block(reader_.get(), &block, &size, &offset);
      if (got == ARCHIVE_EOF) break;
      if (got != ARCHIVE_OK) return Bad(Why(reader_.get()));  // A warning: the checksum is wrong.
      bytes_ += size;
      if (bytes_ > limits_.bytes) return Bad(fmt::format("more than {} bytes", limits_.bytes));
      if (archive_write_data_block(writer_.get(), block, size, offset) < ARCHIVE_WARN)
        return CannotWrite();
    }
    if (archive_write_finish_entry(writer_.get()) < ARCHIVE_WARN) return CannotWrite();
    return {};
  }

  tl::unexpected<Error> Bad(const std::string& why) const {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("{}: {}", name_, why));
  }
  tl::unexpected<Error> CannotWrite() const {
    return Fail(ErrorCode::kUnavailable, fmt::format("{}: {}", name_, Why(writer_.get())));
  }

  const std::string& name_;
  const UnpackLimits& limits_;
  Reader reader_;
  Writer writer_;
  std::uint64_t bytes_ = 0;
};

}  // namespace

Expected<void> Unpack(const std::string& archive, const std::string& directory,
                      const UnpackLimits& limits) {
  std::error_code failed;
  if (!fs::exists(archive, failed))
    return Fail(ErrorCode::kNotFound, fmt::format("{}: there is no such file", archive));
  fs::create_directories(directory, failed);
  if (failed) {
    return Fail(ErrorCode::kUnavailable,
                fmt::format("{}: cannot be made: {}", directory, failed.message()));
  }
  return Unpacking(archive, limits).Run(directory);
}

Expected<void> CheckArchive(const std::string& archive, std::uint64_t most) {
  std::error_code failed;
  (void)fs::file_size(archive, failed);
  if (failed) return Fail(ErrorCode::kNotFound, fmt::format("{}: {}", archive, failed.message()));
  const Reader reader = NewReader();
  const auto bad = [&](const std::string& why) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("{}: {}", archive, why));
  };
  if (archive_read_open_filename(reader.get(), archive.c_str(), kBlock) != ARCHIVE_OK)
    return bad(Why(reader.get()));
  archive_entry* entry = nullptr;
  std::uint64_t unpacked = 0;
  for (bool first = true;; first = false) {
    const int next = archive_read_next_header(reader.get(), &entry);
    if (next == ARCHIVE_EOF && first) return bad(kEmpty);
    if (next == ARCHIVE_EOF) return {};
    if (next < ARCHIVE_WARN) return bad(Why(reader.get()));
    // Read and not skipped: only so are the checksums of a zip looked at.
    for (int got = ARCHIVE_OK; got != ARCHIVE_EOF;) {
      const void* block = nullptr;
      std::size_t size = 0;
      la_int64_t offset = 0;
      got = archive_read_data_block(reader.get(), &block, &size, &offset);
      if (got != ARCHIVE_OK && got != ARCHIVE_EOF) return bad(Why(reader.get()));
      if (got == ARCHIVE_OK) unpacked += size;
      if (unpacked > most) return {};
    }
  }
}

}  // namespace tfyarn::hosts
