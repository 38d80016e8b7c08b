#include "apps/yarn/away_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tfyarn::apps::away_watch_test {
namespace {

using std::chrono::seconds;
using testing::AllOf;
using testing::HasSubstr;
using testing::Optional;
using Part = AwayWatch::Part;

const AwayWatch::Clock::time_point kBegin{};

TEST(AwayWatchTest, WhoAnswersIsNotAway) {
  AwayWatch watch;
  for (int i = 0; i < 100; ++i) {
    watch.Asked(Part::kResourceManager, "the submission", kBegin + seconds(i));
    watch.Answered(Part::kResourceManager, "", kBegin + seconds(i));
  }
  EXPECT_EQ(watch.Next(kBegin + seconds(1000)), std::nullopt);
  EXPECT_EQ(watch.Longest(kBegin + seconds(1000)), 0s);
}

TEST(AwayWatchTest, ASilentPartIsToldWithWhatItWasAskedAndAgainWhileItLasts) {
  AwayWatch watch;
  watch.Asked(Part::kHdfs, "/staging", kBegin);
  EXPECT_EQ(watch.Next(kBegin + seconds(9)), std::nullopt);
  EXPECT_THAT(watch.Next(kBegin + seconds(10)),
              Optional(AllOf(HasSubstr("HDFS"), HasSubstr("/staging"), HasSubstr("10 s"))));
  EXPECT_EQ(watch.Next(kBegin + seconds(39)), std::nullopt) << "it was told";
  EXPECT_NE(watch.Next(kBegin + seconds(40)), std::nullopt);
}

TEST(AwayWatchTest, RefusalsThatMayPassDoNotEndASilence) {
  AwayWatch watch;
  for (int i = 0; i < 12; ++i) {
    watch.Asked(Part::kResourceManager, "the submission", kBegin + seconds(i));
    watch.Answered(Part::kResourceManager, "rm:8032: Connection refused", kBegin + seconds(i));
  }
  EXPECT_EQ(watch.Longest(kBegin + seconds(12)), 12s);
  EXPECT_THAT(watch.Next(kBegin + seconds(12)),
              Optional(AllOf(HasSubstr("the submission"), HasSubstr("Connection refused"))));
  watch.Asked(Part::kResourceManager, "the submission", kBegin + seconds(13));
  watch.Answered(Part::kResourceManager, "", kBegin + seconds(13));
  EXPECT_EQ(watch.Next(kBegin + seconds(100)), std::nullopt);
}

}  // namespace
}  // namespace tfyarn::apps::away_watch_test
