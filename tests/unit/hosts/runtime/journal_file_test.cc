#include "hosts/runtime/journal_file.h"

#include <gmock/gmock.h>

#include "core/model/launch.h"
#include "core/model/text.h"
#include "tests/unit/hosts/runtime/host_rig.h"

namespace tfyarn::hosts::journal_file_test {
namespace {

using hdfs::HdfsErrorCode;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr ApplicationAttemptId kAttempt{.application = {.cluster_timestamp = 5, .id = 1},
                                        .attempt = 2};

class JournalFileTest : public HostRig {
 protected:
  void Append(std::uint64_t seq, const std::string& bytes) {
    journal_->Append({.seq = JournalSeq(seq), .bytes = bytes});
  }

  std::vector<std::string> calls_;
  ScriptedStorage storage_{io_, calls_};
  std::vector<std::string> told_;
  std::unique_ptr<JournalFile> journal_ = std::make_unique<JournalFile>(
      io_, storage_, "/a", kAttempt,
      [this](const AmEvent& event) { told_.push_back(ToText(event)); });
};

TEST_F(JournalFileTest, ReadsWhatIsThere) {
  storage_.files["/a/journal"] = "entries";
  journal_->Read();
  EXPECT_THAT(told_, IsEmpty());
  Settle();
  EXPECT_THAT(told_, ElementsAre("JournalRead{bytes=\"entries\"}"));
}

TEST_F(JournalFileTest, AnAbsentJournalIsAnEmptyOne) {
  journal_->Read();
  Settle();
  EXPECT_THAT(told_, ElementsAre("JournalRead{}"));
}

TEST_F(JournalFileTest, AFailedReadIsToldWithoutANumber) {
  storage_.failures["/a/journal"] = {HdfsErrorCode::kUnavailable};
  journal_->Read();
  Settle();
  EXPECT_THAT(told_, ElementsAre("JournalFailed{seq=0 error=HdfsError{code=unavailable "
                                 "message=\"scripted\"}}"));
}

TEST_F(JournalFileTest, AppendsOneAtATimeAndInOrder) {
  storage_.hold = true;
  Append(1, "one ");
  Append(2, "two ");
  Append(3, "three");
  EXPECT_THAT(calls_, ElementsAre("AppendRequest /a/journal"));
  for (std::size_t appended = 1; appended <= 3; ++appended) {
    storage_.Release();
    Settle();
    EXPECT_EQ(told_.size(), appended);
    EXPECT_EQ(calls_.size(), std::min<std::size_t>(appended + 1, 3));
  }
  EXPECT_EQ(storage_.files["/a/journal"], "one two three");
  EXPECT_THAT(told_, ElementsAre("JournalAppended{seq=1}", "JournalAppended{seq=2}",
                                 "JournalAppended{seq=3}"));
}

TEST_F(JournalFileTest, ALostJournalIsToldAndTheNextAppendIsStillTried) {
  storage_.failures["/a/journal"] = {HdfsErrorCode::kLeaseLost};
  Append(1, "one");
  Append(2, "two");
  Settle();
  EXPECT_THAT(told_, ElementsAre("JournalFailed{seq=1 error=HdfsError{code=lease-lost "
                                 "message=\"scripted\"}}",
                                 "JournalAppended{seq=2}"));
}

TEST_F(JournalFileTest, AnswersAfterItsEndGoNowhere) {
  storage_.hold = true;
  journal_->Read();
  Append(1, "one");
  journal_->Publish({.am_attempt = 2, .address = {.host = "gpu-1", .port = 40000}});
  journal_.reset();
  storage_.failures["/a/am-address"] = {HdfsErrorCode::kUnavailable};
  for (int i = 0; i < 3; ++i) storage_.Release();
  Settle();
  EXPECT_THAT(told_, IsEmpty());
  EXPECT_TRUE(io_.stopped()) << "a retry is pending";
}

TEST_F(JournalFileTest, AnAddressIsPublishedUntilItIsWrittenAndThenRead) {
  storage_.failures["/a/am-address"] = {HdfsErrorCode::kUnavailable};
  journal_->Publish({.am_attempt = 2, .address = {.host = "gpu-1", .port = 40000}});
  Settle();
  EXPECT_THAT(storage_.files, IsEmpty());
  UntilIdle();
  EXPECT_EQ(calls_.size(), 2u);
  EXPECT_THAT(told_, IsEmpty());

  std::vector<std::string> read;
  ReadAmAddressFrom(storage_, "/a",
                    [&](const AmAddressRead& answer) { read.push_back(ToText(answer)); });
  Settle();
  EXPECT_THAT(read, ElementsAre("AmAddressRead{am_attempt=2 address=HostPort{host=\"gpu-1\" "
                                "port=40000}}"));
}

TEST_F(JournalFileTest, AnOlderAttemptThatPublishesLateTakesNothingAway) {
  journal_->Publish({.am_attempt = 2, .address = {.host = "gpu-1", .port = 40000}});
  journal_->Publish({.am_attempt = 1, .address = {.host = "gpu-0", .port = 39999}});
  UntilIdle();
  AmAddressRead read;
  ReadAmAddressFrom(storage_, "/a", [&](AmAddressRead answer) { read = std::move(answer); });
  Settle();
  EXPECT_EQ(read.am_attempt, 2);
  EXPECT_EQ(ToText(read.address), "HostPort{host=\"gpu-1\" port=40000}");
}

TEST_F(JournalFileTest, NoAddressIsAttemptZero) {
  std::vector<std::int32_t> attempts;
  const auto read = [&] {
    ReadAmAddressFrom(storage_, "/a",
                      [&](const AmAddressRead& answer) { attempts.push_back(answer.am_attempt); });
    Settle();
  };
  read();
  storage_.files["/a/am-address"] = "2 gpu-";
  read();
  storage_.failures["/a/am-address"] = {HdfsErrorCode::kUnavailable};
  read();
  EXPECT_THAT(attempts, ElementsAre(0, 0, 0));
}

}  // namespace
}  // namespace tfyarn::hosts::journal_file_test
