// `tfyarn events`: what happened to a job, line by line.
#include <fmt/format.h>

#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <thread>
#include <utility>

#include "apps/cli/exit_codes.h"
#include "apps/cli/output.h"
#include "apps/yarn/application_watch.h"
#include "apps/yarn/cluster_access.h"
#include "apps/yarn/history_commands.h"
#include "apps/yarn/history_store.h"
#include "apps/yarn/kept_history.h"
#include "apps/yarn/whole_lines.h"
#include "config/diagnostics.h"
#include "hosts/yarn/history_paths.h"

namespace tfyarn::apps {
namespace {

constexpr Duration kEventsPoll = 1s;
constexpr std::size_t kLongestWords = 2'000;

/// Whole lines of one attempt's events, as far as they were shown.
struct Shown {
  std::uint64_t next = 0;  ///< Byte of the file behind the last whole line.
  std::uint64_t seq = 0;
};

/// What is new in `bytes`, for people or as it is. An append that was repeated is shown once.
std::string NewLines(std::string_view bytes, bool json, Shown& shown) {
  std::string text;
  shown.next += ForEachWholeLine(bytes, [&](std::string_view line) {
    const auto read = nlohmann::json::parse(line, nullptr, false);
    if (!read.is_object() || !read.contains("seq") || !read["seq"].is_number_unsigned() ||
        !read.contains("at") || !read["at"].is_number())
      return;
    const auto seq = read["seq"].get<std::uint64_t>();
    if (seq <= shown.seq) return;
    shown.seq = seq;
    if (json) {
      text += std::string(line) + "\n";
    } else if (const auto words = read.find("text"); words != read.end() && words->is_string()) {
      text += fmt::format("{:>10.2f}  {}\n", read["at"].get<double>(),
                          config::Printable(words->get<std::string>(), kLongestWords));
    }
  });
  return text;
}

/// Shows what is new of all attempts. Errors: those of HDFS; what is not there yet is none.
HistoryStore::Answer<void> ShowNew(HistoryStore& store, const ApplicationId& application, bool json,
                                   std::map<std::int32_t, Shown>& shown) {
  const auto attempts = store.Attempts(application);
  if (!attempts) return tl::unexpected(attempts.error());
  for (const std::int32_t attempt : *attempts) {
    const ApplicationAttemptId id{.application = application, .attempt = attempt};
    Shown& seen = shown[attempt];
    const auto size = store.Size(id, hosts::kEventsFile);
    if (!size && size.error().code != hdfs::HdfsErrorCode::kNotFound)
      return tl::unexpected(size.error());
    if (!size || *size <= seen.next) continue;
    const auto bytes = store.ReadRange(id, hosts::kEventsFile, seen.next, *size - seen.next);
    if (!bytes) return tl::unexpected(bytes.error());
    if (const auto written = cli::WriteStdout(NewLines(*bytes, json, seen)); !written) {
      return tl::unexpected(hdfs::HdfsError{.code = hdfs::HdfsErrorCode::kInvalidPath,
                                            .message = written.error().message});
    }
  }
  return {};
}

/// A ResourceManager that does not answer may come back.
bool MayGoOn(const ApplicationWatch& watch) {
  const auto seen = watch.Look();
  return seen ? !HasEnded(*seen) : MayPass(seen.error());
}

}  // namespace

int EventsCommand(const EventsArguments& arguments) {
  const auto application = ApplicationFrom(arguments.application);
  if (!application) return cli::ToInt(cli::ExitCode::kInvalidInput);
  const auto settings = LoadClusterSettings();
  if (!settings) return cli::ToInt(settings.error());
  HistoryStore store(*settings, arguments.user, arguments.directory);
  ClusterQuestions questions(*settings);
  const ApplicationWatch watch(questions, *application);
  std::map<std::int32_t, Shown> shown;
  HistoryStore::Answer<void> done;
  while (arguments.follow && MayGoOn(watch)) {
    done = ShowNew(store, *application, arguments.json, shown);
    if (!done && done.error().code != hdfs::HdfsErrorCode::kNotFound)
      return RefuseHistory(done.error(), store.directory());
    std::this_thread::sleep_for(kEventsPoll);
  }
  done = ShowNew(store, *application, arguments.json, shown);
  // An AM begins its history seconds after it has begun itself: a short job has ended by then.
  if (done || done.error().code == hdfs::HdfsErrorCode::kNotFound) {
    AwaitLastWord(store, questions, *application);
    done = ShowNew(store, *application, arguments.json, shown);
  }
  return done ? cli::ToInt(cli::ExitCode::kOk) : RefuseHistory(done.error(), store.directory());
}

}  // namespace tfyarn::apps
