#include "hosts/yarn/yarn_cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "tests/unit/wire/hadoop/test_server.h"

namespace tfyarn::hosts::yarn_cluster_test {
namespace {

using hadoop::CallRequest;
using hadoop::ClientFrame;
using hadoop::TestPeer;
using hadoop::TestServer;
using testing::HasSubstr;

/// A client's cluster whose ResourceManagers are servers of this test.
class YarnClusterTest : public testing::Test {
 protected:
  YarnCluster& At(const std::vector<const TestServer*>& managers) {
    YarnClusterOptions options{.user = "alice", .file_system = "nn:8020"};
    for (const TestServer* manager : managers)
      options.clients.push_back({manager->address().host, manager->address().port});
    cluster_ = std::make_unique<YarnCluster>(loop_, std::move(options));
    return *cluster_;
  }

  yarn::RmResponse Call(YarnCluster& cluster, yarn::RmRequest request) {
    std::optional<yarn::RmResponse> answer;
    cluster.CallRm(std::move(request),
                   [&](yarn::RmResponse response) { answer = std::move(response); });
    EXPECT_FALSE(answer) << "answered from inside the call";
    hadoop::RunUntil(
        loop_, [&] { return answer.has_value(); }, "an answer");
    return answer.value_or(yarn::RpcError{});
  }

  /// Gives the next application's id.
  TestPeer::OnFrame NewApplication() {
    return [this](TestPeer& peer, const ClientFrame& frame) {
      if (const auto* context = std::get_if<hadoop::ConnectionContext>(&frame))
        users_.push_back(context->effective_user.value_or(""));
      const auto* call = std::get_if<CallRequest>(&frame);
      if (call == nullptr) return;
      methods_.push_back(call->method);
      peer.Answer(
          *call,
          hadoop::EncodeRmResponse(
              yarn::GetNewApplicationResponse{.application = {.cluster_timestamp = 5, .id = 7}},
              hadoop::TokenStore()));
    };
  }

  boost::asio::io_context loop_;
  std::unique_ptr<YarnCluster> cluster_;
  std::vector<std::string> users_;
  std::vector<std::string> methods_;
};

TEST_F(YarnClusterTest, AClientsCallReachesTheManagerAndItsAnswerComesBack) {
  TestServer manager(loop_, NewApplication());
  const auto answer = Call(At({&manager}), yarn::GetNewApplicationRequest{});
  const auto* made = std::get_if<yarn::GetNewApplicationResponse>(&answer);
  ASSERT_NE(made, nullptr);
  EXPECT_EQ(ToString(made->application), "application_5_0007");
  EXPECT_THAT(methods_, testing::ElementsAre("getNewApplication"));
  EXPECT_THAT(users_, testing::ElementsAre("alice"));
}

TEST_F(YarnClusterTest, TheOtherManagerIsAskedWhenOneIsOnStandby) {
  TestServer standby(loop_, [](TestPeer& peer, const ClientFrame& frame) {
    if (const auto* call = std::get_if<CallRequest>(&frame))
      peer.Throw(*call, std::string(hadoop::kStandbyException), "not active");
  });
  TestServer active(loop_, NewApplication());
  const auto answer = Call(At({&standby, &active}), yarn::GetNewApplicationRequest{});
  EXPECT_TRUE(std::holds_alternative<yarn::GetNewApplicationResponse>(answer));
}

TEST_F(YarnClusterTest, AnExceptionIsAnErrorThatTheMachineKnows) {
  TestServer manager(loop_, [](TestPeer& peer, const ClientFrame& frame) {
    if (const auto* call = std::get_if<CallRequest>(&frame)) {
      peer.Throw(*call, "org.apache.hadoop.yarn.exceptions.ApplicationNotFoundException",
                 "Application with id 'application_5_0008' doesn't exist");
    }
  });
  const auto answer =
      Call(At({&manager}), yarn::GetApplicationReportRequest{.application = {5, 8}});
  const auto* error = std::get_if<yarn::RpcError>(&answer);
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(error->code, yarn::RpcErrorCode::kApplicationNotFound);
  EXPECT_THAT(error->message, HasSubstr("application_5_0008"));
}

TEST_F(YarnClusterTest, WhatCannotBeReadIsAnErrorThatIsNotRepeated) {
  TestServer manager(loop_, [](TestPeer& peer, const ClientFrame& frame) {
    if (const auto* call = std::get_if<CallRequest>(&frame)) peer.Answer(*call, "\xff\xff\xff");
  });
  const auto answer = Call(At({&manager}), yarn::GetNewApplicationRequest{});
  const auto* error = std::get_if<yarn::RpcError>(&answer);
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(error->code, yarn::RpcErrorCode::kYarn);
}

TEST_F(YarnClusterTest, WithoutAnAmsTokenNobodyIsCalledAsAnAm) {
  TestServer manager(loop_, NewApplication());
  const auto answer = Call(At({&manager}), yarn::AllocateRequest{});
  const auto* error = std::get_if<yarn::RpcError>(&answer);
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(error->code, yarn::RpcErrorCode::kInvalidToken);
  EXPECT_TRUE(manager.peers.empty());
}

TEST_F(YarnClusterTest, WithoutItsTokenNoNodeIsCalled) {
  TestServer manager(loop_);
  std::optional<yarn::NmResponse> answer;
  At({&manager})
      .CallNm({.host = "n", .port = 1}, yarn::Token{}, yarn::StopContainersRequest{}, {},
              [&](yarn::NmResponse response) { answer = std::move(response); });
  RUN_UNTIL(loop_, answer);
  const auto* error = std::get_if<yarn::RpcError>(&*answer);
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(error->code, yarn::RpcErrorCode::kInvalidToken);
  EXPECT_THAT(error->message, HasSubstr("n:1"));
}

TEST_F(YarnClusterTest, AnAnswerThatComesAfterItsEndGoesNowhere) {
  TestServer manager(loop_, NewApplication());
  int answers = 0;
  At({&manager}).CallRm(yarn::GetNewApplicationRequest{}, [&](const auto&) { ++answers; });
  RUN_UNTIL(loop_, !methods_.empty());
  cluster_.reset();
  loop_.restart();
  loop_.poll();
  EXPECT_EQ(answers, 0);
}

TEST(FileSystemOfTest, ANameServiceHasNoPort) {
  EXPECT_EQ(FileSystemOf("ns").server, (HostPort{"ns", 0}));
  EXPECT_EQ(FileSystemOf("a,b").server, (HostPort{"a,b", 0}));
  EXPECT_EQ(FileSystemOf("nn:8020").server, (HostPort{"nn", 8020}));
  EXPECT_EQ(FileSystemOf("[fe80::1]:8020").server, (HostPort{"fe80::1", 8020}));
}

}  // namespace
}  // namespace tfyarn::hosts::yarn_cluster_test
