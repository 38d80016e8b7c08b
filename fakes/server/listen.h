// A port at which a daemon of the fakes is found.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "core/model/error.h"
#include "core/model/host_port.h"

namespace tfyarn::fakes {

/// While it is closed, connections are refused and the port stays taken: no other process gets it,
/// and no client that calls it gets it as its own and connects to itself. Both happen to numbers
/// that the kernel hands out, as those of the fakes are.
class ListeningPort {
 public:
  explicit ListeningPort(boost::asio::io_context& io) : held_(io), acceptor_(io) {}

  /// Port 0 becomes the one that was free. Errors: kUnavailable; it is closed then.
  [[nodiscard]] Expected<void> Open(HostPort& address);
  void Close();
  [[nodiscard]] boost::asio::ip::tcp::acceptor& acceptor() { return acceptor_; }

 private:
  boost::asio::ip::tcp::acceptor held_;  ///< Bound from the first Open on; never listens.
  boost::asio::ip::tcp::acceptor acceptor_;
};

}  // namespace tfyarn::fakes
