#include "sim/random.h"

#include <algorithm>
#include <cmath>

#include "core/model/check.h"

namespace tfyarn::sim {
namespace {

constexpr double kTwoPi = 6.283185307179586476925286766559;
constexpr double kLargestCount =
    9007199254740992.0;  // 2^53: above it a double is no count any more.

/// log(1 + x) / x, continuous at 0.
double LogOverX(double x) {
  return std::abs(x) > 1e-8 ? std::log1p(x) / x : 1 - x / 2;
}
/// (exp(x) - 1) / x, continuous at 0.
double ExpOverX(double x) {
  return std::abs(x) > 1e-8 ? std::expm1(x) / x : 1 + x / 2;
}

}  // namespace

Duration SecondsToDuration(double seconds) {
  if (!(seconds > 0)) return Duration::zero();  // NaN too.
  constexpr double kLongestSeconds = 24.0 * 3600 * 365 * 100;
  if (seconds >= kLongestSeconds) return kLongestDraw;
  return std::chrono::microseconds(std::llround(seconds * 1e6));
}

double Random::Uniform01() {
  return static_cast<double>(Next() >> 11) * 0x1p-53;
}

double Random::UniformPositive() {
  return static_cast<double>((Next() >> 11) + 1) * 0x1p-53;
}

bool Random::Chance(double probability) {
  if (!(probability > 0)) return false;
  if (probability >= 1) return true;
  return Uniform01() < probability;
}

// Box and Muller's transform, its first half only: two numbers in, one out, whatever they are.
double Random::Normal() {
  const double radius = std::sqrt(-2 * std::log(UniformPositive()));
  return radius * std::cos(kTwoPi * Uniform01());
}

// Marsaglia and Tsang, "A simple method for generating gamma variables" (2000); shapes below 1 by
// their boost.
double Random::Gamma(double shape) {
  if (shape < 1) {
    const double boost = std::pow(UniformPositive(), 1 / shape);
    return Gamma(shape + 1) * boost;
  }
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = Normal();
    const double u = UniformPositive();
    const double root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root;
    if (std::log(u) < x * x / 2 + d - d * v + d * std::log(v)) return d * v;
  }
}

// Rejection-inversion (Hoermann and Derflinger 1996): the integral of x^-s over [k - 1/2, k + 1/2]
// stands over the probability of rank k. Any number of ranks costs the same.
double Random::Zipf(double ranks, double exponent) {
  const auto integral = [exponent](double x) {
    const double log_x = std::log(x);
    return ExpOverX((1 - exponent) * log_x) * log_x;
  };
  const auto inverse = [exponent](double y) {
    const double t = std::max(y * (1 - exponent), -1.0);
    return std::exp(LogOverX(t) * y);
  };
  const auto density = [exponent](double x) { return std::exp(-exponent * std::log(x)); };
  const double low = integral(1.5) - 1;
  const double high = integral(ranks + 0.5);
  const double surely = 2 - inverse(integral(2.5) - density(2));
  while (true) {
    const double u = high + Uniform01() * (low - high);
    const double x = inverse(u);
    const double k = std::clamp(std::floor(x + 0.5), 1.0, ranks);
    if (k - x <= surely || u >= integral(k + 0.5) - density(k)) return k;
  }
}

double Random::Draw(const config::Distribution& law) {
  switch (law.law) {
    case config::Law::kConst:
      return law.a;
    case config::Law::kUniform:
      return law.a + (law.b - law.a) * Uniform01();
    case config::Law::kExponential:
      return -law.a * std::log(UniformPositive());
    case config::Law::kWeibull:
      return law.b * std::pow(-std::log(UniformPositive()), 1 / law.a);
    case config::Law::kLognormal:
      return law.a * std::exp(law.b * Normal());
    case config::Law::kGamma:
      return law.b * Gamma(law.a);
    case config::Law::kPareto:
      return law.b * std::pow(UniformPositive(), -1 / law.a);
    case config::Law::kZipf:
      return Zipf(std::max(1.0, std::floor(law.a)), law.b);
    case config::Law::kEmpirical:
      TF_CHECK(!law.values.empty());
      return law.values[UniformInt(law.values.size())];
  }
  CheckFailed(__FILE__, __LINE__, "law is one of Law");
}

Random Random::Shaking() const {
  Random copy = *this;
  copy.shakes_ = true;
  return copy;
}

Duration Random::DrawDuration(const config::Distribution& seconds) {
  if (shakes_ && seconds.is_constant()) return SecondsToDuration(seconds.a * (0.5 + Uniform01()));
  return SecondsToDuration(Draw(seconds));
}

std::int64_t Random::DrawCount(const config::Distribution& law) {
  const double drawn = Draw(law);
  if (!(drawn > 0)) return 0;
  return std::llround(std::min(drawn, kLargestCount));
}

}  // namespace tfyarn::sim
