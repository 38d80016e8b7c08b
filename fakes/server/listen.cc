#include "fakes/server/listen.h"

#include <fmt/format.h>

namespace tfyarn::fakes {
namespace {

using boost::asio::ip::tcp;
using boost::system::error_code;

/// Linux lets two sockets that both reuse addresses have one port while neither listens. One that
/// cannot have it is closed again.
void Bind(tcp::acceptor& socket, const tcp::endpoint& endpoint, error_code& failed) {
  socket.open(endpoint.protocol(), failed);
  if (!failed) socket.set_option(tcp::acceptor::reuse_address(true), failed);
  if (!failed) socket.bind(endpoint, failed);
  error_code ignored;
  if (failed) socket.close(ignored);
}

}  // namespace

Expected<void> ListeningPort::Open(HostPort& address) {
  error_code failed;
  tcp::endpoint endpoint(boost::asio::ip::make_address(address.host, failed),
                         static_cast<std::uint16_t>(address.port));
  if (!failed && !held_.is_open()) Bind(held_, endpoint, failed);
  if (!failed) endpoint = held_.local_endpoint(failed);
  if (!failed) Bind(acceptor_, endpoint, failed);
  if (!failed) acceptor_.listen(tcp::acceptor::max_listen_connections, failed);
  if (failed) {
    Close();
    return Fail(ErrorCode::kUnavailable,
                fmt::format("cannot listen at {}: {}", ToString(address), failed.message()));
  }
  address.port = endpoint.port();
  return {};
}

void ListeningPort::Close() {
  error_code ignored;
  acceptor_.close(ignored);
}

}  // namespace tfyarn::fakes
