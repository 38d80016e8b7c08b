// Questions over HTTP, for commands that wait for the answers: daemons' pages, and HDFS.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "config/hadoop_settings.h"
#include "core/model/error.h"
#include "core/model/hdfs.h"
#include "wire/http/http_exchange.h"
#include "wire/webhdfs/quick_files.h"
#include "wire/webhdfs/webhdfs_operations.h"

namespace tfyarn::apps {

using WebAnswer = tl::expected<wire::HttpReply, wire::HttpFailure>;

/// Patient with a busy daemon, and not with a host that is gone.
inline constexpr wire::HttpLimits kWebLimits{.connect = 5s, .silence = 20s};

[[nodiscard]] WebAnswer AskWeb(wire::HttpRequest request);
/// The answers in the order of the requests, of which many are under way at once.
[[nodiscard]] std::vector<WebAnswer> AskWeb(std::vector<wire::HttpRequest> requests);
/// A GET of `target` at "host:port". Errors: kInvalidArgument for what is no address.
[[nodiscard]] Expected<wire::HttpRequest> GetAt(const std::string& web, std::string target);
/// The answers to GETs of `target`, one of each ResourceManager.
[[nodiscard]] std::vector<WebAnswer> AskEachResourceManager(const config::HadoopSettings& settings,
                                                            const std::string& target);
/// The answer of the first ResourceManager that gives one; a standby one names the active one.
/// Errors: kUnavailable, in words for the user.
[[nodiscard]] Expected<wire::HttpReply> AskResourceManager(const config::HadoopSettings& settings,
                                                           const std::string& target);

/// The cluster's files, one call after the other.
class HdfsQuestions {
 public:
  /// `longest`: a NameNode that does not answer is asked again so long.
  HdfsQuestions(const config::HadoopSettings& settings, Duration longest);

  template <class T>
  using Result = tl::expected<T, hdfs::HdfsError>;

  [[nodiscard]] Result<std::vector<wire::WebHdfsFile>> List(const std::string& directory);
  /// A whole file.
  [[nodiscard]] Result<std::string> Open(const std::string& path);
  /// One of a staging directory, whose short files have their bytes elsewhere (wire::QuickFiles).
  [[nodiscard]] Result<std::string> OpenStaged(const std::string& path);
  [[nodiscard]] Result<wire::WebHdfsFile> Status(const std::string& path);
  [[nodiscard]] Result<std::string> OpenRange(const std::string& path, std::uint64_t offset,
                                              std::uint64_t length);
  [[nodiscard]] Result<hdfs::Done> Mkdirs(const std::string& path);
  [[nodiscard]] Result<hdfs::Done> Create(const std::string& path, std::string bytes);
  [[nodiscard]] Result<hdfs::Done> Append(const std::string& path, std::string bytes);
  [[nodiscard]] Result<bool> Rename(const std::string& from, const std::string& to);
  [[nodiscard]] Result<hdfs::Done> Delete(const std::string& path, bool recursive);

 private:
  /// Runs `call(answer)` to its answer.
  template <class T, class Call>
  Result<T> Await(Call&& call);

  boost::asio::io_context loop_;
  std::shared_ptr<wire::WebHdfsCalls> calls_;
  wire::WebHdfsOperations operations_;
  std::shared_ptr<wire::QuickFiles> quick_;
};

}  // namespace tfyarn::apps
