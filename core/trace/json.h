// Results and records as JSON text: result.json, events.jsonl, and the summary of many runs.
//
// Times are seconds from the start of the run, as the shortest decimal that reads back as the same
// number; the same result gives the same text on every machine. A job is one line, so that two
// results can be compared with line tools.
#pragma once

#include <string>

#include "core/trace/ensemble.h"
#include "core/trace/record.h"
#include "core/trace/result.h"

namespace tfyarn::trace {

/// The document `tfsim.result/v1`, ended by a newline.
[[nodiscard]] std::string ResultJson(const Result& result);

/// What the report draws and result.json does not have: use of the cluster over time, histograms,
/// timeline, the effective scenario. One line.
[[nodiscard]] std::string ReportJson(const Result& result);
/// The same of many runs: the effective scenario alone.
[[nodiscard]] std::string ReportJson(const std::string& scenario_yaml);

/// One line of events.jsonl, without its newline: {"at": seconds, "at_ns": integer, "type":
/// "ContainerGranted", members...}. Ids are in YARN's text forms, times inside in integer
/// nanoseconds under NAME_ns (calendar times: NAME_ms), an alternative of a variant is an object
/// with its `type` first, bytes that are no UTF-8 are replaced.
[[nodiscard]] std::string RecordJson(const TraceRecord& record);

/// The document `tfsim.ensemble/v1`, ended by a newline.
[[nodiscard]] std::string EnsembleJson(const Ensemble& ensemble);

/// The summary of one run as it travels from the process that ran it, one line; and back. nullopt:
/// damaged.
[[nodiscard]] std::string SummaryJson(const RunSummary& summary);
[[nodiscard]] std::optional<RunSummary> SummaryFromJson(std::string_view text);

}  // namespace tfyarn::trace
