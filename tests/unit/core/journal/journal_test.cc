#include "core/journal/journal.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <xxhash.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/model/codec.h"
#include "core/model/random_stream.h"
#include "core/model/text.h"
#include "tests/unit/files.h"

namespace tfyarn::journal::journal_test {
namespace {

StoredTime Wall(std::int64_t ms) {
  return StoredTime(std::chrono::milliseconds(ms));
}

ContainerId Container(std::int64_t id) {
  return {
      .application_attempt = {.application = {.cluster_timestamp = 1000, .id = 7}, .attempt = 1},
      .id = id};
}

JournaledCause SomeCause() {
  return {.task = {"worker", 1},
          .exit = 137,
          .exit_class = ExitClass::kKilledExternal,
          .node = "n3:8041",
          .at = Wall(5),
          .detail = "Killed"};
}

/// One entry of every kind.
std::vector<JournalEntry> AllKinds() {
  ClusterSpec spec;
  spec.epoch = Epoch(1);
  spec.tasks["worker"] = {{"n1", 4000}, {"n2", 4001}};
  return {
      AttemptStarted{.am_attempt = 1, .at = Wall(1)},
      AgentsLaunched{
          .at = Wall(2),
          .agents = {{{"worker", 0}, Incarnation(0), Nonce(77), Container(2), {"n1", 8041}},
                     {{"worker", 1}, Incarnation(3), Nonce(78), Container(3), {"n2", 8041}}}},
      EpochBegan{.at = Wall(3), .spec = spec, .processes = {{{"worker", 0}, TaskAttempt(0)}}},
      ProcessesOrdered{.epoch = Epoch(1), .processes = {{{"worker", 1}, TaskAttempt(2)}}},
      AllRunning{.at = Wall(4)},
      RestartPaid{.budget = Budget::kInfrastructure,
                  .at = Wall(5),
                  .unit = RestartUnit::kGang,
                  .tasks = {{"worker", 0}, {"worker", 1}},
                  .cause = SomeCause(),
                  .rule = "default/restart-gang",
                  .has_victims = true,
                  .excused_by = JournaledProcess{{"ps", 0}, TaskAttempt(4)}},
      TaskEnded{.task = {"worker", 1},
                .process = {TaskAttempt(2), Epoch(1)},
                .exit = 0,
                .exit_class = ExitClass::kOk,
                .outcome = policy::Outcome::kIgnored,
                .at = Wall(6),
                .node = "n2",
                .detail = "",
                .unpaid_by = "retries.user",
                .restarts = 3},
      TypeWaived{.task_type = "evaluator"},
      MemoryRaised{.task = {"worker", 1}, .memory_mb = 8192, .attempt = TaskAttempt(2)},
      HostsKeptOff{.hosts = {"n1", "n3"}},
      GaveBack{.tasks = {{"worker", 1}}, .all = true},
      DependencyRan{.row = 2, .at = Wall(7)},
      VerdictDecided{.status = JobStatus::kSucceeded,
                     .diagnostics = "all well",
                     .cause = SomeCause(),
                     .rule = "default/success",
                     .at = Wall(7)},
      FailureSeen{.task = {"worker", 1},
                  .process = {TaskAttempt(2), Epoch(1)},
                  .container = Container(3),
                  .node = {"n2", 8041},
                  .evidence = {.silent = true},
                  .detail = "nothing heard of its agent",
                  .blamed = true,
                  .container_alive = false,
                  .stopped = {{{"worker", 0}, TaskAttempt(1)}},
                  .at = Wall(8)},
  };
}

std::string BytesOf(const JournalEntry& entry) {
  std::string bytes;
  Encoder(bytes).Put(entry);
  return bytes;
}

struct Written {
  std::string bytes;
  std::vector<std::size_t> ends;  ///< Where each frame ends.
};

/// Entries seq `from`... of one attempt, appended.
void Write(Written& file, std::int32_t am_attempt, std::uint64_t from,
           const std::vector<JournalEntry>& entries) {
  for (const JournalEntry& entry : entries) {
    file.bytes += EncodeJournalFrame({.am_attempt = am_attempt, .heard = {}}, JournalSeq(from++),
                                     entry, file.bytes.empty());
    file.ends.push_back(file.bytes.size());
  }
}

Written Whole() {
  Written file;
  Write(file, 1, 1, AllKinds());
  return file;
}

void ExpectPrefix(const JournalReading& reading, const std::vector<JournalEntry>& entries,
                  std::size_t count) {
  ASSERT_EQ(reading.entries.size(), count);
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_EQ(reading.entries[i].seq, JournalSeq(i + 1));
    EXPECT_EQ(BytesOf(reading.entries[i].entry), BytesOf(entries[i]));
  }
}

TEST(JournalTest, EveryKindOfEntryIsReadBack) {
  const Written file = Whole();
  const JournalReading reading = ReadJournalBytes(file.bytes);
  ExpectPrefix(reading, AllKinds(), AllKinds().size());
  EXPECT_FALSE(reading.cut);
  EXPECT_FALSE(reading.damaged);
  EXPECT_EQ(reading.good_bytes, file.bytes.size());
  EXPECT_EQ(reading.next_seq(), JournalSeq(AllKinds().size() + 1));
}

TEST(JournalTest, AllKindsAreTested) {
  EXPECT_EQ(AllKinds().size(), std::variant_size_v<JournalEntry>);
}

TEST(JournalTest, AnEmptyFileHasNoEntriesAndTheNextIsTheFirst) {
  const JournalReading reading = ReadJournalBytes("");
  EXPECT_TRUE(reading.entries.empty());
  EXPECT_FALSE(reading.cut);
  EXPECT_EQ(reading.next_seq(), JournalSeq(1));
}

TEST(JournalTest, ACutAtEveryByteLeavesExactlyTheWholeFrames) {
  const Written file = Whole();
  for (std::size_t cut = 0; cut <= file.bytes.size(); ++cut) {
    std::size_t whole = 0;
    while (whole < file.ends.size() && file.ends[whole] <= cut) ++whole;
    const JournalReading reading = ReadJournalBytes(std::string_view(file.bytes).substr(0, cut));
    ExpectPrefix(reading, AllKinds(), whole);
    EXPECT_FALSE(reading.damaged) << cut;
    const std::size_t header = 8;
    const std::size_t expected_good =
        whole > 0 ? file.ends[whole - 1] : (cut >= header ? header : 0);
    EXPECT_EQ(reading.good_bytes, expected_good) << cut;
    EXPECT_EQ(reading.cut, cut != expected_good) << cut;
  }
}

TEST(JournalTest, ALaterAttemptsEntriesAreReadBehindATornTailWhereverItWasTorn) {
  const Written file = Whole();
  for (std::size_t cut = 0; cut <= file.bytes.size(); ++cut) {
    Written torn;
    torn.bytes = file.bytes.substr(0, cut);
    const JournalReading before = ReadJournalBytes(torn.bytes);
    Write(torn, 2, before.next_seq().value,
          {AttemptStarted{.am_attempt = 2, .at = Wall(9)}, TypeWaived{"worker"}});
    const JournalReading after = ReadJournalBytes(torn.bytes);
    ASSERT_EQ(after.entries.size(), before.entries.size() + 2) << cut;
    EXPECT_EQ(after.entries[before.entries.size()].writer.am_attempt, 2);
    EXPECT_TRUE(std::holds_alternative<TypeWaived>(after.entries.back().entry));
    EXPECT_FALSE(after.damaged) << cut;
    EXPECT_EQ(after.good_bytes, torn.bytes.size()) << cut;
  }
}

TEST(JournalTest, RepeatedSequenceNumbersAreIgnoredAndTheFirstWholeCopyCounts) {
  Written file;
  const std::vector<JournalEntry> entries = AllKinds();
  Write(file, 1, 1, {entries[0], entries[1]});
  Write(file, 1, 2, {TypeWaived{"not this"}});
  const std::string torn =
      EncodeJournalFrame({.am_attempt = 1, .heard = {}}, JournalSeq(3), entries[2], false);
  file.bytes += torn.substr(0, torn.size() / 2);
  Write(file, 1, 3, {entries[2], entries[3]});
  const JournalReading reading = ReadJournalBytes(file.bytes);
  ExpectPrefix(reading, entries, 4);
  EXPECT_FALSE(reading.damaged);
}

TEST(JournalTest, ThreeAttemptsFollowEachOtherWithOneSequence) {
  Written file;
  for (std::int32_t attempt = 1; attempt <= 3; ++attempt) {
    Write(file, attempt, ReadJournalBytes(file.bytes).next_seq().value,
          {AttemptStarted{.am_attempt = attempt, .at = Wall(attempt)},
           AllRunning{.at = Wall(attempt * 10)}});
  }
  const JournalReading reading = ReadJournalBytes(file.bytes);
  ASSERT_EQ(reading.entries.size(), 6U);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(reading.entries[i].seq, JournalSeq(i + 1));
    EXPECT_EQ(reading.entries[i].writer.am_attempt, static_cast<std::int32_t>(i / 2 + 1));
  }
}

TEST(JournalTest, AnAttemptThatLivesOnCannotChangeWhatItsSuccessorRead) {
  Written file;
  Write(file, 1, 1, {AttemptStarted{.am_attempt = 1, .at = Wall(1)}});
  Write(file, 1, 2, {TypeWaived{"unseen by attempt 2"}});
  Write(file, 2, 2, {AttemptStarted{.am_attempt = 2, .at = Wall(2)}});
  Write(file, 1, 3, {TypeWaived{"too late"}});
  Write(file, 2, 3, {AllRunning{.at = Wall(3)}});
  const JournalReading reading = ReadJournalBytes(file.bytes);
  ASSERT_EQ(reading.entries.size(), 3U);
  EXPECT_TRUE(std::holds_alternative<AttemptStarted>(reading.entries[1].entry));
  EXPECT_TRUE(std::holds_alternative<AllRunning>(reading.entries[2].entry));
  EXPECT_FALSE(reading.damaged);
}

TEST(JournalTest, EntriesBeyondAGapAreNotReturned) {
  Written file = Whole();
  file.bytes[file.ends[3] + 30] ^= 1;
  const JournalReading reading = ReadJournalBytes(file.bytes);
  ExpectPrefix(reading, AllKinds(), 4);
  EXPECT_TRUE(reading.cut);
  EXPECT_TRUE(reading.damaged);
  EXPECT_EQ(reading.good_bytes, file.ends[3]);
}

TEST(JournalTest, EachEntrySaysWhatItsWriterKnewToBeStored) {
  const std::string bytes =
      EncodeJournalFrame({.am_attempt = 1, .heard = {}}, JournalSeq(1), AllRunning{}, true) +
      EncodeJournalFrame({.am_attempt = 1, .heard = JournalSeq(1)}, JournalSeq(2), AllRunning{},
                         false);
  const JournalReading reading = ReadJournalBytes(bytes);
  ASSERT_EQ(reading.entries.size(), 2U);
  EXPECT_EQ(reading.entries[0].writer.heard, JournalSeq(0));
  EXPECT_EQ(reading.entries[1].writer.heard, JournalSeq(1));
}

/// One line for each entry.
std::string TextOf(const JournalReading& reading) {
  std::string text;
  for (const ReadEntry& read : reading.entries) {
    text += fmt::format("{} of attempt {} ({} stored): {}\n", read.seq.value,
                        read.writer.am_attempt, read.writer.heard.value, ToText(read.entry));
  }
  return text;
}

/// tests/data/journal has a journal of every version that was released, with an entry of every kind
/// that it had, beside what it says. TFYARN_REWRITE=1 adds that of this version where there is
/// none, and rewrites none.
TEST(JournalTest, JournalsOfEveryReleasedVersionAreReadForEver) {
  const char* root = std::getenv("TFYARN_SOURCE_DIR");
  if (root == nullptr) GTEST_SKIP() << "TFYARN_SOURCE_DIR is not set; run by ctest";
  const std::filesystem::path folder = std::filesystem::path(root) / "tests/data/journal";
  const std::string name = fmt::format("version-{}", kJournalVersion);
  const std::filesystem::path ours = folder / (name + ".journal");
  if (std::getenv("TFYARN_REWRITE") != nullptr && !std::filesystem::exists(ours)) {
    std::ofstream(ours, std::ios::binary) << Whole().bytes;
    std::ofstream(folder / (name + ".txt")) << TextOf(ReadJournalBytes(Whole().bytes));
  }
  ASSERT_TRUE(std::filesystem::exists(ours)) << ours << ": run with TFYARN_REWRITE=1";
  std::size_t read = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".journal") continue;
    const JournalReading reading = ReadJournalBytes(ReadFile(entry.path()));
    EXPECT_FALSE(reading.cut || reading.damaged || reading.refused) << entry.path();
    std::filesystem::path text = entry.path();
    EXPECT_EQ(TextOf(reading), ReadFile(text.replace_extension(".txt"))) << entry.path();
    read += reading.entries.size();
  }
  EXPECT_GE(read, AllKinds().size());
}

/// A frame as `good` has it, but with other bytes of the entry in it.
std::string FrameWith(std::string_view payload) {
  std::string body;
  Encoder(body).Put(std::int32_t{1});
  Encoder(body).Put(static_cast<std::uint32_t>(payload.size()));
  Encoder(body).Put(std::uint64_t{2});
  Encoder(body).Put(std::uint64_t{1});
  body += payload;
  std::string frame = "\xF7\x1EJ";
  frame += static_cast<char>(kJournalVersion);
  Encoder(frame).Put(static_cast<std::uint64_t>(XXH3_64bits(body.data(), body.size())));
  return frame + body;
}

TEST(JournalTest, AnEntryOfANewerVersionIsRefusedAndNotLeftOut) {
  struct Case {
    std::string payload;
    std::string says;
  };
  const Case cases[] = {
      // Field 200, an empty message: a kind of entry that is to come.
      {"\xc2\x0c" + std::string(1, '\0'), "its kind is not known to this version"},
      // TaskEnded of an exit class that is to come.
      {std::string("\x3a\x0b\x22\x09") + "sun-spots", "the word 'sun-spots' in it is not known"},
      {"\xff\xff", "its bytes are no entry"},
  };
  const std::string first =
      EncodeJournalFrame({.am_attempt = 1, .heard = {}}, JournalSeq(1), AllRunning{}, true);
  for (const Case& c : cases) {
    const JournalReading reading = ReadJournalBytes(first + FrameWith(c.payload));
    EXPECT_EQ(reading.entries.size(), 1U);
    ASSERT_TRUE(reading.refused) << c.says;
    EXPECT_TRUE(reading.refused->starts_with("entry 2 of attempt 1: " + c.says))
        << *reading.refused;
    EXPECT_TRUE(ReadFrames(FrameWith(c.payload)).empty());
  }
}

/// Fields that a newer version adds to an entry may be left out.
TEST(JournalTest, AFieldThatIsNotKnownIsLeftOut) {
  const std::string first =
      EncodeJournalFrame({.am_attempt = 1, .heard = {}}, JournalSeq(1), AllRunning{}, true);
  // AllRunning at 5 ns, with a field 99.
  const JournalReading reading =
      ReadJournalBytes(first + FrameWith(std::string("\x2a\x05\x08\x05\x98\x06\x07")));
  EXPECT_FALSE(reading.refused);
  ASSERT_EQ(reading.entries.size(), 2U);
  EXPECT_EQ(std::get<AllRunning>(reading.entries[1].entry).at, StoredTime(Duration(5)));
}

TEST(JournalTest, AFileOfAnotherVersionIsNotRead) {
  std::string bytes =
      EncodeJournalFrame({.am_attempt = 1, .heard = {}}, JournalSeq(1), AllRunning{}, true);
  bytes[7] = 99;   // Of the header.
  bytes[11] = 99;  // Of the frame.
  const JournalReading reading = ReadJournalBytes(bytes);
  EXPECT_TRUE(reading.entries.empty());
  EXPECT_EQ(reading.refused, "it is of version 99, and this is version 6");
  EXPECT_TRUE(ReadJournalBytes("something that is no journal").cut);
}

TEST(JournalTest, RandomDamageNeverYieldsAnAlteredEntry) {
  const Written file = Whole();
  const std::vector<JournalEntry> entries = AllKinds();
  RandomStream random(20240607, "journal-test");
  for (int round = 0; round < 20000; ++round) {
    std::string bytes = file.bytes;
    const std::uint64_t kind = random.Below(4);
    for (std::uint64_t flips = random.Below(8) + 1; flips > 0; --flips) {
      char& byte = bytes[random.Below(bytes.size())];
      byte = static_cast<char>(byte ^ static_cast<char>(1U << random.Below(8)));
    }
    if (kind == 1) bytes.resize(random.Below(bytes.size()));
    if (kind == 2) bytes.erase(random.Below(bytes.size()), random.Below(40));
    if (kind == 3)
      bytes.insert(random.Below(bytes.size()),
                   bytes.substr(random.Below(bytes.size()), random.Below(90)));
    const JournalReading reading = ReadJournalBytes(bytes);
    ASSERT_LE(reading.entries.size(), entries.size());
    ExpectPrefix(reading, entries, reading.entries.size());
    ASSERT_LE(reading.good_bytes, bytes.size());
  }
}

TEST(JournalTest, AHugeLengthIsOnlyATornFrame) {
  std::string bytes = Whole().bytes.substr(0, 8);
  std::string frame =
      EncodeJournalFrame({.am_attempt = 1, .heard = {}}, JournalSeq(1), AllRunning{}, false);
  for (std::size_t i = 16; i < 20; ++i) frame[i] = '\xff';
  bytes += frame;
  const JournalReading reading = ReadJournalBytes(bytes);
  EXPECT_TRUE(reading.entries.empty());
  EXPECT_TRUE(reading.cut);
}

}  // namespace
}  // namespace tfyarn::journal::journal_test
