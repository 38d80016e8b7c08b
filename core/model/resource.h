// An amount of everything a container can hold. Integers in YARN's units; never negative except as
// a difference.
//
// Memory, vcores and GPUs are members of their own because nearly every resource has only those;
// other countable types (yarn.io/fpga, anything of resource-types.xml) are kept by name.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/model/describe.h"

namespace tfyarn {

inline constexpr std::string_view kGpuResourceName = "yarn.io/gpu";

struct Resource {
  std::int64_t memory_mb = 0;  ///< MiB.
  std::int64_t vcores = 0;
  std::int64_t gpus = 0;  ///< yarn.io/gpu.
  /// Other types by name, sorted, without zeros.
  std::vector<std::pair<std::string, std::int64_t>> others;

  /// Amount of a type by its YARN name (memory-mb, vcores, yarn.io/gpu or another); 0 when absent.
  [[nodiscard]] std::int64_t Get(std::string_view name) const;
  void Set(std::string_view name, std::int64_t amount);

  Resource& operator+=(const Resource& other);
  Resource& operator-=(const Resource& other);
  friend Resource operator+(Resource a, const Resource& b) { return a += b; }
  friend Resource operator-(Resource a, const Resource& b) { return a -= b; }
  friend bool operator==(const Resource&, const Resource&) = default;
};
BOOST_DESCRIBE_STRUCT(Resource, (), (memory_mb, vcores, gpus, others))

/// True when every amount of `need` is at most that of `available`.
[[nodiscard]] bool FitsIn(const Resource& need, const Resource& available);
/// `r` taken `times` times; times >= 0.
[[nodiscard]] Resource Times(const Resource& r, std::int64_t times);
/// `ppm` millionths of `r`, rounded down; 0 <= ppm <= 1000000.
[[nodiscard]] Resource Share(const Resource& r, std::int64_t ppm);
/// How many of `unit` fit into `available` at once; a unit of nothing fits INT32_MAX times.
[[nodiscard]] std::int64_t HowManyFit(const Resource& unit, const Resource& available);
/// The name of the first type (memory-mb, vcores, yarn.io/gpu, others by name) of which `need`
/// wants more than `available` has; empty when it fits.
[[nodiscard]] std::string FirstShortage(const Resource& need, const Resource& available);
/// Largest amount of each type.
[[nodiscard]] Resource ComponentMax(const Resource& a, const Resource& b);
/// Smallest amount of each type.
[[nodiscard]] Resource ComponentMin(const Resource& a, const Resource& b);
[[nodiscard]] bool IsZero(const Resource& r);
[[nodiscard]] bool AnyNegative(const Resource& r);
/// "16 GiB, 4 vcores, 8 GPUs".
[[nodiscard]] std::string ToString(const Resource& r);

}  // namespace tfyarn
