#include "apps/local/job_verdict.h"

#include <gmock/gmock.h>

#include "core/policy/diagnostics.h"

namespace tfyarn::local::job_verdict_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::size_t CountOf(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(JobVerdictTest, EveryRowSaysItsOwn) {
  VerdictReached verdict{.status = JobStatus::kFailed,
                         .diagnostics = {},
                         .cause = Cause{.task = {.type = "worker", .index = 0},
                                        .exit = 1,
                                        .exit_class = ExitClass::kUserPermanent,
                                        .node = "here",
                                        .detail = "line one\nValueError: bad shape\n"},
                         .rule = "default/user-permanent-exhausted"};
  verdict.diagnostics = policy::FailureText(verdict, "retries.user allows no restart for it",
                                            {.unpaid = "retries.user"});
  trace::JobResult job{.name = "j"};
  job.status = JobStatus::kFailed;
  job.diagnostics = verdict.diagnostics;
  job.cause = verdict.cause;
  job.rule = verdict.rule;
  const std::string text = JobVerdictText(job, "run", false);
  EXPECT_EQ(CountOf(text, "ValueError: bad shape"), 1U) << text;
  EXPECT_EQ(CountOf(text, "ended with 1 (user-permanent)"), 1U) << text;
  EXPECT_EQ(CountOf(text, "default/user-permanent-exhausted"), 1U) << text;
  EXPECT_THAT(text, HasSubstr("  why        retries.user allows no restart for it. Look at the "
                              "task's log; retries.user lets it try again.\n"));
}

TEST(JobVerdictTest, AMasterWithoutAttemptsHasCauseRuleAndAdvice) {
  trace::JobResult job{.name = "j"};
  job.status = JobStatus::kFailed;
  job.diagnostics = "Application application_1_0001 failed 2 times due to AM Container for a";
  job.cause = Cause{.exit_class = ExitClass::kAmLost, .detail = job.diagnostics};
  job.rule = "yarn/am-attempts";
  const std::string text = JobVerdictText(job, "run", false);
  EXPECT_THAT(text, HasSubstr("cause      the ApplicationMaster (am-lost)\n"));
  EXPECT_THAT(text, HasSubstr("rule       yarn/am-attempts\n"));
  EXPECT_THAT(text, HasSubstr("why        Every attempt of the ApplicationMaster"));
  EXPECT_EQ(CountOf(text, job.diagnostics), 1U) << text;
}

}  // namespace
}  // namespace tfyarn::local::job_verdict_test
