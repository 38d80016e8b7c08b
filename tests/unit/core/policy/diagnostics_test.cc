#include "core/policy/diagnostics.h"

#include <gmock/gmock.h>

namespace tfyarn::policy::diagnostics_test {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kTraceback = std::string(4000, 'x') +
                               "\nTraceback (most recent call last):\n  File \"t.py\", line 3\n" +
                               "ValueError: bad shape.\n\n";

VerdictReached Failed(ExitClass exit_class, std::string detail) {
  return {.status = JobStatus::kFailed,
          .diagnostics = {},
          .cause = Cause{.task = {.type = "worker", .index = 1},
                         .exit = 1,
                         .exit_class = exit_class,
                         .node = "n4",
                         .detail = std::move(detail)},
          .rule = "default/some-rule"};
}

Tried Unpaid(Budget budget, std::int32_t restarts) {
  return {.unpaid = budget == Budget::kNone ? "" : "retries." + KebabName(budget),
          .restarts = restarts};
}

TEST(DiagnosticsTest, TheTextHasTheLastLineOfWhatTheTaskWrote) {
  const std::string text = FailureText(Failed(ExitClass::kUserPermanent, kTraceback), "it broke");
  EXPECT_EQ(text,
            "Cause: worker:1 on n4 ended with 1 (user-permanent). Details: ValueError: bad shape. "
            "Why: it broke. Rule: default/some-rule. Look at the task's log.");
}

TEST(DiagnosticsTest, ALongLineIsCutBetweenCharacters) {
  std::string line(199, 'a');
  for (int i = 0; i < 50; ++i) line += "\xC3\xA4";
  const std::string text = FailureText(Failed(ExitClass::kUnknown, line), "");
  EXPECT_THAT(text, HasSubstr(" Details: " + std::string(199, 'a') + ". Rule: "));
}

TEST(DiagnosticsTest, WhyAloneRepeatsNeitherCauseNorDetailNorRule) {
  VerdictReached verdict = Failed(ExitClass::kUserPermanent, kTraceback);
  verdict.diagnostics = FailureText(verdict, "it broke. Rule: of thumb");
  EXPECT_EQ(WhyAlone(verdict.diagnostics, verdict.cause, verdict.rule),
            "it broke. Rule: of thumb. Look at the task's log.");
  verdict.diagnostics = FailureText(verdict, kTraceback);
  EXPECT_THAT(WhyAlone(verdict.diagnostics, verdict.cause, verdict.rule), Not(HasSubstr("Cause")));
  verdict.diagnostics = FailureText(verdict, "");
  EXPECT_EQ(WhyAlone(verdict.diagnostics, verdict.cause, verdict.rule), "Look at the task's log.");
}

TEST(DiagnosticsTest, WhyAloneLeavesOtherTextsAndNothingOfTheDetail) {
  const Cause cause{.exit_class = ExitClass::kAmLost, .detail = "Application a failed 2 times"};
  EXPECT_EQ(WhyAlone("killed by its user", std::nullopt, ""), "killed by its user");
  EXPECT_EQ(WhyAlone("killed by its user", cause, "r"), "killed by its user");
  EXPECT_EQ(WhyAlone(cause.detail, cause, "r"), "");
  EXPECT_EQ(CauseText(cause), "the ApplicationMaster (am-lost)");
}

// A restart that was tried, or that no rule would make, is not advised.
TEST(DiagnosticsTest, AdviceIsWhatCouldHelp) {
  const auto advice = [](ExitClass exit_class, const Tried& tried) {
    return AdviceFor(*Failed(exit_class, "").cause, tried);
  };
  EXPECT_THAT(advice(ExitClass::kUserPermanent, Unpaid(Budget::kUser, 0)),
              HasSubstr("retries.user lets it try again"));
  EXPECT_THAT(advice(ExitClass::kUserPermanent, Unpaid(Budget::kUser, 3)),
              Not(HasSubstr("retries")));
  EXPECT_THAT(advice(ExitClass::kUserPermanent, {}), Not(HasSubstr("retries")));
  EXPECT_THAT(advice(ExitClass::kUserRetryable, {}), Not(HasSubstr("retries")));
  EXPECT_THAT(advice(ExitClass::kUserRetryable, Unpaid(Budget::kUser, 3)),
              HasSubstr("Raise retries.user"));
  EXPECT_THAT(advice(ExitClass::kNodeLost, Unpaid(Budget::kInfrastructure, 3)),
              HasSubstr("raise retries.infrastructure"));
  EXPECT_THAT(advice(ExitClass::kNodeLost, Unpaid(Budget::kUser, 3)),
              HasSubstr("raise retries.user"));
  EXPECT_THAT(advice(ExitClass::kNodeLost, {}), Not(HasSubstr("raise")));
  EXPECT_THAT(advice(ExitClass::kNodeLost, Unpaid(Budget::kNone, 3)), Not(HasSubstr("raise")));
  EXPECT_THAT(advice(ExitClass::kNodeLost, {.unpaid = "max_retry_count", .restarts = 3}),
              HasSubstr(", or raise max_retry_count"));
  EXPECT_THAT(advice(ExitClass::kKilledExternal, {}), Not(HasSubstr("retries")));
  EXPECT_THAT(advice(ExitClass::kOom, {}), HasSubstr("raise-memory"));
  EXPECT_THAT(advice(ExitClass::kOom, Unpaid(Budget::kInfrastructure, 3)),
              Not(HasSubstr("raise-memory")));
  EXPECT_THAT(advice(ExitClass::kOom, {.most_memory = true}), Not(HasSubstr("more memory")));
}

TEST(DiagnosticsTest, AdviceForAJobSpeaksOfNoTask) {
  for (const ExitClass exit_class :
       {ExitClass::kUnknown, ExitClass::kTimeout, ExitClass::kAmLost, ExitClass::kGangTimeout}) {
    EXPECT_THAT(AdviceFor({.exit_class = exit_class}, {}), Not(ContainsRegex("the task('s| )")));
  }
}

}  // namespace
}  // namespace tfyarn::policy::diagnostics_test
