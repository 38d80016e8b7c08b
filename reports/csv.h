// Results as CSV (RFC 4180, a header line, seconds from the start of the run) for spreadsheets,
// pandas and duckdb.
#pragma once

#include <string>

#include "core/trace/result.h"

namespace tfyarn::reports {

/// One line for each job.
[[nodiscard]] std::string JobsCsv(const trace::Result& result);
/// One line for each attempt of each task; only the header when attempts were not kept.
[[nodiscard]] std::string AttemptsCsv(const trace::Result& result);

}  // namespace tfyarn::reports
