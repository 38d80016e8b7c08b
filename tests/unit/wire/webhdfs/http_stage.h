// An HTTP server for tests, in the test's own event loop: every request is shown to a function,
// which answers when it likes.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace tfyarn::wire {

struct StageRequest {
  std::string method;
  std::string target;
  std::string body;

  [[nodiscard]] bool Has(const std::string& text) const {
    return target.find(text) != std::string::npos;
  }
};

struct StageReply {
  unsigned status = 200;
  std::string body;
  std::string location;
  std::string before;  ///< Bytes in front of the answer.
  bool cut = false;    ///< The connection ends in the middle of the body.
};

class HttpStage {
 public:
  using Reply = std::function<void(StageReply)>;
  /// Never calling `reply` leaves the client waiting; dropping it ends the connection.
  using Play = std::function<void(StageRequest, Reply)>;

  HttpStage(boost::asio::io_context& loop, Play play);
  ~HttpStage();
  HttpStage(const HttpStage&) = delete;
  HttpStage& operator=(const HttpStage&) = delete;

  [[nodiscard]] std::uint16_t port() const;
  /// "http://127.0.0.1:PORT"
  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port()); }

 private:
  class Server;
  std::shared_ptr<Server> server_;
};

}  // namespace tfyarn::wire
