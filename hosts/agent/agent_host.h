// The world of one TaskAgent: its port, its channel to the AM, and the process of its task. It
// carries out what the machine orders and tells it what comes back; it decides nothing.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "core/agent/task_agent.h"
#include "core/model/agent.h"
#include "core/model/job_secrets.h"
#include "core/model/launch.h"
#include "hosts/agent/port_lease.h"
#include "hosts/agent/subreaper.h"
#include "hosts/agent/task_process.h"
#include "hosts/runtime/cluster.h"
#include "hosts/runtime/lifetime.h"
#include "hosts/runtime/machine_driver.h"
#include "hosts/runtime/rare_notes.h"
#include "hosts/runtime/recording.h"
#include "wire/channel_client.h"
#include "wire/identity.h"

namespace tfyarn::agent_host {

struct AgentHostOptions {
  AgentLaunch launch;
  std::string host;           ///< Name of this node as peers can reach it.
  std::string directory;      ///< Work directory of the task's processes.
  std::string log_directory;  ///< Of their stdout and stderr: worker-1.attempt-0.stdout.
  std::map<std::string, std::string> environment;  ///< Under what the core renders.
  std::vector<SecretValue> secrets;                ///< For what the core renders as stars.
  std::uint64_t seed = 0;
};

class AgentHost {
 public:
  struct Parts {
    boost::asio::io_context& loop;
    hosts::Storage& storage;
    hosts::Recorder& recorder;
    /// Last call: this process is to end with this code.
    std::function<void(std::int32_t code, const std::string& reason)> exit;
    /// What its log should say.
    std::function<void(const std::string&)> note;
  };

  /// `job` not null. Errors are events of the machine.
  AgentHost(std::shared_ptr<const JobSpec> job, AgentHostOptions options,
            const wire::Identity& identity, Parts parts);

  void Start();
  /// SIGTERM has come.
  void Terminate() { driver_.Tell(TerminationRequested{}); }
  [[nodiscard]] const agent::TaskAgent& machine() const { return machine_; }

 private:
  void CarryOut(AgentAction& action);
  void HideSecrets(AgentEvent& end) const;
  void TakePort();
  void Spawn(const SpawnProcess& order);
  void ProcessOver(AgentEvent end);
  void WatchPort();
  void LookAtPort();
  void ReadAddress();
  void WriteStacks(TaskAttempt attempt);
  /// `rendered`: what the task's framework and ours say in its environment.
  [[nodiscard]] static bool HoldsPortWhileRunning(
      const std::map<std::string, std::string>& rendered);

  std::shared_ptr<const JobSpec> job_;
  AgentHostOptions options_;
  Parts parts_;
  agent::TaskAgent machine_;
  hosts::MachineDriver<agent::TaskAgent, AgentEvent, AgentAction> driver_;
  Subreaper subreaper_;
  hosts::RareNotes losses_;
  wire::ChannelClient channel_;
  std::optional<Lease> lease_;
  std::unique_ptr<TaskProcess> process_;
  boost::asio::steady_timer port_watch_;
  hosts::Lifetime lifetime_;
};

}  // namespace tfyarn::agent_host
