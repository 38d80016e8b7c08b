#include "apps/yarn/cluster_survey.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "apps/yarn/cluster_access.h"
#include "apps/yarn/web_questions.h"
#include "hosts/runtime/clock.h"
#include "wire/hadoop/token_store.h"
#include "wire/hadoop/yarn_codec.h"
#include "wire/yarnweb/cluster_answers.h"

namespace tfyarn::apps {
namespace {

/// A service that does not answer within it counts as away.
constexpr Duration kSurveyPatience = 5s;
constexpr Duration kHdfsPatience = 10s;

/// This configuration with one ResourceManager only, and little patience.
config::HadoopSettings OnlyWith(const config::HadoopSettings& settings,
                                const config::ResourceManagerAddresses& manager) {
  config::HadoopSettings one = settings;
  one.resource_managers = {manager};
  one.connect_timeout = kSurveyPatience;
  one.rpc_timeout = kSurveyPatience;
  return one;
}

ManagerFacts AskManager(const config::HadoopSettings& settings,
                        const config::ResourceManagerAddresses& manager) {
  using State = ManagerFacts::State;
  ManagerFacts facts{.name =
                         fmt::format("ResourceManager {}{}{}", manager.id,
                                     manager.id.empty() ? "" : " at ", ToString(manager.client))};
  const config::HadoopSettings one = OnlyWith(settings, manager);
  const auto answer = ClusterQuestions(one).Ask(hadoop::GetClusterMetrics());
  if (answer) {
    facts.state = State::kActive;
  } else if (answer.error().exception == hadoop::kStandbyException) {
    facts.state = State::kStandby;
  } else {
    const bool silent = answer.error().kind == hadoop::IpcErrorKind::kConnect ||
                        answer.error().kind == hadoop::IpcErrorKind::kTimeout ||
                        answer.error().kind == hadoop::IpcErrorKind::kBroken;
    facts.state = silent ? State::kSilent : State::kRefuses;
    facts.error = answer.error().message;
  }
  return facts;
}

/// The value of a daemon's configuration; nullopt: it does not say.
std::optional<std::string> ValueOf(const WebAnswer& answer) {
  if (!answer || answer->status != 200) return std::nullopt;
  return wire::ParseConfigurationValue(answer->body);
}

}  // namespace

std::vector<Check> ClusterSurvey::Run() {
  AskManagers();
  if (active_) {
    AskNodes();
    AskScheduler();
    AskDaemons();
  } else {
    for (const char* subject : {"nodes", "GPUs", "node labels", "queues", "what is scheduled by",
                                "attempts of an AM", "memory checks", "logs"})
      NotChecked(subject, "no ResourceManager answers");
  }
  TryHdfs();
  checks_.push_back(JudgeClocks(clocks_));
  return std::move(checks_);
}

void ClusterSurvey::Add(std::vector<Check> checks) {
  std::move(checks.begin(), checks.end(), std::back_inserter(checks_));
}

void ClusterSurvey::NotChecked(const std::string& subject, const std::string& why) {
  checks_.push_back({.subject = subject, .state = CheckState::kNotChecked, .text = why});
}

void ClusterSurvey::NoteClock(const std::string& name, const std::string& date) {
  const auto theirs = wire::ParseHttpDate(date);
  if (!theirs) return;
  const auto ahead = theirs->time_since_epoch() - hosts::WallNow().time_since_epoch();
  clocks_.push_back({.name = name, .ahead = std::chrono::duration_cast<Duration>(ahead)});
}

void ClusterSurvey::AskManagers() {
  std::vector<ManagerFacts> managers;
  for (const config::ResourceManagerAddresses& manager : settings_.resource_managers)
    managers.push_back(AskManager(settings_, manager));
  active_ = std::any_of(managers.begin(), managers.end(), [](const ManagerFacts& each) {
    return each.state == ManagerFacts::State::kActive;
  });
  Add(JudgeManagers(managers));
  const auto answers = AskEachResourceManager(settings_, wire::kClusterInfoTarget);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (answers[i]) NoteClock(managers[i].name, answers[i]->date);
  }
}

void ClusterSurvey::AskNodes() {
  ClusterQuestions cluster(settings_);
  const yarn::GetClusterNodesRequest request;
  const auto call = hadoop::EncodeRmRequest(request, {});
  const auto nodes = call ? cluster.Ask(*call) : tl::unexpected(hadoop::IpcError{});
  const auto types = cluster.Ask(hadoop::GetResourceTypes());
  const auto labels = cluster.Ask(hadoop::GetClusterNodeLabels());
  hadoop::TokenStore tokens;
  const auto decoded = nodes ? hadoop::DecodeRmResponse(request, *nodes, tokens)
                             : Expected<yarn::RmResponse>(Fail(ErrorCode::kUnavailable, ""));
  if (!decoded || !std::holds_alternative<yarn::GetClusterNodesResponse>(*decoded))
    return NotChecked("nodes", "the ResourceManager does not name them");
  NodeFacts facts{.nodes = std::get<yarn::GetClusterNodesResponse>(*decoded).nodes};
  if (types) facts.types = hadoop::DecodeResourceTypes(*types).value_or(facts.types);
  if (labels) facts.labels = hadoop::DecodeNodeLabels(*labels).value_or(facts.labels);
  for (const yarn::NodeReport& node : facts.nodes) {
    if (node.state == yarn::NodeState::kRunning) cluster_ += node.capability;
  }
  gpus_ = std::find(facts.types.begin(), facts.types.end(), kGpuResourceName) != facts.types.end();
  Add(JudgeNodes(facts));
}

void ClusterSurvey::AskScheduler() {
  const auto answer = AskResourceManager(
      settings_, std::string(wire::kSchedulerTarget) + "?user.name=" + settings_.user);
  const auto scheduler =
      answer ? wire::ParseScheduler(answer->body) : std::optional<wire::SchedulerAnswer>();
  if (!scheduler) {
    const std::string why =
        answer ? "the ResourceManager's web server answers with no queues" : answer.error().message;
    NotChecked("queues", why);
    return NotChecked("what is scheduled by", why);
  }
  SchedulerFacts facts{
      .scheduler = *scheduler, .cluster = cluster_, .gpus = gpus_, .user = settings_.user};
  const auto rights = ClusterQuestions(settings_).Ask(hadoop::GetQueueRights());
  const auto decoded =
      rights ? hadoop::DecodeQueueRights(*rights)
             : Expected<std::vector<hadoop::QueueRights>>(Fail(ErrorCode::kUnavailable, ""));
  if (decoded) facts.rights = *decoded;
  Add(JudgeQueues(facts));
  checks_.push_back(JudgeCalculator(facts));
  if (scheduler->most_memory_mb >= 0) {
    checks_.push_back({.subject = "largest container",
                       .text = fmt::format("{} MiB, {} vcores", scheduler->most_memory_mb,
                                           scheduler->most_vcores)});
  }
}

void ClusterSurvey::AskDaemons() {
  DaemonFacts facts{.collects_here = settings_.log_aggregation};
  const auto of_manager = [&](const char* key) {
    const auto answer = AskResourceManager(settings_, wire::ConfigurationTarget(key));
    return answer ? wire::ParseConfigurationValue(answer->body) : std::optional<std::string>();
  };
  facts.least_memory_mb = of_manager("yarn.scheduler.minimum-allocation-mb");
  facts.am_attempts = of_manager("yarn.resourcemanager.am.max-attempts");
  const auto answer = ClusterQuestions(settings_).Ask(hadoop::GetNodeWebAddresses());
  const auto nodes =
      answer ? hadoop::DecodeNodeWebAddresses(*answer) : Expected<hadoop::NodeWebAddresses>();
  // One node stands for all: they are configured alike, or their administrator knows.
  for (std::size_t i = 0; nodes && i < nodes->size() && facts.node.empty(); ++i)
    AskNode((*nodes)[i].second, facts);
  Add(JudgeDaemons(facts));
}

void ClusterSurvey::AskNode(const std::string& web, DaemonFacts& facts) {
  const auto value = [&](const char* key) -> WebAnswer {
    auto request = GetAt(web, wire::ConfigurationTarget(key));
    if (!request) return tl::unexpected(wire::HttpFailure{});
    return AskWeb(std::move(*request));
  };
  const WebAnswer first = value("yarn.nodemanager.pmem-check-enabled");
  if (!first) return;
  facts.node = web;
  NoteClock("NodeManager at " + web, first->date);
  facts.pmem_check = ValueOf(first);
  facts.vmem_check = ValueOf(value("yarn.nodemanager.vmem-check-enabled"));
  facts.vmem_ratio = ValueOf(value("yarn.nodemanager.vmem-pmem-ratio"));
  facts.collects_logs = ValueOf(value("yarn.log-aggregation-enable"));
}

void ClusterSurvey::TryHdfs() {
  HdfsFacts facts{.directory = HomeInHdfs(settings_.user), .user = settings_.user};
  HdfsQuestions hdfs(settings_, kHdfsPatience);
  const std::string file = fmt::format("{}/doctor-{}", facts.directory, ::getpid());
  const std::string moved = file + "-moved";
  const auto good = [&](const char* step, auto result) {
    if (result) return true;
    facts.step = step;
    facts.error = std::move(result.error());
    return false;
  };
  const bool all = good("making the directory", hdfs.Mkdirs(facts.directory)) &&
                   good("making a file", hdfs.Create(file, "one\n")) &&
                   good("appending to a file", hdfs.Append(file, "two\n")) &&
                   good("renaming a file", hdfs.Rename(file, moved)) &&
                   good("reading a file", hdfs.OpenRange(moved, 0, 8));
  if (all) {
    (void)good("deleting a file", hdfs.Delete(moved, false));
  } else if (facts.error->code != hdfs::HdfsErrorCode::kUnavailable) {
    // What is left of a trial that failed is in no later trial's way.
    (void)hdfs.Delete(file, false);
  }
  checks_.push_back(JudgeHdfs(facts));
  for (const config::NameNodeAddresses& node : settings_.hdfs.name_nodes) {
    const WebAnswer answer = AskWeb(wire::HttpRequest{
        .method = "GET",
        .url = {.server = node.web,
                .target = "/webhdfs/v1/?op=GETFILESTATUS&user.name=" + settings_.user}});
    if (answer) NoteClock("NameNode at " + ToString(node.web), answer->date);
  }
}

}  // namespace tfyarn::apps
