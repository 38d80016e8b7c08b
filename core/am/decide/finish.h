// The end of the job: the one verdict, the drain, and the final status.
//
// The AM stores a verdict before it says so, and the first one stands. After success, processes
// that have work to finish get their time (finish.drain), in an order: training tasks first, then
// services, then sidecars. Then the AM ends, stops or gives back every container, and sends the
// final status to the ResourceManager when none is left, until that confirms it.
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
  /// A process of a finishing job has ended; its account is closed.
  void OnProcessEnded(TaskIndex task);
  /// Deadline::kDrain.
  void OnDrained(TaskIndex task);
  /// The RM has confirmed the final status.
  void OnUnregistered();
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
  enum class Stage : std::uint8_t { kOpen, kEvidence, kWriting, kDraining, kUnregistering, kDone };

  void StartNothingMore();
  void Write(VerdictReached verdict);
  void Reach();
  void Drain();
  void EndTask(TaskIndex task);
  void AskForEvidence();
  [[nodiscard]] Duration DrainOf(TaskIndex task) const;
  [[nodiscard]] bool EverythingGone() const;
  void EndClass(TaskClass task_class);

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
  bool services_ended_ = false;
  bool sidecars_ended_ = false;
};

}  // namespace tfyarn::am
