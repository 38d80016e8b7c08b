#include "apps/cli/replay_recordings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>

#include "config/load.h"
#include "core/agent/task_agent.h"
#include "tests/unit/files.h"

namespace tfyarn::cli::replay_recordings_test {
namespace {

using testing::HasSubstr;

constexpr const char* kJob =
    "schema: tfyarn.job/v1\n"
    "name: a\n"
    "tasks: {worker: {instances: 1, memory: 64MiB, command: [\"true\"]}}\n";

/// An agent that starts, leases a port and registers, recorded as its host does.
hosts::Recording AgentRecording() {
  hosts::Recording recording{
      .header = {.version = "1", .who = hosts::Recorded::kAgent, .seed = 7, .job_file = kJob}};
  agent::TaskAgent machine(
      std::make_shared<const JobSpec>(config::LoadJobText(kJob, "job.yaml").value()), 7);
  const std::vector<AgentEvent> events{
      AgentStarted{.fence = {.task = {.type = "worker", .index = 0}}, .am_attempt = 1},
      PortLeased{.port = 4000}, DeadlineReached{}, TerminationRequested{}};
  Instant now{};
  for (const AgentEvent& event : events) {
    now += 2s;
    std::vector<AgentAction> actions;
    machine.Step(now, event, actions);
    recording.records.push_back({.at = now, .fact = trace::AgentTold{.event = event}});
    for (const AgentAction& action : actions)
      recording.records.push_back({.at = now, .fact = trace::AgentOrdered{.action = action}});
  }
  return recording;
}

TEST(ReplayRecordingsTest, TheSameEventsGiveTheSameActions) {
  const auto replayed = ReplayRecording(AgentRecording());
  ASSERT_TRUE(replayed) << replayed.error().message;
  EXPECT_EQ(replayed->steps, 4U);
  EXPECT_GE(replayed->actions, 4U);
  EXPECT_FALSE(replayed->first);
}

TEST(ReplayRecordingsTest, AnotherActionIsTheFirstDifference) {
  hosts::Recording recording = AgentRecording();
  for (trace::TraceRecord& record : recording.records) {
    auto* ordered = std::get_if<trace::AgentOrdered>(&record.fact);
    if (ordered == nullptr || !std::holds_alternative<SendToAm>(ordered->action)) continue;
    std::get<SendToAm>(ordered->action).am_attempt = 9;
    break;
  }
  const auto replayed = ReplayRecording(recording);
  ASSERT_TRUE(replayed && replayed->first);
  EXPECT_EQ(replayed->first->step, 2U);
  EXPECT_THAT(replayed->first->event, HasSubstr("PortLeased"));
  EXPECT_THAT(replayed->first->then, HasSubstr("am_attempt=9"));
  EXPECT_THAT(replayed->first->now, HasSubstr("am_attempt=1"));
}

TEST(ReplayRecordingsTest, AnActionTooManyOrTooFewIsADifference) {
  hosts::Recording more = AgentRecording();
  more.records.insert(more.records.begin() + 2,
                      {.at = more.records[0].at, .fact = trace::AgentOrdered{.action = Note{"x"}}});
  EXPECT_EQ(ReplayRecording(more)->first->now, "nothing");
  hosts::Recording fewer = AgentRecording();
  fewer.records.erase(fewer.records.begin() + 1);
  EXPECT_EQ(ReplayRecording(fewer)->first->then, "nothing");
}

TEST(ReplayRecordingsTest, WhatWasCutOffAtTheEndIsNoDifference) {
  hosts::Recording cut = AgentRecording();
  cut.records.pop_back();
  EXPECT_FALSE(ReplayRecording(cut)->first);
}

TEST(ReplayRecordingsTest, AJobThatCannotBeReadIsAnError) {
  hosts::Recording recording = AgentRecording();
  recording.header.job_file = "name: [";
  EXPECT_FALSE(ReplayRecording(recording));
}

TEST(ReplayRecordingsTest, ARunOfAnotherVersionIsReplayedAndNamed) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "recordings");
  const hosts::Recording recording = AgentRecording();
  {
    auto recorder =
        hosts::Recorder::Open(folder.path() / "recordings" / "agent.record", recording.header);
    ASSERT_TRUE(recorder) << recorder.error().message;
    for (const trace::TraceRecord& record : recording.records)
      recorder->Write(record.at, record.fact);
  }
  testing::internal::CaptureStdout();
  const int code = ReplayRunDirectory(folder.path(), "2");
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_EQ(code, 0) << text;
  EXPECT_THAT(text, HasSubstr("agent.record: written by version 1, replayed by 2\n"));
  EXPECT_THAT(text, HasSubstr("agent.record: same, 4 steps"));
}

}  // namespace
}  // namespace tfyarn::cli::replay_recordings_test
