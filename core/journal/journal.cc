#include "core/journal/journal.h"

#include <fmt/format.h>
#include <xxhash.h>

#include "core/journal/codec.h"
#include "core/model/codec.h"
#include "core/model/probe.h"

namespace tfyarn::journal {

std::optional<StoredTime> TimeOf(const JournalEntry& entry) {
  return std::visit(
      [](const auto& of) -> std::optional<StoredTime> {
        if constexpr (requires { of.at; }) {
          return of.at;
        } else {
          return std::nullopt;
        }
      },
      entry);
}

namespace {

// File: "TFYARNJ" version. Frame: marker version, then under one hash: writer's attempt, length,
// seq, the latest seq that the writer knew to be stored, payload. The hash stands in the middle:
// marker[3] version[1] hash[8] attempt[4] length[4] seq[8] heard[8] payload[length].
constexpr std::string_view kMagic = "TFYARNJ";
constexpr std::string_view kMarker = "\xF7\x1EJ";
constexpr std::size_t kHashAt = 4;
constexpr std::size_t kBodyAt = kHashAt + 8;
constexpr std::size_t kPayloadAt = kBodyAt + 4 + 4 + 8 + 8;

struct FrameHead {
  std::int32_t am_attempt = 0;
  std::uint32_t length = 0;
  std::uint64_t seq = 0;
  std::uint64_t heard = 0;
};

template <class T>
void Append(std::string& out, const T& value) {
  Encoder(out).Put(value);
}

struct Frame {
  ReadEntry read;
  std::size_t size = 0;
  /// Why the entry is not there: it is of a newer version.
  std::optional<std::string> refused;
};

/// The frame that starts at `bytes`; nullopt when there is no whole and sound one.
std::optional<Frame> FrameAt(std::string_view bytes) {
  if (bytes.size() < kPayloadAt || bytes.substr(0, kMarker.size()) != kMarker) return std::nullopt;
  if (static_cast<std::uint8_t>(bytes[kMarker.size()]) != kJournalVersion) return std::nullopt;
  FrameHead head;
  std::uint64_t hash = 0;
  Decoder fixed(bytes.substr(kHashAt, kPayloadAt - kHashAt));
  fixed.Get(hash);
  fixed.Get(head.am_attempt);
  fixed.Get(head.length);
  fixed.Get(head.seq);
  fixed.Get(head.heard);
  if (head.length > bytes.size() - kPayloadAt) return std::nullopt;
  const std::string_view body = bytes.substr(kBodyAt, kPayloadAt - kBodyAt + head.length);
  if (XXH3_64bits(body.data(), body.size()) != hash) return std::nullopt;

  Frame frame;
  frame.size = kPayloadAt + head.length;
  frame.read.writer = {.am_attempt = head.am_attempt, .heard = JournalSeq(head.heard)};
  frame.read.seq = JournalSeq(head.seq);
  Expected<JournalEntry> entry = DecodeEntry(bytes.substr(kPayloadAt, head.length));
  if (entry) {
    frame.read.entry = *std::move(entry);
  } else {
    frame.refused = entry.error().message;
  }
  return frame;
}

/// A header that was torn in front of its version looks the same: the frames tell, which carry the
/// version too.
bool LooksLikeAnotherVersion(std::string_view bytes) {
  return bytes.size() > kMagic.size() && bytes.substr(0, kMagic.size()) == kMagic &&
         static_cast<std::uint8_t>(bytes[kMagic.size()]) != kJournalVersion;
}

/// Takes whole frames in file order and keeps the entries that count.
class Reader {
 public:
  /// False when the frame shows that one before it is missing.
  bool Take(ReadEntry read) {
    // A later attempt numbers on from what it had read: what earlier attempts appended without its
    // knowledge never happened. After its first frame an earlier attempt has no say.
    if (read.writer.am_attempt < newest_attempt_) {
      TF_PROBE("journal/frame-of-an-earlier-attempt");
      return true;
    }
    if (read.writer.am_attempt > newest_attempt_) {
      newest_attempt_ = read.writer.am_attempt;
      while (!entries_.empty() && entries_.back().seq >= read.seq) entries_.pop_back();
    }
    const JournalSeq next = entries_.empty() ? JournalSeq(1) : entries_.back().seq.next();
    if (read.seq < next) {
      TF_PROBE("journal/repeated-frame");
      return true;  // Repeated.
    }
    if (read.seq > next) return false;
    entries_.push_back(std::move(read));
    return true;
  }
  std::vector<ReadEntry> TakeEntries() { return std::move(entries_); }

 private:
  std::vector<ReadEntry> entries_;
  std::int32_t newest_attempt_ = 0;
};

}  // namespace

std::string EncodeJournalFrame(const JournalWriter& writer, JournalSeq seq,
                               const JournalEntry& entry, bool first) {
  const std::string payload = EncodeEntry(entry);
  std::string body;
  Append(body, writer.am_attempt);
  Append(body, static_cast<std::uint32_t>(payload.size()));
  Append(body, seq);
  Append(body, writer.heard);
  body += payload;

  std::string out;
  if (first) {
    out += kMagic;
    out += static_cast<char>(kJournalVersion);
  }
  out += kMarker;
  out += static_cast<char>(kJournalVersion);
  Append(out, static_cast<std::uint64_t>(XXH3_64bits(body.data(), body.size())));
  out += body;
  return out;
}

std::vector<ReadEntry> ReadFrames(std::string_view bytes) {
  std::vector<ReadEntry> entries;
  for (std::size_t at = bytes.find(kMarker); at < bytes.size();) {
    auto frame = FrameAt(bytes.substr(at));
    const std::size_t next = frame ? at + frame->size : at + 1;
    if (frame && !frame->refused) entries.push_back(std::move(frame->read));
    at = bytes.find(kMarker, next);
  }
  return entries;
}

JournalReading ReadJournalBytes(std::string_view bytes) {
  JournalReading reading;
  std::size_t at = 0;
  const bool whole_header = bytes.size() > kMagic.size() &&
                            bytes.substr(0, kMagic.size()) == kMagic &&
                            !LooksLikeAnotherVersion(bytes);
  if (whole_header) at = reading.good_bytes = kMagic.size() + 1;
  Reader reader;
  while (at < bytes.size()) {
    auto frame = FrameAt(bytes.substr(at));
    if (!frame) {
      // Torn or damaged: the next whole frame, if any, begins with a marker.
      TF_PROBE("journal/torn");
      reading.cut = true;
      at = bytes.find(kMarker, at + 1);
      continue;
    }
    if (frame->refused) {
      TF_PROBE("journal/entry-of-a-newer-version");
      reading.refused = fmt::format("entry {} of attempt {}: {}", frame->read.seq.value,
                                    frame->read.writer.am_attempt, *frame->refused);
      break;
    }
    if (!reader.Take(std::move(frame->read))) {
      reading.damaged = true;
      break;
    }
    at += frame->size;
    reading.good_bytes = at;
  }
  reading.entries = reader.TakeEntries();
  if (reading.entries.empty() && LooksLikeAnotherVersion(bytes)) {
    reading.refused = fmt::format("it is of version {}, and this is version {}",
                                  static_cast<std::uint8_t>(bytes[kMagic.size()]), kJournalVersion);
  }
  return reading;
}

}  // namespace tfyarn::journal
