#include "core/am/journal.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "core/model/codec.h"

namespace tfyarn::am::journal_test {
namespace {

WallTime Wall(std::int64_t ms) {
  return WallTime(std::chrono::milliseconds(ms));
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
      AttemptStarted{.am_attempt = 1, .wall = Wall(1)},
      AgentsLaunched{
          .wall = Wall(2),
          .agents = {{{"worker", 0}, Incarnation(0), Nonce(77), Container(2), {"n1", 8041}},
                     {{"worker", 1}, Incarnation(3), Nonce(78), Container(3), {"n2", 8041}}}},
      EpochBegan{.wall = Wall(3), .spec = spec, .processes = {{{"worker", 0}, TaskAttempt(0)}}},
      ProcessesOrdered{.epoch = Epoch(1), .processes = {{{"worker", 1}, TaskAttempt(2)}}},
      AllRunning{.wall = Wall(4)},
      RestartPaid{.budget = Budget::kInfrastructure,
                  .wall = Wall(5),
                  .unit = RestartUnit::kGang,
                  .tasks = {{"worker", 0}, {"worker", 1}},
                  .cause = SomeCause(),
                  .rule = "default/restart-gang"},
      TaskEnded{.task = {"worker", 1},
                .process = {TaskAttempt(2), Epoch(1)},
                .exit = 0,
                .exit_class = ExitClass::kOk,
                .outcome = Outcome::kIgnored,
                .wall = Wall(6),
                .node = "n2",
                .detail = ""},
      TypeWaived{.task_type = "evaluator"},
      MemoryRaised{.task = {"worker", 1}, .memory_mb = 8192},
      HostsKeptOff{.hosts = {"n1", "n3"}},
      GaveBack{.tasks = {{"worker", 1}}, .all = true},
      VerdictDecided{.status = JobStatus::kSucceeded,
                     .diagnostics = "all well",
                     .cause = SomeCause(),
                     .rule = "default/success",
                     .wall = Wall(7)},
      FailureSeen{.task = {"worker", 1},
                  .process = {TaskAttempt(2), Epoch(1)},
                  .container = Container(3),
                  .node = {"n2", 8041},
                  .evidence = {.silent = true},
                  .detail = "nothing heard of its agent",
                  .blamed = true,
                  .container_alive = false,
                  .stopped = {{{"worker", 0}, TaskAttempt(1)}},
                  .wall = Wall(8)},
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
          {AttemptStarted{.am_attempt = 2, .wall = Wall(9)}, TypeWaived{"worker"}});
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
          {AttemptStarted{.am_attempt = attempt, .wall = Wall(attempt)},
           AllRunning{.wall = Wall(attempt * 10)}});
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
  Write(file, 1, 1, {AttemptStarted{.am_attempt = 1, .wall = Wall(1)}});
  Write(file, 1, 2, {TypeWaived{"unseen by attempt 2"}});
  Write(file, 2, 2, {AttemptStarted{.am_attempt = 2, .wall = Wall(2)}});
  Write(file, 1, 3, {TypeWaived{"too late"}});
  Write(file, 2, 3, {AllRunning{.wall = Wall(3)}});
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

TEST(JournalTest, AFileOfAnotherVersionIsNotRead) {
  std::string bytes =
      EncodeJournalFrame({.am_attempt = 1, .heard = {}}, JournalSeq(1), AllRunning{}, true);
  bytes[7] = 99;   // Of the header.
  bytes[11] = 99;  // Of the frame.
  const JournalReading reading = ReadJournalBytes(bytes);
  EXPECT_TRUE(reading.entries.empty());
  EXPECT_TRUE(reading.damaged);
  EXPECT_TRUE(ReadJournalBytes("something that is no journal").cut);
}

TEST(JournalTest, RandomDamageNeverYieldsAnAlteredEntry) {
  const Written file = Whole();
  const std::vector<JournalEntry> entries = AllKinds();
  std::mt19937_64 random(20240607);
  for (int round = 0; round < 20000; ++round) {
    std::string bytes = file.bytes;
    const std::uint64_t kind = random() % 4;
    for (std::uint64_t flips = random() % 8 + 1; flips > 0; --flips) {
      char& byte = bytes[random() % bytes.size()];
      byte = static_cast<char>(byte ^ static_cast<char>(1U << random() % 8));
    }
    if (kind == 1) bytes.resize(random() % bytes.size());
    if (kind == 2) bytes.erase(random() % bytes.size(), random() % 40);
    if (kind == 3)
      bytes.insert(random() % bytes.size(), bytes.substr(random() % bytes.size(), random() % 90));
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
}  // namespace tfyarn::am::journal_test
