// What happened, for people who follow a job: one sentence for a record.
#pragma once

#include <string>

#include "core/trace/record.h"

namespace tfyarn::trace {

/// Without its time and without the job's name; "" for what is only how it came about: messages,
/// calls, the journal.
[[nodiscard]] std::string SentenceOf(const AmAction& action);
/// The same of any fact: AMs, faults, ends of applications and broken invariants too.
[[nodiscard]] std::string SentenceOf(const Fact& fact);

}  // namespace tfyarn::trace
