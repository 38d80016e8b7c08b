#include "sim/application_masters.h"

#include <algorithm>
#include <boost/mp11/algorithm.hpp>
#include <optional>
#include <string>
#include <utility>

#include "core/model/check.h"
#include "core/model/launch.h"
#include "core/model/response_id.h"
#include "core/model/visit.h"
#include "sim/behavior.h"
#include "sim/calls.h"
#include "sim/coverage.h"
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

ApplicationMasters::ApplicationMasters(Kernel& kernel, Links& links, const RunSetup& setup,
                                       Cluster& cluster, MessageFaults& message_faults,
                                       FaultSchedule& faults, TraceTap& trace,
                                       SabotageDesk& sabotage, HdfsSide& hdfs, RmSide& rm,
                                       NmSide& nms, Agents& agents)
    : Driver(kernel, links, setup),
      cluster_(cluster),
      message_faults_(message_faults),
      faults_(faults),
      trace_(trace),
      sabotage_(sabotage),
      hdfs_(hdfs),
      rm_(rm),
      nms_(nms),
      agents_(agents) {
  nms.SetStarter("am", *this);
}

void ApplicationMasters::StartProcess(JobRecord& job, std::int32_t node,
                                      const ContainerId& container,
                                      const yarn::ContainerLaunchContext& context) {
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

void ApplicationMasters::Hears(AmActor& am, const AmEvent& event) {
  if (setup_.options.coverage != nullptr)
    setup_.options.coverage->AmHears(kernel_.now(), am.job, am.machine->snapshot().state,
                                     am.attempt.attempt, event);
}

void ApplicationMasters::Heard(AmActor& am, AmEvent&& event) {
  trace_.Tell(trace::AmTold{.job = am.job,
                            .am_attempt = am.attempt.attempt,
                            .event = std::move(event),
                            .resubmission = am.resubmission});
}

void ApplicationMasters::Carry(AmActor& am, AmAction& action) {
  if (setup_.options.coverage != nullptr)
    setup_.options.coverage->AmOrders(kernel_.now(), am.job, action);
  trace::TraceRecord& record = trace_.Tell(trace::AmOrdered{.job = am.job,
                                                            .am_attempt = am.attempt.attempt,
                                                            .action = std::move(action),
                                                            .resubmission = am.resubmission});
  AmAction order = std::move(std::get<trace::AmOrdered>(record.fact).action);
  sabotage_.Obey(
      EffectActor::kAm, am, order, [&] { Obey(am, order); }, [&] { Kill(am); });
}

Party ApplicationMasters::PartyOf(const AmActor& am) const {
  return {.job = cluster_.NameOf(am.job), .task = {}, .place = am.place};
}

bool ApplicationMasters::HasQuietLink(const AmActor& am) const {
  return rm_.answers() && cluster_.network.Undisturbed(am.place, kRmPlace);
}

void ApplicationMasters::SendIdleBeat(AmActor& am, Instant at, Instant answered) {
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

void ApplicationMasters::Vouch(AmActor& am, bool vouched, Instant last) {
  rm_.Tell(fakes::AmVouched{.attempt = am.attempt, .vouched = vouched, .last = last});
}

void ApplicationMasters::Obey(AmActor& am, AmAction& order) {
  std::visit(Overloaded{IgnoreAll<boost::mp11::mp_remove<AmAnnouncements, JobStateChanged>>{},
                        [&](ReadJournal&) { ReadJournalFor(am); },
                        [&](AppendJournal& append) {
                          if (sabotage_.damage() != nullptr)
                            am.damaged_appends[append.seq] = sabotage_.damage();
                          am.appends.push_back(std::move(append));
                          if (am.appends.size() == 1) AppendNext(am);
                        },
                        [&](PublishAddress& publish) { Publish(am.id, publish); },
                        [&](CallRm& call) { CallRmFor(am, std::move(call)); },
                        [&](CallNm& call) { CallNmFor(am, std::move(call)); },
                        [&](CallHdfs& call) { hdfs_.CallFor(cluster_.ams, am, std::move(call)); },
                        [&](SendToAgent& send) { Send(am, std::move(send)); },
                        [&](ExitAm& exit) { Exit(am, exit); },
                        [&](JobStateChanged& changed) { ChangeState(am, changed.state); }},
             order);
}

void ApplicationMasters::Exit(AmActor& am, const ExitAm& exit) {
  if (sabotage_.Is(Damage::kLost)) return;
  const ContainerId container = am.container;
  am.End();
  kernel_.After(Duration::zero(),
                [this, container, code = exit.code] { nms_.ProcessEnded(container, code, ""); });
}

void ApplicationMasters::ChangeState(AmActor& am, JobState state) {
  am.state = state;
  if (const JobRecord* job = cluster_.JobAt(am.job)) faults_.JobStateSeen(job->name, state);
}

void ApplicationMasters::CallRmFor(AmActor& am, CallRm call) {
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
             if (AmActor* same = cluster_.ams.Living(id))
               TakeRmAnswer(*same, number, poll, std::move(response));
           });
}

void ApplicationMasters::TakeRmAnswer(AmActor& am, CallId call, bool poll,
                                      yarn::RmResponse&& response) {
  const bool latest = am.beat.awaited == call.value;
  if (poll) links_.BeatAnswered(am, call.value);
  // Where the RM does not know the AM, its next beat is not idle either. The AM may not have taken
  // the answer in, and beat on.
  if (poll && latest && std::holds_alternative<yarn::RpcError>(response)) {
    am.beat.last_sent.reset();
    links_.Update(am);
  }
  const auto* allocated = std::get_if<yarn::AllocateResponse>(&response);
  // The host keeps the secrets: a rolled token replaces the one that connections are opened with.
  if (allocated != nullptr && allocated->am_rm_token) am.token = *allocated->am_rm_token;
  am.Step(RmReplied{.call = call, .response = std::move(response)});
}

void ApplicationMasters::CallNmFor(AmActor& am, CallNm call) {
  const std::optional<std::int32_t> node = cluster_.nodes.Find(call.node.host);
  TF_CHECK(node.has_value());
  const Duration latency = cluster_.network.Latency(am.place, *node, am.id);
  const auto answer = [this, id = am.id, number = call.call, node_id = call.node](
                          Duration back, yarn::NmResponse response) {
    cluster_.ams.StepAfter(
        kernel_, back, id,
        NmReplied{.call = number, .node = node_id, .response = std::move(response)});
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

void ApplicationMasters::Send(AmActor& am, SendToAgent send) {
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
          agents_.HearAm(id, from, std::move(said));
        };
    if (beat_answer) {
      kernel_.AtTurnOf(agent->id, kernel_.now() + latency + fate.delay, std::move(deliver));
    } else {
      kernel_.After(latency + fate.delay, std::move(deliver));
    }
  }
}

void ApplicationMasters::Kill(AmActor& am) {
  if (!am.alive) return;
  const ContainerId container = am.container;
  am.End();
  nms_.ProcessKilled(container);
}

void ApplicationMasters::End(AmActor& am) {
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
  cluster_.ams.RemoveAfterStep(kernel_, am.id);
}

// ---------------------------------------------------------------- journal and address

void ApplicationMasters::ReadJournalFor(AmActor& am) {
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

void ApplicationMasters::AppendNext(AmActor& am) {
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
  const bool unheard = silent || torn;
  sabotage_.Within(unheard ? nullptr : damage, [&] {
    hdfs_.Call(am.place, am.id, std::move(request),
               [stored, answer, unheard](const hdfs::HdfsResponse& response) {
                 stored(response);
                 if (!unheard) answer(response);
               });
  });
  if (unheard) kernel_.After(kRpcTimeout, [answer] { answer(NameNodeSilent()); });
}

void ApplicationMasters::AppendAnswered(std::uint32_t id, JournalSeq seq,
                                        const hdfs::HdfsResponse& response) {
  AmActor* am = cluster_.ams.Living(id);
  if (am == nullptr) return;
  am->appends.pop_front();
  if (!am->appends.empty()) AppendNext(*am);
  if (const auto* error = std::get_if<hdfs::HdfsError>(&response))
    return am->Step(JournalFailed{.seq = seq, .error = *error});
  am->Step(JournalAppended{.seq = seq});
}

void ApplicationMasters::Publish(std::uint32_t id, const PublishAddress& publish) {
  const AmActor* am = cluster_.ams.Living(id);
  if (am == nullptr || cluster_.JobAt(am->job) == nullptr) return;
  hdfs::AppendRequest append{.path = am->staging_directory + "/am-address",
                             .bytes = ToText(AmAddress{publish.am_attempt, publish.address}),
                             .writer = {}};
  hdfs_.Call(am->place, id, std::move(append),
             [this, id, publish](const hdfs::HdfsResponse& response) {
               if (!std::holds_alternative<hdfs::HdfsError>(response)) return;
               kernel_.After(kPublishRetry, [this, id, publish] { Publish(id, publish); });
             });
}

// ---------------------------------------------------------------- processes that stand still

void ApplicationMasters::Pause(AmActor& am, std::uint64_t fault) {
  paused_by_[fault].push_back(am.id);
  if (++am.pauses > 1) return;
  am.paused = true;
  UpdateLinks(am);
}

void ApplicationMasters::GoOn(std::uint64_t fault) {
  for (const std::uint32_t id : paused_by_[fault]) {
    AmActor* am = cluster_.ams.Living(id);
    if (am == nullptr || --am->pauses > 0) continue;
    am->paused = false;
    UpdateLinks(*am);
    cluster_.ams.EmptyInbox(kernel_, *am);
    links_.Reschedule(*am);
  }
  paused_by_.erase(fault);
}

void ApplicationMasters::UpdateLinks(AmActor& am) {
  links_.Update(am);
  const JobRecord* job = cluster_.JobAt(am.job);
  if (job == nullptr) return;
  for (AgentActor* agent : std::vector<AgentActor*>(job->agents)) links_.Update(*agent);
}

}  // namespace tfyarn::sim
