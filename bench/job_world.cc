#include "bench/job_world.h"

#include <algorithm>
#include <string>
#include <variant>

#include "core/model/check.h"
#include "core/model/deadline.h"
#include "core/model/launch.h"
#include "core/model/visit.h"

namespace tfyarn::bench {

std::shared_ptr<const JobSpec> WorkersJob(std::int32_t workers, Strategy strategy) {
  auto job = std::make_shared<JobSpec>();
  job->name = "bench";
  job->user = "bench";
  job->strategy = strategy;
  job->retries.infrastructure = 1'000'000;
  TaskTypeSpec worker{.name = "worker", .instances = workers};
  worker.resource = {.memory_mb = 4096, .vcores = 1, .gpus = 0, .others = {}};
  worker.command = {"python3", "train.py"};
  job->tasks.push_back(std::move(worker));
  return job;
}

RmService ImmediateRm(ApplicationAttemptId attempt) {
  return [attempt, next = std::int64_t{2}](
             Instant, const yarn::RmRequest& request) mutable -> yarn::RmResponse {
    if (std::holds_alternative<yarn::RegisterApplicationMasterRequest>(request)) {
      return yarn::RegisterApplicationMasterResponse{
          .maximum_capability = {.memory_mb = 1 << 20, .vcores = 128, .gpus = 8, .others = {}},
          .queue = "root.default"};
    }
    const auto* allocate = std::get_if<yarn::AllocateRequest>(&request);
    if (allocate == nullptr) return yarn::FinishApplicationMasterResponse{.is_unregistered = true};
    yarn::AllocateResponse response{.response_id = allocate->response_id + 1};
    for (const yarn::ResourceRequest& row : allocate->ask) {
      if (row.resource_name != "*") continue;
      for (std::int32_t i = 0; i < row.num_containers; ++i) {
        const NodeId node{.host = "node-" + std::to_string(next), .port = 8041};
        response.allocated_containers.push_back(
            {.id = {.application_attempt = attempt, .id = next},
             .node = node,
             .resource = row.capability,
             .priority = row.priority.value_or(0),
             .allocation_request_id = row.allocation_request_id});
        response.nm_tokens.push_back({.node = node, .token = {}});
        ++next;
      }
    }
    response.num_cluster_nodes = 1000;
    return response;
  };
}

JobWorld::JobWorld(Instant now, JobWorldOptions options)
    : options_(std::move(options)),
      meter_(options_.meter == nullptr ? none_ : *options_.meter),
      now_(now) {
  meter_.BeforeAm();
  am_ = std::make_unique<am::ApplicationMaster>(
      options_.job, am::AmOptions{.staging_directory = "/user/bench/.tfyarn/application"},
      std::uint64_t{1});
  meter_.AfterAm();
  StepAm(AmStarted{.attempt = options_.attempt,
                   .container = {.application_attempt = options_.attempt, .id = 1},
                   .address = {.host = "am-node", .port = 40000}});
  Drain();
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
          [](Note&) {},
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
