// Which sockets of this network namespace listen on a TCP port, by inode.
//
// Asked of the kernel by sock_diag(7), which looks at listening sockets only (tens of
// microseconds); where that is missing (no tcp_diag module, a seccomp filter), read from
// /proc/net/tcp and tcp6, which walk the table of all connections (milliseconds).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>

namespace tfyarn::agent_host {

using SocketInodes = std::set<std::uint64_t>;

/// `port`: 1..65535, on any local address, IPv4 and IPv6.
[[nodiscard]] SocketInodes ListeningOn(std::int32_t port);

/// Port by inode of all sockets that listen.
[[nodiscard]] std::map<std::uint64_t, std::int32_t> AllListening();

/// ListeningOn by one way only. nullopt: the kernel does not answer.
[[nodiscard]] std::optional<SocketInodes> ListeningOnBySockDiag(std::int32_t port);
/// At most 4 MiB of each table is read: Linux lists the sockets that listen first, so what is left
/// out are connections.
[[nodiscard]] SocketInodes ListeningOnByProc(std::int32_t port);

}  // namespace tfyarn::agent_host
