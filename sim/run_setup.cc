#include "sim/run_setup.h"

#include <xxhash.h>

namespace tfyarn::sim {

std::uint64_t RunSetup::SeedFor(std::string_view what, std::uint64_t entity) const {
  return XXH3_64bits_withSeed(what.data(), what.size(), seed * 0x9E3779B97F4A7C15ULL + entity);
}

}  // namespace tfyarn::sim
