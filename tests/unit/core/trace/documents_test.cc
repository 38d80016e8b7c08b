// result.json and the report's data of one run, whole, beside tests/golden/trace: what reads these
// documents depends on every member, and on where its figures come from.
//
// TFYARN_REWRITE=1 writes them again; commit the difference only if you can explain it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "core/trace/json.h"
#include "tests/unit/core/trace/trace_script.h"
#include "tests/unit/golden_file.h"

namespace tfyarn::trace::documents_test {
namespace {

const TaskId kWorker0{"worker", 0};
const TaskId kWorker1{"worker", 1};

/// Three nodes. Job a trains on two of them, loses one, starts again on the third and succeeds. Job
/// b waits for its GPUs, fails by its user's program and leaks a container. Job c is submitted
/// twice and killed; d never ends.
Result EventfulRun() {
  TraceScript script;
  script.Fact(RunStarted{.scenario = "eventful", .scenario_digest = 0xabc, .seed = 7});
  script.Node("gpu-1", 8).Node("gpu-2", 8).Node("gpu-3", 4);
  script.Job("a", 0, 8);
  script.Client(ApplicationSubmitted{.application = {0, 1}, .resubmission = 0});
  script.At(1).Grant(0, 1, "gpu-1", 0, true).AmStarts(0);
  script.At(1.5).AmRegisters(0).Am(JobStateChanged{JobState::kAllocating});
  script.At(2).Grant(0, 2, "gpu-1", 4);
  script.At(3).Grant(0, 3, "gpu-2", 4).Am(GangCompleted{.epoch = Epoch(1), .containers = 2});
  script.At(5).Am(SpecAssembled{.spec = SpecRef(SpecId(9), nullptr), .epoch = Epoch(1)});
  script.At(6).Starts(0, kWorker0, 0, 2, "gpu-1").Starts(0, kWorker1, 0, 3, "gpu-2");
  script.Am(JobStateChanged{JobState::kRunning}).Phase(0, TrainingPhase::kTraining);
  script.At(8).Job("b", 1, 12);
  script.Client(ApplicationSubmitted{.application = {0, 2}, .resubmission = 0}, 1);
  script.At(9).Grant(1, 1, "gpu-3", 0, true).AmStarts(1);
  script.At(9.25).AmRegisters(1).Am(JobStateChanged{JobState::kAllocating}, 1);
  script.At(50).Phase(0, TrainingPhase::kCheckpoint).At(52).Phase(0, TrainingPhase::kTraining);
  script.At(100).Fact(
      FaultBegan{.fault = 0, .instance = 0, .kind = "node_crash", .target = "gpu-2"});
  script.Fact(NodePower{.node = {"gpu-2", 1}, .up = false}).Phase(0, TrainingPhase::kIdle);
  script.Fact(WorkLost{.job = JobIndex(0), .work = 48s});
  script.Fact(TrainingAccounted{
      .job = JobIndex(0), .useful = 44s * 8, .checkpoint = 2s * 8, .lost = 48s * 8, .restore = 0s});
  script.At(104).Ends(0, kWorker1, 0, 3, "gpu-2", -100, ExitClass::kHeartbeatLost);
  script.Am(RestartDecided{.unit = RestartUnit::kGang,
                           .paid = Budget::kInfrastructure,
                           .epoch = Epoch(2),
                           .cause = {},
                           .tasks = {kWorker0, kWorker1}});
  script.At(105).Ends(0, kWorker1, 0, 3, "gpu-2", -100, ExitClass::kNodeLost).Free(0, 3, -100);
  script.Ends(0, kWorker0, 0, 2, "gpu-1", 143, ExitClass::kKilledByUs);
  script.At(106).Grant(0, 4, "gpu-3", 4).Am(GangCompleted{.epoch = Epoch(2), .containers = 2});
  script.At(107).Fact(FaultBegan{.fault = 1, .instance = 0, .kind = "rm_pause", .target = "rm"});
  script.At(109).Fact(FaultEnded{.fault = 1, .instance = 0});
  script.At(110).Starts(0, kWorker0, 1, 2, "gpu-1", 2).Starts(0, kWorker1, 1, 4, "gpu-3", 2);
  script.At(111).Phase(0, TrainingPhase::kRestore).At(114).Phase(0, TrainingPhase::kTraining);
  script.At(130).Fact(FaultEnded{.fault = 0, .instance = 0});
  script.Fact(NodePower{.node = {"gpu-2", 1}, .up = true});
  script.At(140).Grant(1, 2, "gpu-2", 8).At(141).Grant(1, 3, "gpu-1", 4);
  script.Am(GangCompleted{.epoch = Epoch(1), .containers = 2}, 1);
  script.At(143).Starts(1, kWorker0, 0, 2, "gpu-2").Starts(1, kWorker1, 0, 3, "gpu-1");
  script.Am(JobStateChanged{JobState::kRunning}, 1).Phase(1, TrainingPhase::kTraining);
  script.At(150).Am(RestartDecided{.unit = RestartUnit::kTask,
                                   .paid = Budget::kUser,
                                   .epoch = Epoch(1),
                                   .cause = {},
                                   .tasks = {kWorker1}},
                    1);
  script.At(160).Phase(1, TrainingPhase::kIdle);
  script.Fact(TrainingAccounted{
      .job = JobIndex(1), .useful = 0s, .checkpoint = 0s, .lost = 17s * 12, .restore = 0s});
  script.Fact(WorkLost{.job = JobIndex(1), .work = 17s});
  script.Ends(1, kWorker0, 0, 2, "gpu-2", 1, ExitClass::kUserPermanent).Free(1, 2, 1);
  script.Am(VerdictReached{.status = JobStatus::kFailed,
                           .diagnostics = "worker:0 ended with 1",
                           .cause = Cause{.task = kWorker0,
                                          .exit = 1,
                                          .exit_class = ExitClass::kUserPermanent,
                                          .node = "gpu-2",
                                          .at = Second(160),
                                          .detail = "ValueError"},
                           .rule = "default/user-permanent"},
            1);
  script.At(162).Free(1, 1).End(1, JobStatus::kFailed);
  script.At(170).Job("c", 2, 1);
  script.Client(ApplicationSubmitted{.application = {0, 3}, .resubmission = 0}, 2);
  script.At(171).Grant(2, 1, "gpu-3", 0, true).AmStarts(2);
  script.At(175).Free(2, 1, -100);
  script.Fact(FaultBegan{.fault = 2, .instance = 3, .kind = "am_kill", .target = "c"});
  script.At(176).Client(ApplicationSubmitted{.application = {0, 3}, .resubmission = 1}, 2);
  script.At(180).Job("d", 3, 2);
  script.At(190).End(2, JobStatus::kKilled);
  script.At(222).Fact(ContainersLeaked{.job = JobIndex(1), .containers = 1});
  script.At(223).Fact(InvariantBroken{.invariant = "no-leak", .detail = "b holds one container"});
  script.At(224).Fact(InvariantBroken{.invariant = "no-leak", .detail = "still"});
  script.At(300).Phase(0, TrainingPhase::kDone);
  script.Fact(TrainingAccounted{
      .job = JobIndex(0), .useful = 186s * 8, .checkpoint = 0s, .lost = 0s, .restore = 3s * 8});
  script.Ends(0, kWorker0, 1, 2, "gpu-1", 0, ExitClass::kOk);
  script.Ends(0, kWorker1, 1, 4, "gpu-3", 0, ExitClass::kOk);
  script.Am(VerdictReached{.status = JobStatus::kSucceeded,
                           .diagnostics = "all workers ended 0",
                           .cause = {},
                           .rule = "default/ok"});
  script.Free(0, 2).Free(0, 4);
  script.At(301).Free(0, 1).End(0, JobStatus::kSucceeded);
  script.At(400).Stop(StopReason::kHorizon);
  Result result = script.Finish({.version = "9.9",
                                 .digest = "d",
                                 .events = 42,
                                 .wall_seconds = 0.5,
                                 .peak_rss_bytes = 1024,
                                 .invariants = {{.name = "capacity", .checked = 3},
                                                {.name = "no-leak", .checked = 4},
                                                {.name = "progress", .off_because = "a fault"}},
                                 .progressing = false});
  result.expectations = {{.text = "a SUCCEEDED", .passed = true, .got = "SUCCEEDED"},
                         {.text = "b SUCCEEDED", .passed = false, .got = "FAILED"}};
  result.faults_without_effect = {{.index = 3, .kind = "hang", .why = "no such task"}};
  result.scenario_yaml = "name: eventful\n";
  return result;
}

/// A line for each member, so that a difference shows where it is.
std::string InLines(const std::string& document) {
  return nlohmann::ordered_json::parse(document).dump(1) + "\n";
}

TEST(DocumentsTest, AnEventfulRunsResultIsAsItWas) {
  ExpectGolden("trace/result.json", InLines(ResultJson(EventfulRun())));
}

TEST(DocumentsTest, AnEventfulRunsReportIsAsItWas) {
  auto report = nlohmann::ordered_json::parse(ReportJson(EventfulRun()));
  // Points that repeat stand once, with how often they do.
  auto runs = nlohmann::ordered_json::array();
  for (const auto& point : report["usage"]["points"]) {
    if (runs.empty() || runs.back()["uses"] != point)
      runs.push_back({{"times", 0}, {"uses", point}});
    runs.back()["times"] = runs.back()["times"].get<int>() + 1;
  }
  report["usage"]["points"] = std::move(runs);
  ExpectGolden("trace/report.json", InLines(report.dump()));
}

TEST(DocumentsTest, TheCommonCaseIsKeptShort) {
  Result result = EventfulRun();
  result.faults_without_effect.clear();
  for (const bool left_out : {false, true}) {
    result.faults_left_out = left_out ? 2 : 0;
    const auto json = nlohmann::json::parse(ResultJson(result));
    EXPECT_EQ(json.contains("faults_left_out"), left_out);
    EXPECT_FALSE(json.contains("faults_without_effect"));
  }
}

}  // namespace
}  // namespace tfyarn::trace::documents_test
