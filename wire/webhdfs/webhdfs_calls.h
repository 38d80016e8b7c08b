// Calls of WebHDFS: which NameNode is asked, how a call goes on to a DataNode, what is repeated.
//
// Data goes in two steps: the NameNode is asked without any body and answers with the address of a
// DataNode, which gets the same request with the data. What may pass is repeated after a pause that
// grows, within a time; a NameNode that is not the active one, or not there, makes room for the
// next. A repeated call may have been carried out before: creating twice says "already exists", and
// appending twice appends twice.
// Source: docs/hadoop-hdfs/WebHDFS.html of Hadoop 3.4, and what a real cluster did.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "core/model/hdfs.h"
#include "core/model/host_port.h"
#include "core/model/time.h"
#include "wire/http/http_exchange.h"
#include "wire/webhdfs/webhdfs_answers.h"

namespace tfyarn::wire {

struct WebHdfsOptions {
  /// Their web servers, not empty; the order in which they are tried first.
  std::vector<HostPort> name_nodes;
  std::string user;              ///< The user that the caller names, without Kerberos.
  std::string delegation_token;  ///< In its URL form; not "": in place of the user.
  std::uint32_t umask = 022;     ///< HDFS would apply none to what comes by HTTP.
  /// Short files that are written whole are QuickFiles: for our own programs alone, as others see
  /// them empty.
  bool quick_files = false;
  HttpLimits http;
  Duration longest = 2min;       ///< A call is repeated so long.
  Duration pause_first = 500ms;  ///< Doubles with each try.
  Duration pause_most = 5s;
  std::size_t most_answer = std::size_t{16} << 20;  ///< Bytes of a document, lists included.
  std::size_t most_read = std::size_t{256} << 20;   ///< Bytes of a file that is read into memory.
};

struct WebHdfsCall {
  std::string method;
  std::string path;
  std::string operation;
  std::vector<std::pair<std::string, std::string>> parameters;
  bool with_data = false;  ///< A DataNode has the data, or gets it.
  std::string body;
  std::string body_file;  ///< As in HttpRequest.
  std::string sink_file;
  std::uint64_t most_answer = 0;  ///< 0 = that of the options.
  /// No other client writes the file: an open stream is that of an earlier call that has gone
  /// wrong. A call that finds one gets the refusing reply at once.
  bool only_writer = false;
};

class WebHdfsCalls : public std::enable_shared_from_this<WebHdfsCalls> {
 public:
  using Done = std::function<void(tl::expected<HttpReply, hdfs::HdfsError>)>;

  WebHdfsCalls(boost::asio::io_context& loop, WebHdfsOptions options);

  /// `done` is called once, from the event loop, unless Stop() comes first.
  void Run(WebHdfsCall call, Done done);
  /// For good.
  void Stop();
  [[nodiscard]] const WebHdfsOptions& options() const { return options_; }
  /// The one that answered last: of a pair, the active one.
  [[nodiscard]] const HostPort& name_node() const { return options_.name_nodes[name_node_]; }

 private:
  struct Running;
  using RunningPtr = std::shared_ptr<Running>;

  void AskNameNode(const RunningPtr& running);
  void AskDataNode(const RunningPtr& running, const std::string& location);
  void AfterReply(const RunningPtr& running, HttpReply reply);
  void AfterFailure(const RunningPtr& running, WebHdfsFailure failure);
  void End(const RunningPtr& running, tl::expected<HttpReply, hdfs::HdfsError> result);
  [[nodiscard]] std::string Target(const Running& running) const;
  [[nodiscard]] HttpRequest RequestOf(const Running& running, HttpUrl url, bool with_data) const;

  boost::asio::io_context& loop_;
  WebHdfsOptions options_;
  std::size_t name_node_ = 0;
  std::set<RunningPtr> running_;
  bool stopped_ = false;
};

}  // namespace tfyarn::wire
