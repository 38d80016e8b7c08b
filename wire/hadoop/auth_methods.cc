#include "wire/hadoop/auth_methods.h"

#include <fmt/format.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

#include "wire/frame.h"
#include "wire/hadoop/ipc_messages.h"
#include "wire/hadoop/sasl_message.h"

namespace tfyarn::hadoop {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

/// Of an answer: a few names, and a challenge.
constexpr std::size_t kMostAnswer = std::size_t{64} * 1024;

class Question : public std::enable_shared_from_this<Question> {
 public:
  Question(asio::io_context& io, HostPort address, std::function<void(AuthMethods)> answer)
      : address_(std::move(address)),
        answer_(std::move(answer)),
        resolver_(io),
        socket_(io),
        timer_(io),
        frames_(kMostAnswer) {}

  void Start(Duration limit) {
    timer_.expires_after(limit);
    timer_.async_wait([self = shared_from_this()](const error_code& cancelled) {
      if (!cancelled) self->Fail(IpcErrorKind::kTimeout, "no answer in time");
    });
    resolver_.async_resolve(
        address_.host, std::to_string(address_.port), tcp::resolver::numeric_service,
        [self = shared_from_this()](const error_code& failed, const auto& found) {
          if (self->over_) return;
          if (failed)
            return self->Fail(IpcErrorKind::kConnect,
                              fmt::format("unknown host ({})", failed.message()));
          self->Connect(found);
        });
  }

 private:
  void Connect(const tcp::resolver::results_type& found) {
    asio::async_connect(
        socket_, found,
        [self = shared_from_this()](const error_code& failed, const tcp::endpoint&) {
          if (self->over_) return;
          if (failed)
            return self->Fail(IpcErrorKind::kConnect,
                              fmt::format("cannot connect: {}", failed.message()));
          self->Ask();
        });
  }

  void Ask() {
    question_ = Preamble(AuthProtocol::kSasl) +
                SaslRequestFrame({.state = SaslState::kNegotiate, .token = {}, .auths = {}});
    // What the daemon said before it closed is worth more than that it closed: reading ends it.
    asio::async_write(socket_, asio::buffer(question_),
                      [self = shared_from_this()](const error_code&, std::size_t) {});
    Read();
  }

  void Read() {
    socket_.async_read_some(asio::buffer(buffer_), [self = shared_from_this()](
                                                       const error_code& failed, std::size_t got) {
      if (self->over_) return;
      if (failed)
        return self->Fail(IpcErrorKind::kBroken,
                          fmt::format("the connection broke: {}", failed.message()));
      self->Take({self->buffer_.data(), got});
    });
  }

  void Take(std::string_view bytes) {
    frames_.Feed(bytes);
    const auto payload = frames_.Next();
    if (!payload) return Fail(IpcErrorKind::kProtocol, payload.error().message);
    if (!*payload) return Read();
    const auto response = DecodeResponse(**payload);
    if (!response) return Fail(IpcErrorKind::kProtocol, response.error().message);
    if (response->status != ResponseStatus::kSuccess)
      return Fail(IpcErrorKind::kSecurity,
                  response->message.substr(0, response->message.find('\n')));
    const auto message = DecodeSasl(response->body);
    if (!message) return Fail(IpcErrorKind::kProtocol, message.error().message);
    std::vector<std::string> methods;
    for (const SaslAuth& auth : message->auths) methods.push_back(auth.method);
    // A daemon that has no tokens either says that all is well as it is.
    if (message->state == SaslState::kSuccess) methods.emplace_back("SIMPLE");
    Finish(std::move(methods));
  }

  void Fail(IpcErrorKind kind, const std::string& message) {
    Finish(tl::unexpected(
        IpcError{.kind = kind, .message = fmt::format("{}: {}", ToString(address_), message)}));
  }

  void Finish(AuthMethods methods) {
    if (std::exchange(over_, true)) return;
    error_code ignored;
    resolver_.cancel();
    timer_.cancel();
    socket_.close(ignored);
    answer_(std::move(methods));
  }

  const HostPort address_;
  const std::function<void(AuthMethods)> answer_;
  tcp::resolver resolver_;
  tcp::socket socket_;
  asio::steady_timer timer_;
  std::string question_;
  std::array<char, 4096> buffer_{};
  wire::FrameReader frames_;
  bool over_ = false;
};

}  // namespace

void AskAuthMethods(asio::io_context& io, HostPort address, Duration limit,
                    std::function<void(AuthMethods)> answer) {
  std::make_shared<Question>(io, std::move(address), std::move(answer))->Start(limit);
}

}  // namespace tfyarn::hadoop
