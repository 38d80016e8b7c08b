#include "apps/yarn/history_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "apps/cli/exit_codes.h"
#include "apps/cli/output.h"
#include "apps/yarn/application_watch.h"
#include "apps/yarn/cluster_access.h"
#include "hosts/yarn/history_paths.h"

namespace tfyarn::apps {
namespace {

constexpr Duration kLongest = 30s;

wire::WebHdfsOptions OptionsFor(const config::HadoopSettings& settings) {
  wire::WebHdfsOptions options = HdfsOptions(settings);
  options.longest = kLongest;
  return options;
}

}  // namespace

int RefuseHistory(const hdfs::HdfsError& error, const std::string& directory) {
  const bool absent = error.code == hdfs::HdfsErrorCode::kNotFound;
  const bool denied = error.code == hdfs::HdfsErrorCode::kAccessDenied;
  cli::Complain(error.message);
  if (absent) {
    cli::Complain(
        fmt::format("there is no such history in {}; --user and --dir say where else it "
                    "may be, and `tfyarn history` lists what is there",
                    directory));
  } else if (denied) {
    cli::Complain("a history is for its owner alone");
  }
  return cli::ToInt(absent || denied ? cli::ExitCode::kInvalidInput : cli::ExitCode::kCluster);
}

HistoryStore::HistoryStore(const config::HadoopSettings& settings, const std::string& user,
                           const std::string& directory)
    : client_(loop_, OptionsFor(settings)),
      directory_(hosts::HistoryDirectory(directory, user.empty() ? settings.user : user)) {}

template <class T, class Call>
HistoryStore::Answer<T> HistoryStore::Wait(Call call) {
  std::optional<Answer<T>> result;
  call([&](Answer<T> answer) {
    result = std::move(answer);
    loop_.stop();
  });
  loop_.restart();
  loop_.run();
  return std::move(*result);
}

HistoryStore::Answer<hdfs::HdfsResponse> HistoryStore::Ask(hdfs::HdfsRequest request) {
  return Wait<hdfs::HdfsResponse>([&](auto answer) {
    client_.Call(std::move(request), [answer](hdfs::HdfsResponse response) {
      if (auto* error = std::get_if<hdfs::HdfsError>(&response))
        return answer(tl::unexpected(std::move(*error)));
      answer(std::move(response));
    });
  });
}

HistoryStore::Answer<std::vector<HistoryStore::Application>> HistoryStore::Applications() {
  const auto listed = Wait<std::vector<wire::WebHdfsFile>>(
      [&](auto answer) { client_.List(directory_, std::move(answer)); });
  if (!listed) return tl::unexpected(listed.error());
  std::vector<Application> applications;
  for (const wire::WebHdfsFile& file : *listed) {
    const auto id = ParseApplication(file.status.path.substr(file.status.path.rfind('/') + 1));
    if (id && file.status.directory)
      applications.push_back({.id = *id, .begun_ms = file.status.modification_time});
  }
  std::sort(applications.begin(), applications.end(),
            [](const Application& a, const Application& b) { return a.id > b.id; });
  return applications;
}

HistoryStore::Answer<std::vector<std::int32_t>> HistoryStore::Attempts(
    const ApplicationId& application) {
  const auto listed = Wait<std::vector<wire::WebHdfsFile>>([&](auto answer) {
    client_.List(directory_ + "/" + ToString(application), std::move(answer));
  });
  if (!listed) return tl::unexpected(listed.error());
  std::vector<std::int32_t> attempts;
  for (const wire::WebHdfsFile& file : *listed) {
    if (const auto attempt = hosts::AttemptOf(file.status.path)) attempts.push_back(*attempt);
  }
  std::sort(attempts.begin(), attempts.end());
  return attempts;
}

HistoryStore::Answer<std::string> HistoryStore::Read(const ApplicationAttemptId& attempt,
                                                     const std::string& file) {
  auto response = Ask(hdfs::ReadRequest{
      .path = hosts::AttemptDirectory(directory_, attempt) + "/" + file, .writer = {}});
  if (!response) return tl::unexpected(std::move(response.error()));
  return std::move(std::get<hdfs::ReadResponse>(*response).bytes);
}

HistoryStore::Answer<std::int64_t> HistoryStore::Size(const ApplicationAttemptId& attempt,
                                                      const std::string& file) {
  const auto response = Ask(hdfs::GetFileStatusRequest{
      .path = hosts::AttemptDirectory(directory_, attempt) + "/" + file});
  if (!response) return tl::unexpected(response.error());
  return std::get<hdfs::FileStatus>(*response).size;
}

}  // namespace tfyarn::apps
