// A file or a directory of the fake NameNode; for its own sources only.
//
// A directory keeps the totals of everything below it, so that quotas and the removal of a whole
// tree cost the depth of the path, and the tree itself, not the namespace.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "fakes/hdfs/name_node.h"

namespace tfyarn::fakes {

/// Source: FsPermission.getDirDefault, getFileDefault, with the umask 022.
inline constexpr std::uint32_t kDirectoryPermission = 0755;
inline constexpr std::uint32_t kFilePermission = 0644;

struct NameNode::Inode {
  Inode* parent = nullptr;
  bool directory = false;
  std::int64_t id = 0;
  std::string owner;
  std::uint32_t permission = 0;
  WallTime modified{};
  std::string bytes;                  ///< Of a file; may be shorter than `size`.
  std::int64_t size = 0;              ///< Of a file: its length. Of a directory: the sum below.
  std::int64_t files = 0;             ///< Below a directory.
  std::int64_t directories = 0;       ///< Below a directory.
  std::optional<std::int64_t> quota;  ///< Of a directory, replicas counted.
  HdfsAttributes attributes;
  std::map<std::string, std::unique_ptr<Inode>, std::less<>> children;

  [[nodiscard]] Inode* Child(std::string_view name) const {
    const auto entry = children.find(name);
    return entry == children.end() ? nullptr : entry->second.get();
  }
  Inode& AddChild(std::string_view name, bool is_directory, WallTime now) {
    auto child = std::make_unique<Inode>();
    child->directory = is_directory;
    child->modified = now;
    return PutChild(name, std::move(child), now);
  }
  /// Under a name that is free.
  Inode& PutChild(std::string_view name, std::unique_ptr<Inode> child, WallTime now) {
    child->parent = this;
    modified = now;  // Source: FSDirectory.addLastINode, updateModificationTime of the parent.
    Inode& added = *children.emplace(std::string(name), std::move(child)).first->second;
    GrowAncestors(added, added.size, added.directory ? added.files : 1,
                  added.directory ? added.directories + 1 : 0);
    return added;
  }
  /// The child of a name that there is, with all that is below it.
  std::unique_ptr<Inode> TakeChild(std::string_view name, WallTime now) {
    const auto entry = children.find(name);
    std::unique_ptr<Inode> child = std::move(entry->second);
    children.erase(entry);
    modified = now;
    GrowAncestors(*child, -child->size, child->directory ? -child->files : -1,
                  child->directory ? -child->directories - 1 : 0);
    child->parent = nullptr;
    return child;
  }
  void Resize(std::int64_t new_size) {
    GrowAncestors(*this, new_size - size, 0, 0);
    size = new_size;
  }
  static void GrowAncestors(const Inode& of, std::int64_t bytes, std::int64_t files,
                            std::int64_t directories) {
    for (Inode* inode = of.parent; inode != nullptr; inode = inode->parent) {
      inode->size += bytes;
      inode->files += files;
      inode->directories += directories;
    }
  }
};

}  // namespace tfyarn::fakes
