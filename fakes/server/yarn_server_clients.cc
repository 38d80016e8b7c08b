// The fake ResourceManager's port for clients.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "fakes/server/ipc_exceptions.h"
#include "fakes/server/wall_clock.h"
#include "fakes/server/yarn_server.h"
#include "wire/hadoop/cluster_queries.h"
#include "wire/hadoop/yarn_codec.h"

namespace tfyarn::fakes {
namespace {

template <class E>
tl::unexpected<IpcException> Thrown(const E& error) {
  return tl::unexpected(IpcExceptionOf(error));
}

template <class T>
bool Has(const std::vector<T>& list, const T& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

bool IsSameInAnyCase(const std::string& one, const std::string& other) {
  return std::equal(
      one.begin(), one.end(), other.begin(), other.end(),
      [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); });
}

// Source: ClientRMService.java#getApplications: types in any case, and one tag is enough.
bool Selects(const hadoop::ApplicationFilter& filter, const hadoop::ApplicationDetails& details) {
  const auto is_type = [&](const std::string& type) { return IsSameInAnyCase(type, details.type); };
  const auto is_tag = [&](const std::string& tag) { return Has(details.tags, tag); };
  return (filter.types.empty() || std::any_of(filter.types.begin(), filter.types.end(), is_type)) &&
         (filter.states.empty() || Has(filter.states, details.report.state)) &&
         (filter.tags.empty() || std::any_of(filter.tags.begin(), filter.tags.end(), is_tag));
}

}  // namespace

IpcHandlers YarnServer::ClientHandlers() {
  return {
      .besides =
          options_.kerberos ? hadoop::BesidesTokens::kKerberos : hadoop::BesidesTokens::kSimple,
      .token_password = [](const std::string&) -> tl::expected<std::string, hadoop::SaslRefusal> {
        return tl::unexpected(hadoop::SaslRefusal{
            .exception = "org.apache.hadoop.security.token.SecretManager$InvalidToken",
            .message = "this ResourceManager issues no delegation tokens"});
      },
      .call = [this](const IpcCaller& caller,
                     const hadoop::CallRequest& call) { return OnClientCall(caller, call); },
      .fate =
          [this](const IpcCaller&, const hadoop::CallRequest& call) {
            return fate_ ? fate_({.name = call.method, .attempt = {}}) : CallFate{};
          }};
}

/// What comes again is known already.
IpcResult YarnServer::TakeSubmission(yarn::SubmitApplicationRequest& request,
                                     const std::string& user, const std::string& body) {
  const auto terms = hadoop::DecodeSubmitTerms(body);
  if (!terms) return Thrown(terms.error());
  if (terms->unmanaged_am)
    return Thrown(yarn::RpcError{.code = yarn::RpcErrorCode::kYarn,
                                 .message = "this ResourceManager has no unmanaged AMs"});
  auto credentials = terms->am.credentials.empty()
                         ? Expected<hadoop::Credentials>()
                         : hadoop::DecodeCredentials(terms->am.credentials);
  if (!credentials) return Thrown(credentials.error());
  request.user = user;
  submitted_.emplace(request.application,
                     SubmittedApplication{.details = {.name = request.name,
                                                      .user = user,
                                                      .queue = request.queue,
                                                      .type = terms->application_type,
                                                      .tags = request.tags,
                                                      .started_ms = WallMilliseconds()},
                                          .credentials = *std::move(credentials)});
  return std::string();
}

IpcResult YarnServer::OnClientCall(const IpcCaller& caller, const hadoop::CallRequest& call) {
  if (rm_ == nullptr) return tl::unexpected(IpcException{.name = "java.io.IOException"});
  if (call.method == "getApplications") return ListApplications(call.body);
  if (call.method == "getQueueUserAcls") return QueueRights();
  auto request =
      hadoop::DecodeRmRequest(hadoop::kApplicationClientProtocol, call.method, call.body);
  if (!request) return Thrown(request.error());
  if (auto* submit = std::get_if<yarn::SubmitApplicationRequest>(&*request)) {
    // Source: RMAppManager.createAndPopulateNewRMApp, with yarn.acl.enable.
    if (denied_queues_.contains(submit->queue))
      return Thrown(yarn::RpcError{
          .code = yarn::RpcErrorCode::kYarn,
          .message = fmt::format("org.apache.hadoop.security.AccessControlException: User {} does "
                                 "not have permission to submit {} to queue {}",
                                 caller.user, ToString(submit->application), submit->queue)});
    if (auto taken = TakeSubmission(*submit, caller.user, call.body); !taken) return taken;
  }
  if (auto result = OfStoppedQueue(*request)) return *std::move(result);
  const yarn::RmResponse response =
      CallRm({.kind = CallerKind::kClient, .user = caller.user, .attempt = {}, .node = {}}, {},
             *std::move(request));
  Stepped();
  if (const auto* error = std::get_if<yarn::RpcError>(&response)) return Thrown(*error);
  if (const auto* report = std::get_if<yarn::GetApplicationReportResponse>(&response))
    return hadoop::EncodeApplicationReport(DetailsOf(report->report));
  return hadoop::EncodeRmResponse(response, office_.store());
}

void YarnServer::SetStopped(const std::string& name, bool stopped) {
  if (stopped) {
    stopped_queues_.insert(name);
  } else {
    stopped_queues_.erase(name);
  }
}

void YarnServer::SetDenied(const std::string& name, bool denied) {
  if (denied) {
    denied_queues_.insert(name);
  } else {
    denied_queues_.erase(name);
  }
}

// A queue without any right is told of all the same. Source: AbstractLeafQueue.getQueueUserAclInfo.
std::string YarnServer::QueueRights() const {
  std::vector<hadoop::QueueRights> rights;
  std::set<std::string> paths{"root.default"};
  for (const QueueOptions& queue : options_.rm.queues) paths.insert(queue.path);
  for (const std::string& path : paths) {
    const std::string name = path.substr(path.rfind('.') + 1);
    rights.push_back({.queue = path, .submit = !denied_queues_.contains(name)});
  }
  return hadoop::Encode(rights);
}

// The call succeeds, and the application fails. Source:
// AbstractLeafQueue.validateSubmitApplication, CapacityScheduler.addApplication; seen on
// Hadoop 3.4.2.
std::optional<IpcResult> YarnServer::OfStoppedQueue(const yarn::RmRequest& request) {
  const auto reported = [&](const ApplicationId& id, const std::string& diagnostics) {
    return hadoop::EncodeApplicationReport(
        DetailsOf({.application = id,
                   .state = yarn::YarnApplicationState::kFailed,
                   .final_status = yarn::FinalApplicationStatus::kFailed,
                   .current_attempt = -1,
                   .diagnostics = diagnostics,
                   .tracking_url = "N/A"}));
  };
  if (const auto* submit = std::get_if<yarn::SubmitApplicationRequest>(&request)) {
    if (!stopped_queues_.contains(submit->queue)) return std::nullopt;
    rejected_[submit->application] = fmt::format(
        "org.apache.hadoop.security.AccessControlException: Queue {} is STOPPED. Cannot accept "
        "submission of application: {}",
        submit->queue, ToString(submit->application));
    return hadoop::EncodeRmResponse(yarn::SubmitApplicationResponse{}, office_.store());
  }
  if (const auto* report = std::get_if<yarn::GetApplicationReportRequest>(&request)) {
    const auto found = rejected_.find(report->application);
    if (found == rejected_.end()) return std::nullopt;
    return reported(found->first, found->second);
  }
  const auto* queue = std::get_if<yarn::GetQueueInfoRequest>(&request);
  if (queue == nullptr || !stopped_queues_.contains(queue->queue)) return std::nullopt;
  const yarn::RmResponse response = CallRm({.kind = CallerKind::kClient}, {}, request);
  // One message behind the other is both.
  return hadoop::EncodeRmResponse(response, office_.store()) +
         hadoop::EncodeQueueRunState(hadoop::QueueRunState::kStopped);
}

hadoop::ApplicationDetails YarnServer::DetailsOf(const yarn::ApplicationReport& report) const {
  const auto found = submitted_.find(report.application);
  hadoop::ApplicationDetails details =
      found == submitted_.end() ? hadoop::ApplicationDetails{} : found->second.details;
  details.report = report;
  return details;
}

// Source: ClientRMService.getApplications.
IpcResult YarnServer::ListApplications(const std::string& body) {
  const auto filter = hadoop::DecodeGetApplications(body);
  if (!filter) return Thrown(filter.error());
  std::vector<hadoop::ApplicationDetails> found;
  for (const auto& [id, submitted] : submitted_) {
    const auto response = CallRm({.kind = CallerKind::kClient}, {},
                                 yarn::GetApplicationReportRequest{.application = id});
    const auto* report = std::get_if<yarn::GetApplicationReportResponse>(&response);
    if (report == nullptr) continue;
    hadoop::ApplicationDetails details = DetailsOf(report->report);
    if (Selects(*filter, details)) found.push_back(std::move(details));
  }
  return hadoop::EncodeApplications(found);
}

}  // namespace tfyarn::fakes
