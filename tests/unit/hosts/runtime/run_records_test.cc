#include "hosts/runtime/run_records.h"

#include <gmock/gmock.h>

#include "core/model/text.h"
#include "tests/unit/hosts/runtime/host_rig.h"

namespace tfyarn::hosts::run_records_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class RunRecordsTest : public HostRig {
 protected:
  Recorder Open(const std::string& name) {
    auto recorder = Recorder::Open(PathOf(name + ".record"), {.version = "1"});
    EXPECT_TRUE(recorder);
    return recorder ? std::move(*recorder) : Recorder();
  }
  static trace::Fact Noted(const std::string& text) {
    return trace::ClientOrdered{.action = Note{text}};
  }
  /// Texts of the notes that are new, "2s two".
  std::vector<std::string> Take() {
    std::vector<std::string> texts;
    for (const trace::TraceRecord& record : reader_.Take()) {
      const auto& ordered = std::get<trace::ClientOrdered>(record.fact);
      texts.push_back(ToString(record.at.time_since_epoch()) + " " +
                      std::get<Note>(ordered.action).text);
    }
    return texts;
  }

  RecordingsReader reader_{directory_};
};

TEST_F(RunRecordsTest, GivesWhatIsNewInTheOrderOfTime) {
  Recorder client = Open("client");
  EXPECT_THAT(Take(), IsEmpty());
  client.Write(Instant(1s), Noted("one"));
  client.Write(Instant(3s), Noted("three"));
  Recorder am = Open("am");
  am.Write(Instant(2s), Noted("two"));
  EXPECT_THAT(Take(), ElementsAre("1s one", "2s two", "3s three"));
  EXPECT_THAT(Take(), IsEmpty());
  am.Write(Instant(4s), Noted("four"));
  EXPECT_THAT(Take(), ElementsAre("4s four"));
  EXPECT_THAT(reader_.problems(), IsEmpty());
}

TEST_F(RunRecordsTest, KeepsTheOrderOfOneFileWhereTimesAreEqual) {
  Recorder client = Open("client");
  for (const char* text : {"a", "b", "c"}) client.Write(Instant(1s), Noted(text));
  EXPECT_THAT(Take(), ElementsAre("1s a", "1s b", "1s c"));
}

TEST_F(RunRecordsTest, WaitsForTheRestOfAnEntry) {
  {
    Recorder client = Open("whole");
    client.Write(Instant(1s), Noted("one"));
    client.Write(Instant(2s), Noted("two"));
  }
  const std::string bytes = ReadFile(PathOf("whole.record"));
  std::filesystem::remove(PathOf("whole.record"));
  std::vector<std::string> all;
  for (std::size_t size = 0; size <= bytes.size(); ++size) {
    WriteBytes(PathOf("growing.record"), std::string_view(bytes).substr(0, size));
    for (std::string& text : Take()) all.push_back(std::move(text));
  }
  EXPECT_THAT(all, ElementsAre("1s one", "2s two"));
  EXPECT_THAT(reader_.problems(), IsEmpty());
}

TEST_F(RunRecordsTest, LeavesOutIdleHeartbeats) {
  Recorder client = Open("client");
  client.Write(Instant(1s), trace::AmTold{.event = DeadlineReached{}});
  client.Write(Instant(2s), trace::AgentOrdered{.action = SendToAm{.message = AgentHeartbeat{}}});
  client.Write(Instant(3s), Noted("three"));
  EXPECT_THAT(Take(), ElementsAre("3s three"));
}

TEST_F(RunRecordsTest, NamesADamagedFileOnceAndReadsTheOthers) {
  WriteBytes(PathOf("am.record"), "no recording at all");
  WriteBytes(PathOf("notes.txt"), "nor this, but it does not say so");
  Recorder client = Open("client");
  client.Write(Instant(1s), Noted("one"));
  EXPECT_THAT(Take(), ElementsAre("1s one"));
  client.Write(Instant(2s), Noted("two"));
  EXPECT_THAT(Take(), ElementsAre("2s two"));
  EXPECT_THAT(reader_.problems(), ElementsAre(HasSubstr("am.record: not a recording")));
}

TEST_F(RunRecordsTest, AnAbsentDirectoryHasNothing) {
  RecordingsReader reader(PathOf("absent"));
  EXPECT_THAT(reader.Take(), IsEmpty());
  EXPECT_THAT(reader.problems(), IsEmpty());
}

TEST(CountFromTest, CountsFromTheOriginAndNotFromBeforeIt) {
  std::vector<trace::TraceRecord> records{{Instant(4s), {}}, {Instant(5s), {}}, {Instant(7s), {}}};
  CountFrom(Instant(5s), records);
  EXPECT_EQ(records[0].at, Instant(0s));
  EXPECT_EQ(records[1].at, Instant(0s));
  EXPECT_EQ(records[2].at, Instant(2s));
}

TEST(CountFromTest, CountsTheTimesOfCausesToo) {
  const Cause cause{.task = {.type = "worker"}, .at = Instant(7s)};
  std::vector<trace::TraceRecord> records{
      {Instant(8s), trace::AmOrdered{.action = RestartDecided{.cause = cause}}},
      {Instant(9s), trace::AmOrdered{.action = VerdictReached{.cause = cause}}}};
  CountFrom(Instant(5s), records);
  const auto& restart = std::get<trace::AmOrdered>(records[0].fact).action;
  EXPECT_EQ(std::get<RestartDecided>(restart).cause.at, Instant(2s));
  const auto& verdict = std::get<trace::AmOrdered>(records[1].fact).action;
  EXPECT_EQ(std::get<VerdictReached>(verdict).cause->at, Instant(2s));
}

}  // namespace
}  // namespace tfyarn::hosts::run_records_test
