#include "core/am/attempts.h"

#include <utility>

#include "core/model/check.h"
#include "core/model/probe.h"

namespace tfyarn::am {
namespace {

/// The RM has announced to take a member of the collective to which the task belongs.
bool TeamIsNoticed(const AmCore& core, TaskIndex task) {
  if (core.job->strategy != Strategy::kMultiWorker || !core.tasks.record(task).training)
    return false;
  for (std::uint32_t i = 0; i < core.tasks.size(); ++i) {
    const TaskRecord& member = core.tasks.record(TaskIndex(i));
    if (member.training && member.preemption_noticed) {
      TF_PROBE("attempts/team-is-noticed");
      return true;
    }
  }
  return false;
}

}  // namespace

AttemptEnd DescribeEnd(const AmCore& core, TaskIndex task, policy::ExitEvidence evidence,
                       std::string detail) {
  const TaskSnapshot& shown = core.tasks.shown(task);
  AttemptEnd end{.task = task,
                 .process = core.tasks.ProcessOf(task),
                 .container = shown.container,
                 .node = shown.node,
                 .evidence = std::move(evidence),
                 .detail = std::move(detail),
                 .at = core.now};
  end.record = policy::Classify(end.evidence);
  // Notice was given: however the process then ends, it is the RM that took its container. In a
  // collective one that is warned takes all with it, and any of them may be the first to end.
  const bool noticed = core.tasks.record(task).preemption_noticed || TeamIsNoticed(core, task);
  if (noticed && end.record.exit_class != ExitClass::kOk &&
      end.record.exit_class != ExitClass::kKilledByUs) {
    TF_PROBE("attempts/preempted-by-notice");
    end.record = {.exit_class = ExitClass::kPreempted,
                  .exit = end.record.exit,
                  .source = policy::ExitSource::kPlatform};
  }
  return end;
}

const AttemptEnd& Attempts::End(TaskIndex task, policy::ExitEvidence evidence, std::string detail) {
  TF_CHECK(core_.tasks.ProcessAlive(task));
  const TaskRecord& record = core_.tasks.record(task);
  if (!evidence.process && record.told_end) {
    TF_PROBE("attempts/told-with-its-registration");
    const bool stopping = record.process == ProcessPhase::kStopping;
    evidence.process = record.told_end;
    evidence.process->stopped_by_agent = stopping && record.told_end->stopped_by_agent;
  }
  AttemptEnd end = DescribeEnd(core_, task, std::move(evidence), std::move(detail));
  // Whose end only YARN or silence tells may never have started, nor may one that was stopped.
  const bool ran = core_.tasks.record(task).process == ProcessPhase::kOrdered &&
                   end.evidence.process && end.evidence.launch_error.empty();
  core_.tasks.SetProcess(task, ProcessPhase::kEnded);
  if (ran) core_.tasks.NoteRan(task);
  return Keep(std::move(end));
}

const AttemptEnd& Attempts::Recall(TaskIndex task, const journal::FailureSeen& seen) {
  if (core_.tasks.ProcessAlive(task)) return End(task, seen.evidence, seen.detail);
  AttemptEnd end = DescribeEnd(core_, task, seen.evidence, seen.detail);
  end.container = seen.container;
  end.node = seen.node;
  return Keep(std::move(end));
}

const AttemptEnd& Attempts::EndBeforeStart(TaskIndex task, policy::ExitEvidence evidence,
                                           std::string detail) {
  AttemptEnd end = DescribeEnd(core_, task, std::move(evidence), std::move(detail));
  TF_PROBE("attempts/ended-before-its-start");
  if (core_.tasks.record(task).ever_ordered) end.process.attempt = end.process.attempt.next();
  end.process.epoch = core_.snapshot.epoch;
  return Keep(std::move(end));
}

std::optional<TaskIndex> Attempts::LastEndedIn(const ContainerId& container) const {
  for (const auto& [task, end] : core_.ends) {
    if (end.container == container) return task;
  }
  return std::nullopt;
}

void Attempts::AmendByCompletion(TaskIndex task, const allocation::LostContainer& lost) {
  const auto entry = core_.ends.find(task);
  if (entry == core_.ends.end() || entry->second.container != lost.id) return;
  if (core_.policy && core_.policy->first_report_wins()) {
    TF_PROBE("attempts/first-report-stands");
    return;
  }
  AttemptEnd& end = entry->second;
  // What befalls a container later is not how a process ended that its agent saw end.
  if (end.record.source == policy::ExitSource::kAgent &&
      core_.now - end.at > core_.job->deadlines.blame) {
    TF_PROBE("attempts/too-late-to-amend");
    return;
  }
  policy::ExitEvidence evidence = end.evidence;
  evidence.yarn_exit = lost.exit_status;
  evidence.diagnostics = lost.diagnostics;
  const policy::ExitRecord later = policy::Classify(evidence);
  const bool decided = end.decided.value > 0;
  if (!policy::IsBetter(end.record, later, decided)) return;
  TF_PROBE("attempts/amended");
  end.evidence = std::move(evidence);
  if (decided) TF_PROBE("attempts/amended-after-the-decision");
  end.record = later;
  if (end.detail.empty()) end.detail = lost.diagnostics;
  Say(end);
}

void Attempts::Decided(TaskIndex task, JournalSeq entry) {
  const auto end = core_.ends.find(task);
  if (end == core_.ends.end() || end->second.decided.value > 0) return;
  // Nothing that has to be durable: the newest entry is as good as any, or the first to come.
  end->second.decided =
      entry.value > 0 ? entry : JournalSeq(std::max<std::uint64_t>(core_.out.last().value, 1));
  Acknowledge(end->second);
}

void Attempts::AnswerAgain(TaskIndex task) {
  const auto end = core_.ends.find(task);
  if (end == core_.ends.end()) {
    // An AM before decided it, and its answer was lost with it.
    if (core_.tasks.record(task).outcome != policy::Outcome::kOpen)
      core_.Answer(task, EndSeenOf(task, core_.tasks.ProcessOf(task).attempt));
    return;
  }
  if (end->second.decided.value == 0) return;
  if (core_.out.IsDurable(end->second.decided)) Acknowledge(end->second);
}

journal::TaskEnded Attempts::JournalFormOf(const AttemptEnd& end, policy::Outcome outcome) const {
  return {.task = core_.tasks.id(end.task),
          .process = end.process,
          .exit = end.record.exit,
          .exit_class = end.record.exit_class,
          .outcome = outcome,
          .at = core_.StoredAt(end.at),
          .node = end.node.host,
          .detail = end.detail};
}

const AttemptEnd& Attempts::Keep(AttemptEnd end) {
  AttemptEnd& kept = core_.ends[end.task];
  kept = std::move(end);
  Say(kept);
  return kept;
}

void Attempts::Say(const AttemptEnd& end) {
  core_.Emit(TaskAttemptEnded{.task = core_.tasks.id(end.task),
                              .process = end.process,
                              .container = end.container,
                              .node = end.node,
                              .exit = end.record.exit,
                              .exit_class = end.record.exit_class,
                              .diagnostics = end.detail});
}

void Attempts::Acknowledge(const AttemptEnd& end) {
  const TaskSnapshot& shown = core_.tasks.shown(end.task);
  if (!shown.has_container || shown.container != end.container || !end.evidence.process) return;
  core_.out.AnswerWhenDurable(end.decided, end.container, EndSeenOf(end.task, end.process.attempt));
}

ReportSeen Attempts::EndSeenOf(TaskIndex task, TaskAttempt attempt) const {
  return {
      .fence = core_.tasks.FenceOf(task), .kind = ReportKind::kProcessEnded, .attempt = attempt};
}

}  // namespace tfyarn::am
