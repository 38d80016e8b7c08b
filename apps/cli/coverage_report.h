// What a search has reached and what it has not, as text and as a document.
#pragma once

#include <string>

#include "explore/corpus.h"

namespace tfyarn::cli {

/// Three lines: how much was reached, and how likely the next run reaches more.
[[nodiscard]] std::string CoverageSummary(const explore::Corpus& corpus);
/// All tables. A cell's digit is the number of digits of the number of runs that reached it; '.' is
/// none. Then the names of what was never reached in tables of one column.
[[nodiscard]] std::string CoverageTables(const explore::Corpus& corpus);
/// schema tfsim.coverage/v1: every cell with its counts.
[[nodiscard]] std::string CoverageJson(const explore::Corpus& corpus);
/// "# Reached first: ..." of one kept run, at most a few names.
[[nodiscard]] std::string NewsOf(const explore::KeptRun& run);

}  // namespace tfyarn::cli
