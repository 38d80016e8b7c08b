// What a run comes to, and the exit code of a program that did nothing but this run.
//
// Only about results: usage errors, unreadable files and the like never get so far. The codes are
// those of apps/cli/exit_codes.h, which documents all of them.
#pragma once

#include <set>
#include <string>

#include "core/trace/result.h"

namespace tfyarn::trace {

/// Sets verdict, exit_code and reason. The worst thing decides: a broken invariant (21), then an
/// interrupt (130), a failed expectation (20), an unfinished job (20), a failed job (10), a killed
/// job (11). `status_expected`: jobs whose status an expectation names; however they ended is that
/// expectation's business.
void Judge(Result& result, const std::set<std::string>& status_expected);

}  // namespace tfyarn::trace
