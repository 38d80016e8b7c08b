// HDFS over HTTP: the requests of core/model/hdfs.h, and what a client of jobs needs besides.
//
// In one thread, with as many calls at once as there are; every answer comes once, from the event
// loop and never from inside the call. Not for HTTPS, and not for Kerberos without a delegation
// token. Why not libcurl is in docs/decisions/0005-webhdfs-on-beast.md.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/model/hdfs.h"
#include "wire/webhdfs/fenced_files.h"
#include "wire/webhdfs/quick_files.h"
#include "wire/webhdfs/webhdfs_calls.h"
#include "wire/webhdfs/webhdfs_operations.h"

namespace tfyarn::wire {

class WebHdfsClient {
 public:
  using Answer = std::function<void(hdfs::HdfsResponse)>;

  WebHdfsClient(boost::asio::io_context& loop, WebHdfsOptions options);
  /// Calls that are under way are never answered.
  ~WebHdfsClient();
  WebHdfsClient(const WebHdfsClient&) = delete;
  WebHdfsClient& operator=(const WebHdfsClient&) = delete;

  /// Appends are made at least once. A file that a writer takes is not one file there, see
  /// FencedFiles: who reads it without a writer finds nothing.
  void Call(hdfs::HdfsRequest request, Answer answer);

  enum class Readers { kAsUmaskSays, kAll };
  /// A file of this machine, as large as it may be. Answers FileStatus.
  void Upload(const std::string& local, const std::string& path, bool overwrite, Answer answer,
              Readers readers = Readers::kAsUmaskSays);
  void Status(const std::string& path, WebHdfsAnswer<WebHdfsFile> answer) {
    operations_.Status(path, std::move(answer));
  }
  void OpenRange(const std::string& path, std::uint64_t offset, std::uint64_t length,
                 WebHdfsAnswer<std::string> answer) {
    operations_.OpenRange(path, offset, length, std::move(answer));
  }
  /// Into a file that only this user may read. Errors: kInvalidPath for more than `most` bytes, or
  /// when the file cannot be written; what there is of it stays.
  void Download(const std::string& path, const std::string& local, std::uint64_t most,
                Answer answer);
  void List(const std::string& directory, WebHdfsAnswer<std::vector<WebHdfsFile>> answer) {
    operations_.List(directory, std::move(answer));
  }
  [[nodiscard]] const HostPort& name_node() const { return calls_->name_node(); }
  /// See WebHdfsOperations::Rename.
  void Rename(const std::string& from, const std::string& to, WebHdfsAnswer<bool> answer) {
    operations_.Rename(from, to, std::move(answer));
  }

 private:
  void Do(hdfs::CreateRequest request, Answer answer);
  void Do(hdfs::AppendRequest request, Answer answer);
  void Do(hdfs::ReadRequest request, Answer answer);
  void Do(hdfs::GetFileStatusRequest request, Answer answer);
  void Do(hdfs::MkdirsRequest request, Answer answer);
  void Do(hdfs::DeleteRequest request, Answer answer);

  std::shared_ptr<WebHdfsCalls> calls_;
  WebHdfsOperations operations_;
  std::shared_ptr<FencedFiles> fenced_;
  std::shared_ptr<QuickFiles> quick_;
};

}  // namespace tfyarn::wire
