// The relation failed-effect: each action of the product's machines fails once, or is lost once.
#pragma once

#include <vector>

#include "explore/document.h"
#include "explore/relation.h"
#include "explore/run_record.h"

namespace tfyarn::explore {

/// A run for each way in which one action of `plain` can go wrong (sim::DamagesOf).
[[nodiscard]] std::vector<Variant> FailedEffectsOf(const Node& document, const RunRecord& plain);

}  // namespace tfyarn::explore
