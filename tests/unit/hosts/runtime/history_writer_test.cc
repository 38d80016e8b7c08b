#include "hosts/runtime/history_writer.h"

#include <gmock/gmock.h>

#include "tests/unit/hosts/runtime/host_rig.h"

namespace tfyarn::hosts::history_writer_test {
namespace {

using hdfs::HdfsErrorCode;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class HistoryWriterTest : public HostRig {
 protected:
  std::unique_ptr<HistoryWriter> Writer() {
    return std::make_unique<HistoryWriter>(
        HistoryWriter::Parts{.loop = io_,
                             .storage = storage_,
                             .directory = "/h/attempt-1",
                             .note = [this](const std::string& note) { notes_.push_back(note); }});
  }
  void Append(const std::string& bytes) { EXPECT_TRUE(events_.Append(bytes)); }
  void Finish(HistoryWriter& writer, Duration most = 1min) {
    bool done = false;
    writer.Finish(most, [&] { done = true; });
    Until([&] { return done; }, "the writer's end");
  }

  GrowingFile events_{PathOf("events"), false};
  std::vector<std::string> log_;
  std::vector<std::string> notes_;
  ScriptedStorage storage_{io_, log_};
};

TEST_F(HistoryWriterTest, AppendsWhatIsNewAndWritesOthersWhole) {
  auto writer = Writer();
  writer->Follow("events", events_);
  writer->Put("result", "old");
  Append("a\n");
  Until([&] { return storage_.files["/h/attempt-1/events"] == "a\n"; }, "the first line");
  Append("b\n");
  writer->Put("result", "new");
  Finish(*writer);
  EXPECT_EQ(storage_.files["/h/attempt-1/events"], "a\nb\n");
  EXPECT_EQ(storage_.files["/h/attempt-1/result"], "new");
  EXPECT_EQ(log_.front(), "MkdirsRequest /h/attempt-1");
  EXPECT_THAT(notes_, IsEmpty());
}

TEST_F(HistoryWriterTest, AsksNothingWhileNothingIsNew) {
  auto writer = Writer();
  writer->Follow("events", events_);
  Append("a\n");
  Until([&] { return log_.size() == 2; }, "one append");
  Finish(*writer);
  EXPECT_THAT(log_, ElementsAre("MkdirsRequest /h/attempt-1", "AppendRequest /h/attempt-1/events"));
}

// An answer that was lost: the bytes may be there, in part or twice.
TEST_F(HistoryWriterTest, AfterAFailedAppendTheSameBytesBeginALine) {
  storage_.failures["/h/attempt-1/events"] = {HdfsErrorCode::kUnavailable};
  auto writer = Writer();
  writer->Follow("events", events_);
  Append("a\n");
  Until([&] { return storage_.files["/h/attempt-1/events"] == "\na\n"; }, "the second try");
  Append("b\n");
  Finish(*writer);
  EXPECT_EQ(storage_.files["/h/attempt-1/events"], "\na\nb\n");
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("scripted"), HasSubstr("is written again")));
}

TEST_F(HistoryWriterTest, AWholeFileThatFailedGivesWayToANewerOne) {
  storage_.failures["/h/attempt-1/result"] = {HdfsErrorCode::kSafeMode};
  auto writer = Writer();
  writer->Put("result", "old");
  Until([&] { return !notes_.empty(); }, "a failure");
  writer->Put("result", "new");
  Finish(*writer);
  EXPECT_EQ(storage_.files["/h/attempt-1/result"], "new");
}

TEST_F(HistoryWriterTest, AnHdfsThatNeverAnswersHoldsNobodyForLong) {
  storage_.hold = true;
  auto writer = Writer();
  writer->Put("result", "{}");
  Until([&] { return !log_.empty(); }, "a call");
  const auto begin = std::chrono::steady_clock::now();
  Finish(*writer, 50ms);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 20s);
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("/h/attempt-1 is not whole")));
  storage_.Release();
  UntilIdle();
  EXPECT_EQ(log_.size(), 1u);
}

TEST_F(HistoryWriterTest, AnHdfsThatRefusesIsAskedAgainUntilTheTimeIsOver) {
  auto& failures = storage_.failures["/h/attempt-1"];
  failures.assign(1000, HdfsErrorCode::kAccessDenied);
  auto writer = Writer();
  writer->Put("result", "{}");
  Finish(*writer, 1500ms);
  EXPECT_GE(log_.size(), 2u);
  EXPECT_LE(log_.size(), 4u);
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("scripted"), HasSubstr("not whole")));
}

TEST_F(HistoryWriterTest, AppendsAreCutBetweenLines) {
  auto writer = Writer();
  writer->Follow("events", events_);
  const std::string line = std::string(700'000, 'x') + "\n";
  Append(line + line);
  storage_.hold = true;
  Until([&] { return !log_.empty(); }, "a call");
  storage_.Release();  // The directory.
  Until([&] { return log_.size() == 2; }, "an append");
  storage_.Release();
  Until([&] { return log_.size() == 3; }, "the second append");
  EXPECT_EQ(storage_.files["/h/attempt-1/events"], line);
}

TEST_F(HistoryWriterTest, MayGoWhileStorageOwesAnAnswer) {
  storage_.hold = true;
  auto writer = Writer();
  writer->Put("result", "{}");
  Until([&] { return !log_.empty(); }, "a call");
  writer.reset();
  storage_.Release();
  UntilIdle();
  EXPECT_EQ(log_.size(), 1u);
}

}  // namespace
}  // namespace tfyarn::hosts::history_writer_test
