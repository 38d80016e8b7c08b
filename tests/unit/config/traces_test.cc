#include "config/traces.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <lzma.h>

#include <algorithm>
#include <cstdlib>

#include "tests/unit/config/config_testing.h"

namespace tfyarn::config::traces_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string Xz(const std::string& text) {
  std::string out(lzma_stream_buffer_bound(text.size()), '\0');
  std::size_t size = 0;
  const lzma_ret result = lzma_easy_buffer_encode(
      6, LZMA_CHECK_CRC64, nullptr, reinterpret_cast<const std::uint8_t*>(text.data()), text.size(),
      reinterpret_cast<std::uint8_t*>(out.data()), &size, out.size());
  EXPECT_EQ(result, LZMA_OK);
  out.resize(size);
  return out;
}

std::string Philly(const std::string& text) {
  const auto jobs = ReadPhilly("t.csv", 0, OpenVirtual({{"t.csv", text}}));
  return jobs ? "ok" : jobs.error().message;
}

std::string Lanl(const std::string& text, int system = 2) {
  const auto outages = ReadLanl("t.csv", system, OpenVirtual({{"t.csv", text}}));
  return outages ? "ok" : outages.error().message;
}

constexpr std::string_view kPhilly =
    "timestamp,duration,num_gpus,gpu_time,cluster\n"
    "2017-10-09 07:01:55,66.0,1,66.0,11cb48\n"
    "2017-10-09 06:13:03,2951.5,16,2951.0,6214e9\r\n"
    "\n"
    "2017-10-09 07:01:55,0,2,0,11cb48\n";

TEST(PhillyTest, RowsAreSortedAndTheEarliestIsTimeZero) {
  for (const bool compressed : {false, true}) {
    const std::string path = compressed ? "t.csv.xz" : "t.csv";
    const std::string bytes = compressed ? Xz(std::string(kPhilly)) : std::string(kPhilly);
    const auto jobs = ReadPhilly(path, 0, OpenVirtual({{path, bytes}}));
    ASSERT_TRUE(jobs) << jobs.error().message;
    EXPECT_THAT(
        *jobs,
        ElementsAre(
            PhillyJob{.submit = 0s, .duration_seconds = 2951.5, .gpus = 16, .cluster = "6214e9"},
            PhillyJob{.submit = 2932s, .duration_seconds = 66, .gpus = 1, .cluster = "11cb48"},
            PhillyJob{.submit = 2932s, .duration_seconds = 0, .gpus = 2, .cluster = "11cb48"}));
  }
}

TEST(PhillyTest, ALimitKeepsTheEarliest) {
  const auto jobs = ReadPhilly("t.csv", 1, OpenVirtual({{"t.csv", std::string(kPhilly)}}));
  ASSERT_TRUE(jobs);
  ASSERT_EQ(jobs->size(), 1U);
  EXPECT_EQ(jobs->front().gpus, 16);
}

TEST(PhillyTest, ColumnsAreFoundByName) {
  EXPECT_EQ(Philly("cluster,x,Num_GPUs, duration ,timestamp\nc,1,2,3,2017-10-09 07:01:55\n"), "ok");
  EXPECT_EQ(
      Philly("timestamp,duration,gpus,cluster\n"),
      "t.csv:1: there is no column `num_gpus`; there are: timestamp, duration, gpus, cluster");
}

TEST(PhillyTest, ABadRowIsAnErrorWithItsLine) {
  const std::string head = "timestamp,duration,num_gpus,cluster\n2017-10-09 07:01:55,1,1,c\n";
  EXPECT_EQ(Philly(head + "2017-13-09 07:01:55,1,1,c\n"),
            "t.csv:3: timestamp `2017-13-09 07:01:55` is not like 2017-10-09 07:01:55");
  EXPECT_EQ(Philly(head + "2017-10-09,1,1,c\n"),
            "t.csv:3: timestamp `2017-10-09` is not like 2017-10-09 07:01:55");
  EXPECT_EQ(Philly(head + "2017-10-09 07:01:55,-1,1,c\n"),
            "t.csv:3: duration `-1` is not a number of seconds");
  EXPECT_EQ(Philly(head + "2017-10-09 07:01:55,nan,1,c\n"),
            "t.csv:3: duration `nan` is not a number of seconds");
  EXPECT_EQ(Philly(head + "2017-10-09 07:01:55,1,0,c\n"),
            "t.csv:3: num_gpus `0` is not a number from 1");
  EXPECT_EQ(Philly(head + "2017-10-09 07:01:55,1,1\n"), "t.csv:3: has 3 cells, the header has 4");
  EXPECT_EQ(Philly(head + "2017-10-09 07:01:55,1,1,\"c\n"), "t.csv:3: a quote is not closed");
  EXPECT_EQ(Philly(head + std::string(70'000, 'x')), "t.csv:3: a line is longer than 65536 bytes");
  EXPECT_EQ(Philly(""), "t.csv: is empty");
  EXPECT_EQ(Philly("timestamp,duration,num_gpus,cluster\n"), "t.csv: has no rows");
}

TEST(PhillyTest, ADamagedArchiveIsAnError) {
  std::string bytes = Xz(std::string(kPhilly));
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 0x55);
  const auto jobs = ReadPhilly("t.csv.xz", 0, OpenVirtual({{"t.csv.xz", bytes}}));
  ASSERT_FALSE(jobs);
  EXPECT_THAT(jobs.error().message, testing::HasSubstr("is damaged or no xz archive"));
  const auto cut = ReadPhilly("t.csv.xz", 0,
                              OpenVirtual({{"t.csv.xz", Xz(std::string(kPhilly)).substr(0, 60)}}));
  EXPECT_FALSE(cut);
}

constexpr std::string_view kLanl =
    "System,nodenumz,purpose,Prob Started,Prob Fixed,Down Time\n"
    "2,0,\"graphics, fe\",6/21/2005 10:54,6/21/2005 11:00,6\n"
    "20,7,x,1/1/1996 0:00,1/1/1996 1:00,60\n"
    "2,5,\"a \"\"b\"\"\",6/20/2005 10:54,,90\n"
    "2,0,x,6/21/2005 10:57,6/21/2005 12:00,63\n";

TEST(LanlTest, OutagesOfOneSystemInOrder) {
  const auto outages = ReadLanl("t.csv", 2, OpenVirtual({{"t.csv", std::string(kLanl)}}));
  ASSERT_TRUE(outages) << outages.error().message;
  EXPECT_THAT(*outages, ElementsAre(NodeOutage{.node = 5, .start = 0s, .end = 90min},
                                    NodeOutage{.node = 0, .start = 24h, .end = 24h + 6min},
                                    NodeOutage{.node = 0, .start = 24h + 3min, .end = 25h + 6min}));
}

TEST(LanlTest, BadRowsAndOtherSystemsAreErrors) {
  const std::string head = "System,nodenumz,Prob Started,Prob Fixed,Down Time\n";
  EXPECT_EQ(Lanl(std::string(kLanl), 3),
            "t.csv: has no failures of system 3; it has systems 2, 20");
  EXPECT_EQ(Lanl(head + "2,0,6/31/2005 10:54,6/21/2005 11:00,6\n"),
            "t.csv:2: Prob Started `6/31/2005 10:54` is not like 6/21/2005 10:54");
  EXPECT_EQ(Lanl(head + "2,0,6/21/2005 10:54,6/20/2005 11:00,6\n"),
            "t.csv:2: is fixed before it started: 6/21/2005 10:54, 6/20/2005 11:00");
  EXPECT_EQ(Lanl(head + "2,-1,6/21/2005 10:54,6/22/2005 11:00,6\n"),
            "t.csv:2: nodenumz `-1` is not a number from 0");
  EXPECT_EQ(Lanl(head + "2,0,6/21/2005 10:54,,\n"),
            "t.csv:2: Prob Fixed `` is not like 6/21/2005 10:54");
  EXPECT_EQ(Lanl(head + "x,0,6/21/2005 10:54,,\n"), "t.csv:2: System `x` is not a number");
  // Rows of other systems are not looked into.
  EXPECT_EQ(Lanl(head + "3,?,?,?,?\n2,0,6/21/2005 10:54,6/21/2005 11:00,6\n"), "ok");
}

TEST(LanlTest, ANodeIsDownWhileAnyOfItsSourcesIs) {
  const std::vector<NodeOutage> outages = {
      {.node = 0, .start = 0s, .end = 10s},  {.node = 1, .start = 2s, .end = 4s},
      {.node = 2, .start = 5s, .end = 20s},  {.node = 4, .start = 20s, .end = 30s},
      {.node = 6, .start = 40s, .end = 40s}, {.node = 3, .start = 50s, .end = 60s}};
  EXPECT_THAT(FoldOutages(outages, 2),
              ElementsAre(NodeOutage{.node = 0, .start = 0s, .end = 30s},
                          NodeOutage{.node = 1, .start = 2s, .end = 4s},
                          NodeOutage{.node = 1, .start = 50s, .end = 60s}));
  EXPECT_THAT(FoldOutages(outages, 0), IsEmpty());
}

TEST(RealTracesTest, AreReadAsTheyArePublished) {
  const char* directory = std::getenv("TFSIM_TRACES");
  if (directory == nullptr) GTEST_SKIP() << "TFSIM_TRACES names no directory";
  const auto jobs = ReadPhilly(std::string(directory) + "/philly.csv");
  ASSERT_TRUE(jobs) << jobs.error().message;
  EXPECT_EQ(jobs->size(), 82'247U);
  EXPECT_EQ(
      std::count_if(jobs->begin(), jobs->end(), [](const PhillyJob& job) { return job.gpus == 1; }),
      76'627);
  const auto outages = ReadLanl(std::string(directory) + "/lanl.csv.xz", 20);
  ASSERT_TRUE(outages) << outages.error().message;
  EXPECT_EQ(outages->front().start, 0s);
  EXPECT_GT(outages->size(), 2000U);
}

// ---------------------------------------------------------------- in a scenario

constexpr std::string_view kWithTraces = R"(name: t
cluster: {nodes: [{name: n, count: 2, resources: {memory: 16GiB, vcores: 8, gpus: 8}}]}
yarn: {queues: [{path: root.a, capacity: 50%}]}
arrivals:
  - trace: {format: philly, file: ../traces/p.csv, queues: [root.a, default]}
    limit: 2
    template: {tasks: {worker: {memory: 1GiB}}}
faults: [{kind: trace, format: lanl, file: l.csv, system: 2}]
)";

TEST(TraceInScenarioTest, RowsAndOutagesAreInTheScenario) {
  const LoadOptions options{.open = OpenVirtual({{"traces/p.csv", std::string(kPhilly)},
                                                 {"data/l.csv.xz", Xz(std::string(kLanl))}}),
                            .trace_directory = "data"};
  const auto scenario = LoadScenarioText(kWithTraces, "dir/s.yaml", options);
  ASSERT_TRUE(scenario) << Render(scenario.error());
  const ArrivalSpec& arrival = scenario->arrivals[0];
  EXPECT_EQ(arrival.trace_file, "traces/p.csv");
  ASSERT_TRUE(arrival.trace_jobs);
  EXPECT_EQ(arrival.trace_jobs->size(), 2U);
  EXPECT_EQ(arrival.queue_of_cluster,
            (std::map<std::string, std::string>{{"11cb48", "root.a"}, {"6214e9", "default"}}));
  const FaultSpec& fault = scenario->faults[0];
  EXPECT_EQ(fault.trace_file, "data/l.csv.xz");
  EXPECT_EQ(fault.trace_system, 2);
  ASSERT_TRUE(fault.outages);
  EXPECT_THAT(*fault.outages, ElementsAre(NodeOutage{.node = 1, .start = 0s, .end = 90min},
                                          NodeOutage{.node = 0, .start = 24h, .end = 25h + 6min}));
}

TEST(TraceInScenarioTest, AMissingTraceSaysWhereItWasLookedFor) {
  EXPECT_THAT(
      ScenarioErrors(kWithTraces, {.open = OpenVirtual({{"traces/p.csv", std::string(kPhilly)}}),
                                   .trace_directory = "data"}),
      testing::Contains("8:44: `file`: there is no trace `l.csv` | not at l.csv | not at "
                        "data/l.csv | not at l.csv.xz | not at "
                        "data/l.csv.xz | put it there, or name the directory that holds it in the "
                        "environment variable "
                        "TFSIM_TRACES"));
}

TEST(TraceInScenarioTest, WithoutReadingAMissingTraceIsNoError) {
  EXPECT_THAT(ScenarioErrors(kWithTraces, {.open = OpenVirtual({}), .read_traces = false}),
              IsEmpty());
}

TEST(TraceInScenarioTest, ABadRowFailsTheScenario) {
  const LoadOptions options{
      .open = OpenVirtual({{"dir/l.csv", std::string(kLanl)},
                           {"traces/p.csv", "timestamp,duration,num_gpus,cluster\nx,1,1,c\n"}})};
  const auto scenario = LoadScenarioText(kWithTraces, "dir/s.yaml", options);
  ASSERT_FALSE(scenario);
  EXPECT_THAT(Short(scenario.error()),
              ElementsAre("dir/s.yaml:5:35: `file`: traces/p.csv:2: timestamp `x` is not like "
                          "2017-10-09 07:01:55"));
}

TEST(TraceInScenarioTest, WhereATraceLiesIsNotInTheDigest) {
  const LoadOptions options{.open = OpenVirtual({}), .read_traces = false};
  std::string moved(kWithTraces);
  moved.replace(moved.find("../traces/p.csv"), 15, "/some/where/p.csv.xz");
  const auto first = LoadScenarioText(kWithTraces, "s", options);
  const auto second = LoadScenarioText(moved, "s", options);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->digest, second->digest);
}

}  // namespace
}  // namespace tfyarn::config::traces_test
