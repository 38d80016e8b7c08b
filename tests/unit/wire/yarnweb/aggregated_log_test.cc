#include "wire/yarnweb/aggregated_log.h"

#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "tests/unit/wire/yarnweb/aggregated_log_writer.h"

namespace tfyarn::wire::aggregated_log_test {
namespace {

const std::string kFirst = "container_1700000000000_0007_01_000002";
const std::string kSecond = "container_e17_1700000000000_0007_01_000003";

using Seen = std::map<std::pair<std::string, std::string>, std::string>;

/// Reads it in pieces of at most `most` bytes.
Expected<void> Visit(const std::string& file, Seen& seen, std::size_t most = 1000,
                     const std::string& unwanted = "") {
  std::pair<std::string, std::string> current;
  return VisitAggregatedLog(
      file.size(),
      [&](std::uint64_t offset, std::uint64_t length) -> Expected<std::string> {
        return file.substr(offset, std::min<std::uint64_t>(length, most));
      },
      {.wants =
           [&](const ContainerId& container, const LogFile& log) {
             if (log.name == unwanted) return false;
             current = {ToString(container), log.name};
             seen[current];
             return true;
           },
       .bytes =
           [&](std::uint64_t offset, std::string_view bytes) {
             EXPECT_EQ(offset, seen[current].size());
             seen[current] += bytes;
           }});
}

std::vector<AggregatedRecord> TwoContainers() {
  return {{"VERSION", {}, std::string("\0\0\0\1", 4)},
          {kFirst, {{"worker-0.attempt-0.stdout", std::string(5000, 'a')}, {"stderr", ""}}, {}},
          {kSecond, {{"worker-1.attempt-0.stdout", "one\ntwo\n"}}, {}}};
}

TEST(AggregatedLogTest, EveryFileOfEveryContainerIsFoundWhereItIs) {
  for (const bool deflated : {false, true}) {
    for (const std::size_t chunk : {std::size_t{1} << 20, std::size_t{100}}) {
      Seen seen;
      const auto visited = Visit(WriteAggregatedLog(TwoContainers(), deflated, chunk), seen, 77);
      ASSERT_TRUE(visited) << visited.error().message;
      EXPECT_EQ(seen, (Seen{{{kFirst, "worker-0.attempt-0.stdout"}, std::string(5000, 'a')},
                            {{kFirst, "stderr"}, ""},
                            {{kSecond, "worker-1.attempt-0.stdout"}, "one\ntwo\n"}}));
    }
  }
}

TEST(AggregatedLogTest, WhatNobodyWantsIsNotRead) {
  const std::string big(std::size_t{64} << 20, 'x');
  const std::string file =
      WriteAggregatedLog({{kFirst, {{"big", big}, {"small", "s"}}, {}}}, false, 100 << 20);
  std::uint64_t read = 0;
  std::string small;
  const auto visited = VisitAggregatedLog(
      file.size(),
      [&](std::uint64_t offset, std::uint64_t length) -> Expected<std::string> {
        read += length;
        return file.substr(offset, length);
      },
      {.wants = [](const ContainerId&, const LogFile& log) { return log.name == "small"; },
       .bytes = [&](std::uint64_t, std::string_view bytes) { small += bytes; }});
  ASSERT_TRUE(visited) << visited.error().message;
  EXPECT_EQ(small, "s");
  EXPECT_LT(read, big.size() / 8);
}

TEST(AggregatedLogTest, EveryCutAndEveryFlippedByteIsAnErrorOrReadable) {
  const std::string good = WriteAggregatedLog(TwoContainers(), true, 1000);
  for (std::size_t i = 0; i < good.size(); ++i) {
    Seen seen;
    EXPECT_FALSE(Visit(good.substr(0, i), seen)) << i;
    std::string flipped = good;
    flipped[i] = static_cast<char>(flipped[i] ^ 0x5a);
    (void)Visit(flipped, seen);
  }
}

TEST(AggregatedLogTest, AnotherCompressionIsNamed) {
  std::string file = WriteAggregatedLog(TwoContainers(), true, 1000);
  // The list of blocks says how they are compressed, in the last string "gz" of the file's body.
  for (auto at = file.find("\x02gz"); at != std::string::npos; at = file.find("\x02gz", at + 1))
    file.replace(at + 1, 2, "lz");
  Seen seen;
  const auto visited = Visit(file, seen);
  ASSERT_FALSE(visited);
  EXPECT_EQ(visited.error().code, ErrorCode::kFailedPrecondition);
  EXPECT_NE(visited.error().message.find("compressed by lz"), std::string::npos);
}

TEST(AggregatedLogTest, ErrorsOfReadingStayWhatTheyAre) {
  const auto visited =
      VisitAggregatedLog(1000,
                         [](std::uint64_t, std::uint64_t) -> Expected<std::string> {
                           return Fail(ErrorCode::kUnavailable, "nobody there");
                         },
                         {});
  ASSERT_FALSE(visited);
  EXPECT_EQ(visited.error().message, "nobody there");
}

}  // namespace
}  // namespace tfyarn::wire::aggregated_log_test
