#include "apps/yarn/job_news.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>

#include "core/trace/json.h"

namespace tfyarn::apps::job_news_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

/// Lines as an AM writes them.
class Attempt {
 public:
  std::string Line(AmAction action) {
    return trace::RecordJson(
        {.at = Instant(1s), .fact = trace::AmOrdered{.am_attempt = 1, .action = std::move(action)}},
        {.seq = ++seq_});
  }
  std::string Port(const char* task, PortListener listener) {
    return Line(PortUseFound{.task = ParseTaskId(task).value(),
                             .address = {.host = "n1", .port = 41233},
                             .use = {.listener = listener},
                             .after = 5min});
  }
  std::string Ends(const char* task) {
    return Line(TaskAttemptEnded{.task = ParseTaskId(task).value()});
  }

 private:
  std::uint64_t seq_ = 0;
};

TEST(JobNewsTest, ATaskThatDoesNotListenIsToldOnceAndThatItDoesAtLast) {
  Attempt am;
  JobNews news;
  const std::string silent = am.Port("worker:1", PortListener::kNobody);
  news.Take(silent);
  EXPECT_THAT(news.PortLines(),
              ElementsAre(StartsWith("worker:1 does not listen on its port 41233, 5m after")));
  news.Take(silent);
  EXPECT_THAT(news.PortLines(), IsEmpty()) << "an append that was repeated";
  news.Take(am.Port("worker:1", PortListener::kOurs));
  EXPECT_THAT(news.PortLines(), ElementsAre(StartsWith("worker:1 listens on its port 41233")));
  news.Take(am.Port("worker:2", PortListener::kOurs));
  EXPECT_THAT(news.PortLines(), IsEmpty()) << "as it should be";
}

TEST(JobNewsTest, AClientThatComesLateHearsNothingThatIsOver) {
  Attempt am;
  JobNews news;
  for (const char* task : {"worker:1", "worker:2", "worker:3"})
    news.Take(am.Port(task, PortListener::kNobody));
  news.Take(am.Port("worker:1", PortListener::kOurs));
  news.Take(am.Ends("worker:2"));
  EXPECT_THAT(news.PortLines(), ElementsAre(HasSubstr("worker:3 does not listen")));
}

TEST(JobNewsTest, NodesAreAwaitedUntilTheyComeOrTheJobIsDecided) {
  Attempt am;
  JobNews news;
  const std::string waits = "worker needs 4 GPUs";
  news.Take(am.Line(NodesAwaited{.limit = waits}));
  EXPECT_EQ(news.limit(), waits);
  news.Take(am.Line(NodesAwaited{}));
  EXPECT_EQ(news.limit(), "");
  news.Take(am.Line(NodesAwaited{.limit = waits}));
  news.Take(am.Line(VerdictReached{.status = JobStatus::kFailed}));
  EXPECT_EQ(news.limit(), "");
}

TEST(JobNewsTest, TheNextAttemptsLinesCountFromOneAgain) {
  Attempt first, second;
  JobNews news;
  for (int i = 0; i < 5; ++i) news.Take(first.Line(NodesAwaited{.limit = "of the first"}));
  news.NextAttempt();
  EXPECT_EQ(news.limit(), "");
  news.Take(second.Line(NodesAwaited{.limit = "of the second"}));
  EXPECT_EQ(news.limit(), "of the second");
}

TEST(JobNewsTest, WhatIsNoLineOfOursTellsNothing) {
  JobNews news;
  for (const char* line : {"", "\"PortUseFound\"", "{\"type\": \"NodesAwaited\"}", "[]"})
    news.Take(line);
  EXPECT_EQ(news.limit(), "");
  EXPECT_THAT(news.PortLines(), IsEmpty());
}

}  // namespace
}  // namespace tfyarn::apps::job_news_test
