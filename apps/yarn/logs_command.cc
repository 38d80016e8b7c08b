#include "apps/yarn/logs_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "apps/cli/exit_codes.h"
#include "apps/cli/output.h"
#include "apps/yarn/application_watch.h"
#include "apps/yarn/cluster_access.h"
#include "apps/yarn/container_places.h"
#include "apps/yarn/log_output.h"
#include "apps/yarn/log_sources.h"

namespace tfyarn::apps {
namespace {

using hadoop::ApplicationDetails;
using Clock = std::chrono::steady_clock;

constexpr Duration kLogsPoll = 1s;
/// NodeManagers collect logs within that time of an application's end.
constexpr Duration kCollecting = 30s;

class LogsRun {
 public:
  LogsRun(const LogsArguments& arguments, const config::HadoopSettings& settings,
          const ApplicationId& application)
      : arguments_(arguments),
        settings_(settings),
        application_(application),
        cluster_(settings),
        watch_(cluster_, application),
        nodes_(settings.user),
        places_(settings, cluster_, nodes_, application),
        output_({.json = arguments.json,
                 .color = cli::ColorOn(STDOUT_FILENO),
                 .tail = arguments.tail}) {}

  int Run() {
    Clock::time_point answered = Clock::now();
    while (true) {
      const auto seen = watch_.Look();
      const bool wait = !seen && arguments_.follow && MayPass(seen.error()) &&
                        Clock::now() - answered < kLongestSilence;
      if (!seen && !wait) return Refuse(seen.error());
      if (seen) {
        answered = Clock::now();
        FromNodes();
        if (output_.failed()) return cli::ToInt(cli::ExitCode::kInternal);
        if (HasEnded(*seen)) return AfterTheEnd(*seen);
        if (!arguments_.follow) return Finish(WhyNothingYet(*seen));
      }
      std::this_thread::sleep_for(kLogsPoll);
    }
  }

 private:
  struct Found {
    TaskLog log;
    ContainerPlace place;
  };

  /// Shows what is new on the nodes.
  void FromNodes() {
    const std::vector<ContainerPlace> places = places_.Find();
    const std::vector<NodeLogs::Files> lists = nodes_.List(places);
    missing_.clear();
    asked_.clear();
    std::vector<Found> found;
    for (std::size_t i = 0; i < places.size(); ++i) {
      asked_.insert(places[i].container);
      if (!lists[i] || lists[i]->empty()) {
        missing_[places[i].container] =
            lists[i] ? fmt::format("the NodeManager at {} has no logs of it", places[i].web)
                     : lists[i].error().message;
        continue;
      }
      for (TaskLog& log : NameLogs(places[i].container, *lists[i])) {
        if (Wanted(log)) found.push_back({.log = std::move(log), .place = places[i]});
      }
    }
    std::sort(found.begin(), found.end(),
              [](const Found& a, const Found& b) { return a.log < b.log; });
    for (const Found& each : found) Show(each);
    known_ = places.size();
  }

  bool Wanted(const TaskLog& log) {
    if (log.stream == LogStream::kStdout) tasks_.insert(log.task);
    return arguments_.selection.Has(log);
  }

  void Show(const Found& each) {
    shown_.insert(each.log.container);
    const std::uint64_t next = output_.Next(each.log);
    if (each.log.file.size > next) {
      const auto read = nodes_.Read(each.place, each.log.file.name, next, each.log.file.size,
                                    [&](std::uint64_t offset, std::string_view bytes) {
                                      // Before `next` stands what is not wanted.
                                      if (offset + bytes.size() <= next) return;
                                      if (offset < next) bytes.remove_prefix(next - offset);
                                      output_.Add(each.log, std::max(offset, next), bytes);
                                    });
      if (!read) missing_[each.log.container] = read.error().message;
    }
    output_.CaughtUp(each.log, !arguments_.follow);
  }

  /// What nodes do not have (any more) lies in HDFS, or will soon.
  int AfterTheEnd(const ApplicationDetails& application) {
    // The AMs' own logs name all containers.
    if (known_ > 0 && missing_.empty()) return Finish("");
    CollectedLogs collected(settings_, application_, application.user);
    const Clock::time_point end = Clock::now() + WaitFor(application);
    while (true) {
      const auto problem = FromHdfs(collected);
      if (!problem && missing_.empty()) return Finish("");
      const bool final = problem && problem->code != ErrorCode::kNotFound;
      if (final || output_.failed() || Clock::now() >= end)
        return Finish(problem ? WhyNothing(*problem) : "");
      std::this_thread::sleep_for(kLogsPoll);
      FromNodes();
    }
  }

  /// The clocks of this machine and of the ResourceManager may differ.
  [[nodiscard]] Duration WaitFor(const ApplicationDetails& application) const {
    if (!settings_.log_aggregation) return Duration::zero();
    const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::system_clock::now().time_since_epoch());
    const Duration since = now - std::chrono::milliseconds(application.finished_ms);
    return std::clamp(kCollecting - since, Duration::zero(), kCollecting);
  }

  /// nullopt: all that is there was shown.
  std::optional<Error> FromHdfs(CollectedLogs& collected) {
    const auto logs = collected.List();
    if (!logs) return logs.error();
    std::map<ContainerId, std::vector<const CollectedLogs::Log*>> containers;
    for (const CollectedLogs::Log& log : *logs) containers[log.container].push_back(&log);
    LearnFrom(collected, *logs);
    for (const ContainerPlace& place : places_.Known()) {
      if (!asked_.contains(place.container))
        missing_.try_emplace(place.container, "its node has not moved its logs to HDFS yet");
    }
    std::vector<std::pair<TaskLog, const CollectedLogs::Log*>> found;
    for (const auto& [container, files] : containers) {
      missing_.erase(container);
      std::vector<wire::LogFile> list;
      for (const CollectedLogs::Log* log : files) list.push_back(log->file);
      for (TaskLog& log : NameLogs(container, list)) {
        if (!Wanted(log)) continue;
        const auto at = std::find_if(files.begin(), files.end(), [&](const auto* each) {
          return each->file.name == log.file.name;
        });
        found.emplace_back(std::move(log), *at);
      }
    }
    std::sort(found.begin(), found.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    std::optional<Error> problem;
    for (const auto& [log, where] : found) {
      if (auto read = ReadCollected(collected, log, *where); !read) problem = read.error();
      if (output_.failed()) break;
    }
    return problem;
  }

  /// Where an AM's log has left its node before others left theirs, it still tells of them.
  void LearnFrom(CollectedLogs& collected, const std::vector<CollectedLogs::Log>& logs) {
    for (const CollectedLogs::Log& log : logs) {
      const auto read = places_.ReadOf(log.container);
      if (!read || log.file.name != "stderr" || log.file.size <= *read) continue;
      // What cannot be read now is read the next time.
      (void)collected.Read(log, [&](std::uint64_t offset, std::string_view bytes) {
        places_.TakeAmLog(log.container, offset, bytes);
      });
    }
  }

  Expected<void> ReadCollected(CollectedLogs& collected, const TaskLog& log,
                               const CollectedLogs::Log& where) {
    shown_.insert(log.container);
    const std::uint64_t next = output_.Next(log);
    Expected<void> read;
    if (log.file.size > next) {
      read = collected.Read(where, [&](std::uint64_t offset, std::string_view bytes) {
        if (offset + bytes.size() <= next) return;
        if (offset < next) bytes.remove_prefix(next - offset);
        output_.Add(log, std::max(offset, next), bytes);
      });
    }
    output_.CaughtUp(log, !arguments_.follow);
    return read;
  }

  [[nodiscard]] std::string WhyNothingYet(const ApplicationDetails& application) const {
    if (application.report.state != yarn::YarnApplicationState::kRunning) {
      return fmt::format("{} has not started yet: `tfyarn status` says what it waits for",
                         ToString(application_));
    }
    return places_.problem().empty() ? "no task has such a log yet" : places_.problem();
  }

  [[nodiscard]] std::string WhyNothing(const Error& problem) const {
    if (problem.code != ErrorCode::kNotFound) return problem.message;
    if (!settings_.log_aggregation) {
      return "log aggregation is off in this configuration (yarn.log-aggregation-enable): nodes "
             "keep logs for a while (yarn.nodemanager.log.retain-seconds) and then delete them";
    }
    return problem.message +
           ": the logs were not collected, or are not kept any longer "
           "(yarn.log-aggregation.retain-seconds), or this configuration's "
           "yarn.nodemanager.remote-app-log-dir is not the cluster's";
  }

  int Finish(const std::string& why) {
    output_.End();
    if (output_.failed()) return cli::ToInt(cli::ExitCode::kInternal);
    for (const auto& [container, reason] : missing_) {
      cli::Complain(fmt::format("logs of {} are not there: {}", ToString(container), reason));
    }
    if (!missing_.empty() && !why.empty()) cli::Complain(why);
    if (!shown_.empty()) return cli::ToInt(cli::ExitCode::kOk);
    if (missing_.empty()) {
      cli::Complain(tasks_.empty() ? fmt::format("{} has no such logs{}{}", ToString(application_),
                                                 why.empty() ? "" : ": ", why)
                                   : fmt::format("{} has no such logs; there are those of {}",
                                                 ToString(application_), Tasks()));
    }
    return cli::ToInt(cli::ExitCode::kNothingSelected);
  }

  [[nodiscard]] std::string Tasks() const {
    constexpr std::size_t kMost = 10;
    std::string text;
    std::size_t count = 0;
    for (const std::string& task : tasks_) {
      if (count++ == kMost) return text + ", ...";
      text += (text.empty() ? "" : ", ") + task;
    }
    return text;
  }

  const LogsArguments& arguments_;
  const config::HadoopSettings& settings_;
  ApplicationId application_;
  ClusterQuestions cluster_;
  ApplicationWatch watch_;
  NodeLogs nodes_;
  ContainerPlaces places_;
  LogOutput output_;
  std::map<ContainerId, std::string> missing_;  ///< Why their nodes do not show their logs.
  std::set<ContainerId> asked_;                 ///< At their nodes, the last time.
  std::set<ContainerId> shown_;
  std::set<std::string> tasks_;  ///< That have logs, wanted or not.
  std::size_t known_ = 0;
};

}  // namespace

int LogsCommand(const LogsArguments& arguments) {
  const auto application = ApplicationFrom(arguments.application);
  if (!application) return cli::ToInt(cli::ExitCode::kInvalidInput);
  const auto settings = LoadClusterSettings();
  if (!settings) return cli::ToInt(settings.error());
  return LogsRun(arguments, *settings, *application).Run();
}

}  // namespace tfyarn::apps
