// The arithmetic of allocate's response ids: 31 bits that wrap around.
//
// Source: hadoop-yarn-server-resourcemanager ApplicationMasterService.java, (id + 1) &
// Integer.MAX_VALUE.
#pragma once

#include <cstdint>

namespace tfyarn {

inline constexpr std::uint32_t kResponseIdMask = 0x7fffffff;

/// The id `steps` answers after `id`.
[[nodiscard]] constexpr std::int32_t ResponseIdAfter(std::int32_t id, std::uint64_t steps) {
  const std::uint32_t sum =
      static_cast<std::uint32_t>(id) + static_cast<std::uint32_t>(steps & kResponseIdMask);
  return static_cast<std::int32_t>(sum & kResponseIdMask);
}

[[nodiscard]] constexpr std::int32_t ResponseIdBefore(std::int32_t id) {
  return ResponseIdAfter(id, kResponseIdMask);
}

}  // namespace tfyarn
