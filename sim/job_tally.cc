#include "sim/job_tally.h"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "config/fault_kinds.h"
#include "core/journal/journal.h"

namespace tfyarn::sim {
namespace {

/// Of two ends that are no further apart either may be told first.
constexpr Duration kAtOnce = 1s;

bool WentWithAm(ExitClass exit_class, std::string_view detail) {
  return exit_class == ExitClass::kAmLost ||
         detail.find("of a completed application") != std::string_view::npos ||
         (exit_class == ExitClass::kHeartbeatLost &&
          detail.find("did not find the new AM") != std::string_view::npos);
}

}  // namespace

void TallyBook::Stored(trace::JobIndex job, const ApplicationId& application,
                       std::string_view bytes) {
  jobs_[job].journals[application] += bytes;
}

void TallyBook::Observe(const trace::TraceRecord& record) {
  if (const auto* created = std::get_if<trace::JobCreated>(&record.fact)) {
    jobs_[created->job].tally.job = created->name;
  } else if (const auto* ordered = std::get_if<trace::AgentOrdered>(&record.fact)) {
    Job& job = jobs_[ordered->job];
    if (const auto* spawn = std::get_if<SpawnProcess>(&ordered->action)) {
      ++job.tally.starts[spawn->task];
      job.running[ordered->container] = spawn->task;
    } else if (std::holds_alternative<SignalProcess>(ordered->action)) {
      job.running.erase(ordered->container);
    }
  } else if (const auto* told = std::get_if<trace::AgentTold>(&record.fact)) {
    if (std::holds_alternative<AgentStarted>(told->event))
      jobs_[told->job].launched.erase(told->container);
    const auto* exited = std::get_if<ProcessExited>(&told->event);
    if (exited == nullptr) return;
    Job& job = jobs_[told->job];
    const auto running = job.running.find(told->container);
    if (running == job.running.end()) return;
    const std::string task = ToString(running->second);
    ++job.tally.blows[fmt::format("{} ends with {}", task, exited->exit.status())];
    const bool failed = exited->exit.status() != 0;
    const bool beside =
        running->second.type == "evaluator" || running->second.type == "tensorboard";
    if (!job.last_end.empty() && record.at - job.last_end_at < kAtOnce) {
      ++job.tally.blows[fmt::format("{} ends after {}", task, job.last_end)];
      if (failed && job.last_failed) job.tally.failed_together.insert({task, job.last_end});
      if (failed != job.last_failed)
        job.tally.failed_beside_success.insert(failed ? task : job.last_end);
      job.tally.failed_beside_the_gang |= (failed || job.last_failed) && beside != job.last_beside;
    }
    job.last_failed = failed;
    job.last_beside = beside;
    job.last_end = task;
    job.last_end_at = record.at;
    job.running.erase(running);
  } else if (const auto* fault = std::get_if<trace::FaultBegan>(&record.fact)) {
    // Whatever exit status it gives, also that of a container that the AM gave back.
    if (!config::TraitsOf(fault->kind).loses_containers) return;
    for (auto& [index, job] : jobs_) {
      if (fault->target.rfind(job.tally.job + " ", 0) == 0)
        ++job.tally.blows["a container is lost"];
    }
  } else if (const auto* freed = std::get_if<trace::ContainerFreed>(&record.fact)) {
    // What the AM gave back, what ended with its agent, and what went with the AM is none.
    Job& job = jobs_[freed->job];
    const bool taken = freed->exit_status < 0 && freed->exit_status != container_exit::kAborted &&
                       freed->exit_status != container_exit::kKilledByAppMaster;
    const bool never_began = freed->exit_status > 0 && job.launched.contains(freed->container);
    if (taken || never_began)
      ++job.tally.blows[fmt::format("a container ends with {}", freed->exit_status)];
  } else if (const auto* am = std::get_if<trace::AmTold>(&record.fact)) {
    const auto* reply = std::get_if<RmReplied>(&am->event);
    const auto* allocated =
        reply == nullptr ? nullptr : std::get_if<yarn::AllocateResponse>(&reply->response);
    if (allocated == nullptr) return;
    Job& job = jobs_[am->job];
    job.marked.insert(allocated->preempt_strict.begin(), allocated->preempt_strict.end());
    job.marked.insert(allocated->preempt_contract.begin(), allocated->preempt_contract.end());
    if (!job.marked.empty())
      job.tally.blows["containers are marked"] = static_cast<std::int32_t>(job.marked.size());
  } else if (const auto* said = std::get_if<trace::AmOrdered>(&record.fact)) {
    const auto* call = std::get_if<CallNm>(&said->action);
    const auto* launch =
        call == nullptr ? nullptr : std::get_if<yarn::StartContainersRequest>(&call->request);
    if (launch != nullptr) {
      for (const yarn::StartContainerRequest& one : launch->containers)
        jobs_[said->job].launched.insert(one.container);
    }
    const auto* ended = std::get_if<TaskAttemptEnded>(&said->action);
    if (ended != nullptr && WentWithAm(ended->exit_class, ended->diagnostics))
      ++jobs_[said->job].tally.am_lost;
  }
}

/// As a later attempt would read them: an entry that was stored twice counts once.
std::vector<JobTally> TallyBook::Finish() const {
  std::vector<JobTally> tallies;
  for (const auto& [index, job] : jobs_) {
    JobTally tally = job.tally;
    for (const auto& [application, bytes] : job.journals) {
      for (const journal::ReadEntry& read : journal::ReadJournalBytes(bytes).entries) {
        if (const auto* paid = std::get_if<journal::RestartPaid>(&read.entry)) {
          for (const TaskId& task : paid->tasks) ++tally.restarted[task];
          const bool with_ps =
              std::any_of(tally.starts.begin(), tally.starts.end(),
                          [](const auto& started) { return started.first.type == "ps"; });
          tally.last_one_hung |= with_ps && paid->cause.detail.starts_with("still ran when all");
          tally.ok_starts_again |= paid->cause.exit_class == ExitClass::kOk;
          if (!WentWithAm(paid->cause.exit_class, paid->cause.detail))
            ++tally.restarts[paid->budget];
        }
        if (const auto* verdict = std::get_if<journal::VerdictDecided>(&read.entry)) {
          ++tally.verdicts;
          tally.failed_by_am_lost =
              tally.failed_by_am_lost ||
              (verdict->cause && WentWithAm(verdict->cause->exit_class, verdict->cause->detail));
        }
      }
    }
    tallies.push_back(std::move(tally));
  }
  return tallies;
}

}  // namespace tfyarn::sim
