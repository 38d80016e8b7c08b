// What users do over a wire: rights, listings, renaming, streams.
//
// Errors are Java's exceptions, as their callers see them. Assumption: users share no group.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/model/check.h"
#include "fakes/hdfs/file_paths.h"
#include "fakes/hdfs/inode.h"

namespace tfyarn::fakes {
namespace {

using hdfs::HdfsErrorCode;

constexpr char kNotFound[] = "java.io.FileNotFoundException";
constexpr char kAlreadyExists[] = "org.apache.hadoop.fs.FileAlreadyExistsException";
constexpr char kParentNotDirectory[] = "org.apache.hadoop.fs.ParentNotDirectoryException";
constexpr char kNotEmpty[] = "org.apache.hadoop.fs.PathIsNotEmptyDirectoryException";
constexpr char kAccessControl[] = "org.apache.hadoop.security.AccessControlException";
constexpr char kBeingCreated[] = "org.apache.hadoop.hdfs.protocol.AlreadyBeingCreatedException";
constexpr char kLeaseExpired[] = "org.apache.hadoop.hdfs.server.namenode.LeaseExpiredException";
constexpr char kQuotaExceeded[] = "org.apache.hadoop.hdfs.protocol.DSQuotaExceededException";
constexpr char kIllegalArgument[] = "org.apache.hadoop.HadoopIllegalArgumentException";
constexpr char kIo[] = "java.io.IOException";
constexpr std::uint32_t kAllRights = 0777;
/// Source: dfs.namenode.fs-limits.max-xattr-size and max-xattrs-per-inode of hdfs-default.xml.
constexpr std::size_t kLargestAttribute = 16384;
constexpr std::size_t kMostAttributes = 32;

tl::unexpected<HdfsException> Throw(const char* name, std::string message) {
  return tl::unexpected(HdfsException{.name = name, .message = std::move(message)});
}

/// Of errors that refuse every user.
const char* ExceptionOf(HdfsErrorCode code) {
  switch (code) {
    case HdfsErrorCode::kSafeMode:
      return "org.apache.hadoop.hdfs.server.namenode.SafeModeException";
    case HdfsErrorCode::kNotFound:
      return kNotFound;
    case HdfsErrorCode::kAlreadyExists:
      return kAlreadyExists;
    case HdfsErrorCode::kQuotaExceeded:
      return kQuotaExceeded;
    case HdfsErrorCode::kAccessDenied:
      return kAccessControl;
    case HdfsErrorCode::kInvalidPath:
      return "org.apache.hadoop.fs.InvalidPathException";
    case HdfsErrorCode::kLeaseLost:
      return kLeaseExpired;
    case HdfsErrorCode::kUnavailable:
      break;
  }
  return "java.net.ConnectException";
}

/// As `ls -l` shows it.
std::string Letters(std::uint32_t permission) {
  std::string text = "rwxrwxrwx";
  for (std::size_t bit = 0; bit < text.size(); ++bit) {
    if ((permission & (0400U >> bit)) == 0) text[bit] = '-';
  }
  return text;
}

}  // namespace

bool NameNode::Has(const Inode& inode, const std::string& user, Right right) const {
  constexpr std::uint32_t kOwnersBits = 6;
  const auto bits = static_cast<std::uint32_t>(right);
  const std::uint32_t wanted = inode.owner == user ? bits << kOwnersBits : bits;
  return user == superuser_ || (inode.permission & wanted) == wanted;
}

// Source: FSPermissionChecker.checkPermission.
NameNode::Told<void> NameNode::CheckFor(const std::string& user, std::string_view path,
                                        bool changes, Right right, bool above) const {
  if (const auto refused = Check(path, changes); !refused)
    return Throw(ExceptionOf(refused.error().code), refused.error().message);
  const auto deny = [&](const char* access, const Inode& inode, const std::string& where) {
    return Throw(
        kAccessControl,
        fmt::format("Permission denied: user={}, access={}, inode=\"{}\":{}:supergroup:{}{}", user,
                    access, where.empty() ? "/" : where, inode.owner, inode.directory ? 'd' : '-',
                    Letters(inode.permission)));
  };
  const Inode* inode = root_.get();
  const Inode* parent = inode;
  std::string where;
  std::string where_parent;
  for (const std::string_view name : NamesOf(path)) {
    if (!inode->directory) break;
    if (!Has(*inode, user, Right::kExecute)) return deny("EXECUTE", *inode, where);
    parent = inode;
    where_parent = where;
    const Inode* child = inode->Child(name);
    if (child == nullptr) break;
    inode = child;
    where += fmt::format("/{}", name);
  }
  if (above) {
    inode = parent;
    where = where_parent;
  }
  if (right == Right::kNone || Has(*inode, user, right)) return {};
  return deny(right == Right::kWrite ? "WRITE" : "READ", *inode, where);
}

// ---------------------------------------------------------------- looking

namespace {

tl::unexpected<HdfsException> Missing(const std::string& path) {
  return Throw(kNotFound, fmt::format("File does not exist: {}", path));
}

}  // namespace

InodeStatus NameNode::StatusOf(const Inode& inode, std::string name) {
  return {.name = std::move(name),
          .id = inode.id,
          .directory = inode.directory,
          .size = inode.directory ? 0 : inode.size,
          .modified = inode.modified,
          .owner = inode.owner,
          .permission = inode.permission,
          .children = inode.children.size()};
}

// Source: FSDirStatAndListingOp.getFileInfo.
NameNode::Told<InodeStatus> NameNode::StatusFor(const std::string& user,
                                                const std::string& path) const {
  if (auto refused = CheckFor(user, path, false, Right::kNone, false); !refused)
    return tl::unexpected(refused.error());
  const Inode* inode = Find(path);
  if (inode == nullptr) return Missing(path);
  return StatusOf(*inode, "");
}

// Source: FSDirStatAndListingOp.getListing.
NameNode::Told<std::vector<InodeStatus>> NameNode::ListFor(const std::string& user,
                                                           const std::string& path) const {
  const Inode* inode = IsValidPath(path) ? Find(path) : nullptr;
  const bool directory = inode != nullptr && inode->directory;
  if (auto refused =
          CheckFor(user, path, false, directory ? Right::kRead : Right::kNone, !directory);
      !refused)
    return tl::unexpected(refused.error());
  if (inode == nullptr) return Throw(kNotFound, fmt::format("File {} does not exist.", path));
  std::vector<InodeStatus> listed;
  if (!directory) listed.push_back(StatusOf(*inode, ""));
  for (const auto& [name, child] : inode->children) listed.push_back(StatusOf(*child, name));
  return listed;
}

// Source: FSDirStatAndListingOp.getBlockLocations, NamenodeWebHdfsMethods.chooseDatanode.
NameNode::Told<std::string> NameNode::ReadFor(const std::string& user, const std::string& path,
                                              std::int64_t offset,
                                              std::optional<std::int64_t> length) const {
  if (auto refused = CheckFor(user, path, false, Right::kRead, false); !refused)
    return tl::unexpected(refused.error());
  const Inode* file = Find(path);
  if (file == nullptr) return Missing(path);
  if (file->directory) return Throw(kNotFound, fmt::format("Path is not a file: {}", path));
  if (offset < 0 || (offset >= file->size && file->size > 0)) {
    return Throw(
        "java.io.IOException",
        fmt::format("Offset={} out of the range [0, {}); OPEN, path={}", offset, file->size, path));
  }
  const auto from = std::min(static_cast<std::size_t>(offset), file->bytes.size());
  return file->bytes.substr(from, length
                                      ? static_cast<std::size_t>(std::max<std::int64_t>(*length, 0))
                                      : file->bytes.npos);
}

// ---------------------------------------------------------------- the tree

/// What has been made since the next inode was `first` is the user's.
void NameNode::Own(const std::string& user, const std::string& path, std::int64_t first,
                   std::uint32_t permission) {
  for (Inode* inode = Find(path); inode != nullptr && inode->id >= first; inode = inode->parent) {
    inode->owner = user;
    inode->permission = inode->directory ? permission | 0300U : permission;
  }
}

NameNode::Told<void> NameNode::MkdirsFor(WallTime now, const std::string& user,
                                         const std::string& path, std::uint32_t permission) {
  const bool there = IsValidPath(path) && Find(path) != nullptr;
  if (auto refused = CheckFor(user, path, true, there ? Right::kNone : Right::kWrite, true);
      !refused)
    return refused;
  const std::int64_t first = next_id_;
  const auto made = MakeDirectories(now, NamesOf(path));
  Own(user, path, first, permission & kAllRights);
  if (made) return {};
  const bool is_file = made.error().code == HdfsErrorCode::kAlreadyExists;
  return Throw(is_file ? kAlreadyExists : kParentNotDirectory, made.error().message);
}

// Source: FSDirRenameOp.unprotectedRenameTo without options: what goes to a directory goes below
// it.
NameNode::Told<bool> NameNode::RenameFor(WallTime now, const std::string& user,
                                         const std::string& from, const std::string& to) {
  for (const std::string& path : {from, to}) {
    if (auto refused = CheckFor(user, path, true, Right::kWrite, true); !refused)
      return tl::unexpected(refused.error());
  }
  Inode* inode = Find(from);
  if (inode == nullptr || inode == root_.get()) return false;
  const std::string_view old_name = NamesOf(from).back();
  std::vector<std::string_view> names = NamesOf(to);
  if (const Inode* there = Find(to); there != nullptr && there->directory)
    names.push_back(old_name);
  const std::string_view new_name = names.back();
  names.pop_back();
  Inode* parent = root_.get();
  for (const std::string_view name : names) {
    parent = parent->Child(name);
    if (parent == nullptr || parent == inode) return false;
  }
  if (!parent->directory || parent->Child(new_name) != nullptr) return false;
  parent->PutChild(new_name, inode->parent->TakeChild(old_name, now), now);
  return true;
}

NameNode::Told<bool> NameNode::DeleteFor(WallTime now, const std::string& user,
                                         const std::string& path, bool recursive) {
  if (auto refused = CheckFor(user, path, true, Right::kWrite, true); !refused)
    return tl::unexpected(refused.error());
  const auto done = Do(now, hdfs::DeleteRequest{.path = path, .recursive = recursive});
  const auto* error = std::get_if<hdfs::HdfsError>(&done);
  if (error == nullptr) return true;
  // The root is not removed either, and nothing is said.
  if (error->code == HdfsErrorCode::kNotFound || path == "/") return false;
  return Throw(kNotEmpty, fmt::format("`{}': Directory is not empty", path));
}

NameNode::Told<void> NameNode::SetPermissionFor(const std::string& user, const std::string& path,
                                                std::uint32_t permission) {
  if (auto refused = CheckFor(user, path, true, Right::kNone, false); !refused) return refused;
  Inode* inode = Find(path);
  if (inode == nullptr) return Missing(path);
  if (user != superuser_ && user != inode->owner) {
    return Throw(
        kAccessControl,
        fmt::format("Permission denied. user={} is not the owner of inode={}", user, path));
  }
  inode->permission = permission & kAllRights;
  return {};
}

// ---------------------------------------------------------------- attributes

NameNode::Told<void> NameNode::SetAttributeFor(const std::string& user, const std::string& path,
                                               const std::string& name, const std::string& bytes) {
  if (name.size() + bytes.size() > kLargestAttribute) {
    return Throw(
        kIllegalArgument,
        fmt::format("The XAttr is too big. The maximum combined size of the name and value "
                    "is {}, but the total size is {}",
                    kLargestAttribute, name.size() + bytes.size()));
  }
  if (auto refused = CheckFor(user, path, true, Right::kWrite, false); !refused) return refused;
  Inode* inode = Find(path);
  if (inode == nullptr) return Throw(kNotFound, "cannot find " + path);
  if (inode->attributes.size() >= kMostAttributes && inode->attributes.count(name) == 0) {
    return Throw(kIo, fmt::format("Cannot add additional XAttr to inode, would exceed limit of {}",
                                  kMostAttributes));
  }
  inode->attributes[name] = bytes;
  return {};
}

NameNode::Told<HdfsAttributes> NameNode::AttributesFor(const std::string& user,
                                                       const std::string& path) const {
  if (auto refused = CheckFor(user, path, false, Right::kRead, false); !refused)
    return tl::unexpected(refused.error());
  const Inode* inode = Find(path);
  if (inode == nullptr) return Throw(kNotFound, "cannot find " + path);
  return inode->attributes;
}

// ---------------------------------------------------------------- streams

// Source: FSDirWriteFileOp.startFile: it deletes the file that it overwrites, with its writer's
// lease.
NameNode::Told<HdfsStream> NameNode::CreateFor(WallTime now, const std::string& user,
                                               const std::string& path, bool overwrite,
                                               std::uint32_t permission) {
  const Inode* old = IsValidPath(path) ? Find(path) : nullptr;
  if (auto refused = CheckFor(user, path, true, Right::kWrite, old == nullptr); !refused)
    return tl::unexpected(refused.error());
  if (old != nullptr && old->directory)
    return Throw(kAlreadyExists, fmt::format("{} already exists as a directory", path));
  if (old != nullptr && !overwrite) {
    return Throw(kAlreadyExists, fmt::format("{} for client 127.0.0.1 already exists", path));
  }
  if (old != nullptr) (void)Do(now, hdfs::DeleteRequest{.path = path});
  const std::int64_t first = next_id_;
  const auto opened = OpenForWrite(now, path);
  Own(user, path, first, permission & kAllRights);
  if (!opened) return Throw(kParentNotDirectory, opened.error().message);
  (*opened)->permission = permission & kAllRights;
  streams_[(*opened)->id] = *opened;
  return (*opened)->id;
}

// Source: FSDirAppendOp.appendFile, FSNamesystem.recoverLeaseInternal.
NameNode::Told<HdfsStream> NameNode::AppendFor(const std::string& user, const std::string& path) {
  if (auto refused = CheckFor(user, path, true, Right::kWrite, false); !refused)
    return tl::unexpected(refused.error());
  Inode* file = Find(path);
  if (file == nullptr) {
    return Throw(kNotFound, fmt::format("Failed to append to non-existent file {} for client "
                                        "127.0.0.1",
                                        path));
  }
  if (file->directory) {
    return Throw(
        kAlreadyExists,
        fmt::format("Cannot append to directory {}; already exists as a directory.", path));
  }
  if (!streams_.emplace(file->id, file).second) {
    return Throw(kBeingCreated,
                 fmt::format("Failed to APPEND_FILE {} because this file lease is currently owned "
                             "by another stream",
                             path));
  }
  return file->id;
}

// Source: FSDirWriteFileOp.validateAddBlock, DirectoryWithQuotaFeature.
NameNode::Told<void> NameNode::WriteAndClose(WallTime now, HdfsStream stream, std::string bytes) {
  const auto found = streams_.find(stream);
  if (found == streams_.end()) {
    return Throw(kLeaseExpired,
                 fmt::format("File does not exist: inode {} does not have any open files", stream));
  }
  Inode& file = *found->second;
  streams_.erase(found);
  const auto more = static_cast<std::int64_t>(bytes.size());
  if (!FitsQuota(file, more)) {
    return Throw(kQuotaExceeded,
                 fmt::format("The DiskSpace quota of a directory above inode {} is exceeded: {} "
                             "bytes more do not fit",
                             stream, more));
  }
  if (file.bytes.empty()) {
    file.bytes = std::move(bytes);
  } else {
    file.bytes += bytes;
  }
  file.Resize(file.size + more);
  file.modified = now;
  return {};
}

void NameNode::Forget(const Inode& inode) {
  std::erase_if(streams_, [&](const auto& stream) {
    for (const Inode* above = stream.second; above != nullptr; above = above->parent) {
      if (above == &inode) return true;
    }
    return false;
  });
}

}  // namespace tfyarn::fakes
