#include "hosts/runtime/run_documents.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "core/trace/json.h"

namespace tfyarn::hosts::run_documents_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using trace::TraceRecord;

constexpr ApplicationAttemptId kAttempt{.application = {.cluster_timestamp = 5, .id = 1},
                                        .attempt = 1};
constexpr ContainerId kWorker{.application_attempt = kAttempt, .id = 2};
const NodeId kNode{.host = "gpu-1", .port = 8041};

TraceRecord At(int second, trace::Fact fact) {
  return {.at = Instant(std::chrono::seconds(second)), .fact = std::move(fact)};
}

TraceRecord Says(int second, AmAction action) {
  return At(second, trace::AmOrdered{.job = {}, .am_attempt = 1, .action = std::move(action)});
}

TraceRecord Grant(int second, const ContainerId& id, std::int64_t gpus = 1) {
  return At(second, trace::ContainerGranted{
                        .job = {}, .container = id, .node = kNode, .resource = {.gpus = gpus}});
}

/// A job from its submission to its verdict.
std::vector<TraceRecord> SmallRun() {
  return {
      At(0, trace::JobRunStarted{.name = "mnist"}),
      At(0, trace::NodeDeclared{.node = kNode, .capacity = {.vcores = 4, .gpus = 2}}),
      At(0, trace::JobCreated{.job = {}, .name = "mnist", .queue = "ml", .tasks = 1, .gpus = 1}),
      Grant(2, kWorker),
      Says(3, JobStateChanged{.state = JobState::kRunning}),
      Says(3, TaskAttemptStarted{.task = {"worker", 0}, .container = kWorker, .node = kNode}),
      Says(9, VerdictReached{.status = JobStatus::kSucceeded, .rule = "default/success"}),
      At(10, trace::ContainerFreed{.job = {}, .container = kWorker}),
      At(11, trace::ApplicationEnded{.job = {},
                                     .application = kAttempt.application,
                                     .final_status = yarn::FinalApplicationStatus::kSucceeded})};
}

std::string Lines(const std::vector<TraceRecord>& records, std::uint64_t first = 1) {
  std::string text;
  for (const TraceRecord& record : records)
    text += trace::RecordJson(record, {.seq = first++}) + "\n";
  return text;
}

/// What a reader gives, as seconds and names.
struct Reading {
  std::vector<std::string> given;
  EventsReader reader{[this](const TraceRecord& record) {
    given.push_back(
        std::to_string(record.at.time_since_epoch() / 1s) + " " +
        std::visit(
            [](const auto& fact) { return std::string(TypeName<std::decay_t<decltype(fact)>>()); },
            record.fact));
  }};
};

TEST(RunDocumentsTest, ResultAndReportSayWhatTheRecordsSay) {
  RunDocuments documents("1.2.3", "name: mnist\n");
  for (const TraceRecord& record : SmallRun()) documents.Observe(record);
  const auto made = documents.Make(12s, true);
  const auto json = nlohmann::json::parse(made.json);
  EXPECT_EQ(json["version"], "1.2.3");
  EXPECT_EQ(json["jobs"][0]["status"], "SUCCEEDED");
  EXPECT_EQ(json["jobs"][0]["finished"], 11.0);
  EXPECT_EQ(json["verdict"], "passed");
  ASSERT_TRUE(made.html);
  EXPECT_THAT(*made.html, HasSubstr("name: mnist"));
}

TEST(RunDocumentsTest, ARunIsNamedAfterItsJobAlsoWhereAnOlderVersionWroteAScenario) {
  for (const trace::Fact& began : {trace::Fact(trace::JobRunStarted{.name = "mnist"}),
                                   trace::Fact(trace::RunStarted{.scenario = "mnist"})}) {
    auto run = SmallRun();
    run.front() = At(0, began);
    RunDocuments documents("1.2.3", "");
    EventsReader reader([&](const TraceRecord& record) { documents.Observe(record); });
    reader.Feed(Lines(run));
    const auto json = nlohmann::json::parse(documents.Make(12s, true).json);
    EXPECT_EQ(json["job"], "mnist");
  }
}

TEST(RunDocumentsTest, ARunThatGoesOnIsInterruptedNotFailed) {
  RunDocuments documents("1.2.3", "");
  const auto run = SmallRun();
  for (std::size_t i = 0; i < 5; ++i) documents.Observe(run[i]);
  const auto json = nlohmann::json::parse(documents.Make(4s, false).json);
  EXPECT_EQ(json["jobs"][0]["status"], "UNFINISHED");
  EXPECT_EQ(json["verdict"], "interrupted");
}

TEST(RunDocumentsTest, AnEndByYarnHasARuleAlsoWhereNoAmReachedAVerdict) {
  const auto job_after = [](std::size_t records, JobStatus status) {
    RunDocuments documents("1.2.3", "");
    const auto run = SmallRun();
    for (std::size_t i = 0; i < records; ++i) documents.Observe(run[i]);
    const auto made = documents.MakeEnded(At(20, {}).at, {.status = status, .diagnostics = "why"});
    return made.result.jobs.front();
  };
  EXPECT_EQ(job_after(5, JobStatus::kFailed).rule, "yarn/failed");
  EXPECT_EQ(job_after(3, JobStatus::kKilled).rule, "yarn/killed");
  EXPECT_EQ(job_after(3, JobStatus::kKilled).diagnostics, "why");
  EXPECT_EQ(job_after(7, JobStatus::kSucceeded).rule, "default/success") << "the AM's own stays";
}

TEST(EventsReaderTest, GivesBackWhatWasWrittenInPieces) {
  const std::string text = Lines(SmallRun());
  std::string again;
  std::uint64_t seq = 0;
  EventsReader reader([&](const TraceRecord& record) {
    again += trace::RecordJson(record, {.seq = ++seq}) + "\n";
  });
  for (std::size_t i = 0; i < text.size(); i += 7) reader.Feed(text.substr(i, 7));
  EXPECT_EQ(again, text);
  EXPECT_EQ(reader.unreadable(), 0u);
}

TEST(EventsReaderTest, AnAppendThatWasCutAndRepeatedCountsOnce) {
  const auto run = SmallRun();
  const std::string first = Lines({run[0], run[1]});
  const std::string second = Lines({run[2], run[3]}, 3);
  Reading reading;
  reading.reader.Feed(first + second.substr(0, second.size() - 20) + "\n" + second + second);
  EXPECT_THAT(reading.given, ElementsAre("0 JobRunStarted", "0 NodeDeclared", "0 JobCreated",
                                         "2 ContainerGranted"));
  EXPECT_EQ(reading.reader.unreadable(), 1u);
}

TEST(EventsReaderTest, TheNextAttemptGoesOnWithTheSameJob) {
  const auto run = SmallRun();
  Reading reading;
  reading.reader.Feed(Lines({run[0], run[2], run[3]}));
  reading.reader.NextFile();
  reading.reader.Feed(Lines({run[0], run[2], run[3], run[6]}));
  EXPECT_THAT(reading.given,
              ElementsAre("0 JobRunStarted", "0 JobCreated", "2 ContainerGranted", "9 AmOrdered"));
}

// Files may say anything; what the result is made of may not.
TEST(EventsReaderTest, WhatContradictsTheRecordsBeforeIsLeftOut) {
  Reading reading;
  reading.reader.Feed(
      Lines({Grant(1, kWorker), At(2, trace::JobCreated{.job = trace::JobIndex(1)}),
             At(2, trace::JobCreated{}), Grant(3, kWorker), Grant(3, kWorker),
             Grant(3, {.application_attempt = kAttempt, .id = 3}, -1),
             At(1, trace::ContainerFreed{.container = kWorker}),
             At(1'000'000'000, trace::ApplicationEnded{}), At(4, trace::WorkLost{.work = 1s})}) +
      "{\"at_ns\": 1}\nno line\n[]\n");
  EXPECT_THAT(reading.given, ElementsAre("2 JobCreated", "3 ContainerGranted", "3 ContainerFreed"));
  EXPECT_EQ(reading.reader.unreadable(), 3u);
}

TEST(EventsReaderTest, ALineTooLongIsLeftOutAndTheNextIsRead) {
  Reading reading;
  reading.reader.Feed(std::string(EventsReader::kLongestLine, ' '));
  reading.reader.Feed("x\n" + Lines({At(2, trace::JobCreated{})}));
  EXPECT_THAT(reading.given, ElementsAre("2 JobCreated"));
  EXPECT_EQ(reading.reader.unreadable(), 1u);
}

}  // namespace
}  // namespace tfyarn::hosts::run_documents_test
