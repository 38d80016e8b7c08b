// What a container of ours on a cluster finds in its environment: where ResourceManager and
// NameNode are, said by the client that submitted the job, and what YARN itself says.
//
// A cluster's configuration is not there where containers run, or it is another one: what the
// client read counts for the whole job.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/model/error.h"
#include "core/model/host_port.h"
#include "core/model/ids.h"
#include "core/model/time.h"

namespace tfyarn::hosts {

/// Said by the client, the same for all containers of an application.
struct YarnAddresses {
  std::vector<HostPort> schedulers;  ///< Of each RM: where AMs call.
  std::vector<HostPort> name_nodes;  ///< Web server of each NameNode.
  std::string file_system;           ///< As in hdfs://AUTHORITY/.
  std::string user;                  ///< Who the job's processes are to HDFS and YARN.
  friend bool operator==(const YarnAddresses&, const YarnAddresses&) = default;
};

/// Variables of plain words.
[[nodiscard]] std::map<std::string, std::string> ToEnvironment(const YarnAddresses& addresses);
/// Whether this process was started by a cluster's NodeManager for `tfyarn submit`.
[[nodiscard]] bool IsOnYarn(const std::map<std::string, std::string>& environment);

/// Said by the NodeManager. Source: ContainerLaunch.java, sanitizeEnv().
struct YarnContainer {
  ContainerId container;              ///< CONTAINER_ID.
  std::string host;                   ///< NM_HOST.
  std::string logs;                   ///< The first of LOG_DIRS.
  std::string credentials;            ///< HADOOP_TOKEN_FILE_LOCATION: path of a file.
  std::uint16_t web_port = 0;         ///< NM_HTTP_PORT; 0 = not said.
  std::optional<WallTime> submitted;  ///< APP_SUBMIT_TIME_ENV, which an AM alone is given.
};

struct YarnEnvironment {
  YarnAddresses addresses;
  YarnContainer container;
};
/// Errors: kInvalidArgument naming the variable that is missing or malformed.
[[nodiscard]] Expected<YarnEnvironment> YarnEnvironmentFrom(
    const std::map<std::string, std::string>& environment);

/// Name under which an agent finds its identity among the secrets of its credentials.
inline constexpr const char* kIdentitySecret = "tfyarn.identity";

}  // namespace tfyarn::hosts
