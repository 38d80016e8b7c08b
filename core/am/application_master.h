// The ApplicationMaster: one job's decisions, as a machine.
//
// It asks YARN for the job's containers and starts them all or none, lets the agents in them
// register, gives every process one cluster spec per epoch, judges exits by the job's policy,
// starts again what must start again, and ends the job with one durable verdict. It does no I/O and
// knows no clock: a host carries out its actions and tells it events.
//
// This class only routes events to the parts that own them (am_parts.h lists them) and says when to
// wake them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "core/am/am_options.h"
#include "core/am/snapshot.h"
#include "core/model/am.h"
#include "core/model/job_spec.h"
#include "core/model/time.h"

namespace tfyarn::am {

struct AmParts;

class ApplicationMaster {
 public:
  /// `seed`: of every random number it draws (nonces, backoff). Two machines with equal arguments
  /// and events act equally.
  ApplicationMaster(std::shared_ptr<const JobSpec> job, AmOptions options, std::uint64_t seed);
  ~ApplicationMaster();
  ApplicationMaster(ApplicationMaster&&) noexcept;
  ApplicationMaster& operator=(ApplicationMaster&&) noexcept;
  ApplicationMaster(const ApplicationMaster&) = delete;
  ApplicationMaster& operator=(const ApplicationMaster&) = delete;

  /// Advances by one event. Appends what the host must do, in this order. `now` never goes back.
  /// The first event is AmStarted. After ExitAm every event is ignored.
  void Step(Instant now, const AmEvent& event, std::vector<AmAction>& actions);
  /// When the host must step with DeadlineReached at the latest; nullopt = nothing pending.
  [[nodiscard]] std::optional<Instant> next_deadline() const;
  /// The next deadline at which it would do more than repeat an idle heartbeat.
  [[nodiscard]] std::optional<Instant> next_decision() const;
  /// The state itself, read-only; valid as long as the machine, and through moves of it.
  [[nodiscard]] const AmSnapshot& snapshot() const;
  /// For tests: whether the next attempt would decide by what this one does. True when the entries
  /// of `stored` and those that are on their way there, applied one by one, give this AM's ledger.
  [[nodiscard]] bool FoldsToItsLedger(std::string_view stored) const;

 private:
  std::unique_ptr<AmParts> parts_;
};

}  // namespace tfyarn::am
