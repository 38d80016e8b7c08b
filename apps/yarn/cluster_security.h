// Whether a cluster accepts the calls of a client that only states its user name.
#pragma once

#include <string>

#include "config/hadoop_settings.h"

namespace tfyarn::apps {

/// For a configuration without Kerberos: why its cluster takes no calls by it, in words for the
/// user; "" when it does, or none of its daemons answers. Asks the client ports of ResourceManagers
/// and NameNodes; the first answer decides. Seconds at most, when hosts are gone.
[[nodiscard]] std::string KerberosIsWanted(const config::HadoopSettings& settings);

}  // namespace tfyarn::apps
