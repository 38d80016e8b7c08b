// The way out of the AM: actions of the step under way, actions that wait for the journal, and the
// journal's writer.
//
// What starts or ends a process, an agent or a container is an order. An order names the entry that
// it rests on, and goes out when that one is durable, not before: Order is its only way, and Emit
// and Answer do not compile with one. All else that is said changes nothing in the world.
//
// One append is under way at a time, and entries that come meanwhile go together in the next one,
// so that a thousand tasks ending at once cost a few appends. A failed append is repeated for ever,
// with growing pauses.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/journal/journal.h"
#include "core/model/am.h"
#include "core/model/channel.h"
#include "core/model/check.h"
#include "core/model/time.h"

namespace tfyarn::journal {

/// An agent is told to start or to end something.
template <class Message>
inline constexpr bool kIsOrder =
    std::is_same_v<Message, StartProcess> || std::is_same_v<Message, StopProcess> ||
    std::is_same_v<Message, EndAgent>;

class Outbox {
 public:
  /// The sink of the step that begins; valid until the next one.
  void BeginStep(std::vector<AmAction>& actions) { actions_ = &actions; }
  [[nodiscard]] std::vector<AmAction>& actions() { return *actions_; }

  template <class Action>
  void Emit(Action action) {
    static_assert(!std::is_same_v<Action, SendToAgent> && !std::is_same_v<Action, CallNm>,
                  "tell agents by Answer or Order, and call NodeManagers by Order");
    actions_->emplace_back(std::move(action));
  }
  /// Tells an agent what starts and ends nothing.
  template <class Message>
  void Answer(const ContainerId& container, Message message) {
    static_assert(!kIsOrder<Message>, "an order names the entry that it rests on");
    actions_->emplace_back(SendToAgent{.container = container, .message = std::move(message)});
  }
  /// Has an agent or a NodeManager start or end something, as that durable entry says (0: one of an
  /// earlier attempt).
  template <class Message>
  void Order(JournalSeq rests_on, const ContainerId& container, Message message) {
    static_assert(kIsOrder<Message>);
    TF_CHECK(IsDurable(rests_on));
    actions_->emplace_back(SendToAgent{.container = container, .message = std::move(message)});
  }
  void Order(JournalSeq rests_on, CallNm call) {
    TF_CHECK(IsDurable(rests_on));
    actions_->emplace_back(std::move(call));
  }
  void Note(std::string text) { Emit(tfyarn::Note{.text = std::move(text)}); }
  /// Emits the action when the entry is durable; at once when it is, or for seq 0.
  template <class Action>
  void EmitWhenDurable(JournalSeq seq, Action action) {
    if (IsDurable(seq)) return Emit(std::move(action));
    Hold(seq, std::move(action));
  }
  template <class Message>
  void AnswerWhenDurable(JournalSeq seq, const ContainerId& container, Message message) {
    static_assert(!kIsOrder<Message>);
    if (IsDurable(seq)) return Answer(container, std::move(message));
    Hold(seq, SendToAgent{.container = container, .message = std::move(message)});
  }

  /// Entries from now on are this attempt's and continue after `next`; `empty`: the file has no
  /// header yet.
  void OpenJournal(std::int32_t am_attempt, JournalSeq next, bool empty);
  /// Appends an entry; the number by which what depends on it waits.
  JournalSeq Append(const JournalEntry& entry);
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
  void Hold(JournalSeq seq, AmAction action);

  std::vector<AmAction>* actions_ = nullptr;
  std::deque<Held> held_;  // seq never falls
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

}  // namespace tfyarn::journal
