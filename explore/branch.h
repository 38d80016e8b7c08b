// Branching from a run: the same scenario with a small difference, near the moment at which the run
// reached what no other had.
//
// Another future, one fault more or less, one that strikes at another time, another one in its
// place, or a part of the surroundings drawn anew. What is left still has an end that can be told:
// the horizon grows with what the difference may take, and of a job that had to succeed only an end
// is expected where the difference may cost it that. Other faults may cost more than time.
#pragma once

#include "explore/corpus.h"
#include "explore/document.h"
#include "explore/draw.h"

namespace tfyarn::explore {

/// May be no scenario after all: what was put together does not always fit.
[[nodiscard]] Node Branch(const KeptRun& run, Draw& draw);

}  // namespace tfyarn::explore
