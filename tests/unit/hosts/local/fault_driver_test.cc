// The driver with a world that only notes what is asked of it, and recordings made by hand.
#include "hosts/local/fault_driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "core/model/text.h"
#include "hosts/agent/listeners.h"
#include "hosts/agent/port_lease.h"
#include "hosts/runtime/clock.h"
#include "hosts/runtime/recording.h"
#include "tests/unit/patience.h"

namespace tfyarn::hosts::fault_driver_test {
namespace {

using testing::ElementsAre;

const TaskId kWorker{.type = "worker", .index = 1};

ContainerId Container(std::int64_t id) {
  return {.application_attempt = {.application = {.cluster_timestamp = 1, .id = 1}, .attempt = 1},
          .id = id};
}

config::FaultSpec Fault(const std::string& kind, config::Target target) {
  config::FaultSpec fault;
  fault.kind = kind;
  fault.when.at = Duration::zero();
  fault.target = std::move(target);
  return fault;
}

const config::Target kOneTask{.kind = config::TargetKind::kTask, .name = "a", .task = "worker:1"};
const config::Target kAllTasks{.kind = config::TargetKind::kTask, .name = "a"};

class FaultDriverTest : public testing::Test {
 protected:
  FaultDriverTest() {
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
    auto recorder = Recorder::Open(directory_ + "/agent.record", {.version = "test"});
    EXPECT_TRUE(recorder);
    if (recorder) recorder_ = std::move(*recorder);
  }
  ~FaultDriverTest() override {
    driver_.reset();
    if (child_ > 0) {
      ::kill(child_, SIGKILL);
      ::waitpid(child_, nullptr, 0);
    }
  }

  /// A process that waits for signals and stands for the AM or an agent.
  pid_t MakeProcess() {
    child_ = ::fork();
    while (child_ == 0) ::pause();
    return child_;
  }

  void AgentStartsIn(const ContainerId& container) {
    recorder_.Write(Now(), trace::AgentTold{.container = container,
                                            .event = AgentStarted{.fence = {.container = container,
                                                                            .task = kWorker}}});
  }

  void Start(std::vector<config::FaultSpec> faults) {
    driver_.emplace(
        "a", std::move(faults),
        FaultDriver::World{
            .loop = loop_,
            .recordings = directory_,
            .directory = directory_,
            .process_of = [this](const ContainerId&) -> std::optional<pid_t> {
              return child_ > 0 ? std::optional(child_) : std::nullopt;
            },
            .am = [] { return Container(1); },
            .preempt =
                [this](const ContainerId& id, Duration notice) {
                  asked_.push_back("preempt " + std::to_string(id.id) + " " + ToString(notice));
                },
            .kill_job = [this] { asked_.emplace_back("kill job"); },
            .record = [this](const trace::Fact& fact) { Note(fact); },
            .complain = [this](const std::string& what) { asked_.push_back(what); }});
    driver_->Start(Now());
  }

  void Note(const trace::Fact& fact) {
    if (const auto* began = std::get_if<trace::FaultBegan>(&fact)) {
      recorded_.push_back(std::to_string(began->fault) + " " + began->kind + ": " + began->target);
    } else if (const auto* ended = std::get_if<trace::FaultEnded>(&fact)) {
      recorded_.push_back(std::to_string(ended->fault) + " ended");
    }
  }

  /// Runs the loop until so much is recorded, or waits in vain.
  void RunUntilRecorded(std::size_t count) {
    const Instant end = Now() + Patience(1min);
    while (recorded_.size() < count && Now() < end) loop_.run_one_for(100ms);
    ASSERT_EQ(recorded_.size(), count);
  }

  std::string directory_ = testing::TempDir() + "/fault_driver_test";
  boost::asio::io_context loop_;
  Recorder recorder_;
  pid_t child_ = 0;
  std::vector<std::string> asked_;
  std::vector<std::string> recorded_;
  std::optional<FaultDriver> driver_;
};

TEST_F(FaultDriverTest, NamesWhomItStrikesAsTheSimulatorDoes) {
  AgentStartsIn(Container(2));
  config::FaultSpec preempt = Fault("preempt", kAllTasks);
  preempt.numbers["notice"] = 1.5;
  Start({Fault("client_kill", kAllTasks), Fault("container_lost", kOneTask),
         Fault("am_crash", {.kind = config::TargetKind::kAm, .name = "a"}), preempt});
  EXPECT_THAT(recorded_, ElementsAre("0 client_kill: a", "1 container_lost: a worker:1",
                                     "2 am_crash: am of a", "3 preempt: a worker:1"));
  EXPECT_THAT(asked_, ElementsAre("kill job")) << "nothing runs in any container";
}

TEST_F(FaultDriverTest, ATypeWithoutATaskInAContainerIsNobody) {
  Start({Fault("hang", kAllTasks)});
  EXPECT_THAT(recorded_, ElementsAre("0 hang: nobody"));
}

TEST_F(FaultDriverTest, APreemptionIsTheClusters) {
  MakeProcess();
  AgentStartsIn(Container(2));
  config::FaultSpec preempt = Fault("preempt", kOneTask);
  preempt.numbers["notice"] = 1.5;
  Start({preempt});
  EXPECT_THAT(asked_, ElementsAre("preempt 2 1.5s"));
}

TEST_F(FaultDriverTest, AStateIsReadFromTheRecordings) {
  config::FaultSpec kill = Fault("client_kill", kAllTasks);
  kill.when = {.job = "a", .state = "running"};
  Start({kill});
  EXPECT_THAT(recorded_, ElementsAre());
  recorder_.Write(Now(), trace::AmOrdered{.action = JobStateChanged{.state = JobState::kRunning}});
  RunUntilRecorded(1);
  EXPECT_THAT(asked_, ElementsAre("kill job"));
}

TEST_F(FaultDriverTest, AnAmThatStandsStillGoesOnAfterwards) {
  const pid_t am = MakeProcess();
  config::FaultSpec pause = Fault("am_pause", {.kind = config::TargetKind::kAm, .name = "a"});
  pause.duration = config::Distribution::Constant(0.05);
  Start({pause});
  int status = 0;
  ::waitpid(am, &status, WUNTRACED);
  EXPECT_TRUE(WIFSTOPPED(status));
  RunUntilRecorded(2);
  EXPECT_THAT(recorded_, ElementsAre("0 am_pause: am of a", "0 ended"));
  ::waitpid(am, &status, WCONTINUED);
  EXPECT_TRUE(WIFCONTINUED(status));
}

TEST_F(FaultDriverTest, WhatStandsStillGoesOnWhenTheRunIsOver) {
  const pid_t am = MakeProcess();
  Start({Fault("am_pause", {.kind = config::TargetKind::kAm, .name = "a"})});
  int status = 0;
  ::waitpid(am, &status, WUNTRACED);
  driver_->Finish();
  ::waitpid(am, &status, WCONTINUED);
  EXPECT_TRUE(WIFCONTINUED(status));
  EXPECT_THAT(recorded_, ElementsAre("0 am_pause: am of a"));
}

TEST_F(FaultDriverTest, ThePortIsTakenWhileTheAmStandsStill) {
  const pid_t am = MakeProcess();
  Start({Fault("port_in_use", kOneTask)});
  driver_->Seen(trace::ContainerLocalizing{.container = Container(2)});
  int status = 0;
  ::waitpid(am, &status, WUNTRACED);
  ASSERT_TRUE(WIFSTOPPED(status));
  auto lease = agent_host::Lease::Take();
  ASSERT_TRUE(lease);
  AgentStartsIn(Container(2));
  recorder_.Write(Now(), trace::AgentTold{.container = Container(2),
                                          .event = PortLeased{.port = lease->port()}});
  const Instant end = Now() + Patience(1min);
  while (::waitpid(am, &status, WCONTINUED | WNOHANG) == 0 && Now() < end) loop_.run_one_for(100ms);
  EXPECT_TRUE(WIFCONTINUED(status));
  EXPECT_EQ(agent_host::WhoListens(lease->port(), [] { return std::vector<pid_t>{}; }),
            agent_host::Listener::kStranger);
  driver_->Seen(trace::ContainerLocalizing{.container = Container(3)});
  EXPECT_EQ(::waitpid(am, &status, WUNTRACED | WNOHANG), 0) << "no port is wanted any more";
}

}  // namespace
}  // namespace tfyarn::hosts::fault_driver_test
