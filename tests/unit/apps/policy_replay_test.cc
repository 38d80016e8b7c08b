// What another policy makes of the ends of a run.
#include "apps/cli/policy_replay.h"

#include <gtest/gtest.h>

#include "config/load.h"

namespace tfyarn::cli::policy_replay_test {
namespace {

JobSpec Job(const std::string& more) {
  auto job = config::LoadJobText(
      "name: a\nframework: generic\ntasks: {worker: {instances: 2, memory: 1GiB, command: [x]}}\n" +
          more,
      "job.yaml");
  EXPECT_TRUE(job.has_value());
  return std::move(*job);
}

class Story {
 public:
  Story& Starts(std::int32_t worker, std::uint32_t attempt = 0) {
    return Add(TaskAttemptStarted{.task = {"worker", worker},
                                  .process = {TaskAttempt(attempt), Epoch(1)}});
  }
  Story& Ends(std::int32_t worker, ExitClass exit_class, std::int32_t exit,
              std::uint32_t attempt = 0) {
    return Add(TaskAttemptEnded{.task = {"worker", worker},
                                .process = {TaskAttempt(attempt), Epoch(1)},
                                .exit = exit,
                                .exit_class = exit_class});
  }
  Story& Restarts(std::int32_t cause, Budget paid) {
    return Add(RestartDecided{.unit = RestartUnit::kGang,
                              .paid = paid,
                              .cause = {.task = {"worker", cause}},
                              .tasks = {{"worker", 0}, {"worker", 1}}});
  }
  Story& Add(AmAction action) {
    at_ += 1s;
    records_.push_back(
        {.at = at_,
         .fact = trace::AmOrdered{.job = {}, .am_attempt = 1, .action = std::move(action)}});
    return *this;
  }
  [[nodiscard]] const std::vector<trace::TraceRecord>& records() const { return records_; }

 private:
  Instant at_{};
  std::vector<trace::TraceRecord> records_;
};

std::size_t Count(const std::string& text, std::string_view word) {
  std::size_t count = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
    ++count;
  return count;
}

TEST(PolicyReplayTest, EachPolicyGoesOnFromItsOwnAnswers) {
  Story story;
  story.Starts(0).Starts(1).Ends(1, ExitClass::kUserPermanent, 1).Restarts(1, Budget::kUser);
  story.Starts(0, 1).Starts(1, 1);
  story.Ends(0, ExitClass::kOk, 0, 1).Ends(1, ExitClass::kOk, 0, 1);
  const auto compared = ComparePolicies(Job("retries: {user: 1}"), story.records(), "tfjob");
  ASSERT_TRUE(compared.has_value());
  EXPECT_TRUE(compared->differ);
  const std::string& text = compared->text;
  EXPECT_NE(text.find("restart-gang, user pays (1 of 1) [default/restart-gang]"), std::string::npos)
      << text;
  EXPECT_NE(text.find("tally [tfjob/replica-failed]; the job has failed"), std::string::npos)
      << text;
  EXPECT_NE(text.find("  default: succeeded by default/success at 8 s\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("  tfjob: failed by tfjob/replica-failed at 3 s\n"), std::string::npos)
      << text;
}

TEST(PolicyReplayTest, ABudgetThatIsSpentFailsTheJob) {
  Story story;
  story.Starts(0).Starts(1).Ends(1, ExitClass::kUserPermanent, 1).Restarts(1, Budget::kUser);
  story.Starts(0, 1).Starts(1, 1).Ends(1, ExitClass::kUserPermanent, 1, 1);
  const auto compared = ComparePolicies(Job("retries: {user: 1}"), story.records(), "default");
  ASSERT_TRUE(compared.has_value());
  EXPECT_FALSE(compared->differ);
  EXPECT_EQ(Count(compared->text, "fail: 1 of 1 restarts are used up"), 2U) << compared->text;
}

TEST(PolicyReplayTest, VictimsAndStoppedProcessesAskForNothing) {
  Story story;
  story.Starts(0).Starts(1);
  story.Ends(1, ExitClass::kNodeLost, -100).Ends(0, ExitClass::kUserPermanent, 1);
  story.Restarts(1, Budget::kInfrastructure).Starts(0, 1).Starts(1, 1);
  story.Ends(0, ExitClass::kKilledByUs, 143, 1);
  const auto compared = ComparePolicies(Job(""), story.records(), "tony");
  ASSERT_TRUE(compared.has_value());
  EXPECT_EQ(Count(compared->text, " ended with "), 1U) << compared->text;
  EXPECT_NE(compared->text.find("worker:1 attempt 0 ended with -100 (node-lost)"),
            std::string::npos);
}

TEST(PolicyReplayTest, BetterEvidenceReplacesAnEnd) {
  Story story;
  story.Starts(0).Starts(1).Ends(1, ExitClass::kKilledExternal, 143);
  story.Ends(1, ExitClass::kPreempted, 143).Restarts(1, Budget::kInfrastructure);
  const auto compared = ComparePolicies(Job(""), story.records(), "tony");
  ASSERT_TRUE(compared.has_value());
  EXPECT_EQ(Count(compared->text, " ended with "), 1U) << compared->text;
  EXPECT_NE(compared->text.find("(preempted)"), std::string::npos);
}

TEST(PolicyReplayTest, AnUnknownPolicyIsTold) {
  const auto compared = ComparePolicies(Job(""), {}, "toni");
  ASSERT_FALSE(compared.has_value());
  EXPECT_NE(compared.error().message.find("default, framework-launcher, hbox"), std::string::npos);
}

}  // namespace
}  // namespace tfyarn::cli::policy_replay_test
