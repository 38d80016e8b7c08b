#include "fakes/server/listen.h"

#include <fmt/format.h>

namespace tfyarn::fakes {

using boost::asio::ip::tcp;

Expected<void> Listen(tcp::acceptor& acceptor, const std::string& host, std::uint16_t& port) {
  boost::system::error_code failed;
  const tcp::endpoint endpoint(boost::asio::ip::make_address(host, failed), port);
  if (!failed) acceptor.open(endpoint.protocol(), failed);
  if (!failed) acceptor.set_option(tcp::acceptor::reuse_address(true), failed);
  if (!failed) acceptor.bind(endpoint, failed);
  if (!failed) acceptor.listen(tcp::acceptor::max_listen_connections, failed);
  if (failed) {
    boost::system::error_code ignored;
    acceptor.close(ignored);
    return Fail(ErrorCode::kUnavailable,
                fmt::format("cannot listen at {}:{}: {}", host, port, failed.message()));
  }
  port = acceptor.local_endpoint().port();
  return {};
}

}  // namespace tfyarn::fakes
