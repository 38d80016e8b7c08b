// Which files a run leaves behind, and writing them.
#pragma once

#include <string>
#include <vector>

#include "apps/cli/arguments.h"
#include "core/model/error.h"
#include "core/trace/ensemble.h"
#include "core/trace/result.h"

namespace tfyarn::cli {

/// Paths from --out and the single options; "" = not wanted. A single option wins over --out.
struct ArtifactPaths {
  std::string result;
  std::string scenario;  ///< Its effective form, which runs by itself.
  std::string html;
  std::string junit;
  std::string jobs_csv;
  std::string attempts_csv;
  std::string timeline;
  std::string runs_csv;  ///< One line for each of many runs, written while they end.
  std::string records;   ///< JSON lines, written while the run goes on.
};

/// `many`: for one summary of many runs.
[[nodiscard]] ArtifactPaths PathsOf(const RunArguments& arguments, bool many);

/// Before a long run: every file that is wanted could be written. Errors: kUnavailable.
[[nodiscard]] Expected<void> CheckWritable(const ArtifactPaths& paths);

/// All but `records` and `runs_csv`. One that cannot be written keeps no other from being written;
/// returns what went wrong.
[[nodiscard]] std::vector<Error> WriteArtifacts(const trace::Result& result,
                                                const std::string& document,
                                                const ArtifactPaths& paths);
/// `scenario_yaml`: the effective scenario, for the report.
[[nodiscard]] std::vector<Error> WriteArtifacts(const trace::Ensemble& ensemble,
                                                const std::string& document,
                                                const ArtifactPaths& paths,
                                                const std::string& scenario_yaml);

}  // namespace tfyarn::cli
