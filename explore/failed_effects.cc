#include "explore/failed_effects.h"

#include "sim/damages.h"

namespace tfyarn::explore {
namespace {

/// What a kind has in common its first actions show.
constexpr std::uint64_t kFirst = 8;
constexpr std::uint64_t kStep = 7;

}  // namespace

std::variant<std::vector<Variant>, Skipped> FailedEffectsOf(const Node& document,
                                                            const RunRecord& plain) {
  std::vector<Variant> variants;
  for (const auto& [effect, count] : plain.effects) {
    for (std::uint64_t nth = 1; nth <= count; nth += nth < kFirst ? 1 : kStep) {
      for (const sim::Sabotage& sabotage : sim::DamagesOf(effect, nth)) {
        Variant variant{.name = sim::ToString(sabotage),
                        .document = document,
                        .options = {},
                        .same = Sameness::kSuccess,
                        .job = {}};
        variant.options.sabotage = {sabotage};
        variants.push_back(std::move(variant));
      }
    }
  }
  return variants;
}

}  // namespace tfyarn::explore
