// The way out of the AM: actions of the step under way, actions that wait for the journal, and the
// journal's writer.
//
// A decision that must survive is appended first, and what follows from it is held back until
// storage answers; the rest goes on. What ends processes or takes containers is said where it is
// found out, often before the decision behind it is made: it rests on whatever the step decides.
// One append is under way at a time, and entries that come meanwhile go together in the next one,
// so that a thousand tasks ending at once cost a few appends. A failed append is repeated for ever,
// with growing pauses.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/journal/journal.h"
#include "core/model/am.h"
#include "core/model/time.h"

namespace tfyarn::am {

class Outbox {
 public:
  /// The sink of the step that begins; valid until the next one.
  void BeginStep(std::vector<AmAction>& actions) { actions_ = &actions; }
  [[nodiscard]] std::vector<AmAction>& actions() { return *actions_; }

  void Emit(AmAction action) { actions_->push_back(std::move(action)); }
  void Note(std::string text) { Emit(tfyarn::Note{.text = std::move(text)}); }
  /// Emits the action when the entry is durable; at once when it is, or for seq 0.
  void EmitWhenDurable(JournalSeq seq, AmAction action);
  /// Emits the action when all that has been decided by the end of this part of the step is
  /// durable (see RestOnEntries); at once, in its place, where it is.
  void EmitDecided(AmAction action);
  /// Ends a part of the step: what was emitted by EmitDecided since the last one rests on all
  /// entries appended so far. The latest of them; 0: all are durable.
  JournalSeq RestOnEntries();

  /// Entries from now on are this attempt's and continue after `next`; `empty`: the file has no
  /// header yet.
  void OpenJournal(std::int32_t am_attempt, JournalSeq next, bool empty);
  /// Appends an entry; the number by which what depends on it waits.
  JournalSeq Append(const journal::JournalEntry& entry);
  /// Sends what was appended in this step, unless an append is under way. Once at the end of every
  /// step.
  void Flush();
  /// An answer of storage. True when entries became durable.
  [[nodiscard]] bool OnAppended(JournalSeq seq);
  void OnFailed(Instant now, JournalSeq seq, const std::string& why);
  /// What failed under way is sent again with this step.
  void OnRetry();
  /// When storage is to be asked again after it failed; kNever: it has not. Who reads the journal
  /// sets it, too.
  [[nodiscard]] Instant retry_at() const { return retry_at_; }
  void RetryAt(Instant at) { retry_at_ = at; }

  [[nodiscard]] bool IsDurable(JournalSeq seq) const { return seq <= durable_; }
  [[nodiscard]] JournalSeq durable() const { return durable_; }
  /// The number of the latest entry; 0 = none.
  [[nodiscard]] JournalSeq last() const { return last_; }
  /// Frames of which storage has not answered yet, in their order.
  [[nodiscard]] std::string Unstored() const {
    return in_flight_ ? in_flight_->bytes + gathered_ : gathered_;
  }

 private:
  struct Held {
    JournalSeq seq;
    AmAction action;
  };

  std::vector<AmAction>* actions_ = nullptr;
  std::deque<Held> held_;               // seq never falls
  std::vector<std::size_t> undecided_;  // positions in actions_, of EmitDecided
  std::int32_t am_attempt_ = 0;
  bool first_ = false;
  JournalSeq last_;
  JournalSeq durable_;
  std::string gathered_;  // frames that are not under way
  std::optional<AppendJournal> in_flight_;
  bool send_now_ = false;  // in_flight_ is to be sent (again)
  Duration backoff_{};
  Instant retry_at_ = kNever;
};

}  // namespace tfyarn::am
