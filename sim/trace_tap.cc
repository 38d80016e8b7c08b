#include "sim/trace_tap.h"

#include "core/trace/routine.h"
#include "sim/coverage.h"

namespace tfyarn::sim {

TraceTap::TraceTap(const Kernel& kernel, const RunSetup& setup, FaultSchedule& faults)
    : kernel_(kernel),
      setup_(setup),
      faults_(faults),
      checkers_(setup.scenario, setup.options.reference),
      result_(
          {.warmup = setup.scenario.warmup, .always_tasks = setup.options.tasks, .timeline = true}),
      expectations_(setup.scenario.expect) {
  if (setup.options.tally) tally_.emplace();
}

trace::TraceRecord& TraceTap::TakeRecord() {
  if (trace::IsRoutine(record_.fact)) return record_;
  checkers_.Observe(record_);
  digest_.Add(record_);
  faults_.Observe(record_);
  if (tally_) tally_->Observe(record_);
  result_.Observe(record_);
  expectations_.Observe(record_, result_);
  if (setup_.options.sink) setup_.options.sink(record_);
  for (const Violation& violation : checkers_.TakeNew()) {
    trace::TraceRecord broken{.at = kernel_.now(),
                              .fact = trace::InvariantBroken{.invariant = violation.invariant,
                                                             .detail = violation.detail}};
    digest_.Add(broken);
    result_.Observe(broken);
    if (setup_.options.sink) setup_.options.sink(broken);
  }
  return record_;
}

void TraceTap::JournalStored(trace::JobIndex job, const ApplicationId& application,
                             std::string_view bytes) {
  checkers_.JournalStored(job, application, bytes);
  if (tally_) tally_->Stored(job, application, bytes);
}

RunOutcome TraceTap::Finish(trace::StopReason reason, const WorldView& world,
                            std::vector<trace::FaultWithoutEffect> without_effect) {
  checkers_.FullScan(kernel_.now(), world);
  checkers_.Finish(kernel_.now(), reason);
  if (setup_.options.coverage != nullptr) setup_.options.coverage->Look(kernel_.now());
  Tell(trace::RunStopped{.reason = reason});
  RunOutcome outcome;
  outcome.result = result_.Finish({.version = TFYARN_VERSION,
                                   .digest = trace::ToString(digest_.value()),
                                   .events = kernel_.events(),
                                   .wall_seconds = 0,
                                   .peak_rss_bytes = 0,
                                   .invariants = checkers_.summary()});
  outcome.result.faults_without_effect = std::move(without_effect);
  expectations_.Finish(outcome.result);
  if (tally_) outcome.tallies = tally_->Finish();
  return outcome;
}

}  // namespace tfyarn::sim
