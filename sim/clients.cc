#include "sim/clients.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <variant>

#include "core/model/check.h"
#include "core/model/visit.h"
#include "sim/calls.h"
#include "sim/yarn_options.h"

namespace tfyarn::sim {
namespace {

/// After a job's end, on a network that loses nothing.
constexpr Duration kLeakCheck = 60s;
/// A node whose call was lost says so again after kRpcTimeout, hears what to stop with one beat,
/// and that it has is known with the next.
constexpr Duration kHeardAgain = kRpcTimeout + 5s;
/// Queues of real clusters hold applications for days; a user who waits less says so with
/// deadlines.am_start. The field table documents this default.
constexpr Duration kAmStart = 7 * 24h;
/// Up to so many jobs every checkpoint is an event and shows in the report.
constexpr std::uint64_t kMaxDetailedJobs = 1000;

/// Whether a client in this state asks for reports periodically.
bool IsPolling(client::ClientState state) {
  return state == client::ClientState::kWatching || state == client::ClientState::kKilling;
}

}  // namespace

Clients::Clients(Kernel& kernel, Links& links, const RunSetup& setup, Cluster& cluster,
                 MessageFaults& message_faults, FaultSchedule& faults, TraceTap& trace,
                 SabotageDesk& sabotage, HdfsSide& hdfs, Workloads& workloads, RmSide& rm,
                 const WorldView& world)
    : Driver(kernel, links, setup),
      cluster_(cluster),
      message_faults_(message_faults),
      faults_(faults),
      trace_(trace),
      sabotage_(sabotage),
      hdfs_(hdfs),
      workloads_(workloads),
      rm_(rm),
      world_(world),
      arrivals_(setup.scenario, cluster.nodes.largest().gpus, setup.seed) {
  rm.SetJobEnds(*this);
}

// ---------------------------------------------------------------- arrivals and clients

void Clients::SubmitNextArrival() {
  const std::optional<Instant> next = arrivals_.next();
  if (!next || *next > setup_.horizon) return;
  kernel_.At(std::max(*next, kernel_.now()), [this] {
    CreateJob(arrivals_.Take());
    SubmitNextArrival();
  });
}

void Clients::CreateJob(std::shared_ptr<const config::JobConfig> config) {
  const trace::JobIndex index(static_cast<std::uint32_t>(jobs_created_++));
  auto owned = std::make_unique<JobRecord>();
  JobRecord& job = *owned;
  job.index = index;
  job.config = std::move(config);
  job.spec = std::shared_ptr<const JobSpec>(job.config, &job.config->spec);
  job.name = job.spec->name;
  job.staging_directory = fmt::format("/user/{}/.tfyarn", job.spec->user);
  job.workload = std::make_unique<JobWorkload>(job.config, index, setup_.seed,
                                               /*detailed=*/arrivals_.total() <= kMaxDetailedJobs);
  cluster_.jobs.emplace(index.value, std::move(owned));
  cluster_.job_by_name[job.name] = index.value;
  ++jobs_alive_;

  std::int64_t gpus = 0;
  for (const TaskTypeSpec& task : job.spec->tasks) gpus += task.resource.gpus * task.instances;
  trace_.checkers().JobSubmitted(index, job.spec);
  trace_.Tell(trace::JobCreated{.job = index,
                                .name = job.name,
                                .queue = job.spec->queue,
                                .tasks = job.spec->task_count(),
                                .gpus = gpus});

  StartClient(job);
}

void Clients::StartClient(JobRecord& job) {
  ClientActor& client = cluster_.clients.Add(links_, *this, kClientPlace);
  client::ClientOptions options;
  options.am_start = kAmStart;
  client.machine = std::make_unique<client::JobClient>(job.spec, options,
                                                       setup_.SeedFor("client", job.index.value));
  client.job = job.index;
  client.beat.period = options.poll;
  client.beat.round_trip = cluster_.network.PollRoundTrip(kClientPlace, kRmPlace, client.id);
  job.client = &client;
  faults_.JobStateSeen(job.name, JobState::kSubmitted);
  client.Step(SubmitRequested{.user = job.spec->user, .staging_directory = job.staging_directory});
}

void Clients::Heard(ClientActor& client, ClientEvent&& event) {
  trace_.Tell(trace::ClientTold{.job = client.job, .event = std::move(event)});
}

void Clients::Carry(ClientActor& client, ClientAction& action) {
  trace::TraceRecord& record =
      trace_.Tell(trace::ClientOrdered{.job = client.job, .action = std::move(action)});
  ClientAction order = std::move(std::get<trace::ClientOrdered>(record.fact).action);
  sabotage_.Obey(
      EffectActor::kClient, client, order, [&] { Obey(client, order); }, [&] { client.End(); });
}

void Clients::Stepped(ClientActor& client) {
  // Between two applications of a job there is nothing to ask about, and the next one has a grid of
  // its own.
  if (client.beat.last_sent && !IsPolling(client.machine->snapshot().state))
    links_.StartAnew(client);
  if (client.alive) return;
  cluster_.clients.RemoveAfterStep(kernel_, client.id);
}

void Clients::End(ClientActor& client) {
  if (!client.alive) return;
  client.alive = false;
  links_.Update(client);
  cluster_.JobAt(client.job)->client = nullptr;
}

Party Clients::PartyOf(const ClientActor& client) const {
  return {.job = cluster_.NameOf(client.job), .task = {}, .place = client.place};
}

bool Clients::HasQuietLink(const ClientActor& client) const {
  // What an idle answer says is the report before it; of an error there is none.
  return client.last_report && rm_.answers() &&
         cluster_.network.Undisturbed(client.place, kRmPlace);
}

void Clients::SendIdleBeat(ClientActor& client, Instant at, Instant answered) {
  const ClientAction order = client.OrderAtDeadline(at);
  TF_CHECK(client.last_report.has_value());
  const CallId call = std::get<CallRm>(order).call;
  client.beat.awaited = call.value;
  kernel_.AtTurnOf(client.id, answered, [this, id = client.id, call] {
    ClientActor* sender = cluster_.clients.Living(id);
    if (sender == nullptr) return;
    links_.BeatAnswered(*sender, call.value);
    sender->Step(RmReplied{.call = call, .response = *sender->last_report});
  });
}

void Clients::Obey(ClientActor& client, ClientAction& order) {
  JobRecord& job = *cluster_.JobAt(client.job);
  std::visit(
      Overloaded{Ignore<ApplicationSubmitted, JobEnded, Note>{},  // Announced for the trace.
                 [&](CallRm& call) { CallRmFor(client, std::move(call)); },
                 [&](CallHdfs& call) { hdfs_.CallFor(cluster_.clients, client, std::move(call)); },
                 [&](ClusterFacts& facts) {
                   job.facts = std::move(facts);
                   job.surveyed = WallAt(kernel_.now());
                 },
                 [&](ExitClient&) { Exit(client); }},
      order);
}

void Clients::Exit(ClientActor& client) {
  JobRecord& job = *cluster_.JobAt(client.job);
  client.alive = false;
  job.client = nullptr;
  EndSeen(job);
}

void Clients::CallRmFor(ClientActor& client, CallRm call) {
  fakes::Caller caller;
  caller.kind = fakes::CallerKind::kClient;
  caller.user = cluster_.JobAt(client.job)->spec->user;
  const bool poll = std::holds_alternative<yarn::GetApplicationReportRequest>(call.request);
  if (poll) {
    links_.BeatSent(client, call.call.value);
    client.beat.seen = client.beat.sent;
  }
  if (const auto* submit = std::get_if<yarn::SubmitApplicationRequest>(&call.request)) {
    // From here on the RM may speak of the application: its AM may start before the client has the
    // answer, or where the answer is lost.
    if (cluster_.job_of_application.emplace(submit->application, client.job.value).second)
      cluster_.JobAt(client.job)->applications.push_back(submit->application);
  }
  rm_.Call(client, std::move(caller), {}, std::move(call.request), poll,
           [this, id = client.id, number = call.call, poll](yarn::RmResponse&& response) {
             if (ClientActor* same = cluster_.clients.Living(id))
               TakeRmAnswer(*same, number, poll, std::move(response));
           });
}

void Clients::TakeRmAnswer(ClientActor& client, CallId call, bool poll,
                           yarn::RmResponse&& response) {
  if (poll) {
    const auto* report = std::get_if<yarn::GetApplicationReportResponse>(&response);
    // What the RM tells a client that is gone its successor has not heard: that one asks.
    links_.CatchUp(client);  // What was skipped may have overtaken it.
    if (report != nullptr && !client.machine->HasHeardLater(call))
      client.last_report = client.paused ? std::nullopt : std::optional(*report);
    links_.BeatAnswered(client, call.value);
  }
  client.Step(RmReplied{.call = call, .response = std::move(response)});
}

// ---------------------------------------------------------------- what jobs come to

void Clients::EndSeen(JobRecord& job) {
  if (job.ended) return;
  job.ended = true;
  ++jobs_ended_;
  workloads_.Settle(job);
  faults_.JobStateSeen(job.name, JobState::kFinished);
  // An exit whose report is lost is reported again, but its container is held until then; and what
  // the ResourceManager answers its node, the node may ask for again.
  kernel_.After(kLeakCheck + cluster_.network.LongestBadLuck(kRpcTimeout) +
                    message_faults_.yet_to_drop() * kRpcTimeout,
                [this, index = job.index] { CheckLeaks(index); });
}

void Clients::CheckLeaks(trace::JobIndex index, bool again) {
  JobRecord* found = cluster_.JobAt(index);
  TF_CHECK(found != nullptr);
  JobRecord& job = *found;
  std::size_t leaked = 0;
  for (const ApplicationId& application : job.applications) {
    if (rm_.process() == nullptr) break;
    const auto& books = rm_.process()->books().applications;
    const auto booked = books.find(application);
    if (booked != books.end()) leaked += booked->second->containers.size();
  }
  for (const AgentActor* agent : job.agents) {
    if (leaked == 0 && cluster_.ReachableFromMasters(job, agent->place)) ++leaked;
  }
  const Instant heard_again = cluster_.healed_at + kHeardAgain;
  if (leaked > 0 && !again && kernel_.now() < heard_again)
    return kernel_.At(heard_again, [this, index] { CheckLeaks(index, true); });
  if (leaked > 0)
    trace_.Tell(
        trace::ContainersLeaked{.job = index, .containers = static_cast<std::int32_t>(leaked)});
  trace_.checkers().JobSettled(kernel_.now(), index, world_);
  for (const ApplicationId& application : job.applications)
    cluster_.job_of_application.erase(application);
  const auto named = cluster_.job_by_name.find(job.name);
  if (named != cluster_.job_by_name.end() && named->second == index.value)
    cluster_.job_by_name.erase(named);
  for (AgentActor* agent : std::vector<AgentActor*>(job.agents)) agent->End();
  // An earlier one, too, may live on where no message reaches it.
  for (const std::uint32_t id : std::vector<std::uint32_t>(job.ams)) {
    if (AmActor* am = cluster_.ams.Find(id)) am->End();
  }
  cluster_.jobs.erase(job.index.value);
  --jobs_alive_;
}

// ---------------------------------------------------------------- clients that are away

void Clients::Lose(ClientActor& client) {
  client.End();
  cluster_.clients.Remove(client.id);
}

void Clients::LoseFor(ClientActor& client, std::uint64_t fault) {
  lost_by_[fault].push_back(client.id);
  if (++client.lost > 1) return;
  client.paused = true;
  links_.Update(client);
}

void Clients::Return(std::uint64_t fault) {
  for (const std::uint32_t id : lost_by_[fault]) {
    ClientActor* client = cluster_.clients.Living(id);
    if (client == nullptr) continue;
    // Its process stood still, not this one.
    if (--client->lost == 0) client->suspended_by.clear();
    GoOn(*client);
  }
  lost_by_.erase(fault);
}

void Clients::Suspend(ClientActor& client, std::uint64_t fault) {
  client.suspended_by.insert(fault);
  client.paused = true;
  links_.Update(client);
}

void Clients::Resume(ClientActor& client, std::uint64_t fault) {
  if (client.suspended_by.erase(fault) > 0) GoOn(client);
}

void Clients::ResumeAll(ClientActor& client) {
  if (client.suspended_by.empty()) return;
  client.suspended_by.clear();
  GoOn(client);
}

void Clients::GoOn(ClientActor& client) {
  if (client.lost > 0 || !client.suspended_by.empty()) return;
  client.paused = false;
  links_.Update(client);
  cluster_.clients.EmptyInbox(kernel_, client);
  links_.Reschedule(client);
}

// One that stands still hears all of it later. What was meant for a client that is gone: an answer
// is lost, and its successor asks again; what the user wants is kept.
void Clients::Keep(ClientActor& client, ClientEvent&& event) {
  if (client.lost == 0) return client.inbox.push_back(std::move(event));
  if (auto* reply = std::get_if<RmReplied>(&event)) {
    reply->response = yarn::RpcError{.code = yarn::RpcErrorCode::kUnavailable,
                                     .message = "the client that asked is gone"};
  } else if (auto* read = std::get_if<HdfsReplied>(&event)) {
    read->response = hdfs::HdfsError{.code = hdfs::HdfsErrorCode::kUnavailable,
                                     .message = "the client that asked is gone"};
  }
  // In the order of the calls: which of two answers came first is the answer's business alone.
  auto place = client.inbox.end();
  if (const auto* reply = std::get_if<RmReplied>(&event)) {
    while (place != client.inbox.begin()) {
      const auto* before = std::get_if<RmReplied>(&*std::prev(place));
      if (before == nullptr || before->call <= reply->call) break;
      --place;
    }
  }
  client.inbox.insert(place, std::move(event));
}

}  // namespace tfyarn::sim
