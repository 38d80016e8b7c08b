// One fake NodeManager with its port, its files and real processes.
//
// Processes are the machine's, not the NodeManager's: one that is killed finds them again. Work and
// log directories are where a real one has them.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/model/time.h"
#include "fakes/server/container_processes.h"
#include "fakes/server/ipc_server.h"
#include "fakes/server/localizer.h"
#include "fakes/server/token_office.h"
#include "fakes/yarn-rm/messages.h"
#include "fakes/yarn-rm/node_manager.h"

namespace tfyarn::fakes {

struct NodeServerOptions {
  NmOptions machine;  ///< Its node's port is chosen by the system.
  /// Containers' directories are below; made when needed, never removed.
  std::filesystem::path folder;
  /// Where containers' files come from, unless they are this machine's; nullptr: there is no HDFS.
  const NameNode* hdfs = nullptr;
  /// Of the NodeManager's own, what containers get too. Source: yarn.nodemanager.env-whitelist.
  std::map<std::string, std::string> environment;
};

/// What a node needs of the cluster around it.
struct NodeServerLinks {
  std::function<Instant()> now;
  /// Carries a call to the RM; its answer comes by Step(RmAnswered).
  std::function<void(std::uint64_t id, yarn::RmRequest request)> call_rm;
  /// Something may be due at another time.
  std::function<void()> stepped;
  FateOfCall fate;
};

class NodeServer {
 public:
  /// `io` and `office` must outlive this.
  NodeServer(boost::asio::io_context& io, NodeServerOptions options, TokenOffice& office,
             NodeServerLinks links);
  NodeServer(const NodeServer&) = delete;
  NodeServer& operator=(const NodeServer&) = delete;

  /// The NodeManager starts, or starts again. `tokens`: of the RM.
  /// Errors: kUnavailable when its port cannot be had.
  [[nodiscard]] Expected<void> Start(std::shared_ptr<const TokenBook> tokens);
  /// As kill -9 of the NodeManager: its processes run on.
  void Stop();
  [[nodiscard]] bool running() const { return machine_ != nullptr; }
  [[nodiscard]] const NodeId& id() const { return options_.machine.node; }

  void Step(NmEvent event);
  [[nodiscard]] std::optional<Instant> next_deadline() const;

  /// A call that did not come over the port: the RM's. `credentials`: by container, encoded.
  [[nodiscard]] yarn::NmResponse Call(const Caller& caller, const yarn::Token& token,
                                      yarn::NmRequest request,
                                      const std::map<ContainerId, std::string>& credentials);

 private:
  struct Place {
    std::string user;
    std::string credentials;
    bool local_files = true;  ///< Paths are this machine's own.
    LocalLinks links;
  };

  [[nodiscard]] tl::expected<std::string, hadoop::SaslRefusal> PasswordOf(
      const std::string& identifier) const;
  [[nodiscard]] IpcResult OnCall(const IpcCaller& caller, const hadoop::CallRequest& call);
  [[nodiscard]] Expected<yarn::NmRequest> Decode(const hadoop::CallRequest& call,
                                                 const std::string& user);

  void Do(NmAction action);
  void Fetch(const Localize& order);
  void Fetched(const ContainerId& container, Expected<LocalLinks> links);
  void Run(const Launch& order);
  void Ended(const ContainerId& container, std::int32_t exit_status);
  void Done(const ContainerId& container);
  [[nodiscard]] std::filesystem::path WorkOf(const ContainerId& container) const;
  [[nodiscard]] std::filesystem::path LogOf(const ContainerId& container) const;

  boost::asio::io_context& io_;
  NodeServerOptions options_;
  TokenOffice& office_;
  const NodeServerLinks links_;
  IpcServer port_;
  ContainerProcesses processes_;
  Localizer localizer_;
  std::unique_ptr<NodeManager> machine_;
  NmState left_;                 ///< By one that was killed.
  std::vector<NmEvent> missed_;  ///< While none ran.
  std::deque<NmEvent> events_;   ///< Of the step that is under way.
  bool stepping_ = false;
  std::uint64_t next_call_ = 1;
  std::map<std::uint64_t, yarn::NmResponse> replies_;
  std::map<ContainerId, Place> places_;
};

}  // namespace tfyarn::fakes
