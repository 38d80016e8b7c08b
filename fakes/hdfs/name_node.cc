#include "fakes/hdfs/name_node.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "core/model/check.h"
#include "core/model/probe.h"
#include "fakes/hdfs/file_paths.h"
#include "fakes/hdfs/inode.h"

namespace tfyarn::fakes {
namespace {

using hdfs::HdfsError;
using hdfs::HdfsErrorCode;
using hdfs::HdfsResponse;

tl::unexpected<HdfsError> Refuse(HdfsErrorCode code, std::string message) {
  return tl::unexpected<HdfsError>(HdfsError{.code = code, .message = std::move(message)});
}

std::string_view WithoutFinalSlash(std::string_view path) {
  if (!path.empty() && path.back() == '/') path.remove_suffix(1);
  return path;
}

bool Changes(const hdfs::HdfsRequest& request) {
  if (const auto* read = std::get_if<hdfs::ReadRequest>(&request)) return !read->writer.empty();
  return !std::holds_alternative<hdfs::GetFileStatusRequest>(request);
}

}  // namespace

NameNode::NameNode(NameNodeOptions options)
    : replicas_(options.replicas),
      superuser_(std::move(options.superuser)),
      root_(std::make_unique<Inode>()) {
  TF_CHECK(options.replicas >= 1);
  root_->directory = true;
  root_->id = next_id_++;
  root_->owner = superuser_;
  root_->permission = kDirectoryPermission;
  root_->quota = options.quota_bytes;
}

NameNode::~NameNode() = default;
NameNode::NameNode(NameNode&&) noexcept = default;
NameNode& NameNode::operator=(NameNode&&) noexcept = default;

// A path's rights count for users (name_node_users.cc); this is for all callers.
NameNode::Result<void> NameNode::Check(std::string_view path, bool changes) const {
  // What the caller of a stopped process sees. Source: org.apache.hadoop.ipc.Client,
  // ConnectException.
  if (down_) return Refuse(HdfsErrorCode::kUnavailable, "NameNode does not answer");
  if (!IsValidPath(path))
    return Refuse(HdfsErrorCode::kInvalidPath, fmt::format("Invalid path name {}", path));
  // Source: FSNamesystem: checkNameNodeSafeMode comes before the operation, in every call that
  // writes. Reads work (assumption: the blocks of what is read have been reported by then).
  if (safe_mode_ && changes) {
    TF_PROBE("hdfs/safe-mode");
    return Refuse(HdfsErrorCode::kSafeMode,
                  fmt::format("Cannot change {}. Name node is in safe mode.", path));
  }
  // Assumption: one answer for reading and writing. Source of the kind: FSPermissionChecker,
  // AccessControlException.
  if (IsDenied(path))
    return Refuse(HdfsErrorCode::kAccessDenied, fmt::format("Permission denied: {}", path));
  return {};
}

HdfsResponse NameNode::Call(WallTime now, const hdfs::HdfsRequest& request) {
  const std::string& path =
      std::visit([](const auto& r) -> const std::string& { return r.path; }, request);
  if (auto refused = Check(path, Changes(request)); !refused) return std::move(refused.error());
  return std::visit([&](const auto& r) { return Do(now, r); }, request);
}

// Source: FSDirWriteFileOp.startFile. The old file is removed when the new one is opened, long
// before a block of it is asked for, so a quota that refuses the block leaves an empty file in
// place of the old one.
HdfsResponse NameNode::Do(WallTime now, const hdfs::CreateRequest& request) {
  if (const Inode* old = Find(request.path)) {
    if (old->directory) {
      return HdfsError{.code = HdfsErrorCode::kAlreadyExists,
                       .message = fmt::format("{} already exists as a directory", request.path)};
    }
    if (!request.overwrite) {
      return HdfsError{.code = HdfsErrorCode::kAlreadyExists,
                       .message = fmt::format("{} already exists", request.path)};
    }
  }
  const Result<Inode*> opened = OpenForWrite(now, request.path);
  if (!opened) return opened.error();
  Inode& file = **opened;
  file.bytes.clear();
  file.Resize(0);
  file.modified = now;
  const std::int64_t size = std::max(request.size, static_cast<std::int64_t>(request.bytes.size()));
  if (!FitsQuota(file, size)) {
    TF_PROBE("hdfs/quota-of-a-new-file");
    return HdfsError{.code = HdfsErrorCode::kQuotaExceeded,
                     .message = fmt::format(
                         "The DiskSpace quota of a directory above {} is exceeded", request.path)};
  }
  file.bytes = request.bytes;
  file.Resize(size);
  return hdfs::FileStatus{.path = request.path,
                          .directory = false,
                          .size = file.size,
                          .modification_time = file.modified.time_since_epoch().count()};
}

// Source: FSDirAppendOp.appendFile. A quota that refuses the bytes leaves the file as it was. That
// an absent file is created is the request's own rule (hdfs.h), not the NameNode's.
HdfsResponse NameNode::Do(WallTime now, const hdfs::AppendRequest& request) {
  if (const Inode* old = Find(request.path); old != nullptr && old->directory) {
    return HdfsError{
        .code = HdfsErrorCode::kAlreadyExists,
        .message = fmt::format("Cannot append to directory {}; already exists as a directory.",
                               request.path)};
  }
  // Source: FSNamesystem.checkLease, LeaseExpiredException.
  const auto taken = writers_.find(request.path);
  if (taken == writers_.end() && !request.writer.empty()) {
    TF_PROBE("hdfs/lease-of-a-deleted-file");
    return HdfsError{
        .code = HdfsErrorCode::kLeaseLost,
        .message = fmt::format("File does not exist: {}. Holder {} does not have any open files",
                               request.path, request.writer)};
  }
  if (taken != writers_.end() && taken->second != request.writer) {
    TF_PROBE("hdfs/lease-lost");
    return HdfsError{
        .code = HdfsErrorCode::kLeaseLost,
        .message = fmt::format("Lease mismatch on {} owned by {} but is accessed by {}",
                               request.path, taken->second, request.writer)};
  }
  const Result<Inode*> opened = OpenForWrite(now, request.path);
  if (!opened) return opened.error();
  Inode& file = **opened;
  const auto more = static_cast<std::int64_t>(request.bytes.size());
  if (!FitsQuota(file, more)) {
    TF_PROBE("hdfs/quota-of-an-append");
    return HdfsError{.code = HdfsErrorCode::kQuotaExceeded,
                     .message = fmt::format(
                         "The DiskSpace quota of a directory above {} is exceeded", request.path)};
  }
  // Bytes are kept up to the point where a file's content is known only by its size.
  if (static_cast<std::int64_t>(file.bytes.size()) == file.size) file.bytes += request.bytes;
  file.Resize(file.size + more);
  file.modified = now;
  return hdfs::Done{};
}

// Source: FSNamesystem.recoverLease, which ends the present writer's stream, before the read.
HdfsResponse NameNode::Do(WallTime, const hdfs::ReadRequest& request) {
  if (!request.writer.empty()) writers_[request.path] = request.writer;
  const Result<Inode*> file = FileOf(request.path);
  if (!file) return file.error();
  return hdfs::ReadResponse{.bytes = (*file)->bytes};
}

// Source: FSDirStatAndListingOp.getFileInfo. Below a file there is nothing: not found, and no other
// error.
HdfsResponse NameNode::Do(WallTime, const hdfs::GetFileStatusRequest& request) {
  const Inode* inode = Find(request.path);
  if (inode == nullptr) {
    return HdfsError{.code = HdfsErrorCode::kNotFound,
                     .message = fmt::format("File does not exist: {}", request.path)};
  }
  return hdfs::FileStatus{
      .path = request.path,
      .directory = inode->directory,
      .size = inode->directory ? 0 : inode->size,  // Source: HdfsFileStatus of a directory.
      .modification_time = inode->modified.time_since_epoch().count()};
}

HdfsResponse NameNode::Do(WallTime now, const hdfs::MkdirsRequest& request) {
  const Result<Inode*> made = MakeDirectories(now, NamesOf(request.path));
  if (!made) return made.error();
  return hdfs::Done{};
}

// Source: FSDirDeleteOp.delete: nothing there is `false`, which a request without a boolean says as
// kNotFound; a directory with something in it is PathIsNotEmptyDirectoryException unless recursive;
// "/" is never removed.
HdfsResponse NameNode::Do(WallTime now, const hdfs::DeleteRequest& request) {
  Inode* inode = Find(request.path);
  if (inode == nullptr) {
    return HdfsError{.code = HdfsErrorCode::kNotFound,
                     .message = fmt::format("File does not exist: {}", request.path)};
  }
  if (inode == root_.get()) {
    return HdfsError{.code = HdfsErrorCode::kInvalidPath,
                     .message = "The root directory cannot be deleted"};
  }
  if (!request.recursive && !inode->children.empty()) {
    return HdfsError{.code = HdfsErrorCode::kInvalidPath,
                     .message = fmt::format("{} is non empty", request.path)};
  }
  Forget(*inode);
  (void)inode->parent->TakeChild(NamesOf(request.path).back(), now);
  const std::string below = fmt::format("{}/", WithoutFinalSlash(request.path));
  writers_.erase(std::string(WithoutFinalSlash(request.path)));
  for (auto taken = writers_.lower_bound(below);
       taken != writers_.end() && taken->first.starts_with(below);) {
    taken = writers_.erase(taken);
  }
  return hdfs::Done{};
}

void NameNode::SetQuota(std::string_view path, std::optional<std::int64_t> bytes) {
  TF_CHECK(IsValidPath(path));
  const Result<Inode*> directory = MakeDirectories(WallTime{}, NamesOf(path));
  TF_CHECK(directory.has_value());
  (*directory)->quota = bytes;
}

void NameNode::SetAccess(std::string_view path, bool allowed) {
  TF_CHECK(IsValidPath(path));
  const std::string name(WithoutFinalSlash(path));
  const auto at = std::lower_bound(denied_.begin(), denied_.end(), name);
  const bool known = at != denied_.end() && *at == name;
  if (allowed && known) denied_.erase(at);
  if (!allowed && !known) denied_.insert(at, name);
}

std::int64_t NameNode::total_bytes() const {
  return root_->size;
}
std::int64_t NameNode::file_count() const {
  return root_->files;
}
std::int64_t NameNode::directory_count() const {
  return root_->directories;
}
bool NameNode::Exists(std::string_view path) const {
  return IsValidPath(path) && Find(path) != nullptr;
}

NameNode::Inode* NameNode::Find(std::string_view path) const {
  Inode* inode = root_.get();
  for (const std::string_view name : NamesOf(path)) {
    inode = inode->Child(name);
    if (inode == nullptr) return nullptr;
  }
  return inode;
}

NameNode::Inode& NameNode::AddChild(Inode& parent, std::string_view name, bool is_directory,
                                    WallTime now) {
  Inode& child = parent.AddChild(name, is_directory, now);
  child.id = next_id_++;
  child.owner = superuser_;
  child.permission = is_directory ? kDirectoryPermission : kFilePermission;
  return child;
}

// Source: FSDirMkdirOp.mkdirs: parents are made too, a directory that exists is no error; the path
// itself being a file is FileAlreadyExistsException, a file on the way ParentNotDirectoryException.
NameNode::Result<NameNode::Inode*> NameNode::MakeDirectories(
    WallTime now, const std::vector<std::string_view>& names) {
  Inode* inode = root_.get();
  for (std::size_t i = 0; i < names.size(); ++i) {
    Inode* child = inode->Child(names[i]);
    if (child == nullptr) {
      child = &AddChild(*inode, names[i], true, now);
    } else if (!child->directory) {
      const bool last = i + 1 == names.size();
      return Refuse(last ? HdfsErrorCode::kAlreadyExists : HdfsErrorCode::kInvalidPath,
                    fmt::format("{} is a file and not a directory", names[i]));
    }
    inode = child;
  }
  return inode;
}

// The file at `path`, made empty when absent. Source: FSDirWriteFileOp.startFile with createParent:
// parents are made, a file among them is ParentNotDirectoryException.
NameNode::Result<NameNode::Inode*> NameNode::OpenForWrite(WallTime now, const std::string& path) {
  std::vector<std::string_view> names = NamesOf(path);
  TF_CHECK(!names.empty());  // "/" is a directory: its callers have refused it.
  const std::string_view name = names.back();
  names.pop_back();
  const Result<Inode*> parent = MakeDirectories(now, names);
  if (!parent) return Refuse(HdfsErrorCode::kInvalidPath, parent.error().message);
  Inode* file = (*parent)->Child(name);
  return file != nullptr ? file : &AddChild(**parent, name, false, now);
}

// Source: INodeFile.valueOf: FileNotFoundException for nothing, and for a directory.
NameNode::Result<NameNode::Inode*> NameNode::FileOf(const std::string& path) const {
  Inode* inode = Find(path);
  if (inode == nullptr)
    return Refuse(HdfsErrorCode::kNotFound, fmt::format("File does not exist: {}", path));
  if (inode->directory)
    return Refuse(HdfsErrorCode::kNotFound, fmt::format("Path is not a file: {}", path));
  return inode;
}

// Source: DirectoryWithQuotaFeature.verifyStoragespaceQuota, over every directory above.
// Assumption: bytes count as they are written; Hadoop reserves a whole block first, so a real quota
// refuses up to a block earlier.
bool NameNode::FitsQuota(const Inode& file, std::int64_t more_bytes) const {
  if (more_bytes == 0) return true;
  for (const Inode* above = file.parent; above != nullptr; above = above->parent) {
    if (above->quota && (above->size + more_bytes) > *above->quota / replicas_) return false;
  }
  return true;
}

bool NameNode::IsDenied(std::string_view path) const {
  if (denied_.empty()) return false;
  path = WithoutFinalSlash(path);
  return std::any_of(denied_.begin(), denied_.end(), [path](const std::string& denied) {
    return path.substr(0, denied.size()) == denied &&
           (path.size() == denied.size() || path[denied.size()] == '/');
  });
}

Duration TransferTime(std::int64_t bytes, std::int64_t bits_per_second) {
  TF_CHECK(bytes >= 0);
  TF_CHECK(bits_per_second > 0);
  __extension__ using Wide = unsigned __int128;  // bits times 10^6 leave 64 bits from 2 TB up.
  const Wide bit_micros = static_cast<Wide>(bytes) * 8 * 1'000'000;
  const Wide rate = static_cast<Wide>(bits_per_second);
  const Wide micros = (bit_micros + rate - 1) / rate;
  TF_CHECK(micros <=
           static_cast<Wide>(
               std::chrono::duration_cast<std::chrono::microseconds>(Duration::max()).count()));
  return std::chrono::microseconds(static_cast<std::int64_t>(micros));
}

}  // namespace tfyarn::fakes
