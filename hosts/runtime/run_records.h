// All recordings of a run as one trace.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/model/error.h"
#include "core/trace/record.h"
#include "hosts/runtime/folder_watch.h"
#include "hosts/runtime/recording.h"

namespace tfyarn::hosts {

/// Reads recordings while they grow, and gives what is new in the order of time. A process may
/// write an entry a moment after another one wrote a later one; what comes late is put in its place
/// only by those who read everything at the end.
class RecordingsReader {
 public:
  /// `directory`: every *.record in it belongs to the run.
  explicit RecordingsReader(std::string directory)
      : directory_(std::move(directory)), watch_(directory_) {}

  /// Whole entries that were not given yet, sorted by time; without idle heartbeats and the like
  /// (trace::IsRoutine) unless they are asked for.
  [[nodiscard]] std::vector<trace::TraceRecord> Take(bool routine = false);
  /// What could not be read, one line each.
  [[nodiscard]] const std::vector<std::string>& problems() const { return problems_; }

 private:
  struct File {
    RecordingParser parser;
    std::uint64_t offset = 0;
    bool broken = false;
  };

  void TakeFrom(const std::string& path, File& file, bool routine,
                std::vector<trace::TraceRecord>& records);

  std::string directory_;
  FolderWatch watch_;
  std::map<std::string, File> files_;
  std::vector<std::string> problems_;
};

/// The same records counted from `origin`, with the times of causes in them.
void CountFrom(Instant origin, std::vector<trace::TraceRecord>& records);

}  // namespace tfyarn::hosts
