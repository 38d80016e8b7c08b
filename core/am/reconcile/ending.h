// What follows from the durable verdict: the drain, the end of every container, the final status.
//
// After success, processes that have work to finish get their time (finish.drain), in an order:
// training tasks first, then services, then sidecars. Then the AM ends, stops or gives back every
// container, and sends the final status to the ResourceManager when none is left, until that
// confirms it.
#pragma once

#include <cstdint>
#include <string>

#include "core/model/am.h"
#include "core/model/ids.h"
#include "core/model/job_spec.h"
#include "core/model/task_index.h"
#include "core/model/time.h"

namespace tfyarn::am {

struct AmParts;

class Ending {
 public:
  explicit Ending(AmParts& parts) : parts_(parts) {}

  /// The verdict is durable, by that entry (0: one of an earlier attempt). `decided`: from then on
  /// `finish.drain` counts.
  void Begin(const VerdictReached& verdict, Instant decided, JournalSeq entry);
  /// Goes on with the end. Once at the end of every step since.
  void Advance();
  /// A process of a finishing job has ended; its account is closed.
  void OnProcessEnded(TaskIndex task);
  /// Deadline::kDrain.
  void OnDrained(TaskIndex task);
  /// The RM has confirmed the final status.
  void OnUnregistered();
  [[nodiscard]] std::string WaitingFor() const;

 private:
  enum class Stage : std::uint8_t { kNone, kDraining, kUnregistering, kDone };

  void EndTask(TaskIndex task);
  [[nodiscard]] Duration DrainOf(TaskIndex task) const;
  [[nodiscard]] bool EverythingGone() const;
  void EndClass(TaskClass task_class);

  AmParts& parts_;
  Stage stage_ = Stage::kNone;
  VerdictReached verdict_;
  JournalSeq entry_;
  bool services_ended_ = false;
  bool sidecars_ended_ = false;
};

}  // namespace tfyarn::am
