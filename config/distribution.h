// A constant or a law that numbers are drawn from, as written in a scenario.
//
// Only the description: drawing is the simulator's (sim/random.h). Parameters are in the base unit
// of the field that holds the distribution: seconds for durations, MiB for memory, plain for counts
// and rates.
#pragma once

#include <string>
#include <vector>

#include "core/model/describe.h"

namespace tfyarn::config {

enum class Law {
  kConst,
  kUniform,
  kExponential,
  kWeibull,
  kLognormal,
  kGamma,
  kPareto,
  kZipf,
  kEmpirical
};
BOOST_DESCRIBE_ENUM(Law, kConst, kUniform, kExponential, kWeibull, kLognormal, kGamma, kPareto,
                    kZipf, kEmpirical)

/// Meaning of a and b: const a=value; uniform a=min b=max; exponential a=mean; weibull a=shape
/// b=scale; lognormal a=median b=sigma; gamma a=shape b=scale; pareto a=shape b=min; zipf a=n b=s;
/// empirical values.
struct Distribution {
  Law law = Law::kConst;
  double a = 0;
  double b = 0;
  std::vector<double> values;

  [[nodiscard]] static Distribution Constant(double value) {
    return {.law = Law::kConst, .a = value, .b = 0, .values = {}};
  }
  [[nodiscard]] bool is_constant() const { return law == Law::kConst; }
  friend bool operator==(const Distribution&, const Distribution&) = default;
};

}  // namespace tfyarn::config
