#include "bench/job_world.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <variant>

#include "core/model/check.h"
#include "core/model/deadline.h"
#include "core/model/launch.h"
#include "core/model/visit.h"

namespace tfyarn::bench {
namespace {

constexpr std::int64_t kWorkerMemory = 4096;
const Resource kLargestContainer{.memory_mb = 65'536, .vcores = 16, .gpus = 0, .others = {}};

}  // namespace

std::shared_ptr<const JobSpec> WorkersJob(std::int32_t workers, Strategy strategy) {
  auto job = std::make_shared<JobSpec>();
  job->name = "bench";
  job->user = "bench";
  job->strategy = strategy;
  job->retries.infrastructure = 1'000'000;
  TaskTypeSpec worker{.name = "worker", .instances = workers};
  worker.resource = {.memory_mb = kWorkerMemory, .vcores = 1, .gpus = 0, .others = {}};
  worker.command = {"python3", "train.py"};
  job->tasks.push_back(std::move(worker));
  return job;
}

namespace {

/// Racks of 40, hosts with the names that hosts have.
yarn::NodeReport ReportOf(std::int32_t node) {
  const std::int32_t rack = node / 40;
  return {
      .node = {.host = fmt::format("node-{:05}.rack-{:03}.example.org", node, rack), .port = 45454},
      .rack = fmt::format("/rack-{:03}", rack),
      .state = yarn::NodeState::kRunning,
      .capability = {.memory_mb = 65'536, .vcores = 16, .gpus = 0, .others = {}},
      .used = {},
      .partition = {}};
}

/// What `tfyarn submit` puts into the AM's options.
yarn::ContainerLaunchContext AgentContext() {
  yarn::ContainerLaunchContext context;
  const std::string staging = "hdfs://nameservice1/user/bench/.tfyarn/";
  context.local_resources["runtime"] = {.path = staging + "runtime/" + std::string(48, 'r'),
                                        .size = 14'600'000,
                                        .timestamp = 1'700'000'000'000,
                                        .archive = true,
                                        .shared = true};
  context.local_resources["train.py"] = {.path = staging + "staging/application/files/train.py",
                                         .size = 4'000,
                                         .timestamp = 1'700'000'000'000};
  for (int i = 0; i < 8; ++i) {
    context.environment[fmt::format("TFYARN_ADDRESS_OF_SOMETHING_{}", i)] =
        "http://namenode-1.example.org:9870";
  }
  context.command = {"runtime/lib/ld-linux-x86-64.so.2", "--library-path", "runtime/lib",
                     "runtime/bin/tfyarn-agent"};
  return context;
}

class ImmediateGrants {
 public:
  ImmediateGrants(ApplicationAttemptId attempt, std::int32_t nodes, std::int32_t full)
      : attempt_(attempt), nodes_(nodes), roomy_(nodes - full) {
    TF_CHECK(roomy_ > 0);
  }

  yarn::AllocateResponse Allocate(const yarn::AllocateRequest& request) {
    yarn::AllocateResponse response{.response_id = request.response_id + 1};
    for (const yarn::ResourceRequest& row : request.ask) {
      const bool anywhere = row.resource_name == "*";
      if (anywhere ? !row.relax_locality : row.resource_name.starts_with('/')) continue;
      for (std::int32_t i = 0; i < row.num_containers; ++i) {
        NodeId node{.host = row.resource_name, .port = 45454};
        if (anywhere) node = ReportOf(turn_++ % roomy_).node;
        Grant(row, node, response);
      }
    }
    response.num_cluster_nodes = nodes_;
    return response;
  }

 private:
  void Grant(const yarn::ResourceRequest& row, const NodeId& node,
             yarn::AllocateResponse& response) {
    response.allocated_containers.push_back({.id = {.application_attempt = attempt_, .id = next_++},
                                             .node = node,
                                             .resource = row.capability,
                                             .priority = row.priority.value_or(0),
                                             .allocation_request_id = row.allocation_request_id,
                                             .token = {}});
    if (known_.insert(node).second) response.nm_tokens.push_back({.node = node, .token = {}});
  }

  ApplicationAttemptId attempt_;
  std::int32_t nodes_;
  std::int32_t roomy_;
  std::int32_t turn_ = 0;
  std::int64_t next_ = 2;
  std::set<NodeId> known_;
};

}  // namespace

std::vector<yarn::NodeReport> NodeReports(std::int32_t nodes, std::int32_t full) {
  std::vector<yarn::NodeReport> reports;
  for (std::int32_t node = 0; node < nodes; ++node) {
    reports.push_back(ReportOf(node));
    yarn::NodeReport& report = reports.back();
    report.used = report.capability;
    if (node >= nodes - full) continue;
    report.used.memory_mb -= std::int64_t{kRoomPerNode} * kWorkerMemory;
    report.used.vcores -= kRoomPerNode;
  }
  return reports;
}

RmService ImmediateRm(ApplicationAttemptId attempt, std::int32_t nodes, std::int32_t full) {
  return [grants = ImmediateGrants(attempt, nodes, full)](
             Instant, const yarn::RmRequest& request) mutable -> yarn::RmResponse {
    if (std::holds_alternative<yarn::RegisterApplicationMasterRequest>(request)) {
      return yarn::RegisterApplicationMasterResponse{.maximum_capability = kLargestContainer,
                                                     .queue = "root.default"};
    }
    const auto* allocate = std::get_if<yarn::AllocateRequest>(&request);
    if (allocate == nullptr) return yarn::FinishApplicationMasterResponse{.is_unregistered = true};
    return grants.Allocate(*allocate);
  };
}

JobWorld::JobWorld(Instant now, JobWorldOptions options)
    : options_(std::move(options)),
      meter_(options_.meter == nullptr ? none_ : *options_.meter),
      now_(now) {
  // The RM is an hour older than the survey: what it says of its nodes is all there is.
  const am::AmOptions am_options{.staging_directory = "/user/bench/.tfyarn/application",
                                 .agent_context = AgentContext(),
                                 .surveyed = WallTime(1h)};
  meter_.BeforeAm();
  am_ = std::make_unique<am::ApplicationMaster>(options_.job, am_options, std::uint64_t{1});
  meter_.AfterAm();
  to_am_.emplace_back(
      AmStarted{.attempt = options_.attempt,
                .container = {.application_attempt = options_.attempt, .id = 1},
                .address = {.host = "node-00000.rack-000.example.org", .port = 40000},
                .nodes = Nodes(),
                .maximum_container = kLargestContainer});
  Drain();
}

SharedList<yarn::NodeReport> JobWorld::Nodes() {
  meter_.BeforeNodes();
  SharedList<yarn::NodeReport> nodes = std::exchange(options_.nodes, nullptr)();
  meter_.AfterNodes();
  return nodes;
}

void JobWorld::RunDue(Instant now) {
  now_ = now;
  if (IsDue(am_->next_deadline(), now_)) StepAm(DeadlineReached{});
  for (auto& [id, agent] : agents_) {
    if (IsDue(agent.machine->next_deadline(), now_)) StepAgent(agent, DeadlineReached{});
  }
  Drain();
}

void JobWorld::KillProcess(std::int32_t worker) {
  const auto at = std::find_if(agents_.begin(), agents_.end(), [&](const auto& entry) {
    return entry.second.task.index == worker;
  });
  TF_CHECK(at != agents_.end() && at->second.running);
  Agent& agent = at->second;
  const TaskAttempt attempt = *std::exchange(agent.running, std::nullopt);
  StepAgent(agent, ProcessExited{.attempt = attempt, .exit = {.signal = 9}, .stderr_tail = {}});
  Drain();
}

std::optional<Instant> JobWorld::next_deadline() const {
  std::optional<Instant> least = am_->next_deadline();
  for (const auto& [id, agent] : agents_) Earliest(least, agent.machine->next_deadline());
  return least;
}

void JobWorld::Drain() {
  while (!to_am_.empty() || !to_agents_.empty()) {
    if (!to_am_.empty()) {
      const AmEvent event = std::move(to_am_.front());
      to_am_.pop_front();
      StepAm(event);
      continue;
    }
    const auto [container, event] = std::move(to_agents_.front());
    to_agents_.pop_front();
    const auto agent = agents_.find(container);
    if (agent != agents_.end()) StepAgent(agent->second, event);
  }
}

void JobWorld::StepAm(const AmEvent& event) {
  std::vector<AmAction> actions;
  meter_.BeforeAm();
  am_->Step(now_, event, actions);
  meter_.AfterAm();
  for (AmAction& action : actions) Carry(action);
}

void JobWorld::StepAgent(Agent& agent, const AgentEvent& event) {
  std::vector<AgentAction> actions;
  meter_.BeforeAgent();
  agent.machine->Step(now_, event, actions);
  meter_.AfterAgent();
  for (AgentAction& action : actions) Carry(agent, action);
}

void JobWorld::Carry(AmAction& action) {
  std::visit(
      Overloaded{
          [&](ReadJournal&) { to_am_.push_back(JournalRead{}); },
          [&](AppendJournal& append) { to_am_.push_back(JournalAppended{.seq = append.seq}); },
          [&](CallRm& call) {
            to_am_.push_back(
                RmReplied{.call = call.call, .response = options_.rm(now_, call.request)});
          },
          [&](CallNm& call) {
            const auto* start = std::get_if<yarn::StartContainersRequest>(&call.request);
            if (start != nullptr && options_.agents) StartContainers(call, *start);
          },
          [&](SendToAgent& send) {
            to_agents_.emplace_back(send.container, AmSaid{.message = std::move(send.message),
                                                           .am_attempt = options_.attempt.attempt});
          },
          [&](GangCompleted&) { gang_complete_ = true; },
          [&](VerdictReached& verdict) {
            CheckFailed(__FILE__, __LINE__, verdict.diagnostics.c_str());
          },
          [](PublishAddress&) {},
          [](CallHdfs&) {},
          [](ExitAm&) {},
          [](JobStateChanged&) {},
          [](GangReleased&) {},
          [](SpecAssembled&) {},
          [](TaskAttemptStarted&) {},
          [](TaskAttemptEnded&) {},
          [](RestartDecided&) {},
          [](RestartTakenOver&) {},
          [](Note&) {},
          [](NodesAwaited&) {},
          [](PortUseFound&) {},
      },
      action);
}

void JobWorld::StartContainers(const CallNm& call, const yarn::StartContainersRequest& request) {
  yarn::StartContainersResponse response;
  for (const yarn::StartContainerRequest& start : request.containers) {
    const auto launch = AgentLaunchFrom(start.context.environment);
    TF_CHECK(launch.has_value());
    Agent& agent = agents_[start.container];
    agent.container = start.container;
    agent.task = launch->fence.task;
    meter_.BeforeAgent();
    agent.machine = std::make_unique<agent::TaskAgent>(options_.job, std::uint64_t{1});
    meter_.AfterAgent();
    to_agents_.emplace_back(start.container, AgentStarted{.fence = launch->fence,
                                                          .am_attempt = launch->am_attempt,
                                                          .am_address = launch->am_address,
                                                          .host = call.node.host});
    response.succeeded.push_back(start.container);
  }
  to_am_.push_back(
      NmReplied{.call = call.call, .node = call.node, .response = std::move(response)});
}

void JobWorld::Carry(Agent& agent, AgentAction& action) {
  std::visit(
      Overloaded{
          [&](LeasePort&) {
            to_agents_.emplace_back(agent.container, PortLeased{.port = next_port_++});
          },
          [&](SendToAm& send) { to_am_.push_back(AgentSaid{.message = std::move(send.message)}); },
          [&](SpawnProcess& spawn) {
            ++spawned_;
            agent.running = spawn.process.attempt;
            to_agents_.emplace_back(agent.container,
                                    ProcessSpawned{.attempt = spawn.process.attempt});
          },
          [](SignalProcess&) {},
          [&](ReadAmAddress&) { to_agents_.emplace_back(agent.container, AmAddressRead{}); },
          [](ExitAgent&) {},
          [](DumpStacks&) {},
          [](Note&) {},
      },
      action);
}

}  // namespace tfyarn::bench
