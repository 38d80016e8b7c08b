// What a run is made from, for all parts of the simulator: its scenario, its options, its seed.
#pragma once

#include <cstdint>
#include <string_view>

#include "config/scenario.h"
#include "core/model/time.h"
#include "sim/doubles.h"
#include "sim/run.h"

namespace tfyarn::sim {

struct RunSetup {
  RunSetup(const config::Scenario& of, const RunOptions& with)
      : scenario(of),
        options(with),
        doubles(with.doubles == nullptr ? NoDoubles() : *with.doubles),
        seed(with.seed),
        horizon(Instant{} + of.horizon) {}

  /// Of one entity's own draws: other entities change none of them.
  [[nodiscard]] std::uint64_t SeedFor(std::string_view what, std::uint64_t entity) const;

  const config::Scenario& scenario;
  const RunOptions options;
  const Doubles& doubles;
  std::uint64_t seed;  ///< Another from the instant on at which a future begins.
  const Instant horizon;
};

}  // namespace tfyarn::sim
