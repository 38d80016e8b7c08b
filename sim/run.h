// Running one scenario once: the simulator's front door.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "config/scenario.h"
#include "core/model/time.h"
#include "core/trace/record.h"
#include "core/trace/result.h"
#include "sim/effects.h"
#include "sim/job_tally.h"

namespace tfyarn::sim {

class Coverage;
struct Doubles;

/// How far a run is; given to RunOptions::progress now and then.
struct Progress {
  Instant now{};
  Instant horizon{};
  std::uint64_t jobs_total = 0;
  std::uint64_t jobs_ended = 0;
  std::uint64_t events = 0;
};

/// Another future of a run: what comes after `from` is drawn anew, under `seed`.
struct Future {
  Instant from{};
  std::uint64_t seed = 1;
};

struct RunOptions {
  std::uint64_t seed = 1;
  /// Up to its instant the run is the same, record by record. From there on every delay, loss, time
  /// to a random fault and random target is another; delays that the scenario gives as constants
  /// come between half and one and a half of them. What is scheduled at an instant stays there.
  /// Of the scenario's own futures those before it happen too.
  std::optional<Future> future;
  /// Skip idle heartbeats. Changes the speed and nothing else: the digest is the same.
  bool elide = true;
  /// Judge verdicts, restarts and specs by the reference model too (oracles/).
  bool reference = false;
  /// By how much every node's first free port is higher; >= 0.
  std::int32_t shift_ports = 0;
  /// Effects of machines that go wrong. Then every heartbeat is carried, whatever `elide` says.
  std::vector<Sabotage> sabotage;
  /// Give RunOutcome::tallies.
  bool tally = false;
  /// Keep the attempts of every task in the result however many jobs there are.
  bool tasks = false;
  /// Gets every record, in order, as it is made.
  std::function<void(const trace::TraceRecord&)> sink;
  std::function<void(const Progress&)> progress;
  /// Gets what the run reaches; null: that is not collected. Must outlive the run.
  Coverage* coverage = nullptr;
  /// Stand-ins for machines, see doubles.h; null but in tests. Must outlive the run.
  const Doubles* doubles = nullptr;
  /// When it becomes true the run stops at the next event and reports what it has.
  const std::atomic<bool>* interrupt = nullptr;
};

struct RunOutcome {
  trace::Result result;
  std::vector<JobTally> tallies;  ///< In order of submission; empty without RunOptions::tally.
};

/// Runs to quiescence (every job ended), the horizon, or the interrupt. Same scenario, seed and
/// version give the same digest, whatever the compiler, the locale or RunOptions::elide.
[[nodiscard]] RunOutcome RunScenario(const config::Scenario& scenario, const RunOptions& options);

}  // namespace tfyarn::sim
