#include "apps/yarn/web_questions.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "apps/yarn/cluster_access.h"

namespace tfyarn::apps {
namespace {

/// Connections that are open at once.
constexpr std::size_t kMostAtOnce = 16;

constexpr unsigned kRedirected = 307;
/// Some daemons prefer XML.
constexpr const char* kAccept = "application/json, text/plain;q=0.9, */*;q=0.1";

}  // namespace

WebAnswer AskWeb(wire::HttpRequest request) {
  std::vector<wire::HttpRequest> requests;
  requests.push_back(std::move(request));
  return std::move(AskWeb(std::move(requests)).front());
}

std::vector<WebAnswer> AskWeb(std::vector<wire::HttpRequest> requests) {
  boost::asio::io_context loop;
  std::vector<WebAnswer> answers(requests.size());
  std::size_t next = 0;
  const std::function<void()> start = [&] {
    if (next == requests.size()) return;
    const std::size_t index = next++;
    // It lives until it has answered.
    (void)wire::StartHttpExchange(loop, kWebLimits, std::move(requests[index]),
                                  [&, index](WebAnswer answer) {
                                    answers[index] = std::move(answer);
                                    start();
                                  });
  };
  for (std::size_t i = 0; i < std::min(kMostAtOnce, requests.size()); ++i) start();
  loop.run();
  return answers;
}

Expected<wire::HttpRequest> GetAt(const std::string& web, std::string target) {
  auto url = wire::ParseHttpUrl("http://" + web);
  if (!url) return tl::unexpected(url.error());
  url->target = std::move(target);
  return wire::HttpRequest{.method = "GET", .url = std::move(*url), .accept = kAccept};
}

std::vector<WebAnswer> AskEachResourceManager(const config::HadoopSettings& settings,
                                              const std::string& target) {
  std::vector<wire::HttpRequest> requests;
  for (const config::ResourceManagerAddresses& manager : settings.resource_managers) {
    requests.push_back(
        {.method = "GET", .url = {.server = manager.web, .target = target}, .accept = kAccept});
  }
  return AskWeb(std::move(requests));
}

Expected<wire::HttpReply> AskResourceManager(const config::HadoopSettings& settings,
                                             const std::string& target) {
  std::string failures;
  const auto failed = [&](const std::string& why) {
    failures += (failures.empty() ? "" : "; ") + why;
  };
  for (const config::ResourceManagerAddresses& manager : settings.resource_managers) {
    const std::string web = ToString(manager.web);
    auto request = GetAt(web, target);
    if (!request) return tl::unexpected(request.error());
    WebAnswer answer = AskWeb(std::move(*request));
    if (answer && answer->status == kRedirected) {
      const auto active = wire::ParseHttpUrl(answer->location);
      if (!active) {
        failed(active.error().message);
        continue;
      }
      answer = AskWeb(wire::HttpRequest{.method = "GET", .url = *active, .accept = kAccept});
    }
    if (answer && answer->status == 200) return std::move(*answer);
    failed(answer ? fmt::format("{}: HTTP status {}", web, answer->status)
                  : answer.error().message);
  }
  return Fail(ErrorCode::kUnavailable,
              "the ResourceManager's web server gives no answer: " + failures);
}

HdfsQuestions::HdfsQuestions(const config::HadoopSettings& settings, Duration longest)
    : calls_(std::make_shared<wire::WebHdfsCalls>(
          loop_,
          [&] {
            wire::WebHdfsOptions options = HdfsOptions(settings);
            options.longest = longest;
            // A server that accepts and says nothing.
            const Duration least = std::max<Duration>(longest, 5s);
            options.http.connect = std::min(options.http.connect, least);
            options.http.silence = std::min(options.http.silence, least);
            return options;
          }())),
      operations_(calls_),
      quick_(std::make_shared<wire::QuickFiles>(operations_)) {}

template <class T, class Call>
HdfsQuestions::Result<T> HdfsQuestions::Await(Call&& call) {
  std::optional<Result<T>> answer;
  call([&](Result<T> result) {
    answer = std::move(result);
    loop_.stop();
  });
  loop_.restart();
  loop_.run();
  return std::move(*answer);
}

HdfsQuestions::Result<std::vector<wire::WebHdfsFile>> HdfsQuestions::List(
    const std::string& directory) {
  return Await<std::vector<wire::WebHdfsFile>>(
      [&](auto answer) { operations_.List(directory, std::move(answer)); });
}

HdfsQuestions::Result<std::string> HdfsQuestions::Open(const std::string& path) {
  return Await<std::string>([&](auto answer) { operations_.Open(path, std::move(answer)); });
}

HdfsQuestions::Result<std::string> HdfsQuestions::OpenStaged(const std::string& path) {
  return Await<std::string>([&](auto answer) { quick_->Read(path, std::move(answer)); });
}

HdfsQuestions::Result<wire::WebHdfsFile> HdfsQuestions::Status(const std::string& path) {
  return Await<wire::WebHdfsFile>(
      [&](auto answer) { operations_.Status(path, std::move(answer)); });
}

HdfsQuestions::Result<std::string> HdfsQuestions::OpenRange(const std::string& path,
                                                            std::uint64_t offset,
                                                            std::uint64_t length) {
  return Await<std::string>(
      [&](auto answer) { operations_.OpenRange(path, offset, length, std::move(answer)); });
}

HdfsQuestions::Result<hdfs::Done> HdfsQuestions::Mkdirs(const std::string& path) {
  return Await<hdfs::Done>([&](auto answer) { operations_.Mkdirs(path, std::move(answer)); });
}

HdfsQuestions::Result<hdfs::Done> HdfsQuestions::Create(const std::string& path,
                                                        std::string bytes) {
  return Await<hdfs::Done>(
      [&](auto answer) { operations_.Create(path, std::move(bytes), false, std::move(answer)); });
}

HdfsQuestions::Result<hdfs::Done> HdfsQuestions::Append(const std::string& path,
                                                        std::string bytes) {
  return Await<hdfs::Done>(
      [&](auto answer) { operations_.Append(path, std::move(bytes), std::move(answer)); });
}

HdfsQuestions::Result<bool> HdfsQuestions::Rename(const std::string& from, const std::string& to) {
  return Await<bool>([&](auto answer) { operations_.Rename(from, to, std::move(answer)); });
}

HdfsQuestions::Result<hdfs::Done> HdfsQuestions::Delete(const std::string& path, bool recursive) {
  return Await<hdfs::Done>(
      [&](auto answer) { operations_.Delete(path, recursive, std::move(answer)); });
}

}  // namespace tfyarn::apps
