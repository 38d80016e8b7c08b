#include "tests/fields/observe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <variant>

#include "apps/cli/single_run.h"
#include "config/load.h"
#include "core/agent/environment.h"
#include "core/model/text.h"
#include "core/trace/json.h"
#include "hosts/local/local_rm.h"
#include "hosts/yarn/hdfs_staging.h"
#include "sim/run.h"
#include "wire/hadoop/yarn_codec.h"

namespace tfyarn::field_uses_test {
namespace {

using config::Host;

/// What a run is told of the scenario's own text.
bool OnlyRepeats(const trace::Fact& fact) {
  return std::holds_alternative<trace::RunStarted>(fact) ||
         std::holds_alternative<trace::JobCreated>(fact);
}

const yarn::SubmitApplicationRequest* SubmissionIn(const trace::Fact& fact) {
  const auto* ordered = std::get_if<trace::ClientOrdered>(&fact);
  const auto* call = ordered == nullptr ? nullptr : std::get_if<CallRm>(&ordered->action);
  return call == nullptr ? nullptr : std::get_if<yarn::SubmitApplicationRequest>(&call->request);
}

std::string Figures(const trace::Result& result) {
  auto json = nlohmann::ordered_json::parse(trace::ResultJson(result));
  for (const char* own : {"scenario", "scenario_digest", "digest", "wall_seconds", "peak_rss_bytes",
                          "version", "events"})
    json.erase(own);
  return json.dump(1);
}

// ---------------------------------------------------------------- real hosts

/// Environment and command of every task.
std::string Tasks(const JobSpec& job) {
  ClusterSpec spec{.epoch = Epoch(1)};
  std::int32_t port = 30000;
  for (const TaskTypeSpec& type : job.tasks) {
    for (std::int32_t i = 0; i < type.instances; ++i)
      spec.tasks[type.name].push_back({.host = "h", .port = port++});
  }
  std::string text;
  for (const TaskTypeSpec& type : job.tasks) {
    const TaskId task{.type = type.name, .index = 0};
    text += fmt::format("{}: {} {}\n", type.name, agent::PythonDirectory(job, type.name),
                        fmt::join(agent::RenderCommand(job, task, spec), " "));
    for (const auto& [name, value] :
         agent::RenderEnvironment(job, task, {.attempt = TaskAttempt(0), .epoch = Epoch(1)}, spec,
                                  {.cluster_timestamp = 1, .id = 1}, false))
      text += fmt::format("{}={}\n", name, value);
  }
  return text;
}

/// What this machine's ResourceManager does of a submission whose AM always ends with 1.
std::string OnMachine(yarn::SubmitApplicationRequest request) {
  std::string text;
  std::vector<ContainerId> started;
  hosts::LocalRm rm(
      {.node = {.host = "h", .port = 1},
       .capacity = {.memory_mb = 64 << 10, .vcores = 64, .gpus = 8, .others = {}},
       .cluster_timestamp = 5},
      {.launch_am =
           [&](const ContainerId& id, const Resource& resource,
               const yarn::ContainerLaunchContext& context) {
             // Its processors are no limit of anything there.
             text += fmt::format("AM {} MiB {}\n", resource.memory_mb, ToText(context));
             started.push_back(id);
           },
       .stop = [](const ContainerId&, std::int32_t, const std::string&) { return false; },
       .started = [](const ContainerId&) { return true; },
       .observe = [](const trace::Fact&) {}});
  Instant now{1000s};
  const auto made = rm.Answer(std::nullopt, yarn::GetNewApplicationRequest{}, now);
  request.application = std::get<yarn::GetNewApplicationResponse>(made).application;
  text += ToText(rm.Answer(std::nullopt, request, now)) + "\n";
  for (std::size_t i = 0; i < started.size(); ++i) rm.ContainerEnded(started[i], 1, "", now);
  return text;
}

std::string OnCluster(const yarn::SubmitApplicationRequest& request, const JobSpec& job) {
  const auto call = hadoop::EncodeRmRequest(request, {});
  return (call ? call->body : call.error().message) + ToText(hosts::AgentContext(job, {}, {}));
}

}  // namespace

Observed Observe(const std::string& yaml, const std::vector<std::string>& sets,
                 const std::string& traces) {
  Observed seen;
  config::LoadOptions how;
  how.sets = sets;
  how.trace_directory = traces;
  const auto scenario = config::LoadScenarioText(yaml, "uses.yaml", how);
  if (!scenario) {
    seen.error = config::Render(scenario.error());
    return seen;
  }
  std::optional<yarn::SubmitApplicationRequest> request;
  cli::SingleRun run;
  run.seed = scenario->seed;
  run.sink = [&](const trace::TraceRecord& record) {
    const auto* submission = SubmissionIn(record.fact);
    if (submission != nullptr && !request) request = *submission;
    if (submission == nullptr && !OnlyRepeats(record.fact))
      seen.run += trace::RecordJson(record) + "\n";
  };
  const auto simulate = [](const config::Scenario& of, const sim::RunOptions& options) {
    return sim::RunScenario(of, options);
  };
  seen.run += Figures(cli::RunOnce(*scenario, run, {.run = simulate, .version = ""}));
  if (!request || scenario->jobs.empty()) return seen;
  seen.submission = ToText(*request);
  const JobSpec& job = scenario->jobs.front().spec;
  seen.plans[Host::kMachine] = Tasks(job) + OnMachine(*request);
  seen.plans[Host::kCluster] = Tasks(job) + OnCluster(*request, job);
  return seen;
}

}  // namespace tfyarn::field_uses_test
