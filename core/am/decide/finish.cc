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
  stage_ = Stage::kReached;
  parts_.ending.Begin(verdict_, decided_, verdict_seq_);
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

void Finish::Advance() {
  if (stage_ == Stage::kWriting) return OnDurable();
  if (stage_ == Stage::kReached) parts_.ending.Advance();
}

void Finish::Abandon(const std::string& why, std::int32_t code) {
  TF_PROBE("finish/abandoned");
  AmCore& core = parts_.core;
  core.Note(why);
  stage_ = Stage::kReached;  // Nothing is decided any more.
  core.finishing = true;
  core.stopped = true;
  core.Emit(ExitAm{.code = code});
}

std::string Finish::WaitingFor() const {
  switch (stage_) {
    case Stage::kOpen:
      return "";
    case Stage::kEvidence:
      return fmt::format("{} to be found, as finish.require asks", unproven_.front());
    case Stage::kWriting:
      return "the journal to store the verdict";
    case Stage::kReached:
      return parts_.ending.WaitingFor();
  }
  return "";
}

}  // namespace tfyarn::am
