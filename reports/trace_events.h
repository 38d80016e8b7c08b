// A run's timeline as JSON Trace Events, which ui.perfetto.dev and chrome://tracing open: a track
// for each job with its phases, a track for each node with its containers, faults as instants.
//
// The format is described in "Trace Event Format" (Google, public document); only complete (X),
// instant (i) and metadata (M) events are used. It is the bounded timeline of the report, not the
// whole trace: that is events.jsonl.
#pragma once

#include <string>

#include "core/trace/result.h"

namespace tfyarn::reports {

[[nodiscard]] std::string TraceEventsJson(const trace::Result& result);

}  // namespace tfyarn::reports
