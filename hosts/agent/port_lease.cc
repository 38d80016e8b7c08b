#include "hosts/agent/port_lease.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace tfyarn::agent_host {
namespace {

bool Switch(int socket, int level, int option, int value) {
  return ::setsockopt(socket, level, option, &value, sizeof value) == 0;
}

/// A socket bound to a port (0: a free one) of every address of `family`; errno says why there is
/// none. `used`: a server had it, so that connections which it has closed may linger (TIME_WAIT).
UniqueFd Bind(int family, std::int32_t port, bool used) {
  UniqueFd socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket || !Switch(socket.get(), SOL_SOCKET, SO_REUSEPORT, 1)) return {};
  if (used && !Switch(socket.get(), SOL_SOCKET, SO_REUSEADDR, 1)) return {};
  sockaddr_storage address{};  // The wildcard address is all zeros in both families.
  address.ss_family = static_cast<sa_family_t>(family);
  // The port stands at the same place in sockaddr_in and sockaddr_in6.
  reinterpret_cast<sockaddr_in*>(&address)->sin_port = htons(static_cast<std::uint16_t>(port));
  socklen_t size = sizeof(sockaddr_in);
  if (family == AF_INET6) {
    size = sizeof(sockaddr_in6);
    if (!Switch(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0)) return {};
  }
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0) return {};
  // Set only for the bind: from here on no socket may share it by that option.
  if (used && !Switch(socket.get(), SOL_SOCKET, SO_REUSEADDR, 0)) return {};
  return socket;
}

/// 0 when it has none.
std::int32_t PortOf(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  return ntohs(reinterpret_cast<const sockaddr_in*>(&address)->sin_port);
}

}  // namespace

Expected<Lease> Lease::Take() {
  UniqueFd socket = Bind(AF_INET6, 0, false);
  if (!socket) socket = Bind(AF_INET, 0, false);
  const std::int32_t port = socket ? PortOf(socket.get()) : 0;
  if (port == 0) {
    return Fail(ErrorCode::kUnavailable,
                std::string("cannot get a free port: ") + std::strerror(errno));
  }
  return Lease(std::move(socket), port);
}

Expected<Lease> Lease::TakeAgain(std::int32_t port) {
  UniqueFd socket = Bind(AF_INET6, port, true);
  if (!socket && errno != EADDRINUSE) socket = Bind(AF_INET, port, true);
  if (socket) return Lease(std::move(socket), port);
  return Fail(ErrorCode::kUnavailable,
              "cannot get port " + std::to_string(port) + " again: " + std::strerror(errno));
}

Expected<void> Lease::ShareByReuseAddress() {
  if (!socket_ || !Switch(socket_.get(), SOL_SOCKET, SO_REUSEADDR, 1)) {
    return Fail(ErrorCode::kFailedPrecondition,
                "port " + std::to_string(port_) + " is not held any more");
  }
  return {};
}

}  // namespace tfyarn::agent_host
