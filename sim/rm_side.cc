#include "sim/rm_side.h"

#include <algorithm>
#include <map>

#include "core/model/check.h"
#include "core/model/visit.h"
#include "sim/yarn_options.h"

namespace tfyarn::sim {

RmSide::RmSide(Kernel& kernel, Links& links, const RunSetup& setup, Cluster& cluster,
               MessageFaults& message_faults, TraceTap& trace, const SabotageDesk& sabotage)
    : Driver(kernel, links, setup),
      cluster_(cluster),
      message_faults_(message_faults),
      trace_(trace),
      sabotage_(sabotage),
      actor_(links, *this, kRmPlace) {
  actor_.machine = std::make_unique<fakes::ResourceManager>(
      RmOptionsOf(setup.scenario, cluster.nodes), setup.SeedFor("rm", 0));
  tokens_ = actor_.machine->tokens();
}

yarn::RmResponse RmSide::Serve(Terms&& terms, yarn::RmRequest&& request) {
  actor_.response.reset();
  // In place: an RmCall of its own would move the whole of it once more.
  fakes::RmEvent event;
  auto& call = event.emplace<fakes::RmCall>();
  call.id = ++actor_.calls;
  call.caller = std::move(terms.caller);
  call.token = std::move(terms.token);
  call.request = std::move(request);
  actor_.StepNow(std::move(event));
  TF_CHECK(actor_.response.has_value());
  return std::move(*actor_.response);
}

void RmSide::Carry(RmActor& rm, fakes::RmAction& action) {
  std::visit(Overloaded{Ignore<fakes::RmNote>{},
                        [&](fakes::RmReply& reply) { rm.response = std::move(reply.response); },
                        [&](fakes::RmCallNm& call) { CallNode(std::move(call)); },
                        [&](fakes::NewsForAttempt& news) {
                          const JobRecord* job = cluster_.JobOf(news.attempt.application);
                          AmActor* am =
                              job == nullptr ? nullptr : cluster_.AmOf(*job, news.attempt);
                          if (am != nullptr) links_.ForceBeat(*am);
                        },
                        [&](fakes::NewsForNode& news) {
                          NmActor* nm = cluster_.NmOn(*cluster_.nodes.Find(news.node.host));
                          if (nm != nullptr) links_.ForceBeat(*nm);
                        },
                        [&](fakes::NewsForClient& news) {
                          const JobRecord* job = cluster_.JobOf(news.application);
                          if (job != nullptr && job->client != nullptr)
                            links_.ForceBeat(*job->client);
                        },
                        [&](fakes::Granted& granted) { TellGranted(std::move(granted)); },
                        [&](fakes::Freed& freed) { Free(freed.container, freed.exit_status); },
                        [&](fakes::ApplicationEnded& ended) { TellEnded(ended); }},
             action);
}

void RmSide::TellGranted(fakes::Granted&& granted) {
  // A restarted RM recovers what its predecessor granted: nothing new for the trace.
  if (!granted_.insert(granted.container).second) return;
  const JobRecord* job = cluster_.JobOf(granted.container.application_attempt.application);
  trace_.Tell(trace::ContainerGranted{.job = job == nullptr ? trace::JobIndex{} : job->index,
                                      .container = granted.container,
                                      .node = std::move(granted.node),
                                      .resource = std::move(granted.resource),
                                      .am = granted.am});
}

void RmSide::Free(const ContainerId& container, std::int32_t exit_status) {
  if (granted_.erase(container) == 0) return;
  if (AgentActor* agent = cluster_.AgentIn(container)) {
    agent->disowned = true;
    links_.Update(*agent);
  }
  const JobRecord* job = cluster_.JobOf(container.application_attempt.application);
  trace_.Tell(trace::ContainerFreed{.job = job == nullptr ? trace::JobIndex{} : job->index,
                                    .container = container,
                                    .exit_status = exit_status});
}

void RmSide::CallNode(fakes::RmCallNm call) {
  const std::optional<std::int32_t> node = cluster_.nodes.Find(call.node.host);
  TF_CHECK(node.has_value());
  const Duration latency = cluster_.network.Latency(kRmPlace, *node, 0);
  const bool lost =
      !cluster_.network.Reachable(kRmPlace, *node) || cluster_.network.Lost(kRmPlace, *node, 0);
  const auto answer = [this, id = call.id, node_id = call.node](Duration back,
                                                                yarn::NmResponse response) {
    kernel_.After(back, [this, id, node_id, response = std::move(response)]() mutable {
      Tell(fakes::NmAnswered{.id = id, .node = node_id, .response = std::move(response)});
    });
  };
  if (lost) return answer(kRpcTimeout, NotAnswered(call.node.host));
  kernel_.After(latency, [this, node = *node, latency, answer, call = std::move(call)]() mutable {
    NmActor* nm = cluster_.NmOn(node);
    if (cluster_.nodes[node].down > 0) return answer(kRpcTimeout, NotAnswered(call.node.host));
    if (nm == nullptr) return answer(latency, Refused(call.node.host));
    answer(latency, ServeCall(*nm, call.caller, call.token, std::move(call.request)));
  });
}

Party RmSide::PartyOf(const RmActor& rm) const {
  return {.job = {}, .task = {}, .place = rm.place};
}

void RmSide::TellEnded(const fakes::ApplicationEnded& ended) {
  JobRecord* job = cluster_.JobOf(ended.application);
  if (job == nullptr) return;
  trace_.Tell(trace::ApplicationEnded{
      .job = job->index, .application = ended.application, .final_status = ended.final_status});
  // With its client gone only the RM says that the job is over.
  if (job->client == nullptr) ends_->EndSeen(*job);
}

void RmSide::HearBeatsOf(std::uint32_t id) {
  AmActor* am = cluster_.ams.Living(id);
  if (am == nullptr || process() == nullptr) return;
  links_.CatchUp(*am);
  Beat& beat = am->beat;
  const std::uint64_t unseen = beat.sent - std::exchange(beat.seen, beat.sent);
  if (unseen == 0) return;
  Tell(fakes::AmHeartbeatsElided{
      .attempt = am->attempt, .count = unseen, .last = beat.last_sent.value_or(kernel_.now())});
}

void RmSide::Exclude(std::int32_t node) {
  const std::map<std::uint64_t, bool>& leaving = cluster_.nodes[node].leaving_by;
  if (leaving.empty()) return;
  const bool at_once =
      std::any_of(leaving.begin(), leaving.end(), [](const auto& entry) { return entry.second; });
  Tell(fakes::DecommissionNode{.node = cluster_.nodes[node].id, .graceful = !at_once});
}

void RmSide::Stop() {
  store_ = actor_.machine->state_store();
  actor_.machine.reset();
}

void RmSide::Restart(std::uint64_t entity) {
  actor_.machine = std::make_unique<fakes::ResourceManager>(
      RmOptionsOf(setup_.scenario, cluster_.nodes), *store_, setup_.SeedFor("rm", entity),
      kernel_.now());
  store_.reset();
}

void RmSide::GoOn() {
  actor_.paused = false;
  for (const std::uint32_t call : backlog_) kernel_.Release(call);
  backlog_.clear();
}

}  // namespace tfyarn::sim
