// Expectations about many runs together, and what an ensemble comes to.
#pragma once

#include <vector>

#include "config/scenario.h"
#include "core/trace/ensemble.h"

namespace tfyarn::cli {

/// True when the expectation is about many runs together: about a figure of the ensemble
/// (trace::IsEnsembleFigure), or about cells (`where`).
[[nodiscard]] bool IsAboutEnsemble(const config::Expectation& expectation);

/// Judges those expectations on the figures of the cells that they are about; without `where` on
/// all runs.
[[nodiscard]] std::vector<trace::ExpectationResult> JudgeEnsemble(
    const std::vector<config::Expectation>& expectations, const trace::Ensemble& ensemble);

/// Sets verdict, exit_code and reason from the runs and the expectations. An interrupt is for the
/// caller to add.
void Judge(trace::Ensemble& ensemble);

}  // namespace tfyarn::cli
