// `tfyarn config show`: the cluster's configuration as we understand it.
#pragma once

#include <string>
#include <vector>

namespace tfyarn::apps {

struct ConfigArguments {
  std::vector<std::string> keys;  ///< Empty: all that we use.
  bool origin = false;            ///< Say where each value comes from.
  bool json = false;              ///< A list of {key, value, origin, final}.
};

/// Prints the values that count, after expansion. Without keys it also says what of them cannot be
/// used. Returns kOk or kInvalidInput.
[[nodiscard]] int ConfigCommand(const ConfigArguments& arguments);

}  // namespace tfyarn::apps
