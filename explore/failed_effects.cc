#include "explore/failed_effects.h"

#include <utility>

#include "sim/damages.h"

namespace tfyarn::explore {

std::vector<Variant> FailedEffectsOf(const Node& document, const RunRecord& plain) {
  std::vector<Variant> variants;
  for (const sim::Sabotage& sabotage : sim::DamagesOf(plain.effects)) {
    Variant variant{.name = sim::DescribeSabotage(sabotage),
                    .document = document,
                    .options = {},
                    .same = Sameness::kSuccess,
                    .job = {}};
    variant.options.sabotage = {sabotage};
    variants.push_back(std::move(variant));
  }
  return variants;
}

}  // namespace tfyarn::explore
