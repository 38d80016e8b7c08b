#include "core/model/codec.h"

#include <gtest/gtest.h>

#include "core/model/am.h"
#include "core/model/job_spec.h"
#include "core/model/text.h"

namespace tfyarn::codec_test {
namespace {

template <class T>
std::string Encode(const T& value) {
  std::string bytes;
  Encoder(bytes).Put(value);
  return bytes;
}

AmStarted RichEvent() {
  AmStarted event;
  event.attempt = {.application = {.cluster_timestamp = 1700000000000, .id = 7}, .attempt = 2};
  event.container = {.application_attempt = event.attempt, .id = (1LL << 40) + 1};
  event.address = {.host = "n1", .port = 31000};
  event.wall = WallTime(std::chrono::milliseconds(-5));
  std::vector<yarn::NodeReport> nodes(2);
  nodes[0].node = {.host = "n1", .port = 1};
  nodes[0].state = yarn::NodeState::kRunning;
  nodes[0].capability.Set("yarn.io/fpga", 3);
  event.nodes = std::move(nodes);
  event.queue_maximum[""] = {.memory_mb = -1, .vcores = INT64_MAX, .gpus = INT64_MIN, .others = {}};
  event.queue_maximum["gpu"].Set("yarn.io/fpga", 1);
  return event;
}

TEST(CodecTest, IntegersAreLittleEndianAndOfFixedWidth) {
  EXPECT_EQ(Encode(std::int32_t{-2}), (std::string{"\xfe\xff\xff\xff", 4}));
  EXPECT_EQ(Encode(std::uint64_t{0x0102}), (std::string{"\x02\x01\0\0\0\0\0\0", 8}));
  EXPECT_EQ(Encode(std::string("ab")), (std::string{"\x02\0\0\0ab", 6}));
  EXPECT_EQ(Encode(std::optional<bool>(true)), (std::string{"\x01\x01", 2}));
}

TEST(CodecTest, WhatWasWrittenIsReadBack) {
  const AmEvent event = RichEvent();
  AmEvent read;
  const std::string bytes = Encode(event);
  Decoder again(bytes);
  again.Get(read);
  EXPECT_TRUE(again.at_end());
  EXPECT_EQ(ToText(read), ToText(event));
  EXPECT_EQ(Encode(read), bytes);
}

TEST(CodecTest, AJobIsReadBack) {
  JobSpec job;
  job.name = "mnist";
  job.tasks.resize(1);
  job.tasks[0].name = "worker";
  job.tasks[0].env = {{"A", "b"}};
  job.success = *ParseSuccess("ok(chief) and (count(worker) >= 3 or failed(worker) < 2)");
  job.deadlines.run = 5h;
  const std::string bytes = Encode(job);
  JobSpec read;
  Decoder decoder(bytes);
  decoder.Get(read);
  EXPECT_TRUE(decoder.at_end());
  EXPECT_EQ(Encode(read), bytes);
  EXPECT_EQ(ToString(*read.success), ToString(*job.success));
}

TEST(CodecTest, EveryCutIsNoticed) {
  const std::string bytes = Encode(AmEvent(RichEvent()));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    AmEvent read;
    Decoder decoder(std::string_view(bytes).substr(0, size));
    decoder.Get(read);
    EXPECT_FALSE(decoder.ok()) << size;
    EXPECT_FALSE(decoder.at_end()) << size;
  }
}

TEST(CodecTest, BytesLeftOverAreNoticed) {
  const std::string bytes = Encode(DeadlineReached{}) + "x";
  DeadlineReached read;
  Decoder decoder(bytes);
  decoder.Get(read);
  EXPECT_TRUE(decoder.ok());
  EXPECT_FALSE(decoder.at_end());
}

TEST(CodecTest, AnEnumeratorOrAlternativeThatIsNoneIsDamage) {
  ExitClass exit_class = ExitClass::kOk;
  const std::string enumerator = Encode(std::int32_t{99});
  Decoder decoder(enumerator);
  decoder.Get(exit_class);
  EXPECT_FALSE(decoder.ok());
  AmEvent event;
  Decoder variant(std::string_view("\x7f", 1));
  variant.Get(event);
  EXPECT_FALSE(variant.ok());
}

// A list whose count says four thousand million elements, of which the bytes hold none.
TEST(CodecTest, AHugeCountAllocatesNothing) {
  const std::string bytes = Encode(std::uint32_t{0xffffffff}) + "x";
  std::vector<yarn::NodeReport> nodes;
  Decoder decoder(bytes);
  decoder.Get(nodes);
  EXPECT_FALSE(decoder.ok());
  EXPECT_EQ(nodes.capacity(), 0U);
  std::map<std::string, std::string> map;
  Decoder map_decoder(bytes);
  map_decoder.Get(map);
  EXPECT_FALSE(map_decoder.ok());
  std::string text;
  Decoder text_decoder(bytes);
  text_decoder.Get(text);
  EXPECT_FALSE(text_decoder.ok());
}

// Bytes that say "a chain of one, which is a chain of one, which ..." must not use up the stack.
TEST(CodecTest, EndlessNestingIsDamage) {
  SuccessExpr deep;
  std::string bytes = Encode(deep);
  const std::string level = bytes.substr(0, bytes.size() - 4) + Encode(std::uint32_t{1});
  std::string tower;
  for (int i = 0; i < 100'000; ++i) tower += level;
  SuccessExpr read;
  Decoder decoder(tower);
  decoder.Get(read);
  EXPECT_FALSE(decoder.ok());
}

TEST(CodecTest, TheDeepestExpressionThatCanBeWrittenIsRead) {
  std::string text = "ok(a)";
  for (int i = 0; i < 32; ++i) text = "ok(b) and (ok(c) or " + text + ")";
  const auto expr = ParseSuccess(text);
  ASSERT_TRUE(expr.has_value());
  const std::string bytes = Encode(*expr);
  SuccessExpr read;
  Decoder decoder(bytes);
  decoder.Get(read);
  EXPECT_TRUE(decoder.at_end());
  EXPECT_EQ(ToString(read), ToString(*expr));
}

}  // namespace
}  // namespace tfyarn::codec_test
