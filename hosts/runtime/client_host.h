// The world of one JobClient: carries out what the machine orders and tells it what comes back.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/client/job_client.h"
#include "hosts/runtime/cluster.h"
#include "hosts/runtime/lifetime.h"
#include "hosts/runtime/machine_driver.h"
#include "hosts/runtime/recording.h"
#include "hosts/runtime/staging.h"

namespace tfyarn::hosts {

class ClientHost {
 public:
  using StagedAnswer = std::function<void(Expected<yarn::ContainerLaunchContext>)>;

  struct Parts {
    boost::asio::io_context& loop;
    Cluster& cluster;
    Storage& storage;
    Recorder& recorder;
    /// Brings what the agents need into the application's directory, and says how they are started.
    /// kUnavailable is tried again; any other error is the job's refusal.
    std::function<void(const std::string& directory, StagedAnswer)> stage;
    /// Every action, as it is carried out.
    std::function<void(const ClientAction&)> seen;
    /// Last call: the exit code of the whole.
    std::function<void(std::int32_t)> exit;
  };

  ClientHost(std::shared_ptr<const JobSpec> job, client::ClientOptions options, std::uint64_t seed,
             Parts parts);

  void Submit(SubmitRequested request) { driver_.Tell(std::move(request)); }
  void Kill(std::string reason) { driver_.Tell(KillRequested{.reason = std::move(reason)}); }
  [[nodiscard]] const client::ClientSnapshot& snapshot() const { return machine_.snapshot(); }

 private:
  void CarryOut(ClientAction& action);
  void Call(CallRm call);
  void Call(CallHdfs call);
  /// Before an application is submitted: its AM reads there what the client saw.
  void StageThenCall(CallRm submit);
  void StoreFactsThenCall(CallRm submit);
  /// What the job needs is not staged: the submission's answer comes from HDFS.
  void SubmissionFailed(const CallRm& submit, hdfs::HdfsError why);

  Parts parts_;
  client::JobClient machine_;
  MachineDriver<client::JobClient, ClientEvent, ClientAction> driver_;
  StagedFacts facts_;
  Lifetime lifetime_;
};

}  // namespace tfyarn::hosts
