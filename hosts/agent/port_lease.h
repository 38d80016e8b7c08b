// A port that is kept for a task before the task listens on it.
//
// The address of every task stands in the cluster spec before any of them runs, so a port has to be
// chosen early and must not go to another process until the task's own server takes it. A socket
// bound to it does that: bound to port 0, so that the kernel chooses, with SO_REUSEPORT, so that a
// server of the same user that sets it too can bind beside it, and never listening, since the
// kernel would then give it a part of the task's connections. While it is held, the kernel gives
// this port to no bind to port 0 and to no connect().
//
// It is bound to [::], for IPv6 and IPv4 at once, because TensorFlow's gRPC is: asked for
// 0.0.0.0:PORT it listens on [::]:PORT where the machine has IPv6. Where it has not, to 0.0.0.0.
//
// TensorFlow takes a held port when TF_GRPC_REUSE_PORT=true is in its environment. For servers that
// set only SO_REUSEADDR, as most do, ShareByReuseAddress() is the same without a gap. For those
// that set neither, only Release() just before exec is left, and another process can be quicker.
#pragma once

#include <cstdint>
#include <utility>

#include "core/model/error.h"
#include "hosts/agent/unique_fd.h"

namespace tfyarn::agent_host {

class Lease {
 public:
  /// Errors: kUnavailable: no socket or no port is free; the message has the system's text.
  [[nodiscard]] static Expected<Lease> Take();

  /// The same port once more, after Release(). Errors: kUnavailable: another socket has it.
  [[nodiscard]] static Expected<Lease> TakeAgain(std::int32_t port);

  /// 1..65535; also after Release().
  [[nodiscard]] std::int32_t port() const { return port_; }
  [[nodiscard]] bool is_held() const { return static_cast<bool>(socket_); }
  /// Lets servers bind beside us that set SO_REUSEADDR and not SO_REUSEPORT. Weaker than before:
  /// any user's program that asks for exactly this port with SO_REUSEADDR gets it too. Errors:
  /// kFailedPrecondition after Release().
  [[nodiscard]] Expected<void> ShareByReuseAddress();
  /// Any process may bind the port from now on.
  void Release() { socket_.reset(); }

 private:
  Lease(UniqueFd socket, std::int32_t port) : socket_(std::move(socket)), port_(port) {}

  UniqueFd socket_;
  std::int32_t port_ = 0;
};

}  // namespace tfyarn::agent_host
