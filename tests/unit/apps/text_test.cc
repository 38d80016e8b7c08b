#include <gtest/gtest.h>

#include <sstream>

#include "apps/cli/human.h"
#include "apps/cli/policy_page.h"
#include "apps/cli/progress.h"
#include "apps/cli/verdict_text.h"

namespace tfyarn::cli::text_test {
namespace {

TEST(HumanTest, SecondsGetTheUnitThatFits) {
  EXPECT_EQ(HumanSeconds(0.0123), "12.3 ms");
  EXPECT_EQ(HumanSeconds(0), "0 s");
  EXPECT_EQ(HumanSeconds(5.6), "5.6 s");
  EXPECT_EQ(HumanSeconds(99.94), "99.9 s");
  EXPECT_EQ(HumanSeconds(1100), "18m20s");
  EXPECT_EQ(HumanSeconds(7500), "2h05m");
  EXPECT_EQ(HumanSeconds(86399), "1d00h");
  EXPECT_EQ(HumanSeconds(3 * 86400 + 4 * 3600), "3d04h");
  EXPECT_EQ(HumanSeconds(-1), "-");
  EXPECT_EQ(HumanPercent(0.934), "93 %");
  EXPECT_EQ(HumanPercent(0.0034), "0.3 %");
  EXPECT_EQ(HumanPercent(0), "0 %");
  EXPECT_EQ(HumanCount(1234567), "1,234,567");
  EXPECT_EQ(HumanCount(123), "123");
  EXPECT_EQ(Plural(1, "job"), "1 job");
}

TEST(ProgressTest, SaysHowFarAndHowLong) {
  const ProgressState state{.done = 10,
                            .total = 40,
                            .noun = "job",
                            .simulated_seconds = 7200,
                            .horizon_seconds = 86400,
                            .wall_seconds = 2};
  EXPECT_EQ(ProgressText(state, 100), "10/40 jobs  2h00m simulated (3600x)  ~6 s left");
  EXPECT_EQ(ProgressText(state, 10), "10/40 jobs");
  EXPECT_EQ(SecondsLeft({.done = 0, .total = 40}), std::nullopt);
}

trace::Result Failed() {
  trace::Result result;
  result.scenario = "worker-node-dies";
  result.seed = 7;
  result.verdict = trace::Verdict::kFailed;
  result.exit_code = 20;
  result.digest = "d1";
  result.metrics = {
      {.name = "jobs_failed", .value = 1},         {.name = "jobs_finished", .value = 1},
      {.name = "jct_mean_seconds", .value = 1100}, {.name = "goodput", .value = 0.93},
      {.name = "lost_work_seconds", .value = 40},  {.name = "restarts_gang", .value = 1}};
  trace::JobResult job;
  job.name = "a";
  job.status = JobStatus::kFailed;
  job.diagnostics = "ps:0 ended 137 \x1b[31m";
  result.jobs.push_back(job);
  result.stopped = Instant(1234s);
  result.expectations = {{.text = "job a status SUCCEEDED", .passed = false, .got = "FAILED"},
                         {.text = "fine", .passed = true, .got = "1"}};
  result.invariants = {{.name = "capacity",
                        .checked = 9,
                        .violations = 2,
                        .off_because = "",
                        .first_at = Instant(3s),
                        .first_detail = "n1 holds 9 of 8"}};
  return result;
}

TEST(VerdictTextTest, TellsWhatFailedAndHow) {
  const std::string text = VerdictText(Failed(), {.color = false, .report = "out/report.html"});
  for (const char* part :
       {"failed  worker-node-dies, seed 7", "1 job: 1 failed", "18m20s", "93 %",
        "40 s of training, 1 restart", "expected job a status SUCCEEDED", "got FAILED",
        "invariant capacity broke 2 times, first at 3.000 s: n1 holds 9 of 8",
        "job a failed: ps:0 ended 137", "out/report.html", "d1"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  EXPECT_EQ(text.find("fine"), std::string::npos);
}

TEST(VerdictTextTest, AFaultWithoutEffectIsTold) {
  trace::Result result = Failed();
  EXPECT_EQ(VerdictText(result, {}).find("no effect"), std::string::npos);
  result.faults_without_effect = {
      {.index = 2, .kind = "hang", .why = "what it names was not there"}};
  EXPECT_NE(VerdictText(result, {}).find("fault 2 (hang), what it names was not there"),
            std::string::npos);
}

// Diagnostics hold the last lines of a process's stderr: they must not be able to repaint the
// terminal.
TEST(VerdictTextTest, TextOfARunCannotSteerTheTerminal) {
  EXPECT_EQ(VerdictText(Failed(), {}).find('\x1b'), std::string::npos);
}

TEST(VerdictTextTest, ColourIsOnlyInTheHeading) {
  const std::string text = VerdictText(Failed(), {.color = true, .report = ""});
  EXPECT_EQ(text.find("\x1b[1m\x1b[31mfailed\x1b[0m"), 0U);
}

TEST(VerdictTextTest, AnEnsembleNamesItsFailedSeedsAndHowToRunThemAgain) {
  trace::Ensemble ensemble{
      .scenario = "s", .first_seed = 0, .last_seed = 99, .verdict = trace::Verdict::kFailed};
  ensemble.all.runs = 100;
  ensemble.all.pass_rate = 0.99;
  ensemble.all.deadlock_rate = 0.01;
  ensemble.all.failed_runs = 1;
  ensemble.all.failed = {
      {.seed = 4, .exit_code = 20, .reason = "why", .replay = "tfsim run f.yaml --seed 4"}};
  const std::string text = VerdictText(ensemble, {});
  for (const char* part : {"seeds 0..99", "100 runs: 99 % passed", "1.0 %", "seed 4: why",
                           "again: tfsim run f.yaml --seed 4"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST(PolicyPageTest, EveryRowOfEveryPolicyIsThereAndFitsATerminal) {
  for (const std::string_view name : policy::Names()) {
    const policy::Text text = policy::Describe(name, {}).value();
    const std::string page = PolicyPage(text);
    for (const auto* rows : {&text.options, &text.roles, &text.rows, &text.verdicts}) {
      for (const policy::RowText& row : *rows) {
        EXPECT_NE(page.find("\n  " + row.name), std::string::npos) << name << " " << row.name;
      }
    }
    std::istringstream lines(page);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
  }
}

TEST(PolicyPageTest, ARowSaysWhenWhatAndWhoPays) {
  const policy::Text text{.name = "p",
                          .summary = "s",
                          .options = {},
                          .roles = {},
                          .rows = {{.name = "gone",
                                    .when = "chief; any failure",
                                    .action = "fail",
                                    .pays = "user",
                                    .why = "training is over"}},
                          .verdicts = {}};
  EXPECT_NE(PolicyPage(text).find("  gone  chief; any failure -> fail, paid by user\n"
                                  "          training is over\n"),
            std::string::npos)
      << PolicyPage(text);
}

}  // namespace
}  // namespace tfyarn::cli::text_test
