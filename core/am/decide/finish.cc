#include "core/am/decide/finish.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/am/am_parts.h"
#include "core/model/check.h"
#include "core/model/probe.h"
#include "core/model/text.h"
#include "core/policy/diagnostics.h"

namespace tfyarn::am {
namespace {

constexpr Duration kEvidenceRetry = 5s;
constexpr Duration kEvidenceGiveUp = 10min;

}  // namespace

// ---------------------------------------------------------------- the verdict

void Finish::Fail(Cause cause, const std::string& rule, const std::string& why,
                  const policy::Tried& tried) {
  if (stage_ != Stage::kOpen && stage_ != Stage::kEvidence) {
    TF_PROBE("finish/failure-after-the-verdict");
    return;
  }
  VerdictReached verdict{.status = JobStatus::kFailed, .cause = std::move(cause), .rule = rule};
  verdict.diagnostics = policy::FailureText(verdict, why, tried);
  Write(std::move(verdict));
}

void Finish::Succeed(const std::string& rule, const std::string& why) {
  if (stage_ != Stage::kOpen) return;
  verdict_ = {
      .status = JobStatus::kSucceeded, .diagnostics = policy::SuccessText(rule, why), .rule = rule};
  StartNothingMore();
  unproven_ = parts_.core.job->finish.require_paths;
  if (unproven_.empty()) return Write(verdict_);
  stage_ = Stage::kEvidence;
  evidence_until_ = parts_.core.now + kEvidenceGiveUp;
  AskForEvidence();
}

void Finish::Restore(const VerdictReached& verdict, Instant decided) {
  TF_PROBE("finish/verdict-restored");
  TF_CHECK(stage_ == Stage::kOpen);
  verdict_ = verdict;
  decided_ = decided;
  parts_.core.finishing = true;
  stage_ = Stage::kWriting;
}

/// What the verdict made needless is asked for no longer, while the journal stores it or evidence
/// is looked for: a container that came then would be granted for nothing.
void Finish::StartNothingMore() {
  AmCore& core = parts_.core;
  core.finishing = true;
  core.allocation.CancelAll();
}

void Finish::Write(VerdictReached verdict) {
  AmCore& core = parts_.core;
  StartNothingMore();
  verdict_ = std::move(verdict);
  decided_ = core.now;
  stage_ = Stage::kWriting;
  journal::VerdictDecided entry{.status = verdict_.status,
                                .diagnostics = verdict_.diagnostics,
                                .cause = std::nullopt,
                                .rule = verdict_.rule,
                                .at = core.StoredAt(core.now)};
  if (verdict_.cause) entry.cause = core.Journaled(*verdict_.cause);
  verdict_seq_ = core.Append(entry);
}

void Finish::OnDurable() {
  if (stage_ == Stage::kWriting && parts_.core.out.IsDurable(verdict_seq_)) Reach();
}

void Finish::Reach() {
  AmCore& core = parts_.core;
  core.snapshot.verdict = verdict_;
  core.Emit(verdict_);
  core.Enter(JobState::kDraining);
  stage_ = Stage::kDraining;
  Drain();
}

// ---------------------------------------------------------------- evidence

void Finish::AskForEvidence() {
  AmCore& core = parts_.core;
  for (const std::string& path : unproven_) {
    last_call_ = last_call_.next();
    asked_[last_call_] = path;
    core.Emit(CallHdfs{.call = last_call_, .request = hdfs::GetFileStatusRequest{.path = path}});
  }
}

void Finish::OnHdfsReplied(const HdfsReplied& reply) {
  AmCore& core = parts_.core;
  const auto call = asked_.find(reply.call);
  if (call == asked_.end() || stage_ != Stage::kEvidence) {
    TF_PROBE("finish/unawaited-hdfs-answer");
    core.Note(
        fmt::format("HDFS answered call {}, for which the AM does not wait", reply.call.value));
    return;
  }
  const std::string path = call->second;
  asked_.erase(call);
  if (const auto* error = std::get_if<hdfs::HdfsError>(&reply.response)) {
    if (error->code == hdfs::HdfsErrorCode::kNotFound ||
        error->code == hdfs::HdfsErrorCode::kInvalidPath) {
      TF_PROBE("finish/evidence-is-missing");
      return Fail({.at = core.now, .detail = error->message}, "finish/evidence-missing",
                  fmt::format("the job ended well, but {} is missing", path));
    }
    TF_PROBE("finish/evidence-asked-again");
    evidence_again_at_ = core.now + kEvidenceRetry;
    return;
  }
  std::erase(unproven_, path);
  if (unproven_.empty()) Write(verdict_);
}

void Finish::OnEvidenceRetry() {
  evidence_again_at_ = kNever;
  asked_.clear();
  AskForEvidence();
}

void Finish::OnEvidenceGiveUp() {
  TF_PROBE("finish/evidence-is-unknown");
  Fail({.at = parts_.core.now}, "finish/evidence-unknown",
       fmt::format("the job ended well, but {} could not be looked for within {}",
                   unproven_.front(), ToString(kEvidenceGiveUp)));
}

// ---------------------------------------------------------------- the drain

void Finish::Drain() {
  AmCore& core = parts_.core;
  core.agents_until = kNever;
  core.allocation.CancelAll();
  for (std::uint32_t i = 0; i < core.tasks.size(); ++i) {
    const TaskIndex task(i);
    core.tasks.SetStart(task, StartMode::kNone);
    const TaskRecord& record = core.tasks.record(task);
    if (record.agent == AgentPhase::kNone) continue;
    if (record.agent == AgentPhase::kGranted) {
      TF_PROBE("finish/granted-when-it-ends");
      parts_.leaving.Release(task);
      continue;
    }
    const TaskClass task_class = core.tasks.shown(task).task_class;
    const bool later = task_class == TaskClass::kService || task_class == TaskClass::kSidecar;
    if (verdict_.status != JobStatus::kSucceeded || !core.tasks.ProcessAlive(task)) {
      EndTask(task);
    } else if (const Duration drain = DrainOf(task); drain > Duration::zero()) {
      core.tasks.mutable_record(task).drain_until = std::max(core.now, decided_ + drain);
    } else if (!later) {
      EndTask(task);
    }
  }
}

Duration Finish::DrainOf(TaskIndex task) const {
  const auto& drain = parts_.core.job->finish.drain;
  const auto entry = drain.find(parts_.core.tasks.id(task).type);
  return entry == drain.end() ? Duration::zero() : entry->second;
}

void Finish::OnDrained(TaskIndex task) {
  TF_PROBE("finish/drain-is-over");
  parts_.core.tasks.mutable_record(task).drain_until = kNever;
  if (stage_ == Stage::kDraining) EndTask(task);
}

void Finish::EndTask(TaskIndex task) {
  const TaskRecord& record = parts_.core.tasks.record(task);
  if (record.agent == AgentPhase::kNone) return;
  if (parts_.core.tasks.ProcessAlive(task)) {
    parts_.processes.Stop(task);
  } else if (record.agent == AgentPhase::kUp) {
    parts_.leaving.EndAgent(task, verdict_seq_);
  } else {
    parts_.leaving.Stop(task);
  }
}

void Finish::OnProcessEnded(TaskIndex task) {
  if (stage_ == Stage::kDraining) EndTask(task);
}

void Finish::EndClass(TaskClass task_class) {
  const AmCore& core = parts_.core;
  for (std::uint32_t i = 0; i < core.tasks.size(); ++i) {
    const TaskIndex task(i);
    const bool drains =
        core.tasks.ProcessAlive(task) && core.tasks.record(task).drain_until != kNever;
    if (core.tasks.shown(task).task_class == task_class && !drains) EndTask(task);
  }
}

void Finish::Advance() {
  AmCore& core = parts_.core;
  if (stage_ == Stage::kWriting) return OnDurable();
  if (stage_ != Stage::kDraining) return;
  if (!services_ended_ && core.tasks.AliveOf(TaskClass::kTracked) == 0) {
    services_ended_ = true;
    EndClass(TaskClass::kService);
  }
  if (!sidecars_ended_ && services_ended_ && core.tasks.AliveOf(TaskClass::kDrained) == 0) {
    sidecars_ended_ = true;
    EndClass(TaskClass::kSidecar);
  }
  if (!EverythingGone() || !core.allocation.everything_told()) return;
  stage_ = Stage::kUnregistering;
  core.allocation.Finish(verdict_.status, verdict_.diagnostics);
}

bool Finish::EverythingGone() const {
  const AmCore& core = parts_.core;
  return core.tasks.containers() == 0 && parts_.leaving.all_empty();
}

void Finish::OnUnregistered() {
  AmCore& core = parts_.core;
  if (stage_ != Stage::kUnregistering) return;
  stage_ = Stage::kDone;
  core.Enter(JobState::kFinished);
  core.snapshot.waiting_for.clear();
  core.stopped = true;
  core.Emit(ExitAm{.code = 0});
}

void Finish::Abandon(const std::string& why, std::int32_t code) {
  TF_PROBE("finish/abandoned");
  AmCore& core = parts_.core;
  core.Note(why);
  stage_ = Stage::kDone;
  core.finishing = true;
  core.stopped = true;
  core.Emit(ExitAm{.code = code});
}

std::string Finish::WaitingFor() const {
  const AmCore& core = parts_.core;
  switch (stage_) {
    case Stage::kOpen:
    case Stage::kDone:
      return "";
    case Stage::kEvidence:
      return fmt::format("{} to be found, as finish.require asks", unproven_.front());
    case Stage::kWriting:
      return "the journal to store the verdict";
    case Stage::kDraining:
      return fmt::format(
          "{} containers to end",
          core.tasks.containers() + static_cast<std::int32_t>(parts_.leaving.size()));
    case Stage::kUnregistering:
      return "the ResourceManager to confirm the final status";
  }
  return "";
}

}  // namespace tfyarn::am
