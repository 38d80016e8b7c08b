// SimHost and ApplicationMasters: their processes, what they say to the RM, to NodeManagers and to
// agents, and their journal and address in HDFS.
#include <algorithm>
#include <boost/mp11/algorithm.hpp>
#include <utility>

#include "core/model/check.h"
#include "core/model/visit.h"
#include "sim/behavior.h"
#include "sim/coverage.h"
#include "sim/sim_host.h"
#include "sim/sim_host_calls.h"
#include "sim/sim_host_sabotage.h"
#include "sim/yarn_options.h"

namespace tfyarn::sim {
namespace {

constexpr Duration kPublishRetry = 1s;
constexpr Duration kAllocatePeriod = 1s;
constexpr std::int32_t kAmPort = 40000;

std::string WriterName(const AmActor& am) {
  return ToString(am.attempt);
}

/// How many of the job's applications came before this one; nullopt for the first.
std::optional<std::int32_t> ResubmissionOf(const JobRt& job, const ApplicationId& application) {
  const auto found = std::find(job.applications.begin(), job.applications.end(), application);
  const auto before = static_cast<std::int32_t>(found - job.applications.begin());
  return before == 0 ? std::nullopt : std::optional(before);
}

}  // namespace

void SimHost::StartAm(JobRt& job, std::int32_t node, const ContainerId& container,
                      std::string staging_directory) {
  const auto id = static_cast<std::uint32_t>(actors_.size());
  auto actor = std::make_unique<AmActor>(ActorKind::kAm, id, node);
  actor->job = job.index;
  actor->attempt = container.application_attempt;
  actor->resubmission = ResubmissionOf(job, actor->attempt.application);
  actor->container = container;
  if (rm_ != nullptr) actor->token = rm_->AmRmTokenOf(actor->attempt);
  actor->staging_directory = std::move(staging_directory);
  am::AmOptions options;
  options.staging_directory = actor->staging_directory;
  options.rm_heartbeat = kAllocatePeriod;
  options.container_expiry = scenario_.yarn.container_expiry;
  options.cluster_timestamps_from = kWallStart;
  options.surveyed = job.surveyed;
  actor->machine = std::make_unique<am::ApplicationMaster>(
      doubles_.am_spec ? doubles_.am_spec(job.spec) : job.spec, std::move(options),
      SeedFor("am", (std::uint64_t{job.index.value} << 8) +
                        static_cast<std::uint64_t>(actor->attempt.attempt)));
  actor->beat.period = kAllocatePeriod;
  actor->beat.round_trip = network_.PollRoundTrip(node, kRmPlace, id);
  containers_.at(container).actor = id;
  // One of an earlier attempt may start late, when YARN has long given it up.
  const bool newest =
      job.am == 0 || static_cast<AmActor&>(*actors_[job.am]).attempt < actor->attempt;
  if (newest) job.am = id;
  job.ams.push_back(id);
  AmActor& am = *actor;
  actors_.push_back(std::move(actor));
  StepAm(am, AmStarted{.attempt = am.attempt,
                       .container = container,
                       .address = {.host = nodes_[node].id.host, .port = kAmPort},
                       .wall = std::chrono::time_point_cast<WallTime::duration>(
                           WallNow() + nodes_[node].clock_offset),
                       .nodes = job.facts.nodes,
                       .queue_maximum = job.facts.queue_maximum,
                       .maximum_container = job.facts.maximum_container});
}

AmActor* SimHost::AmOf(const JobRt& job, const ApplicationAttemptId& attempt) {
  for (const std::uint32_t id : job.ams) {
    Actor* actor = Living(id);
    if (actor == nullptr) continue;
    auto& am = static_cast<AmActor&>(*actor);
    if (am.attempt == attempt) return &am;
  }
  return nullptr;
}

void SimHost::StepAm(AmActor& am, AmEvent event) {
  if (am.paused) {
    am.inbox.push_back(std::move(event));
    return;
  }
  CatchUp(am);
  if (options_.coverage != nullptr)
    options_.coverage->AmHears(kernel_.now(), am.job, am.machine->snapshot().state,
                               am.attempt.attempt, event);
  SpareList<AmAction> actions(spare_am_actions_);
  StepMachine(doubles_.am, *am.machine, kernel_.now(), event, *actions);
  const std::uint32_t id = am.id;
  Trace(trace::AmTold{.job = am.job,
                      .am_attempt = am.attempt.attempt,
                      .event = std::move(event),
                      .resubmission = am.resubmission});
  for (AmAction& action : *actions) {
    if (options_.coverage != nullptr) options_.coverage->AmOrders(kernel_.now(), am.job, action);
    trace::TraceRecord& record = Trace(trace::AmOrdered{.job = am.job,
                                                        .am_attempt = am.attempt.attempt,
                                                        .action = std::move(action),
                                                        .resubmission = am.resubmission});
    AmAction order = std::move(std::get<trace::AmOrdered>(record.fact).action);
    Obey(am, order);
    if (actors_[id] == nullptr || !am.alive) return;
  }
  Reschedule(am);
}

void SimHost::HandleAm(AmActor& am, AmAction& action) {
  std::visit(Overloaded{IgnoreAll<boost::mp11::mp_remove<AmAnnouncements, JobStateChanged>>{},
                        [&](ReadJournal&) { ReadJournalFor(am); },
                        [&](AppendJournal& append) {
                          if (damage_ != nullptr) am.damaged_appends[append.seq] = damage_;
                          am.appends.push_back(std::move(append));
                          if (am.appends.size() == 1) AppendNext(am);
                        },
                        [&](PublishAddress& publish) { PublishAmAddress(am.id, publish); },
                        [&](CallRm& call) { AmCallsRm(am, std::move(call)); },
                        [&](CallNm& call) { AmCallsNm(am, std::move(call)); },
                        [&](CallHdfs& order) {
                          CallNameNode(
                              am.place, am.id, std::move(order.request),
                              [this, id = am.id, call = order.call](hdfs::HdfsResponse response) {
                                Actor* actor = Living(id);
                                if (actor == nullptr) return;
                                StepAm(static_cast<AmActor&>(*actor),
                                       HdfsReplied{.call = call, .response = std::move(response)});
                              });
                        },
                        [&](SendToAgent& send) { AmSendsToAgent(am, std::move(send)); },
                        [&](ExitAm& exit) {
                          if (Damaged(Damage::kLost)) return;
                          const ContainerId container = am.container;
                          EndAm(am);
                          kernel_.After(Duration::zero(), [this, container, code = exit.code] {
                            ContainerProcessEnded(container, code, "");
                          });
                        },
                        [&](JobStateChanged& changed) {
                          am.state = changed.state;
                          const auto job = jobs_.find(am.job.value);
                          if (job != jobs_.end()) JobStateSeen(*job->second, changed.state);
                        }},
             action);
}

void SimHost::AmCallsRm(AmActor& am, CallRm call) {
  fakes::Caller caller;
  caller.kind = fakes::CallerKind::kAm;
  caller.attempt = am.attempt;
  const bool poll = std::holds_alternative<yarn::AllocateRequest>(call.request);
  if (poll) {
    // This one may be lost on its way: the RM has heard the one before. When that is unknown the RM
    // was told as the link was disturbed.
    const Instant heard = am.beat.last_sent.value_or(Instant{});
    BeatSent(am, call.call.value);
    TellRmOfBeats(am, TakeUnseen(am.beat), heard);
  } else if (std::holds_alternative<yarn::RegisterApplicationMasterRequest>(call.request)) {
    StartBeatsAnew(am);
  } else if (std::holds_alternative<yarn::FinishApplicationMasterRequest>(call.request)) {
    // No beat follows; the RM has heard of it as often as it has beaten.
    Vouch(am, false);
    StartBeatsAnew(am);
  }
  SendToRm(am, std::move(caller), am.token, std::move(call.request), poll,
           [this, id = am.id, number = call.call, poll](yarn::RmResponse&& response) {
             Actor* actor = Living(id);
             if (actor == nullptr) return;
             const bool latest = actor->beat.awaited == number.value;
             if (poll) BeatAnswered(*actor, number.value);
             // Where the RM does not know the AM, its next beat is not idle either. The AM may not
             // have taken the answer in, and beat on.
             if (poll && latest && std::holds_alternative<yarn::RpcError>(response)) {
               actor->beat.last_sent.reset();
               UpdateLink(*actor);
             }
             const auto* allocated = std::get_if<yarn::AllocateResponse>(&response);
             // The host keeps the secrets: a rolled token replaces the one that connections are
             // opened with.
             if (allocated != nullptr && allocated->am_rm_token)
               static_cast<AmActor&>(*actor).token = *allocated->am_rm_token;
             StepAm(static_cast<AmActor&>(*actor),
                    RmReplied{.call = number, .response = std::move(response)});
           });
}

void SimHost::AmCallsNm(AmActor& am, CallNm call) {
  const std::optional<std::int32_t> node = nodes_.Find(call.node.host);
  TF_CHECK(node.has_value());
  const Duration latency = network_.Latency(am.place, *node, am.id);
  const auto answer = [this, id = am.id, number = call.call, node_id = call.node](
                          Duration back, yarn::NmResponse response) {
    kernel_.After(back, [this, id, number, node_id, response = std::move(response)]() mutable {
      Actor* actor = Living(id);
      if (actor == nullptr) return;
      StepAm(static_cast<AmActor&>(*actor),
             NmReplied{.call = number, .node = node_id, .response = std::move(response)});
    });
  };
  const MessageFate fate = FateOf(am, [&] { return RequestName(call.request); });
  if (Damaged(Damage::kFails)) return answer(2 * latency, RpcErrorOfDamage());
  if (fate.dropped || Damaged(Damage::kLost) || !network_.Reachable(am.place, *node) ||
      network_.Lost(am.place, *node, am.id)) {
    return answer(kRpcTimeout, NotAnswered(call.node.host));
  }
  const bool answer_lost = Damaged(Damage::kUnanswered) || !network_.Reachable(*node, am.place) ||
                           network_.Lost(*node, am.place, am.id);
  fakes::Caller caller;
  caller.kind = fakes::CallerKind::kAm;
  caller.attempt = am.attempt;
  kernel_.After(latency + fate.delay, [this, node = *node, latency, answer, answer_lost,
                                       caller = std::move(caller), copies = fate.copies,
                                       call = std::move(call)]() mutable {
    if (nodes_[node].down > 0) return answer(kRpcTimeout, NotAnswered(call.node.host));
    const std::uint32_t index = nm_of_node_[static_cast<std::size_t>(node)];
    if (index == 0) return answer(latency, Refused(call.node.host));
    auto& nm = static_cast<NmActor&>(*actors_[index]);
    for (int copy = 1; copy < copies; ++copy) {
      static_cast<void>(DeliverToNm(nm, caller, call.nm_token, call.request));
    }
    yarn::NmResponse response = DeliverToNm(nm, caller, call.nm_token, std::move(call.request));
    if (answer_lost) return answer(kRpcTimeout, NotAnswered(call.node.host));
    answer(latency, std::move(response));
  });
}

void SimHost::AmSendsToAgent(AmActor& am, SendToAgent send) {
  AgentActor* agent = AgentOf(send.container);
  if (agent == nullptr) return;
  const bool beat_answer = IsIdle(send.message);
  const MessageFate fate = FateOf(*agent, [&] { return MessageName(send.message); });
  if (fate.dropped || damage_ != nullptr || network_.Lost(am.place, agent->place, am.id) ||
      !network_.Reachable(am.place, agent->place))
    return;
  const Duration latency = beat_answer && network_.Undisturbed(am.place, agent->place)
                               ? agent->beat.round_trip
                               : network_.Latency(am.place, agent->place, am.id);
  for (int copy = 0; copy < fate.copies; ++copy) {
    auto deliver =
        [this, id = agent->id, from = am.id,
         said = AmSaid{.message = send.message, .am_attempt = am.attempt.attempt}]() mutable {
          AgentHears(id, from, std::move(said));
        };
    if (beat_answer) {
      kernel_.AtTurnOf(agent->id, kernel_.now() + latency + fate.delay, std::move(deliver));
    } else {
      kernel_.After(latency + fate.delay, std::move(deliver));
    }
  }
}

void SimHost::AgentHears(std::uint32_t id, std::uint32_t from, AmSaid said) {
  Actor* actor = Living(id);
  if (actor == nullptr) return;
  auto& agent = static_cast<AgentActor&>(*actor);
  if (agent.paused) {
    agent.inbox.push_back(std::move(said));
    return;
  }
  // One that stood still may yet take in an agent that reports to its successor.
  const bool is_its_am = said.am_attempt == agent.machine->snapshot().am_attempt;
  if (std::holds_alternative<AgentAccepted>(said.message) && agent.am != from && is_its_am) {
    UpdateLink(agent);
    agent.am = from;
    // Its beats to this AM are on a grid of their own, which starts with the first of them.
    agent.beat.last_sent.reset();
  }
  StepAgent(agent, std::move(said));
}

/// Its process is killed.
void SimHost::CrashAm(AmActor& am) {
  const ContainerId container = am.container;
  EndAm(am);
  ContainerProcessEnded(container, 128 + kSigkill, "");
}

void SimHost::EndAm(AmActor& am) {
  if (!am.alive) return;
  am.alive = false;
  // Its RM and its agents hear nothing from it any more.
  UpdateLink(am);
  const auto job = jobs_.find(am.job.value);
  if (job != jobs_.end()) {
    if (job->second->am == am.id) job->second->am = 0;
    for (const std::uint32_t id : std::vector<std::uint32_t>(job->second->agents)) {
      Actor* actor = Living(id);
      if (actor == nullptr) continue;
      auto& agent = static_cast<AgentActor&>(*actor);
      if (agent.am != am.id) continue;
      UpdateLink(agent);
      agent.am = 0;
    }
  }
  const auto container = containers_.find(am.container);
  if (container != containers_.end()) container->second.actor = 0;
  // The object stays until the step that runs now is over.
  kernel_.After(Duration::zero(), [this, id = am.id] { actors_[id].reset(); });
}

// ---------------------------------------------------------------- journal and address

void SimHost::ReadJournalFor(AmActor& am) {
  const std::string path = am.staging_directory + "/journal";
  CallNameNode(am.place, am.id, hdfs::ReadRequest{.path = path, .writer = WriterName(am)},
               [this, id = am.id](hdfs::HdfsResponse response) {
                 Actor* actor = Living(id);
                 if (actor == nullptr) return;
                 auto& same = static_cast<AmActor&>(*actor);
                 if (auto* read = std::get_if<hdfs::ReadResponse>(&response)) {
                   return StepAm(same, JournalRead{.bytes = std::move(read->bytes)});
                 }
                 auto* error = std::get_if<hdfs::HdfsError>(&response);
                 TF_CHECK(error != nullptr);
                 if (error->code == hdfs::HdfsErrorCode::kNotFound)
                   return StepAm(same, JournalRead{});
                 StepAm(same, JournalFailed{.seq = JournalSeq{}, .error = std::move(*error)});
               });
}

void SimHost::AppendNext(AmActor& am) {
  const AppendJournal& append = am.appends.front();
  const auto damaged = am.damaged_appends.find(append.seq);
  const Sabotage* damage = damaged == am.damaged_appends.end() ? nullptr : damaged->second;
  if (damage != nullptr) am.damaged_appends.erase(damaged);
  hdfs::AppendRequest request{
      .path = am.staging_directory + "/journal", .bytes = append.bytes, .writer = WriterName(am)};
  const bool torn = damage != nullptr && damage->damage == Damage::kTorn;
  const bool silent = damage != nullptr && damage->damage == Damage::kUnanswered;
  if (torn) request.bytes.resize(request.bytes.size() / 2);
  const auto stored = [this, job = am.job, application = am.attempt.application,
                       bytes = request.bytes](const hdfs::HdfsResponse& response) {
    if (!std::holds_alternative<hdfs::HdfsError>(response)) JournalStored(job, application, bytes);
  };
  const auto answer = [this, id = am.id, seq = append.seq](const hdfs::HdfsResponse& response) {
    AppendAnswered(id, seq, response);
  };
  const std::uint32_t id = am.id;
  const Place place = am.place;
  damage_ = silent || torn ? nullptr : damage;
  if (silent || torn) {
    CallNameNode(place, id, std::move(request), stored);
    return kernel_.After(kRpcTimeout, [answer] { answer(NameNodeSilent()); });
  }
  CallNameNode(place, id, std::move(request), [stored, answer](const hdfs::HdfsResponse& response) {
    stored(response);
    answer(response);
  });
  damage_ = nullptr;
}

void SimHost::JournalStored(trace::JobIndex job, const ApplicationId& application,
                            std::string_view bytes) {
  checkers_.JournalStored(job, application, bytes);
  if (tally_) tally_->Stored(job, application, bytes);
}

void SimHost::AppendAnswered(std::uint32_t id, JournalSeq seq, const hdfs::HdfsResponse& response) {
  Actor* actor = Living(id);
  if (actor == nullptr) return;
  auto& am = static_cast<AmActor&>(*actor);
  am.appends.pop_front();
  if (!am.appends.empty()) AppendNext(am);
  if (const auto* error = std::get_if<hdfs::HdfsError>(&response))
    return StepAm(am, JournalFailed{.seq = seq, .error = *error});
  StepAm(am, JournalAppended{.seq = seq});
}

void SimHost::PublishAmAddress(std::uint32_t am, const PublishAddress& publish) {
  const Actor* actor = Living(am);
  if (actor == nullptr) return;
  const auto& its = static_cast<const AmActor&>(*actor);
  if (!jobs_.contains(its.job.value)) return;
  hdfs::AppendRequest append{.path = its.staging_directory + "/am-address",
                             .bytes = ToText(AmAddress{publish.am_attempt, publish.address}),
                             .writer = {}};
  CallNameNode(
      actor->place, am, std::move(append), [this, am, publish](const hdfs::HdfsResponse& response) {
        if (!std::holds_alternative<hdfs::HdfsError>(response)) return;
        kernel_.After(kPublishRetry, [this, am, publish] { PublishAmAddress(am, publish); });
      });
}

}  // namespace tfyarn::sim
