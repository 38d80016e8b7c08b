#include "hosts/yarn/yarn_cluster.h"

#include <fmt/format.h>

#include <boost/asio/post.hpp>
#include <utility>

#include "core/model/check.h"
#include "wire/hadoop/yarn_errors.h"

namespace tfyarn::hosts {
namespace {

/// Longest time that one call looks for the active RM, or for a NodeManager that is coming back.
constexpr Duration kGiveUp = 3s;
constexpr Duration kRetry = 500ms;

/// Of the authority of a name service.
constexpr std::int32_t kNoPort = 0;

hadoop::IpcClientOptions ClientOptions(const hadoop::IpcOptions& connection) {
  return {
      .connection = connection, .retry_least = kRetry, .retry_most = kRetry, .give_up = kGiveUp};
}

/// All others may be done twice: an allocate is repeated with its own response id, an unused
/// application id costs nothing, and a second submission of one application has no effect.
hadoop::Repeatable RepeatableOf(const yarn::RmRequest& request) {
  return std::holds_alternative<yarn::RegisterApplicationMasterRequest>(request)
             ? hadoop::Repeatable::kUnsentOnly
             : hadoop::Repeatable::kAlways;
}

yarn::RpcError Unreadable(const Error& error) {
  return {.code = yarn::RpcErrorCode::kYarn, .message = error.message};
}

}  // namespace

hadoop::FileSystemAddress FileSystemOf(const std::string& authority) {
  // The client has checked the authority, unless it is the name of a service, which may be any.
  return {.server = ParseHostPort(authority, kNoPort).value_or(HostPort{.host = authority})};
}

YarnCluster::YarnCluster(boost::asio::io_context& loop, YarnClusterOptions options)
    : loop_(loop),
      options_(std::move(options)),
      file_system_(FileSystemOf(options_.file_system)),
      handed_on_(options_.credentials) {
  handed_on_.RemoveTokens(hadoop::kAmRmTokenKind);
  if (!options_.clients.empty()) {
    client_ = std::make_unique<hadoop::IpcClient>(
        loop, options_.clients, hadoop::kApplicationClientProtocol,
        hadoop::IpcCredential{.user = options_.user}, ClientOptions(options_.connection));
  }
  const hadoop::HadoopToken* own = options_.credentials.FindToken(hadoop::kAmRmTokenKind);
  if (!options_.schedulers.empty() && own != nullptr) {
    am_rm_token_ = tokens_.Keep(*own);
    scheduler_ = std::make_unique<hadoop::IpcClient>(
        loop, options_.schedulers, hadoop::kApplicationMasterProtocol,
        hadoop::IpcCredential{.token = *own}, ClientOptions(options_.connection));
  }
}

// ---------------------------------------------------------------- ResourceManager

void YarnCluster::CallRm(yarn::RmRequest request, RmAnswer answer) {
  // Terms are encoded credentials: not for every heartbeat.
  hadoop::SubmitTerms terms;
  if (std::holds_alternative<yarn::SubmitApplicationRequest>(request)) terms.am = TermsFor("");
  auto* const finish = std::get_if<yarn::FinishApplicationMasterRequest>(&request);
  if (finish != nullptr && options_.report_address)
    finish->tracking_url = options_.report_address();
  auto call = hadoop::EncodeRmRequest(request, terms);
  if (!call) return AnswerLater(std::move(answer), Unreadable(call.error()));
  const bool as_am = call->protocol.name == hadoop::kApplicationMasterProtocol.name;
  hadoop::IpcClient* const client = (as_am ? scheduler_ : client_).get();
  if (client == nullptr) {
    return AnswerLater(std::move(answer),
                       {.code = yarn::RpcErrorCode::kInvalidToken,
                        .message = as_am ? "an AM's calls need its token, which only YARN gives"
                                         : "an AM does not call as a client"});
  }
  const hadoop::Repeatable repeatable = RepeatableOf(request);
  client->Call(call->method, std::move(call->body), repeatable,
               [this, request = std::move(request),
                answer = std::move(answer)](tl::expected<std::string, hadoop::IpcError> result) {
                 if (!result) return answer(hadoop::ToYarnError(result.error()));
                 auto response = hadoop::DecodeRmResponse(request, *result, tokens_);
                 if (!response) return answer(Unreadable(response.error()));
                 TakeToken(*response);
                 answer(std::move(*response));
               });
}

/// The RM replaces an AM's token once a day; connections that stand do not mind.
void YarnCluster::TakeToken(const yarn::RmResponse& response) {
  const auto* allocate = std::get_if<yarn::AllocateResponse>(&response);
  if (allocate == nullptr || !allocate->am_rm_token || *allocate->am_rm_token == am_rm_token_)
    return;
  const hadoop::HadoopToken* token = tokens_.Find(*allocate->am_rm_token);
  if (token == nullptr || scheduler_ == nullptr) return;
  am_rm_token_ = *allocate->am_rm_token;
  scheduler_->SetCredential({.token = *token});
}

// ---------------------------------------------------------------- NodeManagers

void YarnCluster::CallNm(const NodeId& node, const yarn::Token& token, yarn::NmRequest request,
                         Secrets secrets, NmAnswer answer) {
  const hadoop::HadoopToken* secret = tokens_.Find(token);
  if (secret == nullptr) {
    return AnswerLater(std::move(answer), {.code = yarn::RpcErrorCode::kInvalidToken,
                                           .message = "no token for " + ToString(node)});
  }
  std::map<ContainerId, hadoop::LaunchTerms> terms;
  for (const auto& [container, identity] : secrets) terms.emplace(container, TermsFor(identity));
  auto call = hadoop::EncodeNmRequest(request, terms, tokens_);
  if (!call) return AnswerLater(std::move(answer), Unreadable(call.error()));
  ClientOf(node, token, *secret)
      .Call(call->method, std::move(call->body), hadoop::Repeatable::kUnsentOnly,
            [request = std::move(request),
             answer = std::move(answer)](tl::expected<std::string, hadoop::IpcError> result) {
              if (!result) return answer(hadoop::ToYarnError(result.error()));
              auto response = hadoop::DecodeNmResponse(request, *result);
              if (!response) return answer(Unreadable(response.error()));
              answer(std::move(*response));
            });
}

hadoop::IpcClient& YarnCluster::ClientOf(const NodeId& node, const yarn::Token& token,
                                         const hadoop::HadoopToken& secret) {
  Node& known = nodes_[node];
  if (known.client == nullptr) {
    known.client = std::make_unique<hadoop::IpcClient>(
        loop_, std::vector<HostPort>{{.host = node.host, .port = node.port}},
        hadoop::kContainerManagementProtocol, hadoop::IpcCredential{.token = secret},
        ClientOptions(options_.connection));
  } else if (known.token != token) {
    known.client->SetCredential({.token = secret});
  }
  known.token = token;
  return *known.client;
}

hadoop::LaunchTerms YarnCluster::TermsFor(const std::string& identity) const {
  hadoop::Credentials credentials = handed_on_;
  if (!identity.empty()) credentials.secrets.emplace_back(kIdentitySecret, identity);
  return {.file_system = file_system_, .credentials = hadoop::EncodeCredentials(credentials)};
}

// ---------------------------------------------------------------- answers of our own

void YarnCluster::AnswerLater(RmAnswer answer, yarn::RpcError error) {
  boost::asio::post(loop_,
                    [answer = std::move(answer), error = std::move(error)] { answer(error); });
}

void YarnCluster::AnswerLater(NmAnswer answer, yarn::RpcError error) {
  boost::asio::post(loop_,
                    [answer = std::move(answer), error = std::move(error)] { answer(error); });
}

}  // namespace tfyarn::hosts
