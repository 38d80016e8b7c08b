// One run of a job on this machine: the cluster that this machine is for it, the client that
// submits it, what the user sees meanwhile, and what is left at the end.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/cli/exit_codes.h"
#include "apps/cli/port_news.h"
#include "apps/local/arguments.h"
#include "apps/local/disk_reserve.h"
#include "apps/local/log_printer.h"
#include "apps/local/log_writer.h"
#include "apps/local/run_directory.h"
#include "apps/local/run_result.h"
#include "apps/local/status_line.h"
#include "config/load.h"
#include "hosts/local/fault_driver.h"
#include "hosts/local/gpus.h"
#include "hosts/local/local_cluster.h"
#include "hosts/local/local_storage.h"
#include "hosts/runtime/client_host.h"
#include "hosts/runtime/clock.h"
#include "hosts/runtime/live_state.h"
#include "hosts/runtime/run_records.h"
#include "hosts/runtime/status_page.h"

namespace tfyarn::local {

/// What a job may have of this machine.
struct Admission {
  Resource machine;   ///< What it has.
  Resource capacity;  ///< What the run's cluster has: no less than the tasks want, and the AM.
  hosts::GpuLocks gpus;
};

/// What the tasks of a job want together.
[[nodiscard]] Resource WantedBy(const JobSpec& job);

class LocalRun {
 public:
  /// Nothing runs before Run.
  LocalRun(const RunArguments& arguments, config::JobDocument job,
           std::vector<config::FaultSpec> faults, RunDirectory directory,
           const Admission& admission, const std::string& version);
  LocalRun(const LocalRun&) = delete;
  LocalRun& operator=(const LocalRun&) = delete;

  /// Runs to the end; the exit code.
  int Run();

 private:
  hosts::LocalRmOptions RmOptions(const Resource& capacity) const;
  hosts::LocalNodeOptions NodeOptions(const std::vector<std::string>& gpus) const;
  hosts::Recorder Record(hosts::Recorded who, const std::string& name, std::uint64_t seed,
                         std::string options);
  void MakeClient();
  void MakeFaults(std::vector<config::FaultSpec> faults);
  void Stage(const std::string& application_directory, const hosts::ClientHost::StagedAnswer& done);
  [[nodiscard]] Expected<void> StageFiles(const std::string& application_directory,
                                          yarn::ContainerLaunchContext& context) const;
  void WaitForSignals();
  void Interrupted(int signal);
  void ShowNow();
  void ShowLogs();
  [[nodiscard]] bool shows_logs() const { return !arguments_.quiet && !arguments_.json; }
  void TakeRecords();
  void OpenPage();
  void WriteAddress(const std::string& address);
  [[nodiscard]] std::optional<std::string> LogEnd(const hosts::LogRequest& asked) const;
  [[nodiscard]] RunOutcome Outcome() const;
  void ShowAgain();
  void ClientEnded(int code);
  void EndIfOver();
  /// Nothing of the job has been started, and nothing will be.
  void NotStarted(cli::ExitCode code, const std::string& why);
  int CleanUp();
  void LookAtDisk(bool finishing);
  int Finish();
  /// Waits for the reader of the logs; false: it takes nothing, and the user does not want to wait.
  [[nodiscard]] bool LogsAreWritten();

  const RunArguments& arguments_;
  config::JobDocument job_;
  std::shared_ptr<const JobSpec> spec_;
  RunDirectory directory_;
  std::string version_;
  std::optional<cli::ExitCode> not_started_;  ///< Before the recorders, whose opening may set it.
  boost::asio::io_context loop_;
  DiskReserve reserve_;
  hosts::LocalStorage storage_;
  hosts::Recorder cluster_recorder_;
  hosts::LocalCluster cluster_;
  hosts::Recorder client_recorder_;
  std::unique_ptr<hosts::ClientHost> client_;
  std::optional<hosts::FaultDriver> faults_;
  hosts::RecordingsReader records_;
  LogPrinter logs_;
  LogWriter log_writer_;
  StatusLine status_;
  cli::PortNews ports_;
  boost::asio::signal_set signals_;
  boost::asio::steady_timer show_;
  boost::asio::steady_timer last_;
  Instant began_ = hosts::Now();
  hosts::LiveState live_{*spec_, began_};
  std::unique_ptr<hosts::StatusPage> page_;
  std::optional<int> exit_code_;  ///< Of the client, once it has ended.
  int interrupts_ = 0;
};

}  // namespace tfyarn::local
