// Many runs of one scenario, over seeds and the cells of its matrix, in processes of their own.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/cli/arguments.h"
#include "apps/cli/simulator.h"
#include "config/scenario.h"
#include "core/trace/ensemble.h"

namespace tfyarn::cli {

/// Settings of one cell, as --set takes them.
using CellSettings = std::vector<std::pair<std::string, std::string>>;

/// Every combination of the matrix, its last path changing fastest; one empty cell without a
/// matrix.
[[nodiscard]] std::vector<CellSettings> CellsOf(const std::optional<config::SweepSpec>& sweep);

/// Gets each run that was done, in the order of cells and seeds, with the settings of its cell.
using RunSink = std::function<void(const trace::RunSummary& run, const std::string& set)>;

/// Runs everything. nullopt: a cell's scenario has errors, which were printed.
[[nodiscard]] std::optional<trace::Ensemble> RunEnsemble(const config::Scenario& scenario,
                                                         const RunArguments& arguments,
                                                         const Simulator& simulator,
                                                         const RunSink& each);

}  // namespace tfyarn::cli
