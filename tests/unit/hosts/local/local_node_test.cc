// Containers with real processes in them.
#include "hosts/local/local_node.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/model/exit.h"
#include "core/model/text.h"
#include "hosts/agent/proc_table.h"
#include "hosts/runtime/staging.h"
#include "tests/unit/hosts/runtime/host_rig.h"

namespace tfyarn::hosts::local_node_test {
namespace {

using agent_host::ReadProcessTable;
using agent_host::WithDescendants;
namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using yarn::RpcErrorCode;

constexpr ContainerId kOne{
    .application_attempt = {.application = {.cluster_timestamp = 5, .id = 1}, .attempt = 1},
    .id = 2};

struct End {
  std::int32_t status = 0;
  std::string why;
};

class LocalNodeTest : public HostRig {
 protected:
  LocalNodeTest() { Make(); }
  ~LocalNodeTest() override {
    node_->KillAll();
    Until([this] { return node_->running() == 0; }, "an empty node");
    node_.reset();
    std::set<pid_t> living = WithDescendants(ReadProcessTable(), {::getpid()});
    living.erase(::getpid());
    EXPECT_TRUE(living.empty()) << living.size() << " processes are left";
    for (const pid_t pid : living) ::kill(pid, SIGKILL);
  }

  void Make() {
    node_ = std::make_unique<LocalNode>(
        io_, options_,
        LocalNode::Callbacks{
            .ended =
                [this](const ContainerId& id, std::int32_t status, const std::string& why) {
                  EXPECT_TRUE(ends_.emplace(id, End{status, why}).second) << "it ended twice";
                },
            .grant_of = [this](const ContainerId&) { return grant_; },
            .locate = [this](const std::string& path) { return PathOf("storage" + path); },
            .observe =
                [this](const trace::Fact& fact) {
                  std::visit(
                      [this](const auto& one) {
                        seen_.emplace_back(TypeName<std::decay_t<decltype(one)>>());
                      },
                      fact);
                }});
  }

  static yarn::ContainerLaunchContext Odd(std::vector<std::string> words) {
    words.insert(words.begin(), TFYARN_ODD_TASK);
    return {.command = std::move(words)};
  }
  /// As the AM asks for it.
  yarn::StartContainersResponse Start(const yarn::ContainerLaunchContext& context,
                                      const Cluster::Secrets& secrets = {}) {
    const auto response = node_->Answer(
        yarn::StartContainersRequest{.containers = {{.container = kOne, .context = context}}},
        secrets);
    return std::get<yarn::StartContainersResponse>(response);
  }
  void StartWell(const yarn::ContainerLaunchContext& context,
                 const Cluster::Secrets& secrets = {}) {
    const auto response = Start(context, secrets);
    EXPECT_THAT(response.succeeded, ElementsAre(kOne)) << ToText(response);
  }
  yarn::StopContainersResponse StopIt(const ContainerId& id = kOne) {
    return std::get<yarn::StopContainersResponse>(
        node_->Answer(yarn::StopContainersRequest{.containers = {id}}, {}));
  }
  std::string StatusOf(const ContainerId& id = kOne) {
    const auto response = std::get<yarn::GetContainerStatusesResponse>(
        node_->Answer(yarn::GetContainerStatusesRequest{.containers = {id}}, {}));
    if (!response.failed.empty()) return response.failed.front().error.message;
    return KebabName(response.statuses.front().state) + " " +
           std::to_string(response.statuses.front().exit_status);
  }
  End Ended() {
    Until([this] { return ends_.contains(kOne); }, "the container's end");
    return ends_[kOne];
  }
  void UntilReady() {
    Until([this] { return Stdout().find("ready\n") != std::string::npos; }, "\"ready\"");
  }
  [[nodiscard]] fs::path Directory() const { return options_.directory + "/" + ToString(kOne); }
  [[nodiscard]] std::string Stdout() const {
    return ReadFile(options_.log_directory + "/" + ToString(kOne) + ".stdout");
  }

  LocalNodeOptions options_{.node = {.host = "here", .port = 7},
                            .directory = PathOf("containers"),
                            .log_directory = PathOf("logs"),
                            .environment = {{"PATH", "/usr/bin:/bin"}, {"NM_HOST", "not this"}},
                            .kill_delay = 1min};
  std::optional<Resource> grant_ = Resource{.memory_mb = 4096, .vcores = 1};
  std::map<ContainerId, End> ends_;
  std::vector<std::string> seen_;
  std::unique_ptr<LocalNode> node_;
};

TEST_F(LocalNodeTest, RunsAProgramAndTellsHowItEnded) {
  StartWell(Odd({"exit", "7"}));
  EXPECT_EQ(StatusOf(), "running -1000");
  EXPECT_EQ(Ended().status, 7);
  EXPECT_EQ(Ended().why,
            "Container exited with a non-zero exit code 7. Last 4096 bytes of stderr :\n");
  EXPECT_EQ(StatusOf(), "complete 7");
  EXPECT_EQ(node_->running(), 0u);
  EXPECT_THAT(seen_, ElementsAre("ContainerLocalizing", "ContainerLaunched", "ContainerGone"));
}

TEST_F(LocalNodeTest, ASignalIsAHundredAndTwentyEightMore) {
  StartWell(Odd({"raise", std::to_string(SIGSEGV)}));
  EXPECT_EQ(Ended().status, 128 + SIGSEGV);
}

TEST_F(LocalNodeTest, PutsLinksIntoTheWorkDirectory) {
  fs::create_directories(PathOf("storage/a"));
  WriteBytes(PathOf("storage/a/job.yaml"), "name: mnist\n");
  auto context = Odd({"directory"});
  context.local_resources = {{"job.yaml", {.path = "/a/job.yaml"}}};
  StartWell(context);
  EXPECT_EQ(Ended().status, 0);
  EXPECT_EQ(Stdout(), Directory().string() + "\n");
  EXPECT_EQ(fs::read_symlink(Directory() / "job.yaml"), PathOf("storage/a/job.yaml"));
  EXPECT_EQ(ReadFile(Directory() / "job.yaml"), "name: mnist\n");
}

TEST_F(LocalNodeTest, MakesTheDirectoriesOfALink) {
  fs::create_directories(PathOf("storage/a"));
  WriteBytes(PathOf("storage/a/job.yaml"), "name: mnist\n");
  auto context = Odd({"directory"});
  context.local_resources = {{std::string(kAgentJobFile), {.path = "/a/job.yaml"}}};
  StartWell(context);
  EXPECT_EQ(Ended().status, 0);
  EXPECT_EQ(ReadFile(Directory() / kAgentJobFile), "name: mnist\n");
}

TEST_F(LocalNodeTest, QuotesTheLastWordsOfWhatFailed) {
  StartWell({.command = {"/bin/sh", "-c", "echo the bundle is broken >&2; exit 1"}});
  EXPECT_EQ(Ended().status, 1);
  EXPECT_THAT(Ended().why,
              HasSubstr("exit code 1. Last 4096 bytes of stderr :\nthe bundle is broken"));
}

TEST_F(LocalNodeTest, ASecretIsAFileOfItsOwnerAndNothingElse) {
  StartWell(Odd({"environment"}), {{kOne, "very secret"}});
  EXPECT_EQ(Ended().status, 0);
  const fs::path file = Directory() / kIdentityFile;
  EXPECT_EQ(ReadFile(file), "very secret");
  struct stat status {};
  ASSERT_EQ(::stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_THAT(Stdout(), HasSubstr("CONTAINER_ID="));
  EXPECT_THAT(Stdout(), Not(HasSubstr("very secret")));
}

TEST_F(LocalNodeTest, TheEnvironmentSaysWhichContainerItIs) {
  auto context = Odd({"environment"});
  context.environment = {{"LANG", "C"}, {"CONTAINER_ID", "container_9_0001_01_000001"}};
  StartWell(context);
  EXPECT_EQ(Ended().status, 0);
  std::istringstream lines(Stdout());
  std::vector<std::string> environment;
  for (std::string line; std::getline(lines, line);) environment.push_back(line);
  EXPECT_THAT(environment,
              testing::UnorderedElementsAre(
                  "CONTAINER_ID=container_5_0001_01_000002", "LANG=C",
                  "LOG_DIRS=" + options_.log_directory, "NM_HOST=here", "NM_PORT=7",
                  "PATH=/usr/bin:/bin", "PWD=" + Directory().string(), "TFYARN_MEMORY_MB=4096"));
}

TEST_F(LocalNodeTest, ADescriptorIsHandedDownAsNumberThree) {
  int pair[2] = {-1, -1};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
  UniqueFd ours(pair[0]);
  yarn::ContainerLaunchContext context{.command = {"sh", "-c", "echo hello >&3"}};
  ASSERT_TRUE(node_->Launch(kOne, *grant_, context, "", UniqueFd(pair[1])));
  EXPECT_EQ(Ended().status, 0);
  char text[16] = {};
  EXPECT_EQ(::read(ours.get(), text, sizeof text), 6);
  EXPECT_STREQ(text, "hello\n");
  EXPECT_EQ(::read(ours.get(), text, sizeof text), 0) << "a process holds the other end";
}

// ---------------------------------------------------------------- stopping

TEST_F(LocalNodeTest, AStopIsATermThatCountsAsWhoStoppedIt) {
  StartWell(Odd({"on-term", "5"}));
  UntilReady();
  EXPECT_THAT(StopIt().succeeded, ElementsAre(kOne));
  EXPECT_THAT(StopIt().succeeded, ElementsAre(kOne));
  EXPECT_EQ(Ended().status, container_exit::kKilledByAppMaster);
  EXPECT_THAT(Ended().why, HasSubstr("ApplicationMaster"));
  EXPECT_THAT(StopIt().succeeded, ElementsAre(kOne)) << "it has ended; that is what was wanted";
}

TEST_F(LocalNodeTest, TheFirstReasonCounts) {
  StartWell(Odd({"on-term", "5"}));
  UntilReady();
  EXPECT_TRUE(node_->Stop(kOne, container_exit::kAborted, "first"));
  EXPECT_TRUE(node_->Stop(kOne, container_exit::kKilledByAppMaster, "second"));
  EXPECT_EQ(Ended().status, container_exit::kAborted);
  EXPECT_EQ(Ended().why, "first");
}

TEST_F(LocalNodeTest, OneThatIgnoresTermIsKilledWithAllItsChildren) {
  options_.kill_delay = 50ms;
  Make();
  StartWell({.command = {"sh", "-c",
                         std::string(TFYARN_ODD_TASK) + " ignore-term & exec " + TFYARN_ODD_TASK +
                             " ignore-term"}});
  UntilReady();
  EXPECT_TRUE(node_->Stop(kOne, container_exit::kAborted, "enough"));
  EXPECT_EQ(Ended().status, container_exit::kAborted);
}

TEST_F(LocalNodeTest, OneThatIsStoppedBeforeItsProgramRunsEndsAsStopped) {
  StartWell(Odd({"ignore-term"}));
  EXPECT_EQ(node_->ProcessOf(kOne), std::nullopt);
  EXPECT_TRUE(node_->Holds(kOne));
  EXPECT_TRUE(node_->Stop(kOne, container_exit::kKilledByAppMaster, "early"));
  EXPECT_EQ(Ended().status, container_exit::kKilledByAppMaster);
  EXPECT_EQ(Ended().why, "early");
  EXPECT_FALSE(node_->Holds(kOne));
}

TEST_F(LocalNodeTest, KillAllWaitsForNobody) {
  StartWell(Odd({"ignore-term"}));
  UntilReady();
  Until([this] { return node_->ProcessOf(kOne).value_or(0) > 0; }, "word of the process");
  node_->KillAll();
  EXPECT_EQ(Ended().status, 128 + SIGKILL);
  EXPECT_EQ(node_->ProcessOf(kOne), std::nullopt);
}

TEST_F(LocalNodeTest, AStopOfWhatWasNeverStartedIsRefused) {
  EXPECT_FALSE(node_->Stop(kOne, container_exit::kAborted, "nobody"));
  const auto response = StopIt();
  ASSERT_EQ(response.failed.size(), 1u);
  EXPECT_THAT(response.failed[0].error.message, HasSubstr("not handled by this NodeManager"));
  EXPECT_THAT(StatusOf(), HasSubstr("not handled by this NodeManager"));
  EXPECT_TRUE(ends_.empty());
}

TEST_F(LocalNodeTest, OneThatUsesMoreThanItsGrantIsKilled) {
  grant_->memory_mb = 50;
  StartWell(Odd({"grow", "200"}));
  EXPECT_EQ(Ended().status, container_exit::kKilledExceededPmem);
  EXPECT_THAT(Ended().why, HasSubstr("beyond the 'PHYSICAL' memory limit"));
}

TEST_F(LocalNodeTest, NobodyIsKilledForMemoryWhereNothingWasSaid) {
  grant_->memory_mb = 0;
  StartWell(Odd({"exit", "0"}));
  EXPECT_EQ(Ended().status, 0);
}

// ---------------------------------------------------------------- what does not start

TEST_F(LocalNodeTest, AContainerIsStartedOnce) {
  StartWell(Odd({"on-term", "5"}));
  const auto twice = Start(Odd({"exit", "0"}));
  ASSERT_EQ(twice.failed.size(), 1u);
  EXPECT_EQ(twice.failed[0].error.code, RpcErrorCode::kYarn);
  EXPECT_NE(twice.failed[0].error.message.find("relaunch the same container"), std::string::npos);
  UntilReady();
  (void)StopIt();
  (void)Ended();
  EXPECT_EQ(Start(Odd({"exit", "0"})).failed.size(), 1u) << "not even after its end";
}

TEST_F(LocalNodeTest, AContainerThatWasNotGrantedIsNotStarted) {
  grant_.reset();
  const auto response = Start(Odd({"exit", "0"}));
  ASSERT_EQ(response.failed.size(), 1u);
  EXPECT_EQ(response.failed[0].error.code, RpcErrorCode::kInvalidContainer);
  EXPECT_FALSE(fs::exists(Directory()));
}

TEST_F(LocalNodeTest, AProgramThatIsNotThereIsTheContainersEnd) {
  StartWell({.command = {"/absent/program"}});
  EXPECT_EQ(Ended().status, container_exit::kInvalid);
  EXPECT_THAT(Ended().why, HasSubstr("/absent/program"));
  EXPECT_EQ(StatusOf(), "complete -1000");
}

TEST_F(LocalNodeTest, NoProgramAtAllIsTheContainersEnd) {
  StartWell({});
  EXPECT_EQ(Ended().status, container_exit::kInvalid);
}

TEST_F(LocalNodeTest, ADirectoryThatCannotBeMadeIsARefusal) {
  WriteBytes(PathOf("containers"), "a file");
  const auto response = Start(Odd({"exit", "0"}));
  ASSERT_EQ(response.failed.size(), 1u) << ToText(response);
  EXPECT_EQ(response.failed[0].error.code, RpcErrorCode::kYarn);
  EXPECT_THAT(response.failed[0].error.message, HasSubstr(Directory().string()));
  EXPECT_EQ(node_->running(), 0u);
}

TEST_F(LocalNodeTest, ALinkThatCannotBeMadeIsARefusal) {
  auto context = Odd({"exit", "0"});
  // What is a link to nothing is no directory.
  context.local_resources = {{"x", {.path = "/absent"}}, {"x/job.yaml", {.path = "/a/job.yaml"}}};
  const auto response = Start(context);
  ASSERT_EQ(response.failed.size(), 1u);
  EXPECT_THAT(response.failed[0].error.message, HasSubstr("x/job.yaml"));
}

}  // namespace
}  // namespace tfyarn::hosts::local_node_test
