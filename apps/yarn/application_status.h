// How an application stands, as the ResourceManager says.
#pragma once

#include <string>

#include "apps/yarn/cluster_access.h"
#include "core/model/ids.h"

namespace tfyarn::apps {

struct ApplicationStatus {
  bool may_change = false;  ///< It has not ended; or no ResourceManager answers now.
  std::string text;         ///< "running", "killed"; "" when none that answers knows it.
};

[[nodiscard]] ApplicationStatus AskStatus(ClusterQuestions& questions,
                                          const ApplicationId& application);

}  // namespace tfyarn::apps
