// The operations of WebHDFS that the product needs, each with typed arguments and answer.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "core/model/hdfs.h"
#include "wire/webhdfs/webhdfs_answers.h"
#include "wire/webhdfs/webhdfs_calls.h"

namespace tfyarn::wire {

/// What becomes of an operation; from the event loop, once.
template <class T>
using WebHdfsAnswer = std::function<void(tl::expected<T, hdfs::HdfsError>)>;

class WebHdfsOperations {
 public:
  explicit WebHdfsOperations(std::shared_ptr<WebHdfsCalls> calls) : calls_(std::move(calls)) {}

  /// The whole file. Errors: kAlreadyExists without `overwrite`; after a broken connection it may
  /// be this call's own.
  void Create(const std::string& path, std::string bytes, bool overwrite,
              WebHdfsAnswer<hdfs::Done> answer);
  /// The same from a file of this machine, whose bytes are never in memory together.
  void Upload(const std::string& path, const std::string& local, bool overwrite,
              WebHdfsAnswer<hdfs::Done> answer);
  /// To a file that is there. At least once: after a broken connection the bytes may be there
  /// twice, or a part of them and then all.
  void Append(const std::string& path, std::string bytes, WebHdfsAnswer<hdfs::Done> answer);
  /// The same for the file's only writer. False, and nothing appended: the stream of an earlier
  /// append that went wrong is still open, for an unknown time.
  void AppendAlone(const std::string& path, std::string bytes, WebHdfsAnswer<bool> answer);
  /// Errors: kInvalidPath when it has more than WebHdfsOptions::most_read bytes.
  void Open(const std::string& path, WebHdfsAnswer<std::string> answer);
  /// `length` bytes from `offset`; fewer only at the file's end.
  void OpenRange(const std::string& path, std::uint64_t offset, std::uint64_t length,
                 WebHdfsAnswer<std::string> answer);
  /// Into a file of this machine that only this user may read; at most `most` bytes.
  void Download(const std::string& path, const std::string& local, std::uint64_t most,
                WebHdfsAnswer<hdfs::Done> answer);
  /// An extended attribute of what is there, which replaces an older one of its name: the NameNode
  /// writes it down and asks no DataNode. `bytes`: some kilobytes. Errors: kInvalidPath where the
  /// file system has none, or no more for this file.
  void SetAttribute(const std::string& path, const std::string& name, std::string_view bytes,
                    WebHdfsAnswer<hdfs::Done> answer);
  /// All that it has. Errors: kInvalidPath where the file system has none.
  void Attributes(const std::string& path, WebHdfsAnswer<WebHdfsAttributes> answer);
  void Status(const std::string& path, WebHdfsAnswer<WebHdfsFile> answer);
  void List(const std::string& directory, WebHdfsAnswer<std::vector<WebHdfsFile>> answer);
  void Mkdirs(const std::string& path, WebHdfsAnswer<hdfs::Done> answer);
  void SetPermission(const std::string& path, std::uint32_t permission,
                     WebHdfsAnswer<hdfs::Done> answer);
  /// False: there was nothing to rename, or something stands where it should go to.
  void Rename(const std::string& from, const std::string& to, WebHdfsAnswer<bool> answer);
  /// What is not there counts as deleted.
  void Delete(const std::string& path, bool recursive, WebHdfsAnswer<hdfs::Done> answer);

 private:
  [[nodiscard]] std::string Permission(std::uint32_t most) const;
  [[nodiscard]] WebHdfsCall CreateCall(const std::string& path, bool overwrite) const;
  void RunForDone(WebHdfsCall call, WebHdfsAnswer<hdfs::Done> answer);

  std::shared_ptr<WebHdfsCalls> calls_;
};

}  // namespace tfyarn::wire
