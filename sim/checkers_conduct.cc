#include "sim/checkers_conduct.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/journal/journal.h"
#include "core/model/probe.h"
#include "core/model/text.h"
#include "core/model/visit.h"
#include "sim/behavior.h"

namespace tfyarn::sim {
namespace {

std::string_view WordFor(DependencyState state) {
  switch (state) {
    case DependencyState::kRunning:
      return "started";
    case DependencyState::kEnded:
      return "ended";
    case DependencyState::kSucceeded:
      break;
  }
  return "succeeded";
}

/// From an answer of the RM to what an AM does about it, the entries that it rests on included.
constexpr Duration kActsWithin = 10s;
/// docs/invariants.md, notice-passed-on: a word that comes as long after the last one is another.
constexpr Duration kNoticeIsNewAfter = 10s;
/// A container that no task needs is given back by then: an AM that has just started looks for the
/// agents of the one before first.
constexpr Duration kHeldInVain = 10min;
/// The AM has all that it needs to give a container back once more.
constexpr Duration kGivesBackWithin = 3s;
/// A drain counts from the decision, a little before its entry is appended.
constexpr Duration kToldLater = 5s;
/// A node that was told to stop a container has done so by then, or it is the RM's.
constexpr Duration kNodeStops = 5s;
/// One call out of turn tells its caller which turn it is.
constexpr std::int32_t kRefusedInARow = 5;
/// So long after a fault there may be messages under way that it has kept back.
constexpr Duration kKeptBack = 1min;

/// The RM has ended this attempt, or another one acts. To one that registers or finishes it says so
/// by its words alone. Source:
/// ApplicationMasterService.throwApplicationDoesNotExistInCacheException.
bool EndsTheAttempt(const yarn::RpcError& error) {
  return error.code == yarn::RpcErrorCode::kApplicationAttemptNotFound ||
         error.code == yarn::RpcErrorCode::kApplicationNotFound ||
         (error.code == yarn::RpcErrorCode::kInvalidApplicationMasterRequest &&
          error.message.starts_with("Application doesn't exist in cache"));
}

std::string Lacks(const Resource& has, const TaskTypeSpec& type, std::int64_t memory_mb) {
  if (has.memory_mb < memory_mb)
    return fmt::format("{} MiB of memory of {}", has.memory_mb, memory_mb);
  if (has.vcores < type.resource.vcores)
    return fmt::format("{} vcores of {}", has.vcores, type.resource.vcores);
  if (has.gpus < type.resource.gpus)
    return fmt::format("{} GPUs of {}", has.gpus, type.resource.gpus);
  return "";
}

}  // namespace

void ConductWatch::JobSubmitted(trace::JobIndex job, std::shared_ptr<const JobSpec> spec) {
  specs_[job.value] = std::move(spec);
}

void ConductWatch::Forget(trace::JobIndex job) {
  auto led = led_.lower_bound({job.value, std::nullopt});
  while (led != led_.end() && led->first.first == job.value) {
    auto container = containers_.lower_bound({.application_attempt = {.application = led->second}});
    while (container != containers_.end() &&
           container->first.application_attempt.application == led->second) {
      nodes_[container->second.node].containers.erase(container->first);
      container = containers_.erase(container);
    }
    applications_.erase(led->second);
    led = led_.erase(led);
  }
  specs_.erase(job.value);
}

void ConductWatch::Observe(const trace::TraceRecord& record) {
  Pass(record.at);
  now_ = record.at;
  std::visit(Overloaded{[](const auto&) {},
                        [&](const trace::NodeDeclared& fact) {
                          nodes_[fact.node].partition = fact.partition;
                        },
                        [&](const trace::ContainerGranted& fact) {
                          ContainerFacts& container = containers_[fact.container];
                          // A RM that recovers its books says it again.
                          container.job = fact.job.value;
                          container.node = fact.node;
                          container.resource = fact.resource;
                          container.am = fact.am;
                          container.freed = false;
                          nodes_[fact.node].containers.insert(fact.container);
                          HeldMayChange(fact.container, container);
                          if (container.owed) Owes(fact.container, container);
                        },
                        [&](const trace::ContainerFreed& fact) {
                          ContainerFacts* container = ContainerOf(fact.container);
                          if (container == nullptr) return;
                          container->freed = true;
                          Ended(fact.container, *container, fact.exit_status == 0);
                          nodes_[container->node].containers.erase(fact.container);
                          HeldMayChange(fact.container, *container);
                        },
                        [&](const trace::ContainerGone& fact) {
                          if (ContainerFacts* container = ContainerOf(fact.container)) {
                            container->process.reset();
                            container->notice.reset();
                          }
                        },
                        [&](const trace::FaultBegan& fact) {
                          fault_changed_ = now_;
                          const bool over = fact.fault < lasts_.size() && !lasts_[fact.fault];
                          if (!over) faults_.insert({fact.fault, fact.instance});
                        },
                        [&](const trace::FaultEnded& fact) {
                          faults_.erase({fact.fault, fact.instance});
                          fault_changed_ = now_;
                        },
                        [&](const trace::ApplicationEnded& fact) {
                          if (ApplicationFacts* its = ApplicationOf(fact.application))
                            its->over = true;
                        },
                        [&](const trace::AmTold& fact) { On(fact); },
                        [&](const trace::AmOrdered& fact) { On(fact); },
                        [&](const trace::AgentTold& fact) { On(fact); },
                        [&](const trace::AgentOrdered& fact) { On(fact); }},
             record.fact);
}

void ConductWatch::Report(Of of, std::uint32_t job, std::string what) {
  broken_.push_back({.of = of, .job = trace::JobIndex(job), .what = std::move(what)});
}

ConductWatch::ContainerFacts* ConductWatch::ContainerOf(const ContainerId& id) {
  const auto found = containers_.find(id);
  return found == containers_.end() ? nullptr : &found->second;
}

const JobSpec* ConductWatch::SpecOf(std::uint32_t job) const {
  const auto found = specs_.find(job);
  return found == specs_.end() ? nullptr : found->second.get();
}

ConductWatch::ApplicationFacts* ConductWatch::ApplicationOf(const ApplicationId& id) {
  const auto found = applications_.find(id);
  return found == applications_.end() ? nullptr : &found->second;
}

ConductWatch::ApplicationFacts* ConductWatch::ApplicationOf(
    std::uint32_t job, std::optional<std::int32_t> resubmission) {
  const auto led = led_.find({job, resubmission});
  return led == led_.end() ? nullptr : ApplicationOf(led->second);
}

// ---------------------------------------------------------------- what is looked at later

void ConductWatch::Pass(Instant until) {
  while (!dues_.empty() && dues_.top().at < until) {
    const Due due = dues_.top();
    dues_.pop();
    switch (due.of) {
      case DueFor::kNotice:
        JudgeNotice(due);
        break;
      case DueFor::kHeld:
        JudgeHeld(due);
        break;
      case DueFor::kOwed:
        JudgeOwed(due);
        break;
    }
  }
}

// notice-passed-on: what the RM has marked is warned, or its end is ordered, at once.
void ConductWatch::JudgeNotice(const Due& due) {
  ContainerFacts* container = ContainerOf(due.container);
  if (container == nullptr || !container->notice || container->freed) return;
  const ApplicationFacts* its = ApplicationOf(due.container.application_attempt.application);
  if (its == nullptr || its->over || its->decided) return;
  // Its AM has died, or stood still.
  if (its->am_started > *container->notice || lossy_ || !faults_.empty() ||
      (fault_changed_ && *fault_changed_ >= *container->notice))
    return;
  Instant ready = *container->notice;
  // What is decided on the container waits for the journal.
  if (its->storing_since && *its->storing_since <= ready)
    ready = std::max(ready, its->stored_at.value_or(due.at));
  // What runs in the container of an earlier AM, its agent has yet to say.
  if (due.container.application_attempt.attempt < its->am_attempt) {
    const bool heard = container->heard_by == its->am_attempt;
    ready = std::max(ready, heard ? container->heard_at : due.at);
  }
  if (ready + kActsWithin > due.at)
    return dues_.push({.at = ready + kActsWithin, .order = ++order_, .container = due.container});
  container->notice.reset();
  Report(Of::kNoticePassedOn, container->job,
         fmt::format("the RM has said that it will take {}, {}, and the AM has neither warned it "
                     "nor given it back within {}",
                     ToString(due.container),
                     container->process ? "in which a process runs" : "in which nothing runs",
                     ToString(kActsWithin)));
}

// no-idle-containers: a job does not hold more containers than it has tasks.
void ConductWatch::JudgeHeld(const Due& due) {
  ApplicationFacts* its = ApplicationOf(due.container.application_attempt.application);
  if (its == nullptr) return;
  ApplicationFacts& application = *its;
  if (!application.over_since || application.over_number != due.over_number) return;
  if (application.over || application.verdict) return;
  // An AM that was away meanwhile gave nothing back.
  Instant since = std::max(*application.over_since, application.am_started);
  if (fault_changed_) since = std::max(since, *fault_changed_);
  if (!faults_.empty()) since = now_;
  const Instant at = since + kHeldInVain;
  if (at > due.at) {
    Due later = due;
    later.at = at;
    later.order = ++order_;
    return dues_.push(later);
  }
  const JobSpec* spec = SpecOf(application.job);
  application.over_since.reset();
  Report(Of::kNoIdleContainers, application.job,
         fmt::format("it has held more containers than its {} tasks for {}",
                     spec == nullptr ? 0 : spec->task_count(), ToString(due.at - since)));
}

void ConductWatch::HeldMayChange(const ContainerId& id, ContainerFacts& container) {
  const bool held = !container.am && !container.freed && !container.given_back;
  ApplicationFacts* its = ApplicationOf(id.application_attempt.application);
  if (its == nullptr || held == container.held) return;
  container.held = held;
  its->held += held ? 1 : -1;
  const JobSpec* spec = SpecOf(its->job);
  if (spec == nullptr) return;
  Counts(Of::kNoIdleContainers);
  if (its->held <= spec->task_count()) return its->over_since.reset();
  if (its->over_since) return;
  its->over_since = now_;
  its->over_number = ++order_;
  dues_.push({.at = now_ + kHeldInVain,
              .order = ++order_,
              .container = id,
              .over_number = its->over_number,
              .of = DueFor::kHeld});
}

// no-idle-containers: what was given back, and the RM counts all the same, is given back again by
// the AM that knows of it: one that an earlier AM gave back and the RM lists to this one, or one
// that this one has released and that a restarted RM has from its node.
void ConductWatch::Owes(const ContainerId& id, ContainerFacts& container) {
  Counts(Of::kNoIdleContainers);
  container.owed = now_;
  dues_.push(
      {.at = now_ + kGivesBackWithin, .order = ++order_, .container = id, .of = DueFor::kOwed});
}

// Of what an AM before gave back the next one knows where that one has stored something since. What
// this one has told the container's node to stop is not lost with an RM: the node ends it, and no
// RM could do more.
void ConductWatch::OwesListed(const ApplicationFacts& application,
                              const std::vector<yarn::Container>& containers) {
  for (const yarn::Container& listed : containers) {
    ContainerFacts* container = ContainerOf(listed.id);
    if (container == nullptr || !container->given_back || container->am || container->freed ||
        application.left_to_node.count(listed.id) > 0)
      continue;
    const Instant given_back = container->given_back_at;
    if (given_back >= application.am_started || application.stored_before > given_back)
      Owes(listed.id, *container);
  }
}

void ConductWatch::OwesReleased(const ApplicationFacts& application) {
  for (const ContainerId& id : application.released) {
    if (ContainerFacts* container = ContainerOf(id)) Owes(id, *container);
  }
}

void ConductWatch::JudgeOwed(const Due& due) {
  ContainerFacts* container = ContainerOf(due.container);
  if (container == nullptr || !container->owed || container->freed) return;
  const ApplicationFacts* its = ApplicationOf(due.container.application_attempt.application);
  if (its == nullptr || its->over || its->decided) return;
  const Instant since = due.at - kGivesBackWithin;
  if (its->am_started > since || lossy_ || !faults_.empty() ||
      (fault_changed_ && *fault_changed_ >= since))
    return;
  container->owed.reset();
  Report(Of::kNoIdleContainers, container->job,
         fmt::format("{} has been given back, the RM counts it all the same, and the AM has not "
                     "given it back again within {}",
                     ToString(due.container), ToString(kGivesBackWithin)));
}

void ConductWatch::GivenBack(const ContainerId& id) {
  ContainerFacts* container = ContainerOf(id);
  if (container == nullptr) return;
  container->given_back = true;
  container->given_back_at = now_;
  container->notice.reset();
  container->owed.reset();
  HeldMayChange(id, *container);
}

// ---------------------------------------------------------------- what the AM is told

void ConductWatch::On(const trace::AmTold& fact) {
  const std::uint32_t job = fact.job.value;
  if (const auto* started = std::get_if<AmStarted>(&fact.event)) {
    led_[{job, fact.resubmission}] = started->attempt.application;
    ApplicationFacts& application = applications_[started->attempt.application];
    application.job = job;
    application.attempts[started->attempt.attempt] = {};
    if (started->attempt.attempt < application.am_attempt) return;
    application.am_attempt = started->attempt.attempt;
    application.am_container = started->container;
    application.am_started = now_;
    application.stored_before = application.stored_at;
    application.decided = application.awaits = application.told_over = false;
    application.refused_token = application.others_append = application.lost_journal = false;
    application.refused = 0;
    application.response_id = -1;
    application.calls.clear();
    application.stops.clear();
    application.to_raise.clear();
    application.storing_since.reset();
    application.blacklist.clear();
    application.tokens.clear();
    application.tokenless.clear();
    application.released.clear();
    application.left_to_node.clear();
    return;
  }
  ApplicationFacts* application = ApplicationOf(job, fact.resubmission);
  if (application == nullptr) return;
  if (const auto* reply = std::get_if<RmReplied>(&fact.event))
    HearsItsEnd(*application, fact.am_attempt, *reply);
  if (fact.am_attempt != application->am_attempt) return;
  if (const auto* reply = std::get_if<RmReplied>(&fact.event)) {
    RmSays(*application, *reply);
  } else if (const auto* answer = std::get_if<NmReplied>(&fact.event)) {
    NodeAnswers(*application, *answer);
  } else if (const auto* failed = std::get_if<JournalFailed>(&fact.event)) {
    const bool lost = failed->error.code == hdfs::HdfsErrorCode::kLeaseLost;
    application->lost_journal = application->lost_journal || lost;
  } else if (const auto* stored = std::get_if<JournalAppended>(&fact.event)) {
    application->stored_at = now_;
    // The next AM knows of no entry that was never stored.
    for (const auto& [seq, raised] : application->to_raise) {
      if (seq <= stored->seq) application->raised[raised.task] = raised.memory_mb;
    }
    std::erase_if(application->to_raise,
                  [&](const auto& entry) { return entry.first <= stored->seq; });
  } else if (const auto* status = std::get_if<HdfsReplied>(&fact.event)) {
    if (const auto* file = std::get_if<hdfs::FileStatus>(&status->response))
      application->proven.insert(file->path);
  } else if (const auto* said = std::get_if<AgentSaid>(&fact.event)) {
    ContainerFacts* container = ContainerOf(FenceOf(said->message).container);
    if (container == nullptr) return;
    if (std::exchange(container->heard_by, fact.am_attempt) != fact.am_attempt)
      container->heard_at = now_;
    const auto* ended = std::get_if<ProcessEnded>(&said->message);
    if (ended != nullptr && ended->agent_leaves) container->leaves = true;
  }
}

void ConductWatch::RmSays(ApplicationFacts& application, const RmReplied& reply) {
  const auto call = application.calls.find(reply.call);
  // An idle call is in no trace: where a fault keeps messages back it may be an old one.
  const bool may_be_old =
      !faults_.empty() || (fault_changed_ && now_ - *fault_changed_ <= kKeptBack);
  const Instant unseen = may_be_old ? Instant{} : now_;
  const Instant made = call == application.calls.end() ? unseen : call->second;
  if (call != application.calls.end()) application.calls.erase(call);
  if (const auto* error = std::get_if<yarn::RpcError>(&reply.response)) {
    if (error->code == yarn::RpcErrorCode::kApplicationMasterNotRegistered)
      application.blacklist.clear();
    application.told_over = application.told_over || EndsTheAttempt(*error);
    application.refused_token =
        application.refused_token || error->code == yarn::RpcErrorCode::kInvalidToken;
    if (error->code != yarn::RpcErrorCode::kInvalidApplicationMasterRequest) return;
    // Nor is an idle answer in any trace: what comes between two calls is known by their numbers.
    const bool next = reply.call == std::exchange(application.refused_call, reply.call).next();
    // Of those that were under way together the first teaches what there is to learn.
    if (application.refused > 0 && made <= application.refused_at) return;
    Counts(Of::kGoodCitizen);
    application.refused_at = now_;
    application.refused = next ? application.refused + 1 : 1;
    if (application.refused != kRefusedInARow) return;
    return Report(Of::kGoodCitizen, application.job,
                  fmt::format("the RM has refused {} calls in a row as out of turn: {}",
                              kRefusedInARow, error->message));
  }
  application.refused = 0;
  if (const auto* registered =
          std::get_if<yarn::RegisterApplicationMasterResponse>(&reply.response)) {
    application.blacklist.clear();
    for (const yarn::NmToken& token : registered->nm_tokens_from_previous_attempts)
      application.tokens.insert(token.node.host);
    OwesListed(application, registered->containers_from_previous_attempts);
    OwesReleased(application);
  } else if (const auto* answer = std::get_if<yarn::AllocateResponse>(&reply.response)) {
    OwesListed(application, answer->containers_from_previous_attempts);
    for (const yarn::NmToken& token : answer->nm_tokens) {
      application.tokens.insert(token.node.host);
      application.tokenless.erase(token.node.host);
    }
    for (const yarn::Container& granted : answer->allocated_containers) {
      if (application.tokens.count(granted.node.host) == 0)
        application.tokenless.insert(granted.node.host);
    }
    for (const yarn::ContainerStatus& status : answer->completed_containers) {
      ContainerFacts* container = ContainerOf(status.id);
      const bool released = application.released.erase(status.id) > 0;
      if (container == nullptr) continue;
      if (released) container->owed.reset();
      // A ResourceManager that restarts may count it once more: that the AM does not hear.
      container->let_go = true;
    }
    for (const std::vector<ContainerId>* list :
         {&answer->preempt_strict, &answer->preempt_contract}) {
      for (const ContainerId& id : *list) {
        ContainerFacts* container = ContainerOf(id);
        if (container == nullptr || container->am || container->freed || container->given_back ||
            container->told_end || !container->task)
          continue;
        // Words that follow each other closely are one notice. A later one comes when the RM had
        // spared the container meanwhile, and the process needs to hear of it again.
        const std::optional<Instant> last = std::exchange(container->noticed_at, now_);
        const bool repeated = last && now_ - *last < kNoticeIsNewAfter;
        if (container->notice || (repeated && container->warned == container->process)) continue;
        Counts(Of::kNoticePassedOn);
        container->notice = now_;
        dues_.push({.at = now_ + kActsWithin, .order = ++order_, .container = id});
      }
    }
  }
}

// ---------------------------------------------------------------- what the AM orders

void ConductWatch::On(const trace::AmOrdered& fact) {
  const std::uint32_t job = fact.job.value;
  ApplicationFacts* application = ApplicationOf(job, fact.resubmission);
  if (application == nullptr) return;
  GoesOn(*application, fact);
  if (fact.am_attempt != application->am_attempt) {
    const bool appends = std::holds_alternative<AppendJournal>(fact.action);
    application->others_append = application->others_append || appends;
    return;
  }
  std::visit(
      Overloaded{
          [](const auto&) {},
          // Of a silence, or of an agent that does not come, only the AM tells: limits-kept
          // and verdict judge that.
          [&](const TaskAttemptEnded& ended) { application->came_far[ended.task].ended = true; },
          [&](const NodesAwaited& awaited) { application->awaits = !awaited.limit.empty(); },
          [&](const AppendJournal& append) {
            // What is decided while an entry is on its way waits for it, and comes next.
            const bool waited =
                application->storing_since && application->stored_at.value_or(now_) == now_;
            if (!waited) application->storing_since = now_;
            application->stored_at.reset();
            for (const journal::ReadEntry& read : journal::ReadFrames(append.bytes)) {
              if (std::holds_alternative<journal::VerdictDecided>(read.entry)) {
                application->decided = true;
                application->decided_at =
                    application->decided_at.value_or(*application->storing_since);
              } else if (const auto* raised = std::get_if<journal::MemoryRaised>(&read.entry)) {
                application->to_raise.push_back({append.seq, *raised});
              }
            }
          },
          [&](const VerdictReached& verdict) {
            // One that an earlier AM has stored the next one only tells.
            application->decided = true;
            if (application->verdict) return;
            application->verdict = verdict.status;
            const JobSpec* spec = SpecOf(job);
            if (spec == nullptr || verdict.status != JobStatus::kSucceeded) return;
            for (const std::string& path : spec->finish.require_paths) {
              Counts(Of::kVerdict);
              const bool seen = std::any_of(
                  application->proven.begin(), application->proven.end(),
                  [&](const std::string& file) { return file.find(path) != std::string::npos; });
              if (!seen)
                Report(Of::kVerdict, job,
                       "it has succeeded, but HDFS was not asked for " + path +
                           ", which finish.require names, or did not have it");
            }
          },
          [&](const CallRm& call) {
            application->calls[call.call] = now_;
            if (const auto* allocate = std::get_if<yarn::AllocateRequest>(&call.request))
              Allocates(*application, *allocate);
          },
          [&](const CallNm& call) {
            if (const auto* start = std::get_if<yarn::StartContainersRequest>(&call.request))
              Launches(*start);
            const auto* stop = std::get_if<yarn::StopContainersRequest>(&call.request);
            if (stop == nullptr) return;
            application->stops[call.call] = stop->containers;
            for (const ContainerId& id : stop->containers) {
              GivenBack(id);
              application->left_to_node.insert(id);
              if (ContainerFacts* container = ContainerOf(id))
                container->stop_called = container->stop_called.value_or(now_);
            }
          },
          [&](const SendToAgent& send) { Sends(*application, send); },
          [&](const ExitAm& exit) {
            if (exit.code != 0) GivesUp(*application);
          }},
      fact.action);
}

// one-attempt: an AM that the RM has told that another attempt acts, or none, does nothing more.
// One that finishes may hear it of an earlier call, before it hears that its final status was
// taken.
void ConductWatch::HearsItsEnd(ApplicationFacts& application, std::int32_t attempt,
                               const RmReplied& reply) {
  const auto* error = std::get_if<yarn::RpcError>(&reply.response);
  AttemptFacts& its = application.attempts[attempt];
  const bool of_earlier = its.first_finish && reply.call < *its.first_finish;
  if (error == nullptr || !EndsTheAttempt(*error) || of_earlier) return;
  its.heard_its_end = its.heard_its_end.value_or(now_);
}

void ConductWatch::GoesOn(ApplicationFacts& application, const trace::AmOrdered& fact) {
  AttemptFacts& its = application.attempts[fact.am_attempt];
  const auto* call = std::get_if<CallRm>(&fact.action);
  if (call != nullptr &&
      std::holds_alternative<yarn::FinishApplicationMasterRequest>(call->request))
    its.first_finish = its.first_finish.value_or(call->call);
  const bool acts = call != nullptr || std::holds_alternative<CallNm>(fact.action) ||
                    std::holds_alternative<AppendJournal>(fact.action) ||
                    std::holds_alternative<SendToAgent>(fact.action);
  Counts(Of::kOneAttempt);
  if (!acts || !its.heard_its_end || *its.heard_its_end == now_ || its.reported) return;
  its.reported = true;
  Report(Of::kOneAttempt, application.job,
         fmt::format("the AM of attempt {} goes on, and the RM has told it that another attempt "
                     "acts or none",
                     fact.am_attempt));
}

// gives-not-up: an AM that the RM counts as the job's does not end by itself, but where another one
// has written down since what it does not know.
void ConductWatch::GivesUp(const ApplicationFacts& application) {
  Counts(Of::kGivesNotUp);
  const ContainerFacts* container = ContainerOf(application.am_container);
  const bool told = application.told_over || application.refused_token ||
                    (application.lost_journal && application.others_append);
  if (application.over || told || container == nullptr || container->freed) return;
  Report(Of::kGivesNotUp, application.job,
         fmt::format("the AM of attempt {} ends, and for the RM it is the one that acts",
                     application.am_attempt));
}

// good-citizen: who waits for nodes, or has decided, wants nothing; and of the nodes some are left
// to ask for.
void ConductWatch::Allocates(ApplicationFacts& application, const yarn::AllocateRequest& request) {
  const std::int64_t wanted = std::accumulate(
      request.ask.begin(), request.ask.end(), std::int64_t{0},
      [](std::int64_t sum, const yarn::ResourceRequest& row) { return sum + row.num_containers; });
  Counts(Of::kGoodCitizen);
  const bool again =
      std::exchange(application.response_id, request.response_id) == request.response_id;
  if (wanted > 0 && !again && (application.awaits || application.decided)) {
    Report(Of::kGoodCitizen, application.job,
           fmt::format("the AM asks for {} containers although {}", wanted,
                       application.decided ? "its verdict is on its way to the journal"
                                           : "it waits for nodes that may come"));
  }
  for (const std::string& host : request.blacklist_removals) application.blacklist.erase(host);
  for (const std::string& host : request.blacklist_additions) application.blacklist.insert(host);
  // A node whose token was lost with an answer is of no use to this attempt: the RM gives it once.
  const bool useless =
      std::any_of(application.tokenless.begin(), application.tokenless.end(),
                  [&](const std::string& host) { return application.blacklist.count(host) > 0; });
  if (!request.blacklist_additions.empty() && !useless &&
      application.blacklist.size() >= nodes_.size()) {
    Report(Of::kGoodCitizen, application.job,
           fmt::format("all {} nodes are on the blacklist", application.blacklist.size()));
  }
  for (const ContainerId& id : request.release) {
    GivenBack(id);
    application.released.insert(id);
    application.left_to_node.erase(id);
    if (ContainerFacts* container = ContainerOf(id)) container->let_go = true;
  }
}

void ConductWatch::NodeAnswers(ApplicationFacts& application, const NmReplied& reply) {
  const auto call = application.stops.find(reply.call);
  if (call == application.stops.end()) return;
  const auto* stopped = std::get_if<yarn::StopContainersResponse>(&reply.response);
  for (const ContainerId& id : call->second) {
    if (stopped != nullptr && !stopped->succeeded.empty()) continue;
    application.left_to_node.erase(id);
    if (ContainerFacts* container = ContainerOf(id)) container->let_go = true;
  }
  application.stops.erase(call);
}

// one-spec: before a collective begins its next epoch, all that trains in an earlier one has ended,
// or its AM has done all that it can to end it. Whatever goes wrong meanwhile is no excuse.
void ConductWatch::CheckEpochBefore(ApplicationFacts& application, const StartProcess& start) {
  const JobSpec* spec = SpecOf(application.job);
  if (spec == nullptr || spec->strategy != Strategy::kMultiWorker) return;
  if (!Trains(*spec, start.fence.task) || start.process.epoch <= application.begun) return;
  application.begun = start.process.epoch;
  Counts(Of::kOneSpec);
  const ApplicationId& id = start.fence.container.application_attempt.application;
  for (auto at = containers_.lower_bound({.application_attempt = {.application = id}});
       at != containers_.end() && at->first.application_attempt.application == id; ++at) {
    const ContainerFacts& other = at->second;
    if (!other.process || !other.task || other.epoch >= start.process.epoch) continue;
    // One of an earlier AM may come back with its node when the epoch is decided already.
    const bool strange = at->first.application_attempt.attempt < application.am_attempt;
    const bool stopping = other.stop_called && (strange || now_ - *other.stop_called >= kNodeStops);
    if (!Trains(*spec, *other.task) || other.freed || other.let_go || stopping) continue;
    Report(Of::kOneSpec, application.job,
           fmt::format("epoch {} begins, and {} of epoch {} runs in {}, which the AM has not given "
                       "up",
                       start.process.epoch.value, ToString(*other.task), other.epoch.value,
                       ToString(at->first)));
  }
}

void ConductWatch::Launches(const yarn::StartContainersRequest& request) {
  for (const yarn::StartContainerRequest& one : request.containers) {
    const auto name = one.context.environment.find("TFYARN_TASK");
    ContainerFacts* container = ContainerOf(one.container);
    if (container == nullptr || name == one.context.environment.end()) continue;
    if (const Expected<TaskId> task = ParseTaskId(name->second)) container->launched_for = *task;
  }
}

/// A task's process has ended, or its container: in whatever way, where it is not said.
void ConductWatch::Ended(const ContainerId& id, const ContainerFacts& container, bool well) {
  ApplicationFacts* its = ApplicationOf(id.application_attempt.application);
  if (its == nullptr || !container.launched_for) return;
  CameFar& far = its->came_far[*container.launched_for];
  far.ended = true;
  far.well = far.well || well;
}

// depends-kept: what waits for another type starts when that has come so far, once in the life of
// its application.
void ConductWatch::CheckDepends(const ApplicationFacts& application, const TaskId& task) {
  const JobSpec* spec = SpecOf(application.job);
  if (spec == nullptr) return;
  for (const Dependency& row : spec->depends) {
    // `within` only sets a time for what runs beside.
    if (row.within || row.task != task.type) continue;
    const TaskTypeSpec* after = spec->FindType(row.after);
    if (after == nullptr) continue;
    Counts(Of::kDependsKept);
    for (std::int32_t index = 0; index < after->instances; ++index) {
      const TaskId one{.type = row.after, .index = index};
      const auto far = application.came_far.find(one);
      if (far != application.came_far.end() && HasCome(far->second, row.state, *spec)) continue;
      Report(Of::kDependsKept, application.job,
             fmt::format("{} is to start, which waits for {} to have {}", ToString(task),
                         ToString(one), WordFor(row.state)));
      break;
    }
  }
}

bool ConductWatch::HasCome(const CameFar& far, DependencyState state, const JobSpec& spec) {
  switch (state) {
    case DependencyState::kRunning:
      return far.ran || far.ended;
    case DependencyState::kEnded:
      return far.ended;
    case DependencyState::kSucceeded:
      break;
  }
  // What else counts as a success is for the job's own rows to say.
  return far.well || (far.ended && !spec.on_exit.empty());
}

void ConductWatch::Sends(ApplicationFacts& application, const SendToAgent& send) {
  ContainerFacts* container = ContainerOf(send.container);
  if (container == nullptr) return;
  // one-owner: an agent is told what is for it. A refusal may go to any.
  const AgentFence& fence = FenceOf(send.message);
  if (fence.container.id > 0 && !std::holds_alternative<AgentRefused>(send.message)) {
    Counts(Of::kOneOwner);
    if (!(fence.container == send.container))
      Report(
          Of::kOneOwner, application.job,
          fmt::format("the agent in {} is told what answers another one, of {} in {}",
                      ToString(send.container), ToString(fence.task), ToString(fence.container)));
  }
  if (const auto* start = std::get_if<StartProcess>(&send.message)) {
    CheckEpochBefore(application, *start);
    CheckDepends(application, start->fence.task);
    Counts(Of::kOneOwner);
    if (container->leaves) {
      Report(Of::kOneOwner, application.job,
             fmt::format("{} is to start in {}, whose agent has said that it ends",
                         ToString(start->fence.task), ToString(send.container)));
    }
    const auto latest = application.incarnations.find(start->fence.task);
    if (latest != application.incarnations.end() && start->fence.incarnation < latest->second) {
      Report(Of::kOneOwner, application.job,
             fmt::format("{} is to start in {}, and has another container since",
                         ToString(start->fence.task), ToString(send.container)));
    }
    return;
  }
  if (const auto* warn = std::get_if<WarnProcess>(&send.message)) {
    container->notice.reset();
    container->warned = warn->attempt;
    return;
  }
  const bool ends = std::holds_alternative<EndAgent>(send.message);
  const auto* stop = std::get_if<StopProcess>(&send.message);
  if (!ends && stop == nullptr) return;
  container->notice.reset();
  container->owed.reset();  // What may still run in it ends first.
  // limits-kept: what runs beside a success has its time to end.
  const JobSpec* spec = SpecOf(application.job);
  if (spec != nullptr && container->task && container->process && !container->told_end &&
      application.verdict == JobStatus::kSucceeded) {
    const auto drain = spec->finish.drain.find(container->task->type);
    if (drain != spec->finish.drain.end()) {
      Counts(Of::kLimitsKept);
      const Duration passed = now_ - application.decided_at.value_or(now_);
      // While HDFS is away the decision waits for its entry, and its time goes on.
      const bool quiet =
          !lossy_ && faults_.empty() && (!fault_changed_ || now_ - *fault_changed_ > drain->second);
      if (quiet && passed + kToldLater < drain->second) {
        Report(Of::kLimitsKept, application.job,
               fmt::format("{} is told to end {} after success was decided, and has a drain of {}",
                           ToString(*container->task), ToString(passed), ToString(drain->second)));
      }
    }
  }
  container->told_end = stop != nullptr ? stop->attempt : container->process;
  if (ends) GivenBack(send.container);
}

// ---------------------------------------------------------------- what happens on a node

void ConductWatch::On(const trace::AgentTold& fact) {
  ContainerFacts* container = ContainerOf(fact.container);
  if (container == nullptr) return;
  if (const auto* started = std::get_if<AgentStarted>(&fact.event)) {
    container->task = started->fence.task;
    ApplicationFacts* its = ApplicationOf(fact.container.application_attempt.application);
    if (its == nullptr) return;
    Incarnation& latest = its->incarnations[started->fence.task];
    latest = std::max(latest, started->fence.incarnation);
  } else if (const auto* exited = std::get_if<ProcessExited>(&fact.event)) {
    Ended(fact.container, *container, exited->exit.status() == 0);
    container->process.reset();
  } else if (std::holds_alternative<SpawnFailed>(fact.event)) {
    Ended(fact.container, *container, false);
    container->process.reset();
  }
}

void ConductWatch::On(const trace::AgentOrdered& fact) {
  const auto* spawn = std::get_if<SpawnProcess>(&fact.action);
  ContainerFacts* container = ContainerOf(fact.container);
  if (spawn == nullptr || container == nullptr) return;
  ProcessStarts(*container, fact.container, *spawn);
}

void ConductWatch::ProcessStarts(ContainerFacts& container, const ContainerId& id,
                                 const SpawnProcess& spawn) {
  if (ApplicationFacts* its = ApplicationOf(id.application_attempt.application))
    its->came_far[spawn.task].ran = true;
  container.process = spawn.process.attempt;
  container.epoch = spawn.process.epoch;
  container.told_end.reset();
  const JobSpec* spec = SpecOf(container.job);
  const TaskTypeSpec* type = spec == nullptr ? nullptr : spec->FindType(spawn.task.type);
  if (type != nullptr) CheckPlace(container, id, *type);
}

// as-asked: a process runs where its type may, in a container of the size that it is given.
void ConductWatch::CheckPlace(const ContainerFacts& container, const ContainerId& id,
                              const TaskTypeSpec& type) {
  const ApplicationFacts* its = ApplicationOf(id.application_attempt.application);
  if (its == nullptr || !container.task) return;
  Counts(Of::kAsAsked);
  const auto say = [&](std::string what) {
    Report(Of::kAsAsked, container.job,
           fmt::format("{} starts in {} on {}, {}", ToString(*container.task), ToString(id),
                       ToString(container.node), std::move(what)));
  };
  const NodeFacts& node = nodes_[container.node];
  if (node.partition != type.node_label)
    say(fmt::format("which is in partition '{}' and not '{}'", node.partition, type.node_label));
  const auto raised = its->raised.find(*container.task);
  const std::string lacks =
      Lacks(container.resource, type,
            raised == its->raised.end() ? type.resource.memory_mb : raised->second);
  if (!lacks.empty()) say("which has " + lacks);
  const bool alone = type.placement.spread == PlacementScope::kNode;
  const std::vector<std::string>& avoid = type.placement.avoid;
  if (!alone && avoid.empty()) return;
  for (const ContainerId& other_id : node.containers) {
    const ContainerFacts& other = containers_.at(other_id);
    if (other_id == id || other.job != container.job || !other.held) continue;
    if (!other.process || !other.task || other.told_end) continue;
    if (alone && other.task->type == type.name)
      say(fmt::format("where {} runs, and the type is spread over nodes", ToString(*other.task)));
    if (std::find(avoid.begin(), avoid.end(), other.task->type) != avoid.end())
      say(fmt::format("where {} runs, which it avoids", ToString(*other.task)));
  }
}

}  // namespace tfyarn::sim
