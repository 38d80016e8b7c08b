#include "hosts/yarn/archive_writer.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <system_error>
#include <utility>

namespace tfyarn::hosts {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kReadBytes = std::size_t{1} << 16;

struct FreeEntry {
  void operator()(archive_entry* e) const { archive_entry_free(e); }
};

Error Failure(archive* writer, const std::string& path) {
  const char* why = archive_error_string(writer);
  return {.code = ErrorCode::kUnavailable,
          .message = fmt::format("{}: {}", path, why == nullptr ? "cannot be written" : why)};
}

Expected<void> WriteHeader(archive* writer, const std::string& path, const std::string& name,
                           unsigned type, unsigned permissions, std::uintmax_t size) {
  const std::unique_ptr<archive_entry, FreeEntry> entry(archive_entry_new());
  archive_entry_set_pathname(entry.get(), name.c_str());
  archive_entry_set_filetype(entry.get(), type);
  archive_entry_set_perm(entry.get(), permissions);
  archive_entry_set_size(entry.get(), static_cast<la_int64_t>(size));
  if (archive_write_header(writer, entry.get()) != ARCHIVE_OK)
    return tl::unexpected(Failure(writer, path));
  return {};
}

/// By their names in the archive, so that equal directories give equal archives.
using Found = std::map<std::string, fs::directory_entry>;

Expected<Found> FindIn(const std::string& directory) {
  Found found;
  std::error_code failed;
  fs::recursive_directory_iterator at(directory, fs::directory_options::follow_directory_symlink,
                                      failed);
  for (; !failed && at != fs::recursive_directory_iterator(); at.increment(failed)) {
    // A link to a directory above would be followed for ever.
    constexpr int kDeepest = 64;
    if (at.depth() > kDeepest) {
      return Fail(ErrorCode::kInvalidArgument,
                  fmt::format("{}: is deeper than {} directories", at->path().string(), kDeepest));
    }
    found.emplace(fs::path(*at).lexically_relative(directory).string(), *at);
  }
  if (failed) return Fail(ErrorCode::kNotFound, fmt::format("{}: {}", directory, failed.message()));
  return found;
}

}  // namespace

void ArchiveWriter::Free::operator()(archive* writer) const {
  archive_write_free(writer);
}

Expected<ArchiveWriter> ArchiveWriter::Create(const std::string& path) {
  std::unique_ptr<archive, Free> writer(archive_write_new());
  archive_write_set_format_pax_restricted(writer.get());
  archive_write_add_filter_gzip(writer.get());
  if (archive_write_open_filename(writer.get(), path.c_str()) != ARCHIVE_OK)
    return tl::unexpected(Failure(writer.get(), path));
  return ArchiveWriter(std::move(writer), path);
}

Expected<void> ArchiveWriter::AddFile(const std::string& name, const std::string& from,
                                      unsigned permissions) {
  std::error_code failed;
  const auto size = fs::file_size(from, failed);
  std::ifstream in(from, std::ios::binary);
  if (failed || !in) return Fail(ErrorCode::kNotFound, fmt::format("{} cannot be read", from));
  if (auto begun = WriteHeader(writer_.get(), path_, name, AE_IFREG, permissions, size); !begun)
    return begun;
  std::array<char, kReadBytes> piece{};
  while (in.read(piece.data(), piece.size()) || in.gcount() > 0) {
    if (archive_write_data(writer_.get(), piece.data(), static_cast<std::size_t>(in.gcount())) < 0)
      return tl::unexpected(Failure(writer_.get(), path_));
  }
  return {};
}

Expected<void> ArchiveWriter::AddDirectory(const std::string& name) {
  return WriteHeader(writer_.get(), path_, name, AE_IFDIR, 0755, 0);
}

Expected<void> ArchiveWriter::Close() {
  if (archive_write_close(writer_.get()) != ARCHIVE_OK)
    return tl::unexpected(Failure(writer_.get(), path_));
  return {};
}

Expected<void> PackDirectory(const std::string& directory, const std::string& path) {
  const auto found = FindIn(directory);
  if (!found) return tl::unexpected<Error>(found.error());
  auto writer = ArchiveWriter::Create(path);
  if (!writer) return tl::unexpected<Error>(writer.error());
  for (const auto& [name, entry] : *found) {
    std::error_code failed;
    const fs::file_status status = entry.status(failed);
    Expected<void> added;
    if (fs::is_directory(status)) {
      added = writer->AddDirectory(name);
    } else if (fs::is_regular_file(status)) {
      const auto permissions = static_cast<unsigned>(status.permissions() & fs::perms::mask);
      added = writer->AddFile(name, entry.path().string(), permissions & 0777);
    } else {
      added = Fail(ErrorCode::kInvalidArgument,
                   fmt::format("{} is neither a file nor a directory", entry.path().string()));
    }
    if (!added) return added;
  }
  return writer->Close();
}

}  // namespace tfyarn::hosts
