// Amnesia: an ApplicationMaster is killed at its k-th append to the journal, for every k; also the
// next one at its j-th. What it knew and had not stored is gone, and the job must come to the same.
#pragma once

#include <variant>
#include <vector>

#include "explore/relation.h"

namespace tfyarn::explore {

/// The document with enough application attempts for the deaths that follow. That a death uses one
/// up is what YARN means by it, and no loss of memory.
[[nodiscard]] Node WithMoreAttempts(Node document);

/// The document's first job by itself, without faults, without `watch` and without what it says of
/// a task's second attempt on: only what the death brings about is another thing then, and comes at
/// other times.
[[nodiscard]] Node FirstJobAlone(Node document);

[[nodiscard]] std::variant<std::vector<Variant>, Skipped> AmnesiaOf(const Node& document,
                                                                    const RunRecord& plain);

}  // namespace tfyarn::explore
