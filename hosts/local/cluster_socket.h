// The wire between an AM process and the process that is RM and node of this machine: one socket
// pair that the AM inherits, so that no other process can reach either end.
//
// Frames: length (4 bytes, little-endian), then a call or an answer in its binary form (codec.h).
// Both ends are the same build of tfyarn. Only this machine's host speaks so; on YARN it is
// Hadoop's RPC.
#pragma once

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <variant>

#include "core/model/describe.h"
#include "core/model/yarn.h"
#include "hosts/agent/unique_fd.h"
#include "hosts/runtime/cluster.h"
#include "hosts/runtime/lifetime.h"

namespace tfyarn::hosts {

using agent_host::UniqueFd;

/// A call to the node, with the secrets that the containers it starts are given.
struct NodeCall {
  yarn::NmRequest request;
  std::map<ContainerId, std::string> secrets;
};
BOOST_DESCRIBE_STRUCT(NodeCall, (), (request, secrets))

struct ClusterCall {
  std::uint64_t id = 0;
  std::variant<yarn::RmRequest, NodeCall> call;
};
BOOST_DESCRIBE_STRUCT(ClusterCall, (), (id, call))

struct ClusterAnswer {
  std::uint64_t id = 0;
  std::variant<yarn::RmResponse, yarn::NmResponse> answer;
};
BOOST_DESCRIBE_STRUCT(ClusterAnswer, (), (id, answer))

/// Bytes in both directions, in frames.
class FramedSocket : public std::enable_shared_from_this<FramedSocket> {
 public:
  /// Longer frames are refused, and the socket is closed.
  static constexpr std::uint32_t kMaxFrame = 256u << 20;

  FramedSocket(boost::asio::io_context& loop, UniqueFd socket);
  /// `received`: each whole frame. `closed`: once, when the other end is gone or talks nonsense.
  void Start(std::function<void(std::string)> received, std::function<void()> closed);
  void Send(std::string body);
  /// No callback comes any more.
  void Close();

 private:
  void ReadHeader();
  void ReadBody(std::uint32_t size);
  void WriteNext();
  void Broken();

  boost::asio::local::stream_protocol::socket socket_;
  std::function<void(std::string)> received_;
  std::function<void()> closed_;
  std::array<char, 4> header_{};
  std::string body_;
  std::deque<std::string> out_;
};

/// The AM's end. A call that the other end does not answer, as it is gone or talks nonsense, is
/// answered with kUnavailable.
class ClusterSocket : public Cluster {
 public:
  /// `lost`: the other process is gone, and with it this machine's RM. Told once, after the answers
  /// to the calls under way.
  ClusterSocket(boost::asio::io_context& loop, UniqueFd socket, std::function<void()> lost);
  ~ClusterSocket() override;

  void CallRm(yarn::RmRequest request, RmAnswer answer) override;
  void CallNm(const NodeId& node, const yarn::Token& token, yarn::NmRequest request,
              Secrets secrets, NmAnswer answer) override;

 private:
  using Waiting = std::map<std::uint64_t, std::variant<RmAnswer, NmAnswer>>;

  void Call(ClusterCall call, Waiting::mapped_type answer);
  void Received(const std::string& body);
  void Closed();
  /// No answer will come to what waits.
  void FailWaiting();

  boost::asio::io_context& loop_;
  std::function<void()> lost_;
  std::shared_ptr<FramedSocket> socket_;
  bool closed_ = false;
  std::uint64_t next_ = 1;
  Waiting waiting_;
  Lifetime lifetime_;
};

}  // namespace tfyarn::hosts
