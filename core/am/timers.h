// The AM's timers, as an enum and a table. Hosts have nothing to cancel: they know one instant,
// next().
//
// A timer is named by what it is for and, where it belongs to a task or a container, by whose it
// is. Arming one again moves it. A binary heap with dead entries that are dropped when they reach
// the top: arming costs no allocation.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/model/describe.h"
#include "core/model/time.h"

namespace tfyarn::am {

enum class Timer : std::uint8_t {
  // of the job
  kJournalRetry,   ///< Append or read the journal again after storage failed.
  kReattach,       ///< Agents of an earlier attempt that have not spoken by then are lost.
  kStartDeadline,  ///< deadlines.start since the gang was complete.
  kRunDeadline,    ///< deadlines.run since the job first ran.
  kBlame,          ///< The cause of a failure is decided now at the latest.
  kEvidenceRetry,  ///< Ask again for finish.require.
  kEvidenceGiveUp,
  kDependency,    ///< `within` of a row of `depends`; key: the row.
  kNodesMayCome,  ///< What the nodes seen so far can never hold is judged for good.
  // of one task
  kRegistration,  ///< deadlines.registration since the launch was ordered.
  kLaunchRetry,   ///< Call StartContainers again.
  kOrder,         ///< Repeat StartProcess or StopProcess.
  kStopOverdue,   ///< The agent did not report the end of a process it was told to stop.
  kProcessStart,  ///< deadlines.start of a process that starts alone.
  kDrain,         ///< finish.drain of this task is over.
  kAskAgain,      ///< Ask for a container once more, after others were lost early.
  kRested,        ///< Its process may start again, after others ended early.
  // of one container that must go
  kEndAgain,  ///< Repeat EndAgent.
  kLeaving,   ///< Next harder step: StopContainers, then release.
};
inline constexpr std::size_t kTimers = 19;

class TimerTable {
 public:
  struct Due {
    Timer timer{};
    std::uint32_t key = 0;  ///< Task, container slot or row; 0 for timers of the job.
    friend bool operator==(const Due&, const Due&) = default;
  };

  /// Sets the timer, moving it when it was set.
  void Arm(Timer timer, std::uint32_t key, Instant at);
  void ArmJob(Timer timer, Instant at) { Arm(timer, 0, at); }
  /// Unsets it; nothing happens when it is not set.
  void Disarm(Timer timer, std::uint32_t key = 0);
  [[nodiscard]] bool IsArmed(Timer timer, std::uint32_t key = 0) const;
  /// Removes and returns the first timer due at `now`: by instant, then in enum order, then by key.
  [[nodiscard]] std::optional<Due> TakeDue(Instant now);
  /// Moves every timer that is due at `now` to `to`.
  void PutOff(Instant now, Instant to);
  /// The earliest set timer.
  [[nodiscard]] std::optional<Instant> next() const;

 private:
  struct Entry {
    Instant at{};
    Timer timer{};
    std::uint32_t key = 0;
  };
  static bool Later(const Entry& a, const Entry& b);
  [[nodiscard]] Instant ArmedAt(Timer timer, std::uint32_t key) const;
  void DropDead();

  std::array<std::vector<Instant>, kTimers> armed_;  // by timer and key; kNever = not set
  std::vector<Entry> heap_;                          // its top is live, or it is empty
};

}  // namespace tfyarn::am
