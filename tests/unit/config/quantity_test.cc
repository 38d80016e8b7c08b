#include "config/quantity.h"

#include <gtest/gtest.h>

namespace tfyarn::config::quantity_test {
namespace {

std::string Problem(const auto& quantity) {
  if (quantity) return "ok";
  const QuantityError& error = quantity.error();
  return error.problem + (error.suggestion.empty() ? "" : " -> " + error.suggestion);
}

TEST(QuantityTest, DurationsAreExactSumsOfTheirParts) {
  EXPECT_EQ(ParseDuration("30s"), Duration(30s));
  EXPECT_EQ(ParseDuration("1d12h"), Duration(36h));
  EXPECT_EQ(ParseDuration("2w"), Duration(336h));
  EXPECT_EQ(ParseDuration("1.5s"), Duration(1500ms));
  EXPECT_EQ(ParseDuration("0.1h"), Duration(6min));
  EXPECT_EQ(ParseDuration("100ms"), Duration(100ms));
  EXPECT_EQ(ParseDuration("1.50us"), Duration(1500ns));
  EXPECT_EQ(ParseDuration("0s"), Duration(0));
  EXPECT_EQ(ParseDuration("1h0.000000001s"), Duration(1h + 1ns));
  EXPECT_EQ(ParseDuration("36500d"), kLongest);
}

TEST(QuantityTest, ABareNumberOfSecondsIsSuggestedWithItsUnit) {
  EXPECT_EQ(Problem(ParseDuration("30")), "has no unit -> 30s");
  EXPECT_EQ(Problem(ParseDuration("1.5")), "has no unit -> 1.5s");
  EXPECT_EQ(Problem(ParseDuration("1h30")), "ends without a unit -> 1h30s");
}

TEST(QuantityTest, OtherSpellingsOfUnitsAreRecognised) {
  EXPECT_EQ(Problem(ParseDuration("10sec")),
            "has an unknown unit (allowed: ns, us, ms, s, m, h, d, w) -> 10s");
  EXPECT_EQ(Problem(ParseDuration("10M")),
            "has an unknown unit (allowed: ns, us, ms, s, m, h, d, w) -> 10m");
  EXPECT_EQ(Problem(ParseDuration("10x")),
            "has an unknown unit (allowed: ns, us, ms, s, m, h, d, w)");
}

TEST(QuantityTest, OddDurationsSayWhatIsOdd) {
  EXPECT_EQ(Problem(ParseDuration("")), "is not a duration like 30s, 5m or 1d12h");
  EXPECT_EQ(Problem(ParseDuration("-5s")), "must not be negative");
  EXPECT_EQ(Problem(ParseDuration("+5s")), "begins with a + -> 5s");
  EXPECT_EQ(Problem(ParseDuration(".5s")), "begins with a point -> 0.5s");
  EXPECT_EQ(Problem(ParseDuration("5 s")), "is not a duration like 30s, 5m or 1d12h");
  EXPECT_EQ(Problem(ParseDuration("nan")), "is not a duration like 30s, 5m or 1d12h");
  EXPECT_EQ(Problem(ParseDuration("1e3s")),
            "has an unknown unit (allowed: ns, us, ms, s, m, h, d, w)");
  EXPECT_EQ(Problem(ParseDuration("5m1h")),
            "has its units in the wrong order: the larger comes first");
  EXPECT_EQ(Problem(ParseDuration("5s5s")),
            "has its units in the wrong order: the larger comes first");
  EXPECT_EQ(Problem(ParseDuration("36501d")), "is longer than 100 years");
  EXPECT_EQ(Problem(ParseDuration("99999999999999999999d")), "is longer than 100 years");
  EXPECT_EQ(Problem(ParseDuration("0.1ns")), "is finer than a nanosecond");
}

TEST(QuantityTest, MemoryIsWholeMebibytes) {
  EXPECT_EQ(ParseMemoryMb("16GiB"), 16384);
  EXPECT_EQ(ParseMemoryMb("1.5GiB"), 1536);
  EXPECT_EQ(ParseMemoryMb("2048KiB"), 2);
  EXPECT_EQ(ParseMemoryMb("1TiB"), 1 << 20);
  EXPECT_EQ(Problem(ParseMemoryMb("0.1GiB")), "is not a whole number of bytes");
  EXPECT_EQ(Problem(ParseMemoryMb("1.001GiB")), "is not a whole number of bytes");
  EXPECT_EQ(Problem(ParseMemoryMb("1500KiB")), "is not a whole number of MiB -> 1MiB");
  EXPECT_EQ(Problem(ParseMemoryMb("16")), "has no unit -> 16MiB or 16GiB");
  EXPECT_EQ(Problem(ParseMemoryMb("16G")),
            "has an unknown unit (allowed: B, KiB, MiB, GiB, TiB) -> 16GiB");
  EXPECT_EQ(Problem(ParseMemoryMb("16gb")),
            "has an unknown unit (allowed: B, KiB, MiB, GiB, TiB) -> 16GiB");
  EXPECT_EQ(Problem(ParseMemoryMb("16 GiB")), "has a blank before its unit -> 16GiB");
  EXPECT_EQ(Problem(ParseMemoryMb("99999999999TiB")), "is too large");
}

TEST(QuantityTest, BandwidthsAndSharesHaveTheirUnits) {
  EXPECT_EQ(ParseBandwidth("10Gbps"), 10'000'000'000);
  EXPECT_EQ(ParseBandwidth("2.5Mbps"), 2'500'000);
  EXPECT_EQ(Problem(ParseBandwidth("10Gb")),
            "has an unknown unit (allowed: bps, Kbps, Mbps, Gbps, Tbps) -> 10Gbps");
  EXPECT_EQ(Problem(ParseBandwidth("0bps")), "must be more than 0");
  EXPECT_EQ(ParsePermille("60%"), 600);
  EXPECT_EQ(ParsePermille("12.5%"), 125);
  EXPECT_EQ(Problem(ParsePermille("60")), "has no unit -> 60%");
  EXPECT_EQ(Problem(ParsePermille("1.25%")), "is not a whole number of tenths of a percent");
}

TEST(QuantityTest, ARateIsTheMeanTimeBetweenTwo) {
  EXPECT_DOUBLE_EQ(*ParseRate("20/h"), 180);
  EXPECT_DOUBLE_EQ(*ParseRate("0.5/s"), 2);
  EXPECT_EQ(Problem(ParseRate("20")), "has no unit -> 20/h");
  EXPECT_EQ(Problem(ParseRate("20/hour")),
            "has an unknown unit (allowed: ns, us, ms, s, m, h, d, w) -> 20/h");
  EXPECT_EQ(Problem(ParseRate("0/h")), "must be more than 0");
  EXPECT_EQ(Problem(ParseRate("h")), "is not a rate like 20/h or 0.5/s");
  EXPECT_EQ(Problem(ParseRate("0.000000000000001/w")), "is too small");
}

TEST(QuantityTest, CountsAreDecimalAndBare) {
  EXPECT_EQ(ParseWhole("0"), 0);
  EXPECT_EQ(ParseWhole("-100"), -100);
  EXPECT_EQ(ParseWhole("9223372036854775807"), 9223372036854775807LL);
  EXPECT_EQ(Problem(ParseWhole("9223372036854775808")), "is out of range");
  EXPECT_EQ(Problem(ParseWhole("012")), "begins with a 0 -> 12");
  EXPECT_EQ(Problem(ParseWhole("00")), "begins with a 0 -> 0");
  for (const char* text : {"", "-", "1e99", "nan", "inf", "1_000", "0x10", "3.0", "1 ", "+1"}) {
    EXPECT_EQ(Problem(ParseWhole(text)).substr(0, 23), "is not a whole number") << text;
  }
}

TEST(QuantityTest, NumbersHaveNoExponent) {
  EXPECT_DOUBLE_EQ(*ParseNumber("0.25"), 0.25);
  EXPECT_DOUBLE_EQ(*ParseNumber("-3"), -3);
  for (const char* text : {"nan", "inf", "1e3", "", ".", "1.", "0x1"}) {
    EXPECT_EQ(Problem(ParseNumber(text)), "is not a number") << text;
  }
  EXPECT_EQ(Problem(ParseNumber(std::string(400, '9'))), "is out of range");
}

TEST(QuantityTest, SignalsGoByNameOrNumber) {
  EXPECT_EQ(ParseSignal("KILL"), 9);
  EXPECT_EQ(ParseSignal("SIGTERM"), 15);
  EXPECT_EQ(ParseSignal("34"), 34);
  EXPECT_EQ(Problem(ParseSignal("kill")), "is not a signal like KILL, TERM or 9 -> KILL");
  EXPECT_EQ(Problem(ParseSignal("65")), "is not a signal like KILL, TERM or 9");
  EXPECT_EQ(SignalName(11), "SEGV");
  EXPECT_EQ(SignalName(34), "34");
}

TEST(QuantityTest, TextsAreTheShortestExactOnes) {
  EXPECT_EQ(MemoryText(16384), "16GiB");
  EXPECT_EQ(MemoryText(1536), "1536MiB");
  EXPECT_EQ(MemoryText(0), "0MiB");
  EXPECT_EQ(BytesText(1000), "1000B");
  EXPECT_EQ(BandwidthText(10'000'000'000), "10Gbps");
  EXPECT_EQ(PermilleText(125), "12.5%");
  EXPECT_EQ(PermilleText(1000), "100%");
  EXPECT_EQ(NumberText(0.25), "0.25");
  EXPECT_EQ(NumberText(3), "3");
}

}  // namespace
}  // namespace tfyarn::config::quantity_test
