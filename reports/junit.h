// Results as JUnit XML, the form that CI systems read: expectations, invariants and jobs as test
// cases.
#pragma once

#include <string>

#include "core/trace/ensemble.h"
#include "core/trace/result.h"

namespace tfyarn::reports {

/// One suite with a case for each expectation, invariant and job. A job is a failure when it alone
/// would fail the run; one whose status is expected to be something else shows up under
/// expectations.
[[nodiscard]] std::string JUnitXml(const trace::Result& result);

/// One suite with a case for each expectation and each failed run.
[[nodiscard]] std::string JUnitXml(const trace::Ensemble& ensemble);

}  // namespace tfyarn::reports
