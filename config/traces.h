// Readers of published cluster traces: Philly's jobs, LANL's node failures.
//
// Rows are read as a stream, plain or .xz, and become values with times relative to the earliest
// row. Columns are found by their names in the header. A row that cannot be understood is an error
// with its line, never skipped.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/byte_source.h"
#include "core/model/error.h"
#include "core/model/time.h"

namespace tfyarn::config {

/// A job of msr-fiddle/philly-traces in CSV form: timestamp,duration,num_gpus,...,cluster.
struct PhillyJob {
  Duration submit{};  ///< After the earliest job of the file.
  double duration_seconds = 0;
  std::int32_t gpus = 0;
  std::string cluster;
  friend bool operator==(const PhillyJob&, const PhillyJob&) = default;
};

/// By submission, ties in the order of the file; `limit` > 0: only the first so many.
/// Errors: kNotFound, kUnavailable; kInvalidArgument with "FILE:LINE: ..." for a bad header or row;
/// kDataLoss.
[[nodiscard]] Expected<std::vector<PhillyJob>> ReadPhilly(const std::string& path,
                                                          std::int64_t limit = 0,
                                                          const OpenFile& open = OpenRealFile);

/// A time that a node of LANL's systems was down.
struct NodeOutage {
  std::int64_t node = 0;  ///< nodenumz, from 0; after FoldOutages the position of a node here.
  Duration start{};       ///< After the earliest failure of the system.
  Duration end{};
  friend bool operator==(const NodeOutage&, const NodeOutage&) = default;
};

/// Outages of one system, by start, then node. Errors as ReadPhilly; kInvalidArgument too when the
/// system has no row.
[[nodiscard]] Expected<std::vector<NodeOutage>> ReadLanl(const std::string& path,
                                                         std::int32_t system,
                                                         const OpenFile& open = OpenRealFile);

/// The outages of `node_count` nodes: source node k is node k modulo node_count, which is down
/// while any of its sources is. By start, then node; those of one node do not touch.
[[nodiscard]] std::vector<NodeOutage> FoldOutages(const std::vector<NodeOutage>& outages,
                                                  std::int64_t node_count);

/// Opens a trace; .xz is decompressed.
[[nodiscard]] Expected<std::unique_ptr<ByteSource>> OpenTrace(const std::string& path,
                                                              const OpenFile& open);

}  // namespace tfyarn::config
