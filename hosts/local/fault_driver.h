// Makes the faults of a list real in a run on this machine: when each strikes it looks up which
// process runs what, injects the fault, and has its beginning and its end recorded.
//
// What it knows of the job it reads from the run's recordings, as any process could: the AM and the
// agents do not know that it exists. A task without a process is not hurt, as in the simulator.
//
// port_in_use needs a moment that does not occur by itself: a port is leased a few milliseconds
// before the task's process starts, and it must be taken between the two. So the AM stops (SIGSTOP)
// from the launch of a task's container until the port is taken, as no process can start then.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "config/scenario.h"
#include "core/model/ids.h"
#include "core/trace/record.h"
#include "hosts/local/fault_effects.h"
#include "hosts/local/fault_schedule.h"
#include "hosts/local/task_places.h"
#include "hosts/runtime/run_records.h"

namespace tfyarn::hosts {

class FaultDriver {
 public:
  struct World {
    boost::asio::io_context& loop;
    std::string recordings;  ///< Directory; read as it grows.
    std::string directory;   ///< The run's; its file system is the one that is filled.
    /// Root process of a container.
    std::function<std::optional<pid_t>(const ContainerId&)> process_of;
    /// Container of the job's AM.
    std::function<std::optional<ContainerId>()> am;
    /// Announces that the container will be taken, and takes it when the notice is over.
    std::function<void(const ContainerId&, Duration notice)> preempt;
    std::function<void()> kill_job;
    std::function<void(trace::Fact)> record;
    std::function<void(const std::string&)> complain;  ///< A fault that could not be done.
  };

  /// `faults`: as config::LoadRealFaults gives them for the job of that name.
  FaultDriver(std::string job, std::vector<config::FaultSpec> faults, World world);
  ~FaultDriver();
  FaultDriver(const FaultDriver&) = delete;
  FaultDriver& operator=(const FaultDriver&) = delete;

  /// `began`: what `at` counts from.
  void Start(Instant began);
  /// What this machine's cluster records, as it does.
  void Seen(const trace::Fact& fact);
  /// Nothing strikes any more; what lasts ends, unrecorded.
  void Finish();

 private:
  using Processes = std::vector<agent_host::ProcessInfo>;

  void LookAgain();
  void Look();
  void Follow(const trace::TraceRecord& record);
  void Carry(const FaultStrike& strike);
  void Begin(std::uint32_t fault, const config::FaultSpec& spec);
  void End(std::uint32_t fault);
  [[nodiscard]] std::vector<TaskId> Struck(const config::FaultSpec& spec) const;
  [[nodiscard]] std::string Describe(const config::FaultSpec& spec) const;
  [[nodiscard]] std::optional<pid_t> AgentOf(const TaskId& task) const;
  [[nodiscard]] std::optional<pid_t> MasterProcess() const;

  void HurtTask(std::uint32_t fault, const config::FaultSpec& spec, const TaskId& task,
                pid_t agent);
  void StopMaster(std::uint32_t fault);
  void Stop(std::uint32_t fault, const Processes& processes);
  void Fill(std::uint32_t fault, const config::FaultSpec& spec);

  void StealPorts();
  void StealPort(std::int32_t port);
  void LetMasterGoOn();

  std::string job_;
  std::vector<config::FaultSpec> faults_;
  World world_;
  std::optional<FaultSchedule> schedule_;
  RecordingsReader reader_;
  TaskPlaces places_;
  boost::asio::steady_timer timer_;
  std::map<std::uint32_t, Processes> stopped_;  ///< By fault.
  std::map<std::uint32_t, Ballast> ballast_;
  std::set<std::string> wanted_ports_;        ///< Of which tasks.
  std::map<ContainerId, Instant> launching_;  ///< Containers whose ports may be wanted.
  std::vector<agent_host::UniqueFd> stolen_;
  std::optional<agent_host::ProcessInfo> held_master_;
  bool over_ = false;
};

}  // namespace tfyarn::hosts
