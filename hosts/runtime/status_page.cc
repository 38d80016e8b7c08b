#include "hosts/runtime/status_page.h"

#include <fmt/format.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <charconv>
#include <map>
#include <random>
#include <string_view>
#include <utility>

#include "core/model/host_port.h"
#include "reports/live_page.h"

namespace tfyarn::hosts {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;
using boost::asio::ip::tcp;
using boost::system::error_code;

constexpr std::size_t kMostConnections = 64;
constexpr std::uint32_t kMostHeaderBytes = 16 << 10;
constexpr std::chrono::seconds kRequestTime{10};
constexpr std::chrono::seconds kIdleTime{30};
constexpr std::chrono::milliseconds kAcceptPause{200};

using Request = http::request<http::empty_body>;
using Response = http::response<http::string_body>;

std::string NewToken() {
  std::random_device entropy;
  std::string token;
  for (int i = 0; i < 4; ++i) token += fmt::format("{:08x}", entropy());
  return token;
}

/// Takes as long for every wrong one.
bool SameToken(std::string_view given, std::string_view token) {
  unsigned char differs = given.size() == token.size() ? 0 : 1;
  for (std::size_t i = 0; i < token.size(); ++i) {
    const char other = i < given.size() ? given[i] : '\0';
    differs = static_cast<unsigned char>(differs | (other ^ token[i]));
  }
  return differs == 0;
}

/// "a=1&b=2"; values are plain words here, so nothing is decoded.
std::map<std::string, std::string> QueryOf(std::string_view query) {
  std::map<std::string, std::string> values;
  while (!query.empty()) {
    const auto end = query.find('&');
    const std::string_view pair = query.substr(0, end);
    const auto equals = pair.find('=');
    if (equals != std::string_view::npos)
      values.emplace(pair.substr(0, equals), pair.substr(equals + 1));
    query.remove_prefix(end == std::string_view::npos ? query.size() : end + 1);
  }
  return values;
}

std::optional<LogRequest> LogRequestFrom(std::string_view query) {
  auto values = QueryOf(query);
  const auto task = ParseTaskId(values["task"]);
  LogRequest request{.stream = values["stream"]};
  const std::string& digits = values["attempt"];
  const char* end = digits.data() + digits.size();
  const auto [stop, failed] = std::from_chars(digits.data(), end, request.attempt);
  if (!task || failed != std::errc{} || stop != end) return std::nullopt;
  if (request.stream != "stdout" && request.stream != "stderr") return std::nullopt;
  request.task = *task;
  return request;
}

constexpr const char* kPagePolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
/// The report is one file with its script and style in it.
constexpr const char* kReportPolicy =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

}  // namespace

class StatusPage::Server : public std::enable_shared_from_this<StatusPage::Server> {
 public:
  Server(boost::asio::io_context& loop, PageContent content)
      : content_(std::move(content)), acceptor_(loop), pause_(loop), token_(NewToken()) {}

  Expected<std::string> Listen(const std::string& listen_on, const std::string& host);
  void Close();
  [[nodiscard]] Response Answer(const Request& request) const;
  void Ended() { --connections_; }
  [[nodiscard]] bool open() const { return acceptor_.is_open(); }

 private:
  class Session;

  void Accept();
  [[nodiscard]] Response Page(const Request& request, std::string_view path,
                              std::string_view query) const;
  [[nodiscard]] bool IsForUs(const Request& request) const;

  PageContent content_;
  tcp::acceptor acceptor_;
  boost::asio::steady_timer pause_;
  std::string token_;
  std::string hosts_;
  std::size_t connections_ = 0;
};

/// One connection: requests and answers in turn.
class StatusPage::Server::Session : public std::enable_shared_from_this<Session> {
 public:
  Session(tcp::socket socket, std::shared_ptr<Server> server)
      : stream_(std::move(socket)), server_(std::move(server)) {}
  ~Session() { server_->Ended(); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void Read(std::chrono::seconds time) {
    if (!server_->open()) return;
    parser_.emplace();
    parser_->header_limit(kMostHeaderBytes);
    parser_->body_limit(0);
    stream_.expires_after(time);
    http::async_read(stream_, buffer_, *parser_,
                     [self = shared_from_this()](const error_code& error, std::size_t) {
                       if (!error) self->Write();
                     });
  }

 private:
  void Write() {
    response_ = server_->Answer(parser_->get());
    stream_.expires_after(kRequestTime);
    http::async_write(stream_, response_,
                      [self = shared_from_this()](const error_code& error, std::size_t) {
                        if (!error && self->response_.keep_alive()) self->Read(kIdleTime);
                      });
  }

  beast::tcp_stream stream_;
  std::shared_ptr<Server> server_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::empty_body>> parser_;
  Response response_;
};

Expected<std::string> StatusPage::Server::Listen(const std::string& listen_on,
                                                 const std::string& host) {
  error_code failed;
  const auto address = boost::asio::ip::make_address(listen_on, failed);
  if (!failed) acceptor_.open(address.is_v6() ? tcp::v6() : tcp::v4(), failed);
  if (!failed) acceptor_.bind({address, 0}, failed);
  if (!failed) acceptor_.listen(tcp::socket::max_listen_connections, failed);
  if (failed) {
    return Fail(ErrorCode::kUnavailable,
                fmt::format("the page cannot listen at {}: {}", listen_on, failed.message()));
  }
  const std::int32_t port = acceptor_.local_endpoint().port();
  const std::string authority = ToString(HostPort{.host = host, .port = port});
  hosts_ = fmt::format(" {} localhost:{} ", authority, port);
  Accept();
  return fmt::format("http://{}/{}/", authority, token_);
}

void StatusPage::Server::Close() {
  error_code ignored;
  acceptor_.close(ignored);
  pause_.cancel();
}

void StatusPage::Server::Accept() {
  acceptor_.async_accept([self = shared_from_this()](const error_code& error, tcp::socket socket) {
    if (!self->open()) return;
    if (error || self->connections_ >= kMostConnections) {
      self->pause_.expires_after(kAcceptPause);
      self->pause_.async_wait([self](const error_code& cancelled) {
        if (!cancelled) self->Accept();
      });
      return;
    }
    ++self->connections_;
    std::make_shared<Session>(std::move(socket), self)->Read(kRequestTime);
    self->Accept();
  });
}

/// A page of another site that found the port has another name in Host.
bool StatusPage::Server::IsForUs(const Request& request) const {
  const auto host = request[http::field::host];
  return hosts_.find(fmt::format(" {} ", std::string_view(host.data(), host.size()))) !=
         std::string::npos;
}

Response StatusPage::Server::Answer(const Request& request) const {
  const std::string_view target(request.target().data(), request.target().size());
  const auto mark = target.find('?');
  const std::string_view path = target.substr(0, mark);
  const std::string_view query =
      mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1);
  Response response = Page(request, path, query);
  response.version(request.version());
  response.keep_alive(request.keep_alive());
  response.set("Cache-Control", "no-store");
  response.set("Referrer-Policy", "no-referrer");
  response.set("X-Content-Type-Options", "nosniff");
  response.prepare_payload();
  if (request.method() == http::verb::head) response.body().clear();
  return response;
}

Response StatusPage::Server::Page(const Request& request, std::string_view path,
                                  std::string_view query) const {
  const auto plain = [](http::status status, std::string text) {
    Response response(status, 11);
    response.set(http::field::content_type, "text/plain; charset=utf-8");
    response.body() = std::move(text);
    return response;
  };
  const auto typed = [](const char* type, std::string text, const char* policy) {
    Response response(http::status::ok, 11);
    response.set(http::field::content_type, type);
    response.set("Content-Security-Policy", policy);
    response.body() = std::move(text);
    return response;
  };
  if (request.method() != http::verb::get && request.method() != http::verb::head) {
    Response response = plain(http::status::method_not_allowed, "this page is read-only\n");
    response.set(http::field::allow, "GET, HEAD");
    return response;
  }
  const std::string_view inside = path.substr(std::min<std::size_t>(1, path.size()));
  const auto slash = inside.find('/');
  if (!IsForUs(request) || slash == std::string_view::npos ||
      !SameToken(inside.substr(0, slash), token_))
    return plain(http::status::not_found, "not found\n");
  const std::string_view name = inside.substr(slash + 1);
  const reports::LivePage& page = reports::BuiltInLivePage();
  if (name.empty()) return typed("text/html; charset=utf-8", std::string(page.html), kPagePolicy);
  if (name == "live.js") {
    return typed("text/javascript; charset=utf-8", std::string(page.script), kPagePolicy);
  }
  if (name == "live.css")
    return typed("text/css; charset=utf-8", std::string(page.style), kPagePolicy);
  if (name == "state.json") return typed("application/json", content_.state(), kPagePolicy);
  if (name == "report.html")
    return typed("text/html; charset=utf-8", content_.report(), kReportPolicy);
  if (name == "log") {
    const auto asked = LogRequestFrom(query);
    const auto text = asked ? content_.log(*asked) : std::nullopt;
    if (text) return plain(http::status::ok, *text);
  }
  return plain(http::status::not_found, "not found\n");
}

StatusPage::StatusPage(boost::asio::io_context& loop, PageContent content)
    : server_(std::make_shared<Server>(loop, std::move(content))) {}

StatusPage::~StatusPage() {
  server_->Close();
}

Expected<std::string> StatusPage::Listen(const std::string& listen_on, const std::string& host) {
  return server_->Listen(listen_on, host);
}

}  // namespace tfyarn::hosts
