// What a scenario expects: compared with the result at the end, or watched while the run goes on.
//
// Names are those of result.json and are looked up there and nowhere else (core/trace/result.h). A
// name that the result does not have is a failed expectation, never a passed one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/scenario.h"
#include "core/trace/record.h"
#include "core/trace/result.h"

namespace tfyarn::sim {

/// True when `value` satisfies the comparison. Numbers are compared as numbers, words as words; a
/// null satisfies nothing but `equals: null`.
[[nodiscard]] bool Holds(const config::Comparison& comparison, const trace::MetricValue& value);

/// A kFinal expectation on a finished result: `got` names every comparison that failed, or says
/// what was found.
[[nodiscard]] trace::ExpectationResult Evaluate(const config::Expectation& expectation,
                                                const trace::Result& result);

/// All expectations of one run. kNever and kEventually are about `job/NAME.FIELD` while the run
/// goes on; about any other name they are judged at the end.
class OnlineExpectations {
 public:
  /// `expectations` must outlive this.
  explicit OnlineExpectations(const std::vector<config::Expectation>& expectations);

  /// The next record, after `builder` has seen it.
  void Observe(const trace::TraceRecord& record, const trace::ResultBuilder& builder);
  /// Judges what is left and appends one ExpectationResult for each expectation of this run, in
  /// file order. Those about the ensemble (deadlock_rate, or with `where`) are left to the caller
  /// that sees all runs.
  void Finish(trace::Result& result) const;

 private:
  struct Watch {
    const config::Expectation* expectation = nullptr;
    bool online = false;             ///< About a job's field; otherwise judged at the end.
    std::optional<Instant> from;     ///< Watching since; unset while `after` has not happened.
    std::optional<Instant> decided;  ///< kNever: first broken; kEventually: first held.
    bool decided_in_time = true;     ///< kEventually.
    std::string got;
  };

  void Look(Watch& watch, Instant now, const trace::ResultBuilder& builder);
  void StartAfter(const trace::FaultBegan& fault, Instant at);
  [[nodiscard]] trace::ExpectationResult Judge(const Watch& watch,
                                               const trace::Result& result) const;

  const std::vector<config::Expectation>& expectations_;
  std::vector<Watch> watches_;  ///< One for each online expectation, in file order.
};

}  // namespace tfyarn::sim
