// The contract suite's tools: a client, and ApplicationMasters by hand. An AM's container holds a
// shell that waits to be told how to end; the test speaks for it, with the token that the shell was
// started with, over the bytes that production speaks.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "core/model/yarn.h"
#include "tests/contract/subject.h"
#include "wire/hadoop/ipc_client.h"
#include "wire/hadoop/token_store.h"
#include "wire/hadoop/yarn_codec.h"

namespace tfyarn::contract {

template <class Response>
using Answer = tl::expected<Response, yarn::RpcError>;

/// A client of one port, that waits for each answer.
class Caller {
 public:
  Caller(boost::asio::io_context& io, const HostPort& address, const hadoop::IpcProtocol& protocol,
         hadoop::IpcCredential credential);

  /// The response's bytes.
  [[nodiscard]] Answer<std::string> Call(const hadoop::EncodedCall& call);

 private:
  boost::asio::io_context& io_;
  hadoop::IpcClient client_;
};

/// Shells of AMs and what they left for the test: see kAmScript.
struct AmProcess {
  ContainerId container;
  int pid = 0;
  std::string host;  ///< Of its node.
  hadoop::HadoopToken token;
};

class HandAm;

class Contract : public ::testing::Test {
 protected:
  Contract();
  ~Contract() override;

  /// Asks again and again, until `done`; the time between is real.
  void WaitUntil(const char* what, const std::function<bool()>& done);
  template <class Response, class Request>
  Answer<Response> AskClient(const Request& request, const hadoop::SubmitTerms& terms = {}) {
    auto body = client_.Call(*hadoop::EncodeRmRequest(request, terms));
    if (!body) return tl::unexpected(body.error());
    auto response = hadoop::DecodeRmResponse(request, *body, tokens_);
    EXPECT_TRUE(response.has_value()) << response.error().message;
    return std::get<Response>(*response);
  }
  [[nodiscard]] yarn::ApplicationReport Report(const ApplicationId& application);
  /// A new application id.
  [[nodiscard]] ApplicationId NewApplication();
  /// An application whose AM waits for what the test tells it. It is killed when the test ends.
  [[nodiscard]] yarn::SubmitApplicationRequest Waiting();
  Answer<yarn::SubmitApplicationResponse> Submit(const yarn::SubmitApplicationRequest& request);
  /// Submits, and waits until the first AM's shell runs.
  [[nodiscard]] std::unique_ptr<HandAm> Run(const yarn::SubmitApplicationRequest& request);
  [[nodiscard]] std::unique_ptr<HandAm> RunAndRegister() { return RunAndRegister(Waiting()); }
  [[nodiscard]] std::unique_ptr<HandAm> RunAndRegister(
      const yarn::SubmitApplicationRequest& request);
  /// The AM of that attempt, once its shell runs.
  [[nodiscard]] std::unique_ptr<HandAm> NextAm(const ApplicationAttemptId& attempt);
  /// Node ids in the order of their hosts.
  [[nodiscard]] std::vector<yarn::NodeReport> Nodes();
  [[nodiscard]] NodeId node(std::size_t index) { return Nodes().at(index).node; }

  boost::asio::io_context io_;
  const std::filesystem::path folder_;
  std::unique_ptr<Subject> subject_;
  hadoop::TokenStore tokens_;
  Caller client_;

 private:
  [[nodiscard]] std::optional<AmProcess> FindAm(const ApplicationAttemptId& attempt) const;
  std::vector<ApplicationId> submitted_;
};

/// One AM by hand: what an AM knows of the protocol.
class HandAm {
 public:
  HandAm(boost::asio::io_context& io, Subject& subject, hadoop::TokenStore& tokens,
         AmProcess process, std::filesystem::path folder);

  [[nodiscard]] const ApplicationAttemptId& attempt() const {
    return process.container.application_attempt;
  }
  Answer<yarn::RegisterApplicationMasterResponse> Register();
  /// As it stands, with whatever response id it has.
  Answer<yarn::AllocateResponse> Allocate(const yarn::AllocateRequest& request);
  /// The next allocate, with the right response id; its answer is taken in.
  yarn::AllocateResponse Beat(yarn::AllocateRequest request = {});
  Answer<yarn::FinishApplicationMasterResponse> Finish(
      yarn::FinalApplicationStatus status = yarn::FinalApplicationStatus::kSucceeded);
  /// A new connection for what comes.
  void Reconnect();

  /// Asks for `count` by one row and beats until they are there.
  std::vector<yarn::Container> Get(const yarn::ResourceRequest& row);
  /// Beats until so many containers were granted in all.
  void BeatUntilGranted(std::size_t count);
  void BeatUntil(const char* what, const std::function<bool()>& done);
  /// Cluster time passes, and the AM beats often enough not to expire.
  void PassBeating(Duration time);
  [[nodiscard]] yarn::ContainerStatus AwaitEnd(const ContainerId& container);

  template <class Response>
  Answer<Response> AskNm(const NodeId& node, const yarn::NmRequest& request,
                         const std::map<ContainerId, hadoop::LaunchTerms>& terms = {}) {
    auto call = hadoop::EncodeNmRequest(request, terms, tokens_);
    EXPECT_TRUE(call.has_value()) << call.error().message;
    auto body = NmOf(node).Call(*call);
    if (!body) return tl::unexpected(body.error());
    auto response = hadoop::DecodeNmResponse(request, *body);
    EXPECT_TRUE(response.has_value()) << response.error().message;
    return std::get<Response>(*response);
  }
  Answer<yarn::StartContainersResponse> Start(const yarn::Container& container,
                                              std::vector<std::string> argv);
  Answer<yarn::StartContainersResponse> Start(const yarn::Container& container,
                                              const yarn::ContainerLaunchContext& context,
                                              const hadoop::LaunchTerms& terms);
  /// Starts a shell's command in each, and waits until all run. All at once: a granted container
  /// that waits for its turn expires on a slow machine.
  void StartRunning(const std::vector<yarn::Container>& containers, const std::string& script);
  void StartRunning(const yarn::Container& container, const std::string& script) {
    StartRunning(std::vector{container}, script);
  }
  Answer<yarn::StopContainersResponse> Stop(const yarn::Container& container);
  /// nullopt when the NodeManager does not know it.
  std::optional<yarn::ContainerStatus> StatusOf(const yarn::Container& container);

  /// Its shell exits with that code, or is killed.
  void EndProcess(int code);
  void KillProcess();

  AmProcess process;
  std::int32_t response_id = 0;
  std::vector<yarn::Container> granted;
  std::map<ContainerId, yarn::ContainerStatus> completed;
  std::vector<yarn::NodeReport> updated_nodes;
  std::vector<ContainerId> preempt_strict;
  std::vector<ContainerId> preempt_contract;
  std::map<NodeId, yarn::Token> nm_tokens;

 private:
  [[nodiscard]] Caller& NmOf(const NodeId& node);
  template <class Response, class Request>
  Answer<Response> Ask(const Request& request);
  void TakeTokens(const std::vector<yarn::NmToken>& tokens);

  boost::asio::io_context& io_;
  Subject& subject_;
  hadoop::TokenStore& tokens_;
  const std::filesystem::path folder_;
  std::unique_ptr<Caller> rm_;
  std::map<NodeId, std::unique_ptr<Caller>> nms_;
};

[[nodiscard]] yarn::ResourceRequest Row(std::int32_t count, std::int64_t memory_mb = 64,
                                        std::int32_t priority = 1);
[[nodiscard]] std::set<ContainerId> IdsOf(const std::vector<yarn::Container>& containers);

}  // namespace tfyarn::contract
