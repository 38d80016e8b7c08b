// A read-only page on a job while it runs: one small HTTP server in the event loop.
//
// GET and HEAD only. Everything stands under a path that begins with a secret token, so that other
// users of the machine cannot look; links are relative, so that it works behind a proxy that puts a
// prefix in front. What comes from a job is sent as JSON or plain text and shown as text.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/model/error.h"
#include "core/model/ids.h"

namespace tfyarn::hosts {

/// The last lines of one stream of one attempt.
struct LogRequest {
  TaskId task;
  std::uint32_t attempt = 0;
  std::string stream;  ///< "stdout" or "stderr".
};

struct PageContent {
  std::function<std::string()> state;   ///< JSON, see LiveState.
  std::function<std::string()> report;  ///< The report so far, one HTML file.
  /// nullopt: there is no such log.
  std::function<std::optional<std::string>(const LogRequest&)> log;
};

class StatusPage {
 public:
  StatusPage(boost::asio::io_context& loop, PageContent content);
  ~StatusPage();
  StatusPage(const StatusPage&) = delete;
  StatusPage& operator=(const StatusPage&) = delete;

  /// Listens at the address `listen_on` of this machine (0.0.0.0: all), a free port. Returns the
  /// page's address under `host`, token included: the only name, beside localhost, by which it can
  /// be asked for. Errors: kUnavailable with the system's reason.
  [[nodiscard]] Expected<std::string> Listen(const std::string& listen_on, const std::string& host);

 private:
  class Server;
  std::shared_ptr<Server> server_;
};

}  // namespace tfyarn::hosts
