#include "apps/yarn/log_sources.h"

#include <fmt/format.h>

#include <limits>
#include <memory>
#include <utility>

#include "wire/yarnweb/aggregated_log.h"

namespace tfyarn::apps {
namespace {

/// A file may grow so much while it is asked for.
constexpr std::uint64_t kGrowth = std::uint64_t{64} << 10;
constexpr int kMostTries = 8;
constexpr Duration kLongestHdfs = 15s;

Error Told(const std::string& web, unsigned status) {
  if (status == 401 || status == 403) {
    return {.code = ErrorCode::kFailedPrecondition,
            .message = fmt::format(
                "the NodeManager at {} does not show these logs by HTTP to this user (status {}): "
                "with yarn.acl.enable only the job's owner and those of `acl` see them",
                web, status)};
  }
  return {
      .code = ErrorCode::kNotFound,
      .message = fmt::format("the NodeManager at {} does not have them (status {})", web, status)};
}

Error NotReached(const std::string& why) {
  return {.code = ErrorCode::kUnavailable, .message = "a NodeManager does not answer: " + why};
}

std::string PathIn(const std::string& directory) {
  // "hdfs://NAMESERVICE/tmp/logs" is the default file system's, or none that is known here.
  const auto scheme = directory.find("://");
  if (scheme == std::string::npos) return directory;
  const auto path = directory.find('/', scheme + 3);
  return path == std::string::npos ? "/" : directory.substr(path);
}

}  // namespace

// ---------------------------------------------------------------- on nodes

std::vector<NodeLogs::Files> NodeLogs::List(const std::vector<ContainerPlace>& places) const {
  std::vector<Files> all(places.size());
  std::vector<wire::HttpRequest> requests;
  std::vector<std::size_t> asked;
  for (std::size_t i = 0; i < places.size(); ++i) {
    auto request = GetAt(places[i].web, wire::ContainerLogsTarget(places[i].container, user_));
    if (!request) {
      all[i] = tl::unexpected(request.error());
      continue;
    }
    requests.push_back(std::move(*request));
    asked.push_back(i);
  }
  const std::vector<WebAnswer> answers = AskWeb(std::move(requests));
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const ContainerPlace& place = places[asked[i]];
    Files& files = all[asked[i]];
    if (!answers[i]) {
      files = tl::unexpected(NotReached(answers[i].error().message));
    } else if (answers[i]->status != 200) {
      files = tl::unexpected(Told(place.web, answers[i]->status));
    } else if (auto list = wire::ParseContainerLogs(answers[i]->body)) {
      files = std::move(*list);
    } else {
      files = Fail(ErrorCode::kUnavailable, place.web + " answers with no list of logs");
    }
  }
  return all;
}

Expected<void> NodeLogs::Read(const ContainerPlace& place, const std::string& file,
                              std::uint64_t from, std::uint64_t size, const LogBytes& bytes) const {
  std::uint64_t asked = (size > from ? size - from : 0) + kGrowth;
  for (int tries = 0; tries < kMostTries; ++tries) {
    bool gap = false;
    wire::LogTailReader reader(asked, [&](std::uint64_t offset, std::string_view piece) {
      gap = gap || offset > from;
      if (!gap) bytes(offset, piece);
      from = std::max(from, gap ? from : offset + piece.size());
    });
    auto request = GetAt(place.web, wire::LogTailTarget(place.container, file, asked, user_));
    if (!request) return tl::unexpected(request.error());
    request->most_body = std::numeric_limits<std::int64_t>::max();
    bool good = true;
    request->take = [&](std::string_view piece) {
      good = reader.Take(piece);
      return good && !gap;
    };
    const WebAnswer answer = AskWeb(std::move(*request));
    if (gap) {
      asked = *reader.length() - from + kGrowth;
      continue;
    }
    if (!good) return Fail(ErrorCode::kUnavailable, place.web + " answers with no log");
    if (!answer) return tl::unexpected(NotReached(answer.error().message));
    if (answer->status != 200) return tl::unexpected(Told(place.web, answer->status));
    return {};
  }
  return Fail(ErrorCode::kUnavailable, file + " grows faster than it can be read");
}

// ---------------------------------------------------------------- in HDFS

CollectedLogs::CollectedLogs(const config::HadoopSettings& settings,
                             const ApplicationId& application, const std::string& owner)
    : hdfs_(settings, kLongestHdfs) {
  const std::string root = PathIn(settings.log_directory) + "/" + owner;
  const std::string id = ToString(application);
  const auto bucketed = [&](std::string_view format) {
    return fmt::format("{}/bucket-{}-{}/{:04}/{}", root, settings.log_directory_suffix, format,
                       application.id % 10'000, id);
  };
  // The second form is Hadoop's before 3.3.
  directories_ = {bucketed("tfile"),
                  fmt::format("{}/{}/{}", root, settings.log_directory_suffix, id)};
  unreadable_ = bucketed("ifile");
}

Expected<std::vector<CollectedLogs::Log>> CollectedLogs::List() {
  std::vector<Log> logs;
  bool found = false;
  for (const std::string& directory : directories_) {
    const auto files = hdfs_.List(directory);
    if (!files && files.error().code == hdfs::HdfsErrorCode::kNotFound) continue;
    if (!files) return Fail(ErrorCode::kUnavailable, directory + ": " + files.error().message);
    for (const wire::WebHdfsFile& file : *files) {
      const std::string& path = file.status.path;
      // What a NodeManager is still writing has another name.
      if (file.status.directory || path.ends_with(".tmp")) continue;
      found = true;
      const auto visited = Visit(path, static_cast<std::uint64_t>(file.status.size),
                                 [&](const Log& log) {
                                   logs.push_back(log);
                                   return false;
                                 },
                                 {});
      if (!visited) return tl::unexpected(visited.error());
    }
  }
  if (found) return logs;
  if (hdfs_.List(unreadable_)) {
    return Fail(ErrorCode::kFailedPrecondition,
                unreadable_ +
                    " has them in Hadoop's IndexedFile format, which is not read here: use `yarn "
                    "logs -applicationId`");
  }
  return Fail(ErrorCode::kNotFound, directories_.front() + " is not there");
}

Expected<void> CollectedLogs::Read(const Log& log, const LogBytes& bytes) {
  return Visit(
      log.path, log.path_size,
      [&](const Log& each) {
        return each.container == log.container && each.file.name == log.file.name;
      },
      bytes);
}

Expected<void> CollectedLogs::Visit(const std::string& path, std::uint64_t size,
                                    const std::function<bool(const Log&)>& wants,
                                    const LogBytes& bytes) {
  auto visited = wire::VisitAggregatedLog(
      size,
      [&](std::uint64_t offset, std::uint64_t length) -> Expected<std::string> {
        auto read = hdfs_.OpenRange(path, offset, length);
        if (read) return std::move(*read);
        return Fail(ErrorCode::kUnavailable, read.error().message);
      },
      {.wants =
           [&](const ContainerId& container, const wire::LogFile& file) {
             return wants({.path = path, .path_size = size, .container = container, .file = file});
           },
       .bytes = bytes});
  if (!visited) return Fail(visited.error().code, path + ": " + visited.error().message);
  return {};
}

}  // namespace tfyarn::apps
