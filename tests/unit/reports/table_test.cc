#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <pugixml.hpp>
#include <vector>

#include "reports/csv.h"
#include "reports/junit.h"
#include "reports/trace_events.h"

namespace tfyarn::reports::table_test {
namespace {

trace::Result Small() {
  trace::Result result;
  result.scenario = "small";
  result.seed = 3;
  result.exit_code = 21;
  trace::JobResult job;
  job.name = "a";
  job.status = JobStatus::kFailed;
  job.diagnostics = "line one\nsays \"no\", twice";
  job.submitted = Instant(1500ms);
  job.finished = Instant(4s);
  job.gpu.useful = 2'500'000'000;
  job.tasks = {{.task = {"worker", 1},
                .attempts = {{.attempt = TaskAttempt(0),
                              .node = "n1",
                              .exit = 1,
                              .exit_class = ExitClass::kUserPermanent,
                              .started = Instant(2s)}}}};
  result.jobs.push_back(job);
  result.stopped = Instant(5s);
  result.expectations = {{.text = "a < b & c", .passed = false, .got = "\x01 3"}};
  result.invariants = {
      {.name = "capacity", .checked = 9},
      {.name = "progress", .checked = 0, .violations = 0, .off_because = "meant to hang"},
      {.name = "one-owner",
       .checked = 2,
       .violations = 1,
       .off_because = "",
       .first_detail = "two"}};
  return result;
}

TEST(CsvTest, CellsWithSeparatorsAreQuoted) {
  const std::string csv = JobsCsv(Small());
  EXPECT_NE(csv.find("\"line one\nsays \"\"no\"\", twice\",0,"), std::string::npos);
  EXPECT_NE(csv.find("\r\na,,,FAILED,0,0,1.5,,,,4,"), std::string::npos) << csv;
}

TEST(CsvTest, EveryLineHasAsManyCellsAsTheHeader) {
  trace::Result result = Small();
  result.jobs[0].diagnostics = "plain";
  for (const std::string& csv : {JobsCsv(result), AttemptsCsv(result)}) {
    std::vector<std::ptrdiff_t> commas;
    for (std::size_t begin = 0; begin < csv.size();) {
      const auto end = csv.find("\r\n", begin);
      commas.push_back(std::count(csv.begin() + static_cast<std::ptrdiff_t>(begin),
                                  csv.begin() + static_cast<std::ptrdiff_t>(end), ','));
      begin = end + 2;
    }
    ASSERT_EQ(commas.size(), 2U);
    EXPECT_EQ(commas[0], commas[1]) << csv;
  }
}

TEST(JUnitTest, ExpectationsInvariantsAndJobsAreCases) {
  pugi::xml_document document;
  ASSERT_TRUE(document.load_string(JUnitXml(Small()).c_str()));
  const pugi::xml_node suite = document.child("testsuites").child("testsuite");
  EXPECT_EQ(suite.attribute("tests").as_int(), 5);
  EXPECT_EQ(suite.attribute("failures").as_int(),
            2);  // the job's failure is not what this run is about
  EXPECT_EQ(suite.attribute("skipped").as_int(), 1);
  const pugi::xml_node expectation = suite.find_child_by_attribute("classname", "expectation");
  EXPECT_STREQ(expectation.attribute("name").value(), "a < b & c");
  EXPECT_STREQ(expectation.child("failure").attribute("message").value(), "got ? 3");
}

TEST(CsvTest, TimesSayTheirUnit) {
  const std::string csv = JobsCsv(Small());
  const std::string header = csv.substr(0, csv.find("\r\n"));
  for (const char* title :
       {",submitted_seconds,", ",jct_seconds,", ",time_queued_seconds,", ",time_ending_seconds"}) {
    EXPECT_NE(header.find(title), std::string::npos) << title;
  }
}

// What a task writes to its stderr may be anything; a CI system reads XML 1.0 or nothing.
TEST(JUnitTest, BytesThatXmlCannotHoldAreReplaced) {
  trace::Result result = Small();
  result.expectations = {{.text = "a\xFF\xC3\xA9\xED\xA0\x80\xEF\xBF\xBF\xF4\x90\x80\x80\xC0\x80z",
                          .passed = true,
                          .got = ""}};
  pugi::xml_document document;
  ASSERT_TRUE(document.load_string(JUnitXml(result).c_str()));
  const pugi::xml_node suite = document.child("testsuites").child("testsuite");
  EXPECT_STREQ(suite.find_child_by_attribute("classname", "expectation").attribute("name").value(),
               "a?\xC3\xA9????????????z");
}

TEST(JUnitTest, AJobThatDecidesTheVerdictIsAFailure) {
  trace::Result result = Small();
  result.exit_code = 10;
  pugi::xml_document document;
  ASSERT_TRUE(document.load_string(JUnitXml(result).c_str()));
  const pugi::xml_node job =
      document.child("testsuites").child("testsuite").find_child_by_attribute("classname", "job");
  EXPECT_TRUE(job.child("failure"));
}

TEST(JUnitTest, AnEnsembleHasACaseForEachFailedRun) {
  trace::Ensemble ensemble{.scenario = "s", .first_seed = 1, .last_seed = 9};
  ensemble.all.runs = 9;
  ensemble.all.failed_runs = 1;
  ensemble.all.failed = {{.seed = 4, .exit_code = 20, .reason = "why", .replay = "tfsim run"}};
  pugi::xml_document document;
  ASSERT_TRUE(document.load_string(JUnitXml(ensemble).c_str()));
  EXPECT_EQ(document.child("testsuites").attribute("failures").as_int(), 1);
  EXPECT_EQ(document.child("testsuites").attribute("tests").as_int(), 2);
}

TEST(TraceEventsTest, OutagesAtTheSameTimeAreOnTracksOfTheirOwn) {
  trace::Result result = Small();
  result.timeline.outages = {{.node = "n1", .begin = Instant(1s), .end = Instant(9s)},
                             {.node = "n2", .begin = Instant(2s), .end = Instant(20s)},
                             {.node = "n1", .begin = Instant(30s), .end = Instant(40s)}};
  const auto json = nlohmann::json::parse(TraceEventsJson(result));
  std::vector<int> tracks;
  for (const auto& event : json["traceEvents"]) {
    if (event["ph"] == "X" && event["pid"] == 2) tracks.push_back(event["tid"]);
  }
  ASSERT_EQ(tracks.size(), 3U);
  EXPECT_NE(tracks[0], tracks[1]);
  EXPECT_EQ(tracks[0], tracks[2]);
}

TEST(TraceEventsTest, BarsOfOneNodeThatOverlapGetTracksOfTheirOwn) {
  trace::Result result = Small();
  const auto bar = [](std::int64_t begin, std::int64_t end) {
    return trace::ContainerBar{.node = "n1",
                               .job = trace::JobIndex(0),
                               .task = "worker:0",
                               .begin = Instant(begin * 1s),
                               .end = Instant(end * 1s)};
  };
  result.timeline.bars = {bar(0, 10), bar(5, 15), bar(10, 20)};
  result.timeline.marks = {{.job = trace::JobIndex(0), .at = Instant(1s), .phase = "queued"},
                           {.job = trace::JobIndex(0), .at = Instant(3s), .phase = "ended"}};
  const auto json = nlohmann::json::parse(TraceEventsJson(result));
  std::vector<std::pair<double, int>> spans;
  for (const auto& event : json["traceEvents"]) {
    if (event["ph"] == "X" && event["pid"] == 2) spans.emplace_back(event["ts"], event["tid"]);
    if (event["ph"] == "X" && event["pid"] == 1) {
      EXPECT_EQ(event["name"], "queued");
      EXPECT_EQ(event["dur"], 2e6);
    }
  }
  EXPECT_EQ(spans, (std::vector<std::pair<double, int>>{{0, 1}, {5e6, 2}, {10e6, 1}}));
}

}  // namespace
}  // namespace tfyarn::reports::table_test
