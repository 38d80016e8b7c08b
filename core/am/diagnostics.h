// What a user reads when the job has ended: the cause, the rule that decided, and what to do.
#pragma once

#include <string>

#include "core/model/am.h"

namespace tfyarn::am {

/// One paragraph for a FAILED verdict: cause (task, node, exit, class, last lines of its stderr),
/// why, rule, advice.
[[nodiscard]] std::string FailureText(const VerdictReached& verdict, const std::string& why);
[[nodiscard]] std::string SuccessText(const std::string& rule, const std::string& why);
/// What a user can do about an exit of this class; one sentence.
[[nodiscard]] std::string AdviceFor(ExitClass exit_class);

}  // namespace tfyarn::am
