// A YARN cluster as a machine's host needs it: carries the calls of a client or an AM to the
// ResourceManager, and those of an AM to NodeManagers, over Hadoop's own RPC.
//
// Machines hold handles of tokens; the tokens themselves stay here. A call is repeated here only as
// long as another ResourceManager may be the active one: what to do about a cluster that does not
// answer is the machine's decision.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hosts/runtime/cluster.h"
#include "hosts/yarn/yarn_environment.h"
#include "wire/hadoop/credentials.h"
#include "wire/hadoop/ipc_client.h"
#include "wire/hadoop/token_store.h"
#include "wire/hadoop/yarn_codec.h"

namespace tfyarn::hosts {

struct YarnClusterOptions {
  std::vector<HostPort> clients;     ///< Of each RM: where clients call; empty for an AM.
  std::vector<HostPort> schedulers;  ///< Of each RM: where AMs call; empty for a client.
  std::string user;                  ///< Who a client is.
  std::string file_system;           ///< Authority of the HDFS in which paths of launches are.
  hadoop::Credentials credentials;   ///< An AM's own, with its token.
  hadoop::IpcOptions connection;
  /// Of an AM: where people find the report once it has unregistered; asked for only then, as it
  /// depends on which NameNode is active. Unset = nowhere.
  std::function<std::string()> report_address;
};

class YarnCluster : public Cluster {
 public:
  YarnCluster(boost::asio::io_context& loop, YarnClusterOptions options);

  void CallRm(yarn::RmRequest request, RmAnswer answer) override;
  void CallNm(const NodeId& node, const yarn::Token& token, yarn::NmRequest request,
              Secrets secrets, NmAnswer answer) override;

  /// For questions that no machine asks, see wire/hadoop/cluster_queries.h. Not for an AM.
  [[nodiscard]] hadoop::IpcClient& client() { return *client_; }

 private:
  /// One NodeManager; what it is called with is the newest token that the RM gave for it.
  struct Node {
    yarn::Token token;
    std::unique_ptr<hadoop::IpcClient> client;
  };

  void TakeToken(const yarn::RmResponse& response);
  [[nodiscard]] hadoop::IpcClient& ClientOf(const NodeId& node, const yarn::Token& token,
                                            const hadoop::HadoopToken& secret);
  [[nodiscard]] hadoop::LaunchTerms TermsFor(const std::string& identity) const;
  void AnswerLater(RmAnswer answer, yarn::RpcError error);
  void AnswerLater(NmAnswer answer, yarn::RpcError error);

  boost::asio::io_context& loop_;
  YarnClusterOptions options_;
  hadoop::FileSystemAddress file_system_;
  /// What containers are given of our own credentials: without the token that makes us the AM.
  hadoop::Credentials handed_on_;
  hadoop::TokenStore tokens_;
  yarn::Token am_rm_token_;  ///< The newest.
  std::unique_ptr<hadoop::IpcClient> client_;
  std::unique_ptr<hadoop::IpcClient> scheduler_;
  std::map<NodeId, Node> nodes_;
};

/// "host", "host:port" of hdfs://AUTHORITY/.
[[nodiscard]] hadoop::FileSystemAddress FileSystemOf(const std::string& authority);

}  // namespace tfyarn::hosts
