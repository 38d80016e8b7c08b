// A port that speaks Hadoop's IPC version 9 as a daemon does: takes connections, authenticates the
// caller, and passes calls to its owner for an answer. Faults of the wire happen here, when a test
// orders them.
//
// Calls are taken in and answered one after the other; only an answer that is to come late waits.
//
// Source: hadoop-common ipc/Server.java.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <tl/expected.hpp>
#include <utility>

#include "core/model/error.h"
#include "core/model/host_port.h"
#include "fakes/server/call_fate.h"
#include "wire/hadoop/ipc_messages.h"
#include "wire/hadoop/sasl_server.h"

namespace tfyarn::fakes {

/// The client that a connection's calls come from.
struct IpcCaller {
  std::string user;              ///< Without a token: the name that it states.
  std::string token_identifier;  ///< Else the token's.
};

/// An exception for the caller.
struct IpcException {
  std::string name;  ///< Java's name of the class.
  std::string message;
  std::uint32_t detail = 1;  ///< RpcErrorCodeProto; 1 = ERROR_APPLICATION.
};
using IpcResult = tl::expected<std::string, IpcException>;

struct IpcHandlers {
  hadoop::BesidesTokens besides = hadoop::BesidesTokens::kNothing;
  hadoop::SaslServer::TokenPassword token_password;
  std::function<IpcResult(const IpcCaller&, const hadoop::CallRequest&)> call;
  /// Of every call before it is taken in; unset: all goes well.
  std::function<CallFate(const IpcCaller&, const hadoop::CallRequest&)> fate;
};

class IpcServer {
 public:
  /// `host`: a numeric address of this machine. Port 0: any; the same after Close() and Open().
  /// `io` must outlive this.
  IpcServer(boost::asio::io_context& io, HostPort address, IpcHandlers handlers);
  ~IpcServer();
  IpcServer(const IpcServer&) = delete;
  IpcServer& operator=(const IpcServer&) = delete;

  /// Errors: kUnavailable when the address cannot be had.
  [[nodiscard]] Expected<void> Open();
  /// Connections break and new ones are refused, as when the daemon was killed.
  void Close();

  /// Once it was open, with its port.
  [[nodiscard]] const HostPort& address() const;

 private:
  class Core;
  std::shared_ptr<Core> core_;
};

}  // namespace tfyarn::fakes
