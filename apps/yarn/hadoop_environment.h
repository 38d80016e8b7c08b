// Where this user's Hadoop configuration is, and what it may refer to.
#pragma once

#include <string>

#include "config/hadoop_configuration.h"
#include "core/model/error.h"

namespace tfyarn::apps {

/// HADOOP_CONF_DIR, or else HADOOP_HOME/etc/hadoop. Errors: kNotFound when neither is set, or what
/// is set is no directory; in words for the user.
[[nodiscard]] Expected<std::string> HadoopConfigurationDirectory();
/// This process's environment, its user and the file system.
[[nodiscard]] config::HadoopSurroundings OwnHadoopSurroundings();

}  // namespace tfyarn::apps
