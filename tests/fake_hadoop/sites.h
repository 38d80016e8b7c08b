// The configuration of a fake cluster, as its clients read it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "core/model/error.h"
#include "core/model/host_port.h"

namespace tfyarn::fakes {

struct ClusterAddresses {
  HostPort rm;         ///< For clients.
  HostPort scheduler;  ///< For AMs.
  std::string hdfs;    ///< host:port of the NameNode's web server.
};

/// Writes core-site.xml, hdfs-site.xml and yarn-site.xml. Errors: kUnavailable.
[[nodiscard]] Expected<void> WriteSites(const std::filesystem::path& folder,
                                        const ClusterAddresses& addresses);

}  // namespace tfyarn::fakes
