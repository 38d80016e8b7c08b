// The world of one ApplicationMaster process: carries out what the machine orders and tells it what
// comes back. It decides nothing.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/am/application_master.h"
#include "core/model/am.h"
#include "core/model/channel.h"
#include "core/trace/record.h"
#include "hosts/runtime/cluster.h"
#include "hosts/runtime/journal_file.h"
#include "hosts/runtime/lifetime.h"
#include "hosts/runtime/machine_driver.h"

namespace tfyarn::hosts {

class AmHost {
 public:
  struct Parts {
    boost::asio::io_context& loop;
    Cluster& cluster;
    Storage& storage;
    /// Every event before its step, and every action of a step before any is carried out.
    std::function<void(Instant, trace::Fact)> record;
    /// To the agent in that container; lost when it is not connected.
    std::function<void(const ContainerId&, const AmToAgent&)> send;
    /// The secret by which a new container's agent proves its identity.
    std::function<std::string(const ContainerId&)> issue_identity;
    /// Last call: the process is to end with this code.
    std::function<void(std::int32_t)> exit;
  };

  /// `attempt`: which one this process is; `job` not null. Nothing happens before Start.
  AmHost(std::shared_ptr<const JobSpec> job, am::AmOptions options, std::uint64_t seed,
         const ApplicationAttemptId& attempt, Parts parts);

  void Start(AmStarted started) { driver_.Tell(std::move(started)); }
  void AgentSays(AgentToAm message) { driver_.Tell(AgentSaid{.message = std::move(message)}); }
  [[nodiscard]] const am::ApplicationMaster& machine() const { return machine_; }

 private:
  void CarryOut(AmAction& action);
  void Call(CallRm& call);
  void Call(CallNm& call);
  void Call(CallHdfs& call);

  Parts parts_;
  std::int32_t am_attempt_;
  am::ApplicationMaster machine_;
  MachineDriver<am::ApplicationMaster, AmEvent, AmAction> driver_;
  JournalFile journal_;
  Lifetime lifetime_;
};

}  // namespace tfyarn::hosts
