// Timers and periodic links of actors, and the elision of idle beats.
//
// Four links are periodic: an AM's allocate, an agent's heartbeat, a client's report query, a
// NodeManager's heartbeat. Each sender beats on a grid: one period after the last beat it sent. An
// idle beat changes nothing but counters, so while nothing disturbs the link the simulator skips
// it: it wakes the sender at next_decision() instead of next_deadline(), or at the first point of
// the grid at which the receiver has news for it. What was skipped is told to the sender before its
// next step (CatchUp) and to the receiver before the next beat it sees (TakeUnseen). A beat whose
// answer would still be under way is really sent, in the sender's own past, so that "sent and not
// answered" looks the same in both modes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/model/time.h"
#include "sim/kernel.h"
#include "sim/message_faults.h"
#include "sim/network.h"

namespace tfyarn::sim {

class Links;

/// The periodic link of a sender.
///
/// `sent` counts beats the sender believes to have sent, `seen` those the receiver has been told
/// of; the difference is what the receiver still has to hear of as elided.
struct Beat {
  Duration period{};
  Duration round_trip{};
  std::optional<Instant> last_sent;  ///< Nothing is elided before the first.
  std::optional<std::uint64_t>
      awaited;         ///< Number of the latest call sent for real, while its answer is under way.
  bool late = false;   ///< The latest answer came later than after a round trip.
  bool clean = false;  ///< Nothing disturbs the link: idle beats may be skipped.
  bool vouched = false;  ///< The receiver was told so.
  std::uint64_t sent = 0;
  std::uint64_t seen = 0;
  Instant forced = kNever;  ///< The receiver has news for the beat at this instant.
};

/// An actor as timers, links and messages see it, whatever its kind.
class AnyActor {
 public:
  /// Takes the next id. `links` must outlive it.
  AnyActor(Links& links, Place at);
  virtual ~AnyActor();
  AnyActor(const AnyActor&) = delete;
  AnyActor& operator=(const AnyActor&) = delete;

  /// When its machine is to be stepped for its own sake: `decision`: idle beats apart.
  [[nodiscard]] virtual std::optional<Instant> NextDeadline(bool decision) const = 0;
  /// Its machine is stepped, now.
  virtual void ReachDeadline() = 0;
  /// Its machine hears of beats that were skipped.
  virtual void TellElided(std::uint64_t count, Instant last) = 0;
  /// Its machine sends an idle beat at `at`, which is over; the answer to it is known, and comes at
  /// `answered`.
  virtual void SendIdleBeat(Instant at, Instant answered) = 0;
  /// Whether anything of its own kind disturbs its link.
  [[nodiscard]] virtual bool HasQuietLink() const = 0;
  /// The machine that would take a silent link for a dead peer hears that idle beats are skipped
  /// from now on, or are not any more and the last was sent at `last`.
  virtual void Vouch(bool vouched, Instant last) = 0;
  /// On whose behalf its messages travel.
  [[nodiscard]] virtual Party party() const = 0;

  const std::uint32_t id;
  const Place place;
  bool alive = true;
  bool paused = false;
  bool awaits_answers = true;  ///< A beat follows when the one before is answered, and not before.
  Instant scheduled = kNever;  ///< Earliest timer event of this actor in the queue.
  Beat beat;

 private:
  Links& links_;
};

class Links {
 public:
  /// `elide`: skip idle beats. Both must outlive it.
  Links(Kernel& kernel, const MessageFaults& message_faults, bool elide)
      : kernel_(kernel), message_faults_(message_faults), elide_(elide) {}
  Links(const Links&) = delete;
  Links& operator=(const Links&) = delete;

  /// The id of a new actor, which must say when it is gone.
  [[nodiscard]] std::uint32_t Add(AnyActor& actor);
  void Remove(std::uint32_t id) { actors_[id] = nullptr; }
  /// nullptr: the process has ended.
  [[nodiscard]] AnyActor* Living(std::uint32_t id) const {
    AnyActor* actor = actors_[id];
    return actor != nullptr && actor->alive ? actor : nullptr;
  }
  /// The actor's timer has come.
  void Wake(std::uint32_t id);
  /// Sets the actor's timer, as its machine or its link may need it earlier now.
  void Reschedule(AnyActor& actor);

  /// Tells the actor's machine of the idle beats it skipped, before it is stepped now.
  void CatchUp(AnyActor& actor);
  /// The receiver hears how many beats it did not see, before the next one it sees.
  [[nodiscard]] static std::uint64_t TakeUnseen(Beat& beat);
  /// `call`: its number; of no matter where the actor awaits no answers.
  void BeatSent(AnyActor& actor, std::uint64_t call);
  void BeatAnswered(AnyActor& actor, std::uint64_t call);
  /// Registering starts response ids and the grid over, at both ends.
  void StartAnew(AnyActor& actor);
  /// The receiver has news: the sender's next beat is carried.
  void ForceBeat(AnyActor& actor);
  /// Looks anew whether beats of the actor may be skipped.
  void Update(AnyActor& actor);
  void Vouch(AnyActor& actor, bool vouched);
  /// Before something disturbs links: skipped beats become history, and skipping stops until links
  /// are clean again.
  void DisturbAll();
  void RestoreAll();

 private:
  void ScheduleAt(AnyActor& actor, Instant at);
  /// When the actor's machine is to be stepped next for its own sake.
  [[nodiscard]] std::optional<Instant> NextTurn(const AnyActor& actor) const;
  [[nodiscard]] bool IsClean(const AnyActor& actor) const;

  Kernel& kernel_;
  const MessageFaults& message_faults_;
  const bool elide_;
  std::vector<AnyActor*> actors_;  ///< By id; nullptr: gone.
};

}  // namespace tfyarn::sim
