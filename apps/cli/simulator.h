// How commands reach the simulator: through a function, so that they can be tested with another one
// behind it.
#pragma once

#include <functional>
#include <string>

#include "config/scenario.h"
#include "sim/run.h"

namespace tfyarn::cli {

struct Simulator {
  std::function<sim::RunOutcome(const config::Scenario&, const sim::RunOptions&)> run;
  std::string version;  ///< Of this program, as results name it.
};

}  // namespace tfyarn::cli
