#include "sim/random.h"

#include <gtest/gtest.h>
#include <xxhash.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace tfyarn::sim::random_test {
namespace {

using config::Distribution;
using config::Law;

Distribution Of(Law law, double a, double b = 0, std::vector<double> values = {}) {
  return {.law = law, .a = a, .b = b, .values = std::move(values)};
}

/// Hash of 1,000 draws, each rounded to whole microseconds.
std::uint64_t GoldenOf(const Distribution& law) {
  Random random(42, "golden", 7);
  std::vector<std::int64_t> draws;
  for (int i = 0; i < 1000; ++i) draws.push_back(random.DrawDuration(law).count());
  return XXH3_64bits(draws.data(), draws.size() * sizeof(draws[0]));
}

double MeanOf(const Distribution& law, int count = 20000) {
  Random random(1, "mean");
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += random.Draw(law);
  return sum / count;
}

// The same numbers with every compiler at every level of optimisation: a change of any of these
// changes every digest.
TEST(RandomTest, EveryLawDrawsItsGoldenNumbers) {
  EXPECT_EQ(GoldenOf(Of(Law::kConst, 1.5)), 12843916067255914747U);
  EXPECT_EQ(GoldenOf(Of(Law::kUniform, 1, 3)), 3960327333762974565U);
  EXPECT_EQ(GoldenOf(Of(Law::kExponential, 30)), 7680343076197619595U);
  EXPECT_EQ(GoldenOf(Of(Law::kWeibull, 0.7, 3600)), 9728400600994380581U);
  EXPECT_EQ(GoldenOf(Of(Law::kLognormal, 59 * 60, 1.4)), 8191402520286954750U);
  EXPECT_EQ(GoldenOf(Of(Law::kGamma, 2.5, 10)), 11499209033838641531U);
  EXPECT_EQ(GoldenOf(Of(Law::kGamma, 0.4, 10)), 7541259312375464346U);
  EXPECT_EQ(GoldenOf(Of(Law::kPareto, 1.5, 2)), 16110339131362453848U);
  EXPECT_EQ(GoldenOf(Of(Law::kZipf, 1000, 1.1)), 8084961817044016309U);
  EXPECT_EQ(GoldenOf(Of(Law::kEmpirical, 0, 0, {1, 2, 5, 9})), 13871364478945035480U);
}

TEST(RandomTest, TheMeansAreThoseOfTheLaws) {
  EXPECT_NEAR(MeanOf(Of(Law::kUniform, 1, 3)), 2, 0.02);
  EXPECT_NEAR(MeanOf(Of(Law::kExponential, 30)), 30, 0.7);
  EXPECT_NEAR(MeanOf(Of(Law::kWeibull, 2, 10)), 10 * std::tgamma(1.5), 0.15);
  EXPECT_NEAR(MeanOf(Of(Law::kLognormal, 10, 0.5)), 10 * std::exp(0.125), 0.2);
  EXPECT_NEAR(MeanOf(Of(Law::kGamma, 2.5, 10)), 25, 0.4);
  EXPECT_NEAR(MeanOf(Of(Law::kGamma, 0.4, 10)), 4, 0.2);
  EXPECT_NEAR(MeanOf(Of(Law::kPareto, 3, 2)), 3, 0.06);
  EXPECT_NEAR(MeanOf(Of(Law::kEmpirical, 0, 0, {1, 2, 6})), 3, 0.06);
}

TEST(RandomTest, ZipfRanksComeAsOftenAsTheirPowers) {
  Random random(1, "zipf");
  std::vector<int> seen(6, 0);
  constexpr int kDraws = 30000;
  for (int i = 0; i < kDraws; ++i)
    ++seen[static_cast<std::size_t>(random.Draw(Of(Law::kZipf, 5, 1)))];
  const double harmonic = 1 + 1.0 / 2 + 1.0 / 3 + 1.0 / 4 + 1.0 / 5;
  EXPECT_EQ(seen[0], 0);
  for (std::size_t k = 1; k <= 5; ++k) {
    EXPECT_NEAR(seen[k], kDraws / (harmonic * static_cast<double>(k)), 350) << k;
  }
}

TEST(RandomTest, AStreamDependsOnSeedNameAndEntityAndOnNothingElse) {
  const auto first = [](std::uint64_t seed, const char* name, std::uint64_t entity) {
    return Random(seed, name, entity).Next();
  };
  EXPECT_EQ(first(1, "a", 2), first(1, "a", 2));
  EXPECT_NE(first(1, "a", 2), first(2, "a", 2));
  EXPECT_NE(first(1, "a", 2), first(1, "b", 2));
  EXPECT_NE(first(1, "a", 2), first(1, "a", 3));
}

TEST(RandomTest, ACopyGoesOnWithTheSameNumbers) {
  Random random(1, "a");
  static_cast<void>(random.Next());
  Random copy = random;
  for (int i = 0; i < 10; ++i) EXPECT_EQ(random.Next(), copy.Next());
}

TEST(RandomTest, UniformIntIsInRangeAndHitsEverything) {
  Random random(1, "die");
  std::vector<int> seen(6, 0);
  for (int i = 0; i < 6000; ++i) ++seen[random.UniformInt(6)];
  for (const int count : seen) EXPECT_NEAR(count, 1000, 120);
  EXPECT_EQ(random.UniformInt(1), 0U);
}

TEST(RandomTest, CertaintiesDrawNothing) {
  Random random(1, "a");
  Random untouched = random;
  EXPECT_FALSE(random.Chance(0));
  EXPECT_TRUE(random.Chance(1));
  EXPECT_EQ(random.Draw(Distribution::Constant(3)), 3);
  EXPECT_EQ(random.Next(), untouched.Next());
}

TEST(RandomTest, DurationsAreWholeMicrosecondsWithinTheirBounds) {
  EXPECT_EQ(SecondsToDuration(200e-6), 200us);
  EXPECT_EQ(SecondsToDuration(1e-7), 0us);
  EXPECT_EQ(SecondsToDuration(6e-7), 1us);
  EXPECT_EQ(SecondsToDuration(-5), 0s);
  EXPECT_EQ(SecondsToDuration(std::nan("")), 0s);
  EXPECT_EQ(SecondsToDuration(1e300), kLongestDraw);
  Random random(1, "a");
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(random.DrawDuration(Of(Law::kExponential, 1)) % 1us, 0ns);
  }
}

TEST(RandomTest, CountsAreRoundedAndNeverNegative) {
  Random random(1, "a");
  EXPECT_EQ(random.DrawCount(Distribution::Constant(2.6)), 3);
  EXPECT_EQ(random.DrawCount(Distribution::Constant(-2)), 0);
}

}  // namespace
}  // namespace tfyarn::sim::random_test
