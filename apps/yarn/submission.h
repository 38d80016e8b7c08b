// One job on its way to a YARN cluster and, when a user waits for it, to its end.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "apps/yarn/away_watch.h"
#include "apps/yarn/history_watch.h"
#include "apps/yarn/progress_lines.h"
#include "apps/yarn/submit_command.h"
#include "config/hadoop_settings.h"
#include "config/load.h"
#include "hosts/runtime/client_host.h"
#include "hosts/runtime/recording.h"
#include "hosts/yarn/hdfs_staging.h"
#include "hosts/yarn/hdfs_storage.h"
#include "hosts/yarn/yarn_cluster.h"

namespace tfyarn::apps {

/// "10m", "90s".
[[nodiscard]] std::string TimeoutText(Duration timeout);

class Submission {
 public:
  Submission(const SubmitArguments& arguments, config::JobDocument job,
             const config::HadoopSettings& settings, std::string version);

  /// Returns the exit code.
  [[nodiscard]] int Run();

 private:
  void ProvideRuntime();
  void RuntimeProvided(Expected<yarn::LocalResource> runtime);
  void MakeClient(const yarn::LocalResource& runtime);
  void Seen(const ClientAction& action);
  void WaitForSignals();
  /// Looks at what the client knows, and says what is new.
  void ShowProgress();
  /// Reads in the history what the running job waits for, and which tasks do not listen.
  void LookAtHistory(const yarn::ApplicationReport& report);
  /// Says which part of the cluster leaves it without an answer; gives up on one that stays silent.
  void ShowWhoIsAway();
  [[nodiscard]] bool IsAccepted() const;
  /// The client has ended.
  void ClientEnded(std::int32_t code);
  void Say(const std::string& text) const;
  void End(int code);
  [[nodiscard]] int Finish() const;
  /// Of a job that YARN has ended, as no AM says its last word.
  void KeepEndInHistory() const;
  [[nodiscard]] std::string ApplicationText() const;

  SubmitArguments arguments_;
  config::JobDocument job_;
  std::shared_ptr<const JobSpec> spec_;
  config::HadoopSettings settings_;
  std::string version_;
  std::string user_;
  std::string scratch_;  ///< The directory for temporary files.
  hosts::YarnAddresses addresses_;
  boost::asio::io_context loop_;
  hosts::HdfsStorage storage_;
  hosts::YarnCluster cluster_;
  hosts::HdfsStaging staging_;
  AwayWatch away_;
  WatchedCluster watched_cluster_;
  WatchedStorage watched_storage_;
  hosts::Recorder recorder_;  ///< Of nothing: what happened to the job, its AM knows.
  std::unique_ptr<hosts::ClientHost> client_;
  boost::asio::signal_set signals_;
  boost::asio::steady_timer show_;
  boost::asio::steady_timer runtime_again_;
  AwayWatch::Clock::time_point begun_ = AwayWatch::Clock::now();
  int interrupts_ = 0;
  ProgressLines lines_;
  HistoryWatch history_;
  std::optional<AwayWatch::Clock::time_point> next_look_ = begun_;  ///< nullopt: one is under way.
  std::optional<ApplicationId> application_;
  std::optional<int> exit_code_;
};

}  // namespace tfyarn::apps
