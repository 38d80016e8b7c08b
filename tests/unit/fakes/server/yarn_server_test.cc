// What goes wrong on a wire, and how production's client goes on: calls and answers that are lost
// or late, and a daemon that is away. And what a node does on this machine. What the daemons answer
// is tests/contract's.
#include "fakes/server/yarn_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/read.hpp>
#include <filesystem>
#include <utility>

#include "fakes/server/container_processes.h"
#include "fakes/server/files.h"
#include "fakes/server/localizer.h"
#include "tests/unit/files.h"
#include "tests/unit/wire/hadoop/test_server.h"
#include "wire/hadoop/ipc_client.h"
#include "wire/hadoop/yarn_codec.h"

namespace tfyarn::fakes::yarn_server_test {
namespace {

/// What the ResourceManager answers a client, with production's way to call again.
std::string AskAs(boost::asio::io_context& io, const HostPort& address,
                  const hadoop::EncodedCall& call, const std::function<void()>& on_step = {}) {
  hadoop::IpcClient client(io, {address}, hadoop::kApplicationClientProtocol, {.user = "alice"},
                           {.retry_least = 10ms, .retry_most = 10ms});
  hadoop::Outcome outcome;
  client.Call(call.method, call.body, hadoop::Repeatable::kAlways, hadoop::Into(outcome));
  hadoop::RunUntil(
      io,
      [&] {
        if (on_step) on_step();
        return outcome.done;
      },
      "an answer");
  EXPECT_EQ(outcome.error.message, "");
  return outcome.body;
}

/// The application that `answer` gives to a client.
ApplicationId NewApplicationIn(const std::string& answer) {
  hadoop::TokenStore tokens;
  const auto response = hadoop::DecodeRmResponse(yarn::GetNewApplicationRequest{}, answer, tokens);
  EXPECT_TRUE(response.has_value()) << answer;
  return response ? std::get<yarn::GetNewApplicationResponse>(*response).application
                  : ApplicationId{};
}

class YarnServerTest : public ::testing::Test {
 protected:
  YarnServerTest() { EXPECT_TRUE(server_.Start().has_value()); }

  /// What becomes of the first call; all others go well.
  void Suffer(CallFate fate) {
    server_.SetFate([this, fate](const ServedCall&) { return ++calls_ == 1 ? fate : CallFate{}; });
  }
  std::string Ask(const hadoop::EncodedCall& call) {
    return AskAs(io_, server_.client_address(), call, on_step_);
  }
  ApplicationId NewApplicationId() {
    return NewApplicationIn(Ask(*hadoop::EncodeRmRequest(yarn::GetNewApplicationRequest{}, {})));
  }
  /// The number of the application that a client got.
  std::int32_t NewApplication() { return NewApplicationId().id; }

  /// What the ResourceManager answers to these bytes of a new connection, before it ends it.
  hadoop::Response LastWordTo(const std::string& bytes) {
    using boost::asio::ip::tcp;
    tcp::socket socket(io_);
    socket.connect({boost::asio::ip::make_address(server_.client_address().host),
                    static_cast<std::uint16_t>(server_.client_address().port)});
    boost::asio::write(socket, boost::asio::buffer(bytes));
    std::string said;
    bool ended = false;
    boost::asio::async_read(
        socket, boost::asio::dynamic_buffer(said),
        [&ended](const boost::system::error_code&, std::size_t) { ended = true; });
    hadoop::RunUntil(
        io_, [&ended] { return ended; }, "the end of the connection");
    const auto response = hadoop::DecodeResponse(
        std::string_view(said).substr(std::min(said.size(), wire::kFrameHeader)));
    EXPECT_TRUE(response.has_value()) << response.error().message;
    return response.value_or(hadoop::Response{});
  }

  boost::asio::io_context io_;
  YarnServer server_{io_, {}};
  int calls_ = 0;
  std::function<void()> on_step_;
};

TEST_F(YarnServerTest, ACallThatIsLostIsCarriedOutOnce) {
  Suffer({.take_in = false});
  EXPECT_EQ(NewApplication(), 1);
  EXPECT_EQ(calls_, 2);
}

TEST_F(YarnServerTest, ACallWhoseAnswerIsLostIsCarriedOutTwice) {
  Suffer({.answer = false});
  EXPECT_EQ(NewApplication(), 2);
  EXPECT_EQ(calls_, 2);
}

TEST_F(YarnServerTest, AnAnswerMayComeLate) {
  Suffer({.answer_after = 20ms});
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(NewApplication(), 1);
  EXPECT_GE(std::chrono::steady_clock::now() - began, 20ms);
  EXPECT_EQ(calls_, 1);
}

// Source: ClientRMService.java#getApplications.
TEST_F(YarnServerTest, AListHasWhatIsOfOneOfTheTypesStatesAndTags) {
  const yarn::SubmitApplicationRequest request{.application = NewApplicationId(),
                                               .name = "a",
                                               .am_container = {.command = {"true"}},
                                               .am_resource = {.memory_mb = 1024, .vcores = 1},
                                               .tags = {"red", "green"}};
  const auto submit = hadoop::EncodeRmRequest(request, {.application_type = "TFYARN"});
  ASSERT_TRUE(submit.has_value()) << submit.error().message;
  Ask(*submit);
  const auto lists = [&](const hadoop::ApplicationFilter& filter) {
    const auto listed = hadoop::DecodeApplications(Ask(hadoop::GetApplications(filter)));
    EXPECT_TRUE(listed.has_value());
    return listed.has_value() && listed->size() == 1;
  };
  using yarn::YarnApplicationState;
  EXPECT_TRUE(lists({}));
  EXPECT_TRUE(lists({.types = {"MAPREDUCE", "TfYarn"}}));
  EXPECT_FALSE(lists({.types = {"MAPREDUCE"}}));
  EXPECT_TRUE(lists({.tags = {"blue", "green"}}));
  EXPECT_FALSE(lists({.tags = {"blue"}}));
  EXPECT_TRUE(lists({.states = {YarnApplicationState::kRunning, YarnApplicationState::kAccepted}}));
  EXPECT_FALSE(lists({.states = {YarnApplicationState::kRunning}}));
}

TEST_F(YarnServerTest, AResourceManagerThatComesBackHasItsPortsAndItsMemory) {
  EXPECT_EQ(NewApplication(), 1);
  const auto port = server_.client_address().port;
  server_.StopRm();
  int steps = 0;
  on_step_ = [&] {
    if (++steps == 3) {
      EXPECT_TRUE(server_.StartRm().has_value());
    }
  };
  EXPECT_EQ(NewApplication(), 1) << "numbers begin anew under the new ResourceManager's time";
  EXPECT_EQ(server_.client_address().port, port);
}

// Source: ipc/Server.java, Connection.processOneRpc, setupBadVersionResponse. The class and the
// words go where each belongs: clients of Hadoop throw what the class says.
TEST_F(YarnServerTest, WhatItCannotTakeIsRefusedByTheNameOfAnException) {
  const std::string good = hadoop::Preamble(hadoop::AuthProtocol::kNone);
  const std::string server_error = "org.apache.hadoop.ipc.RpcServerException";
  std::string no_frame = good;
  wire::AppendFrame("x", no_frame);
  const std::string undecodable = hadoop::DecodeClientFrame("x").error().message;
  const auto refusal = [&](const std::string& bytes) {
    const hadoop::Response said = LastWordTo(bytes);
    EXPECT_EQ(said.status, hadoop::ResponseStatus::kFatal);
    EXPECT_EQ(said.call_id, hadoop::kConnectionCallId);
    return std::pair(said.exception, said.message);
  };
  EXPECT_EQ(refusal(no_frame), std::pair(server_error, undecodable));
  EXPECT_EQ(refusal(good + hadoop::RequestFrame({.method = "m"})),
            std::pair(server_error, std::string("a frame at the wrong time")));
  EXPECT_EQ(refusal("hrpc\x08" + good.substr(5)),
            std::pair(std::string("org.apache.hadoop.ipc.RPC$VersionMismatch"),
                      std::string("Server IPC version 9 is needed")));
}

// ---------------------------------------------------------------- a node on this machine

class OnThisMachineTest : public ::testing::Test {
 protected:
  ~OnThisMachineTest() override { umask(mask_); }
  static ContainerId Container(std::int64_t number) {
    return {.application_attempt = {.application = {.id = 1}, .attempt = 1}, .id = number};
  }

  boost::asio::io_context io_;
  const TemporaryFolder temporary_;
  const std::filesystem::path folder_ = temporary_.path();

 private:
  const mode_t mask_ = umask(0);  // Files are as they are made.
};

TEST_F(OnThisMachineTest, ANodeRunsUntilTheResourceManagerTakesItForLost) {
  YarnServer server(io_, {.rm = {.nm_expiry = 10s},
                          .nodes = {{.node = {.host = "127.0.0.1", .port = 0},
                                     .capacity = {.memory_mb = 1024, .vcores = 1}}},
                          .folder = folder_});
  ASSERT_TRUE(server.Start().has_value());
  EXPECT_TRUE(server.IsRunning(0));
  server.StopNode(0);
  EXPECT_TRUE(server.IsRunning(0));
  server.Advance(20s);
  EXPECT_FALSE(server.IsRunning(0));
  ASSERT_TRUE(server.StartNode(0).has_value());
  EXPECT_TRUE(server.IsRunning(0));
  server.StopRm();
  EXPECT_FALSE(server.IsRunning(0));
}

// Source: ContainerImpl.cleanup, ResourceLocalizationService#handleCleanupContainerResources.
TEST_F(OnThisMachineTest, AContainersWorkingDirectoryGoesWithItAndItsLogsStay) {
  YarnServer server(io_, {.nodes = {{.node = {.host = "127.0.0.1", .port = 0},
                                     .capacity = {.memory_mb = 4096, .vcores = 4}}},
                          .folder = folder_,
                          .environment = {{"PATH", "/usr/bin:/bin"}}});
  ASSERT_TRUE(server.Start().has_value());
  const auto ask = [&](const auto& request) {
    return AskAs(io_, server.client_address(), *hadoop::EncodeRmRequest(request, {}));
  };
  const std::filesystem::path ran = folder_ / "ran";
  const yarn::SubmitApplicationRequest request{
      .application = NewApplicationIn(ask(yarn::GetNewApplicationRequest{})),
      .name = "a",
      .am_container = {.command = {"bash", "-c", ": > " + ran.string() + "; sleep 600"}},
      .am_resource = {.memory_mb = 1024, .vcores = 1}};
  ask(request);
  const auto count = [&](const std::string& name) {
    std::error_code ignored;
    std::filesystem::recursive_directory_iterator all(folder_, ignored);
    return std::count_if(begin(all), end(all), [&](const std::filesystem::directory_entry& entry) {
      return entry.path().filename() == name;
    });
  };
  RUN_UNTIL(io_, std::filesystem::exists(ran));
  EXPECT_EQ(count("launch_container.sh"), 1);
  ask(yarn::KillApplicationRequest{.application = request.application});
  RUN_UNTIL(io_, count("launch_container.sh") == 0);
  EXPECT_EQ(count("prelaunch.err"), 1);
}

TEST_F(OnThisMachineTest, AllThatAProcessSaysGoesToItsFile) {
  std::optional<std::int32_t> status;
  ContainerProcesses processes(io_, [&](const ContainerId&, std::int32_t s) { status = s; });
  WriteFile(folder_ / "script.sh", "echo out\necho err >&2\nexit 3\n");
  ASSERT_TRUE(processes
                  .Start(Container(1), (folder_ / "script.sh").string(), folder_.string(),
                         (folder_ / "output").string())
                  .has_value());
  RUN_UNTIL(io_, status.has_value());
  EXPECT_EQ(status, 3);
  EXPECT_EQ(Tail(folder_ / "output"), "out\nerr\n");
  // Only the owner and the group may read what a container says.
  EXPECT_EQ(std::filesystem::status(folder_ / "output").permissions(),
            std::filesystem::perms{0640});
}

TEST_F(OnThisMachineTest, ContainersOfAnApplicationFetchOneAfterTheOther) {
  NameNode files({.superuser = "alice"});
  std::map<std::int64_t, std::string> names;
  Localizer localizer(io_, folder_, &files,
                      [&](const ContainerId& container, const Expected<LocalLinks>& links) {
                        names[container.id] = links ? links->front().first : links.error().message;
                      });
  for (const std::int64_t number : {1, 2}) {
    const std::string name = "file" + std::to_string(number);
    (void)files.Call({}, hdfs::CreateRequest{.path = "/" + name, .bytes = "x"});
    const std::filesystem::path logs = folder_ / std::to_string(number);
    std::filesystem::create_directories(logs);
    localizer.Fetch({.container = Container(number),
                     .user = "alice",
                     .files = {{name, {.path = "/" + name}}},
                     .log_directory = logs});
  }
  RUN_UNTIL(io_, names.size() == 2);
  EXPECT_EQ(names, (std::map<std::int64_t, std::string>{{1, "file1"}, {2, "file2"}}));
}

// ---------------------------------------------------------------- tokens

/// The tokens that the AM of these containers gets for them.
std::vector<hadoop::HadoopToken> Issued(TokenOffice& office, TokenBook& book,
                                        std::vector<yarn::Container> containers) {
  const std::uint32_t terms = book.Intern({});
  for (yarn::Container& one : containers)
    one.token = MakeContainerToken(1, terms, one.id, one.node, Instant{} + 10min);
  yarn::RmResponse response = yarn::AllocateResponse{.allocated_containers = std::move(containers)};
  office.Issue(response, {.application = {.id = 1}, .attempt = 1}, "alice", book);
  std::vector<hadoop::HadoopToken> tokens;
  for (const yarn::Container& one : std::get<yarn::AllocateResponse>(response).allocated_containers)
    tokens.push_back(*office.store().Find(one.token));
  return tokens;
}

// Fails when a container is started with the token of another, whose handle has the same hash.
TEST(TokenOfficeTest, ContainersOfOneAnswerHaveTheirOwnTokens) {
  TokenOffice office("key");
  TokenBook book;
  const NodeId node{.host = "n1", .port = 45454};
  std::vector<yarn::Container> containers;
  for (std::int64_t number = 1; number <= 1000; ++number) {
    containers.push_back(
        {.id = {.application_attempt = {.application = {.id = 1}, .attempt = 1}, .id = number},
         .node = node});
  }
  std::set<std::string> identifiers;
  for (const hadoop::HadoopToken& token : Issued(office, book, std::move(containers)))
    identifiers.insert(token.identifier);
  EXPECT_EQ(identifiers.size(), 1000U);
}

// It would grow for ever, and a container's token is of no use ten minutes after it was granted.
TEST(TokenOfficeTest, OnlyTheLatestContainersTokensAreRemembered) {
  TokenOffice office("key", 2);
  TokenBook book;
  const ApplicationAttemptId attempt{.application = {.id = 1}, .attempt = 1};
  const NodeId node{.host = "n1", .port = 45454};
  std::vector<hadoop::HadoopToken> tokens;
  for (const std::int64_t number : {1, 2, 2, 3}) {
    const ContainerId id{.application_attempt = attempt, .id = number};
    tokens.push_back(Issued(office, book, {{.id = id, .node = node}}).front());
  }
  EXPECT_FALSE(office.ContainerToken(tokens[0]).has_value());
  EXPECT_TRUE(office.ContainerToken(tokens[1]).has_value());
  EXPECT_TRUE(office.ContainerToken(tokens[3]).has_value());
}

}  // namespace
}  // namespace tfyarn::fakes::yarn_server_test
