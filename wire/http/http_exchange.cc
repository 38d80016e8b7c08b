#include "wire/http/http_exchange.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>
#include <variant>

namespace tfyarn::wire {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using boost::system::error_code;
using Kind = HttpFailure::Kind;

constexpr std::uint32_t kMostHeaderBytes = 128 << 10;
constexpr int kMostInterim = 4;
constexpr std::size_t kPiece = std::size_t{64} << 10;

/// A file that is written piece by piece, and closed.
class Sink {
 public:
  Sink() = default;
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;
  ~Sink() { Close(); }

  [[nodiscard]] bool Open(const std::string& path) {
    file_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    return file_ >= 0;
  }
  [[nodiscard]] bool Write(const char* bytes, std::size_t size) {
    while (size > 0) {
      const ssize_t written = ::write(file_, bytes, size);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return false;
      bytes += written;
      size -= static_cast<std::size_t>(written);
    }
    return true;
  }
  /// False when what was written did not reach the file.
  bool Close() {
    const int file = std::exchange(file_, -1);
    return file < 0 || ::close(file) == 0;
  }

 private:
  int file_ = -1;
};

class Exchange : public HttpExchange, public std::enable_shared_from_this<Exchange> {
 public:
  Exchange(asio::io_context& loop, const HttpLimits& limits, HttpRequest request, Done done)
      : limits_(limits),
        request_(std::move(request)),
        done_(std::move(done)),
        resolver_(loop),
        resolving_(loop),
        stream_(loop) {}

  void Start() {
    asio::post(stream_.get_executor(), [self = shared_from_this()] {
      if (self->done_) self->Resolve();
    });
  }

  void Stop() override {
    done_ = nullptr;
    Close();
  }

 private:
  using StringRequest = http::request<http::string_body>;
  using FileRequest = http::request<http::file_body>;
  using HeaderParser = http::response_parser<http::empty_body>;
  using BodyParser = http::response_parser<http::buffer_body>;

  void Resolve() {
    error_code is_name;
    const auto address = asio::ip::make_address(request_.url.server.host, is_name);
    // An address needs no resolver, and Asio starts no thread to wait for one.
    if (!is_name)
      return Connect(
          asio::ip::tcp::endpoint(address, static_cast<std::uint16_t>(request_.url.server.port)));
    resolving_.expires_after(limits_.connect);
    resolving_.async_wait([self = shared_from_this()](const error_code& cancelled) {
      if (!cancelled && self->done_)
        self->FailWith(Kind::kNotConnected, "no name server knows the host within the time");
    });
    resolver_.async_resolve(
        request_.url.server.host, std::to_string(request_.url.server.port),
        [self = shared_from_this()](const error_code& error, const auto& found) {
          if (!self->done_) return;
          self->resolving_.cancel();
          if (error) return self->FailWith(Kind::kNotConnected, error.message());
          self->Connect(found);
        });
  }

  template <class Where>
  void Connect(const Where& where) {
    stream_.expires_after(limits_.connect);
    const auto connected = [self = shared_from_this()](const error_code& error, auto&&...) {
      if (!self->done_) return;
      if (error) return self->FailWith(Kind::kNotConnected, error.message());
      self->Send();
    };
    stream_.async_connect(where, connected);
  }

  template <class Request>
  void SetHeader(Request& request) {
    request.version(11);
    request.method_string(request_.method);
    request.target(request_.url.target);
    request.set(http::field::host, ToString(request_.url.server));
    request.set(http::field::accept, request_.accept);
    request.set(http::field::connection, "close");
    request.set(http::field::content_type, "application/octet-stream");
  }

  void Send() {
    if (request_.body_file.empty()) {
      StringRequest& request = to_send_.emplace<StringRequest>();
      SetHeader(request);
      request.body() = std::move(request_.body);
      request.content_length(request.body().size());
      return SendWith(request);
    }
    FileRequest& request = to_send_.emplace<FileRequest>();
    error_code failed;
    request.body().open(request_.body_file.c_str(), beast::file_mode::scan, failed);
    if (failed) {
      return FailWith(Kind::kLocal, request_.body_file + ": " + failed.message());
    }
    SetHeader(request);
    request.content_length(request.body().size());
    SendWith(request);
  }

  template <class Request>
  void SendWith(Request& request) {
    using Serializer = http::serializer<true, typename Request::body_type>;
    auto serializer = std::make_shared<Serializer>(request);
    serializer->limit(kPiece);
    SendPiece(std::move(serializer));
  }

  template <class Serializer>
  void SendPiece(std::shared_ptr<Serializer> serializer) {
    stream_.expires_after(limits_.silence);
    http::async_write_some(
        stream_, *serializer,
        [self = shared_from_this(), serializer](const error_code& error, std::size_t) {
          if (!self->done_) return;
          // A server that refuses says so before it has read everything: look for its answer.
          if (error || serializer->is_done()) {
            self->unsent_ = error;
            return self->ReadHeader();
          }
          self->SendPiece(serializer);
        });
  }

  void ReadHeader() {
    header_.emplace();
    header_->header_limit(kMostHeaderBytes);
    header_->body_limit(request_.most_body);
    stream_.expires_after(limits_.silence);
    http::async_read_header(stream_, buffer_, *header_,
                            [self = shared_from_this()](const error_code& error, std::size_t) {
                              if (!self->done_) return;
                              if (error == http::error::body_limit) return self->TooLong();
                              if (error) {
                                const error_code& first = self->unsent_ ? self->unsent_ : error;
                                return self->FailWith(Kind::kBroken, first.message());
                              }
                              self->BeginBody();
                            });
  }

  void BeginBody() {
    const auto& head = header_->get();
    reply_.status = head.result_int();
    // A DataNode says "100 Continue" though the client has not asked for it.
    if (reply_.status < 200 && ++interim_ <= kMostInterim) return ReadHeader();
    reply_.location = std::string(head[http::field::location]);
    reply_.date = std::string(head[http::field::date]);
    to_taker_ = request_.take && reply_.status == 200;
    to_file_ = !request_.sink_file.empty() && reply_.status == 200;
    if (to_file_ && !sink_.Open(request_.sink_file)) return FailToWrite();
    body_.emplace(std::move(*header_));
    body_->body_limit(request_.most_body);
    ReadBody();
  }

  void ReadBody() {
    if (body_->is_done()) return Finish();
    body_->get().body().data = piece_.data();
    body_->get().body().size = piece_.size();
    stream_.expires_after(limits_.silence);
    http::async_read_some(stream_, buffer_, *body_,
                          [self = shared_from_this()](error_code error, std::size_t) {
                            if (!self->done_) return;
                            if (error == http::error::need_buffer) error = {};
                            if (error == http::error::body_limit) return self->TooLong();
                            if (error && !self->body_->is_done())
                              return self->FailWith(Kind::kBroken, error.message());
                            self->TakePiece();
                          });
  }

  void TakePiece() {
    const std::size_t size = piece_.size() - body_->get().body().size;
    if (to_taker_) {
      if (!request_.take(std::string_view(piece_).substr(0, size)))
        return FailWith(Kind::kLocal, "the answer is not wanted any further");
    } else if (!to_file_) {
      reply_.body.append(piece_.data(), size);
    } else if (!sink_.Write(piece_.data(), size)) {
      return FailToWrite();
    }
    ReadBody();
  }

  void Finish() {
    if (to_file_ && !sink_.Close()) return FailToWrite();
    Close();
    std::exchange(done_, nullptr)(std::move(reply_));
  }

  void TooLong() {
    FailWith(Kind::kLocal, fmt::format("the answer has more than {} bytes", request_.most_body));
  }
  void FailToWrite() { FailWith(Kind::kLocal, request_.sink_file + ": " + std::strerror(errno)); }
  void FailWith(Kind kind, const std::string& why) {
    Close();
    std::exchange(done_, nullptr)(tl::unexpected(HttpFailure{
        .kind = kind, .message = fmt::format("{}: {}", ToString(request_.url.server), why)}));
  }
  void Close() {
    resolver_.cancel();
    resolving_.cancel();
    stream_.close();
    sink_.Close();
  }

  const HttpLimits limits_;
  HttpRequest request_;
  Done done_;  ///< Empty once it is over.
  asio::ip::tcp::resolver resolver_;
  asio::steady_timer resolving_;
  beast::tcp_stream stream_;
  std::variant<std::monostate, StringRequest, FileRequest> to_send_;
  error_code unsent_;
  beast::flat_buffer buffer_;
  std::optional<HeaderParser> header_;
  int interim_ = 0;
  std::optional<BodyParser> body_;
  std::string piece_ = std::string(kPiece, '\0');
  HttpReply reply_;
  Sink sink_;
  bool to_file_ = false;
  bool to_taker_ = false;
};

}  // namespace

std::shared_ptr<HttpExchange> StartHttpExchange(asio::io_context& loop, const HttpLimits& limits,
                                                HttpRequest request, HttpExchange::Done done) {
  auto exchange = std::make_shared<Exchange>(loop, limits, std::move(request), std::move(done));
  exchange->Start();
  return exchange;
}

}  // namespace tfyarn::wire
