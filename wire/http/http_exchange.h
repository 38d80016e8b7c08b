// One request over HTTP/1.1 and its answer, on a connection of its own.
//
// Bodies are in memory with a limit, stream from and to files of this machine, or are taken piece
// by piece. Nothing is followed, repeated or kept open: WebHDFS sends every second request to
// another host, and what may be repeated is its caller's to know. Boost.Beast stays in the .cc
// file.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "core/model/time.h"
#include "wire/http/http_url.h"

namespace tfyarn::wire {

struct HttpLimits {
  Duration connect = 20s;  ///< To find the host and be connected.
  Duration silence = 60s;  ///< Longest time in which nothing moves.
};

struct HttpRequest {
  std::string method;
  HttpUrl url;
  std::string body;
  std::string body_file;  ///< Not "": its bytes are the body.
  /// Not "": the body of a 200 goes there, into a new file that only its owner may read.
  std::string sink_file;
  /// Set: gets the body of a 200 as it comes, in place of HttpReply::body. False ends the exchange
  /// as kLocal.
  std::function<bool(std::string_view)> take;
  std::string accept = "*/*";                      ///< Media types of the answer.
  std::uint64_t most_body = std::size_t{1} << 20;  ///< Longest answer, in bytes.
};

struct HttpReply {
  unsigned status = 0;
  std::string location;
  std::string date;  ///< The server's clock, as in "Sun, 22 Nov 2026 04:31:24 GMT"; "" = not said.
  std::string body;  ///< "" when it went elsewhere.
};

struct HttpFailure {
  enum class Kind {
    kNotConnected,  ///< No server has seen the request.
    kBroken,        ///< It may have been carried out.
    kLocal,         ///< A file of this machine, or an answer longer than is allowed.
  };
  Kind kind = Kind::kBroken;
  std::string message;
};

class HttpExchange {
 public:
  using Done = std::function<void(tl::expected<HttpReply, HttpFailure>)>;

  virtual ~HttpExchange() = default;
  /// Ends it; `done` is not called.
  virtual void Stop() = 0;
};

/// `done` is called once, from the event loop and never from inside this call.
[[nodiscard]] std::shared_ptr<HttpExchange> StartHttpExchange(boost::asio::io_context& loop,
                                                              const HttpLimits& limits,
                                                              HttpRequest request,
                                                              HttpExchange::Done done);

}  // namespace tfyarn::wire
