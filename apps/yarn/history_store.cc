#include "apps/yarn/history_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "apps/cli/exit_codes.h"
#include "apps/cli/output.h"
#include "apps/yarn/application_watch.h"
#include "hosts/yarn/history_paths.h"

namespace tfyarn::apps {
namespace {

constexpr Duration kLongest = 30s;

/// What is written is for its user alone, as all that an AM writes.
config::HadoopSettings Private(config::HadoopSettings settings) {
  settings.umask = 077;
  return settings;
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
    : hdfs_(Private(settings), kLongest),
      directory_(hosts::HistoryDirectory(directory, user.empty() ? settings.user : user)) {}

std::string HistoryStore::PathOf(const ApplicationAttemptId& attempt,
                                 const std::string& file) const {
  return hosts::AttemptDirectory(directory_, attempt) + "/" + file;
}

HistoryStore::Answer<std::vector<HistoryStore::Application>> HistoryStore::Applications() {
  const auto listed = hdfs_.List(directory_);
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
  const auto listed = hdfs_.List(directory_ + "/" + ToString(application));
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
  return hdfs_.Open(PathOf(attempt, file));
}

HistoryStore::Answer<std::string> HistoryStore::ReadOfAll(const ApplicationId& application,
                                                          const std::string& file) {
  return hdfs_.Open(directory_ + "/" + ToString(application) + "/" + file);
}

HistoryStore::Answer<hdfs::Done> HistoryStore::WriteOfAll(const ApplicationId& application,
                                                          const std::string& file,
                                                          std::string bytes) {
  const std::string directory = directory_ + "/" + ToString(application);
  if (const auto made = hdfs_.Mkdirs(directory); !made) return made;
  return hdfs_.Create(directory + "/" + file, std::move(bytes));
}

HistoryStore::Answer<std::string> HistoryStore::ReadRange(const ApplicationAttemptId& attempt,
                                                          const std::string& file,
                                                          std::uint64_t offset,
                                                          std::uint64_t length) {
  return hdfs_.OpenRange(PathOf(attempt, file), offset, length);
}

HistoryStore::Answer<std::uint64_t> HistoryStore::Size(const ApplicationAttemptId& attempt,
                                                       const std::string& file) {
  const auto found = hdfs_.Status(PathOf(attempt, file));
  if (!found) return tl::unexpected(found.error());
  return static_cast<std::uint64_t>(found->status.size);
}

}  // namespace tfyarn::apps
