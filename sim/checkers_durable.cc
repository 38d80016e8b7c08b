#include "sim/checkers_durable.h"

#include <algorithm>
#include <utility>

#include "core/journal/journal.h"
#include "core/model/text.h"
#include "core/model/visit.h"
#include "sim/behavior.h"

namespace tfyarn::sim {

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

namespace {

/// `list` is in order.
template <class T>
bool Holds(const std::vector<T>& list, const T& value) {
  return std::binary_search(list.begin(), list.end(), value);
}

/// Kept in order, each once.
template <class T>
void Insert(std::vector<T>& list, const T& value) {
  const auto place = std::lower_bound(list.begin(), list.end(), value);
  if (place == list.end() || *place != value) list.insert(place, value);
}

std::string AttemptOf(const TaskId& task, TaskAttempt attempt) {
  return "attempt " + std::to_string(attempt.value) + " of " + ToString(task);
}

/// The spec that is stored. A task beside the training may have come into another container since:
/// its own address, for which no peer asks, is then another one, and own-address judges it.
bool IsStored(const SpecRef& stored, const StartProcess& start, const JobSpec* job) {
  if (stored.id() == start.spec.id()) return true;
  const TaskId& task = start.fence.task;
  if (job == nullptr || Trains(*job, task)) return false;
  if (stored.get() == nullptr || start.spec.get() == nullptr) return false;
  ClusterSpec expected = *stored.get();
  const auto index = static_cast<std::size_t>(task.index);
  const auto own = expected.tasks.find(task.type);
  const auto sent = start.spec.get()->tasks.find(task.type);
  if (own == expected.tasks.end() || sent == start.spec.get()->tasks.end() ||
      index >= own->second.size() || index >= sent->second.size())
    return false;
  own->second[index] = sent->second[index];
  return expected == *start.spec.get();
}

}  // namespace

// ---------------------------------------------------------------- what HDFS has

void DurableWatch::JobSubmitted(trace::JobIndex job, std::shared_ptr<const JobSpec> spec) {
  specs_[job.value] = std::move(spec);
}

void DurableWatch::Stored(trace::JobIndex job, const ApplicationId& application,
                          std::string_view bytes) {
  Journal& journal = journals_[{job.value, application}];
  for (const journal::ReadEntry& read : journal::ReadFrames(bytes)) Store(journal, read.entry);
}

void DurableWatch::Store(Journal& journal, const journal::JournalEntry& entry) {
  const auto starts = [&](const std::vector<journal::JournaledProcess>& processes) {
    for (const journal::JournaledProcess& one : processes)
      Insert(journal.tasks[one.task].starts, one.attempt);
  };
  std::visit(
      Overloaded{Ignore<journal::AttemptStarted, journal::AllRunning, journal::TypeWaived,
                        journal::MemoryRaised, journal::HostsKeptOff, journal::GaveBack,
                        journal::DependencyRan>{},
                 [&](const journal::AgentsLaunched& launched) {
                   for (const journal::JournaledAgent& agent : launched.agents)
                     Insert(journal.launches, agent.container);
                 },
                 [&](const journal::EpochBegan& began) {
                   journal.specs[began.spec.epoch] = Share(began.spec);
                   starts(began.processes);
                 },
                 [&](const journal::ProcessesOrdered& ordered) { starts(ordered.processes); },
                 [&](const journal::RestartPaid& paid) {
                   ++journal.restarts;
                   for (const TaskId& task : paid.tasks) {
                     TaskEntries& entries = journal.tasks[task];
                     ++entries.restarts;
                     if (!entries.starts.empty()) entries.decided = entries.starts.back();
                   }
                 },
                 [&](const journal::TaskEnded& ended) {
                   TaskEntries& entries = journal.tasks[ended.task];
                   entries.decided =
                       std::max(entries.decided.value_or(TaskAttempt{}), ended.process.attempt);
                 },
                 [&](const journal::VerdictDecided& decided) {
                   if (!journal.verdict) journal.verdict = decided.status;
                 },
                 [&](const journal::FailureSeen& seen) {
                   Insert(journal.tasks[seen.task].seen, seen.process.attempt);
                   for (const journal::JournaledProcess& stopped : seen.stopped)
                     Insert(journal.tasks[stopped.task].seen, stopped.attempt);
                 }},
      entry);
}

bool DurableWatch::IsDecided(const Journal& journal, const TaskId& task, TaskAttempt attempt) {
  if (journal.verdict || journal.evidence_sought) return true;
  const auto entries = journal.tasks.find(task);
  return entries != journal.tasks.end() && entries->second.decided &&
         *entries->second.decided >= attempt;
}

/// What ends it now falsifies no evidence: why it ends is stored. A process that the journal does
/// not know must go whatever else holds.
bool DurableWatch::MayEnd(const Journal& journal, const TaskId& task, TaskAttempt attempt) {
  if (IsDecided(journal, task, attempt)) return true;
  const auto entries = journal.tasks.find(task);
  return entries == journal.tasks.end() || !Holds(entries->second.starts, attempt) ||
         Holds(entries->second.seen, attempt);
}

void DurableWatch::Missing(const std::string& what, const std::string& entry) {
  broken_.push_back(what + ", but HDFS does not have " + entry);
}

void DurableWatch::Forget(trace::JobIndex job) {
  const auto first = journals_.lower_bound({job.value, ApplicationId{}});
  auto last = first;
  while (last != journals_.end() && last->first.first == job.value) ++last;
  journals_.erase(first, last);
  std::erase_if(applications_, [&](const auto& entry) { return entry.first.first == job.value; });
  specs_.erase(job.value);
  ends_.erase(job.value);
}

// ---------------------------------------------------------------- what happened

void DurableWatch::Observe(const trace::AmTold& told) {
  if (const auto* started = std::get_if<AmStarted>(&told.event)) {
    applications_[{told.job.value, told.resubmission}] = started->attempt.application;
    return;
  }
  const auto* said = std::get_if<AgentSaid>(&told.event);
  if (said == nullptr) return;
  const auto* ended = std::get_if<ProcessEnded>(&said->message);
  // A container that ends with its agent keeps nothing, whatever the AM does.
  if (ended == nullptr || ended->exit.stopped_by_agent || ended->agent_leaves) return;
  std::map<ContainerId, End>& ends = ends_[told.job.value];
  const auto end = ends.find(ended->fence.container);
  if (end != ends.end() && end->second.attempt == ended->process.attempt) end->second.told = true;
}

void DurableWatch::Observe(const trace::AgentTold& told) {
  if (const auto* spawned = std::get_if<ProcessSpawned>(&told.event)) {
    ends_[told.job.value][told.container].ran = spawned->attempt;
  } else if (const auto* exited = std::get_if<ProcessExited>(&told.event)) {
    End& end = ends_[told.job.value][told.container];
    end.attempt = exited->attempt;
    end.told = false;
  } else if (const auto* started = std::get_if<AgentStarted>(&told.event)) {
    ends_[told.job.value][told.container] = {.task = started->fence.task, .attempt = {}, .ran = {}};
  }
}

void DurableWatch::Observe(const trace::AmOrdered& ordered) {
  if (const auto* question = std::get_if<CallHdfs>(&ordered.action)) {
    if (std::holds_alternative<hdfs::GetFileStatusRequest>(question->request))
      JournalOf(ordered).evidence_sought = true;
    return;
  }
  const auto* rm = std::get_if<CallRm>(&ordered.action);
  const auto* nm = std::get_if<CallNm>(&ordered.action);
  const auto* send = std::get_if<SendToAgent>(&ordered.action);
  const auto* restart = std::get_if<RestartDecided>(&ordered.action);
  const auto* verdict = std::get_if<VerdictReached>(&ordered.action);
  if (rm == nullptr && nm == nullptr && send == nullptr && restart == nullptr && verdict == nullptr)
    return;
  // An AM that is cut off, and was replaced, knows nothing of what the next one starts.
  const std::pair acting(ordered.resubmission, ordered.am_attempt);
  auto& latest = acting_[ordered.job.value];
  latest = std::max(latest, acting);
  if (nm != nullptr && acting < latest) return;
  Journal& journal = JournalOf(ordered);
  if (rm != nullptr) {
    if (const auto* allocate = std::get_if<yarn::AllocateRequest>(&rm->request)) {
      for (const ContainerId& container : allocate->release)
        JudgeTaken(JournalOf(ordered.job, container), container, "given back",
                   ends_[ordered.job.value]);
    }
    const auto* finish = std::get_if<yarn::FinishApplicationMasterRequest>(&rm->request);
    if (finish == nullptr) return;
    ++judged_;
    if (journal.verdict != StatusOf(finish->final_status))
      Missing("the RM is told " + KebabName(finish->final_status), "that verdict");
  } else if (nm != nullptr) {
    Judge(*nm, ordered.job);
  } else if (send != nullptr) {
    Judge(JournalOf(ordered.job, send->container), *send, ordered.job);
  } else if (restart != nullptr) {
    ++judged_;
    if (++journal.restarts_told > journal.restarts)
      Missing("restart " + std::to_string(journal.restarts_told) + " is announced",
              "so many of them");
  } else {
    ++judged_;
    if (journal.verdict != verdict->status)
      Missing("the verdict " + KebabName(verdict->status) + " is announced", "it");
  }
}

// ---------------------------------------------------------------- which order rests on what

DurableWatch::Journal& DurableWatch::JournalOf(const trace::AmOrdered& ordered) {
  const std::uint32_t job = ordered.job.value;
  return journals_[{job, applications_[{job, ordered.resubmission}]}];
}

/// The AM of an earlier application of the job may still end what it held, by its own journal, when
/// the next application's AM acts.
DurableWatch::Journal& DurableWatch::JournalOf(trace::JobIndex job, const ContainerId& container) {
  return journals_[{job.value, container.application_attempt.application}];
}

void DurableWatch::JudgeTaken(const Journal& journal, const ContainerId& container,
                              std::string_view how, const std::map<ContainerId, End>& ends) {
  const auto end = ends.find(container);
  if (end == ends.end() || !end->second.ran) return;
  ++judged_;
  if (MayEnd(journal, end->second.task, *end->second.ran)) return;
  Missing(ToString(container) + ", where " + AttemptOf(end->second.task, *end->second.ran) +
              " runs or ran, is " + std::string(how),
          "why");
}

void DurableWatch::Judge(const CallNm& call, trace::JobIndex job) {
  if (const auto* stop = std::get_if<yarn::StopContainersRequest>(&call.request)) {
    for (const ContainerId& container : stop->containers)
      JudgeTaken(JournalOf(job, container), container, "stopped", ends_[job.value]);
    return;
  }
  const auto* start = std::get_if<yarn::StartContainersRequest>(&call.request);
  if (start == nullptr) return;
  for (const yarn::StartContainerRequest& one : start->containers) {
    ++judged_;
    if (Holds(JournalOf(job, one.container).launches, one.container)) continue;
    Missing(ToString(one.container) + " is launched", "that launch");
  }
}

void DurableWatch::Judge(Journal& journal, const SendToAgent& send, trace::JobIndex job) {
  if (const auto* start = std::get_if<StartProcess>(&send.message)) {
    const auto spec = specs_.find(job.value);
    JudgeStart(journal, *start, spec == specs_.end() ? nullptr : spec->second.get());
  } else if (const auto* stop = std::get_if<StopProcess>(&send.message)) {
    ++judged_;
    if (MayEnd(journal, stop->fence.task, stop->attempt)) return;
    Missing(AttemptOf(stop->fence.task, stop->attempt) + " is ordered to end", "why");
  } else if (const auto* seen = std::get_if<ReportSeen>(&send.message)) {
    if (seen->kind != ReportKind::kProcessEnded) return;
    ++judged_;
    // The agent says it no more: what is not stored by now, no later AM will know.
    if (IsDecided(journal, seen->fence.task, seen->attempt)) return;
    Missing("the end of " + AttemptOf(seen->fence.task, seen->attempt) + " is acknowledged",
            "what it leads to");
  } else if (std::holds_alternative<EndAgent>(send.message)) {
    const std::map<ContainerId, End>& ends = ends_[job.value];
    const auto end = ends.find(send.container);
    if (end == ends.end() || !end->second.told) return;
    ++judged_;
    if (IsDecided(journal, end->second.task, end->second.attempt)) return;
    Missing(ToString(send.container) + " is given back after the end of " +
                AttemptOf(end->second.task, end->second.attempt),
            "what that end leads to");
  }
}

void DurableWatch::JudgeStart(Journal& journal, const StartProcess& start, const JobSpec* job) {
  ++judged_;
  const TaskId& task = start.fence.task;
  TaskEntries& entries = journal.tasks[task];
  const std::string what = AttemptOf(task, start.process.attempt) + " is ordered to start";
  if (!Holds(entries.starts, start.process.attempt)) return Missing(what, "that start");
  const auto spec = journal.specs.find(start.process.epoch);
  if (spec == journal.specs.end() || !IsStored(spec->second, start, job))
    return Missing(what, "the cluster spec of epoch " + std::to_string(start.process.epoch.value));
  Insert(entries.ordered, start.process.attempt);
  if (static_cast<std::int32_t>(entries.ordered.size()) > 1 + entries.restarts)
    Missing(what + ", the " + std::to_string(entries.ordered.size()) + "th one",
            "more than " + std::to_string(entries.restarts) + " decisions to start it again");
}

}  // namespace tfyarn::sim
