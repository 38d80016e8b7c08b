#include "tests/lockstep/hand_cluster.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/model/check.h"
#include "core/model/codec.h"
#include "core/model/visit.h"

namespace tfyarn::lockstep {
namespace {

using fakes::Caller;
using fakes::CallerKind;
using fakes::RmEvent;

constexpr Duration kRound = 1s;
constexpr Duration kNotice = 3s;
constexpr std::int64_t kBatchShare = 500'000;  ///< The most of a partition for root.batch; ppm.
}  // namespace

HandCluster::HandCluster(const fakes::SchedulerKind& scheduler)
    : has_limits_(scheduler.has_limits) {
  options_.scheduler = scheduler.name;
  options_.queues = {{.path = "root.batch",
                      .capacity_permille = 400,
                      .max_capacity_permille = kBatchShare / 1000}};
  options_.nm_expiry = 8s;
  options_.am_expiry = 24h;
  options_.container_expiry = 20s;
  options_.am_max_attempts = 3;
  options_.scheduling_wait = 3s;
  options_.node_locality_delay = 2;
  options_.maximum_allocation = {.memory_mb = 6 * 1024, .vcores = 6};
  hosts_ = {{"h0", {.rack = "/r1", .partition = ""}},
            {"h1", {.rack = "/r2", .partition = ""}},
            {"h2", {.rack = "/r1", .partition = "gpu"}},
            {"h3", {.rack = "/r2", .partition = ""}}};
  rm_ = std::make_unique<fakes::ResourceManager>(options_, 7);
  for (const auto& [host, place] : hosts_) {
    nodes_.push_back({.id = {.host = host, .port = 45454},
                      .capacity = {.memory_mb = 6 * 1024, .vcores = 6},
                      .processes = {}});
  }
  Pass(1);
}

// ---------------------------------------------------------------- the ResourceManager

void HandCluster::Record(const fakes::RmAction& action) {
  std::string bytes;
  Encoder encoder(bytes);
  const auto put = [&](const auto&... values) { (encoder.Put(values), ...); };
  put(static_cast<std::uint32_t>(action.index()));
  std::visit(
      Overloaded{
          [&](const fakes::RmReply& one) { put(one.response); },
          [&](const fakes::RmCallNm& one) { put(one.node, one.caller, one.token, one.request); },
          [&](const fakes::NewsForAttempt& one) { put(one.attempt); },
          [&](const fakes::NewsForNode& one) { put(one.node); },
          [&](const fakes::NewsForClient& one) { put(one.application); },
          [&](const fakes::Granted& one) { put(one.container, one.node, one.resource, one.am); },
          [&](const fakes::Freed& one) { put(one.container, one.exit_status); },
          [&](const fakes::ApplicationEnded& one) {
            put(one.application, one.state, one.final_status);
          },
          [&](const fakes::RmNote& one) { put(one.text); }},
      action);
  digest_ = DigestOf(digest_, bytes);
}

void HandCluster::Step(const RmEvent& event) {
  std::vector<fakes::RmAction> actions;
  rm_->Step(now_, event, actions);
  for (const fakes::RmAction& action : actions) {
    Record(action);
    std::visit(Overloaded{[&](const fakes::RmReply& reply) { reply_ = reply.response; },
                          [&](const fakes::RmCallNm& call) { launches_.push_back(call); },
                          [&](const fakes::Granted& granted) { Take(granted); },
                          [&](const fakes::Freed& freed) { freed_.push_back(freed); },
                          [&](const fakes::ApplicationEnded& ended) {
                            if (!ended_.insert(ended.application).second)
                              Break(ToString(ended.application) + " ended twice");
                          },
                          [](const auto&) {}},
               action);
  }
}

yarn::RmResponse HandCluster::Call(const Caller& caller, const yarn::RmRequest& request) {
  reply_.reset();
  Step(fakes::RmCall{.id = ++calls_, .caller = caller, .token = {}, .request = request});
  TF_CHECK(reply_.has_value());
  return *std::exchange(reply_, std::nullopt);
}

void HandCluster::AdvanceTo(Instant when) {
  while (true) {
    const auto next = rm_->next_deadline();
    if (!next || *next > when) break;
    now_ = std::max(now_, *next);
    Step(fakes::RmDeadlineReached{});
    Settle();
  }
  now_ = std::max(now_, when);
}

HandCluster::Slot* HandCluster::FindSlot(const ApplicationId& id) {
  for (const auto& application : applications_) {
    if (application->id == id) return &SlotOf(*application);
  }
  return nullptr;
}

std::size_t HandCluster::IndexOf(const NodeId& id) const {
  const auto at =
      std::find_if(nodes_.begin(), nodes_.end(), [&](const Node& node) { return node.id == id; });
  TF_CHECK(at != nodes_.end());
  return static_cast<std::size_t>(at - nodes_.begin());
}

bool HandCluster::IsAm(const Slot& slot, const ContainerId& id) {
  return slot.am && slot.am->container == id && slot.model.Find(id) == nullptr;
}

HandCluster::Node& HandCluster::NodeOf(const NodeId& id) {
  return nodes_[IndexOf(id)];
}

Caller HandCluster::AmOf(const Application& application) const {
  return {.kind = CallerKind::kAm, .user = {}, .attempt = application.model.attempt(), .node = {}};
}

// ---------------------------------------------------------------- what it decided

void HandCluster::Take(const fakes::Granted& granted) {
  Slot* slot = FindSlot(granted.container.application_attempt.application);
  if (slot == nullptr) return Break(ToString(granted.container) + " is of no application");
  if (granted.am) {
    if (slot->am && slot->am->container == granted.container) {
      slot->am->away = false;
      return;
    }
    if (slot->am && !slot->am->over) Break("an AM was granted while another one lives");
    slot->am = Am{.container = granted.container,
                  .node = IndexOf(granted.node),
                  .resource = granted.resource};
    return;
  }
  if (slot->model.Find(granted.container) != nullptr) return;  // brought back by its node
  yarn::Container container{
      .id = granted.container, .node = granted.node, .resource = granted.resource, .token = {}};
  const auto application = rm_->books().applications.find(slot->id);
  if (application != rm_->books().applications.end()) {
    const auto booked = application->second->containers.find(granted.container);
    if (booked != application->second->containers.end()) {
      container.priority = booked->second.priority;
      container.allocation_request_id = booked->second.allocation_request_id;
    }
  }
  if (NodeOf(granted.node).state != yarn::NodeState::kRunning)
    Break(ToString(granted.container) + " was granted on a node that is not usable");
  for (const fakes::BookedNode* node : rm_->books().nodes) {
    if (node->id == granted.node && !FitsIn(node->used, node->capacity))
      Break(node->id.host + " has no room for what is granted on it");
  }
  CheckLimit(*slot, granted.node);
  slot->model.Granted(container);
}

void HandCluster::CheckLimit(const Slot& slot, const NodeId& at) {
  if (!has_limits_) return;
  const std::string& partition = hosts_[IndexOf(at)].second.partition;
  // Of all nodes, also those that are away: what a reservation was made for is granted later.
  Resource total;
  for (const Node& node : nodes_) {
    if (hosts_[IndexOf(node.id)].second.partition == partition) total += node.capacity;
  }
  const Resource most = slot.queue == "root.batch" ? Share(total, kBatchShare) : total;
  const auto& partitions = rm_->books().partitions;
  const auto number = static_cast<std::size_t>(
      std::find(partitions.begin(), partitions.end(), partition) - partitions.begin());
  for (const fakes::BookedQueue* queue : rm_->books().queues) {
    if (queue->path == slot.queue && number < queue->used.size() &&
        !FitsIn(queue->used[number], most))
      Break(fmt::format("{} was granted beyond its limit: {} of {}", slot.queue,
                        ToString(queue->used[number]), ToString(most)));
  }
}

bool HandCluster::MayBeLost(const NodeId& id) const {
  return now_ >= nodes_[IndexOf(id)].last_heard + options_.nm_expiry;
}

void HandCluster::Settle() {
  WatchNodes();
  const std::vector<fakes::Freed> freed = std::exchange(freed_, {});
  for (const fakes::Freed& one : freed) {
    Slot* slot = FindSlot(one.container.application_attempt.application);
    if (slot != nullptr && IsAm(*slot, one.container)) SettleAm(*slot, one);
  }
  for (const fakes::Freed& one : freed) {
    Slot* slot = FindSlot(one.container.application_attempt.application);
    if (slot == nullptr || IsAm(*slot, one.container)) continue;
    SettleContainer(*slot, one);
  }
  for (const auto& application : applications_) {
    if (application->model.over() || !ended_.contains(application->id)) continue;
    Slot& slot = SlotOf(*application);
    const bool spent = slot.failures >= options_.am_max_attempts;
    if (!slot.killed && !slot.model.finishing() && !spent)
      Break(ToString(slot.id) + " ended without a reason");
    // Unregistered: its AM still lives, and its containers with it.
    if (slot.model.finishing() && !slot.killed && slot.am && !slot.am->over) continue;
    slot.model.ApplicationEnds();
    if (slot.am) slot.am->over = true;
  }
  for (const fakes::RmCallNm& call : std::exchange(launches_, {})) Launch(call);
}

void HandCluster::SettleAm(Slot& slot, const fakes::Freed& freed) {
  if (slot.am->over || slot.killed) return;
  if (!MayBeLost(nodes_[slot.am->node].id))
    Break(fmt::format("the AM's {} was freed ({}) without a reason", ToString(freed.container),
                      freed.exit_status));
  AmEnds(slot, freed.exit_status);
}

// Reasons that are not known before: silence of its node, a start that never came, preemption.
void HandCluster::SettleContainer(Slot& slot, const fakes::Freed& freed) {
  const Held* held = slot.model.Find(freed.container);
  if (held == nullptr) return Break(ToString(freed.container) + " was freed and never granted");
  if (!AllocateModel::IsLive(*held)) return;
  const auto delivered = slot.delivered.find(freed.container);
  const auto preempted = slot.preempted.find(freed.container);
  const bool lost = freed.exit_status == -100 && MayBeLost(held->container.node);
  const bool expired = freed.exit_status == -100 && held->life == Life::kHeld &&
                       delivered != slot.delivered.end() &&
                       now_ >= delivered->second + options_.container_expiry;
  const bool taken =
      freed.exit_status == -102 && preempted != slot.preempted.end() && now_ >= preempted->second;
  const bool ended = ended_.contains(slot.id);
  if (!lost && !expired && !taken && !ended) {
    Break(fmt::format("{} was freed ({}) without a reason", ToString(freed.container),
                      freed.exit_status));
  }
  slot.model.Ends(freed.container, freed.exit_status);
}

void HandCluster::WatchNodes() {
  for (const fakes::BookedNode* booked : rm_->books().nodes) {
    Node& node = NodeOf(booked->id);
    if (booked->state == node.state) continue;
    if (booked->state == yarn::NodeState::kLost && !MayBeLost(node.id))
      Break(node.id.host + " is lost and was heard");
    node.state = booked->state;
    for (const auto& application : applications_)
      application->model.NodeChanges(node.id, node.state);
  }
}

void HandCluster::Launch(const fakes::RmCallNm& call) {
  const auto* start = std::get_if<yarn::StartContainersRequest>(&call.request);
  Node& node = NodeOf(call.node);
  if (!node.up || !node.registered) {
    Step(fakes::NmAnswered{.id = call.id, .node = call.node, .response = yarn::RpcError{}});
    return Settle();
  }
  if (start == nullptr) return;
  const ContainerId id = start->containers.front().container;
  Slot* slot = FindSlot(id.application_attempt.application);
  TF_CHECK(slot != nullptr && slot->am);
  node.processes[id] = {.resource = slot->am->resource};
  slot->model.AttemptBegins(id.application_attempt);
  Step(fakes::NmAnswered{
      .id = call.id,
      .node = call.node,
      .response = yarn::StartContainersResponse{.succeeded = {id}, .failed = {}}});
  Settle();
}

void HandCluster::AmEnds(Slot& slot, std::int32_t status) {
  slot.am->over = true;
  if (slot.model.over()) return;
  if (status != -100 && status != -102) ++slot.failures;
  slot.model.AmEnded({.id = slot.am->container,
                      .node = nodes_[slot.am->node].id,
                      .resource = slot.am->resource,
                      .token = {}},
                     status);
  if (!slot.model.finishing()) slot.model.AttemptEnds();
}

// ---------------------------------------------------------------- operations

void HandCluster::Submit(bool keep_containers, std::size_t queue) {
  const auto id = std::get<yarn::GetNewApplicationResponse>(
      Call({.kind = CallerKind::kClient, .user = "u", .attempt = {}, .node = {}},
           yarn::GetNewApplicationRequest{}));
  Terms terms{.keep_containers = keep_containers,
              .minimum = options_.minimum_allocation,
              .maximum = nodes_.front().capacity,
              .places = {hosts_.begin(), hosts_.end()}};
  auto slot = std::make_unique<Slot>(std::move(terms));
  slot->id = id.application;
  slot->queue = queue == 0 ? "root.default" : "root.batch";
  for (const Node& node : nodes_) slot->model.NodeIs(node.id, node.state);
  const yarn::SubmitApplicationRequest request{
      .application = id.application,
      .name = "a",
      .queue = queue == 0 ? "default" : "batch",
      .user = "u",
      .am_container = {},
      .am_resource = {.memory_mb = 512, .vcores = 1},
      .keep_containers_across_application_attempts = keep_containers,
      .tags = {}};
  applications_.push_back(std::move(slot));
  (void)Call({.kind = CallerKind::kClient, .user = "u", .attempt = {}, .node = {}}, request);
  Settle();
  for (int i = 0; i < 3 && !applications_.back()->model.attempt_runs(); ++i) Pass(1);
}

void HandCluster::Register(Application& application) {
  const auto answer = Call(AmOf(application),
                           yarn::RegisterApplicationMasterRequest{.host = "h", .tracking_url = {}});
  const auto* response = std::get_if<yarn::RegisterApplicationMasterResponse>(&answer);
  if (response != nullptr) {
    application.model.Judge(Answer<yarn::RegisterApplicationMasterResponse>(*response));
  } else {
    application.model.Judge(Answer<yarn::RegisterApplicationMasterResponse>(
        tl::unexpected(std::get<yarn::RpcError>(answer))));
  }
  Settle();
}

void HandCluster::Allocate(Application& application, const yarn::AllocateRequest& request) {
  application.model.ReleasesAreKept(restarted_ && now_ < *restarted_ + options_.nm_expiry);
  const auto answer = Call(AmOf(application), request);
  if (const auto* response = std::get_if<yarn::AllocateResponse>(&answer)) {
    application.model.Judge(request, *response);
    for (const yarn::Container& container : response->allocated_containers)
      SlotOf(application).delivered.emplace(container.id, now_);
  } else {
    application.model.Judge(request, tl::unexpected(std::get<yarn::RpcError>(answer)));
  }
  Settle();
}

void HandCluster::Finish(Application& application) {
  const auto answer = Call(
      AmOf(application),
      yarn::FinishApplicationMasterRequest{.final_status = yarn::FinalApplicationStatus::kSucceeded,
                                           .diagnostics = {},
                                           .tracking_url = {}});
  if (const auto* response = std::get_if<yarn::FinishApplicationMasterResponse>(&answer)) {
    application.model.Judge(Answer<yarn::FinishApplicationMasterResponse>(*response));
  } else {
    application.model.Judge(Answer<yarn::FinishApplicationMasterResponse>(
        tl::unexpected(std::get<yarn::RpcError>(answer))));
  }
  Settle();
}

void HandCluster::Start(Application& application, const ContainerId& id) {
  const Held* held = application.model.Find(id);
  Node& node = NodeOf(held->container.node);
  if (!node.up || !node.registered || node.processes.contains(id)) return;
  node.processes[id] = {.resource = held->container.resource, .priority = held->container.priority};
}

void HandCluster::End(Application& application, const ContainerId& id, std::int32_t code) {
  Node& node = NodeOf(application.model.Find(id)->container.node);
  const auto at = node.processes.find(id);
  if (at == node.processes.end() || at->second.done) return;
  at->second.done = true;
  at->second.exit_status = code;
}

void HandCluster::EndAm(Application& application, std::int32_t code) {
  const auto& am = SlotOf(application).am;
  if (!am || am->over) return;
  const auto at = nodes_[am->node].processes.find(am->container);
  if (at == nodes_[am->node].processes.end() || at->second.done) return;
  at->second.done = true;
  at->second.exit_status = code;
}

void HandCluster::Kill(Application& application) {
  // One that has unregistered keeps the end that was stored. Source: RMAppImpl (FINISHING, KILL).
  if (!application.model.finishing()) SlotOf(application).killed = true;
  (void)Call({.kind = CallerKind::kClient, .user = "u", .attempt = {}, .node = {}},
             yarn::KillApplicationRequest{.application = application.id, .diagnostics = {}});
  Settle();
}

void HandCluster::RestartRm() {
  const fakes::RmStateStore store = rm_->state_store();
  rm_ = std::make_unique<fakes::ResourceManager>(options_, store, 7, now_);
  restarted_ = now_;
  launches_.clear();
  for (Node& node : nodes_) node.state = yarn::NodeState::kNew;
  for (const auto& application : applications_) {
    if (application->model.over()) continue;
    application->model.RmRestarts();
    Slot& slot = SlotOf(*application);
    if (slot.am && !slot.am->over) slot.am->away = true;
    slot.preempted.clear();
  }
}

void HandCluster::TurnNode(std::size_t host) {
  nodes_[host].up = !nodes_[host].up;
}

void HandCluster::Pass(std::size_t rounds) {
  for (; rounds > 0; --rounds) {
    AdvanceTo(now_ + kRound);
    for (Node& node : nodes_) {
      Beat(node);
      AdvanceTo(now_);
    }
  }
}

void HandCluster::Special(Draws& draws) {
  Node& node = nodes_[draws.Below(nodes_.size())];
  switch (draws.Below(4)) {
    case 0:
      Beat(node);
      break;
    case 1:
      if (node.registered && node.state == yarn::NodeState::kRunning && node.response_id > 0)
        Beat(node, true);
      break;
    case 2:
      AdvanceTo(now_ + 7s);
      break;
    case 3: {
      if (applications_.empty()) return;
      Slot& slot = SlotOf(*draws.Of(applications_));
      const std::vector<ContainerId> running = slot.model.In(Life::kRunning);
      if (running.empty() || !slot.model.attempt_runs()) return;
      const ContainerId id = running[draws.Below(running.size())];
      if (slot.preempted.contains(id)) return;
      slot.preempted[id] = now_ + kNotice;
      slot.model.WillBePreempted(id);
      Step(fakes::PreemptContainer{.container = id, .notice = kNotice});
      Settle();
      break;
    }
  }
  AdvanceTo(now_);
}

}  // namespace tfyarn::lockstep
