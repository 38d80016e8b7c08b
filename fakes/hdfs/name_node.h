// A NameNode with its DataNodes, as one namespace of files that can fail.
//
// It answers HdfsRequests at once and knows no clock: latency and transfer time are its caller's,
// who has TransferTime for the latter. It knows nothing of jobs. A file holds the bytes written, or
// only a size.
//
// Call() is for the simulator, and all its callers may do everything. Users that come over a wire
// (fakes/server/webhdfs_server.h) have rights, and write in streams that others find open.
//
// Each rule names the Hadoop 3.4 source it follows; what is called an assumption was not found
// there.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "core/model/hdfs.h"
#include "core/model/time.h"

namespace tfyarn::fakes {

struct NameNodeOptions {
  std::int32_t replicas = 3;  ///< >= 1; every byte counts that often against a quota.
  std::optional<std::int64_t>
      quota_bytes;  ///< Space quota of "/", replicas counted; nullopt = none.
  /// May do everything, and owns what Call() makes. Source: who starts a NameNode.
  std::string superuser;
};

/// An exception for a user.
struct HdfsException {
  std::string name;  ///< Java's name of the class.
  std::string message;
};

/// What a user is told of a file or directory.
struct InodeStatus {
  std::string name;     ///< The last part of its path; "" of the path that was asked for.
  std::int64_t id = 0;  ///< Renaming keeps it, and no other file ever has it.
  bool directory = false;
  std::int64_t size = 0;  ///< 0 of a directory.
  WallTime modified{};
  std::string owner;
  std::uint32_t permission = 0;  ///< Nine bits, as chmod's.
  std::size_t children = 0;
};

/// Extended attributes: bytes by name.
using HdfsAttributes = std::map<std::string, std::string>;

/// A file that is open for writing: its inode's id.
using HdfsStream = std::int64_t;

class NameNode {
 public:
  explicit NameNode(NameNodeOptions options);
  ~NameNode();
  NameNode(NameNode&&) noexcept;
  NameNode& operator=(NameNode&&) noexcept;
  NameNode(const NameNode&) = delete;
  NameNode& operator=(const NameNode&) = delete;

  /// Answers one call. `now` becomes the modification time of what the call changes.
  [[nodiscard]] hdfs::HdfsResponse Call(WallTime now, const hdfs::HdfsRequest& request);

  // ---- users: each call with the rights of `user`

  template <class T>
  using Told = tl::expected<T, HdfsException>;

  [[nodiscard]] Told<InodeStatus> StatusFor(const std::string& user, const std::string& path) const;
  /// In order of names. A file lists itself.
  [[nodiscard]] Told<std::vector<InodeStatus>> ListFor(const std::string& user,
                                                       const std::string& path) const;
  /// At most `length` bytes; nullopt = all there are.
  [[nodiscard]] Told<std::string> ReadFor(const std::string& user, const std::string& path,
                                          std::int64_t offset,
                                          std::optional<std::int64_t> length) const;
  [[nodiscard]] Told<void> MkdirsFor(WallTime now, const std::string& user, const std::string& path,
                                     std::uint32_t permission);
  /// False: there is nothing to rename, or it cannot be there.
  [[nodiscard]] Told<bool> RenameFor(WallTime now, const std::string& user, const std::string& from,
                                     const std::string& to);
  /// False: there was nothing.
  [[nodiscard]] Told<bool> DeleteFor(WallTime now, const std::string& user, const std::string& path,
                                     bool recursive);
  [[nodiscard]] Told<void> SetPermissionFor(const std::string& user, const std::string& path,
                                            std::uint32_t permission);
  /// An extended attribute, in place of an older one of its name. No quota counts it. Source:
  /// FSDirXAttrOp.unprotectedSetXAttrs, DFSConfigKeys (limits).
  [[nodiscard]] Told<void> SetAttributeFor(const std::string& user, const std::string& path,
                                           const std::string& name, const std::string& bytes);
  [[nodiscard]] Told<HdfsAttributes> AttributesFor(const std::string& user,
                                                   const std::string& path) const;
  /// An empty file, in place of one that is there if `overwrite` says so.
  [[nodiscard]] Told<HdfsStream> CreateFor(WallTime now, const std::string& user,
                                           const std::string& path, bool overwrite,
                                           std::uint32_t permission);
  /// Refused while another stream is open on the file.
  [[nodiscard]] Told<HdfsStream> AppendFor(const std::string& user, const std::string& path);
  /// At its end, and the stream is closed, whatever comes of it. It follows a file that is renamed.
  [[nodiscard]] Told<void> WriteAndClose(WallTime now, HdfsStream stream, std::string bytes);

  // ---- faults; each stays until it is set again

  /// Down: every call is answered kUnavailable, as a caller sees a NameNode that does not answer.
  void set_down(bool down) { down_ = down; }
  /// Safe mode: reads work, every change is answered kSafeMode.
  void set_safe_mode(bool on) { safe_mode_ = on; }
  /// Space quota of a directory, in bytes times replicas; nullopt lifts it. A quota below what is
  /// already used refuses every further byte and nothing else. Makes the directory when it is
  /// absent. `path` must be valid and no file.
  void SetQuota(std::string_view path, std::optional<std::int64_t> bytes);
  /// Denied: every call about the path or anything below it is answered kAccessDenied.
  void SetAccess(std::string_view path, bool allowed);

  [[nodiscard]] bool down() const { return down_; }
  [[nodiscard]] bool safe_mode() const { return safe_mode_; }

  // ---- for checks

  /// Bytes of all files, each counted once.
  [[nodiscard]] std::int64_t total_bytes() const;
  [[nodiscard]] std::int64_t file_count() const;
  /// Without "/".
  [[nodiscard]] std::int64_t directory_count() const;
  /// Whether there is a file or directory, whatever faults are set.
  [[nodiscard]] bool Exists(std::string_view path) const;

 private:
  struct Inode;
  template <class T>
  using Result = tl::expected<T, hdfs::HdfsError>;

  [[nodiscard]] hdfs::HdfsResponse Do(WallTime now, const hdfs::CreateRequest& request);
  [[nodiscard]] hdfs::HdfsResponse Do(WallTime now, const hdfs::AppendRequest& request);
  [[nodiscard]] hdfs::HdfsResponse Do(WallTime now, const hdfs::ReadRequest& request);
  [[nodiscard]] hdfs::HdfsResponse Do(WallTime now, const hdfs::GetFileStatusRequest& request);
  [[nodiscard]] hdfs::HdfsResponse Do(WallTime now, const hdfs::MkdirsRequest& request);
  [[nodiscard]] hdfs::HdfsResponse Do(WallTime now, const hdfs::DeleteRequest& request);

  enum class Right : std::uint32_t { kNone = 0, kExecute = 1, kWrite = 2, kRead = 4 };

  [[nodiscard]] Result<void> Check(std::string_view path, bool changes) const;
  /// Check(), the right to pass every directory of the path that there is, and `right` to its last
  /// one, or to the file; with `above`, to the directory above.
  [[nodiscard]] Told<void> CheckFor(const std::string& user, std::string_view path, bool changes,
                                    Right right, bool above) const;
  void Own(const std::string& user, const std::string& path, std::int64_t first,
           std::uint32_t permission);
  [[nodiscard]] static InodeStatus StatusOf(const Inode& inode, std::string name);
  [[nodiscard]] bool Has(const Inode& inode, const std::string& user, Right right) const;

  [[nodiscard]] Inode* Find(std::string_view path) const;
  Inode& AddChild(Inode& parent, std::string_view name, bool is_directory, WallTime now);
  /// Streams into it, or into what is below it, are cut.
  void Forget(const Inode& inode);
  [[nodiscard]] Result<Inode*> MakeDirectories(WallTime now,
                                               const std::vector<std::string_view>& names);
  [[nodiscard]] Result<Inode*> OpenForWrite(WallTime now, const std::string& path);
  [[nodiscard]] Result<Inode*> FileOf(const std::string& path) const;
  [[nodiscard]] bool FitsQuota(const Inode& file, std::int64_t more_bytes) const;
  [[nodiscard]] bool IsDenied(std::string_view path) const;

  std::int32_t replicas_ = 3;
  bool down_ = false;
  bool safe_mode_ = false;
  std::string superuser_;
  std::int64_t next_id_ = 16385;  ///< Source: INodeId.ROOT_INODE_ID.
  std::unique_ptr<Inode> root_;
  std::map<HdfsStream, Inode*> streams_;
  std::map<std::string, std::string> writers_;  ///< By path: who took the file.
  std::vector<std::string> denied_;  ///< Sorted paths without a final slash; "" = everything.
};

/// Time that `bytes` take at `bits_per_second`, in whole microseconds, rounded up. bytes >= 0,
/// bits_per_second > 0.
[[nodiscard]] Duration TransferTime(std::int64_t bytes, std::int64_t bits_per_second);

}  // namespace tfyarn::fakes
