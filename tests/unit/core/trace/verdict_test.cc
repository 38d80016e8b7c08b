#include "core/trace/verdict.h"

#include <gtest/gtest.h>

namespace tfyarn::trace::verdict_test {
namespace {

Result WithJobs(const std::vector<JobStatus>& statuses) {
  Result result;
  for (const JobStatus status : statuses) {
    JobResult job;
    job.name = "j" + std::to_string(result.jobs.size());
    job.status = status;
    result.jobs.push_back(job);
  }
  return result;
}

std::int32_t CodeOf(Result result, const std::set<std::string>& expected = {}) {
  Judge(result, expected);
  EXPECT_EQ(result.verdict == Verdict::kPassed, result.exit_code == 0);
  EXPECT_EQ(result.reason.empty(), result.exit_code == 0);
  return result.exit_code;
}

TEST(VerdictTest, JobsDecideWhenNothingElseDoes) {
  EXPECT_EQ(CodeOf(WithJobs({JobStatus::kSucceeded})), 0);
  EXPECT_EQ(CodeOf(WithJobs({JobStatus::kSucceeded, JobStatus::kFailed})), 10);
  EXPECT_EQ(CodeOf(WithJobs({JobStatus::kKilled})), 11);
  EXPECT_EQ(CodeOf(WithJobs({JobStatus::kKilled, JobStatus::kFailed})), 10);
  EXPECT_EQ(CodeOf(WithJobs({JobStatus::kFailed, JobStatus::kUnfinished})), 20);
}

TEST(VerdictTest, TheReasonNamesTheFirstJobAndSaysHowManyThereAre) {
  Result one = WithJobs({JobStatus::kSucceeded, JobStatus::kFailed});
  one.jobs[1].diagnostics = "why";
  Judge(one, {});
  EXPECT_EQ(one.reason, "job j1 failed: why");
  Result two = WithJobs({JobStatus::kKilled, JobStatus::kKilled});
  Judge(two, {});
  EXPECT_EQ(two.reason, "2 jobs killed, the first is j0");
}

TEST(VerdictTest, AnExpectedStatusIsTheExpectationsBusiness) {
  EXPECT_EQ(CodeOf(WithJobs({JobStatus::kFailed}), {"j0"}), 0);
  EXPECT_EQ(CodeOf(WithJobs({JobStatus::kUnfinished}), {"j0"}), 0);
  EXPECT_EQ(CodeOf(WithJobs({JobStatus::kFailed, JobStatus::kKilled}), {"j0"}), 11);
}

TEST(VerdictTest, TheWorstThingDecides) {
  Result result = WithJobs({JobStatus::kFailed});
  result.expectations.push_back({.text = "t", .passed = false, .got = "g"});
  EXPECT_EQ(CodeOf(result), 20);
  result.stop_reason = StopReason::kInterrupted;
  EXPECT_EQ(CodeOf(result), 130);
  result.invariants.push_back(
      {.name = "capacity", .checked = 1, .violations = 1, .off_because = "", .first_detail = "d"});
  EXPECT_EQ(CodeOf(result), 21);
}

TEST(VerdictTest, AnInvariantThatIsOffBreaksNothing) {
  Result result = WithJobs({JobStatus::kSucceeded});
  result.invariants.push_back(
      {.name = "progress", .checked = 0, .violations = 1, .off_because = "meant to hang"});
  EXPECT_EQ(CodeOf(result), 0);
}

}  // namespace
}  // namespace tfyarn::trace::verdict_test
