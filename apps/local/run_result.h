// What a run on this machine leaves behind: events.jsonl, result.json, report.html and journal in
// its directory, and the verdict on stdout.
#pragma once

#include <functional>
#include <string>

#include "apps/local/run_directory.h"
#include "config/load.h"
#include "core/model/time.h"

namespace tfyarn::local {

struct RunOutcome {
  RunDirectory directory;
  const config::JobDocument& job;
  std::string version;
  Instant began{};
  Instant ended{};
  int exit_code = 0;  ///< The client's.
};

struct DeliveryOptions {
  bool json = false;            ///< The result document in place of the verdict.
  bool propagate_exit = false;  ///< The cause's own exit code.
  /// Asked when all files are written; false: stdout gets no verdict. May be empty.
  std::function<bool()> may_print;
};

/// The report of what has happened so far, while the run goes on.
[[nodiscard]] std::string ReportSoFar(const RunOutcome& outcome);

/// Returns the exit code of the program; kInternal when something could not be written, which was
/// said.
[[nodiscard]] int Deliver(const RunOutcome& outcome, const DeliveryOptions& options);

}  // namespace tfyarn::local
