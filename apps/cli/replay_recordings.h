// `tfsim replay RUN_DIR`: steps the machines of a real run again with the events that they were
// told, and looks whether they order the same.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/error.h"
#include "hosts/runtime/recording.h"

namespace tfyarn::cli {

struct ReplayDifference {
  Instant at{};
  std::uint64_t step = 0;  ///< Counted from 1.
  std::string event;
  std::string then;  ///< The recorded action; "nothing".
  std::string now;   ///< What the machine ordered instead; "nothing".
};

struct Replayed {
  std::uint64_t steps = 0;
  std::uint64_t actions = 0;
  std::optional<ReplayDifference> first;  ///< The first difference; nothing after it was compared.
};

/// Errors: kInvalidArgument when its job or options cannot be read.
[[nodiscard]] Expected<Replayed> ReplayRecording(const hosts::Recording& recording);

/// Paths of the recordings of a run directory, in order of name; empty where there are none.
[[nodiscard]] std::vector<std::string> RecordingsIn(const std::string& directory);

/// Prints one line for each recording below `directory`/recordings, and the first difference of
/// each. `version`: of this program; where a recording names another, a line says so, as a
/// difference may then be a change of the program. Returns kOk, kRunsDiffer, or kInvalidInput where
/// there is nothing to replay.
[[nodiscard]] int ReplayRunDirectory(const std::string& directory, const std::string& version);

}  // namespace tfyarn::cli
