// Results as CSV (RFC 4180, a header line with units, seconds from the start of the run) for
// spreadsheets, pandas and duckdb.
#pragma once

#include <string>
#include <string_view>

#include "core/trace/ensemble.h"
#include "core/trace/result.h"

namespace tfyarn::reports {

/// One line for each job.
[[nodiscard]] std::string JobsCsv(const trace::Result& result);
/// One line for each attempt of each task; only the header when attempts were not kept.
[[nodiscard]] std::string AttemptsCsv(const trace::Result& result);
/// Many runs: the header, and the line of one run. `set`: the settings of its cell, "" without a
/// matrix. Columns after the fixed ones are the metrics of result.json.
[[nodiscard]] std::string RunsCsvHeader();
[[nodiscard]] std::string RunsCsvLine(const trace::RunSummary& run, std::string_view set);

}  // namespace tfyarn::reports
