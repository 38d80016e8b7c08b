#include "hosts/runtime/chronicle.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "hosts/runtime/clock.h"
#include "tests/unit/hosts/runtime/host_rig.h"

namespace tfyarn::hosts::chronicle_test {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr ApplicationAttemptId kAttempt{.application = {.cluster_timestamp = 5, .id = 1},
                                        .attempt = 1};
constexpr ContainerId kAm{.application_attempt = kAttempt, .id = 1};
constexpr ContainerId kWorker{.application_attempt = kAttempt, .id = 2};
const NodeId kNode{.host = "gpu-1", .port = 8041};

class ChronicleTest : public HostRig {
 protected:
  ChronicleTest() {
    JobSpec job;
    job.name = "mnist";
    job.tasks = {{.name = "worker", .resource = {.memory_mb = 1024, .vcores = 1, .gpus = 2}}};
    chronicle_ = std::make_unique<Chronicle>(
        std::make_shared<const JobSpec>(job),
        ChronicleOptions{.version = "1.2.3",
                         .job_file = "name: mnist\n",
                         .began = began_,
                         .directory = directory_.string(),
                         .logs = [](const LiveTask& task) { return "http://" + task.node; }});
  }
  void Told(Duration after, AmEvent event) {
    chronicle_->Observe(began_ + after,
                        trace::AmTold{.job = {}, .am_attempt = 1, .event = std::move(event)});
  }
  void Ordered(Duration after, AmAction action) {
    chronicle_->Observe(began_ + after,
                        trace::AmOrdered{.job = {}, .am_attempt = 1, .action = std::move(action)});
  }
  void Starts() {
    Told(2s, AmStarted{.attempt = kAttempt,
                       .container = kAm,
                       .address = {.host = "gpu-1", .port = 40000},
                       .nodes = std::vector<yarn::NodeReport>{
                           {.node = kNode, .capability = {.vcores = 8, .gpus = 4}}}});
    Told(3s,
         RmReplied{.response = yarn::AllocateResponse{
                       .allocated_containers = {
                           {.id = kWorker, .node = kNode, .resource = {.vcores = 1, .gpus = 2}}}}});
  }
  [[nodiscard]] std::vector<json> Events() const {
    std::vector<json> events;
    std::istringstream text(ReadFile(PathOf("events.jsonl")));
    for (std::string line; std::getline(text, line);) events.push_back(json::parse(line));
    return events;
  }

  Instant began_ = Now();
  std::unique_ptr<Chronicle> chronicle_;
};

TEST_F(ChronicleTest, WritesWhatTheAmHearsOfTheWorldAsFacts) {
  Starts();
  std::vector<std::string> types;
  for (const json& event : Events())
    types.push_back(event["at"].dump() + " " + event["type"].get<std::string>());
  EXPECT_THAT(types, testing::ElementsAre("0.0 JobRunStarted", "0.0 NodeDeclared", "0.0 JobCreated",
                                          "2.0 ContainerGranted", "2.0 AmTold",
                                          "3.0 ContainerGranted", "3.0 AmTold"));
  EXPECT_EQ(Events().back()["seq"], 7);
}

TEST_F(ChronicleTest, DocumentsAreMadeOfWhatIsWritten) {
  Starts();
  Ordered(4s, TaskAttemptStarted{.task = {"worker", 0}, .container = kWorker, .node = kNode});
  Ordered(5s, VerdictReached{.status = JobStatus::kFailed, .diagnostics = "worker:0 ended with 7"});
  Told(6s, RmReplied{.response = yarn::AllocateResponse{
                         .completed_containers = {{.id = kWorker, .exit_status = 7}}}});
  Told(7s, RmReplied{.response = yarn::FinishApplicationMasterResponse{.is_unregistered = true}});
  const auto made = chronicle_->Documents(true);
  ASSERT_EQ(made.result.jobs.size(), 1u);
  const trace::JobResult& job = made.result.jobs.front();
  EXPECT_EQ(job.status, JobStatus::kFailed);
  EXPECT_EQ(job.diagnostics, "worker:0 ended with 7");
  EXPECT_EQ(job.gpus, 2);
  EXPECT_EQ(job.application, kAttempt.application);
  ASSERT_TRUE(made.html);
}

TEST_F(ChronicleTest, SaysInWordsWhatPeopleWantToKnow) {
  Starts();
  Ordered(4s, TaskAttemptStarted{.task = {"worker", 0}, .container = kWorker, .node = kNode});
  EXPECT_EQ(Events().back()["text"], "worker:0 runs, attempt 0");
  const json state = json::parse(chronicle_->State());
  EXPECT_EQ(state["tasks"][0]["state"], "running");
  EXPECT_EQ(state["tasks"][0]["logs"], "http://gpu-1");
  EXPECT_EQ(state["logs_elsewhere"], true);
  EXPECT_EQ(state["events"][0]["at"], 2.0);
}

TEST_F(ChronicleTest, TellsNeitherEnvironmentsNorTheJournal) {
  Starts();
  Ordered(4s, CallNm{.node = kNode,
                     .request = yarn::StartContainersRequest{
                         .containers = {{.container = kWorker,
                                         .context = {.environment = {{"KEY", "secret"}}}}}}});
  Ordered(4s, AppendJournal{.seq = JournalSeq(1), .bytes = "secret"});
  Told(5s, JournalRead{.bytes = "secret"});
  EXPECT_THAT(ReadFile(PathOf("events.jsonl")), Not(HasSubstr("secret")));
  EXPECT_THAT(ReadFile(PathOf("events.jsonl")), HasSubstr("StartContainersRequest"));
}

TEST_F(ChronicleTest, IdleHeartbeatsAreNotWritten) {
  Starts();
  Told(4s, RmReplied{.response = yarn::AllocateResponse{.response_id = 4}});
  Told(5s, DeadlineReached{});
  EXPECT_EQ(Events().size(), 7u);
}

TEST_F(ChronicleTest, AFullFileStillTakesTheResult) {
  Starts();
  const std::string text(std::size_t{1} << 20, 'x');
  for (int i = 0; i < 20; ++i) Ordered(4s, Note{.text = text});
  Ordered(9s, VerdictReached{.status = JobStatus::kSucceeded});
  EXPECT_LE(std::filesystem::file_size(PathOf("events.jsonl")), Chronicle::kMostBytes + 1000);
  EXPECT_EQ(Events().back()["action"]["type"], "VerdictReached");
}

TEST_F(ChronicleTest, OnAFullDiskNothingIsLost) {
  {
    const FullDisk disk(100);
    Starts();
    EXPECT_EQ(json::parse(chronicle_->State())["tasks"].size(), 1u);
    EXPECT_EQ(chronicle_->Documents(false).result.jobs.at(0).gpus, 2);
    EXPECT_EQ(ReadFile(PathOf("events.jsonl")).size(), 100u);
  }
  Ordered(9s, VerdictReached{.status = JobStatus::kSucceeded});
  EXPECT_EQ(Events().size(), 8u);
  EXPECT_EQ(Events().back()["seq"], 8);
}

}  // namespace
}  // namespace tfyarn::hosts::chronicle_test
