// The journal as a file: frames, and reading them back after any cut.
//
// The file only ever grows; an append may be torn, repeated, or followed by the appends of a later
// attempt. So every frame carries a marker to find the next whole frame by, the attempt that wrote
// it, its sequence number and a hash. Source of the idea: LevelDB's log format, with sequence
// numbers in place of blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/journal/entries.h"
#include "core/model/ids.h"

namespace tfyarn::journal {

/// Of the frames. Entries evolve by themselves (journal.proto).
inline constexpr std::uint8_t kJournalVersion = 6;

/// The AM attempt that writes, and what it knows to be stored.
struct JournalWriter {
  std::int32_t am_attempt = 0;
  JournalSeq heard;  ///< Storage has told it that entries up to this one are durable.
};

/// Bytes of one append. With `first` the file's header comes before the frame: for the first append
/// to a file that was found empty.
[[nodiscard]] std::string EncodeJournalFrame(const JournalWriter& writer, JournalSeq seq,
                                             const JournalEntry& entry, bool first);

struct ReadEntry {
  JournalSeq seq;
  JournalWriter writer;
  JournalEntry entry;
};

struct JournalReading {
  std::vector<ReadEntry> entries;  ///< seq 1, 2, 3, ... without a gap.
  bool cut =
      false;  ///< Bytes that are no whole frame follow the last entry, or lie between entries.
  /// Whole frames were found beyond a missing one, or the file is of another version: entries end
  /// before the gap.
  bool damaged = false;
  /// Set: an entry, or the whole file, is of a newer version, and what it says must not be left
  /// out; what is not understood. Entries end before it.
  std::optional<std::string> refused;
  std::size_t good_bytes = 0;  ///< Up to the end of the last frame that was taken.

  /// What the next append must be numbered.
  [[nodiscard]] JournalSeq next_seq() const {
    return entries.empty() ? JournalSeq(1) : entries.back().seq.next();
  }
};

/// Never fails: bytes that are no whole frame are left out. Of repeated frames of one attempt the
/// first whole one counts; an attempt's frame also takes the place of entries that an earlier
/// attempt wrote under the same or later numbers without the later attempt knowing, and an earlier
/// attempt's frames after it are ignored.
[[nodiscard]] JournalReading ReadJournalBytes(std::string_view bytes);

/// Every whole and sound frame in `bytes`, in their order, whatever its number and its writer, for
/// checkers of what is stored and when. What lies between frames, and entries of a newer version,
/// are left out.
[[nodiscard]] std::vector<ReadEntry> ReadFrames(std::string_view bytes);

}  // namespace tfyarn::journal
