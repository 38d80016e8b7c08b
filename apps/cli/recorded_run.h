// A run that `tfsim run --out DIR` has left behind, for commands that run it again.
#pragma once

#include <optional>
#include <string>

#include "apps/cli/documents.h"
#include "core/model/error.h"

namespace tfyarn::cli {

/// The text of a file. nullopt: it cannot be read, or is a directory.
[[nodiscard]] std::optional<std::string> TextOf(const std::string& path);

struct SimulatedRun {
  std::string result;    ///< Path of its result.json.
  std::string scenario;  ///< Path of the effective scenario beside it.
  RecordedRun run;
};

/// The run that `path` names: a directory, or a file that ends with .json. Empty: it names neither,
/// and is a scenario. Errors, which name the path: kInvalidArgument where the directory holds a run
/// on machines, which has one future, or no run at all, where the document is not of one run, and
/// where the scenario is not beside it.
[[nodiscard]] Expected<std::optional<SimulatedRun>> SimulatedRunAt(const std::string& path);

}  // namespace tfyarn::cli
