// Comparing amounts of several resource types by their largest share of a whole, as YARN's
// schedulers do.
//
// Source: DominantResourceCalculator.java: shares are sorted, largest first, and compared one after
// the other; types that the whole does not have are left out. Shares are integers here, parts of a
// thousand million.
#pragma once

#include <cstdint>

#include "core/model/resource.h"

namespace tfyarn::fakes {

/// What shares are parts of.
inline constexpr std::int64_t kWhole = 1'000'000'000;

/// amount * kWhole / whole, rounded down, without overflow for whatever a cluster can hold;
/// whole > 0.
[[nodiscard]] constexpr std::int64_t PartsOf(std::int64_t amount, std::int64_t whole) {
  return (amount / whole) * kWhole + (amount % whole) * kWhole / whole;
}

/// Largest share of any type, in parts of kWhole.
[[nodiscard]] std::int64_t DominantShare(const Resource& amount, const Resource& whole);
/// Below, equal to or above zero as `a` is less than, as large as or greater than `b`.
[[nodiscard]] int CompareDominant(const Resource& a, const Resource& b, const Resource& whole);
/// The greater (lesser) one.
[[nodiscard]] const Resource& DominantMax(const Resource& a, const Resource& b,
                                          const Resource& whole);
[[nodiscard]] const Resource& DominantMin(const Resource& a, const Resource& b,
                                          const Resource& whole);
/// Every type taken `numerator / denominator` times, rounded down; denominator > 0.
[[nodiscard]] Resource Scaled(const Resource& r, std::int64_t numerator, std::int64_t denominator);
/// The same, rounded up.
[[nodiscard]] Resource ScaledUp(const Resource& r, std::int64_t numerator,
                                std::int64_t denominator);
/// Every type divided, rounded up; divisor > 0.
[[nodiscard]] Resource DividedUp(const Resource& r, std::int64_t divisor);
/// Every type rounded up to a multiple of the step's; a step of zero counts as one.
/// Source: ResourceCalculator.normalize.
[[nodiscard]] Resource RoundedUp(const Resource& r, const Resource& step);
/// True when some amount is above zero.
[[nodiscard]] bool AnyPositive(const Resource& r);
/// HasRoomFor of one type, and of all types that have no member of their own.
[[nodiscard]] constexpr bool HasRoomFor(std::int64_t need, std::int64_t free) {
  return need <= 0 || need <= free;
}
[[nodiscard]] bool HasRoomForOthers(const Resource& need, const Resource& free);
/// Whether a node with `free` has room for `need`: a type of which nothing is needed does not
/// count, even where more is used than there is. Source:
/// ResourceCalculator.computeAvailableContainers.
[[nodiscard]] inline bool HasRoomFor(const Resource& need, const Resource& free) {
  return HasRoomFor(need.memory_mb, free.memory_mb) && HasRoomFor(need.vcores, free.vcores) &&
         HasRoomFor(need.gpus, free.gpus) && (need.others.empty() || HasRoomForOthers(need, free));
}
/// FitsIn(a + b, limit) without the sum.
[[nodiscard]] bool SumFitsIn(const Resource& a, const Resource& b, const Resource& limit);

}  // namespace tfyarn::fakes
