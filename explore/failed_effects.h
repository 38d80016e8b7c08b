// The relation failed-effect: each action of the product's machines fails once, or is lost once.
#pragma once

#include <variant>
#include <vector>

#include "explore/document.h"
#include "explore/relation.h"
#include "explore/run_record.h"

namespace tfyarn::explore {

/// A run for each action of `plain` and each way in which its kind can go wrong; of a kind with
/// many actions the first eight, and then every seventh.
[[nodiscard]] std::variant<std::vector<Variant>, Skipped> FailedEffectsOf(const Node& document,
                                                                          const RunRecord& plain);

}  // namespace tfyarn::explore
