// A cluster of fakes for real jobs: ResourceManager, NodeManagers and HDFS at ports of this
// machine, the configuration that leads clients to them, and orders by which parts of it fail.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/model/error.h"
#include "core/model/time.h"
#include "fakes/hdfs/name_node.h"
#include "fakes/server/call_fate.h"
#include "fakes/server/webhdfs_server.h"
#include "fakes/server/yarn_server.h"

namespace tfyarn::fakes {

struct FakeClusterOptions {
  std::filesystem::path folder;    ///< Absolute. Configuration in conf/, each node's files in nmN/.
  int nodes = 3;                   ///< 1 to 200, at 127.0.0.11 and on.
  std::vector<std::int32_t> gpus;  ///< Of each node; the last one counts for all further nodes.
  std::int64_t node_memory_mb = 8192;
  std::int32_t node_vcores = 32;
  Duration node_expiry = 15s;
  Duration am_expiry = 30s;
  std::string user;              ///< Owns HDFS.
  Duration preemption_notice{};  ///< From a queue's notice to the kill; 0: no queue takes back.
  bool kerberos = false;         ///< Wanted of clients, and not to be had.
  std::map<std::string, std::string> environment;  ///< PATH and the like, for containers.
};

class FakeCluster {
 public:
  /// `io` must outlive this.
  FakeCluster(boost::asio::io_context& io, FakeClusterOptions options);

  /// Errors: kUnavailable for a port that cannot be had or a file that cannot be written.
  [[nodiscard]] Expected<void> Start();
  [[nodiscard]] std::filesystem::path conf() const { return options_.folder / "conf"; }
  [[nodiscard]] std::string hdfs_address() const;

  /// Carries out one order, and says what there is to say. Errors: kInvalidArgument for one that is
  /// none, with those that there are.
  [[nodiscard]] Expected<std::string> Do(const std::string& line);
  /// One line for each order.
  [[nodiscard]] static std::string Help();

 private:
  using Words = std::vector<std::string>;
  using Said = Expected<std::string>;
  struct Order {
    std::string form;  ///< "drop-calls NAME N"
    std::string what;
    Said (FakeCluster::*run)(const Words&);
  };

  [[nodiscard]] static const std::vector<Order>& Orders();
  [[nodiscard]] Said Kill(const Words& words);
  [[nodiscard]] Said Begin(const Words& words);
  [[nodiscard]] Said Away(const Words& words);
  [[nodiscard]] Said DropCalls(const Words& words);
  [[nodiscard]] Said DropAnswers(const Words& words);
  [[nodiscard]] Said Delay(const Words& words);
  [[nodiscard]] Said Rules(const Words& words);
  [[nodiscard]] Said Clear(const Words& words);
  [[nodiscard]] Said Advance(const Words& words);
  [[nodiscard]] Said ExpireAm(const Words& words);
  [[nodiscard]] Said StopQueue(const Words& words);
  [[nodiscard]] Said StartQueue(const Words& words);
  [[nodiscard]] Said DenyQueue(const Words& words);
  [[nodiscard]] Said AllowQueue(const Words& words);
  [[nodiscard]] Said ExpireNode(const Words& words);
  [[nodiscard]] Said Full(const Words& words);
  [[nodiscard]] Said Quota(const Words& words);
  [[nodiscard]] Said Room(const Words& words);
  [[nodiscard]] Said Deny(const Words& words);
  [[nodiscard]] Said Allow(const Words& words);
  [[nodiscard]] Said SafeMode(const Words& words);
  [[nodiscard]] Said Nodes(const Words& words);

  [[nodiscard]] Expected<std::size_t> NodeIn(const std::string& name) const;
  [[nodiscard]] Expected<std::string> Directory(const std::string& text);
  [[nodiscard]] Said AddRule(const std::string& name, const std::string& count, CallFate fate);

  boost::asio::io_context& io_;
  const FakeClusterOptions options_;
  FaultRules rules_;
  NameNode files_;
  WebHdfsServer hdfs_;
  YarnServer yarn_;
  std::map<std::string, boost::asio::steady_timer> away_;
};

}  // namespace tfyarn::fakes
