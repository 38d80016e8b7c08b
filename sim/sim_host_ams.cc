// SimHost and ApplicationMasters: their processes, what they say to the RM, to NodeManagers and to
// agents, and their journal and address in HDFS.
#include <algorithm>
#include <boost/mp11/algorithm.hpp>
#include <utility>

#include "core/model/check.h"
#include "core/model/response_id.h"
#include "core/model/visit.h"
#include "sim/behavior.h"
#include "sim/calls.h"
#include "sim/coverage.h"
#include "sim/sim_host.h"
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
std::optional<std::int32_t> ResubmissionOf(const JobRecord& job, const ApplicationId& application) {
  const auto found = std::find(job.applications.begin(), job.applications.end(), application);
  const auto before = static_cast<std::int32_t>(found - job.applications.begin());
  return before == 0 ? std::nullopt : std::optional(before);
}

}  // namespace

void SimHost::StartProcess(JobRecord& job, std::int32_t node, const ContainerId& container,
                           const yarn::ContainerLaunchContext& context) {
  if (LaunchRole(context.environment) == "agent") return StartAgent(job, node, context);
  const Expected<AmLaunch> launch = AmLaunchFrom(context.environment);
  TF_CHECK(launch.has_value());
  AmActor& am = cluster_.ams.Add(links_, *this, node);
  am.job = job.index;
  am.attempt = container.application_attempt;
  am.resubmission = ResubmissionOf(job, am.attempt.application);
  am.container = container;
  if (rm_.process() != nullptr) am.token = rm_.process()->AmRmTokenOf(am.attempt);
  am.staging_directory = launch->staging_directory;
  am::AmOptions options;
  options.staging_directory = am.staging_directory;
  options.rm_heartbeat = kAllocatePeriod;
  options.container_expiry = setup_.scenario.yarn.container_expiry;
  options.cluster_timestamps_from = kWallStart;
  options.surveyed = job.surveyed;
  am.machine = std::make_unique<am::ApplicationMaster>(
      setup_.doubles.am_spec ? setup_.doubles.am_spec(job.spec) : job.spec, std::move(options),
      setup_.SeedFor("am", (std::uint64_t{job.index.value} << 8) +
                               static_cast<std::uint64_t>(am.attempt.attempt)));
  am.beat.period = kAllocatePeriod;
  am.beat.round_trip = cluster_.network.PollRoundTrip(node, kRmPlace, am.id);
  cluster_.containers.at(container).am = &am;
  // One of an earlier attempt may start late, when YARN has long given it up.
  if (job.am == nullptr || job.am->attempt < am.attempt) job.am = &am;
  job.ams.push_back(am.id);
  am.Step(AmStarted{.attempt = am.attempt,
                    .container = container,
                    .address = {.host = cluster_.nodes[node].id.host, .port = kAmPort},
                    .wall = std::chrono::time_point_cast<WallTime::duration>(
                        WallAt(kernel_.now()) + cluster_.nodes[node].clock_offset),
                    .nodes = job.facts.nodes,
                    .queue_maximum = job.facts.queue_maximum,
                    .maximum_container = job.facts.maximum_container});
}

void SimHost::Hears(AmActor& am, const AmEvent& event) {
  if (setup_.options.coverage != nullptr)
    setup_.options.coverage->AmHears(kernel_.now(), am.job, am.machine->snapshot().state,
                                     am.attempt.attempt, event);
}

void SimHost::Heard(AmActor& am, AmEvent&& event) {
  trace_.Tell(trace::AmTold{.job = am.job,
                            .am_attempt = am.attempt.attempt,
                            .event = std::move(event),
                            .resubmission = am.resubmission});
}

void SimHost::Carry(AmActor& am, AmAction& action) {
  if (setup_.options.coverage != nullptr)
    setup_.options.coverage->AmOrders(kernel_.now(), am.job, action);
  trace::TraceRecord& record = trace_.Tell(trace::AmOrdered{.job = am.job,
                                                            .am_attempt = am.attempt.attempt,
                                                            .action = std::move(action),
                                                            .resubmission = am.resubmission});
  AmAction order = std::move(std::get<trace::AmOrdered>(record.fact).action);
  sabotage_.Obey(
      EffectActor::kAm, am, order, [&] { Handle(am, order); }, [&] { KillProcess(am); });
}

void SimHost::KillProcess(AmActor& am) {
  if (am.alive) CrashAm(am);
}

Party SimHost::PartyOf(const AmActor& am) const {
  return {.job = cluster_.NameOf(am.job), .task = {}, .place = am.place};
}

bool SimHost::HasQuietLink(const AmActor& am) const {
  return rm_.answers() && cluster_.network.Undisturbed(am.place, kRmPlace);
}

void SimHost::SendIdleBeat(AmActor& am, Instant at, Instant answered) {
  const AmAction order = am.OrderAtDeadline(at);
  const auto& call = std::get<CallRm>(order);
  const auto& request = std::get<yarn::AllocateRequest>(call.request);
  TF_CHECK(yarn::IsIdle(request));
  am.beat.awaited = call.call.value;
  yarn::AllocateResponse idle{.response_id = ResponseIdAfter(request.response_id, 1)};
  kernel_.AtTurnOf(am.id, answered, [this, id = am.id, call_id = call.call, idle] {
    AmActor* sender = cluster_.ams.Living(id);
    if (sender == nullptr) return;
    links_.BeatAnswered(*sender, call_id.value);
    sender->Step(RmReplied{.call = call_id, .response = idle});
  });
}

void SimHost::Vouch(AmActor& am, bool vouched, Instant last) {
  rm_.Tell(fakes::AmVouched{.attempt = am.attempt, .vouched = vouched, .last = last});
}

void SimHost::Handle(AmActor& am, AmAction& action) {
  std::visit(
      Overloaded{IgnoreAll<boost::mp11::mp_remove<AmAnnouncements, JobStateChanged>>{},
                 [&](ReadJournal&) { ReadJournalFor(am); },
                 [&](AppendJournal& append) {
                   if (sabotage_.damage() != nullptr)
                     am.damaged_appends[append.seq] = sabotage_.damage();
                   am.appends.push_back(std::move(append));
                   if (am.appends.size() == 1) AppendNext(am);
                 },
                 [&](PublishAddress& publish) { PublishAmAddress(am.id, publish); },
                 [&](CallRm& call) { AmCallsRm(am, std::move(call)); },
                 [&](CallNm& call) { AmCallsNm(am, std::move(call)); },
                 [&](CallHdfs& order) {
                   hdfs_.Call(
                       am.place, am.id, std::move(order.request),
                       [this, id = am.id, call = order.call](hdfs::HdfsResponse response) {
                         AmActor* same = cluster_.ams.Living(id);
                         if (same == nullptr) return;
                         same->Step(HdfsReplied{.call = call, .response = std::move(response)});
                       });
                 },
                 [&](SendToAgent& send) { AmSendsToAgent(am, std::move(send)); },
                 [&](ExitAm& exit) {
                   if (sabotage_.Is(Damage::kLost)) return;
                   const ContainerId container = am.container;
                   am.End();
                   kernel_.After(Duration::zero(), [this, container, code = exit.code] {
                     nms_.ProcessEnded(container, code, "");
                   });
                 },
                 [&](JobStateChanged& changed) {
                   am.state = changed.state;
                   if (const JobRecord* job = cluster_.JobAt(am.job))
                     fault_schedule_.JobStateSeen(job->name, changed.state);
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
    links_.BeatSent(am, call.call.value);
    const std::uint64_t unseen = Links::TakeUnseen(am.beat);
    if (unseen > 0)
      rm_.Tell(fakes::AmHeartbeatsElided{.attempt = am.attempt, .count = unseen, .last = heard});
  } else if (std::holds_alternative<yarn::RegisterApplicationMasterRequest>(call.request)) {
    links_.StartAnew(am);
  } else if (std::holds_alternative<yarn::FinishApplicationMasterRequest>(call.request)) {
    // No beat follows; the RM has heard of it as often as it has beaten.
    links_.Vouch(am, false);
    links_.StartAnew(am);
  }
  rm_.Call(am, std::move(caller), am.token, std::move(call.request), poll,
           [this, id = am.id, number = call.call, poll](yarn::RmResponse&& response) {
             AmActor* same = cluster_.ams.Living(id);
             if (same == nullptr) return;
             const bool latest = same->beat.awaited == number.value;
             if (poll) links_.BeatAnswered(*same, number.value);
             // Where the RM does not know the AM, its next beat is not idle either. The AM may not
             // have taken the answer in, and beat on.
             if (poll && latest && std::holds_alternative<yarn::RpcError>(response)) {
               same->beat.last_sent.reset();
               links_.Update(*same);
             }
             const auto* allocated = std::get_if<yarn::AllocateResponse>(&response);
             // The host keeps the secrets: a rolled token replaces the one that connections are
             // opened with.
             if (allocated != nullptr && allocated->am_rm_token)
               same->token = *allocated->am_rm_token;
             same->Step(RmReplied{.call = number, .response = std::move(response)});
           });
}

void SimHost::AmCallsNm(AmActor& am, CallNm call) {
  const std::optional<std::int32_t> node = cluster_.nodes.Find(call.node.host);
  TF_CHECK(node.has_value());
  const Duration latency = cluster_.network.Latency(am.place, *node, am.id);
  const auto answer = [this, id = am.id, number = call.call, node_id = call.node](
                          Duration back, yarn::NmResponse response) {
    kernel_.After(back, [this, id, number, node_id, response = std::move(response)]() mutable {
      AmActor* same = cluster_.ams.Living(id);
      if (same == nullptr) return;
      same->Step(NmReplied{.call = number, .node = node_id, .response = std::move(response)});
    });
  };
  const MessageFate fate = message_faults_.FateOf(am, [&] { return RequestName(call.request); });
  if (sabotage_.Is(Damage::kFails)) return answer(2 * latency, sabotage_.RpcAnswer());
  if (fate.dropped || sabotage_.Is(Damage::kLost) || !cluster_.network.Reachable(am.place, *node) ||
      cluster_.network.Lost(am.place, *node, am.id)) {
    return answer(kRpcTimeout, NotAnswered(call.node.host));
  }
  const bool answer_lost = sabotage_.Is(Damage::kUnanswered) ||
                           !cluster_.network.Reachable(*node, am.place) ||
                           cluster_.network.Lost(*node, am.place, am.id);
  fakes::Caller caller;
  caller.kind = fakes::CallerKind::kAm;
  caller.attempt = am.attempt;
  kernel_.After(latency + fate.delay, [this, node = *node, latency, answer, answer_lost,
                                       caller = std::move(caller), copies = fate.copies,
                                       call = std::move(call)]() mutable {
    if (cluster_.nodes[node].down > 0) return answer(kRpcTimeout, NotAnswered(call.node.host));
    NmActor* nm = cluster_.NmOn(node);
    if (nm == nullptr) return answer(latency, Refused(call.node.host));
    for (int copy = 1; copy < copies; ++copy) {
      static_cast<void>(ServeCall(*nm, caller, call.nm_token, call.request));
    }
    yarn::NmResponse response = ServeCall(*nm, caller, call.nm_token, std::move(call.request));
    if (answer_lost) return answer(kRpcTimeout, NotAnswered(call.node.host));
    answer(latency, std::move(response));
  });
}

void SimHost::AmSendsToAgent(AmActor& am, SendToAgent send) {
  AgentActor* agent = cluster_.AgentIn(send.container);
  if (agent == nullptr) return;
  const bool beat_answer = IsIdle(send.message);
  const MessageFate fate =
      message_faults_.FateOf(*agent, [&] { return MessageName(send.message); });
  if (fate.dropped || sabotage_.damage() != nullptr ||
      cluster_.network.Lost(am.place, agent->place, am.id) ||
      !cluster_.network.Reachable(am.place, agent->place))
    return;
  const Duration latency = beat_answer && cluster_.network.Undisturbed(am.place, agent->place)
                               ? agent->beat.round_trip
                               : cluster_.network.Latency(am.place, agent->place, am.id);
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
  AgentActor* agent = cluster_.agents.Living(id);
  if (agent == nullptr) return;
  // One that stood still may yet take in an agent that reports to its successor.
  const bool is_its_am = said.am_attempt == agent->machine->snapshot().am_attempt;
  if (std::holds_alternative<AgentAccepted>(said.message) && agent->am != from && is_its_am) {
    links_.Update(*agent);
    agent->am = from;
    // Its beats to this AM are on a grid of their own, which starts with the first of them.
    agent->beat.last_sent.reset();
  }
  agent->Step(std::move(said));
}

/// Its process is killed.
void SimHost::CrashAm(AmActor& am) {
  const ContainerId container = am.container;
  am.End();
  nms_.ProcessEnded(container, 128 + kSigkill, "");
}

void SimHost::End(AmActor& am) {
  if (!am.alive) return;
  am.alive = false;
  // Its RM and its agents hear nothing from it any more.
  links_.Update(am);
  if (JobRecord* job = cluster_.JobAt(am.job)) {
    if (job->am == &am) job->am = nullptr;
    for (AgentActor* agent : std::vector<AgentActor*>(job->agents)) {
      if (!agent->alive || agent->am != am.id) continue;
      links_.Update(*agent);
      agent->am = 0;
    }
  }
  const auto container = cluster_.containers.find(am.container);
  if (container != cluster_.containers.end()) container->second.am = nullptr;
  // The object stays until the step that runs now is over.
  kernel_.After(Duration::zero(), [this, id = am.id] { cluster_.ams.Remove(id); });
}

// ---------------------------------------------------------------- journal and address

void SimHost::ReadJournalFor(AmActor& am) {
  const std::string path = am.staging_directory + "/journal";
  hdfs_.Call(am.place, am.id, hdfs::ReadRequest{.path = path, .writer = WriterName(am)},
             [this, id = am.id](hdfs::HdfsResponse response) {
               AmActor* same = cluster_.ams.Living(id);
               if (same == nullptr) return;
               if (auto* read = std::get_if<hdfs::ReadResponse>(&response)) {
                 return same->Step(JournalRead{.bytes = std::move(read->bytes)});
               }
               auto* error = std::get_if<hdfs::HdfsError>(&response);
               TF_CHECK(error != nullptr);
               if (error->code == hdfs::HdfsErrorCode::kNotFound) return same->Step(JournalRead{});
               same->Step(JournalFailed{.seq = JournalSeq{}, .error = std::move(*error)});
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
    if (!std::holds_alternative<hdfs::HdfsError>(response))
      trace_.JournalStored(job, application, bytes);
  };
  const auto answer = [this, id = am.id, seq = append.seq](const hdfs::HdfsResponse& response) {
    AppendAnswered(id, seq, response);
  };
  if (silent || torn) {
    hdfs_.Call(am.place, am.id, std::move(request), stored);
    return kernel_.After(kRpcTimeout, [answer] { answer(NameNodeSilent()); });
  }
  sabotage_.Within(damage, [&] {
    hdfs_.Call(am.place, am.id, std::move(request),
               [stored, answer](const hdfs::HdfsResponse& response) {
                 stored(response);
                 answer(response);
               });
  });
}

void SimHost::AppendAnswered(std::uint32_t id, JournalSeq seq, const hdfs::HdfsResponse& response) {
  AmActor* am = cluster_.ams.Living(id);
  if (am == nullptr) return;
  am->appends.pop_front();
  if (!am->appends.empty()) AppendNext(*am);
  if (const auto* error = std::get_if<hdfs::HdfsError>(&response))
    return am->Step(JournalFailed{.seq = seq, .error = *error});
  am->Step(JournalAppended{.seq = seq});
}

void SimHost::PublishAmAddress(std::uint32_t id, const PublishAddress& publish) {
  const AmActor* am = cluster_.ams.Living(id);
  if (am == nullptr || cluster_.JobAt(am->job) == nullptr) return;
  hdfs::AppendRequest append{.path = am->staging_directory + "/am-address",
                             .bytes = ToText(AmAddress{publish.am_attempt, publish.address}),
                             .writer = {}};
  hdfs_.Call(am->place, id, std::move(append),
             [this, id, publish](const hdfs::HdfsResponse& response) {
               if (!std::holds_alternative<hdfs::HdfsError>(response)) return;
               kernel_.After(kPublishRetry, [this, id, publish] { PublishAmAddress(id, publish); });
             });
}

}  // namespace tfyarn::sim
