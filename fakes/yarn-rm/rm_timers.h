// What the ResourceManager will do when its time has come. At one instant: in the order of kinds.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <set>

#include "core/model/ids.h"
#include "core/model/time.h"

namespace tfyarn::fakes {

class RmTimers {
 public:
  enum class Kind {
    kAmrmKey,
    kNmKey,
    kContainerKey,
    kSchedulingReady,
    kNodeExpiry,
    kAmExpiry,
    kLaunchRetry,
    kPreemptKill,
    kScheduler
  };
  struct Timer {
    Instant at{};
    Kind kind = Kind::kScheduler;
    /// Whom it is about: an application's id, a node's index, or a number of its kind.
    std::int64_t a = 0;
    std::int64_t b = 0;
    [[nodiscard]] ApplicationId application() const { return {a, static_cast<std::int32_t>(b)}; }
    friend auto operator<=>(const Timer&, const Timer&) = default;
  };

  void Set(Instant at, Kind kind, std::int64_t about = 0) { timers_.insert({at, kind, about, 0}); }
  void Set(Instant at, Kind kind, const ApplicationId& about) {
    timers_.insert({at, kind, about.cluster_timestamp, about.id});
  }
  void Cancel(Instant at, Kind kind, std::int64_t about) { timers_.erase({at, kind, about, 0}); }
  void Cancel(Instant at, Kind kind, const ApplicationId& about) {
    timers_.erase({at, kind, about.cluster_timestamp, about.id});
  }
  void Clear() { timers_.clear(); }

  /// kNever: none is set.
  [[nodiscard]] Instant next() const { return timers_.empty() ? kNever : timers_.begin()->at; }
  /// The first of those that are due; it is set no longer.
  [[nodiscard]] std::optional<Timer> TakeDue(Instant now) {
    if (next() > now) return std::nullopt;
    const Timer due = *timers_.begin();
    timers_.erase(timers_.begin());
    return due;
  }

 private:
  std::set<Timer> timers_;
};

}  // namespace tfyarn::fakes
