// How many random sequences the suite tries, and from which seed (tests/contract/main.cc).
#pragma once

#include <cstdint>

namespace tfyarn::contract {

struct SequenceOptions {
  std::uint64_t count = 5;
  std::uint64_t seed = 1;
};

[[nodiscard]] SequenceOptions& Sequenced();

}  // namespace tfyarn::contract
