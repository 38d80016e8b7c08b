// Logs that a NodeManager has collected in HDFS at an application's end: one file for each node,
// with all log files of all containers that ran there.
//
// The format is Hadoop's TFile: blocks of records, of which each is a container with its files one
// behind the other. Read in pieces, for such a file may be larger than memory; what the caller does
// not want is skipped. Blocks are plain or deflated ("gz"). Not for the IndexedFile format.
// Source: TFile, BCFile, Utils.readVLong and Chunk of hadoop-common's io.file.tfile, and
// AggregatedLogFormat of hadoop-yarn-common (Hadoop 3.4).
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "core/model/error.h"
#include "core/model/ids.h"
#include "wire/yarnweb/byte_source.h"
#include "wire/yarnweb/node_logs.h"

namespace tfyarn::wire {

struct AggregatedVisitor {
  /// Whether the file's bytes are wanted.
  std::function<bool(const ContainerId& container, const LogFile& file)> wants;
  /// The bytes of the file that was wanted last.
  std::function<void(std::uint64_t offset, std::string_view bytes)> bytes;
};

/// Goes through all of an aggregated log of `size` bytes. Errors: those of `read`; kDataLoss for
/// what is no such file or is damaged, with what was good visited; kFailedPrecondition for blocks
/// that are compressed in another way.
[[nodiscard]] Expected<void> VisitAggregatedLog(std::uint64_t size, const ReadRange& read,
                                                const AggregatedVisitor& visitor);

}  // namespace tfyarn::wire
