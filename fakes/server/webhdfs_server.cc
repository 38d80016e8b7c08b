#include "fakes/server/webhdfs_server.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "fakes/server/listen.h"
#include "fakes/server/wall_clock.h"
#include "fakes/server/webhdfs_request.h"

namespace tfyarn::fakes {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;
using boost::asio::ip::tcp;
using boost::system::error_code;

/// From a connection's begin to its end: on one machine no file takes that long.
constexpr std::chrono::minutes kLongest{10};
constexpr std::uint64_t kMostBody = std::uint64_t{2} << 30;
/// Source: hadoop.http.max.request.header.size; an attribute stands in the target.
constexpr std::uint32_t kMostHeader = 65536;
constexpr std::uint32_t kDirectoryPermission = 0755;
constexpr std::uint32_t kFilePermission = 0644;
constexpr unsigned kCreated = 201;
constexpr unsigned kRedirect = 307;
constexpr unsigned kUnauthorized = 401;
constexpr char kOctets[] = "application/octet-stream";
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

WebHdfsAnswer Plain() {
  return {.content_type = kOctets};
}

/// `make(*told)`, or its exception.
template <class T, class Make>
WebHdfsAnswer AnswerOf(const NameNode::Told<T>& told, Make make) {
  return told ? make(*told) : ExceptionAnswer(told.error());
}

WebHdfsAnswer UnknownOperation(const WebHdfsRequest& request) {
  return ExceptionAnswer(
      {.name = "java.lang.IllegalArgumentException",
       .message = fmt::format("Invalid value for webhdfs parameter \"op\": \"{}\" "
                              "is no operation for {} here",
                              request.operation(), request.method)});
}

bool WithData(const WebHdfsRequest& request) {
  const std::string operation = request.operation();
  return (request.method == "PUT" && operation == "CREATE") ||
         (request.method == "POST" && operation == "APPEND") ||
         (request.method == "GET" && operation == "OPEN");
}

}  // namespace

class WebHdfsServer::Core : public std::enable_shared_from_this<Core> {
 public:
  Core(boost::asio::io_context& io, std::string host, NameNode& files, FateOfCall fate)
      : io_(io),
        address_{.host = std::move(host)},
        files_(files),
        fate_(std::move(fate)),
        listening_(io) {}

  Expected<void> Open();
  void Close();

  class Session;

  void Accept();
  [[nodiscard]] WebHdfsAnswer Redirect(const WebHdfsRequest& request) const;
  [[nodiscard]] WebHdfsAnswer Get(const WebHdfsRequest& request) const;
  [[nodiscard]] WebHdfsAnswer Change(const WebHdfsRequest& request);
  [[nodiscard]] WebHdfsAnswer Answer(const WebHdfsRequest& request);
  [[nodiscard]] NameNode::Told<HdfsStream> OpenStream(const WebHdfsRequest& request);

  boost::asio::io_context& io_;
  HostPort address_;
  NameNode& files_;
  const FateOfCall fate_;
  ListeningPort listening_;
  bool wants_kerberos_ = false;
  std::set<std::shared_ptr<Session>> sessions_;
};

// ---------------------------------------------------------------- one request

class WebHdfsServer::Core::Session : public std::enable_shared_from_this<Session> {
 public:
  Session(Core& core, tcp::socket socket)
      : core_(core.shared_from_this()), stream_(std::move(socket)), pause_(core.io_) {
    parser_.body_limit(kMostBody);
    parser_.header_limit(kMostHeader);
    stream_.expires_after(kLongest);
  }

  void Start() {
    http::async_read_header(stream_, buffer_, parser_,
                            [self = shared_from_this()](const error_code& failed, std::size_t) {
                              if (failed || self->ended_) return self->End();
                              self->Begin();
                            });
  }
  void Break() {
    if (std::exchange(ended_, true)) return;
    error_code ignored;
    // Without this the peer could still read what it was answered.
    stream_.socket().set_option(boost::asio::socket_base::linger(true, 0), ignored);
    stream_.socket().close(ignored);
    pause_.cancel();
  }

 private:
  void Begin() {
    const auto& head = parser_.get();
    request_ = ParseWebHdfsRequest(std::string(head.method_string()), std::string(head.target()));
    if (core_->wants_kerberos_) {
      answer_ = {
          .status = kUnauthorized, .body = "Authentication required", .content_type = "text/html"};
      response_.set(http::field::www_authenticate, "Negotiate");
      return Write();
    }
    const bool data = WithData(request_);
    // The first of two steps is not what a rule is about.
    if (core_->fate_ && (!data || request_.AtDataNode()))
      fate_ = core_->fate_({.name = request_.operation(), .attempt = {}});
    if (!fate_.take_in) return BreakAndEnd();
    if (!data || !request_.AtDataNode() || request_.method == "GET") return ReadBody();
    opened_ = core_->OpenStream(request_);
    // A DataNode says so when it has begun, asked or not.
    boost::asio::async_write(stream_, boost::asio::buffer(kContinue),
                             [self = shared_from_this()](const error_code&, std::size_t) {
                               if (!self->ended_) self->ReadBody();
                             });
  }

  void ReadBody() {
    http::async_read(stream_, buffer_, parser_,
                     [self = shared_from_this()](const error_code& failed, std::size_t) {
                       if (self->ended_) return;
                       if (!failed) return self->Do();
                       if (self->opened_ && *self->opened_)
                         (void)self->core_->files_.WriteAndClose(
                             WallNow(), **self->opened_, std::move(self->parser_.get().body()));
                       self->End();
                     });
  }

  void Do() {
    if (!opened_) {
      answer_ = core_->Answer(request_);
    } else if (!*opened_) {
      answer_ = ExceptionAnswer(opened_->error());
    } else {
      const auto written =
          core_->files_.WriteAndClose(WallNow(), **opened_, std::move(parser_.get().body()));
      answer_ = !written ? ExceptionAnswer(written.error()) : Plain();
      if (written && request_.method == "PUT") answer_.status = kCreated;
    }
    if (!fate_.answer) return BreakAndEnd();
    if (fate_.answer_after <= Duration::zero()) return Write();
    pause_.expires_after(fate_.answer_after);
    pause_.async_wait([self = shared_from_this()](const error_code& cancelled) {
      if (!cancelled && !self->ended_) self->Write();
    });
  }

  void Write() {
    response_.result(answer_.status);
    response_.version(11);
    response_.keep_alive(false);
    response_.set(http::field::content_type, answer_.content_type);
    response_.set(http::field::date, fmt::format("{:%a, %d %b %Y %H:%M:%S GMT}",
                                                 fmt::gmtime(std::chrono::system_clock::to_time_t(
                                                     std::chrono::system_clock::now()))));
    if (!answer_.location.empty()) response_.set(http::field::location, answer_.location);
    response_.body() = std::move(answer_.body);
    response_.prepare_payload();
    http::async_write(stream_, response_,
                      [self = shared_from_this()](const error_code&, std::size_t) {
                        error_code ignored;
                        self->stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
                        self->End();
                      });
  }

  void BreakAndEnd() {
    Break();
    core_->sessions_.erase(shared_from_this());
  }
  void End() {
    if (std::exchange(ended_, true)) return;
    error_code ignored;
    stream_.socket().close(ignored);
    core_->sessions_.erase(shared_from_this());
  }

  std::shared_ptr<Core> core_;
  beast::tcp_stream stream_;
  boost::asio::steady_timer pause_;
  beast::flat_buffer buffer_;
  http::request_parser<http::string_body> parser_;
  WebHdfsRequest request_;
  CallFate fate_;
  std::optional<NameNode::Told<HdfsStream>> opened_;
  WebHdfsAnswer answer_;
  http::response<http::string_body> response_;
  bool ended_ = false;
};

// ---------------------------------------------------------------- the port

Expected<void> WebHdfsServer::Core::Open() {
  if (auto opened = listening_.Open(address_); !opened) return opened;
  Accept();
  return {};
}

void WebHdfsServer::Core::Close() {
  listening_.Close();
  const auto sessions = std::move(sessions_);
  sessions_.clear();
  for (const auto& session : sessions) session->Break();
}

void WebHdfsServer::Core::Accept() {
  listening_.acceptor().async_accept(
      [self = shared_from_this()](const error_code& failed, tcp::socket socket) {
        if (failed || !self->listening_.acceptor().is_open()) return;
        const auto session = std::make_shared<Session>(*self, std::move(socket));
        self->sessions_.insert(session);
        session->Start();
        self->Accept();
      });
}

// ---------------------------------------------------------------- operations

/// Source: NamenodeWebHdfsMethods.redirectURI, chooseDatanode: of what is read or appended to, the
/// NameNode looks whether it is there.
WebHdfsAnswer WebHdfsServer::Core::Redirect(const WebHdfsRequest& request) const {
  const std::string user = request.User();
  if (request.operation() == "APPEND") {
    if (auto found = files_.StatusFor(user, request.path); !found)
      return ExceptionAnswer(found.error());
  } else if (request.operation() == "OPEN") {
    auto found = files_.ReadFor(user, request.path, request.Number("offset").value_or(0), 0);
    if (!found) return ExceptionAnswer(found.error());
  }
  return {.status = kRedirect,
          .content_type = kOctets,
          .location = fmt::format("http://{0}{1}&namenoderpcaddress={0}", ToString(address_),
                                  request.target)};
}

WebHdfsAnswer WebHdfsServer::Core::Get(const WebHdfsRequest& request) const {
  const std::string operation = request.operation();
  const std::string user = request.User();
  if (operation == "OPEN") {
    return AnswerOf(files_.ReadFor(user, request.path, request.Number("offset").value_or(0),
                                   request.Number("length")),
                    [](const std::string& bytes) {
                      return WebHdfsAnswer{.body = bytes, .content_type = kOctets};
                    });
  }
  if (operation == "GETFILESTATUS")
    return AnswerOf(files_.StatusFor(user, request.path), StatusAnswer);
  if (operation == "LISTSTATUS") return AnswerOf(files_.ListFor(user, request.path), ListAnswer);
  if (operation == "GETXATTRS" && request.Parameter("encoding") == "hex")
    return AnswerOf(files_.AttributesFor(user, request.path), AttributesAnswer);
  return UnknownOperation(request);
}

WebHdfsAnswer WebHdfsServer::Core::Change(const WebHdfsRequest& request) {
  const std::string operation = request.operation();
  const std::string user = request.User();
  if (request.method == "DELETE" && operation == "DELETE") {
    return AnswerOf(files_.DeleteFor(WallNow(), user, request.path, request.Flag("recursive")),
                    BooleanAnswer);
  }
  if (request.method != "PUT") return UnknownOperation(request);
  if (operation == "RENAME") {
    return AnswerOf(
        files_.RenameFor(WallNow(), user, request.path, request.Parameter("destination")),
        BooleanAnswer);
  }
  if (operation == "MKDIRS") {
    const auto made =
        files_.MkdirsFor(WallNow(), user, request.path, request.Permission(kDirectoryPermission));
    return made ? BooleanAnswer(true) : ExceptionAnswer(made.error());
  }
  if (operation == "SETXATTR") {
    const auto bytes = AttributeBytes(request.Parameter("xattr.value"));
    if (!bytes) return UnknownOperation(request);
    const auto set =
        files_.SetAttributeFor(user, request.path, request.Parameter("xattr.name"), *bytes);
    return set ? Plain() : ExceptionAnswer(set.error());
  }
  if (operation == "SETPERMISSION") {
    const auto set =
        files_.SetPermissionFor(user, request.path, request.Permission(kDirectoryPermission));
    return set ? Plain() : ExceptionAnswer(set.error());
  }
  return UnknownOperation(request);
}

WebHdfsAnswer WebHdfsServer::Core::Answer(const WebHdfsRequest& request) {
  if (request.path.empty())
    return {.status = 404, .body = "this is HDFS: /webhdfs/v1/...\n", .content_type = "text/plain"};
  if (WithData(request) && !request.AtDataNode()) return Redirect(request);
  return request.method == "GET" ? Get(request) : Change(request);
}

NameNode::Told<HdfsStream> WebHdfsServer::Core::OpenStream(const WebHdfsRequest& request) {
  if (request.method == "POST") return files_.AppendFor(request.User(), request.path);
  return files_.CreateFor(WallNow(), request.User(), request.path, request.Flag("overwrite"),
                          request.Permission(kFilePermission));
}

WebHdfsServer::WebHdfsServer(boost::asio::io_context& io, std::string host, NameNode& files,
                             FateOfCall fate)
    : core_(std::make_shared<Core>(io, std::move(host), files, std::move(fate))) {}

WebHdfsServer::~WebHdfsServer() {
  core_->Close();
}

Expected<void> WebHdfsServer::Open() {
  return core_->Open();
}

void WebHdfsServer::Close() {
  core_->Close();
}

void WebHdfsServer::DemandKerberos() {
  core_->wants_kerberos_ = true;
}

std::uint16_t WebHdfsServer::port() const {
  return static_cast<std::uint16_t>(core_->address_.port);
}

}  // namespace tfyarn::fakes
