// A whole YARN cluster of fakes at sockets of this machine: a ResourceManager with its two ports
// and NodeManagers that run real processes, in one thread. To a client it is Hadoop, byte for byte
// where these protocols go; there is no JVM, and it starts in no time.
//
// It lives in real time, and may be moved ahead: what would have happened meanwhile happens at
// once. HDFS is fakes/server/webhdfs_server.h. Not there: unmanaged AMs, aggregated logs, web
// pages, calls that core/model/yarn.h does not have, but for getApplications.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/model/time.h"
#include "fakes/server/ipc_server.h"
#include "fakes/server/node_server.h"
#include "fakes/server/token_office.h"
#include "fakes/yarn-rm/resource_manager.h"
#include "wire/hadoop/cluster_queries.h"
#include "wire/hadoop/credentials.h"

namespace tfyarn::fakes {

/// What only clients are told of an application again.
struct SubmittedApplication {
  hadoop::ApplicationDetails details;  ///< Without the report.
  hadoop::Credentials credentials;
};

struct YarnServerOptions {
  RmOptions rm;
  /// Their hosts are numeric addresses of this machine; a port of 0 is chosen by the system.
  std::vector<NmOptions> nodes;
  /// Containers' directories; made when needed, never removed.
  std::filesystem::path folder;
  /// Where containers' files come from, unless they are this machine's; nullptr: there is no HDFS.
  const NameNode* hdfs = nullptr;
  /// What every container gets besides: PATH and the like.
  std::map<std::string, std::string> environment;
  /// Clients have to prove who they are, and cannot: there are no tickets.
  bool kerberos = false;
};

class YarnServer {
 public:
  /// `io` must outlive this.
  YarnServer(boost::asio::io_context& io, YarnServerOptions options);
  ~YarnServer();
  YarnServer(const YarnServer&) = delete;
  YarnServer& operator=(const YarnServer&) = delete;

  /// Starts RM and nodes. Errors: kUnavailable when a port cannot be had.
  [[nodiscard]] Expected<void> Start();
  [[nodiscard]] const HostPort& client_address() const { return clients_.address(); }
  [[nodiscard]] const HostPort& master_address() const { return masters_.address(); }
  [[nodiscard]] const NodeId& node(std::size_t index) const { return nodes_.at(index)->id(); }

  /// As kill -9, and a start with what it had stored.
  void StopRm();
  [[nodiscard]] Expected<void> StartRm();
  /// As kill -9 of the NodeManager alone: processes run on.
  void StopNode(std::size_t index);
  [[nodiscard]] Expected<void> StartNode(std::size_t index);

  /// The cluster's clocks go ahead; what was due until then happens first. Processes live in real
  /// time.
  void Advance(Duration time);
  /// Says what becomes of every call from now on.
  void SetFate(FateOfCall fate) { fate_ = std::move(fate); }
  /// The queue takes no application from now on, or does again. `name`: as submissions have it.
  void SetStopped(const std::string& name, bool stopped);
  /// No user may submit to it from now on, or all may again.
  void SetDenied(const std::string& name, bool denied);
  /// Whether the RM runs and counts the node among those that do.
  [[nodiscard]] bool IsRunning(std::size_t index) const;
  /// The attempts of applications that have not ended, as their tokens name them.
  [[nodiscard]] std::vector<ApplicationAttemptId> Attempts() const;

 private:
  /// What the cluster's clocks show.
  [[nodiscard]] Instant Clock() const;
  /// For the next step of a machine: the same, or when what is being made up for was due.
  [[nodiscard]] Instant now();
  [[nodiscard]] std::optional<Instant> NextDeadline() const;
  void Pass(Instant until);
  void Arm();
  void Stepped();

  [[nodiscard]] yarn::RmResponse StepRm(const RmEvent& event);
  [[nodiscard]] yarn::RmResponse CallRm(const Caller& caller, const yarn::Token& token,
                                        yarn::RmRequest request);
  void CallNode(const RmCallNm& call);
  [[nodiscard]] NodeServer* Find(const NodeId& id);
  [[nodiscard]] std::string CredentialsOfAm(const ApplicationAttemptId& attempt) const;

  [[nodiscard]] tl::expected<std::string, hadoop::SaslRefusal> PasswordOf(
      const std::string& identifier) const;
  [[nodiscard]] IpcHandlers ClientHandlers();
  [[nodiscard]] IpcHandlers MasterHandlers();
  [[nodiscard]] IpcResult TakeSubmission(yarn::SubmitApplicationRequest& request,
                                         const std::string& user, const std::string& body);
  /// What a stopped queue changes of a call; nullopt: nothing.
  [[nodiscard]] std::optional<IpcResult> OfStoppedQueue(const yarn::RmRequest& request);
  /// Of every queue that there is.
  [[nodiscard]] std::string QueueRights() const;
  [[nodiscard]] IpcResult ListApplications(const std::string& body);
  [[nodiscard]] IpcResult OnClientCall(const IpcCaller& caller, const hadoop::CallRequest& call);
  [[nodiscard]] hadoop::ApplicationDetails DetailsOf(const yarn::ApplicationReport& report) const;
  [[nodiscard]] IpcResult OnMasterCall(const IpcCaller& caller, const hadoop::CallRequest& call);

  const YarnServerOptions options_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  Duration ahead_{};
  Instant passed_{};  ///< No machine was stepped later than this.
  bool passing_ = false;
  TokenOffice office_;
  FateOfCall fate_;
  std::unique_ptr<ResourceManager> rm_;
  std::optional<RmStateStore> stored_;
  std::shared_ptr<const TokenBook> book_;
  IpcServer clients_;
  IpcServer masters_;
  std::vector<std::unique_ptr<NodeServer>> nodes_;
  std::uint64_t next_call_ = 1;
  std::map<ApplicationId, SubmittedApplication> submitted_;
  std::set<std::string> stopped_queues_;
  std::set<std::string> denied_queues_;
  std::map<ApplicationId, std::string> rejected_;  ///< By stopped queues: their diagnostics.
  std::deque<std::function<void()>> todo_;
  bool doing_ = false;
  boost::asio::steady_timer timer_;
};

}  // namespace tfyarn::fakes
