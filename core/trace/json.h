// Results and records as JSON text: result.json, events.jsonl, and the summary of many runs.
//
// Times are seconds from the start of the run, as the shortest decimal that reads back as the same
// number; the same result gives the same text on every machine. A job is one line, so that two
// results can be compared with line tools.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/trace/ensemble.h"
#include "core/trace/record.h"
#include "core/trace/result.h"

namespace tfyarn::trace {

/// The document `tfsim.result/v1`, of a real run `tfyarn.result/v1`, ended by a newline.
[[nodiscard]] std::string ResultJson(const Result& result);

/// What the report draws and result.json does not have: use of the cluster over time, histograms,
/// timeline, the effective scenario. One line.
[[nodiscard]] std::string ReportJson(const Result& result);
/// The same of many runs: the effective scenario alone.
[[nodiscard]] std::string ReportJson(const std::string& scenario_yaml);

/// What a line of events.jsonl says besides its record.
struct RecordRemarks {
  std::uint64_t seq = 0;  ///< Its number among the lines of its writer, from 1; 0 = none.
  std::string text;       ///< The same as text for users; "" = no text.
};

/// One line of events.jsonl, without its newline: {"at": seconds, "at_ns": integer, "type":
/// "ContainerGranted", members...}. Ids are in YARN's text forms, times inside in integer
/// nanoseconds under NAME_ns (calendar times: NAME_ms), an alternative of a variant is an object
/// with its `type` first, bytes that are no UTF-8 are replaced. Remarks are `seq` and `text`.
[[nodiscard]] std::string RecordJson(const TraceRecord& record, const RecordRemarks& remarks = {});
struct RecordLine {
  TraceRecord record;
  std::uint64_t seq = 0;
};
/// Such a line read back, as far as it can be: of a cluster spec there is only the id. nullopt: it
/// is none, or one of another version.
[[nodiscard]] std::optional<RecordLine> RecordFromJson(std::string_view line);

/// The document `tfsim.ensemble/v1`, ended by a newline.
[[nodiscard]] std::string EnsembleJson(const Ensemble& ensemble);

/// The summary of one run as it travels from the process that ran it, one line; and back. nullopt:
/// damaged.
[[nodiscard]] std::string SummaryJson(const RunSummary& summary);
[[nodiscard]] std::optional<RunSummary> SummaryFromJson(std::string_view text);

}  // namespace tfyarn::trace
