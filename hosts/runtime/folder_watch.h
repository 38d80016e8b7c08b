// Which files of a directory have changed, as the kernel tells it (inotify), so that following many
// files that seldom change costs what changes.
//
// It tells of changes made on this machine, whatever the file system. Where it knows too little,
// the caller looks at every file, as it would without.
#pragma once

#include <optional>
#include <set>
#include <string>

namespace tfyarn::hosts {

class FolderWatch {
 public:
  /// Watches from the first call of Changed() on. The directory need not be there yet.
  explicit FolderWatch(std::string directory) : directory_(std::move(directory)) {}
  ~FolderWatch();
  FolderWatch(FolderWatch&& other) noexcept;
  FolderWatch& operator=(FolderWatch&&) = delete;

  /// Names of the files that were made, moved there or written since the call before. nullopt: look
  /// at all of them: at the first call, after more changes than the kernel keeps, and always where
  /// it watches no more (fs.inotify.max_user_instances).
  [[nodiscard]] std::optional<std::set<std::string>> Changed();

 private:
  /// Whether it is watched; begins if it can.
  bool Watch();

  std::string directory_;
  int fd_ = -1;
};

}  // namespace tfyarn::hosts
