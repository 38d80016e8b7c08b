// Brings an AM process up: finds what the client staged, makes or finds the application's
// certificate authority, opens the channel for agents, and starts the machine.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/am/am_options.h"
#include "core/model/ids.h"
#include "core/model/job_spec.h"
#include "hosts/runtime/am_host.h"
#include "hosts/runtime/cluster.h"
#include "hosts/runtime/lifetime.h"
#include "hosts/runtime/rare_notes.h"
#include "hosts/runtime/recording.h"
#include "hosts/runtime/staging.h"
#include "wire/channel_server.h"
#include "wire/identity.h"

namespace tfyarn::hosts {

struct AmProcessOptions {
  ContainerId container;              ///< Its own; says which attempt of which application it is.
  std::string host;                   ///< Name or address under which agents reach this machine.
  std::string listen_on = "0.0.0.0";  ///< Address of this machine; 0.0.0.0: all.
  am::AmOptions am;                   ///< `surveyed` and `agent_context` are the client's to say.
  std::uint64_t seed = 0;
  std::string version;    ///< Of this program, for the recording.
  std::string recording;  ///< File; "" = none.
  std::string job_file;   ///< Its text, for the recording.
};

class AmProcess {
 public:
  struct Parts {
    boost::asio::io_context& loop;
    Cluster& cluster;
    Storage& storage;
    std::function<void(std::int32_t)> exit;  ///< Last call.
    /// All that its machine is told and orders, idle heartbeats included; may be empty.
    std::function<void(Instant, const trace::Fact&)> observe;
    std::function<void(const std::string&)> note;  ///< What its log should say.
  };

  AmProcess(std::shared_ptr<const JobSpec> job, AmProcessOptions options, Parts parts);

  /// Storage that does not answer is asked again each second; only what can never work calls
  /// `exit`.
  void Start();

 private:
  void ReadFacts();
  void ReadAuthority();
  void StoreAuthority();
  void OpenChannel();
  void StartMachine(std::int32_t port);
  /// Takes `step` again in a second, if that may help.
  void Retry(void (AmProcess::*step)(), const hdfs::HdfsError& error);
  /// Calls storage; what it answers after this object's end goes nowhere.
  void Ask(hdfs::HdfsRequest request, Storage::Answer answer);
  void Fail(const std::string& why);
  [[nodiscard]] std::string PathOf(std::string_view file) const;

  std::shared_ptr<const JobSpec> job_;
  AmProcessOptions options_;
  Parts parts_;
  ApplicationAttemptId attempt_;
  StagedFacts facts_;
  std::optional<wire::CertificateAuthority> authority_;
  std::unique_ptr<wire::ChannelServer> channel_;
  RareNotes refusals_;
  Recorder recorder_;
  std::unique_ptr<AmHost> host_;
  boost::asio::steady_timer again_;
  Lifetime lifetime_;
};

}  // namespace tfyarn::hosts
