// A NameNode with its DataNodes, as one namespace of files that can fail.
//
// It answers HdfsRequests at once and knows no clock: latency and transfer time are its caller's,
// who has TransferTime for the latter. It knows nothing of jobs. A file holds the bytes written, or
// only a size.
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
};

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

  [[nodiscard]] Inode* Find(std::string_view path) const;
  [[nodiscard]] Result<Inode*> MakeDirectories(WallTime now,
                                               const std::vector<std::string_view>& names);
  [[nodiscard]] Result<Inode*> OpenForWrite(WallTime now, const std::string& path);
  [[nodiscard]] Result<Inode*> FileOf(const std::string& path) const;
  [[nodiscard]] bool FitsQuota(const Inode& file, std::int64_t more_bytes) const;
  [[nodiscard]] bool IsDenied(std::string_view path) const;

  std::int32_t replicas_ = 3;
  bool down_ = false;
  bool safe_mode_ = false;
  std::unique_ptr<Inode> root_;
  std::map<std::string, std::string> writers_;  ///< By path: who took the file.
  std::vector<std::string> denied_;  ///< Sorted paths without a final slash; "" = everything.
};

/// Time that `bytes` take at `bits_per_second`, in whole microseconds, rounded up. bytes >= 0,
/// bits_per_second > 0.
[[nodiscard]] Duration TransferTime(std::int64_t bytes, std::int64_t bits_per_second);

}  // namespace tfyarn::fakes
