// Numbers that stand for values: equal values have equal ones.
#pragma once

#include <xxhash.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/codec.h"

namespace tfyarn::exhaustive {

/// Of anything that is described; of a cluster spec counts its id.
template <class T>
[[nodiscard]] std::uint64_t HashOf(const T& value) {
  std::string bytes;
  std::vector<SpecRef> specs;
  Encoder(bytes, &specs).Put(value);
  return XXH3_64bits(bytes.data(), bytes.size());
}

[[nodiscard]] inline std::uint64_t Mix(std::uint64_t a, std::uint64_t b, std::uint64_t c = 0) {
  const std::uint64_t all[] = {a, b, c};
  return XXH3_64bits(all, sizeof(all));
}

}  // namespace tfyarn::exhaustive
