#include "hosts/agent/listening_sockets.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>

#include "hosts/agent/proc_table.h"
#include "hosts/agent/unique_fd.h"

namespace tfyarn::agent_host {
namespace {

constexpr std::size_t kLongestTable = 4U << 20;
constexpr std::string_view kListen = "0A";  // TCP_LISTEN, include/net/tcp_states.h

template <class T>
bool Parse(std::string_view text, T& value, int base) {
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value, base);
  return result.ec == std::errc() && result.ptr == end;
}

std::string_view TakeWord(std::string_view& line) {
  const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
  line.remove_prefix(begin);
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(word.size());
  return word;
}

using PortOfInode = std::map<std::uint64_t, std::int32_t>;
constexpr std::int32_t kAnyPort = 0;

SocketInodes InodesOf(const PortOfInode& found) {
  SocketInodes inodes;
  for (const auto& [inode, port] : found) inodes.insert(inode);
  return inodes;
}

/// Adds the socket in `line` if it listens on `port`.
void ReadLine(std::string_view line, std::int32_t port, PortOfInode& found) {
  // sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode ...; addresses are
  // HEX:PORT. Source: proc(5), Documentation/networking/proc_net_tcp.rst.
  TakeWord(line);
  const std::string_view local = TakeWord(line);
  TakeWord(line);
  if (TakeWord(line) != kListen) return;
  const std::size_t colon = local.rfind(':');
  std::int32_t there = 0;
  if (colon == std::string_view::npos || !Parse(local.substr(colon + 1), there, 16)) return;
  if (port != kAnyPort && there != port) return;
  for (int word = 0; word < 5; ++word) TakeWord(line);
  std::uint64_t inode = 0;
  if (Parse(TakeWord(line), inode, 10) && inode != 0) found.emplace(inode, there);
}

PortOfInode ByProc(std::int32_t port) {
  PortOfInode found;
  for (const char* path : {"/proc/self/net/tcp", "/proc/self/net/tcp6"}) {
    const std::string text = ReadSmallFile(path, kLongestTable).value_or("");
    std::string_view rest = text;
    while (!rest.empty()) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
      ReadLine(line, port, found);
    }
  }
  return found;
}

struct DiagRequest {
  nlmsghdr header{};
  inet_diag_req_v2 body{};
};

bool Ask(int socket, int family, std::int32_t port) {
  DiagRequest request;
  request.header.nlmsg_len = sizeof request;
  request.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  request.body.sdiag_family = static_cast<std::uint8_t>(family);
  request.body.sdiag_protocol = IPPROTO_TCP;
  request.body.idiag_states = 1U << TCP_LISTEN;
  request.body.id.idiag_sport = htons(static_cast<std::uint16_t>(port));
  sockaddr_nl kernel{};
  kernel.nl_family = AF_NETLINK;
  return ::sendto(socket, &request, sizeof request, 0, reinterpret_cast<const sockaddr*>(&kernel),
                  sizeof kernel) == static_cast<ssize_t>(sizeof request);
}

enum class Part { kMore, kDone, kRefused };

Part ReadPart(const nlmsghdr* message, std::size_t size, std::int32_t port, PortOfInode& inodes) {
  for (; NLMSG_OK(message, size); message = NLMSG_NEXT(message, size)) {
    if (message->nlmsg_type == NLMSG_DONE) return Part::kDone;
    if (message->nlmsg_type == NLMSG_ERROR) return Part::kRefused;
    if (message->nlmsg_len < NLMSG_LENGTH(sizeof(inet_diag_msg))) return Part::kRefused;
    const auto* found = static_cast<const inet_diag_msg*>(NLMSG_DATA(message));
    const std::int32_t there = ntohs(found->id.idiag_sport);
    if ((port == kAnyPort || there == port) && found->idiag_inode != 0)
      inodes.emplace(found->idiag_inode, there);
  }
  return Part::kMore;
}

bool AskFamily(int socket, int family, std::int32_t port, PortOfInode& inodes) {
  if (!Ask(socket, family, port)) return false;
  alignas(nlmsghdr) std::array<char, 32U << 10> buffer{};
  while (true) {
    const ssize_t got = ::recv(socket, buffer.data(), buffer.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    const auto* first = reinterpret_cast<const nlmsghdr*>(buffer.data());
    const Part part = ReadPart(first, static_cast<std::size_t>(got), port, inodes);
    if (part != Part::kMore) return part == Part::kDone;
  }
}

std::optional<PortOfInode> BySockDiag(std::int32_t port) {
  const UniqueFd socket(::socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  // The kernel answers at once or not at all.
  const timeval longest{.tv_sec = 0, .tv_usec = 100'000};
  if (!socket || ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof longest)) {
    return std::nullopt;
  }
  PortOfInode found;
  for (const int family : {AF_INET, AF_INET6}) {
    if (!AskFamily(socket.get(), family, port, found)) return std::nullopt;
  }
  return found;
}

}  // namespace

std::optional<SocketInodes> ListeningOnBySockDiag(std::int32_t port) {
  const auto found = BySockDiag(port);
  if (!found) return std::nullopt;
  return InodesOf(*found);
}

SocketInodes ListeningOnByProc(std::int32_t port) {
  return InodesOf(ByProc(port));
}

SocketInodes ListeningOn(std::int32_t port) {
  auto inodes = ListeningOnBySockDiag(port);
  return inodes ? std::move(*inodes) : ListeningOnByProc(port);
}

PortOfInode AllListening() {
  auto found = BySockDiag(kAnyPort);
  return found ? std::move(*found) : ByProc(kAnyPort);
}

}  // namespace tfyarn::agent_host
