#include "fakes/server/node_server.h"

#include <fmt/format.h>
#include <signal.h>

#include <set>
#include <utility>

#include "core/model/check.h"
#include "core/model/visit.h"
#include "fakes/server/files.h"
#include "fakes/server/ipc_exceptions.h"
#include "fakes/server/launch_script.h"
#include "wire/hadoop/token_identifiers.h"
#include "wire/hadoop/yarn_codec.h"

namespace tfyarn::fakes {
namespace {

namespace fs = std::filesystem;

constexpr char kInvalidToken[] = "org.apache.hadoop.security.token.SecretManager$InvalidToken";
constexpr std::int32_t kNoProcess = 127;

}  // namespace

NodeServer::NodeServer(boost::asio::io_context& io, NodeServerOptions options, TokenOffice& office,
                       NodeServerLinks links)
    : io_(io),
      options_(std::move(options)),
      office_(office),
      links_(std::move(links)),
      port_(io, {.host = options_.machine.node.host, .port = options_.machine.node.port},
            {.besides = hadoop::BesidesTokens::kNothing,
             .token_password =
                 [this](const std::string& identifier) { return PasswordOf(identifier); },
             .call = [this](const IpcCaller& caller,
                            const hadoop::CallRequest& call) { return OnCall(caller, call); },
             .fate =
                 [this](const IpcCaller& caller, const hadoop::CallRequest& call) {
                   const auto said = hadoop::DecodeNmTokenIdentifier(caller.token_identifier);
                   if (!links_.fate) return CallFate{};
                   return links_.fate(
                       {.name = call.method,
                        .attempt = said ? std::optional(said->attempt) : std::nullopt});
                 }}),
      processes_(io, [this](const ContainerId& container,
                            std::int32_t status) { Ended(container, status); }),
      localizer_(io, options_.folder / "local", options_.hdfs,
                 [this](const ContainerId& container, Expected<LocalLinks> files) {
                   Fetched(container, std::move(files));
                 }) {}

Expected<void> NodeServer::Start(std::shared_ptr<const TokenBook> tokens) {
  if (machine_ != nullptr) return {};
  if (auto opened = port_.Open(); !opened) return opened;
  options_.machine.node.port = port_.address().port;
  machine_ =
      std::make_unique<NodeManager>(options_.machine, std::move(tokens), std::move(left_), 0);
  left_ = {};
  Step(NmStarted{});
  const auto missed = std::move(missed_);
  missed_.clear();
  for (const NmEvent& event : missed) Step(event);
  return {};
}

void NodeServer::Stop() {
  if (machine_ == nullptr) return;
  left_ = machine_->state();
  machine_.reset();
  port_.Close();
  links_.stepped();
}

std::optional<Instant> NodeServer::next_deadline() const {
  return machine_ == nullptr ? std::nullopt : machine_->next_deadline();
}

void NodeServer::Step(NmEvent event) {
  if (machine_ == nullptr) {
    // Answers to a NodeManager that is gone are lost.
    if (!std::holds_alternative<RmAnswered>(event)) missed_.push_back(std::move(event));
    return;
  }
  events_.push_back(std::move(event));
  if (stepping_) return;
  stepping_ = true;
  while (!events_.empty()) {
    const NmEvent next = std::move(events_.front());
    events_.pop_front();
    std::vector<NmAction> actions;
    machine_->Step(links_.now(), next, actions);
    for (NmAction& action : actions) Do(std::move(action));
  }
  stepping_ = false;
  std::set<ApplicationId> applications;
  for (const auto& [id, application] : machine_->applications()) applications.insert(id);
  localizer_.Keep(applications);
  links_.stepped();
}

// ---------------------------------------------------------------- calls

// Source: NMTokenSecretManagerInNM.retrievePassword.
tl::expected<std::string, hadoop::SaslRefusal> NodeServer::PasswordOf(
    const std::string& identifier) const {
  const auto refuse = [](std::string why) {
    return tl::unexpected(
        hadoop::SaslRefusal{.exception = kInvalidToken, .message = std::move(why)});
  };
  const auto said = hadoop::DecodeNmTokenIdentifier(identifier);
  if (!said) return refuse(said.error().message);
  if (said->node != id())
    return refuse(
        fmt::format("Given NMToken for application : {} is not valid for current node "
                    "manager.expected : {} found : {}",
                    ToString(said->attempt), ToString(id()), ToString(said->node)));
  return office_.PasswordOf(identifier);
}

Expected<yarn::NmRequest> NodeServer::Decode(const hadoop::CallRequest& call,
                                             const std::string& user) {
  hadoop::TokenStore shown;
  auto request = hadoop::DecodeNmRequest(call.method, call.body, shown);
  if (!request) return request;
  auto* start = std::get_if<yarn::StartContainersRequest>(&*request);
  if (start == nullptr) return request;
  const auto terms = hadoop::DecodeLaunchTerms(call.body);
  if (!terms) return tl::unexpected(terms.error());
  for (yarn::StartContainerRequest& container : start->containers) {
    const hadoop::HadoopToken* token = shown.Find(container.container_token);
    // One that was not issued here stands for nothing, and the machine refuses it.
    container.container_token =
        token == nullptr ? yarn::Token{} : office_.ContainerToken(*token).value_or(yarn::Token{});
    if (places_.count(container.container) > 0) continue;  // It runs, or is over.
    const hadoop::LaunchTerms& launch = terms->at(container.container);
    places_[container.container] = {.user = user,
                                    .credentials = launch.credentials,
                                    .local_files = launch.file_system.scheme == "file"};
  }
  return request;
}

IpcResult NodeServer::OnCall(const IpcCaller& caller, const hadoop::CallRequest& call) {
  const auto said = hadoop::DecodeNmTokenIdentifier(caller.token_identifier);
  if (!said || machine_ == nullptr) return tl::unexpected(IpcException{.name = kInvalidToken});
  auto request = Decode(call, said->user);
  if (!request) return tl::unexpected(IpcExceptionOf(request.error()));
  const Caller attempt{
      .kind = CallerKind::kAm, .user = said->user, .attempt = said->attempt, .node = {}};
  const yarn::Token token =
      MakeNmToken(static_cast<std::uint32_t>(said->key_id), said->attempt, id());
  const yarn::NmResponse response = Call(attempt, token, *std::move(request), {});
  // What was refused leaves nothing.
  std::erase_if(places_,
                [&](const auto& place) { return machine_->containers().count(place.first) == 0; });
  if (const auto* error = std::get_if<yarn::RpcError>(&response))
    return tl::unexpected(IpcExceptionOf(*error));
  return hadoop::EncodeNmResponse(response);
}

yarn::NmResponse NodeServer::Call(const Caller& caller, const yarn::Token& token,
                                  yarn::NmRequest request,
                                  const std::map<ContainerId, std::string>& credentials) {
  for (const auto& [container, bytes] : credentials)
    places_[container] = {.user = caller.user, .credentials = bytes, .local_files = false};
  const std::uint64_t call = next_call_++;
  Step(NmCall{.id = call, .caller = caller, .token = token, .request = std::move(request)});
  const auto reply = replies_.find(call);
  TF_CHECK(reply != replies_.end());
  yarn::NmResponse response = std::move(reply->second);
  replies_.erase(reply);
  return response;
}

// ---------------------------------------------------------------- what it orders

void NodeServer::Do(NmAction action) {
  std::visit(
      Overloaded{Ignore<NmNote>{},
                 [this](NmReply& reply) { replies_[reply.id] = std::move(reply.response); },
                 [this](NmCallRm& call) { links_.call_rm(call.id, std::move(call.request)); },
                 [this](Localize& order) { Fetch(order); }, [this](Launch& order) { Run(order); },
                 [this](fakes::SignalContainer& order) {
                   processes_.Signal(order.container, order.kill ? SIGKILL : SIGTERM);
                 },
                 [this](ContainerDone& done) { Done(done.container); }},
      action);
}

fs::path NodeServer::WorkOf(const ContainerId& container) const {
  return options_.folder / "local" / ToString(container.application_attempt.application) /
         ToString(container);
}

fs::path NodeServer::LogOf(const ContainerId& container) const {
  return options_.folder / "log" / ToString(container.application_attempt.application) /
         ToString(container);
}

void NodeServer::Fetch(const Localize& order) {
  const ContainerId& id = order.container;
  const Place& place = places_[id];
  std::error_code ignored;
  fs::create_directories(WorkOf(id), ignored);
  fs::create_directories(LogOf(id), ignored);
  // Source: ContainerLocalizer and DefaultContainerExecutor, createAppDirs, createAppLogDirs: 710.
  for (const fs::path& made : {WorkOf(id), LogOf(id)})
    fs::permissions(made.parent_path(), fs::perms(0710), ignored);
  localizer_.Fetch({.container = id,
                    .user = place.user,
                    .local_files = place.local_files,
                    .files = order.context.local_resources,
                    .log_directory = LogOf(id)});
}

void NodeServer::Fetched(const ContainerId& container, Expected<LocalLinks> links) {
  const auto place = places_.find(container);
  if (place == places_.end()) return;  // It has been stopped meanwhile.
  if (!links)
    return Step(LocalizationFailed{.container = container, .diagnostics = links.error().message});
  place->second.links = std::move(*links);
  Step(Localized{.container = container});
}

void NodeServer::Run(const Launch& order) {
  const ContainerId& id = order.container;
  const Place& place = places_[id];
  const fs::path work = WorkOf(id);
  WriteFile(work / "container_tokens", place.credentials);
  LaunchPlaces places{
      .log_directory = LogOf(id).string(),
      .environment = {{"CONTAINER_ID", ToString(id)},
                      {"NM_HOST", this->id().host},
                      {"NM_PORT", std::to_string(this->id().port)},
                      {"NM_HTTP_PORT", "0"},
                      {"LOCAL_DIRS", work.parent_path().string()},
                      {"LOCAL_USER_DIRS", work.parent_path().string()},
                      {"LOG_DIRS", LogOf(id).string()},
                      {"USER", place.user},
                      {"LOGNAME", place.user},
                      {"HOME", "/home/"},
                      {"PWD", work.string()},
                      {"MALLOC_ARENA_MAX", ""},
                      {"HADOOP_TOKEN_FILE_LOCATION", (work / "container_tokens").string()}},
      .links = place.links};
  // What a container has set for itself counts more. Source: ContainerLaunch.sanitizeEnv.
  for (const auto& [name, value] : options_.environment) {
    if (order.context.environment.count(name) == 0) places.environment.emplace(name, value);
  }
  WriteFile(work / "launch_container.sh", LaunchScript(order.context, places));
  const auto started = processes_.Start(id, (work / "launch_container.sh").string(), work.string(),
                                        (LogOf(id) / "prelaunch.err").string());
  if (started) {
    events_.emplace_back(ProcessStarted{.container = id});
  } else {
    events_.emplace_back(LaunchFailed{
        .container = id, .exit_status = kNoProcess, .diagnostics = started.error().message});
  }
}

void NodeServer::Ended(const ContainerId& container, std::int32_t exit_status) {
  const std::string said =
      Tail(LogOf(container) / "prelaunch.err") + Tail(LogOf(container) / "stderr");
  Step(ProcessEnded{.container = container, .exit_status = exit_status, .diagnostics = said});
}

// What it wrote into its log directory stays.
void NodeServer::Done(const ContainerId& container) {
  std::error_code ignored;
  fs::remove_all(WorkOf(container), ignored);
  localizer_.Forget(container);
  places_.erase(container);
}

}  // namespace tfyarn::fakes
