// A digest for golden files that are to say whether something is as it was, not what it is: FNV-1a,
// which is the same on every machine.
#pragma once

#include <cstdint>
#include <string_view>

namespace tfyarn {

inline constexpr std::uint64_t kDigestOfNothing = 0xcbf29ce484222325ULL;

/// Of all that `digest` is of, and then `bytes`.
inline std::uint64_t DigestOf(std::uint64_t digest, std::string_view bytes) {
  for (const char byte : bytes)
    digest = (digest ^ static_cast<unsigned char>(byte)) * 0x100000001b3ULL;
  return digest;
}

}  // namespace tfyarn
