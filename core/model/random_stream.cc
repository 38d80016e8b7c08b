#include "core/model/random_stream.h"

#include <Random123/philox.h>
#include <xxhash.h>

#include <algorithm>

#include "core/model/check.h"

namespace tfyarn {

RandomStream::RandomStream(std::uint64_t seed, std::string_view name, std::uint64_t entity)
    : key_{seed, XXH3_64bits(name.data(), name.size())}, entity_(entity) {}

std::uint64_t RandomStream::Next() {
  if (used_ == words_.size()) {
    using Philox = r123::Philox4x64;
    const Philox::ctr_type counter = {{block_++, entity_, 0, 0}};
    const Philox::key_type key = {{key_[0], key_[1]}};
    const Philox::ctr_type out = Philox()(counter, key);
    std::copy(out.begin(), out.end(), words_.begin());
    used_ = 0;
  }
  return words_[used_++];
}

std::uint64_t RandomStream::Below(std::uint64_t bound) {
  TF_CHECK(bound > 0);
  // The last, incomplete block of `bound` numbers is drawn again, so that every number is equally
  // likely.
  const std::uint64_t limit = UINT64_MAX - UINT64_MAX % bound;
  while (true) {
    const std::uint64_t drawn = Next();
    if (drawn < limit) return drawn % bound;
  }
}

Duration RandomStream::Between(Duration low, Duration high) {
  TF_CHECK(low <= high);
  const auto steps = std::chrono::duration_cast<std::chrono::microseconds>(high - low).count();
  return low + std::chrono::microseconds(Below(static_cast<std::uint64_t>(steps) + 1));
}

}  // namespace tfyarn
