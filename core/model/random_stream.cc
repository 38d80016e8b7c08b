#include "core/model/random_stream.h"

#include <Random123/philox.h>
#include <xxhash.h>

namespace tfyarn {

RandomStream::RandomStream(std::uint64_t seed, std::string_view name)
    : key_(XXH3_64bits_withSeed(name.data(), name.size(), seed)) {}

std::uint64_t RandomStream::Next() {
  using Generator = r123::Philox4x32;
  const Generator::ctr_type counter = {
      {static_cast<std::uint32_t>(counter_), static_cast<std::uint32_t>(counter_ >> 32), 0, 0}};
  const Generator::key_type key = {
      {static_cast<std::uint32_t>(key_), static_cast<std::uint32_t>(key_ >> 32)}};
  ++counter_;
  const Generator::ctr_type out = Generator()(counter, key);
  return (std::uint64_t{out[1]} << 32) | out[0];
}

std::uint64_t RandomStream::Below(std::uint64_t bound) {
  return UniformBelow(bound, [this] { return Next(); });
}

Duration RandomStream::Between(Duration low, Duration high) {
  TF_CHECK(low <= high);
  const auto steps = std::chrono::duration_cast<std::chrono::microseconds>(high - low).count();
  return low + std::chrono::microseconds(Below(static_cast<std::uint64_t>(steps) + 1));
}

}  // namespace tfyarn
