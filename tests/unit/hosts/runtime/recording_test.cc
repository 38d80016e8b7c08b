#include "hosts/runtime/recording.h"

#include <gmock/gmock.h>

#include "core/model/text.h"
#include "tests/unit/hosts/runtime/host_rig.h"

namespace tfyarn::hosts::recording_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const RecordingHeader kHeader{.version = "1.2.3",
                              .who = Recorded::kAm,
                              .seed = 42,
                              .job_file = "name: mnist\n",
                              .options = std::string("\0\1\2", 3)};

SpecRef SpecOf(std::int32_t port) {
  return Share({.epoch = Epoch(1), .tasks = {{"worker", {{.host = "gpu-1", .port = port}}}}});
}

/// Something that names a spec.
trace::Fact Assembled(const SpecRef& spec) {
  return trace::AmOrdered{.action = SpecAssembled{.spec = spec, .epoch = Epoch(1)}};
}

trace::Fact Noted(const std::string& text) {
  return trace::AmOrdered{.am_attempt = 1, .action = Note{text}};
}

std::vector<std::string> Texts(const std::vector<trace::TraceRecord>& records) {
  std::vector<std::string> texts;
  for (const trace::TraceRecord& record : records) texts.push_back(ToText(record));
  return texts;
}

class RecordingTest : public HostRig {
 protected:
  Recorder Open(const std::string& name = "am.record") {
    auto recorder = Recorder::Open(PathOf(name), kHeader);
    EXPECT_TRUE(recorder) << recorder.error().message;
    return recorder ? std::move(*recorder) : Recorder();
  }
  /// Three entries, a spec in front of the second; its bytes.
  std::string Sample() {
    Recorder recorder = Open("sample.record");
    recorder.Write(Instant(1s), Noted("one"));
    recorder.Write(Instant(2s), Assembled(SpecOf(40000)));
    recorder.Write(Instant(3s), Noted("three"));
    return ReadFile(PathOf("sample.record"));
  }
};

TEST_F(RecordingTest, ReadsBackWhatWasWritten) {
  Recorder recorder = Open();
  std::vector<trace::TraceRecord> written{
      {Instant(1s), Noted("one")},
      {Instant(1s), Assembled(SpecOf(40000))},
      {Instant(1500ms), Assembled(SpecRef())},
      {Instant(2s), trace::ContainerFreed{.container = {.id = 7}, .exit_status = -104}}};
  for (const trace::TraceRecord& record : written) recorder.Write(record.at, record.fact);

  const auto recording = ReadRecording(PathOf("am.record"));
  ASSERT_TRUE(recording) << recording.error().message;
  EXPECT_EQ(ToText(recording->header), ToText(kHeader));
  EXPECT_EQ(Texts(recording->records), Texts(written));
  EXPECT_TRUE(recording->whole);
  EXPECT_EQ(recorder.failure(), "");
  const auto& ordered = std::get<trace::AmOrdered>(recording->records[1].fact);
  const SpecRef& spec = std::get<SpecAssembled>(ordered.action).spec;
  ASSERT_NE(spec.get(), nullptr);
  EXPECT_EQ(*spec.get(), *SpecOf(40000).get());
}

TEST_F(RecordingTest, WritesEachSpecOnce) {
  Recorder recorder = Open();
  std::vector<std::size_t> growth;
  for (const std::int32_t port : {40000, 50000, 40000, 50000}) {
    const auto before = std::filesystem::file_size(PathOf("am.record"));
    recorder.Write(Instant(1s), Assembled(SpecOf(port)));
    growth.push_back(std::filesystem::file_size(PathOf("am.record")) - before);
  }
  EXPECT_EQ(growth[0], growth[1]);
  EXPECT_EQ(growth[2], growth[3]);
  EXPECT_LT(growth[2], growth[0]);
  const auto recording = ReadRecording(PathOf("am.record"));
  ASSERT_TRUE(recording);
  EXPECT_EQ(recording->records.size(), 4u);
}

TEST_F(RecordingTest, ADefaultMadeOneRecordsNothing) {
  Recorder recorder;
  recorder.Write(Instant(1s), Noted("one"));
  EXPECT_EQ(recorder.failure(), "");
}

TEST_F(RecordingTest, GoesOnAfterAMove) {
  Recorder first = Open();
  first.Write(Instant(1s), Assembled(SpecOf(40000)));
  Recorder second;
  second = std::move(first);
  second.Write(Instant(2s), Assembled(SpecOf(40000)));
  const auto recording = ReadRecording(PathOf("am.record"));
  ASSERT_TRUE(recording) << recording.error().message;
  EXPECT_EQ(recording->records.size(), 2u);
}

TEST_F(RecordingTest, RefusesAFileThatIsThereAndADirectoryThatIsNot) {
  WriteBytes(PathOf("am.record"), "precious");
  const auto there = Recorder::Open(PathOf("am.record"), kHeader);
  ASSERT_FALSE(there);
  EXPECT_EQ(there.error().code, ErrorCode::kFailedPrecondition);
  EXPECT_EQ(ReadFile(PathOf("am.record")), "precious");
  const auto nowhere = Recorder::Open(PathOf("absent/am.record"), kHeader);
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().code, ErrorCode::kFailedPrecondition);
  EXPECT_THAT(nowhere.error().message, HasSubstr("absent/am.record"));
}

TEST_F(RecordingTest, CutAtAnyByteGivesTheWholeEntries) {
  const std::string bytes = Sample();
  const auto whole = ReadRecordingBytes(bytes);
  ASSERT_TRUE(whole);
  ASSERT_EQ(whole->records.size(), 3u);
  std::size_t most = 0;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    SCOPED_TRACE(size);
    const auto cut = ReadRecordingBytes(std::string_view(bytes).substr(0, size));
    if (!cut) {  // Not even its header.
      EXPECT_EQ(cut.error().code, ErrorCode::kInvalidArgument);
      EXPECT_EQ(most, 0u);
      continue;
    }
    ASSERT_LT(cut->records.size(), 3u);
    EXPECT_GE(cut->records.size(), most);
    most = cut->records.size();
    for (std::size_t i = 0; i < most; ++i)
      EXPECT_EQ(ToText(cut->records[i]), ToText(whole->records[i]));
  }
  EXPECT_EQ(most, 2u);
  EXPECT_FALSE(ReadRecordingBytes(std::string_view(bytes).substr(0, bytes.size() - 1))->whole);
}

TEST_F(RecordingTest, BytesOneByOneGiveTheSame) {
  const std::string bytes = Sample();
  RecordingParser parser;
  std::vector<trace::TraceRecord> records;
  for (const char& byte : bytes) {
    const auto fed = parser.Feed({&byte, 1}, [&](trace::TraceRecord& record) {
      EXPECT_NE(parser.header(), nullptr);
      records.push_back(std::move(record));
    });
    ASSERT_TRUE(fed) << fed.error().message;
  }
  EXPECT_TRUE(parser.whole());
  EXPECT_EQ(Texts(records), Texts(ReadRecordingBytes(bytes)->records));
}

TEST_F(RecordingTest, NoChangedByteIsReadAsTrue) {
  const std::string bytes = Sample();
  const std::vector<std::string> texts = Texts(ReadRecordingBytes(bytes)->records);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    SCOPED_TRACE(at);
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    const auto read = ReadRecordingBytes(damaged);
    if (!read) {
      EXPECT_THAT(read.error().message, Not(IsEmpty()));
      continue;
    }
    // A longer length makes the rest one entry that is not whole; nothing false may come of it.
    EXPECT_FALSE(read->whole);
    ASSERT_LT(read->records.size(), texts.size());
    for (std::size_t i = 0; i < read->records.size(); ++i)
      EXPECT_EQ(ToText(read->records[i]), texts[i]);
  }
}

TEST_F(RecordingTest, ADamagedEntryIsDataLossAndNothingFollows) {
  std::string bytes = Sample();
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  const auto damaged = ReadRecordingBytes(bytes);
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().code, ErrorCode::kDataLoss);

  RecordingParser parser;
  int records = 0;
  const auto count = [&](trace::TraceRecord&) { ++records; };
  EXPECT_FALSE(parser.Feed(bytes, count));
  EXPECT_EQ(records, 2);
  const auto more = parser.Feed("more", count);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code, ErrorCode::kDataLoss);
  EXPECT_EQ(records, 2) << "entries were given a second time";
}

TEST_F(RecordingTest, SaysWhatIsNoRecording) {
  std::string other = Sample();
  other[7] = '2';  // TFYARNR2
  for (const std::string& bytes : {std::string("hello, world"), std::string("x"), other}) {
    const auto read = ReadRecordingBytes(bytes);
    ASSERT_FALSE(read) << bytes;
    EXPECT_EQ(read.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(read.error().message, HasSubstr("version"));
  }
  EXPECT_EQ(ReadRecordingBytes("").error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(ReadRecording(PathOf("absent.record")).error().code, ErrorCode::kNotFound);
}

TEST_F(RecordingTest, AFullDiskEndsTheRecordingAndLeavesWhatWasWhole) {
  Recorder recorder = Open();
  recorder.Write(Instant(1s), Noted("one"));
  const auto size = std::filesystem::file_size(PathOf("am.record"));
  {
    const FullDisk full(size + 5);  // Room for a part of an entry.
    recorder.Write(Instant(2s), Noted("two"));
  }
  EXPECT_THAT(recorder.failure(), HasSubstr("File too large"));
  recorder.Write(Instant(3s), Noted("three"));
  const auto recording = ReadRecording(PathOf("am.record"));
  ASSERT_TRUE(recording) << recording.error().message;
  EXPECT_EQ(recording->records.size(), 1u);
  EXPECT_FALSE(recording->whole);
}

TEST_F(RecordingTest, AFullDiskAtTheBeginningIsAnError) {
  std::optional<Expected<Recorder>> recorder;
  {
    const FullDisk full(3);
    recorder = Recorder::Open(PathOf("am.record"), kHeader);
  }
  ASSERT_FALSE(*recorder);
  EXPECT_EQ(recorder->error().code, ErrorCode::kFailedPrecondition);
  EXPECT_THAT(recorder->error().message, HasSubstr("am.record"));
}

}  // namespace
}  // namespace tfyarn::hosts::recording_test
