// Any bytes as a journal. Reading never crashes, numbers entries 1, 2, 3, ..., and what was read
// can be written and read again unchanged. The first byte says how the rest is used: as the file,
// as an entry's payload, or as damage to a file that was written well, as hashes keep random bytes
// out of the decoder.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/journal/journal.h"
#include "core/model/check.h"
#include "core/model/codec.h"
#include "tests/fuzz/one_of.h"

namespace {

using tfyarn::JournalSeq;
using tfyarn::journal::JournalEntry;
using tfyarn::journal::JournalReading;

std::string Payload(const JournalEntry& entry) {
  std::string bytes;
  tfyarn::Encoder(bytes).Put(entry);
  return bytes;
}

void CheckFile(std::string_view bytes) {
  const JournalReading reading = tfyarn::journal::ReadJournalBytes(bytes);
  TF_CHECK(reading.good_bytes <= bytes.size());
  std::string copy;
  std::uint64_t seq = 1;
  for (const auto& read : reading.entries) {
    TF_CHECK(read.seq.value == seq++);
    copy += tfyarn::journal::EncodeJournalFrame(read.writer, read.seq, read.entry, copy.empty());
  }
  const JournalReading again = tfyarn::journal::ReadJournalBytes(copy);
  TF_CHECK(again.entries.size() == reading.entries.size());
  TF_CHECK(!again.cut && !again.damaged && again.good_bytes == copy.size());
}

void CheckPayload(std::string_view bytes) {
  JournalEntry entry;
  tfyarn::Decoder decoder(bytes);
  decoder.Get(entry);
  if (!decoder.at_end()) return;
  const std::string file = tfyarn::journal::EncodeJournalFrame({.am_attempt = 1, .heard = {}},
                                                               JournalSeq(1), entry, true);
  const JournalReading reading = tfyarn::journal::ReadJournalBytes(file);
  TF_CHECK(reading.entries.size() == 1 && !reading.cut);
  TF_CHECK(Payload(reading.entries[0].entry) == Payload(entry));
}

/// Every two bytes: a place, and what is xored into it. Nothing altered may be read.
void CheckDamage(std::string_view damage) {
  const JournalEntry entries[] = {
      tfyarn::journal::AttemptStarted{.am_attempt = 1},
      tfyarn::journal::TypeWaived{.task_type = "evaluator"},
      tfyarn::journal::MemoryRaised{.task = {"worker", 1}, .memory_mb = 4096}};
  std::string file;
  std::uint64_t seq = 1;
  for (const JournalEntry& entry : entries) {
    file += tfyarn::journal::EncodeJournalFrame({.am_attempt = 1, .heard = {}}, JournalSeq(seq++),
                                                entry, file.empty());
  }
  for (std::size_t i = 0; i + 1 < damage.size(); i += 2) {
    char& byte = file[static_cast<unsigned char>(damage[i]) % file.size()];
    byte = static_cast<char>(byte ^ damage[i + 1]);
  }
  const JournalReading reading = tfyarn::journal::ReadJournalBytes(file);
  for (std::size_t i = 0; i < reading.entries.size(); ++i) {
    TF_CHECK(i < 3 && Payload(reading.entries[i].entry) == Payload(entries[i]));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return tfyarn::fuzz::OneOf(data, size, {CheckFile, CheckPayload, CheckDamage});
}
