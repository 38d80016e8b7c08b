// A port at which a daemon of the fakes is found.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <string>

#include "core/model/error.h"

namespace tfyarn::fakes {

/// While it is closed, connections are refused and the port stays taken: no other process gets it,
/// and no client that calls it gets it as its own and connects to itself. Both happen to numbers
/// that the kernel hands out, as those of the fakes are.
class ListeningPort {
 public:
  explicit ListeningPort(boost::asio::io_context& io) : held_(io), acceptor_(io) {}

  /// `port` 0 becomes the one that was free. Errors: kUnavailable; it is closed then.
  [[nodiscard]] Expected<void> Open(const std::string& host, std::uint16_t& port);
  void Close();
  [[nodiscard]] boost::asio::ip::tcp::acceptor& acceptor() { return acceptor_; }

 private:
  boost::asio::ip::tcp::acceptor held_;  ///< Bound from the first Open on; never listens.
  boost::asio::ip::tcp::acceptor acceptor_;
};

}  // namespace tfyarn::fakes
