// What the gang's clocks bring.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/model/ids.h"
#include "core/model/time.h"

namespace tfyarn::allocation {

/// An incomplete gang was given back; these tasks have no container any more and are asked for
/// again after `backoff`.
struct GangGivenBack {
  std::vector<std::pair<TaskId, ContainerId>> lost;  ///< In task order.
  Duration backoff{};
};

/// What passing time brought.
struct GangTimeouts {
  std::optional<GangGivenBack> given_back;
  /// The gang's deadline has passed; what is missing. Once per gang; nothing is given back by
  /// itself. Never with policy `hold`, which waits for ever.
  std::optional<std::string> deadline_missed;
};

}  // namespace tfyarn::allocation
