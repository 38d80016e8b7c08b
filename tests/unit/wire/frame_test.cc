#include "wire/frame.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tfyarn::wire::frame_test {
namespace {

std::string Framed(std::string_view payload) {
  std::string bytes;
  AppendFrame(payload, bytes);
  return bytes;
}

/// Feeds `bytes` and gives all frames that are whole.
std::vector<std::string> FramesOf(FrameReader& reader, std::string_view bytes) {
  std::vector<std::string> frames;
  reader.Feed(bytes);
  while (true) {
    const auto next = reader.Next();
    EXPECT_TRUE(next.has_value());
    if (!next || !*next) return frames;
    frames.emplace_back(**next);
  }
}

TEST(FrameTest, TheLengthComesFirstAndBigEndian) {
  EXPECT_EQ(Framed("abc"), std::string("\0\0\0\3abc", 7));
  EXPECT_EQ(Framed(std::string(0x010203, 'x')).substr(0, 4), std::string("\0\1\2\3", 4));
}

TEST(FrameTest, FramesComeOutAsTheyWentInHoweverTheStreamIsCut) {
  const std::vector<std::string> payloads{"a", std::string(300, 'b'), "cd", std::string(7, '\0')};
  std::string stream;
  for (const auto& payload : payloads) AppendFrame(payload, stream);
  for (std::size_t piece = 1; piece <= stream.size(); ++piece) {
    FrameReader reader(300);
    std::vector<std::string> got;
    for (std::size_t at = 0; at < stream.size(); at += piece) {
      // A copy of its own, so that a reader that looks at bytes gone by is caught by the sanitizer.
      const std::string bytes = stream.substr(at, piece);
      for (auto& frame : FramesOf(reader, bytes)) got.push_back(std::move(frame));
    }
    EXPECT_EQ(got, payloads) << "in pieces of " << piece;
    EXPECT_EQ(reader.kept(), 0U);
  }
}

TEST(FrameTest, OnlyWhatCameOfAFrameIsKept) {
  FrameReader reader(kMaxAmFrame);
  const std::string begin("\x01\0\0\0abc", 7);  // Claims 16 MiB.
  EXPECT_TRUE(FramesOf(reader, begin).empty());
  EXPECT_EQ(reader.kept(), 7U);
}

TEST(FrameTest, ALengthBeyondTheLimitIsRefusedBeforeItsBytesCome) {
  FrameReader reader(1024);
  const std::string header("\0\0\4\1", 4);  // 1025
  reader.Feed(header);
  const auto next = reader.Next();
  ASSERT_FALSE(next.has_value());
  EXPECT_EQ(next.error().code, ErrorCode::kInvalidArgument);
  EXPECT_NE(next.error().message.find("1025"), std::string::npos) << next.error().message;
  EXPECT_FALSE(reader.Next().has_value());
}

TEST(FrameTest, ALengthBeyondTheLimitIsRefusedWhenItsHeaderComesInPieces) {
  FrameReader reader(1024);
  const std::string first("\xff\xff", 2);
  EXPECT_TRUE(FramesOf(reader, first).empty());
  const std::string second("\xff\xff", 2);
  reader.Feed(second);
  EXPECT_FALSE(reader.Next().has_value());
  EXPECT_LE(reader.kept(), kFrameHeader);
}

TEST(FrameTest, AnEmptyFrameIsRefused) {
  FrameReader reader(1024);
  const std::string header(4, '\0');
  reader.Feed(header);
  EXPECT_FALSE(reader.Next().has_value());
}

TEST(FrameTest, ANewLimitHoldsForTheNextFrame) {
  FrameReader reader(4);
  const std::string stream = Framed("abcd") + Framed("abcdef");
  reader.Feed(stream);
  EXPECT_EQ(**reader.Next(), "abcd");
  reader.set_limit(6);
  EXPECT_EQ(**reader.Next(), "abcdef");
}

}  // namespace
}  // namespace tfyarn::wire::frame_test
