#include "fakes/server/listen.h"

#include <gtest/gtest.h>

namespace tfyarn::fakes::listen_test {
namespace {

using boost::asio::ip::tcp;
using boost::system::error_code;

constexpr auto kHost = "127.0.0.1";

error_code Connected(boost::asio::io_context& io, std::uint16_t port) {
  tcp::socket socket(io);
  error_code failed;
  socket.connect({boost::asio::ip::make_address(kHost), port}, failed);
  return failed;
}

TEST(ListeningPortTest, KeepsItsNumberWhileItIsClosed) {
  boost::asio::io_context io;
  ListeningPort port(io);
  HostPort address{.host = kHost};
  ASSERT_TRUE(port.Open(address));
  ASSERT_NE(address.port, 0);
  EXPECT_FALSE(Connected(io, static_cast<std::uint16_t>(address.port)));

  port.Close();
  EXPECT_EQ(Connected(io, static_cast<std::uint16_t>(address.port)),
            boost::asio::error::connection_refused);
  tcp::socket other(io, tcp::v4());
  error_code failed;
  other.bind({boost::asio::ip::make_address(kHost), static_cast<std::uint16_t>(address.port)},
             failed);
  EXPECT_EQ(failed, boost::asio::error::address_in_use);

  ASSERT_TRUE(port.Open(address));
  EXPECT_FALSE(Connected(io, static_cast<std::uint16_t>(address.port)));
}

TEST(ListeningPortTest, APortThatIsTakenIsAnError) {
  boost::asio::io_context io;
  ListeningPort first(io);
  HostPort address{.host = kHost};
  ASSERT_TRUE(first.Open(address));
  ListeningPort second(io);
  const auto opened = second.Open(address);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kUnavailable);
  EXPECT_FALSE(second.acceptor().is_open());
}

}  // namespace
}  // namespace tfyarn::fakes::listen_test
