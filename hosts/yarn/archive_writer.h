// A tar compressed by gzip, written file by file: what NodeManagers unpack.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "core/model/error.h"

struct archive;

namespace tfyarn::hosts {

class ArchiveWriter {
 public:
  /// Errors, here and below: kUnavailable with the system's reason; kNotFound for what cannot be
  /// read.
  [[nodiscard]] static Expected<ArchiveWriter> Create(const std::string& path);

  /// `name`: in the archive; `from`: on this machine; `permissions`: as of chmod.
  [[nodiscard]] Expected<void> AddFile(const std::string& name, const std::string& from,
                                       unsigned permissions);
  /// Of the directory alone, not of what is in it.
  [[nodiscard]] Expected<void> AddDirectory(const std::string& name);
  /// Without it the archive is none.
  [[nodiscard]] Expected<void> Close();

 private:
  struct Free {
    void operator()(archive* writer) const;
  };
  ArchiveWriter(std::unique_ptr<archive, Free> writer, std::string path)
      : writer_(std::move(writer)), path_(std::move(path)) {}

  std::unique_ptr<archive, Free> writer_;
  std::string path_;
};

/// Writes an archive of all that is in `directory`, under the names that it has there: what a link
/// leads to is written in its place. Errors: also kInvalidArgument for what is neither a file nor a
/// directory.
[[nodiscard]] Expected<void> PackDirectory(const std::string& directory, const std::string& path);

}  // namespace tfyarn::hosts
