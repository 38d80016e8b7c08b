// Only the task can use a leased port.
#include "hosts/agent/port_lease.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <set>
#include <vector>

#include "tests/unit/hosts/agent/process_rig.h"

namespace tfyarn::agent_host::port_lease_test {
namespace {

/// A server's socket that listens on every address of `family`; none when the kernel refuses.
UniqueFd Serve(int family, std::int32_t port, const std::vector<int>& options) {
  UniqueFd socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  for (const int option : options) {
    ::setsockopt(socket.get(), SOL_SOCKET, option, &on, sizeof on);
  }
  sockaddr_in6 six{};
  six.sin6_family = AF_INET6;
  six.sin6_port = htons(static_cast<in_port_t>(port));
  sockaddr_in four{};
  four.sin_family = AF_INET;
  four.sin_port = htons(static_cast<in_port_t>(port));
  const auto* address = family == AF_INET6 ? reinterpret_cast<const sockaddr*>(&six)
                                           : reinterpret_cast<const sockaddr*>(&four);
  const socklen_t size = family == AF_INET6 ? sizeof six : sizeof four;
  if (::bind(socket.get(), address, size) != 0 || ::listen(socket.get(), 8) != 0) return {};
  return socket;
}

class PortLeaseTest : public ProcessRig {};

TEST_F(PortLeaseTest, NoTwoLeasesGetOnePort) {
  std::vector<Lease> leases;
  std::set<std::int32_t> ports;
  for (int i = 0; i < 500; ++i) {
    auto lease = Lease::Take();
    ASSERT_TRUE(lease) << lease.error().message;
    EXPECT_GT(lease->port(), 0);
    ports.insert(lease->port());
    leases.push_back(std::move(*lease));
  }
  EXPECT_EQ(ports.size(), leases.size());
}

TEST_F(PortLeaseTest, WhileItIsHeldOnlyAServerThatSharesGetsThePort) {
  auto lease = Lease::Take();
  ASSERT_TRUE(lease);
  for (const int family : {AF_INET6, AF_INET}) {
    EXPECT_FALSE(Serve(family, lease->port(), {}));
    EXPECT_FALSE(Serve(family, lease->port(), {SO_REUSEADDR})) << "as gRPC does by default";
    EXPECT_TRUE(Serve(family, lease->port(), {SO_REUSEADDR, SO_REUSEPORT}));
  }
}

TEST_F(PortLeaseTest, SharedByReuseAddressItLetsOrdinaryServersIn) {
  auto lease = Lease::Take();
  ASSERT_TRUE(lease);
  ASSERT_TRUE(lease->ShareByReuseAddress());
  for (const int family : {AF_INET6, AF_INET}) {
    EXPECT_FALSE(Serve(family, lease->port(), {}));
    EXPECT_TRUE(Serve(family, lease->port(), {SO_REUSEADDR}));
    EXPECT_TRUE(Serve(family, lease->port(), {SO_REUSEADDR, SO_REUSEPORT}));
  }
}

TEST_F(PortLeaseTest, ReleasedItIsAnybodys) {
  auto lease = Lease::Take();
  ASSERT_TRUE(lease);
  lease->Release();
  EXPECT_FALSE(lease->is_held());
  EXPECT_TRUE(Serve(AF_INET6, lease->port(), {}));
  EXPECT_FALSE(lease->ShareByReuseAddress());
}

TEST_F(PortLeaseTest, MovedItIsHeldOnce) {
  auto first = Lease::Take();
  ASSERT_TRUE(first);
  const std::int32_t port = first->port();
  {
    const Lease second = std::move(*first);
    EXPECT_FALSE(Serve(AF_INET6, port, {}));
  }
  EXPECT_TRUE(Serve(AF_INET6, port, {}));
}

TEST_F(PortLeaseTest, ConnectionsReachTheServerAndNeverTheHolder) {
  auto lease = Lease::Take();
  ASSERT_TRUE(lease);
  const UniqueFd server = Serve(AF_INET6, lease->port(), {SO_REUSEPORT});
  ASSERT_TRUE(server);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<in_port_t>(lease->port()));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  for (int i = 0; i < 20; ++i) {
    const UniqueFd client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::connect(client.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    const UniqueFd accepted(::accept(server.get(), nullptr, nullptr));
    EXPECT_TRUE(accepted);
  }
}

// A server that closes its connections first leaves them in TIME_WAIT for a minute.
TEST_F(PortLeaseTest, ItIsTakenAgainWhileClosedConnectionsLinger) {
  auto lease = Lease::Take();
  ASSERT_TRUE(lease);
  const std::int32_t port = lease->port();
  lease->Release();
  UniqueFd server = Serve(AF_INET, port, {SO_REUSEADDR});
  ASSERT_TRUE(server);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<in_port_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  UniqueFd client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::connect(client.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  UniqueFd accepted(::accept(server.get(), nullptr, nullptr));
  accepted.reset();
  char end = 0;
  EXPECT_EQ(::read(client.get(), &end, 1), 0);
  client.reset();
  server.reset();
  EXPECT_FALSE(Serve(AF_INET, port, {})) << "nothing lingers, so this test shows nothing";
  auto again = Lease::TakeAgain(port);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_FALSE(Serve(AF_INET, port, {SO_REUSEADDR})) << "it is shared by address";
  EXPECT_TRUE(Serve(AF_INET, port, {SO_REUSEPORT, SO_REUSEADDR}));
}

TEST_F(PortLeaseTest, AProgramDoesNotInheritIt) {
  auto lease = Lease::Take();
  ASSERT_TRUE(lease);
  Start({"sleep"});
  UntilSaid();
  lease->Release();
  EXPECT_TRUE(Serve(AF_INET6, lease->port(), {}));
  tree().Kill();
  End();
}

TEST_F(PortLeaseTest, AProgramListensBesideIt) {
  auto lease = Lease::Take();
  ASSERT_TRUE(lease);
  Start({"listen", std::to_string(lease->port()), "reuse-port"});
  UntilSaid();
  tree().Kill();
  End();
  Start({"listen", std::to_string(lease->port()), "plain"});
  EXPECT_EQ(End().code, 3) << "without SO_REUSEPORT it must not get it";
}

}  // namespace
}  // namespace tfyarn::agent_host::port_lease_test
