// What `tfsim run` prints for people: the verdict, the few numbers that tell most, what failed and
// how.
#pragma once

#include <string>

#include "core/trace/ensemble.h"
#include "core/trace/result.h"

namespace tfyarn::cli {

struct VerdictStyle {
  bool color = false;
  std::string report;  ///< Path of report.html; "" = none was written.
};

/// All text from the run is made fit for a terminal.
[[nodiscard]] std::string VerdictText(const trace::Result& result, const VerdictStyle& style);
[[nodiscard]] std::string VerdictText(const trace::Ensemble& ensemble, const VerdictStyle& style);

}  // namespace tfyarn::cli
