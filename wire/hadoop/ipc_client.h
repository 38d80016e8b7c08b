// Calls of one protocol to one service: a daemon, or the several of which one is active. It opens
// connections when there is something to call, and calls again where that is right; what an
// answer means is its user's business.
//
// A repeated call keeps its call id and counts its repetitions, so that a server that remembers
// calls does nothing twice. Source: hadoop-common io/retry/RetryPolicies.java,
// yarn/client/RMProxy.java.
#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>
#include <vector>

#include "core/model/host_port.h"
#include "core/model/time.h"
#include "wire/hadoop/ipc_connection.h"

namespace tfyarn::hadoop {

struct IpcClientOptions {
  IpcOptions connection;
  /// Wait before a call is repeated; doubles up to `retry_most`. With several addresses the first
  /// repetition goes to the next one at once.
  Duration retry_least = 1s;
  Duration retry_most = 30s;
  /// From the first try on; no repetition begins later. 0 = no repetitions.
  /// Source: yarn.resourcemanager.connect.max-wait.ms.
  Duration give_up = 15min;
};

/// What a repetition may do.
enum class Repeatable {
  kAlways,     ///< Done twice it is as done once.
  kUnsentOnly  ///< Only when the server cannot have seen it.
};

class IpcClient {
 public:
  using Answer = IpcConnection::Answer;

  /// `addresses`: not empty. `io` must outlive this.
  IpcClient(boost::asio::io_context& io, std::vector<HostPort> addresses, IpcProtocol protocol,
            IpcCredential credential, const IpcClientOptions& options);
  /// Closes its connections; no answer is given any more.
  ~IpcClient();
  IpcClient(const IpcClient&) = delete;
  IpcClient& operator=(const IpcClient&) = delete;

  /// `answer` comes later, from the event loop.
  void Call(std::string method, std::string body, Repeatable repeatable, Answer answer);
  /// For connections from now on; the one that is open stays. An AM needs it when the RM gives it
  /// another token.
  void SetCredential(IpcCredential credential);

 private:
  class Core;
  std::shared_ptr<Core> core_;
};

}  // namespace tfyarn::hadoop
