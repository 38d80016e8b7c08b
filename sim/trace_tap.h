// Where a run's trace is made: each record is stamped, and shown to checkers, digest, fault
// schedule, result and expectations, in this order.
//
// It owns those that only look on. Nothing that a part does depends on them, but for the faults
// that wait for a record.
#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/model/ids.h"
#include "core/trace/digest.h"
#include "core/trace/record.h"
#include "core/trace/result.h"
#include "sim/checkers.h"
#include "sim/expectations.h"
#include "sim/fault_schedule.h"
#include "sim/job_tally.h"
#include "sim/kernel.h"
#include "sim/run_setup.h"

namespace tfyarn::sim {

class TraceTap {
 public:
  /// All must outlive it.
  TraceTap(const Kernel& kernel, const RunSetup& setup, FaultSchedule& faults);
  TraceTap(const TraceTap&) = delete;
  TraceTap& operator=(const TraceTap&) = delete;

  /// Makes the record, shows it to all observers, and returns it for its contents.
  template <class OneFact>
  trace::TraceRecord& Tell(OneFact fact) {
    record_.at = kernel_.now();
    // In place: a Fact of its own would move the whole of it twice more.
    record_.fact.template emplace<OneFact>(std::move(fact));
    return TakeRecord();
  }
  /// HDFS has these bytes of a journal, whether or not its AM lives to hear of it.
  void JournalStored(trace::JobIndex job, const ApplicationId& application, std::string_view bytes);
  [[nodiscard]] Checkers& checkers() { return checkers_; }
  /// The end of the run, with its last record.
  [[nodiscard]] RunOutcome Finish(trace::StopReason reason, const WorldView& world,
                                  std::vector<trace::FaultWithoutEffect> without_effect);

 private:
  trace::TraceRecord& TakeRecord();

  const Kernel& kernel_;
  const RunSetup& setup_;
  FaultSchedule& faults_;
  trace::TraceRecord record_;
  Checkers checkers_;
  trace::Digest digest_;
  trace::ResultBuilder result_;
  OnlineExpectations expectations_;
  std::optional<TallyBook> tally_;
};

}  // namespace tfyarn::sim
