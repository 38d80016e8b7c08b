// What `replay` and `diff` read: refused with a reason, or compared.
#include "apps/cli/documents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace tfyarn::cli::documents_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string ErrorOf(std::string_view text) {
  const auto document = ReadDocument(text);
  return document ? "" : document.error().message;
}

std::vector<std::string> Differences(std::string_view left, std::string_view right) {
  return DifferencesOf(ReadDocument(left).value(), ReadDocument(right).value());
}

TEST(DocumentsTest, WhatIsNoJsonIsToldWithItsPlace) {
  EXPECT_EQ(ErrorOf(""), "not JSON: line 1, column 1");
  EXPECT_EQ(ErrorOf("{\n \"a\": }"), "not JSON: line 2, column 7");
}

TEST(DocumentsTest, ANumberOutOfRangeIsAnErrorAndNoCrash) {
  EXPECT_EQ(ErrorOf("{\"a\": 1e999}"), "holds a number that is out of range");
}

TEST(DocumentsTest, DeepNestingIsRefusedWhereverItStands) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_EQ(ErrorOf(nested(kDeepestDocument)), "");
  EXPECT_EQ(ErrorOf(nested(kDeepestDocument + 1)), "nests deeper than 64 levels");
  EXPECT_EQ(ErrorOf(std::string(1'000'000, '[')), "nests deeper than 64 levels");
}

TEST(DocumentsTest, WhatIsAbsentIsNotNull) {
  EXPECT_THAT(Differences("{\"a\": 1, \"b\": null}", "{\"a\": 1}"),
              ElementsAre("/b: null | (absent)"));
  EXPECT_THAT(Differences("[1]", "[1, null]"), ElementsAre("/1: (absent) | null"));
}

TEST(DocumentsTest, OrderOfMembersAndTimesOfTheMachineAreNoDifference) {
  EXPECT_THAT(Differences("{\"a\": 1, \"wall_seconds\": 1}", "{\"wall_seconds\": 2, \"a\": 1}"),
              IsEmpty());
  EXPECT_THAT(Differences("{\"a\": {\"wall_seconds\": 1}}", "{\"a\": {\"wall_seconds\": 2}}"),
              ElementsAre("/a/wall_seconds: 1 | 2"));
}

TEST(DocumentsTest, AResultNeedsItsDigestsAndASeedThatIsAWholeNumber) {
  const std::string text =
      R"({"digest": "d", "scenario_digest": "s", "seed": 18446744073709551615})";
  EXPECT_EQ(ReadRecordedRun(text)->seed, 18446744073709551615ULL);
  EXPECT_EQ(ReadRecordedRun(text)->digest, "d");
  for (const auto& [bad, why] : std::vector<std::pair<std::string, std::string>>{
           {"[]", "not an object"},
           {"{}", "`digest` is missing"},
           {R"({"digest": 7})", "`digest` is no text"},
           {R"({"digest": "d", "scenario_digest": "s"})", "`seed` is missing, or no whole number"},
           {R"({"digest": "d", "scenario_digest": "s", "seed": -1})",
            "`seed` is missing, or no whole number"},
           {R"({"digest": "d", "scenario_digest": "s", "seed": 1.5})",
            "`seed` is missing, or no whole number"}}) {
    EXPECT_EQ(ReadRecordedRun(bad).error().message, "no result document of one run: " + why);
  }
}

TEST(DocumentsTest, LinesAreComparedUpToTheFirstThatDiffers) {
  std::istringstream left("1\n2\n3\n4\n5\n"), right("1\n2\n3\n4\n6\n");
  const LineComparison result = CompareLines(left, right);
  EXPECT_EQ(result.same, 4U);
  EXPECT_THAT(result.before, ElementsAre("2", "3", "4"));
  EXPECT_EQ(result.left, "5");
  EXPECT_EQ(result.right, "6");
  std::istringstream longer("1\n2\n"), shorter("1");
  EXPECT_EQ(CompareLines(longer, shorter).right, std::nullopt);
}

}  // namespace
}  // namespace tfyarn::cli::documents_test
