#include "tests/contract/contract.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>

#include "tests/unit/files.h"
#include "tests/unit/wire/hadoop/test_server.h"
#include "wire/hadoop/credentials.h"
#include "wire/hadoop/yarn_errors.h"

namespace tfyarn::contract {
namespace {

/// Says who it is and waits for a number to exit with.
constexpr char kAmScript[] = R"(f={}/am.$CONTAINER_ID
mkfifo $f.end; echo $$ > $f.pid; echo $NM_HOST > $f.host; cp $HADOOP_TOKEN_FILE_LOCATION $f.copy; mv $f.copy $f.token
exec 3<>$f.end; read code <&3; exit $code)";
constexpr Duration kBetweenBeats = 20ms;

}  // namespace

yarn::ResourceRequest Row(std::int32_t count, std::int64_t memory_mb, std::int32_t priority) {
  return {.priority = priority,
          .capability = {.memory_mb = memory_mb, .vcores = 1},
          .num_containers = count,
          .node_label_expression = ""};
}

std::set<ContainerId> IdsOf(const std::vector<yarn::Container>& containers) {
  std::set<ContainerId> ids;
  for (const yarn::Container& container : containers) ids.insert(container.id);
  return ids;
}

// ---------------------------------------------------------------- calls

Caller::Caller(boost::asio::io_context& io, const HostPort& address,
               const hadoop::IpcProtocol& protocol, hadoop::IpcCredential credential)
    : io_(io), client_(io, {address}, protocol, std::move(credential), {.give_up = 0s}) {}

Answer<std::string> Caller::Call(const hadoop::EncodedCall& call) {
  // It may be answered after a test has given up.
  const auto outcome = std::make_shared<hadoop::Outcome>();
  client_.Call(call.method, call.body, hadoop::Repeatable::kAlways,
               [outcome](tl::expected<std::string, hadoop::IpcError> result) {
                 hadoop::Into (*outcome)(std::move(result));
               });
  hadoop::RunUntil(
      io_, [&] { return outcome->done; }, call.method.c_str());
  if (!outcome->ok()) return tl::unexpected(hadoop::ToYarnError(outcome->error));
  return outcome->body;
}

// ---------------------------------------------------------------- the client

Contract::Contract()
    : folder_(std::filesystem::temp_directory_path() / fmt::format("tfyarn-contract-{}", getpid())),
      subject_((std::filesystem::create_directories(folder_), MakeSubject(io_, folder_.string()))),
      client_(io_, subject_->clients(), hadoop::kApplicationClientProtocol, {.user = "alice"}) {}

Contract::~Contract() {
  for (const ApplicationId& application : submitted_) {
    WaitUntil("the application's end", [&] {
      const auto answer = AskClient<yarn::KillApplicationResponse>(
          yarn::KillApplicationRequest{.application = application, .diagnostics = {}});
      return answer && answer->is_kill_completed;
    });
  }
  subject_.reset();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void Contract::WaitUntil(const char* what, const std::function<bool()>& done) {
  const auto limit = std::chrono::steady_clock::now() + Patience();
  while (!done()) {
    ASSERT_LT(std::chrono::steady_clock::now(), limit) << "never happened: " << what;
    RunFor(io_, kBetweenBeats);
  }
}

yarn::ApplicationReport Contract::Report(const ApplicationId& application) {
  const auto answer = AskClient<yarn::GetApplicationReportResponse>(
      yarn::GetApplicationReportRequest{.application = application});
  EXPECT_TRUE(answer.has_value()) << answer.error().message;
  return answer ? answer->report : yarn::ApplicationReport{};
}

ApplicationId Contract::NewApplication() {
  const auto answer = AskClient<yarn::GetNewApplicationResponse>(yarn::GetNewApplicationRequest{});
  EXPECT_TRUE(answer.has_value()) << answer.error().message;
  return answer ? answer->application : ApplicationId{};
}

yarn::SubmitApplicationRequest Contract::Waiting() {
  return {.application = NewApplication(),
          .name = "contract",
          .am_container = {.command = {"bash", "-c",
                                       fmt::format(fmt::runtime(kAmScript), folder_.string())}},
          .am_resource = {.memory_mb = 64, .vcores = 1},
          .max_app_attempts = 1};
}

Answer<yarn::SubmitApplicationResponse> Contract::Submit(
    const yarn::SubmitApplicationRequest& request) {
  auto answer = AskClient<yarn::SubmitApplicationResponse>(request);
  if (answer) submitted_.push_back(request.application);
  return answer;
}

std::unique_ptr<HandAm> Contract::Run(const yarn::SubmitApplicationRequest& request) {
  const auto answer = Submit(request);
  EXPECT_TRUE(answer.has_value()) << answer.error().message;
  return NextAm({.application = request.application, .attempt = 1});
}

std::unique_ptr<HandAm> Contract::RunAndRegister(const yarn::SubmitApplicationRequest& request) {
  auto am = Run(request);
  const auto answer = am->Register();
  EXPECT_TRUE(answer.has_value()) << answer.error().message;
  return am;
}

std::unique_ptr<HandAm> Contract::NextAm(const ApplicationAttemptId& attempt) {
  std::optional<AmProcess> process;
  WaitUntil("an AM's process", [&] { return (process = FindAm(attempt)).has_value(); });
  return std::make_unique<HandAm>(io_, *subject_, tokens_, process.value_or(AmProcess{}), folder_);
}

std::optional<AmProcess> Contract::FindAm(const ApplicationAttemptId& attempt) const {
  constexpr std::string_view kBegin = "am.";
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    if (entry.path().extension() != ".token") continue;
    const auto id = ParseContainerId(entry.path().stem().string().substr(kBegin.size()));
    if (!id || id->application_attempt != attempt) continue;
    const auto credentials = hadoop::ReadCredentialsFile(entry.path().string());
    EXPECT_TRUE(credentials.has_value()) << credentials.error().message;
    const hadoop::HadoopToken* token = credentials->FindToken(hadoop::kAmRmTokenKind);
    EXPECT_NE(token, nullptr);
    if (token == nullptr) return std::nullopt;
    auto path = entry.path();
    std::string host = ReadFile(path.replace_extension(".host"));
    host.pop_back();  // The end of its line.
    return AmProcess{.container = *id,
                     .pid = std::stoi(ReadFile(path.replace_extension(".pid"))),
                     .host = std::move(host),
                     .token = *token};
  }
  return std::nullopt;
}

std::vector<yarn::NodeReport> Contract::Nodes() {
  const auto answer = AskClient<yarn::GetClusterNodesResponse>(yarn::GetClusterNodesRequest{});
  EXPECT_TRUE(answer.has_value()) << answer.error().message;
  return {answer->nodes.begin(), answer->nodes.end()};
}

// ---------------------------------------------------------------- the AM

HandAm::HandAm(boost::asio::io_context& io, Subject& subject, hadoop::TokenStore& tokens,
               AmProcess its_process, std::filesystem::path folder)
    : process(std::move(its_process)),
      io_(io),
      subject_(subject),
      tokens_(tokens),
      folder_(std::move(folder)) {
  Reconnect();
}

void HandAm::Reconnect() {
  rm_ = std::make_unique<Caller>(io_, subject_.masters(), hadoop::kApplicationMasterProtocol,
                                 hadoop::IpcCredential{.token = process.token});
}

template <class Response, class Request>
Answer<Response> HandAm::Ask(const Request& request) {
  auto body = rm_->Call(*hadoop::EncodeRmRequest(request, {}));
  if (!body) return tl::unexpected(body.error());
  auto response = hadoop::DecodeRmResponse(request, *body, tokens_);
  EXPECT_TRUE(response.has_value()) << response.error().message;
  return std::get<Response>(*response);
}

Answer<yarn::RegisterApplicationMasterResponse> HandAm::Register() {
  auto answer = Ask<yarn::RegisterApplicationMasterResponse>(
      yarn::RegisterApplicationMasterRequest{.host = "127.0.0.1"});
  if (answer) {
    response_id = 0;
    TakeTokens(answer->nm_tokens_from_previous_attempts);
  }
  return answer;
}

Answer<yarn::AllocateResponse> HandAm::Allocate(const yarn::AllocateRequest& request) {
  return Ask<yarn::AllocateResponse>(request);
}

yarn::AllocateResponse HandAm::Beat(yarn::AllocateRequest request) {
  request.response_id = response_id;
  const auto answer = Allocate(request);
  if (!answer) {
    [&] { FAIL() << answer.error().message; }();
    return {};
  }
  response_id = answer->response_id;
  granted.insert(granted.end(), answer->allocated_containers.begin(),
                 answer->allocated_containers.end());
  for (const yarn::ContainerStatus& status : answer->completed_containers)
    completed.emplace(status.id, status);
  const auto append = [](auto& to, const auto& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  append(updated_nodes, answer->updated_nodes);
  append(preempt_strict, answer->preempt_strict);
  append(preempt_contract, answer->preempt_contract);
  TakeTokens(answer->nm_tokens);
  return *answer;
}

void HandAm::TakeTokens(const std::vector<yarn::NmToken>& tokens) {
  for (const auto& [node, token] : tokens) nm_tokens[node] = token;
}

Answer<yarn::FinishApplicationMasterResponse> HandAm::Finish(yarn::FinalApplicationStatus status) {
  return Ask<yarn::FinishApplicationMasterResponse>(
      yarn::FinishApplicationMasterRequest{.final_status = status});
}

void HandAm::BeatUntil(const char* what, const std::function<bool()>& done) {
  const auto limit = std::chrono::steady_clock::now() + Patience();
  while (!done()) {
    ASSERT_LT(std::chrono::steady_clock::now(), limit) << "never happened: " << what;
    RunFor(io_, kBetweenBeats);
    Beat();
    ASSERT_FALSE(::testing::Test::HasFatalFailure());
  }
}

void HandAm::PassBeating(Duration time) {
  constexpr Duration kSlice = kAmExpiry / 4;
  for (Duration passed{}; passed < time; passed += kSlice) {
    subject_.LetPass(std::min(kSlice, time - passed));
    Beat();
    ASSERT_FALSE(::testing::Test::HasFatalFailure());
  }
}

void HandAm::BeatUntilGranted(std::size_t count) {
  BeatUntil("grants", [&] { return granted.size() >= count; });
}

std::vector<yarn::Container> HandAm::Get(const yarn::ResourceRequest& row) {
  const std::size_t before = granted.size();
  Beat({.ask = {row}});
  BeatUntilGranted(before + static_cast<std::size_t>(row.num_containers));
  return {granted.begin() + static_cast<std::ptrdiff_t>(before), granted.end()};
}

yarn::ContainerStatus HandAm::AwaitEnd(const ContainerId& container) {
  BeatUntil("a container's end", [&] { return completed.count(container) > 0; });
  const auto found = completed.find(container);
  return found == completed.end() ? yarn::ContainerStatus{} : found->second;
}

Caller& HandAm::NmOf(const NodeId& node) {
  auto& caller = nms_[node];
  if (caller == nullptr) {
    const hadoop::HadoopToken* token = tokens_.Find(nm_tokens[node]);
    EXPECT_NE(token, nullptr) << "no token for " << ToString(node);
    const HostPort address{.host = node.host, .port = node.port};
    caller = std::make_unique<Caller>(
        io_, address, hadoop::kContainerManagementProtocol,
        hadoop::IpcCredential{.token = token == nullptr ? hadoop::HadoopToken{} : *token});
  }
  return *caller;
}

Answer<yarn::StartContainersResponse> HandAm::Start(const yarn::Container& container,
                                                    const yarn::ContainerLaunchContext& context,
                                                    const hadoop::LaunchTerms& terms) {
  return AskNm<yarn::StartContainersResponse>(
      container.node,
      yarn::StartContainersRequest{
          {{.container = container.id, .container_token = container.token, .context = context}}},
      {{container.id, terms}});
}

Answer<yarn::StartContainersResponse> HandAm::Start(const yarn::Container& container,
                                                    std::vector<std::string> argv) {
  return Start(container, {.command = std::move(argv)}, {});
}

void HandAm::StartRunning(const std::vector<yarn::Container>& containers,
                          const std::string& script) {
  std::vector<std::filesystem::path> signs;
  for (const yarn::Container& container : containers) {
    signs.push_back(folder_ / ("runs." + ToString(container.id)));
    const auto answer = Start(container, {"bash", "-c",
                                          fmt::format("{}; : > {}", script, signs.back().string()) +
                                              "; while :; do sleep 0.1; done"});
    ASSERT_TRUE(answer.has_value()) << answer.error().message;
    ASSERT_EQ(answer->failed.size(), 0U) << answer->failed[0].error.message;
  }
  BeatUntil("the containers' processes", [&] {
    return std::all_of(signs.begin(), signs.end(),
                       [](const auto& sign) { return std::filesystem::exists(sign); });
  });
}

Answer<yarn::StopContainersResponse> HandAm::Stop(const yarn::Container& container) {
  return AskNm<yarn::StopContainersResponse>(container.node,
                                             yarn::StopContainersRequest{{container.id}});
}

std::optional<yarn::ContainerStatus> HandAm::StatusOf(const yarn::Container& container) {
  const auto answer = AskNm<yarn::GetContainerStatusesResponse>(
      container.node, yarn::GetContainerStatusesRequest{{container.id}});
  EXPECT_TRUE(answer.has_value()) << answer.error().message;
  if (!answer || answer->statuses.empty()) return std::nullopt;
  return answer->statuses[0];
}

void HandAm::EndProcess(int code) {
  std::ofstream(folder_ / ("am." + ToString(process.container) + ".end")) << code << std::endl;
}

void HandAm::KillProcess() {
  EXPECT_EQ(kill(-process.pid, SIGKILL), 0);
}

}  // namespace tfyarn::contract
