#include "wire/webhdfs/webhdfs_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>

#include "core/model/check.h"

namespace tfyarn::wire {
namespace {

using hdfs::HdfsErrorCode;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostExcluded = 8;

WebHdfsFailure Unavailable(std::string message, WebHdfsRemedy remedy) {
  return {.error = {.code = HdfsErrorCode::kUnavailable, .message = std::move(message)},
          .remedy = remedy};
}

}  // namespace

/// A call while it is under way.
struct WebHdfsCalls::Running {
  Running(boost::asio::io_context& loop, WebHdfsCall what, Done answer, Clock::time_point last)
      : call(std::move(what)), done(std::move(answer)), deadline(last), timer(loop) {}

  WebHdfsCall call;
  Done done;
  Clock::time_point deadline;
  boost::asio::steady_timer timer;
  std::shared_ptr<HttpExchange> exchange;
  Duration pause{};
  std::size_t asked_in_a_row = 0;     ///< NameNodes that were not the active one.
  std::vector<std::string> excluded;  ///< DataNodes that could not be reached.
  std::string data_node;              ///< The one that is asked now.
};

WebHdfsCalls::WebHdfsCalls(boost::asio::io_context& loop, WebHdfsOptions options)
    : loop_(loop), options_(std::move(options)) {
  TF_CHECK(!options_.name_nodes.empty());
}

void WebHdfsCalls::Run(WebHdfsCall call, Done done) {
  if (stopped_) return;
  auto running = std::make_shared<Running>(loop_, std::move(call), std::move(done),
                                           Clock::now() + options_.longest);
  running->pause = options_.pause_first;
  running_.insert(running);
  const std::string& path = running->call.path;
  if (!path.starts_with('/') || path.find('\0') != std::string::npos) {
    boost::asio::post(loop_, [self = shared_from_this(), running] {
      self->End(running, tl::unexpected(hdfs::HdfsError{
                             .code = HdfsErrorCode::kInvalidPath,
                             .message = "'" + running->call.path + "' is no absolute path"}));
    });
    return;
  }
  AskNameNode(running);
}

void WebHdfsCalls::Stop() {
  stopped_ = true;
  for (const RunningPtr& running : running_) {
    running->done = nullptr;
    running->timer.cancel();
    if (running->exchange) running->exchange->Stop();
  }
  running_.clear();
}

void WebHdfsCalls::End(const RunningPtr& running, tl::expected<HttpReply, hdfs::HdfsError> result) {
  running_.erase(running);
  if (running->done) std::exchange(running->done, nullptr)(std::move(result));
}

std::string WebHdfsCalls::Target(const Running& running) const {
  std::string target =
      fmt::format("/webhdfs/v1{}?op={}", EncodePath(running.call.path), running.call.operation);
  const auto add = [&](std::string_view name, std::string_view value) {
    target += fmt::format("&{}={}", name, EncodeQueryValue(value));
  };
  options_.delegation_token.empty() ? add("user.name", options_.user)
                                    : add("delegation", options_.delegation_token);
  for (const auto& [name, value] : running.call.parameters) add(name, value);
  if (!running.excluded.empty()) {
    std::string list;
    for (const std::string& each : running.excluded) list += (list.empty() ? "" : ",") + each;
    add("excludedatanodes", list);
  }
  return target;
}

HttpRequest WebHdfsCalls::RequestOf(const Running& running, HttpUrl url, bool with_data) const {
  const WebHdfsCall& call = running.call;
  HttpRequest request{.method = call.method,
                      .url = std::move(url),
                      .most_body = call.most_answer > 0 ? call.most_answer : options_.most_answer};
  if (with_data) {
    request.body = call.body;
    request.body_file = call.body_file;
    request.sink_file = call.sink_file;
  }
  return request;
}

void WebHdfsCalls::AskNameNode(const RunningPtr& running) {
  HttpUrl url{.server = name_node(), .target = Target(*running)};
  running->exchange = StartHttpExchange(
      loop_, options_.http, RequestOf(*running, std::move(url), false),
      [self = shared_from_this(), running](tl::expected<HttpReply, HttpFailure> reply) {
        if (!reply) {
          const bool local = reply.error().kind == HttpFailure::Kind::kLocal;
          return self->AfterFailure(
              running, Unavailable("NameNode " + reply.error().message,
                                   local ? WebHdfsRemedy::kNone : WebHdfsRemedy::kOtherNameNode));
        }
        running->asked_in_a_row = 0;
        if (running->call.with_data && reply->status == 307)
          return self->AskDataNode(running, reply->location);
        self->AfterReply(running, std::move(*reply));
      });
}

void WebHdfsCalls::AskDataNode(const RunningPtr& running, const std::string& location) {
  auto url = ParseHttpUrl(location);
  if (!url) return AfterFailure(running, Unavailable(url.error().message, WebHdfsRemedy::kNone));
  running->data_node = ToString(url->server);
  running->exchange = StartHttpExchange(
      loop_, options_.http, RequestOf(*running, std::move(*url), true),
      [self = shared_from_this(), running](tl::expected<HttpReply, HttpFailure> reply) {
        if (reply) return self->AfterReply(running, std::move(*reply));
        const HttpFailure& failure = reply.error();
        if (failure.kind == HttpFailure::Kind::kNotConnected &&
            running->excluded.size() < kMostExcluded)
          running->excluded.push_back(running->data_node);
        WebHdfsFailure known = Unavailable("DataNode " + failure.message, WebHdfsRemedy::kRepeat);
        if (failure.kind == HttpFailure::Kind::kLocal) {
          // It will be no better the next time.
          known = {.error = {.code = HdfsErrorCode::kInvalidPath, .message = failure.message}};
        }
        self->AfterFailure(running, std::move(known));
      });
}

void WebHdfsCalls::AfterReply(const RunningPtr& running, HttpReply reply) {
  if (reply.status == 200 || reply.status == 201) return End(running, std::move(reply));
  WebHdfsFailure failure = WebHdfsFailureOf(reply.status, reply.body);
  if (failure.remedy == WebHdfsRemedy::kWaitForWriter && running->call.only_writer)
    return End(running, std::move(reply));
  AfterFailure(running, std::move(failure));
}

void WebHdfsCalls::AfterFailure(const RunningPtr& running, WebHdfsFailure failure) {
  failure.error.message =
      fmt::format("{} {}: {}", running->call.operation, running->call.path, failure.error.message);
  Duration pause = running->pause;
  if (failure.remedy == WebHdfsRemedy::kOtherNameNode) {
    name_node_ = (name_node_ + 1) % options_.name_nodes.size();
    // Each of them once, without a pause.
    if (++running->asked_in_a_row < options_.name_nodes.size()) pause = Duration::zero();
  }
  const bool late = Clock::now() + pause > running->deadline;
  if (failure.remedy == WebHdfsRemedy::kNone || late)
    return End(running, tl::unexpected(std::move(failure.error)));
  if (pause > Duration::zero()) {
    running->asked_in_a_row = 0;
    running->pause = std::min(running->pause * 2, options_.pause_most);
  }
  running->timer.expires_after(pause);
  running->timer.async_wait(
      [self = shared_from_this(), running](const boost::system::error_code& cancelled) {
        if (!cancelled && running->done) self->AskNameNode(running);
      });
}

}  // namespace tfyarn::wire
