// The one verdict of the job.
//
// The AM stores a verdict before it says so, and the first one stands. A success may need evidence
// (finish.require), which is looked for before. What follows from the verdict is ending's business.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/model/am.h"
#include "core/model/task_index.h"
#include "core/policy/diagnostics.h"

namespace tfyarn::am {

struct AmParts;

class Finish {
 public:
  explicit Finish(AmParts& parts) : parts_(parts) {}

  // Decisions. Those after the first are ignored.
  void Fail(Cause cause, const std::string& rule, const std::string& why,
            const policy::Tried& tried = {});
  /// Succeeds if what finish.require asks for is there.
  void Succeed(const std::string& rule, const std::string& why);
  /// After an AM restart: this verdict is durable already.
  void Restore(const VerdictReached& verdict, Instant decided);

  /// Entries have become durable.
  void OnDurable();
  /// Goes on with the end if something has changed. Once at the end of every step of a finishing
  /// job.
  void Advance();
  /// An answer about evidence.
  void OnHdfsReplied(const HdfsReplied& reply);
  /// Deadline::kEvidenceRetry and kEvidenceGiveUp.
  void OnEvidenceRetry();
  void OnEvidenceGiveUp();
  /// The RM will not have this attempt any more, or it can never work: ends without a word.
  void Abandon(const std::string& why, std::int32_t code);

  [[nodiscard]] std::string WaitingFor() const;
  /// Deadlines kEvidenceRetry and kEvidenceGiveUp.
  [[nodiscard]] Instant evidence_again_at() const {
    return stage_ == Stage::kEvidence ? evidence_again_at_ : kNever;
  }
  [[nodiscard]] Instant evidence_until() const {
    return stage_ == Stage::kEvidence ? evidence_until_ : kNever;
  }

 private:
  enum class Stage : std::uint8_t { kOpen, kEvidence, kWriting, kReached };

  void StartNothingMore();
  void Write(VerdictReached verdict);
  void Reach();
  void AskForEvidence();

  AmParts& parts_;
  Stage stage_ = Stage::kOpen;
  VerdictReached verdict_;
  Instant decided_{};  ///< From then on `finish.drain` counts.
  JournalSeq verdict_seq_;
  CallId last_call_;
  std::map<CallId, std::string> asked_;  // evidence under way
  std::vector<std::string> unproven_;    // evidence not yet seen
  Instant evidence_again_at_ = kNever;
  Instant evidence_until_ = kNever;
};

}  // namespace tfyarn::am
