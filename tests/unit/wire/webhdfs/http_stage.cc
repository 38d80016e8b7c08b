#include "tests/unit/wire/webhdfs/http_stage.h"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <utility>

namespace tfyarn::wire {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

class Session : public std::enable_shared_from_this<Session> {
 public:
  explicit Session(tcp::socket socket) : socket_(std::move(socket)) {
    parser_.body_limit(64 << 20);
    parser_.header_limit(64 << 10);  // Of Hadoop's servers: hadoop.http.max.request.header.size.
  }

  void Read(const HttpStage::Play& play) {
    http::async_read(socket_, buffer_, parser_,
                     [self = shared_from_this(), play](const error_code& error, std::size_t) {
                       if (error) return;
                       const auto& request = self->parser_.get();
                       play({std::string(request.method_string()), std::string(request.target()),
                             request.body()},
                            [self](const StageReply& reply) { self->Write(reply); });
                     });
  }

 private:
  void Write(const StageReply& reply) {
    text_ = reply.before + "HTTP/1.1 " + std::to_string(reply.status) + " status\r\n";
    if (!reply.location.empty()) text_ += "Location: " + reply.location + "\r\n";
    text_ += "Content-Length: " + std::to_string(reply.body.size()) + "\r\n\r\n" + reply.body;
    if (reply.cut) text_.resize(text_.size() - reply.body.size() / 2);
    asio::async_write(socket_, asio::buffer(text_),
                      [self = shared_from_this()](const error_code&, std::size_t) {
                        error_code ignored;
                        self->socket_.shutdown(tcp::socket::shutdown_both, ignored);
                      });
  }

  tcp::socket socket_;
  boost::beast::flat_buffer buffer_;
  http::request_parser<http::string_body> parser_;
  std::string text_;
};

}  // namespace

class HttpStage::Server : public std::enable_shared_from_this<Server> {
 public:
  Server(asio::io_context& loop, Play play)
      : acceptor_(loop, {asio::ip::make_address("127.0.0.1"), 0}), play_(std::move(play)) {}

  void Accept() {
    acceptor_.async_accept(
        [self = shared_from_this()](const error_code& error, tcp::socket socket) {
          if (error) return;
          std::make_shared<Session>(std::move(socket))->Read(self->play_);
          self->Accept();
        });
  }
  void Close() { acceptor_.close(); }
  [[nodiscard]] std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

 private:
  tcp::acceptor acceptor_;
  Play play_;
};

HttpStage::HttpStage(asio::io_context& loop, Play play)
    : server_(std::make_shared<Server>(loop, std::move(play))) {
  server_->Accept();
}

HttpStage::~HttpStage() {
  server_->Close();
}

std::uint16_t HttpStage::port() const {
  return server_->port();
}

}  // namespace tfyarn::wire
