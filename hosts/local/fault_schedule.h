// When which fault of a real run strikes and ends. It decides time and nothing else; the driver
// carries out.
//
// As in the simulator (sim/fault_plan.h) only the first time that a state is reached counts, and an
// end is counted from the beginning. A fault here strikes once.
#pragma once

#include <cstdint>
#include <optional>
#include <queue>
#include <string_view>
#include <vector>

#include "config/scenario.h"
#include "core/model/am.h"
#include "core/model/ids.h"
#include "core/model/time.h"

namespace tfyarn::hosts {

struct FaultStrike {
  std::uint32_t fault = 0;  ///< Position in the file.
  bool begins = true;       ///< False: what began with this fault ends.
};

class FaultSchedule {
 public:
  /// `faults`: as config::LoadRealFaults gives them. `began`: what `at` counts from.
  FaultSchedule(const std::vector<config::FaultSpec>& faults, Instant began);

  /// The job came into this state at that time.
  void OnJobState(Instant at, JobState state);
  /// An AM accepted the task's agent at that time.
  void OnTaskRegistered(Instant at, const TaskId& task);

  /// A fault waits for a state that was not reached yet.
  [[nodiscard]] bool waits() const { return !waiting_.empty(); }
  /// When Take next gives something.
  [[nodiscard]] std::optional<Instant> next_deadline() const;
  /// What is due: in order of time, ends before beginnings, then in order of the file.
  [[nodiscard]] std::vector<FaultStrike> Take(Instant now);

 private:
  struct Due {
    Instant at{};
    FaultStrike strike;
    friend bool operator>(const Due& a, const Due& b) {
      if (a.at != b.at) return a.at > b.at;
      if (a.strike.begins != b.strike.begins) return a.strike.begins;
      return a.strike.fault > b.strike.fault;
    }
  };
  void Reached(Instant at, std::string_view state, const TaskId* task);

  const std::vector<config::FaultSpec>& faults_;
  std::vector<std::uint32_t> waiting_;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
};

}  // namespace tfyarn::hosts
