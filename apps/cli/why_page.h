// The page of `tfsim why`: the chance of failure over what happened.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace tfyarn::cli {

/// One HTML file that needs nothing else. `document`: as `tfsim why --json` prints it.
[[nodiscard]] std::string WhyPage(const nlohmann::ordered_json& document);

}  // namespace tfyarn::cli
