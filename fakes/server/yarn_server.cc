#include "fakes/server/yarn_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <utility>

#include "core/model/check.h"
#include "core/model/visit.h"
#include "fakes/server/ipc_exceptions.h"
#include "fakes/server/wall_clock.h"
#include "wire/hadoop/token_identifiers.h"
#include "wire/hadoop/yarn_codec.h"

namespace tfyarn::fakes {
namespace {

constexpr char kLoopback[] = "127.0.0.1";
constexpr std::uint64_t kSeed = 1;

/// A process that holds it can make tokens; it never leaves this process.
std::string RandomKey() {
  std::random_device random;
  std::string key(20, '\0');
  for (char& byte : key) byte = static_cast<char>(random());
  return key;
}

RmOptions WithTimestamp(RmOptions options) {
  if (options.cluster_timestamp == 0) options.cluster_timestamp = WallMilliseconds();
  return options;
}

YarnServerOptions Completed(YarnServerOptions options) {
  options.rm = WithTimestamp(std::move(options.rm));
  return options;
}

}  // namespace

YarnServer::YarnServer(boost::asio::io_context& io, YarnServerOptions options)
    : options_(Completed(std::move(options))),
      office_(RandomKey()),
      clients_(io, {.host = kLoopback}, ClientHandlers()),
      masters_(io, {.host = kLoopback}, MasterHandlers()),
      timer_(io) {
  for (const NmOptions& node : options_.nodes) {
    const std::size_t index = nodes_.size();
    nodes_.push_back(std::make_unique<NodeServer>(
        io,
        NodeServerOptions{.machine = node,
                          .folder = options_.folder / fmt::format("nm{}", index + 1),
                          .hdfs = options_.hdfs,
                          .environment = options_.environment},
        office_,
        NodeServerLinks{
            .now = [this] { return now(); },
            .call_rm =
                [this, index](std::uint64_t id, yarn::RmRequest request) {
                  todo_.emplace_back([this, index, id, request = std::move(request)] {
                    yarn::RmResponse response =
                        CallRm({.kind = CallerKind::kNm, .node = nodes_[index]->id()}, {}, request);
                    nodes_[index]->Step(RmAnswered{.id = id, .response = std::move(response)});
                  });
                },
            .stepped = [this] { Stepped(); },
            .fate = [this](const ServedCall& call) { return fate_ ? fate_(call) : CallFate{}; }}));
  }
}

YarnServer::~YarnServer() = default;

Expected<void> YarnServer::Start() {
  rm_ = std::make_unique<ResourceManager>(options_.rm, kSeed);
  book_ = rm_->tokens();
  if (auto opened = clients_.Open(); !opened) return opened;
  if (auto opened = masters_.Open(); !opened) return opened;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (auto started = StartNode(i); !started) return started;
  }
  return {};
}

// ---------------------------------------------------------------- time

Instant YarnServer::Clock() const {
  return Instant(std::chrono::steady_clock::now() - began_ + ahead_);
}

Instant YarnServer::now() {
  if (!passing_) passed_ = std::max(passed_, Clock());
  return passed_;
}

std::optional<Instant> YarnServer::NextDeadline() const {
  Instant next = kNever;
  if (rm_ != nullptr) next = std::min(next, rm_->next_deadline().value_or(kNever));
  for (const auto& node : nodes_) next = std::min(next, node->next_deadline().value_or(kNever));
  return next == kNever ? std::nullopt : std::optional(next);
}

/// Steps the machines through what is due, at the times when it is due.
void YarnServer::Pass(Instant until) {
  if (passing_) return;
  passing_ = true;
  for (auto due = NextDeadline(); due && *due <= until; due = NextDeadline()) {
    passed_ = std::max(passed_, *due);
    if (rm_ != nullptr && rm_->next_deadline().value_or(kNever) <= passed_)
      (void)StepRm(RmDeadlineReached{});
    for (const auto& node : nodes_) {
      if (node->next_deadline().value_or(kNever) <= passed_) node->Step(NmDeadlineReached{});
    }
    Stepped();
  }
  passed_ = std::max(passed_, until);
  passing_ = false;
}

void YarnServer::Advance(Duration time) {
  ahead_ += time;
  Pass(Clock());
  Arm();
}

void YarnServer::Arm() {
  const auto due = NextDeadline();
  if (!due) {
    timer_.cancel();
    return;
  }
  timer_.expires_after(std::max(*due - Clock(), Duration::zero()));
  timer_.async_wait([this](const boost::system::error_code& cancelled) {
    if (cancelled) return;
    Pass(Clock());
    Arm();
  });
}

/// Does what the machines asked for; they are never stepped from inside their own step.
void YarnServer::Stepped() {
  if (doing_) return;
  doing_ = true;
  while (!todo_.empty()) {
    const auto next = std::move(todo_.front());
    todo_.pop_front();
    next();
  }
  doing_ = false;
  if (!passing_) Arm();
}

// ---------------------------------------------------------------- daemons

void YarnServer::StopRm() {
  if (rm_ == nullptr) return;
  stored_ = rm_->state_store();
  rm_.reset();
  clients_.Close();
  masters_.Close();
  Arm();
}

Expected<void> YarnServer::StartRm() {
  if (rm_ != nullptr) return {};
  TF_CHECK(stored_.has_value());
  rm_ = std::make_unique<ResourceManager>(options_.rm, *stored_, kSeed, now());
  book_ = rm_->tokens();
  if (auto opened = clients_.Open(); !opened) return opened;
  if (auto opened = masters_.Open(); !opened) return opened;
  Arm();
  return {};
}

void YarnServer::StopNode(std::size_t index) {
  nodes_.at(index)->Stop();
}

Expected<void> YarnServer::StartNode(std::size_t index) {
  return nodes_.at(index)->Start(book_);
}

bool YarnServer::IsRunning(std::size_t index) const {
  if (rm_ == nullptr) return false;
  const auto& nodes = rm_->books().nodes;
  return std::any_of(nodes.begin(), nodes.end(), [&](const BookedNode* node) {
    return node->id == nodes_.at(index)->id() && node->state == yarn::NodeState::kRunning;
  });
}

std::vector<ApplicationAttemptId> YarnServer::Attempts() const {
  std::vector<ApplicationAttemptId> attempts;
  if (rm_ == nullptr) return attempts;
  for (const StoredApplication& application : rm_->state_store().applications)
    attempts.push_back(
        {.application = application.submission->application, .attempt = application.attempt});
  return attempts;
}

NodeServer* YarnServer::Find(const NodeId& id) {
  const auto found = std::find_if(nodes_.begin(), nodes_.end(),
                                  [&](const auto& node) { return node->id() == id; });
  return found == nodes_.end() || !(*found)->running() ? nullptr : found->get();
}

// ---------------------------------------------------------------- the RM

yarn::RmResponse YarnServer::StepRm(const RmEvent& event) {
  yarn::RmResponse response;
  std::vector<RmAction> actions;
  rm_->Step(now(), event, actions);
  const Overloaded carry_out{
      // Nodes and applications ask by themselves when their beat comes.
      Ignore<NewsForAttempt, NewsForNode, NewsForClient, Granted, Freed, RmNote>{},
      [&](RmReply& reply) { response = std::move(reply.response); },
      [&](RmCallNm& call) {
        todo_.emplace_back([this, call = std::move(call)] { CallNode(call); });
      },
      [&](ApplicationEnded& ended) {
        if (const auto found = submitted_.find(ended.application); found != submitted_.end())
          found->second.details.finished_ms = WallMilliseconds();
      }};
  for (RmAction& action : actions) std::visit(carry_out, action);
  return response;
}

yarn::RmResponse YarnServer::CallRm(const Caller& caller, const yarn::Token& token,
                                    yarn::RmRequest request) {
  if (rm_ == nullptr) return yarn::RpcError{.message = "the ResourceManager does not run"};
  return StepRm(
      RmCall{.id = next_call_++, .caller = caller, .token = token, .request = std::move(request)});
}

/// The RM starts an AM.
void YarnServer::CallNode(const RmCallNm& call) {
  NodeServer* node = Find(call.node);
  yarn::NmResponse response = yarn::RpcError{.message = "the NodeManager does not run"};
  if (node != nullptr) {
    std::map<ContainerId, std::string> credentials;
    yarn::NmRequest request = call.request;
    if (auto* start = std::get_if<yarn::StartContainersRequest>(&request)) {
      const auto application = submitted_.find(call.caller.attempt.application);
      for (yarn::StartContainerRequest& container : start->containers) {
        credentials[container.container] = CredentialsOfAm(call.caller.attempt);
        // Source: AMLauncher.setupTokens.
        if (application != submitted_.end())
          container.context.environment["APP_SUBMIT_TIME_ENV"] =
              std::to_string(application->second.details.started_ms);
      }
    }
    response = node->Call(call.caller, call.token, std::move(request), credentials);
  }
  if (rm_ != nullptr)
    (void)StepRm(NmAnswered{.id = call.id, .node = call.node, .response = std::move(response)});
}

// Its own token first, then what was submitted. Source: AMLauncher.setupTokens.
std::string YarnServer::CredentialsOfAm(const ApplicationAttemptId& attempt) const {
  hadoop::Credentials credentials;
  if (rm_ != nullptr)
    credentials.tokens.emplace_back("", office_.AmRmToken(rm_->AmRmTokenOf(attempt), attempt));
  if (const auto found = submitted_.find(attempt.application); found != submitted_.end()) {
    const hadoop::Credentials& submitted = found->second.credentials;
    credentials.tokens.insert(credentials.tokens.end(), submitted.tokens.begin(),
                              submitted.tokens.end());
    credentials.secrets = submitted.secrets;
  }
  return hadoop::EncodeCredentials(credentials);
}

// ---------------------------------------------------------------- ports

IpcHandlers YarnServer::MasterHandlers() {
  return {
      .besides = hadoop::BesidesTokens::kNothing,
      .token_password = [this](const std::string& identifier) { return PasswordOf(identifier); },
      .call = [this](const IpcCaller& caller,
                     const hadoop::CallRequest& call) { return OnMasterCall(caller, call); },
      .fate =
          [this](const IpcCaller& caller, const hadoop::CallRequest& call) {
            const auto said = hadoop::DecodeAmRmTokenIdentifier(caller.token_identifier);
            if (!fate_) return CallFate{};
            return fate_({.name = call.method,
                          .attempt = said ? std::optional(said->attempt) : std::nullopt});
          }};
}

// A token of an attempt that is over opens no connection; one that stands hears it with each call.
// Source: AMRMTokenSecretManager.retrievePassword.
tl::expected<std::string, hadoop::SaslRefusal> YarnServer::PasswordOf(
    const std::string& identifier) const {
  const auto refuse = [](std::string why) {
    return tl::unexpected(hadoop::SaslRefusal{
        .exception = "org.apache.hadoop.security.token.SecretManager$InvalidToken",
        .message = std::move(why)});
  };
  const auto said = hadoop::DecodeAmRmTokenIdentifier(identifier);
  if (!said) return refuse(said.error().message);
  if (rm_ == nullptr) return refuse("the ResourceManager does not run");
  for (const StoredApplication& application : rm_->state_store().applications) {
    if (application.submission->application == said->attempt.application &&
        application.attempt == said->attempt.attempt)
      return office_.PasswordOf(identifier);
  }
  return refuse(fmt::format("{} not found in AMRMTokenSecretManager.", ToString(said->attempt)));
}

IpcResult YarnServer::OnMasterCall(const IpcCaller& caller, const hadoop::CallRequest& call) {
  const auto said = hadoop::DecodeAmRmTokenIdentifier(caller.token_identifier);
  if (!said || rm_ == nullptr) return tl::unexpected(IpcException{.name = "java.io.IOException"});
  auto request =
      hadoop::DecodeRmRequest(hadoop::kApplicationMasterProtocol, call.method, call.body);
  if (!request) return tl::unexpected(IpcExceptionOf(request.error()));
  const ApplicationAttemptId& attempt = said->attempt;
  yarn::RmResponse response =
      CallRm({.kind = CallerKind::kAm, .user = {}, .attempt = attempt, .node = {}},
             MakeAmRmToken(static_cast<std::uint32_t>(said->key_id), attempt), *std::move(request));
  const auto& applications = rm_->books().applications;
  const auto application = applications.find(attempt.application);
  if (application != applications.end())
    office_.Issue(response, attempt, application->second->user, *book_);
  Stepped();
  if (const auto* error = std::get_if<yarn::RpcError>(&response))
    return tl::unexpected(IpcExceptionOf(*error));
  return hadoop::EncodeRmResponse(response, office_.store());
}

}  // namespace tfyarn::fakes
