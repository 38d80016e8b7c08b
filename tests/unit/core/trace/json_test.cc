#include "core/trace/json.h"

#include <gtest/gtest.h>

#include <boost/mp11.hpp>
#include <nlohmann/json.hpp>

#include "tests/unit/core/trace/trace_script.h"

namespace tfyarn::trace::json_test {
namespace {

using Json = nlohmann::ordered_json;

Result SmallResult() {
  TraceScript script;
  script.Fact(RunStarted{.scenario = "small", .scenario_digest = 255, .seed = 1})
      .Node("n1", 8)
      .Job("a");
  script.At(1.25).AmRegisters(0);
  script.At(2).Grant(0, 2, "n1", 8).Starts(0, {"worker", 0}, 0, 2, "n1");
  script.At(9).Ends(0, {"worker", 0}, 0, 2, "n1", 1, ExitClass::kUserPermanent).Free(0, 2, 1);
  script.Am(VerdictReached{.status = JobStatus::kFailed,
                           .diagnostics = "bad \xff byte",
                           .cause = Cause{.task = {"worker", 0},
                                          .exit = 1,
                                          .exit_class = ExitClass::kUserPermanent,
                                          .node = "n1",
                                          .at = Second(9)},
                           .rule = "default/user-permanent"});
  script.At(10).End(0, JobStatus::kFailed);
  return script.Finish({.version = "9.9",
                        .digest = "d",
                        .events = 42,
                        .invariants = {{.name = "capacity", .checked = 3}}});
}

// The names here are the contract of result.json (scenario.md): what reads it depends on each of
// them.
TEST(ResultJsonTest, HasTheNamesOfTheContract) {
  const Json json = Json::parse(ResultJson(SmallResult()));
  for (const char* name :
       {"schema", "scenario", "scenario_digest", "seed", "version", "verdict", "digest", "events",
        "simulated_seconds", "wall_seconds", "peak_rss_bytes", "jobs", "metrics", "faults",
        "expectations", "invariants"}) {
    EXPECT_TRUE(json.contains(name)) << name;
  }
  const Json& job = json["jobs"][0];
  for (const char* name : {"name",
                           "application_id",
                           "status",
                           "diagnostics",
                           "cause",
                           "submitted",
                           "am_registered",
                           "gang_complete",
                           "started",
                           "finished",
                           "queue_wait_seconds",
                           "gang_wait_seconds",
                           "start_wait_seconds",
                           "epochs",
                           "am_attempts",
                           "restarts",
                           "leaked_containers",
                           "containers",
                           "lost_work_seconds",
                           "gpu_seconds",
                           "tasks"}) {
    EXPECT_TRUE(job.contains(name)) << name;
  }
  for (const char* name : {"useful", "waiting", "checkpoint", "lost", "recovery"}) {
    EXPECT_TRUE(job["gpu_seconds"].contains(name)) << name;
  }
  for (const char* name : {"jobs_finished", "gpu_utilization", "jct_mean_seconds",
                           "jct_p50_seconds", "jct_p99_seconds", "makespan_seconds",
                           "queue_wait_mean_seconds", "start_wait_mean_seconds", "goodput"}) {
    EXPECT_TRUE(json["metrics"].contains(name)) << name;
  }
  EXPECT_EQ(json["schema"], "tfsim.result/v1");
  EXPECT_EQ(json["scenario_digest"], "00000000000000ff");
}

TEST(ResultJsonTest, ARealRunHasAJobAndNoScenario) {
  Result result = SmallResult();
  result.real = true;
  const std::string text = ResultJson(result);
  const Json json = Json::parse(text);
  EXPECT_EQ(json["schema"], "tfyarn.result/v1");
  EXPECT_EQ(json["job"], result.scenario);
  EXPECT_EQ(json["run_seconds"], SecondsOf(result.stopped));
  for (const char* word : {"scenario", "simulated", "seed", "tfsim"})
    EXPECT_EQ(text.find(word), std::string::npos) << word;
}

TEST(ResultJsonTest, ValuesAreSecondsTextFormsAndNulls) {
  const Json json = Json::parse(ResultJson(SmallResult()));
  const Json& job = json["jobs"][0];
  EXPECT_EQ(job["status"], "FAILED");
  EXPECT_EQ(job["am_registered"], 1.25);
  EXPECT_TRUE(job["gang_complete"].is_null());
  EXPECT_EQ(job["cause"]["task"], "worker:0");
  EXPECT_EQ(job["cause"]["exit_class"], "user-permanent");
  EXPECT_EQ(job["tasks"][0]["attempts"][0]["container"], "container_0_0001_01_000002");
  EXPECT_EQ(job["tasks"][0]["attempts"][0]["exit"], 1);
  EXPECT_EQ(job["diagnostics"], "bad \xEF\xBF\xBD byte");
  EXPECT_EQ(json["metrics"]["jobs_finished"].dump(), "1");
}

TEST(ResultJsonTest, TheSameResultGivesTheSameText) {
  EXPECT_EQ(ResultJson(SmallResult()), ResultJson(SmallResult()));
}

TEST(ReportJsonTest, HasUseOverTimeHistogramsAndTimeline) {
  const Json json = Json::parse(ReportJson(SmallResult()));
  EXPECT_EQ(json["usage"]["unit"], "gpus");
  EXPECT_FALSE(json["usage"]["points"].empty());
  EXPECT_EQ(json["usage"]["points"][0].size(), json["usage"]["uses"].size());
  EXPECT_EQ(json["timeline"]["bars"][0][0], "n1");
  EXPECT_EQ(json["timeline"]["bars"][0][3], "worker:0");
  EXPECT_FALSE(json["histograms"].empty());
}

TEST(RecordJsonTest, IsOneLineWithTypedMembers) {
  const std::string line =
      RecordJson({.at = Second(1.5),
                  .fact = AmOrdered{.job = JobIndex(2),
                                    .am_attempt = 1,
                                    .action = GangReleased{.containers = 3, .backoff = 5s}}});
  EXPECT_EQ(line, R"({"at":1.5,"at_ns":1500000000,"type":"AmOrdered","job":2,"am_attempt":1,)"
                  R"("action":{"type":"GangReleased","containers":3,"backoff_ns":5000000000}})");
}

/// Does `type`, the name under which variants say what they are, ever hide a member of that name?
template <class T>
void ExpectNoMemberNamedType() {
  if constexpr (kIsVariant<T>) {
    boost::mp11::mp_for_each<boost::mp11::mp_transform<
        boost::mp11::mp_identity, boost::mp11::mp_rename<VariantOf<T>, boost::mp11::mp_list>>>(
        [](auto identity) {
          using Alternative = typename decltype(identity)::type;
          Alternative value;
          ForEachMember(value, [](std::string_view name, auto& member) {
            EXPECT_NE(name, "type") << TypeName<Alternative>();
            ExpectNoMemberNamedType<std::remove_reference_t<decltype(member)>>();
          });
        });
  }
}

TEST(RecordJsonTest, NoAlternativeHasAMemberThatTypeWouldHide) {
  ExpectNoMemberNamedType<Fact>();
}

TEST(SummaryJsonTest, ComesBackAsItWas) {
  RunSummary summary = Summarize(SmallResult());
  summary.expectations = {{.text = "a < b", .passed = false, .got = "3"}};
  const auto back = SummaryFromJson(SummaryJson(summary));
  ASSERT_TRUE(back);
  EXPECT_EQ(SummaryJson(*back), SummaryJson(summary));
  EXPECT_EQ(back->metrics.size(), summary.metrics.size());
  EXPECT_FALSE(SummaryFromJson("{\"seed\": 1"));
  EXPECT_FALSE(SummaryFromJson("{}"));
}

TEST(SummaryJsonTest, NumbersThatItsFieldsCannotHoldAreDamage) {
  RunSummary summary = Summarize(SmallResult());
  summary.exit_code = 20;
  const std::string good = SummaryJson(summary);
  const std::string code = "\"exit_code\":20";
  ASSERT_NE(good.find(code), std::string::npos);
  for (const std::string bad : {"4294967316", "20.5", "1e3", "true"}) {
    std::string text = good;
    text.replace(text.find(code), code.size(), "\"exit_code\":" + bad);
    EXPECT_FALSE(SummaryFromJson(text)) << bad;
  }
}

/// A record with each alternative of facts, events and actions, with every member at its default.
std::vector<TraceRecord> OneOfEach() {
  std::vector<TraceRecord> records;
  const auto add = [&](Fact fact) {
    records.push_back({.at = Second(7), .fact = std::move(fact)});
  };
  boost::mp11::mp_for_each<boost::mp11::mp_transform<boost::mp11::mp_identity, VariantOf<Fact>>>(
      [&](auto which) { add(typename decltype(which)::type{}); });
  boost::mp11::mp_for_each<boost::mp11::mp_transform<boost::mp11::mp_identity, AmEvent>>(
      [&](auto which) { add(AmTold{.event = typename decltype(which)::type{}}); });
  boost::mp11::mp_for_each<boost::mp11::mp_transform<boost::mp11::mp_identity, AmAction>>(
      [&](auto which) { add(AmOrdered{.action = typename decltype(which)::type{}}); });
  return records;
}

TEST(RecordJsonTest, EveryKindOfRecordIsReadBack) {
  for (const TraceRecord& record : OneOfEach()) {
    const std::string line = RecordJson(record, {.seq = 3, .text = "in words"});
    const auto read = RecordFromJson(line);
    ASSERT_TRUE(read) << line;
    EXPECT_EQ(read->seq, 3u);
    EXPECT_EQ(RecordJson(read->record, {.seq = 3, .text = "in words"}), line);
  }
}

TEST(RecordJsonTest, ReadsBackWhatMembersSay) {
  const ContainerId container{
      .application_attempt = {.application = {.cluster_timestamp = 1'700'000'000'000, .id = 7},
                              .attempt = 2},
      .id = (std::int64_t{3} << 40) | 12};
  const std::vector<TraceRecord> records{
      {.at = Second(1),
       .fact = AmTold{.am_attempt = 2,
                      .event = AmStarted{.attempt = container.application_attempt,
                                         .container = container,
                                         .wall = WallTime(1'700'000'000'123ms)}}},
      {.at = Second(2),
       .fact = AmTold{.event = RmReplied{.response =
                                             yarn::AllocateResponse{
                                                 .allocated_containers = {{.id = container,
                                                                           .node = {"::1", 8041},
                                                                           .resource = {.gpus =
                                                                                            2}}},
                                                 .completed_containers = {{.id = container}}}}}},
      {.at = Second(3),
       .fact = AmOrdered{.action =
                             VerdictReached{
                                 .status = JobStatus::kFailed,
                                 .diagnostics = "a \"b\"\n",
                                 .cause = Cause{.task = {"worker", 1}, .exit = -7, .at = Second(2)},
                                 .rule = "r"}}},
      {.at = Second(4),
       .fact = AmOrdered{.action = SpecAssembled{
                             .spec = Share({.tasks = {{"worker", {{.host = "a", .port = 1}}}}})}}}};
  for (const TraceRecord& record : records) {
    const auto read = RecordFromJson(RecordJson(record));
    ASSERT_TRUE(read) << RecordJson(record);
    EXPECT_EQ(RecordJson(read->record), RecordJson(record));
  }
}

TEST(RecordJsonTest, WhatIsNoLineOfOursIsNotRead) {
  for (const char* line :
       {"", "7", "[]", "{}", R"({"at_ns":1})", R"({"at_ns":1,"type":"Unheard"})",
        R"({"at_ns":"1","type":"RunStopped"})", R"({"at_ns":1,"type":"RunStopped","reason":"?"})",
        R"({"at_ns":1,"type":"JobCreated","tasks":4294967296})",
        R"({"at_ns":1,"type":"ContainerFreed","container":"container_1"})",
        R"({"at_ns":1,"type":"RunStopped","seq":-1})", R"({"at_ns":1,"type":"RunSto)"}) {
    EXPECT_FALSE(RecordFromJson(line)) << line;
  }
  EXPECT_TRUE(RecordFromJson(R"({"at_ns":1,"type":"RunStopped","unheard":[{}]})"));
}

}  // namespace
}  // namespace tfyarn::trace::json_test
