// Which agents have fallen silent.
//
// The AM says when an agent spoke, and asks who has been silent for too long and when to look
// again. What silence means is the failure policy's business, and the clock is the host's: nothing
// here waits.
//
// A process that was kept from running has not read what its agents said meanwhile, and notices
// that by how late it is for its deadlines. Where it wakes in the very moment at which an agent has
// been silent for too long, it is late for nothing. So there is a deadline before that one, at
// which nothing happens.
//
// A table ordered by deadline, not a timer per agent: a message costs O(log n), passing time costs
// nothing, and a host has one deadline to keep (timers as data, after quinn-proto
// connection/timer.rs).
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/model/ids.h"
#include "core/model/task_index.h"
#include "core/model/time.h"

namespace tfyarn::am {

/// An agent that said nothing for longer than allowed.
struct SilentAgent {
  TaskIndex task;
  Incarnation incarnation{};
  Instant last_heard{};

  friend bool operator==(const SilentAgent&, const SilentAgent&) = default;
};

class HeartbeatWatch {
 public:
  /// `allowed_silence`: heartbeat period times the beats that may be missed; > 0. `tasks`: how many
  /// there are.
  HeartbeatWatch(Duration allowed_silence, std::size_t tasks);

  /// An agent spoke: any message counts, not only heartbeats. The first one starts the watch.
  /// A message from an older incarnation than the one watched is a stale agent's and changes
  /// nothing.
  void Heard(Instant now, TaskIndex task, Incarnation incarnation);

  /// Ends the watch of a task, if there is one: its agent is gone or was told to go.
  void Forget(TaskIndex task);

  /// The host answers for this agent: from now on it counts as heard all the time. May come before
  /// the first Heard. A word about another incarnation than the one watched changes nothing.
  void Vouch(TaskIndex task, Incarnation incarnation);
  /// That ended; the agent was last heard at `last`.
  void Unvouch(TaskIndex task, Incarnation incarnation, Instant last);

  /// Removes and returns the agents that are silent at `now`, longest silence first, then in task
  /// order.
  [[nodiscard]] std::vector<SilentAgent> TakeSilent(Instant now);

  /// This process itself has not run until `now`. What agents said meanwhile is not read yet:
  /// silence counts from now on.
  void Slept(Instant now);
  /// When that ended, the latest time; Instant{} when it never has slept.
  [[nodiscard]] Instant woken() const { return woken_; }
  [[nodiscard]] Duration allowed_silence() const { return allowed_silence_; }

  /// When the agent counts as silent, if it has said nothing for longer than `usual`; nullopt when
  /// it has, is not watched or is vouched for.
  [[nodiscard]] std::optional<Instant> OverdueUntil(Instant now, TaskIndex task,
                                                    Duration usual) const;

  /// When TakeSilent is to be called next, whether or not it returns something; nullopt when no
  /// agent is watched.
  [[nodiscard]] std::optional<Instant> next_deadline() const;

 private:
  struct Watched {
    Incarnation incarnation{};
    Instant last_heard{};
    Instant counts_from{};  ///< Its silence; later than last_heard where this process slept.
    bool watched = false;
    bool vouched = false;
    bool awake = false;  ///< The deadline before has passed, and this process was running.
  };

  void Schedule(TaskIndex task, const Watched& entry);
  void Unschedule(TaskIndex task, const Watched& entry);
  [[nodiscard]] Instant SilentAt(const Watched& entry) const;
  [[nodiscard]] Instant DeadlineOf(const Watched& entry) const;

  Duration allowed_silence_;
  Instant woken_{};
  std::vector<Watched> entries_;  // by task index
  std::set<std::pair<Instant, TaskIndex>>
      by_deadline_;  // exactly one entry for each watched and not vouched
};

}  // namespace tfyarn::am
