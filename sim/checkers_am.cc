// Invariants of the ApplicationMaster's and the client's conduct: one-attempt, final-once,
// after-final, budgets, excluded-nodes, good-citizen, and what one-owner says of the containers
// that an AM starts.
#include <algorithm>

#include "core/model/probe.h"
#include "core/model/text.h"
#include "core/model/visit.h"
#include "sim/behavior.h"
#include "sim/checkers_books.h"

namespace tfyarn::sim {
namespace {

/// A superseded AM process learns of it from the first answer that the RM gives it; it must have
/// stopped acting after this time.
constexpr Duration kLearnsOfSuccessor = 10s;
/// More allocate calls than this in a second are a busy loop, whatever the heartbeat period.
constexpr std::size_t kAllocatesPerSecond = 20;
constexpr Duration kHoldSlack = 60s;

JobStatus StatusOf(yarn::FinalApplicationStatus status) {
  switch (status) {
    case yarn::FinalApplicationStatus::kSucceeded:
      return JobStatus::kSucceeded;
    case yarn::FinalApplicationStatus::kFailed:
      return JobStatus::kFailed;
    case yarn::FinalApplicationStatus::kKilled:
      return JobStatus::kKilled;
    case yarn::FinalApplicationStatus::kUndefined:
    case yarn::FinalApplicationStatus::kEnded:
      return JobStatus::kUnfinished;
  }
  return JobStatus::kUnfinished;
}

/// Refusals that a correct caller never gets, whatever is lost, repeated or late on the way.
bool IsCallersFault(yarn::RpcErrorCode code) {
  switch (code) {
    case yarn::RpcErrorCode::kInvalidResourceRequest:
    case yarn::RpcErrorCode::kInvalidLabelResourceRequest:
    case yarn::RpcErrorCode::kInvalidResourceBlacklistRequest:
    case yarn::RpcErrorCode::kInvalidContainerRelease:
    case yarn::RpcErrorCode::kNullPointer:
      return true;
    case yarn::RpcErrorCode::kUnavailable:
    case yarn::RpcErrorCode::kApplicationMasterNotRegistered:
    case yarn::RpcErrorCode::kApplicationAttemptNotFound:
    case yarn::RpcErrorCode::kApplicationNotFound:
    case yarn::RpcErrorCode::kInvalidApplicationMasterRequest:
    case yarn::RpcErrorCode::kInvalidContainer:
    case yarn::RpcErrorCode::kInvalidToken:
    case yarn::RpcErrorCode::kNmNotYetReady:
    case yarn::RpcErrorCode::kYarn:
      return false;
  }
  return false;
}

/// The RM has answered a call that was made after a later attempt had registered. A call without an
/// answer teaches nothing, nor does an answer that may have been on its way before, nor do the AM's
/// own timers, its journal or its agents: an AM that is cut off has all of those. What it calls
/// without news is in no trace, but only from then on the RM refuses it.
bool IsRmsWord(const AmEvent& event, const AmAttemptBook& attempt) {
  const auto* reply = std::get_if<RmReplied>(&event);
  if (reply == nullptr || reply->call < attempt.learns_from) return false;
  const auto* error = std::get_if<yarn::RpcError>(&reply->response);
  if (error == nullptr) return attempt.called_since;
  return error->code != yarn::RpcErrorCode::kUnavailable;
}

/// AMs are told the calendar in milliseconds.
constexpr Duration kClockStep = 1ms;

void NoteClock(ApplicationBook& application, Duration clock) {
  if (!application.clock) application.clock = clock;
  const Duration ahead = clock - *application.clock;
  application.clocks_differ |= ahead > kClockStep || -ahead > kClockStep;
}

}  // namespace

// ---------------------------------------------------------------- what the AM was told

void Checkers::Books::On(const trace::AmTold& fact) {
  JobBook* job = JobOf(fact.job);
  if (job == nullptr) return;
  if (const auto* started = std::get_if<AmStarted>(&fact.event)) {
    ApplicationBook& its = ApplicationOf(*job, started->attempt.application);
    its.led = true;
    NoteClock(its, started->wall.time_since_epoch() - now_.time_since_epoch());
    its.resubmission = fact.resubmission;
    // An AM of an earlier application may start when the next one's acts.
    const bool late = fact.resubmission.value_or(0) < Acting(*job).resubmission.value_or(0);
    if (!late) job->acting = static_cast<std::size_t>(&its - job->applications.data());
    // The RM tells the next AM what is left; of what it has forgotten as it restarted it says
    // nothing, neither that it runs nor that it has ended.
    for (const ContainerId& id : job->containers) {
      ContainerBook* container = ContainerOf(id);
      if (container == nullptr || (rm_restarted_ && container->granted < *rm_restarted_)) continue;
      container->end_unheard = false;
    }
    job->last_event = now_;
    LimitsOfAm(*job, its, started->attempt.attempt);
  }
  const std::size_t before = LetAct(*job, fact.resubmission);
  Told(*job, fact);
  job->acting = before;
}

void Checkers::Books::Told(JobBook& job, const trace::AmTold& fact) {
  AmAttemptBook& attempt = AttemptOf(job, fact.am_attempt);
  if (attempt.superseded_now && !attempt.superseded && IsRmsWord(fact.event, attempt)) {
    TF_PROBE("checkers/am-learns-of-its-successor");
    attempt.superseded = now_;
  }
  if (std::holds_alternative<JournalAppended>(fact.event)) {
    attempt.append_answered = now_;
    attempt.decided_from = attempt.open_from;
    attempt.stored_from = attempt.append_ordered;
    Acting(job).taken_back |= attempt.superseded_now;
  }
  if (const auto* reply = std::get_if<RmReplied>(&fact.event)) RmAnswered(job, attempt, *reply);
  if (const auto* said = std::get_if<AgentSaid>(&fact.event)) {
    if (const auto* registers = std::get_if<RegisterAgent>(&said->message))
      Acting(job).tasks[registers->fence.task].registered_with = fact.am_attempt;
    HearsOfExit(job, said->message, fact.am_attempt);
    if (ContainerBook* container = ContainerOf(FenceOf(said->message).container))
      container->limits.registered = true;
  }
}

void Checkers::Books::RmAnswered(JobBook& job, AmAttemptBook& attempt, const RmReplied& reply) {
  if (const auto* error = std::get_if<yarn::RpcError>(&reply.response)) {
    // How large a container may be it was told as it registered, if it heard the answer.
    const bool may_not_know =
        !attempt.registered && error->code == yarn::RpcErrorCode::kInvalidResourceRequest;
    if (Checks(Invariant::kGoodCitizen) && IsCallersFault(error->code) && !may_not_know) {
      Report(Invariant::kGoodCitizen, NameOf(job) + ": the RM refuses with " +
                                          KebabName(error->code) + ": " + error->message);
    }
    // It is registered already: the answer that said so was lost.
    if (error->code == yarn::RpcErrorCode::kInvalidApplicationMasterRequest)
      attempt.known_to_rm = true;
    // A restarted RM has forgotten asks and blacklist, whether or not its answer to the
    // registration arrives.
    if (error->code == yarn::RpcErrorCode::kApplicationMasterNotRegistered) {
      attempt.asks.clear();
      attempt.excluded.clear();
    }
    return;
  }
  if (std::holds_alternative<yarn::RegisterApplicationMasterResponse>(reply.response)) {
    attempt.registered = true;
    attempt.asks.clear();
    for (AmAttemptBook& other : Acting(job).attempts) {
      if (other.attempt < attempt.attempt) other.superseded_now = true;
    }
  } else if (const auto* allocated = std::get_if<yarn::AllocateResponse>(&reply.response)) {
    if (!allocated->preempt_strict.empty() || !allocated->preempt_contract.empty())
      Acting(job).evidence.notice = true;
    // Of a container that an RM without its books knows by its node alone, no record tells.
    for (const yarn::ContainerStatus& status : allocated->completed_containers) {
      Acting(job).evidence.container_exits.insert(status.exit_status);
      if (ContainerBook* container = ContainerOf(status.id)) {
        container->end_unheard = false;
        container->exit_told = status.exit_status;
      }
    }
    // The RM counts a grant down from the ask that it answers, without a message that says so.
    for (const yarn::Container& container : allocated->allocated_containers) {
      const auto ask = attempt.asks.find({container.priority, container.allocation_request_id});
      if (ask != attempt.asks.end() && ask->second > 0) --ask->second;
    }
  } else if (const auto* finished =
                 std::get_if<yarn::FinishApplicationMasterResponse>(&reply.response)) {
    ApplicationBook& its = Acting(job);
    its.final_taken = true;
    for (AmAttemptBook& one : its.attempts)
      one.unregistered |= one.attempt == attempt.attempt && finished->is_unregistered;
  }
}

// ---------------------------------------------------------------- what the AM ordered

void Checkers::Books::On(const trace::AmOrdered& fact) {
  JobBook* job = JobOf(fact.job);
  if (job == nullptr) return;
  const std::size_t before = LetAct(*job, fact.resubmission);
  Ordered(*job, fact);
  job->acting = before;
}

void Checkers::Books::Ordered(JobBook& job, const trace::AmOrdered& fact) {
  AmAttemptBook& attempt = AttemptOf(job, fact.am_attempt);
  const auto after_final = [&](std::string_view what) {
    const ApplicationBook& application = Acting(job);
    // What an attempt does that has not heard of its successor is one-attempt's business, and of
    // what one has decided that took the journal back its successor has not heard.
    if (!Checks(Invariant::kAfterFinal) || !application.verdict || attempt.superseded_now ||
        application.taken_back)
      return;
    Report(Invariant::kAfterFinal,
           NameOf(job) + ": the AM orders " + std::string(what) + " after its verdict");
  };
  std::visit(
      Overloaded{Ignore<ReadJournal, PublishAddress, CallHdfs, ExitAm, JobStateChanged,
                        NodesAwaited, PortUseFound, Note>{},
                 [&](const GangCompleted&) {
                   // What a restarted RM has taken is there for the AM until it hears of it.
                   if (rm_restarted_) Acting(job).limits.first_ask.reset();
                 },
                 [&](const AppendJournal& append) {
                   Acts(job, attempt, "AppendJournal");
                   if (append.seq == attempt.appended) return;  // Again, after a failure.
                   const bool waited = attempt.append_answered == now_;
                   attempt.open_from = waited ? attempt.append_ordered : now_;
                   attempt.append_ordered = now_;
                   attempt.appended = append.seq;
                   LooksForEpoch(job, append);
                 },
                 [&](const CallRm& call) {
                   if (!attempt.superseded_now) {
                     attempt.learns_from = call.call.next();
                   } else if (!std::exchange(attempt.called_since, true)) {
                     attempt.learns_from = call.call;
                   }
                   if (const auto* allocate = std::get_if<yarn::AllocateRequest>(&call.request))
                     Allocates(job, attempt, *allocate);
                   if (const auto* finish =
                           std::get_if<yarn::FinishApplicationMasterRequest>(&call.request))
                     Finishes(job, *finish);
                 },
                 [&](const CallNm& call) {
                   Acts(job, attempt, "CallNm");
                   if (const auto* stop = std::get_if<yarn::StopContainersRequest>(&call.request)) {
                     for (const ContainerId& id : stop->containers) {
                       if (ContainerBook* container = ContainerOf(id))
                         container->limits.given_back = true;
                     }
                   }
                   const auto* start = std::get_if<yarn::StartContainersRequest>(&call.request);
                   if (start == nullptr) return;
                   after_final("StartContainers");
                   for (const yarn::StartContainerRequest& one : start->containers) {
                     ContainerBook* container = ContainerOf(one.container);
                     if (container != nullptr) {
                       container->launched_alone = LaunchesAlone(job, *container);
                       LimitsOfLaunch(job, *container, one.container);
                     }
                     if (!Checks(Invariant::kOneOwner) ||
                         (container != nullptr && container->job == job.index))
                       continue;
                     Report(Invariant::kOneOwner, NameOf(job) + " starts " +
                                                      ToString(one.container) +
                                                      ", which is not its own");
                   }
                 },
                 [&](const SendToAgent& send) {
                   CheckGrace(job, send);
                   if (const auto* accepted = std::get_if<AgentAccepted>(&send.message))
                     Acting(job).tasks[accepted->fence.task].registered = true;
                   if (const auto* refused = std::get_if<AgentRefused>(&send.message))
                     RefusesWordOf(job, *refused);
                   const auto* start = std::get_if<StartProcess>(&send.message);
                   if (start == nullptr) return;
                   OrdersStart(job, *start);
                   Acts(job, attempt, "StartProcess");
                   after_final("StartProcess");
                 },
                 [&](const GangReleased&) {
                   CollectAnew(Acting(job));
                   Acting(job).partial_since.reset();
                   Acting(job).limits.whole_since.reset();
                 },
                 [&](const SpecAssembled& assembled) {
                   CheckSpec(job, Acting(job), assembled.epoch, assembled.spec.id());
                 },
                 // An AM that is cut off knows nothing of what its successor has started.
                 [&](const TaskAttemptStarted& started) {
                   if (!attempt.superseded_now) RecordAttempt(job, started);
                 },
                 [&](const TaskAttemptEnded& ended) {
                   if (attempt.superseded_now) return;
                   CheckGivenUp(job, ended);
                   LimitsOfAttemptEnd(job, Acting(job), ended);
                   RecordAttempt(job, ended, attempt.attempt);
                 },
                 [&](const RestartDecided& decision) {
                   if (attempt.superseded_now) return;  // Its successor has taken it over.
                   const bool stored = attempt.append_answered != Instant::min();
                   Restarts(job, decision, stored ? attempt.decided_from : now_);
                 },
                 [&](const RestartTakenOver& over) { TakesOver(job, over); },
                 [&](const VerdictReached& verdict) { VerdictIs(job, verdict); }},
      fact.action);
}

// one-attempt: once a later attempt has registered, an earlier one acts no more: not on the
// journal, not on nodes, not on processes. A process that was paused or cut off may still act
// once; it must stop when it can know.
void Checkers::Books::Acts(JobBook& job, AmAttemptBook& attempt, std::string_view what) {
  if (!Checks(Invariant::kOneAttempt) || !attempt.superseded) return;
  if (now_ - *attempt.superseded <= kLearnsOfSuccessor) {
    TF_PROBE("checkers/superseded-am-still-acts");
    return;
  }
  Report(Invariant::kOneAttempt,
         NameOf(job) + ": application attempt " + std::to_string(attempt.attempt) + " orders " +
             std::string(what) + " although a later attempt has registered");
}

// ---------------------------------------------------------------- good-citizen, excluded-nodes

void Checkers::Books::Allocates(JobBook& job, AmAttemptBook& attempt,
                                const yarn::AllocateRequest& request) {
  job.last_event = now_;
  LimitsOfAsk(job, request);
  attempt.allocates.push_back(now_);
  while (now_ - attempt.allocates.front() > 1s) attempt.allocates.pop_front();
  if (Checks(Invariant::kGoodCitizen)) {
    if (attempt.allocates.size() > kAllocatesPerSecond) {
      Report(Invariant::kGoodCitizen, NameOf(job) + ": more than " +
                                          std::to_string(kAllocatesPerSecond) +
                                          " allocate calls with news in a second");
    }
    if (attempt.unregistered)
      Report(Invariant::kGoodCitizen, NameOf(job) + ": allocate after the RM confirmed the end");
    for (const ContainerId& id : request.release) {
      const ContainerBook* container = ContainerOf(id);
      if (container != nullptr && container->job == job.index) continue;
      Report(Invariant::kGoodCitizen,
             NameOf(job) + " releases " + ToString(id) + ", which is not its own");
    }
  }
  // The RM takes all of one call together.
  for (const std::string& host : request.blacklist_removals) attempt.excluded.erase(host);
  for (const yarn::ResourceRequest& row : request.ask) CheckAsk(job, attempt, row);
  if (!request.ask.empty()) CheckWanted(job, attempt);
  for (const std::string& host : request.blacklist_additions) attempt.excluded.insert(host);
  ApplicationBook& application = Acting(job);
  if (job.spec == nullptr || job.spec->gang.policy != GangPolicy::kAll ||
      !application.partial_since)
    return;
  if (!Checks(Invariant::kGoodCitizen) ||
      now_ - *application.partial_since <= job.spec->gang.hold + kHoldSlack || lossy_ ||
      rm_restarted_ || !Undisturbed(kHoldSlack) || !PartOfGangSince(job, application))
    return;
  Report(Invariant::kGoodCitizen,
         NameOf(job) + ": an incomplete gang keeps containers for longer than its hold of " +
             ToString(job.spec->gang.hold));
  application.partial_since = now_;
}

// An ask is well formed, and all asks together never want more containers than the job has tasks.
// excluded-nodes: no ask names a host that the same attempt has put on the RM's blacklist.
void Checkers::Books::CheckAsk(const JobBook& job, AmAttemptBook& attempt,
                               const yarn::ResourceRequest& row) {
  if (Checks(Invariant::kExcludedNodes) && row.num_containers > 0 &&
      attempt.excluded.count(row.resource_name) > 0) {
    Report(Invariant::kExcludedNodes, NameOf(job) + " asks for " +
                                          std::to_string(row.num_containers) +
                                          " containers on the excluded node " + row.resource_name);
  }
  if (!Checks(Invariant::kGoodCitizen)) return;
  if (!row.priority || row.num_containers < 0 || AnyNegative(row.capability) ||
      row.capability.memory_mb <= 0) {
    Report(Invariant::kGoodCitizen, NameOf(job) + ": malformed container request " + ToText(row));
    return;
  }
  if (row.resource_name != "*") return;
  attempt.asks[{*row.priority, row.allocation_request_id}] = row.num_containers;
}

void Checkers::Books::CheckWanted(const JobBook& job, const AmAttemptBook& attempt) {
  if (!Checks(Invariant::kGoodCitizen)) return;
  std::int64_t wanted = 0;
  for (const auto& [key, count] : attempt.asks) wanted += count;
  if (job.spec == nullptr || wanted <= job.spec->task_count()) return;
  Report(Invariant::kGoodCitizen, NameOf(job) + " asks for " + std::to_string(wanted) +
                                      " containers for its " +
                                      std::to_string(job.spec->task_count()) + " tasks");
}

// ---------------------------------------------------------------- final-once

void Checkers::Books::Finishes(JobBook& job, const yarn::FinishApplicationMasterRequest& request) {
  ApplicationBook& application = Acting(job);
  if (Checks(Invariant::kFinalOnce)) {
    if (application.final_status && *application.final_status != request.final_status) {
      Report(Invariant::kFinalOnce, NameOf(job) + ": the final status was " +
                                        KebabName(*application.final_status) + " and becomes " +
                                        KebabName(request.final_status));
    }
    if (!application.verdict || StatusOf(request.final_status) != *application.verdict) {
      Report(Invariant::kFinalOnce, NameOf(job) + ": the RM is told " +
                                        KebabName(request.final_status) +
                                        ", which is not the verdict");
    }
  }
  if (!application.final_status) application.final_status = request.final_status;
}

// A later attempt may say the durable verdict again, but never another one.
void Checkers::Books::VerdictIs(JobBook& job, const VerdictReached& verdict) {
  ApplicationBook& application = Acting(job);
  job.last_event = now_;
  if (Checks(Invariant::kFinalOnce) && application.verdict &&
      *application.verdict != verdict.status) {
    Report(Invariant::kFinalOnce, NameOf(job) + ": the verdict was " +
                                      KebabName(*application.verdict) + " and becomes " +
                                      KebabName(verdict.status));
  }
  if (application.verdict) return;
  application.verdict = verdict.status;
  application.verdict_at = now_;
  LimitsOfVerdict(job, application);
  CheckDeadlineVerdict(job, application, verdict);
  CheckRule(job, application, verdict);
  CheckVerdict(job, application, verdict);
}

void Checkers::Books::On(const trace::ApplicationEnded& fact) {
  JobBook* job = JobOf(fact.job);
  if (job == nullptr) return;
  ApplicationBook& application = ApplicationOf(*job, fact.application);
  job->last_event = now_;
  if (Checks(Invariant::kFinalOnce)) {
    if (application.ended && *application.rm_status != fact.final_status) {
      Report(Invariant::kFinalOnce, NameOf(*job) + ": " + ToString(fact.application) + " ended " +
                                        KebabName(*application.rm_status) + " and then " +
                                        KebabName(fact.final_status));
    }
  }
  if (!application.ended) application.ended = now_;
  application.rm_status = fact.final_status;
}

// ---------------------------------------------------------------- the client

void Checkers::Books::On(const trace::ClientTold& fact) {
  JobBook* job = JobOf(fact.job);
  if (job == nullptr) return;
  if (std::holds_alternative<KillRequested>(fact.event)) job->kill_wanted = job->kill_asked = true;
  const auto* elided = std::get_if<HeartbeatsElided>(&fact.event);
  if (elided != nullptr && elided->count > 0) {
    job->client_asked.value += elided->count;
    job->client_heard = std::max(job->client_heard, CallId(job->client_asked.value - 1));
  }
  const auto* reply = std::get_if<RmReplied>(&fact.event);
  if (reply == nullptr) return;
  if (std::holds_alternative<yarn::SubmitApplicationResponse>(reply->response) &&
      !job->applications.empty())
    job->applications.back().limits.submitted = true;
  const auto* answer = std::get_if<yarn::GetApplicationReportResponse>(&reply->response);
  if (answer == nullptr || reply->call <= job->client_heard) return;
  job->client_heard = reply->call;
  ApplicationBook& application = ApplicationOf(*job, answer->report.application);
  if (answer->report.state == yarn::YarnApplicationState::kRunning)
    application.limits.without_am.reset();
  else
    LimitsWithoutAm(*job, application);
}

void Checkers::Books::On(const trace::ClientOrdered& fact) {
  JobBook* job = JobOf(fact.job);
  if (job == nullptr) return;
  if (const auto* submitted = std::get_if<ApplicationSubmitted>(&fact.action)) {
    job->last_event = now_;
    static_cast<void>(ApplicationOf(*job, submitted->application));
    if (Checks(Invariant::kBudgets) && job->spec != nullptr &&
        submitted->resubmission > job->spec->retries.resubmit) {
      Report(Invariant::kBudgets, NameOf(*job) + ": resubmitted " +
                                      std::to_string(submitted->resubmission) + " times, allowed " +
                                      std::to_string(job->spec->retries.resubmit));
    }
  } else if (const auto* hdfs = std::get_if<CallHdfs>(&fact.action)) {
    job->client_asked = hdfs->call;
  } else if (const auto* call = std::get_if<CallRm>(&fact.action)) {
    job->client_asked = call->call;
    if (const auto* submit = std::get_if<yarn::SubmitApplicationRequest>(&call->request)) {
      ApplicationBook& application = ApplicationOf(*job, submit->application);
      application.limits.submitted = false;
      LimitsWithoutAm(*job, application);
    }
    if (std::holds_alternative<yarn::KillApplicationRequest>(call->request)) {
      CheckClientGivesUp(*job);
      job->kill_wanted = true;
    }
  } else if (const auto* ended = std::get_if<JobEnded>(&fact.action)) {
    if (Checks(Invariant::kFinalOnce) && job->ended) {
      Report(Invariant::kFinalOnce,
             NameOf(*job) + " ends a second time, " + KebabName(ended->status));
    }
    if (!job->applications.empty()) CheckEnd(*job, job->applications.back(), ended->status);
    job->ended = true;
    job->status = ended->status;
    JobLeaves(*job);
  }
}

/// What the client reports is the verdict; or that its user killed it, where the RM says so, too.
void Checkers::Books::CheckEnd(const JobBook& job, const ApplicationBook& application,
                               JobStatus status) {
  if (status == JobStatus::kUnfinished || !Checks(Invariant::kFinalOnce)) return;
  const auto rm = application.rm_status;
  if (job.kill_asked && rm == yarn::FinalApplicationStatus::kKilled &&
      status != JobStatus::kKilled) {
    Report(Invariant::kFinalOnce,
           NameOf(job) + " ends " + KebabName(status) + ", but its user has killed it");
  }
  if (!application.verdict || *application.verdict == status || job.kill_wanted) return;
  // Each AM may have died before it could tell the RM: then the RM has a status of its own.
  if (!application.final_taken && rm == yarn::FinalApplicationStatus::kFailed) return;
  Report(Invariant::kFinalOnce, NameOf(job) + " ends " + KebabName(status) +
                                    ", but its verdict was " + KebabName(*application.verdict));
}

// ---------------------------------------------------------------- budgets

/// What the AM before has told of counts once.
void Checkers::Books::TakesOver(JobBook& job, const RestartTakenOver& over) {
  const ApplicationBook& application = Acting(job);
  if (application.restarts_told >= over.number) return;
  // An AM before decided it, and died before it was told of that; one that has registered since has
  // announced what it took over.
  Instant from{};
  for (auto earlier = application.attempts.rbegin(); earlier != application.attempts.rend();
       ++earlier) {
    if (earlier == application.attempts.rbegin()) continue;
    from = earlier->stored_from;
    if (earlier->registered) break;
  }
  Restarts(job, over.decided, from);
}

void Checkers::Books::Restarts(JobBook& job, const RestartDecided& decision, Instant decided_from) {
  ApplicationBook& application = Acting(job);
  ++application.restarts_told;
  job.last_event = now_;
  CheckPayer(job, application, decision);
  for (const TaskId& task : decision.tasks) {
    application.tasks[task].restarts = true;
    application.tasks[task].restart_cause_at = decision.cause.at;
    ++application.processes[task].restarts;
    if (!application.epoch_appended && job.spec != nullptr && Trains(*job.spec, task))
      application.short_again = true;
  }
  if (decision.paid != Budget::kNone) {
    ++application.tasks[decision.cause.task].paid_in_a_row;
    if (decision.cause.exit_class == ExitClass::kTimeout)
      ++application.hung_paid[decision.cause.task];
  }
  const bool container_lost = decision.cause.exit_class == ExitClass::kNodeLost ||
                              decision.cause.exit_class == ExitClass::kPreempted;
  application.limits.whole_since.reset();
  // Tasks that need nothing of each other do not wait for each other again.
  const bool together = job.spec == nullptr || job.spec->strategy != Strategy::kIndependent;
  if (decision.unit == RestartUnit::kGang && container_lost && together &&
      !HoldsGang(job, Acting(job)))
    CollectAnew(application);
  LimitsOfGang(job);
  if (job.spec != nullptr && decision.paid != Budget::kNone) LimitsOfPayment(job, application);
  // Only the default policy spends the budgets of `retries` as they stand; other policies have
  // counters of their own.
  if (job.spec == nullptr || job.spec->policy.name != "default") return;
  switch (decision.paid) {
    case Budget::kUser:
      return Pays(job, application.paid_user, decided_from, job.spec->retries.user, "user");
    case Budget::kInfrastructure:
      return Pays(job, application.paid_infrastructure, decided_from,
                  job.spec->retries.infrastructure, "infrastructure");
    case Budget::kNone:
      return;
  }
}

void Checkers::Books::Pays(const JobBook& job, std::deque<Payment>& paid, Instant decided_from,
                           std::int32_t allowed, std::string_view budget) {
  // The AM counts from its decisions, by its clock; they are told when they are stored.
  constexpr Duration kToldLater = 1s;
  paid.push_back({.told = now_, .decided_from = decided_from});
  // The checker of verdicts asks what had been paid when a task was given up, long before.
  constexpr int kWindows = 8;
  while (now_ - paid.front().told > kWindows * job.spec->retries.window + kDecisionTakes &&
         paid.size() > 1)
    paid.pop_front();
  const auto counts = std::count_if(paid.begin(), paid.end(), [&](const Payment& payment) {
    return now_ - payment.decided_from <=
           std::max(job.spec->retries.window - kToldLater, Duration::zero());
  });
  if (!Checks(Invariant::kBudgets) || counts <= allowed) return;
  Report(Invariant::kBudgets, NameOf(job) + ": " + std::to_string(counts) + " restarts paid by " +
                                  std::string(budget) + " within " +
                                  ToString(job.spec->retries.window) + ", allowed " +
                                  std::to_string(allowed));
}

}  // namespace tfyarn::sim
