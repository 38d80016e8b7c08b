#include "tests/lockstep/allocate_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/model/response_id.h"

namespace tfyarn::lockstep {
namespace {

using yarn::RpcErrorCode;

std::int64_t RoundUp(std::int64_t amount, std::int64_t unit) {
  return unit <= 0 ? amount : std::max(unit, (amount + unit - 1) / unit * unit);
}

/// Source: DominantResourceCalculator.java#normalize.
Resource Normalized(const Resource& asked, const Resource& minimum) {
  Resource size = asked;
  size.memory_mb = RoundUp(asked.memory_mb, minimum.memory_mb);
  size.vcores = RoundUp(asked.vcores, minimum.vcores);
  return size;
}

Asks::Key KeyOf(const yarn::ResourceRequest& row) {
  return {row.priority.value_or(0), row.allocation_request_id};
}

template <class Response>
bool Is(const Answer<Response>& answer, RpcErrorCode code) {
  return !answer && answer.error().code == code;
}

template <class Response>
std::string Text(const Answer<Response>& answer) {
  return answer ? "an answer"
                : fmt::format("error {}: {}", static_cast<int>(answer.error().code),
                              answer.error().message);
}

}  // namespace

// ---------------------------------------------------------------- asks

// Source: RegularContainerAllocator.java#canAssign, LocalityAppPlacementAllocator.java#canAllocate,
// SchedulerAppUtils.java#isPlaceBlacklisted.
std::string Asks::WhyNot(const yarn::Container& grant, const Terms& terms) const {
  const auto found = rows.find({grant.priority, grant.allocation_request_id});
  if (found == rows.end()) return "no row has its priority and request id";
  const auto count = [&](const std::string& name) {
    const auto at = found->second.find(name);
    return at == found->second.end() ? 0 : at->second.num_containers;
  };
  const auto anywhere = found->second.find("*");
  if (anywhere == found->second.end() || anywhere->second.num_containers <= 0)
    return "nothing is outstanding";
  const auto place = terms.places.find(grant.node.host);
  if (place == terms.places.end()) return "its node is unknown";
  const std::string& rack = place->second.rack;
  if (anywhere->second.node_label_expression.value_or("") != place->second.partition)
    return "its node is of another partition";
  if (blacklist.contains(grant.node.host) || blacklist.contains(rack))
    return "its node is blacklisted";
  if (grant.resource != Normalized(anywhere->second.capability, terms.minimum))
    return "its size is not the one asked for";
  if (count(grant.node.host) > 0 || anywhere->second.relax_locality) return "";
  const auto on_rack = found->second.find(rack);
  if (on_rack != found->second.end() && count(rack) > 0 && on_rack->second.relax_locality)
    return "";
  return "its node is not among those asked for";
}

// Source: LocalityAppPlacementAllocator.java#allocate (node-local, rack-local, off-switch).
std::vector<yarn::ResourceRequest> Asks::Take(const yarn::Container& grant, const Terms& terms) {
  auto& names = rows.at({grant.priority, grant.allocation_request_id});
  std::vector<yarn::ResourceRequest> taken;
  const auto lower = [&](const std::string& name) {
    const auto at = names.find(name);
    if (at == names.end() || at->second.num_containers <= 0) return false;
    --at->second.num_containers;
    taken.push_back(at->second);
    taken.back().num_containers = 1;
    return true;
  };
  lower("*");
  if (lower(grant.node.host) || terms.exact) lower(terms.places.at(grant.node.host).rack);
  return taken;
}

// Source: AbstractYarnScheduler.java#recoverResourceRequestForContainer.
void Asks::TakeBack(const std::vector<yarn::ResourceRequest>& taken) {
  for (const yarn::ResourceRequest& row : taken) {
    const auto [at, is_new] = rows[KeyOf(row)].emplace(row.resource_name, row);
    if (!is_new) ++at->second.num_containers;
  }
}

// ---------------------------------------------------------------- what happened

void AllocateModel::Leave(Held& held, std::int32_t status, bool owed) {
  if (terms_.exact) held.statuses.clear();
  held.statuses.insert(status);
  held.life = Life::kEnded;
  held.owed = owed;
}

void AllocateModel::AttemptBegins(const ApplicationAttemptId& attempt) {
  Expect(!attempt_runs_ && !over_, "an attempt begins while another runs, or after the end");
  Expect(attempt.attempt > attempt_.attempt, "an attempt's number was used before");
  attempt_ = attempt;
  attempt_runs_ = true;
  registered_before_ = false;
}

// Source: CapacityScheduler.java#doneApplicationAttempt, RMAppAttemptImpl.java
// #transferStateFromAttempt: what runs is kept, what was told and not acknowledged is told again.
void AllocateModel::AttemptEnds() {
  attempt_runs_ = registered_ = registered_before_ = false;
  now_.rows.clear();
  if (!terms_.keep_containers) now_.blacklist.clear();
  before_ = {};
  last_.reset();
  tokens_sent_.clear();
  announced_.clear();
  for (auto& [id, held] : containers_) {
    if (!terms_.keep_containers) {
      held.life = Life::kOver;
    } else if (held.life == Life::kGranted || held.life == Life::kHeld) {
      Leave(held, kAborted, terms_.exact && held.life == Life::kHeld);
    } else if (held.life == Life::kTold) {
      held.life = Life::kEnded;
    }
  }
}

void AllocateModel::ApplicationEnds() {
  over_ = true;
  attempt_runs_ = registered_ = false;
  for (auto& [id, held] : containers_) held.life = Life::kOver;
}

// What was granted and not started is lost without a word; what has ended is known to its node.
void AllocateModel::RmRestarts() {
  registered_before_ = registered_before_ || registered_;
  registered_ = false;
  last_.reset();
  now_ = {};
  before_ = {};
  tokens_sent_.clear();
  nodes_.clear();
  changed_.clear();
  may_have_changed_.clear();
  announced_.clear();
  for (auto& [id, held] : containers_) {
    held.released = false;
    if (held.life == Life::kGranted) held.life = Life::kOver;
    if (held.life == Life::kOver && !held.statuses.empty()) held.owed = false;
    if (held.life != Life::kOver) held.life = Life::kAway;
  }
}

void AllocateModel::Granted(const yarn::Container& container) {
  std::vector<yarn::ResourceRequest> taken;
  if (const std::string why = now_.WhyNot(container, terms_); !why.empty()) {
    Break(fmt::format("{} was granted on {}, but {}", ToString(container.id), container.node.host,
                      why));
  } else {
    taken = now_.Take(container, terms_);
  }
  Expect(container.id.application_attempt == attempt_, "a grant carries another attempt's number");
  const bool is_new =
      containers_
          .emplace(container.id,
                   Held{.container = container, .taken = std::move(taken), .statuses = {}})
          .second;
  Expect(is_new, ToString(container.id) + " was granted twice");
}

void AllocateModel::Runs(const ContainerId& id) {
  const auto at = containers_.find(id);
  if (at != containers_.end() &&
      (at->second.life == Life::kHeld || at->second.life == Life::kGranted))
    at->second.life = Life::kRunning;
}

void AllocateModel::Ends(const ContainerId& id, std::int32_t status) {
  const auto at = containers_.find(id);
  if (at == containers_.end() || over_ || !IsOfLine(id)) return;
  Held& held = at->second;
  if (held.life == Life::kGranted) now_.TakeBack(held.taken);
  if (held.life <= Life::kAway || MayReturn(held)) Leave(held, status, true);
  if (!terms_.exact && held.life == Life::kEnded) held.statuses.insert(status);
  announced_.erase(id);
}

void AllocateModel::Returns(const ContainerId& id) {
  const auto at = containers_.find(id);
  if (at == containers_.end() || over_ || !IsOfLine(id) || !MayReturn(at->second)) return;
  at->second.life = Life::kRunning;
  at->second.owed = true;
  if (at->second.released) Leave(at->second, kAborted, true);
}

void AllocateModel::NodeChanges(const NodeId& node, yarn::NodeState state) {
  nodes_[node] = state;
  may_have_changed_.insert(node);
  if (registered_) changed_.insert(node);
}

const Held* AllocateModel::Find(const ContainerId& id) const {
  const auto at = containers_.find(id);
  return at == containers_.end() ? nullptr : &at->second;
}

std::vector<ContainerId> AllocateModel::In(Life life) const {
  std::vector<ContainerId> ids;
  for (const auto& [id, held] : containers_) {
    if (held.life == life) ids.push_back(id);
  }
  return ids;
}

// ---------------------------------------------------------------- registration and the end

void AllocateModel::Judge(const Answer<yarn::RegisterApplicationMasterResponse>& answer) {
  if (over_ || !attempt_runs_) {
    Expect(Is(answer, RpcErrorCode::kInvalidApplicationMasterRequest) ||
               Is(answer, RpcErrorCode::kInvalidToken),
           "an attempt that is over registered: " + Text(answer));
    return;
  }
  if (registered_) {
    Expect(Is(answer, RpcErrorCode::kInvalidApplicationMasterRequest),
           "a second registration was not refused: " + Text(answer));
    return;
  }
  if (finishing_) return;
  if (!answer) return Break("a registration was refused: " + Text(answer));
  registered_ = true;
  response_id_ = 0;
  last_ = yarn::AllocateResponse{};
  std::set<ContainerId> previous;
  for (const yarn::Container& container : answer->containers_from_previous_attempts) {
    Expect(previous.insert(container.id).second, "a previous container is named twice");
    const Held* held = Find(container.id);
    Expect(held != nullptr && MayBeGiven(*held), "a previous container is not alive");
    Expect(container.id.application_attempt != attempt_, "a previous container is of this attempt");
  }
  for (const auto& [id, held] : containers_) {
    if (held.life != Life::kRunning || id.application_attempt == attempt_) continue;
    Expect(previous.contains(id), ToString(id) + " runs and was not given to the next attempt");
  }
  JudgeTokens(answer->containers_from_previous_attempts, answer->nm_tokens_from_previous_attempts);
}

void AllocateModel::Judge(const Answer<yarn::FinishApplicationMasterResponse>& answer) {
  if (over_ || finishing_) {
    Expect(!answer || answer->is_unregistered || !terms_.exact,
           "the end is stored, and finish still answers false");
    return;
  }
  if (!attempt_runs_) {
    Expect(Is(answer, RpcErrorCode::kInvalidApplicationMasterRequest) ||
               Is(answer, RpcErrorCode::kInvalidToken),
           "an attempt that is over finished: " + Text(answer));
    return;
  }
  if (!registered_) {
    Expect(Is(answer, RpcErrorCode::kApplicationMasterNotRegistered),
           "an AM that is not registered finished: " + Text(answer));
    return;
  }
  Expect(answer.has_value(), "finish was refused: " + Text(answer));
  Expect(!answer || !answer->is_unregistered, "the first finish is answered before it is stored");
  finishing_ = answer.has_value();
}

// ---------------------------------------------------------------- allocate

std::optional<RpcErrorCode> AllocateModel::Refusal(const yarn::AllocateRequest& request) const {
  for (const yarn::ResourceRequest& row : request.ask) {
    if (!FitsIn(row.capability, terms_.maximum)) return RpcErrorCode::kInvalidResourceRequest;
  }
  if (std::count(request.blacklist_additions.begin(), request.blacklist_additions.end(), "*") > 0)
    return RpcErrorCode::kInvalidResourceBlacklistRequest;
  if (terms_.keep_containers) return std::nullopt;
  for (const ContainerId& id : request.release) {
    if (id.application_attempt != attempt_) return RpcErrorCode::kInvalidContainerRelease;
  }
  return std::nullopt;
}

void AllocateModel::Judge(const yarn::AllocateRequest& request,
                          const Answer<yarn::AllocateResponse>& answer) {
  if (over_ || !attempt_runs_) {
    Expect(Is(answer, RpcErrorCode::kApplicationAttemptNotFound) ||
               Is(answer, RpcErrorCode::kInvalidToken),
           "an attempt that is over was served: " + Text(answer));
    return;
  }
  const bool repeated = ResponseIdAfter(request.response_id, 1) == response_id_;
  if (finishing_) {
    if (repeated || !answer) return;
    Expect(answer->allocated_containers.empty(), "an AM that has finished was granted");
    response_id_ = answer->response_id;
    return;
  }
  if (!registered_) {
    Expect(Is(answer, RpcErrorCode::kApplicationMasterNotRegistered),
           "an AM that is not registered was served: " + Text(answer));
    return;
  }
  if (repeated) {
    if (!answer) return Break("a repeated allocate was refused: " + Text(answer));
    return JudgeRepeated(*answer);
  }
  if (request.response_id != response_id_) {
    Expect(Is(answer, RpcErrorCode::kInvalidApplicationMasterRequest),
           fmt::format("response id {} was taken for {}: {}", request.response_id, response_id_,
                       Text(answer)));
    Expect(answer || answer.error().message.find(std::to_string(response_id_)) != std::string::npos,
           "the refusal does not name the expected id");
    return;
  }
  if (const auto code = Refusal(request)) {
    Expect(Is(answer, *code), "a bad allocate was not refused as it should be: " + Text(answer));
    return;
  }
  if (!answer) return Break("a good allocate was refused: " + Text(answer));
  response_id_ = ResponseIdAfter(response_id_, 1);
  Expect(answer->response_id == response_id_, "an answer's id is not the next one");
  Expect(answer->am_command == yarn::AmCommand::kNone, "an answer carries a command");
  Expect(!AnyNegative(answer->limit), "the headroom is negative");
  Acknowledge();
  TakeAsks(request);
  Release(request.release);
  JudgeGrants(*answer);
  JudgeCompleted(*answer);
  JudgeNodes(*answer);
  JudgePreempted(*answer);
  last_ = *answer;
}

// Source: ApplicationMasterService.java#allocate: lastResponse is returned.
void AllocateModel::JudgeRepeated(const yarn::AllocateResponse& answer) {
  const auto ids = [](const yarn::AllocateResponse& response) {
    std::vector<ContainerId> all;
    for (const auto& container : response.allocated_containers) all.push_back(container.id);
    for (const auto& status : response.completed_containers) all.push_back(status.id);
    for (const auto& container : response.containers_from_previous_attempts)
      all.push_back(container.id);
    for (const ContainerId& id : response.preempt_strict) all.push_back(id);
    return all;
  };
  Expect(answer.response_id == response_id_, "a repeated answer has another id");
  Expect(last_ && ids(*last_) == ids(answer), "a repeated answer says something else");
  Expect(last_ && last_->updated_nodes.size() == answer.updated_nodes.size(),
         "a repeated answer names other nodes");
  Expect(last_ && last_->nm_tokens.size() == answer.nm_tokens.size(),
         "a repeated answer carries other tokens");
}

void AllocateModel::Acknowledge() {
  for (auto& [id, held] : containers_) {
    if (held.life == Life::kTold) held.life = Life::kOver;
  }
}

// Source: AppSchedulingInfo.java#updateResourceRequests: a count replaces the one before.
void AllocateModel::TakeAsks(const yarn::AllocateRequest& request) {
  before_ = now_;
  replaced_.clear();
  for (const yarn::ResourceRequest& row : request.ask) {
    now_.rows[KeyOf(row)][row.resource_name] = row;
    replaced_.insert(KeyOf(row));
  }
  for (const std::string& name : request.blacklist_additions) now_.blacklist.insert(name);
  for (const std::string& name : request.blacklist_removals) now_.blacklist.erase(name);
}

// Source: AbstractYarnScheduler.java#releaseContainers. What the AM does not hold is no error.
void AllocateModel::Release(const std::vector<ContainerId>& ids) {
  for (const ContainerId& id : ids) {
    const auto at = containers_.find(id);
    if (at == containers_.end()) continue;
    Held& held = at->second;
    if (IsLive(held)) {
      Leave(held, kAborted, true);
      announced_.erase(id);
    } else {
      held.released = held.released || (MayReturn(held) && releases_are_kept_);
      if (!terms_.exact && held.life != Life::kOver) held.statuses.insert(kAborted);
    }
  }
}

void AllocateModel::JudgeGrants(const yarn::AllocateResponse& answer) {
  std::set<ContainerId> delivered;
  for (const yarn::Container& container : answer.allocated_containers) {
    const std::string name = ToString(container.id);
    Expect(delivered.insert(container.id).second, name + " is twice in one answer");
    const bool known = containers_.contains(container.id);
    if (!terms_.exact) {
      Expect(!known, name + " was delivered twice");
      const Asks::Key key{container.priority, container.allocation_request_id};
      // Granted before this request was taken, or right after.
      if (before_.WhyNot(container, terms_).empty()) {
        before_.Take(container, terms_);
        if (!replaced_.contains(key) && now_.rows.contains(key)) now_.Take(container, terms_);
      } else if (const std::string why = now_.WhyNot(container, terms_); why.empty()) {
        now_.Take(container, terms_);
      } else {
        Break(fmt::format("{} was granted on {}, but {}", name, container.node.host, why));
      }
      containers_.emplace(container.id, Held{.container = container, .statuses = {}});
    }
    const auto at = containers_.find(container.id);
    if (at == containers_.end()) {
      Break(name + " was delivered and never granted to this application");
      continue;
    }
    Held& held = at->second;
    Expect(held.life == Life::kGranted, name + " was delivered again, or after its end");
    Expect(held.container.node == container.node && held.container.resource == container.resource,
           name + " was delivered as another container than it was granted");
    held.container = container;
    if (held.life == Life::kGranted) held.life = Life::kHeld;
  }
  for (const ContainerId& id : In(Life::kGranted))
    Break(ToString(id) + " was granted and is not in the next answer");
  std::vector<yarn::Container> given = answer.allocated_containers;
  for (const yarn::Container& container : answer.containers_from_previous_attempts) {
    given.push_back(container);
    const Held* held = Find(container.id);
    Expect(held != nullptr && MayBeGiven(*held) && container.id.application_attempt != attempt_,
           ToString(container.id) + " is no container of a previous attempt that came back");
  }
  JudgeTokens(given, answer.nm_tokens);
}

// Source: NMTokenSecretManagerInRM.java#createAndGetNMToken: one for each node and attempt.
void AllocateModel::JudgeTokens(const std::vector<yarn::Container>& delivered,
                                const std::vector<yarn::NmToken>& tokens) {
  std::set<NodeId> needed;
  for (const yarn::Container& container : delivered) {
    if (!tokens_sent_.contains(container.node)) needed.insert(container.node);
  }
  std::set<NodeId> sent;
  for (const yarn::NmToken& token : tokens) sent.insert(token.node);
  tokens_sent_.insert(sent.begin(), sent.end());
  for (const NodeId& node : needed)
    Expect(sent.contains(node), "a container on " + node.host + " comes without its node's token");
  for (const NodeId& node : sent)
    Expect(needed.contains(node) || !terms_.exact, "a token of " + node.host + " came again");
}

void AllocateModel::JudgeCompleted(const yarn::AllocateResponse& answer) {
  for (const yarn::ContainerStatus& status : answer.completed_containers) {
    const std::string name = ToString(status.id);
    // Granted to an AM that was gone before it heard of it.
    const bool unheard = !terms_.exact && terms_.keep_containers &&
                         status.id.application_attempt != attempt_ &&
                         status.exit_status == kAborted;
    if (unheard && !containers_.contains(status.id)) {
      containers_.emplace(status.id, Held{.container = {.id = status.id, .node = {}, .token = {}},
                                          .life = Life::kEnded,
                                          .statuses = {kAborted}});
    }
    const auto at = containers_.find(status.id);
    if (at == containers_.end()) {
      Break(name + " is reported as completed and was never this application's");
      continue;
    }
    Held& held = at->second;
    if (held.life == Life::kOver || held.life == Life::kTold) {
      // Only a new ResourceManager, told by a node, may say again what an earlier one has said.
      Expect(!held.owed, name + " is reported as completed again");
    } else {
      // Of one that is not started it may be learnt that it has expired.
      const bool expired = !terms_.exact && held.life == Life::kHeld;
      if (expired) held.statuses = {kAborted};
      Expect(held.life == Life::kEnded || expired,
             name + " is reported as completed and was not known to have ended");
    }
    Expect(held.statuses.contains(status.exit_status),
           fmt::format("{} is reported with {}", name, status.exit_status));
    held.life = Life::kTold;
    held.owed = true;
    announced_.erase(status.id);
  }
  if (!terms_.exact) return;
  for (auto& [id, held] : containers_) {
    if (held.life != Life::kEnded) continue;
    Expect(!held.owed, ToString(id) + " has ended and is not in the next answer");
    held.life = Life::kOver;
  }
}

// Source: RMAppImpl.java#pullRMNodeUpdates: each changed node once, as it is now.
void AllocateModel::JudgeNodes(const yarn::AllocateResponse& answer) {
  if (!terms_.exact) return;
  std::set<NodeId> told;
  for (const yarn::NodeReport& node : answer.updated_nodes) {
    Expect(told.insert(node.node).second, node.node.host + " is twice among the updated nodes");
    const auto now = nodes_.find(node.node);
    Expect(now != nodes_.end() && now->second == node.state,
           fmt::format("{} is reported as it is not: {}", node.node.host,
                       static_cast<int>(node.state)));
    Expect(may_have_changed_.contains(node.node),
           node.node.host + " is reported and has not changed");
  }
  for (const NodeId& node : changed_)
    Expect(told.contains(node), node.host + " has changed and is not among the updated nodes");
  changed_.clear();
  may_have_changed_.clear();
  const auto usable = [](const auto& node) { return node.second == yarn::NodeState::kRunning; };
  const auto count = static_cast<std::int32_t>(std::count_if(nodes_.begin(), nodes_.end(), usable));
  Expect(answer.num_cluster_nodes == count,
         fmt::format("{} nodes are usable, {} are told", count, answer.num_cluster_nodes));
}

// Source: FiCaSchedulerApp.java#getAllocation: of what it still holds.
void AllocateModel::JudgePreempted(const yarn::AllocateResponse& answer) {
  std::set<ContainerId> told(answer.preempt_strict.begin(), answer.preempt_strict.end());
  told.insert(answer.preempt_contract.begin(), answer.preempt_contract.end());
  for (const ContainerId& id : told) {
    const Held* held = Find(id);
    Expect(held != nullptr && IsLive(*held), ToString(id) + " is to be preempted and is not held");
    Expect(!terms_.exact || announced_.contains(id),
           ToString(id) + " is to be preempted by no order");
  }
  for (const ContainerId& id : announced_)
    Expect(!terms_.exact || told.contains(id), ToString(id) + " is to be preempted without notice");
  announced_.clear();
}

}  // namespace tfyarn::lockstep
