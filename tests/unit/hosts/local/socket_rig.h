// Two ends of a socket pair, one of them in the test's hands.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <string_view>

#include "hosts/local/cluster_socket.h"
#include "tests/unit/hosts/runtime/host_rig.h"

namespace tfyarn::hosts {

class SocketRig : public HostRig {
 protected:
  SocketRig() {
    int pair[2] = {-1, -1};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0)
      std::abort();
    ours_ = UniqueFd(pair[0]);
    peer_ = UniqueFd(pair[1]);
  }

  static std::string Frame(std::string_view body) {
    std::string frame;
    for (int i = 0; i < 4; ++i) frame += static_cast<char>((body.size() >> (8 * i)) & 0xff);
    return frame + std::string(body);
  }
  void PeerWrites(std::string_view bytes) {
    ASSERT_EQ(::send(peer_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), std::ssize(bytes));
  }
  /// What has come to the peer since the last call.
  std::string PeerReads() {
    std::string bytes(1 << 16, '\0');
    const ssize_t got = ::recv(peer_.get(), bytes.data(), bytes.size(), 0);
    bytes.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    return bytes;
  }

  UniqueFd ours_;
  UniqueFd peer_;
};

}  // namespace tfyarn::hosts
