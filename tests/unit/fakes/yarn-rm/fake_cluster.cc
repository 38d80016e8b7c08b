#include "tests/unit/fakes/yarn-rm/fake_cluster.h"

#include <algorithm>

#include "core/model/check.h"
#include "core/model/text.h"
#include "core/model/visit.h"

namespace tfyarn::fakes {
namespace {

std::string Stamp(Instant t) {
  return ToString(t) + " ";
}

}  // namespace

FakeCluster::FakeCluster(ClusterOptions options)
    : options_(std::move(options)),
      rm_(std::make_unique<ResourceManager>(options_.rm, 7)),
      tokens_(rm_->tokens()) {
  ScheduleRm();
}

void FakeCluster::At(Instant when, std::function<void()> what) {
  queue_.emplace(std::pair{std::max(when, now_), sequence_++}, std::move(what));
}

void FakeCluster::RunFor(Duration time) {
  (void)RunUntil([] { return false; }, time);
}

bool FakeCluster::RunUntil(const std::function<bool()>& condition, Duration limit) {
  const Instant end = now_ + limit;
  while (!condition()) {
    if (queue_.empty() || queue_.begin()->first.first > end) {
      now_ = end;
      return condition();
    }
    now_ = queue_.begin()->first.first;
    const auto what = std::move(queue_.begin()->second);
    queue_.erase(queue_.begin());
    what();
  }
  return true;
}

// ---------------------------------------------------------------- nodes

NodeId FakeCluster::AddNode(const std::string& host, Resource capacity, std::string partition,
                            std::string rack, Duration phase) {
  const NodeId id{.host = host, .port = 45454};
  if (phase < Duration::zero()) phase = 37123us * ((next_phase_ * 11) % 25) + 1us;
  ++next_phase_;
  NmOptions nm{.node = id,
               .rack = std::move(rack),
               .partition = std::move(partition),
               .capacity = std::move(capacity),
               .heartbeat = options_.rm.nm_heartbeat,
               .heartbeat_phase = phase};
  nm.work_preserving_restart = options_.rm.work_preserving_restart;
  Node& node = nodes_[id];
  node.options = nm;
  node.nm = std::make_unique<NodeManager>(nm, tokens_, 1);
  StepNm(id, NmStarted{});
  return id;
}

void FakeCluster::ScheduleNm(Node& node) {
  const std::uint64_t generation = ++node.wake;
  auto next = options_.elide && node.nm->registered() && !node.news ? node.nm->next_decision()
                                                                    : node.nm->next_deadline();
  if (!next || !node.up) return;
  const NodeId id = node.options.node;
  At(*next, [this, id, generation] {
    Node& at = nodes_.at(id);
    if (at.wake != generation || !at.up) return;
    const auto decision = at.nm->next_decision();
    const bool for_news =
        options_.elide && at.news && at.nm->registered() && (!decision || *decision > now_);
    if (for_news && rm_ != nullptr && !rm_->ConfirmNewsForNode(id)) {
      at.news = false;
      ScheduleNm(at);
      return;
    }
    StepNm(id, NmDeadlineReached{});
  });
}

// Tells NM and RM of the idle beats before `until`.
void FakeCluster::CatchUp(Node& node, Instant until) {
  if (!options_.elide || !node.nm->registered()) return;
  const auto beat = node.nm->next_deadline();
  const auto decision = node.nm->next_decision();
  if (!beat || (decision && *decision <= *beat) || *beat >= until) return;
  const auto behind = (until - *beat - Duration(1)) / node.options.heartbeat;
  const Instant last = *beat + node.options.heartbeat * behind;
  const auto count = static_cast<std::uint64_t>(behind) + 1;
  std::vector<NmAction> none;
  node.nm->Step(last, OwnHeartbeatsElided{.count = count, .last = last}, none);
  TF_CHECK(none.empty());
  if (rm_ == nullptr) return;
  std::vector<RmAction> nothing;
  rm_->Step(now_,
            NodeHeartbeatsElided{
                .node = node.options.node, .count = count, .last = last + options_.latency},
            nothing);
}

// The latest idle beat was not sent, and its answer would not be back yet. It is sent after all, at
// its time; the RM, when it would have had it already, is only told.
void FakeCluster::Materialise(Node& node) {
  if (!options_.elide || !node.up || !node.nm->registered()) return;
  CatchUp(node, now_ - options_.latency * 2);
  const auto beat = node.nm->next_deadline();
  const auto decision = node.nm->next_decision();
  if (!beat || *beat >= now_ || (decision && *decision <= *beat)) return;
  const NodeId id = node.options.node;
  const Instant real = now_;
  std::vector<NmAction> actions;
  node.nm->Step(*beat, NmDeadlineReached{}, actions);
  TF_CHECK(actions.size() == 1);
  const Instant arrives = *beat + options_.latency;
  if (arrives >= real) {
    now_ = *beat;
    NmActions(id, std::move(actions), nullptr);
    now_ = real;
    return;
  }
  const auto& call = std::get<NmCallRm>(actions.front());
  const auto& request = std::get<yarn::NodeHeartbeatRequest>(call.request);
  if (rm_ == nullptr) return;
  std::vector<RmAction> nothing;
  rm_->Step(now_, NodeHeartbeatsElided{.node = id, .count = 1, .last = arrives}, nothing);
  const RmAnswered idle{
      .id = call.id,
      .response = yarn::NodeHeartbeatResponse{.response_id = request.response_id + 1}};
  At(arrives + options_.latency, [this, id, idle] {
    if (nodes_.at(id).up) StepNm(id, idle);
  });
}

void FakeCluster::StepNm(const NodeId& id, const NmEvent& event) {
  Node& node = nodes_.at(id);
  if (!node.up) {
    node.missed.push_back(event);
    return;
  }
  Materialise(node);
  std::vector<NmAction> actions;
  node.nm->Step(now_, event, actions);
  NmActions(id, std::move(actions), nullptr);
  ScheduleNm(node);
}

void FakeCluster::NmActions(const NodeId& id, std::vector<NmAction> actions,
                            yarn::NmResponse* reply) {
  for (NmAction& action : actions) {
    std::visit(
        Overloaded{
            [&](NmReply& r) {
              if (reply != nullptr) *reply = r.response;
            },
            [&](NmCallRm& call) {
              const bool beat = std::holds_alternative<yarn::NodeHeartbeatRequest>(call.request);
              if (beat) {
                ++node_beats;
                nodes_.at(id).news = false;
              }
              At(now_ + options_.latency, [this, id, call] {
                yarn::RmResponse response = yarn::RpcError{};
                if (rm_ != nullptr) {
                  response =
                      CallRm({.kind = CallerKind::kNm, .user = {}, .attempt = {}, .node = id},
                             call.request);
                  if (options_.elide &&
                      std::holds_alternative<yarn::RegisterNodeManagerResponse>(response)) {
                    StepRm(NodeVouched{.node = id, .vouched = true});
                  }
                }
                At(now_ + options_.latency, [this, id, call, response] {
                  if (nodes_.at(id).up) StepNm(id, RmAnswered{.id = call.id, .response = response});
                });
              });
            },
            [&](Localize& l) {
              At(now_ + options_.localize,
                 [this, id, l] { StepNm(id, Localized{.container = l.container}); });
            },
            [&](Launch& l) {
              At(now_ + options_.launch, [this, id, l] { StartProcess(id, l.container); });
            },
            [&](SignalContainer& s) {
              if (processes_.count(s.container) == 0) return;
              if (!s.kill && ignores_term.count(s.container) > 0) return;
              const std::int32_t status = s.kill ? 137 : 143;
              At(now_ + 10ms, [this, id, s, status] { EndProcess(id, s.container, status); });
            },
            [&](ContainerDone&) {},
            [&](NmNote&) {},
        },
        action);
  }
}

void FakeCluster::StartProcess(const NodeId& node, const ContainerId& container) {
  processes_[container] = node;
  StepNm(node, ProcessStarted{.container = container});
  if (am_containers_.count(container) > 0) AmStart(node, container);
}

void FakeCluster::EndProcess(const NodeId& node, const ContainerId& container,
                             std::int32_t status) {
  if (processes_.erase(container) == 0) return;
  if (am_containers_.count(container) > 0) {
    ScriptedAm& am = *ams_.at(container.application_attempt.application);
    if (am.container == container) am.alive = false;
  }
  StepNm(node, ProcessEnded{.container = container, .exit_status = status, .diagnostics = {}});
}

void FakeCluster::Exit(const ContainerId& container, std::int32_t status) {
  const auto found = processes_.find(container);
  TF_CHECK(found != processes_.end());
  const NodeId node = found->second;
  EndProcess(node, container, status);
}

void FakeCluster::CrashNode(const NodeId& id) {
  Node& node = nodes_.at(id);
  if (options_.elide) {
    CatchUp(node, now_);
    StepRm(NodeVouched{.node = id, .vouched = false, .last = now_});
  }
  std::vector<ContainerId> dead;
  for (const auto& [container, at] : processes_) {
    if (at == id) dead.push_back(container);
  }
  for (const ContainerId& container : dead) {
    processes_.erase(container);
    if (am_containers_.count(container) > 0)
      ams_.at(container.application_attempt.application)->alive = false;
  }
  node.up = false;
  node.left = NmState{};
}

void FakeCluster::StopNm(const NodeId& id) {
  Node& node = nodes_.at(id);
  CatchUp(node, now_);
  node.left = node.nm->state();
  node.up = false;
}

void FakeCluster::StartNm(const NodeId& id) {
  Node& node = nodes_.at(id);
  node.nm = std::make_unique<NodeManager>(node.options, tokens_, node.left, 1);
  node.up = true;
  StepNm(id, NmStarted{});
  for (const NmEvent& event : std::exchange(node.missed, {})) {
    if (std::holds_alternative<ProcessEnded>(event) ||
        std::holds_alternative<ProcessStarted>(event))
      StepNm(id, event);
  }
}

// ---------------------------------------------------------------- the RM

void FakeCluster::StopRm() {
  rm_left_ = rm_->state_store();
  rm_.reset();
  ++rm_wake_;
  rm_wake_at_.reset();
}

void FakeCluster::StartRm() {
  rm_ = std::make_unique<ResourceManager>(options_.rm, *rm_left_, 7, now_);
  ScheduleRm();
}

void FakeCluster::ScheduleRm() {
  const auto next = rm_->next_deadline();
  if (next == rm_wake_at_) return;
  const std::uint64_t generation = ++rm_wake_;
  rm_wake_at_ = next;
  if (!next) return;
  At(*next, [this, generation] {
    if (rm_wake_ != generation) return;
    rm_wake_at_.reset();
    StepRm(RmDeadlineReached{});
  });
}

void FakeCluster::StepRm(const RmEvent& event) {
  std::vector<RmAction> actions;
  rm_->Step(now_, event, actions);
  RmActions(std::move(actions), nullptr);
  ScheduleRm();
}

yarn::RmResponse FakeCluster::CallRm(Caller caller, yarn::RmRequest request, yarn::Token token) {
  std::vector<RmAction> actions;
  yarn::RmResponse response;
  rm_->Step(now_,
            RmCall{.id = ++calls_,
                   .caller = std::move(caller),
                   .token = token,
                   .request = std::move(request)},
            actions);
  RmActions(std::move(actions), &response);
  ScheduleRm();
  return response;
}

yarn::NmResponse FakeCluster::CallNm(const NodeId& id, const ApplicationAttemptId& caller,
                                     yarn::Token token, yarn::NmRequest request) {
  Node& node = nodes_.at(id);
  if (!node.up) return yarn::RpcError{};
  Materialise(node);
  std::vector<NmAction> actions;
  yarn::NmResponse response;
  node.nm->Step(
      now_,
      NmCall{.id = ++calls_,
             .caller = {.kind = CallerKind::kAm, .user = {}, .attempt = caller, .node = {}},
             .token = token,
             .request = std::move(request)},
      actions);
  NmActions(id, std::move(actions), &response);
  ScheduleNm(node);
  return response;
}

void FakeCluster::RmActions(std::vector<RmAction> actions, yarn::RmResponse* reply) {
  for (RmAction& action : actions) {
    std::visit(
        Overloaded{
            [&](RmReply& r) {
              if (reply != nullptr) *reply = r.response;
            },
            [&](RmCallNm& call) {
              const auto& start =
                  std::get<yarn::StartContainersRequest>(call.request).containers.front();
              am_containers_.insert(start.container);
              At(now_ + options_.latency, [this, call] {
                const yarn::NmResponse response =
                    CallNm(call.node, call.caller.attempt, call.token, call.request);
                At(now_ + options_.latency, [this, call, response] {
                  if (rm_ != nullptr) {
                    StepRm(NmAnswered{.id = call.id, .node = call.node, .response = response});
                  }
                });
              });
            },
            [&](NewsForAttempt&) {},
            [&](NewsForNode& news) {
              ++news_for_nodes;
              if (!options_.elide) return;
              const NodeId id = news.node;
              nodes_.at(id).news = true;
              Node& node = nodes_.at(id);
              Materialise(node);
              ScheduleNm(node);
            },
            [&](NewsForClient&) {},
            [&](Granted& g) {
              log_.push_back(Stamp(now_) + "granted " + ToString(g.container) + " on " +
                             g.node.host);
            },
            [&](Freed& f) {
              log_.push_back(Stamp(now_) + "freed " + ToString(f.container) + " " +
                             std::to_string(f.exit_status));
            },
            [&](ApplicationEnded& e) {
              log_.push_back(Stamp(now_) + "ended " + ToString(e.application) + " " +
                             KebabName(e.state) + " " + KebabName(e.final_status));
            },
            [&](RmNote&) {},
        },
        action);
  }
}

// ---------------------------------------------------------------- clients and AMs

ApplicationId FakeCluster::Submit(yarn::SubmitApplicationRequest request) {
  const Caller client{.kind = CallerKind::kClient, .user = "u", .attempt = {}, .node = {}};
  const auto fresh =
      std::get<yarn::GetNewApplicationResponse>(CallRm(client, yarn::GetNewApplicationRequest{}));
  request.application = fresh.application;
  if (request.user.empty()) request.user = "u";
  if (IsZero(request.am_resource)) request.am_resource = Amount(1, 1);
  (void)CallRm(client, request);
  return fresh.application;
}

yarn::ApplicationReport FakeCluster::Report(const ApplicationId& application) {
  const auto response = CallRm({}, yarn::GetApplicationReportRequest{.application = application});
  const auto* report = std::get_if<yarn::GetApplicationReportResponse>(&response);
  return report == nullptr ? yarn::ApplicationReport{} : report->report;
}

void FakeCluster::AmStart(const NodeId& node, const ContainerId& container) {
  const ApplicationId application = container.application_attempt.application;
  auto& slot = ams_[application];
  slot = std::make_unique<ScriptedAm>();
  ScriptedAm& am = *slot;
  am.attempt = container.application_attempt;
  am.container = container;
  am.node = node;
  if (rm_ != nullptr) am.token = rm_->AmRmTokenOf(am.attempt);
  AmBeat(application);
}

void FakeCluster::AmBeatLater(const ApplicationId& application,
                              const ApplicationAttemptId& attempt) {
  At(now_ + options_.am_heartbeat, [this, application, attempt] {
    ScriptedAm& am = *ams_.at(application);
    if (am.attempt != attempt || !am.alive || !am.beats) return;
    AmBeat(application);
    AmBeatLater(application, attempt);
  });
}

void FakeCluster::AmBeat(const ApplicationId& application) {
  ScriptedAm& am = *ams_.at(application);
  if (!am.alive || rm_ == nullptr) return;
  const Caller caller{.kind = CallerKind::kAm, .user = {}, .attempt = am.attempt, .node = {}};
  if (!am.registered) {
    const auto response =
        CallRm(caller, yarn::RegisterApplicationMasterRequest{.host = am.node.host}, *am.token);
    const auto* registered = std::get_if<yarn::RegisterApplicationMasterResponse>(&response);
    if (registered == nullptr) {
      am.error = std::get<yarn::RpcError>(response);
      return;
    }
    am.registration = *registered;
    for (const yarn::NmToken& token : registered->nm_tokens_from_previous_attempts) {
      am.nm_tokens[token.node] = token.token;
    }
    am.registered = true;
    am.response_id = 0;
    AmBeatLater(application, am.attempt);
    return;
  }
  am.next.response_id = am.response_id;
  const auto response = CallRm(caller, am.next, *am.token);
  if (const auto* error = std::get_if<yarn::RpcError>(&response)) {
    am.error = *error;
    return;
  }
  am.next = {};
  AmTakes(am, std::get<yarn::AllocateResponse>(response));
}

void FakeCluster::AmTakes(ScriptedAm& am, const yarn::AllocateResponse& response) {
  am.last = response;
  am.response_id = response.response_id;
  for (const yarn::NmToken& token : response.nm_tokens) am.nm_tokens[token.node] = token.token;
  if (response.am_rm_token) {
    am.token = response.am_rm_token;
    am.new_tokens.push_back(*response.am_rm_token);
  }
  const auto append = [](auto& to, const auto& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  append(am.granted, response.allocated_containers);
  append(am.completed, response.completed_containers);
  append(am.updated_nodes, response.updated_nodes);
  append(am.preempt_strict, response.preempt_strict);
  append(am.preempt_contract, response.preempt_contract);
  append(am.from_previous, response.containers_from_previous_attempts);
  if (!am.starts_containers) return;
  for (const yarn::Container& container : response.allocated_containers) {
    yarn::StartContainersRequest start;
    start.containers.push_back(
        {.container = container.id, .container_token = container.token, .context = {}});
    const NodeId node = container.node;
    const ApplicationAttemptId attempt = am.attempt;
    const yarn::Token token = am.nm_tokens.at(node);
    At(now_ + options_.latency, [this, node, attempt, token, start] {
      const auto answer = CallNm(node, attempt, token, start);
      if (const auto* started = std::get_if<yarn::StartContainersResponse>(&answer)) {
        for (const auto& failed : started->failed)
          ams_.at(attempt.application)->failed_starts.push_back(failed);
      }
    });
  }
}

void FakeCluster::FinishAm(const ApplicationId& application, yarn::FinalApplicationStatus status) {
  const ScriptedAm& am = *ams_.at(application);
  const Caller caller{.kind = CallerKind::kAm, .user = {}, .attempt = am.attempt, .node = {}};
  (void)CallRm(caller, yarn::FinishApplicationMasterRequest{.final_status = status}, *am.token);
  const ContainerId container = am.container;
  At(now_ + 100ms, [this, caller, status, container, application] {
    (void)CallRm(caller, yarn::FinishApplicationMasterRequest{.final_status = status},
                 *ams_.at(application)->token);
    if (Runs(container)) Exit(container, 0);
  });
}

}  // namespace tfyarn::fakes
