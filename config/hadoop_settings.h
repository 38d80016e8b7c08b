// What a client of a Hadoop cluster has to know before its first call: addresses, how callers prove
// who they are, and how long to try.
//
// Made of a HadoopConfiguration all at once, so that a cluster's configuration is found wrong
// before anything is started. Addresses are as they are written; no name is looked up here.
// Source: HAUtil, RMHAUtils and YarnConfiguration for the ResourceManager, DFSUtilClient and HAUtil
// of HDFS for the NameNode (Hadoop 3.4).
#pragma once

#include <cstdint>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "config/diagnostics.h"
#include "config/hadoop_configuration.h"
#include "core/model/error.h"
#include "core/model/host_port.h"
#include "core/model/time.h"

namespace tfyarn::config {

/// One ResourceManager.
struct ResourceManagerAddresses {
  std::string id;  ///< "rm1"; "" where there is only one.
  HostPort client;
  HostPort scheduler;
  HostPort web;  ///< HTTP, or HTTPS as HadoopSettings::yarn_https says.
};

/// One NameNode.
struct NameNodeAddresses {
  std::string id;  ///< "nn1"; "" where there is only one.
  HostPort rpc;
  HostPort web;  ///< HTTP, or HTTPS as HadoopSettings::hdfs_https says.
};

/// The default file system.
struct HdfsService {
  std::string authority;  ///< As in hdfs://AUTHORITY/: a name service, or host:port.
  std::vector<NameNodeAddresses> name_nodes;
};

enum class RpcProtection { kAuthentication, kIntegrity, kPrivacy };

/// How long calls to one kind of server are tried.
struct HadoopRetries {
  Duration longest{};  ///< In all, over all servers.
  Duration pause{};    ///< Between two tries.
};

struct HadoopSettings {
  std::string user;  ///< HADOOP_USER_NAME, or else the operating system's. Kerberos has its own.
  bool kerberos = false;
  std::vector<RpcProtection> rpc_protection;  ///< Never empty; the preferred one first.

  std::vector<ResourceManagerAddresses> resource_managers;  ///< Never empty.
  bool yarn_https = false;
  HdfsService hdfs;
  bool hdfs_https = false;
  std::int32_t node_manager_web_port = 0;  ///< 0: each NodeManager takes a free one.
  bool log_aggregation = false;      ///< NodeManagers collect logs in HDFS at an application's end.
  std::string log_directory;         ///< Where to; a path or a URI.
  std::string log_directory_suffix;  ///< Part of the directory's name below that of the user.

  /// tfyarn.runtime.dir: one place in HDFS for the programs of all users' jobs; "" = none.
  std::string runtime_directory;
  std::uint32_t umask = 0;
  std::int64_t replication = 0;
  std::int64_t block_size = 0;  ///< Bytes.

  HadoopRetries resource_manager;
  HadoopRetries node_manager;
  std::int64_t name_node_failovers = 0;
  Duration name_node_pause_first{};  ///< Doubles with each failover.
  Duration name_node_pause_most{};
  Duration connect_timeout{};
  Duration rpc_timeout{};
  Duration ping_interval{};
  Duration idle_connection{};
  Duration data_timeout{};  ///< Longest silence of a DataNode.
  Duration am_expiry{};     ///< An AM so long silent has failed.
};

/// Errors: all values that are wrong, each with its place.
[[nodiscard]] tl::expected<HadoopSettings, Diagnostics> ReadHadoopSettings(
    const HadoopConfiguration& configuration);

/// What ParseHostPort reads, or a URI with it as authority.
[[nodiscard]] Expected<HostPort> ParseHadoopAddress(std::string_view text,
                                                    std::int32_t default_port);
/// "022", or the permissions that stay, "u=rwx,g=rx,o=rx". nullopt: it is none.
[[nodiscard]] std::optional<std::uint32_t> ParseUmask(std::string_view text);

}  // namespace tfyarn::config
