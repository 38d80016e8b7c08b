// A Hadoop daemon's port for tests: real sockets of this machine, in the test's own event loop. It
// takes frames apart and says what the test tells it to say, right or wrong.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address_v4.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/model/time.h"
#include "tests/unit/patience.h"
#include "wire/frame.h"
#include "wire/hadoop/ipc_connection.h"
#include "wire/hadoop/ipc_messages.h"

namespace tfyarn::hadoop {

/// Runs `io` until `done`, which is asked after every handler.
inline void RunUntil(boost::asio::io_context& io, const std::function<bool()>& done,
                     const char* what) {
  const auto limit = std::chrono::steady_clock::now() + Patience(1min);
  while (!done()) {
    ASSERT_LT(std::chrono::steady_clock::now(), limit) << "never happened: " << what;
    io.restart();
    io.run_one_for(1s);
  }
}
#define RUN_UNTIL(io, condition)                      \
  ASSERT_NO_FATAL_FAILURE(::tfyarn::hadoop::RunUntil( \
      io, [&] { return static_cast<bool>(condition); }, #condition))

/// One accepted connection.
class TestPeer : public std::enable_shared_from_this<TestPeer> {
 public:
  using OnFrame = std::function<void(TestPeer&, ClientFrame)>;

  TestPeer(boost::asio::ip::tcp::socket socket, OnFrame on_frame)
      : socket_(std::move(socket)), on_frame_(std::move(on_frame)) {}

  void Read() {
    socket_.async_read_some(
        boost::asio::buffer(buffer_),
        [self = shared_from_this()](const boost::system::error_code& failed, std::size_t got) {
          if (failed) {
            self->closed_by_client = true;
            return;
          }
          self->Take({self->buffer_.data(), got});
          self->Read();
        });
  }
  /// Written before this returns: tests send little.
  void Send(std::string_view bytes) {
    boost::system::error_code failed;
    boost::asio::write(socket_, boost::asio::buffer(bytes.data(), bytes.size()), failed);
  }
  void Answer(const CallRequest& call, std::string body) {
    Send(ResponseFrame({.call_id = call.call_id,
                        .client_id = call.client_id,
                        .retry_count = call.retry_count,
                        .body = std::move(body)}));
  }
  /// As Answer(), for what is more than a socket takes at once.
  void AnswerLater(const CallRequest& call, std::string body) {
    const auto bytes = std::make_shared<const std::string>(
        ResponseFrame({.call_id = call.call_id, .body = std::move(body)}));
    boost::asio::async_write(socket_, boost::asio::buffer(*bytes),
                             [bytes](const boost::system::error_code&, std::size_t) {});
  }
  void Throw(const CallRequest& call, std::string exception, std::string message) {
    Send(ResponseFrame({.call_id = call.call_id,
                        .status = ResponseStatus::kError,
                        .client_id = call.client_id,
                        .exception = std::move(exception),
                        .message = std::move(message),
                        .error_detail = 1}));
  }
  void Hangup() {
    boost::system::error_code ignored;
    socket_.close(ignored);
  }
  /// Bytes inside a protecting layer: frames of the client, whole or not.
  void TakePlain(std::string_view bytes) { Frames(inner_, bytes); }

  std::string preamble;
  std::vector<ClientFrame> frames;
  bool closed_by_client = false;

 private:
  void Take(std::string_view bytes) {
    constexpr std::size_t kPreamble = 7;
    const std::string_view more = bytes.substr(0, kPreamble - preamble.size());
    preamble += more;
    bytes.remove_prefix(more.size());
    if (preamble.size() == kPreamble) Frames(outer_, bytes);
  }
  void Frames(wire::FrameReader& reader, std::string_view bytes) {
    reader.Feed(bytes);
    while (true) {
      const auto payload = reader.Next();
      ASSERT_TRUE(payload.has_value()) << payload.error().message;
      if (!*payload) return;
      auto frame = DecodeClientFrame(**payload);
      ASSERT_TRUE(frame.has_value()) << frame.error().message;
      frames.push_back(*frame);
      if (on_frame_) on_frame_(*this, *std::move(frame));
    }
  }

  boost::asio::ip::tcp::socket socket_;
  OnFrame on_frame_;
  wire::FrameReader outer_{kMaxFrame};
  wire::FrameReader inner_{kMaxFrame};
  std::array<char, 4096> buffer_{};
};

class TestServer {
 public:
  explicit TestServer(boost::asio::io_context& io, TestPeer::OnFrame handler = {})
      : on_frame(std::move(handler)), acceptor_(io, {boost::asio::ip::address_v4::loopback(), 0}) {
    Accept();
  }

  [[nodiscard]] HostPort address() const {
    return {.host = "127.0.0.1", .port = acceptor_.local_endpoint().port()};
  }

  std::vector<std::shared_ptr<TestPeer>> peers;
  TestPeer::OnFrame on_frame;
  /// Said to every new connection, whatever it wants.
  std::string greeting;

 private:
  void Accept() {
    acceptor_.async_accept(
        [this](const boost::system::error_code& failed, boost::asio::ip::tcp::socket socket) {
          if (failed) return;
          peers.push_back(std::make_shared<TestPeer>(std::move(socket),
                                                     [this](TestPeer& peer, ClientFrame frame) {
                                                       if (on_frame)
                                                         on_frame(peer, std::move(frame));
                                                     }));
          if (!greeting.empty()) peers.back()->Send(greeting);
          peers.back()->Read();
          Accept();
        });
  }

  boost::asio::ip::tcp::acceptor acceptor_;
};

/// How one call ended.
struct Outcome {
  bool done = false;
  std::string body;
  IpcError error;
  [[nodiscard]] bool ok() const { return done && error.message.empty(); }
};

inline auto Into(Outcome& outcome) {
  return [&outcome](tl::expected<std::string, IpcError> result) {
    EXPECT_FALSE(outcome.done) << "answered twice";
    outcome.done = true;
    if (result) {
      outcome.body = *std::move(result);
    } else {
      outcome.error = result.error();
    }
  };
}

}  // namespace tfyarn::hadoop
