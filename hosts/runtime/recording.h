// The recording of one process: what its machine was made with, every event it was told and every
// action it ordered, with the time of each.
//
// Result, report and events.jsonl are made of the recordings of a run's processes, and `tfsim
// replay` steps the same machine again with the same events. Idle heartbeats are in it too, as the
// machine saw them. Entries are written whole, each with a checksum, straight to the file: what a
// killed process leaves is readable up to its last step.
//
// Form: the magic "TFYARNR1", then entries: length (4 bytes, little-endian), low half of the XXH3
// of the body, body (codec.h). Not read by another version of the program.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/cluster_spec.h"
#include "core/model/describe.h"
#include "core/model/error.h"
#include "core/trace/record.h"
#include "hosts/runtime/growing_file.h"

namespace tfyarn::hosts {

enum class Recorded { kClient, kAm, kAgent, kCluster };
BOOST_DESCRIBE_ENUM(Recorded, kClient, kAm, kAgent, kCluster)

/// With what a machine was made.
struct RecordingHeader {
  std::string version;  ///< Of the program.
  Recorded who = Recorded::kClient;
  std::uint64_t seed = 0;
  std::string job_file;  ///< Text of the job file; "" for kCluster.
  std::string options;   ///< The machine's options in their binary form; "" where there are none.
};
BOOST_DESCRIBE_STRUCT(RecordingHeader, (), (version, who, seed, job_file, options))

/// Writes a recording. A write that fails ends the recording, never the run. On a full disk it
/// waits (GrowingFile); with more than can wait it ends, too.
class Recorder {
 public:
  Recorder() = default;  ///< Records nothing.
  /// Errors: kFailedPrecondition when the file cannot be made; one that is there is an error.
  [[nodiscard]] static Expected<Recorder> Open(const std::string& path,
                                               const RecordingHeader& header);

  void Write(Instant at, trace::Fact fact);
  /// Why recording has ended early; "" while it goes on.
  [[nodiscard]] const std::string& failure() const { return failure_; }

 private:
  GrowingFile file_;
  std::vector<SpecId> known_specs_;  ///< Sorted: those that are in the file.
  std::string failure_;
};

/// Takes a recording apart while its bytes come.
class RecordingParser {
 public:
  using OnRecord = std::function<void(trace::TraceRecord&)>;

  /// Gives every record that is whole now. Errors: kInvalidArgument (not a recording, or of another
  /// version), kDataLoss (a damaged entry); after one every call gives the same error.
  [[nodiscard]] Expected<void> Feed(std::string_view bytes, const OnRecord& on_record);
  /// nullptr until it has come.
  [[nodiscard]] const RecordingHeader* header() const { return header_ ? &*header_ : nullptr; }
  /// No part of an entry waits for the rest.
  [[nodiscard]] bool whole() const { return rest_.empty(); }

 private:
  [[nodiscard]] Expected<void> TakeEntries(const OnRecord& on_record);
  [[nodiscard]] Expected<void> TakeEntry(std::string_view frame, const OnRecord& on_record);

  bool begun_ = false;
  std::optional<Error> failure_;
  std::string rest_;
  std::optional<RecordingHeader> header_;
  std::map<SpecId, SpecRef> specs_{{SpecId{}, SpecRef{}}};
};

struct Recording {
  RecordingHeader header;
  std::vector<trace::TraceRecord> records;
  bool whole = true;  ///< False: the last entry was cut.
};

/// Errors: kNotFound, kInvalidArgument (not a recording, or of another version), kDataLoss (a
/// damaged entry).
[[nodiscard]] Expected<Recording> ReadRecording(const std::string& path);
[[nodiscard]] Expected<Recording> ReadRecordingBytes(std::string_view bytes);

}  // namespace tfyarn::hosts
