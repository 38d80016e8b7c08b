// A port that speaks WebHDFS as a NameNode's web server does, and as that of a DataNode beside it:
// the fake HDFS to HTTP clients.
//
// Data goes in two steps: without any body to the NameNode, which answers with the address of a
// DataNode; here that is the same port, and `namenoderpcaddress` tells the steps apart. What is
// being written is open for its writer until all of it has come; where its connection breaks, what
// has come is in the file. One request for each connection. Not there: Kerberos but for its demand,
// delegation tokens, pages for people.
//
// Source: NamenodeWebHdfsMethods.java, web/webhdfs/WebHdfsHandler.java, ExceptionHandler.java.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <memory>
#include <string>

#include "core/model/error.h"
#include "fakes/hdfs/name_node.h"
#include "fakes/server/call_fate.h"

namespace tfyarn::fakes {

class WebHdfsServer {
 public:
  /// `host`: a numeric address of this machine. `io` and `files` must outlive this. `fate` is asked
  /// once for each operation, data's second step, by its name in capitals.
  WebHdfsServer(boost::asio::io_context& io, std::string host, NameNode& files, FateOfCall fate);
  ~WebHdfsServer();
  WebHdfsServer(const WebHdfsServer&) = delete;
  WebHdfsServer& operator=(const WebHdfsServer&) = delete;

  /// At any port, and at the same after Close(). Errors: kUnavailable when it cannot be had.
  [[nodiscard]] Expected<void> Open();
  /// Connections break and new ones are refused, as when the NameNode was killed. A stream that was
  /// open stays open, and no client closes it.
  void Close();
  /// Once it was open.
  [[nodiscard]] std::uint16_t port() const;

  /// From now on clients have to prove who they are, and cannot: there are no tickets.
  void DemandKerberos();

 private:
  class Core;
  std::shared_ptr<Core> core_;
};

}  // namespace tfyarn::fakes
