// The kernel of a simulation: what happens when, and the time that it is.
//
// It knows events and actors' turns by number, and neither machines nor messages. At one instant
// events come in the order in which they were asked for; after all of those comes, actor by actor,
// the turn of each: first the work put into it, then its timer.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <utility>

#include "core/model/time.h"
#include "sim/event_queue.h"
#include "sim/task.h"

namespace tfyarn::sim {

class Kernel {
 public:
  [[nodiscard]] Instant now() const { return now_; }
  /// How many have run.
  [[nodiscard]] std::uint64_t events() const { return events_; }
  [[nodiscard]] bool empty() const { return queue_.empty(); }
  /// When the next event is; there must be one.
  [[nodiscard]] Instant next_at() const { return queue_.next_at(); }

  template <class F>
  void After(Duration delay, F&& f) {
    At(now_ + delay, std::forward<F>(f));
  }
  template <class F>
  void At(Instant at, F&& f) {
    queue_.Push(at, tasks_.Add(std::forward<F>(f)) << 1);
  }
  /// Like At, but in the turn of that actor: an answer to a beat must not come sooner among the
  /// events of an instant than the timer that stands for it when the beat was skipped.
  template <class F>
  void AtTurnOf(std::uint32_t actor, Instant at, F&& f) {
    queue_.PushLate(at, RankOf(actor), tasks_.Add(std::forward<F>(f)) << 1);
  }
  /// The same where several come at one instant: one turn of an actor is as good as another, and
  /// what they bring comes in the order of these calls.
  template <class F>
  void InOrderAtTurnOf(std::uint32_t actor, Instant at, F&& f) {
    turns_[{at, actor}].push_back(tasks_.Add(std::forward<F>(f)));
    AtTurnOf(actor, at, [this, actor, at] { RunFirstOfTurn(actor, at); });
  }

  /// Work that waits for Release, whatever the time.
  template <class F>
  [[nodiscard]] std::uint32_t Hold(F&& f) {
    return tasks_.Add(std::forward<F>(f));
  }
  /// It runs at this instant, as an event of its own.
  void Release(std::uint32_t held) { queue_.Push(now_, held << 1); }

  /// Wakes the actor at that instant, at the end of its turn. There is no cancel: the actor knows
  /// whether a timer still means something.
  void WakeAt(std::uint32_t actor, Instant at) {
    queue_.PushLate(at, RankOf(actor) + 1, (actor << 1) | 1u);
  }
  /// Whether the actor's timer has had its time at this instant, or has it now: even in an
  /// ordinary event that a later turn brought about.
  [[nodiscard]] bool TimerHasCome(std::uint32_t actor) const {
    return passed_rank_ >= RankOf(actor) + 1;
  }
  /// Whether the turn of a later actor has come at this instant.
  [[nodiscard]] bool TurnIsOver(std::uint32_t actor) const {
    return passed_rank_ > RankOf(actor) + 1;
  }

  /// Time goes on to the next event, which runs. `wake(actor)` is called for a timer.
  template <class Wake>
  void RunNext(Wake wake) {
    const EventQueue::Event event = TakeNext();
    if ((event.payload & 1u) != 0) {
      wake(event.payload >> 1);
    } else {
      tasks_.Run(event.payload >> 1);
    }
    ++events_;
  }
  /// Time goes on to `at`, before any event that is left.
  void PassTo(Instant at) { now_ = at; }

 private:
  /// Of an actor's turn among the late events of an instant; its timer's is one more.
  static std::uint64_t RankOf(std::uint32_t actor) { return std::uint64_t{actor} * 2; }
  EventQueue::Event TakeNext();
  void RunFirstOfTurn(std::uint32_t actor, Instant at);

  Instant now_{};
  /// Highest rank of the late events that have run at this instant; 0 when none has. One of
  /// lower rank has had its turn, even in an ordinary event that a late one brought about.
  std::uint64_t passed_rank_ = 0;
  std::uint64_t events_ = 0;
  EventQueue queue_;  ///< Payload: a task in the slab, or (lowest bit set) an actor's timer; in the
                      ///< bits above.
  TaskSlab tasks_;
  std::map<std::pair<Instant, std::uint32_t>, std::deque<std::uint32_t>> turns_;  ///< Tasks.
};

}  // namespace tfyarn::sim
