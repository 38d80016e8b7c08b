// Containers: their start at a NodeManager, their ends, and how the AM hears of them.
#include <fmt/format.h>
#include <sys/stat.h>

#include <fstream>

#include "tests/contract/contract.h"

namespace tfyarn::contract::containers_test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using yarn::ContainerState;
using yarn::RpcErrorCode;

class Containers : public Contract {
 protected:
  static std::vector<std::string> Shell(const std::string& script) {
    return {"bash", "-c", script};
  }
  /// The same file under another way to say it: at the real one files are the machine's too.
  static hadoop::LaunchTerms LocalFiles() {
    return {.file_system = {.scheme = "file", .server = {}}};
  }
  [[nodiscard]] yarn::LocalResource LocalFile(const std::string& content,
                                              const char* name = "a file") const {
    const std::string path = (folder_ / name).string();
    std::ofstream(path) << content;
    struct stat found {};
    EXPECT_EQ(stat(path.c_str(), &found), 0);
    return {.path = path,
            .size = found.st_size,
            .timestamp = found.st_mtim.tv_sec * 1000 + found.st_mtim.tv_nsec / 1'000'000};
  }
  /// Starts the container; why it was not; "" when it was.
  static std::string Refused(const Answer<yarn::StartContainersResponse>& answer) {
    if (!answer) return answer.error().message;
    return answer->failed.empty() ? "" : answer->failed[0].error.message;
  }
};

// ---------------------------------------------------------------- ends

// Source: ContainerLaunch.java#handleContainerExitCode, ContainerExitStatus.java.
TEST_F(Containers, TheExitStatusIsThatOfTheProcessOr128AndTheSignal) {
  const auto am = RunAndRegister();
  const std::vector<std::pair<std::string, int>> ends = {
      {"exit 0", 0},       {"exit 3", 3},
      {"kill -9 $$", 137}, {"kill -TERM $$; sleep 9", 143},
      {"exit 137", 137},   {"/no/such/program", 127}};
  const auto containers = am->Get(Row(static_cast<std::int32_t>(ends.size())));
  for (std::size_t i = 0; i < ends.size(); ++i) {
    ASSERT_EQ(Refused(am->Start(containers[i], Shell(ends[i].first))), "");
    const auto status = am->AwaitEnd(containers[i].id);
    EXPECT_EQ(status.exit_status, ends[i].second) << ends[i].first;
    EXPECT_EQ(status.state, ContainerState::kComplete);
    if (ends[i].second > 0)
      EXPECT_THAT(status.diagnostics, HasSubstr(std::to_string(ends[i].second)));
    else
      EXPECT_EQ(status.diagnostics, "");
  }
}

// Source: ContainerManagerImpl.java#stopContainers, ContainerLaunch.java#cleanupContainer.
TEST_F(Containers, AStoppedContainerIsTerminatedAndThenKilled) {
  const auto am = RunAndRegister();
  const auto containers = am->Get(Row(2));
  am->StartRunning(containers[0], ":");
  am->StartRunning(containers[1], "trap '' TERM");
  const auto began = std::chrono::steady_clock::now();
  for (const yarn::Container& container : containers) {
    const auto answer = am->Stop(container);
    ASSERT_TRUE(answer.has_value()) << answer.error().message;
    EXPECT_EQ(answer->succeeded, std::vector{container.id});
  }
  const auto obedient = am->AwaitEnd(containers[0].id);
  EXPECT_EQ(obedient.exit_status, -105);
  EXPECT_THAT(obedient.diagnostics, HasSubstr("Container killed by the ApplicationMaster"));
  EXPECT_THAT(obedient.diagnostics, HasSubstr("143"));
  const auto deaf = am->AwaitEnd(containers[1].id);
  EXPECT_EQ(deaf.exit_status, -105);
  EXPECT_THAT(deaf.diagnostics, HasSubstr("137"));
  EXPECT_GE(std::chrono::steady_clock::now() - began, kSigkillDelay);
}

// Source: CapacityScheduler.java#allocate (releaseContainers comes before the answer is filled;
// what it says of the end goes through the dispatcher, which may be busy).
TEST_F(Containers, AReleasedContainerIsCompletedAtOnceAndKilledLater) {
  const auto am = RunAndRegister();
  const auto container = am->Get(Row(1)).at(0);
  am->StartRunning(container, ":");
  am->Beat({.release = {container.id}});
  const auto released = am->AwaitEnd(container.id);
  EXPECT_EQ(released.exit_status, -100);
  EXPECT_EQ(released.diagnostics, "Container released by application");
  EXPECT_TRUE(am->Beat({.release = {container.id}}).completed_containers.empty());
  am->BeatUntil("the process' end", [&] {
    const auto status = am->StatusOf(container);
    return !status || status->state == ContainerState::kComplete;
  });
}

// Source: RMServerUtils.java#validateContainerReleaseRequest.
TEST_F(Containers, ContainersOfAnotherAttemptCannotBeReleased) {
  const auto am = RunAndRegister();
  ContainerId foreign = am->process.container;
  foreign.application_attempt.attempt = 2;
  const auto answer = am->Allocate({.release = {foreign}});
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, RpcErrorCode::kInvalidContainerRelease);
}

// Source: RMContainerImpl.java (RELEASED), ResourceTrackerService.java (containers to clean up).
TEST_F(Containers, AReleasedContainerCanStillBeStartedAndIsKilledByTheNextHeartbeats) {
  const auto am = RunAndRegister();
  const auto container = am->Get(Row(1)).at(0);
  am->Beat({.release = {container.id}});
  ASSERT_EQ(Refused(am->Start(container, Shell("sleep 600"))), "");
  am->BeatUntil("the process' end", [&] {
    const auto status = am->StatusOf(container);
    return !status || status->state == ContainerState::kComplete;
  });
}

// Source: ContainerAllocationExpirer.java, RMContainerImpl.java (ACQUIRED -> EXPIRED),
// ContainerManagerImpl.java#authorizeStartAndResourceIncreaseRequest.
TEST_F(Containers, OneThatIsNotStartedExpires) {
  const auto am = RunAndRegister();
  const auto container = am->Get(Row(1)).at(0);
  am->PassBeating(kContainerExpiry * 3 / 2);
  const auto status = am->AwaitEnd(container.id);
  EXPECT_EQ(status.exit_status, -100);
  EXPECT_EQ(status.diagnostics, "Container expired since it was unused");
  EXPECT_THAT(Refused(am->Start(container, Shell("sleep 600"))),
              HasSubstr("This token is expired"));
}

// ---------------------------------------------------------------- starts

// Source: SchedulerApplicationAttempt.java#updateContainerAndNMToken,
// NMTokenSecretManagerInRM.java.
TEST_F(Containers, ANodesTokenComesWithItsFirstContainerOnly) {
  const auto am = RunAndRegister();
  am->Beat({.ask = {Row(8)}});
  std::map<NodeId, int> tokens;
  std::set<NodeId> nodes;
  WaitUntil("grants", [&] {
    const auto answer = am->Beat();
    for (const auto& container : answer.allocated_containers) nodes.insert(container.node);
    for (const auto& token : answer.nm_tokens) {
      ++tokens[token.node];
      EXPECT_EQ(nodes.count(token.node), 1U);
    }
    return am->granted.size() >= 8;
  });
  EXPECT_EQ(nodes.size(), 2U);
  for (const NodeId& node : nodes) EXPECT_EQ(tokens[node], 1) << ToString(node);
}

// Source: ContainerManagerImpl.java#authorizeStartAndResourceIncreaseRequest.
TEST_F(Containers, OneIsStartedOnce) {
  const auto am = RunAndRegister();
  const auto container = am->Get(Row(1)).at(0);
  am->StartRunning(container, ":");
  EXPECT_THAT(Refused(am->Start(container, Shell("sleep 600"))),
              HasSubstr("Attempt to relaunch the same container"));
  const auto status = am->StatusOf(container);
  ASSERT_TRUE(status.has_value());
  EXPECT_EQ(status->state, ContainerState::kRunning);
  EXPECT_EQ(status->exit_status, -1000);
}

// Source: ContainerManagerImpl.java#startContainers (verifyAndGetContainerTokenIdentifier throws
// for all).
TEST_F(Containers, AForgedTokenEndsTheCallAtItsPlace) {
  const auto am = RunAndRegister();
  std::vector<yarn::Container> here;
  am->Beat({.ask = {Row(8)}});
  am->BeatUntilGranted(8);
  for (const yarn::Container& container : am->granted) {
    if (container.node == am->granted[0].node) here.push_back(container);
  }
  ASSERT_GE(here.size(), 3U);
  hadoop::HadoopToken forged = *tokens_.Find(here[1].token);
  forged.password = "forged";
  yarn::StartContainersRequest request;
  std::map<ContainerId, hadoop::LaunchTerms> terms;
  for (std::size_t i = 0; i < 3; ++i) {
    request.containers.push_back({.container = here[i].id,
                                  .container_token = i == 1 ? tokens_.Keep(forged) : here[i].token,
                                  .context = {.command = Shell("sleep 600")}});
    terms[here[i].id];
  }
  const auto answer = am->AskNm<yarn::StartContainersResponse>(here[0].node, request, terms);
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, RpcErrorCode::kInvalidToken);
  EXPECT_TRUE(am->StatusOf(here[0]).has_value()) << "what stands before it is started";
  EXPECT_FALSE(am->StatusOf(here[2]).has_value());
}

// Source: NMTokenSecretManagerInNM.java#retrievePassword.
TEST_F(Containers, ANodesTokenOpensThatNodeOnly) {
  const auto am = RunAndRegister();
  am->Beat({.ask = {Row(8)}});
  am->BeatUntilGranted(8);
  ASSERT_EQ(am->nm_tokens.size(), 2U);
  auto& tokens = am->nm_tokens;
  std::swap(tokens.begin()->second, tokens.rbegin()->second);
  const auto answer = am->AskNm<yarn::GetContainerStatusesResponse>(
      tokens.begin()->first, yarn::GetContainerStatusesRequest{});
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, RpcErrorCode::kInvalidToken);
  EXPECT_THAT(answer.error().message, HasSubstr("is not valid for current node manager"));
}

// Source: ContainerManagerImpl.java#stopContainers, #getContainerStatuses (authorizeGetAndStop).
TEST_F(Containers, WhatANodeDoesNotHaveItDoesNotHandle) {
  const auto am = RunAndRegister();
  const auto container = am->Get(Row(1)).at(0);
  const auto stopped = am->Stop(container);
  ASSERT_TRUE(stopped.has_value()) << stopped.error().message;
  ASSERT_EQ(stopped->failed.size(), 1U);
  EXPECT_THAT(stopped->failed[0].error.message, HasSubstr("is not handled by this NodeManager"));
  EXPECT_FALSE(am->StatusOf(container).has_value());
}

// Source: FSDownload.java#verifyAndCopy, ContainerExitStatus.java (INVALID).
TEST_F(Containers, AFileThatChangedIsNotLocalized) {
  const auto am = RunAndRegister();
  const auto container = am->Get(Row(1)).at(0);
  yarn::LocalResource file = LocalFile("content");
  file.timestamp -= 1000;
  ASSERT_EQ(Refused(am->Start(container,
                              {.local_resources = {{"here", file}}, .command = Shell("exit 0")},
                              LocalFiles())),
            "");
  const auto status = am->AwaitEnd(container.id);
  EXPECT_EQ(status.exit_status, -1000);
  EXPECT_THAT(status.diagnostics, HasSubstr("changed on src filesystem"));
}

// Source: LocalResourcesTrackerImpl.java#handle, ResourceLocalizationService.java
// #getLocalResourcesTracker.
TEST_F(Containers, AFileThatIsSharedIsTheSameForTheNextApplication) {
  const yarn::LocalResource own = LocalFile("content");
  yarn::LocalResource shared = LocalFile("content", "for-all");  // A space would be overlooked.
  shared.shared = true;
  // Where the files are that a container of a new application sees.
  const auto places = [&] {
    const auto am = RunAndRegister();
    am->Beat({.blacklist_additions = {node(1).host}});  // All on the other one.
    const auto container = am->Get(Row(1)).at(0);
    const auto seen = folder_ / ToString(container.id);
    EXPECT_EQ(Refused(am->Start(
                  container,
                  {.local_resources = {{"own", own}, {"shared", shared}},
                   .command = Shell(fmt::format("realpath own shared > {}", seen.string()))},
                  LocalFiles())),
              "");
    EXPECT_EQ(am->AwaitEnd(container.id).exit_status, 0);
    std::ifstream file(seen);
    std::pair<std::string, std::string> found;
    std::getline(file, found.first);
    std::getline(file, found.second);
    return found;
  };
  const auto first = places();
  const auto second = places();
  EXPECT_NE(first.first, second.first);
  EXPECT_EQ(first.second, second.second);
  EXPECT_NE(first.second, "");
}

// Source: ContainerLocalizer.java, ContainerLaunch.java (symlinks in the work directory).
TEST_F(Containers, FilesAndCredentialsAreInTheContainersPlace) {
  const auto am = RunAndRegister();
  const auto container = am->Get(Row(1)).at(0);
  auto terms = LocalFiles();
  terms.credentials = std::string("HDTS\0\0\0", 7);
  const std::string script =
      "[ \"$(cat here)\" = content ] || exit 9; [ -s $HADOOP_TOKEN_FILE_LOCATION ] || exit 8;"
      "[ $PWD/here -ef here ] || exit 7; [ \"$ODD\" = 'a $b' ] || exit 6;"
      "[ $NM_HOST = " +
      container.node.host + " ] || exit 5; [ $CONTAINER_ID = " + ToString(container.id) +
      " ] || exit 4; exit 33";
  ASSERT_EQ(Refused(am->Start(container,
                              {.local_resources = {{"here", LocalFile("content")}},
                               .environment = {{"ODD", "a $b"}},
                               .command = Shell(script)},
                              terms)),
            "");
  EXPECT_EQ(am->AwaitEnd(container.id).exit_status, 33);
}

}  // namespace
}  // namespace tfyarn::contract::containers_test
