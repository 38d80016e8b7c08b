// One machine as a cluster, with small programs as AMs.
#include "hosts/local/local_cluster.h"

#include <gmock/gmock.h>

#include "core/model/text.h"
#include "tests/unit/hosts/runtime/host_rig.h"

namespace tfyarn::hosts::local_cluster_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using yarn::YarnApplicationState;

constexpr ApplicationId kApplication{.cluster_timestamp = 5, .id = 1};

class LocalClusterTest : public HostRig {
 protected:
  ~LocalClusterTest() override {
    cluster_.KillAll();
    Until([this] { return cluster_.node().running() == 0; }, "an empty node");
  }

  void Call(const yarn::RmRequest& request) {
    cluster_.CallRm(request, [this](yarn::RmResponse answer) {
      answers_.push_back(ToText(answer));
      if (auto* report = std::get_if<yarn::GetApplicationReportResponse>(&answer))
        report_ = std::move(report->report);
    });
  }
  void Submit(std::vector<std::string> command) {
    Call(yarn::SubmitApplicationRequest{.application = kApplication,
                                        .am_container = {.command = std::move(command)},
                                        .am_resource = {.memory_mb = 512, .vcores = 1},
                                        .max_app_attempts = 2});
  }
  yarn::ApplicationReport Report() {
    Call(yarn::GetApplicationReportRequest{.application = kApplication});
    Settle();
    return report_;
  }
  void UntilNothingIsLeft() {
    Until([this] { return idle_ > 0 && cluster_.idle(); }, "an idle cluster");
  }

  Recorder recorder_;
  int idle_ = 0;
  std::vector<std::string> answers_;
  yarn::ApplicationReport report_;
  LocalCluster cluster_{
      {.node = {.host = "here", .port = 1},
       .capacity = {.memory_mb = 1 << 20, .vcores = 4},
       .cluster_timestamp = 5},
      {.node = {.host = "here", .port = 1},
       .directory = PathOf("containers"),
       .log_directory = PathOf("logs"),
       .environment = {{"PATH", "/usr/bin:/bin"}},
       .kill_delay = 1s},
      {.loop = io_,
       .recorder = recorder_,
       .locate = [this](const std::string& path) { return PathOf("storage" + path); },
       .idle = [this] { ++idle_; }}};
};

TEST_F(LocalClusterTest, AnAmThatFailsIsStartedAgainAndThenGivenUp) {
  Submit({TFYARN_ODD_TASK, "exit", "3"});
  Until([this] { return Report().state == YarnApplicationState::kFailed; }, "the end");
  EXPECT_EQ(report_.current_attempt, 2);
  EXPECT_THAT(report_.diagnostics, HasSubstr("exitCode: 3"));
  UntilNothingIsLeft();
}

TEST_F(LocalClusterTest, AnAmThatCannotBeStartedSaysWhy) {
  Submit({"/absent/tfyarn-am"});
  Until([this] { return Report().state == YarnApplicationState::kFailed; }, "the end");
  EXPECT_THAT(report_.diagnostics, HasSubstr("exitCode: -1000"));
  EXPECT_THAT(report_.diagnostics, HasSubstr("/absent/tfyarn-am"));
  UntilNothingIsLeft();
}

TEST_F(LocalClusterTest, AKilledAmIsStoppedAndNoOtherComes) {
  Submit({TFYARN_ODD_TASK, "sleep"});
  Until([this] { return cluster_.node().running() == 1; }, "the AM");
  Call(yarn::KillApplicationRequest{.application = kApplication});
  Until([this] { return cluster_.idle(); }, "the end");
  EXPECT_EQ(Report().state, YarnApplicationState::kKilled);
  EXPECT_EQ(report_.current_attempt, 1);
  EXPECT_GT(idle_, 0);
}

TEST_F(LocalClusterTest, AnAmThatIsKilledBeforeItStartsNeverRuns) {
  Submit({"sh", "-c", "touch " + PathOf("ran")});
  Call(yarn::KillApplicationRequest{.application = kApplication});
  Until([this] { return cluster_.idle(); }, "the end");
  Settle();
  EXPECT_TRUE(cluster_.idle());
  EXPECT_FALSE(std::filesystem::exists(PathOf("containers")));
  EXPECT_THAT(answers_, ElementsAre("SubmitApplicationResponse{}",
                                    "KillApplicationResponse{is_kill_completed=yes}"));
}

TEST_F(LocalClusterTest, AClientStartsNoContainers) {
  std::string answer;
  cluster_.CallNm({}, {}, yarn::StartContainersRequest{}, {},
                  [&](const yarn::NmResponse& response) { answer = ToText(response); });
  EXPECT_EQ(answer, "");
  Settle();
  EXPECT_THAT(answer, HasSubstr("code=yarn"));
}

TEST_F(LocalClusterTest, AnAmThatTalksNonsenseHarmsNobody) {
  Submit({"sh", "-c", "printf '\\005\\000\\000\\000hello' >&3; exit 4"});
  Until([this] { return Report().state == YarnApplicationState::kFailed; }, "the end");
  EXPECT_THAT(report_.diagnostics, HasSubstr("exitCode: 4"));
  UntilNothingIsLeft();
}

}  // namespace
}  // namespace tfyarn::hosts::local_cluster_test
