#include "wire/hadoop/credentials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "wire/hadoop/token_store.h"
#include "wire/hadoop/writable.h"

namespace tfyarn::hadoop::credentials_test {
namespace {

using ::testing::HasSubstr;

std::string VLong(std::int64_t value) {
  std::string out;
  AppendVLong(value, out);
  return out;
}

// Source: WritableUtils.writeVLong(): -112 to 127 stand for themselves; -113 to -120 announce one
// to eight bytes, -121 to -128 the same of the one's complement.
TEST(WritableTest, NumbersAreWrittenAsHadoopWritesThem) {
  EXPECT_EQ(VLong(0), std::string(1, '\0'));
  EXPECT_EQ(VLong(127), "\x7f");
  EXPECT_EQ(VLong(-112), "\x90");
  EXPECT_EQ(VLong(128), "\x8f\x80");
  EXPECT_EQ(VLong(-113), "\x87\x70");
  EXPECT_EQ(VLong(256), std::string("\x8e\x01\x00", 3));
  EXPECT_EQ(VLong(INT64_MAX), "\x88\x7f\xff\xff\xff\xff\xff\xff\xff");
  EXPECT_EQ(VLong(INT64_MIN), "\x80\x7f\xff\xff\xff\xff\xff\xff\xff");
}

TEST(WritableTest, NumbersComeBack) {
  for (const std::int64_t value : std::initializer_list<std::int64_t>{
           0, 1, -1, 127, 128, 255, 256, -112, -113, -256, -257, 65535, 1 << 20,
           std::int64_t{1} << 40, INT64_MAX, INT64_MIN}) {
    const std::string bytes = VLong(value);
    WritableReader reader(bytes);
    EXPECT_EQ(*reader.VLong(), value);
    EXPECT_EQ(reader.left(), 0U);
  }
}

TEST(WritableTest, ALengthBeyondTheEndIsRefusedBeforeAnythingIsTaken) {
  WritableReader reader(
      "\x05"
      "abc");
  EXPECT_FALSE(reader.Bytes().has_value());
  WritableReader negative("\xff");
  EXPECT_FALSE(negative.Bytes().has_value());
  WritableReader cut("\x88\x7f");
  EXPECT_FALSE(cut.VLong().has_value());
}

const Credentials kCredentials{.tokens = {{"",
                                           {.identifier = "id\x01",
                                            .password = std::string("\0pw", 3),
                                            .kind = kAmRmTokenKind,
                                            .service = ""}},
                                          {"hdfs",
                                           {.identifier = std::string(300, 'i'),
                                            .password = "p",
                                            .kind = "HDFS_DELEGATION_TOKEN",
                                            .service = "10.0.0.1:8020"}}},
                               .secrets = {{"key", std::string("\0\xff", 2)}}};

// What the NodeManager gives a container that was started without tokens.
TEST(CredentialsTest, NothingIsSevenBytes) {
  EXPECT_EQ(EncodeCredentials({}), std::string("HDTS\0\0\0", 7));
  EXPECT_EQ(*DecodeCredentials(std::string("HDTS\0\0\0", 7)), Credentials{});
}

TEST(CredentialsTest, TheWritableFormIsAsHadoopWritesIt) {
  EXPECT_EQ(
      EncodeCredentials(
          {.tokens = {{"a", {.identifier = "i", .password = "pw", .kind = "k", .service = "s"}}},
           .secrets = {{"n", "v"}}}),
      std::string("HDTS\0\x01\x01"
                  "a\x01"
                  "i\x02pw\x01k\x01s\x01\x01n\x01v",
                  22));
}

TEST(CredentialsTest, BothFormsAreRead) {
  EXPECT_EQ(*DecodeCredentials(EncodeCredentials(kCredentials)), kCredentials);
  // 1 tokens { 1 alias 2 token { 1 2 3 4 } } 2 secrets { 1 alias 3 secret }, behind its length.
  const std::string protobuf = std::string("HDTS\x01\x1b") +
                               "\x0a\x11\x0a\x01"
                               "a"
                               "\x12\x0c\x0a\x01i\x12\x01p\x1a\x01k\x22\x01s" +
                               "\x12\x06\x0a\x01n\x1a\x01v";
  const auto read = DecodeCredentials(protobuf);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(
      *read,
      (Credentials{
          .tokens = {{"a", {.identifier = "i", .password = "p", .kind = "k", .service = "s"}}},
          .secrets = {{"n", "v"}}}));
}

TEST(CredentialsTest, AnAmTakesItsTokenByKindAndDoesNotHandItOn) {
  Credentials credentials = kCredentials;
  ASSERT_NE(credentials.FindToken(kAmRmTokenKind), nullptr);
  EXPECT_EQ(credentials.FindToken(kAmRmTokenKind)->identifier, "id\x01");
  credentials.RemoveTokens(kAmRmTokenKind);
  EXPECT_EQ(credentials.FindToken(kAmRmTokenKind), nullptr);
  EXPECT_EQ(credentials.tokens.size(), 1U);
  EXPECT_EQ(*credentials.FindSecret("key"), std::string("\0\xff", 2));
  EXPECT_EQ(credentials.FindSecret("none"), nullptr);
}

TEST(CredentialsTest, DamagedOnesAreRefusedWhereverTheyEnd) {
  const std::string whole = EncodeCredentials(kCredentials);
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(DecodeCredentials(whole.substr(0, size)).has_value()) << size;
  EXPECT_FALSE(DecodeCredentials(whole + "x").has_value());
  EXPECT_THAT(DecodeCredentials("HDTS\x02").error().message, HasSubstr("form 2"));
  EXPECT_THAT(DecodeCredentials(std::string("HDTS\0\x7f", 6)).error().message,
              HasSubstr("127 of something"));
  EXPECT_FALSE(DecodeCredentials(std::string(kMaxCredentials + 1, 'x')).has_value());
}

TEST(CredentialsTest, TheFileOfAContainerIsRead) {
  const std::string path = ::testing::TempDir() + "/tfyarn_tokens_" + std::to_string(getpid());
  EXPECT_EQ(ReadCredentialsFile(path).error().code, ErrorCode::kNotFound);
  std::ofstream(path, std::ios::binary) << EncodeCredentials(kCredentials);
  EXPECT_EQ(*ReadCredentialsFile(path), kCredentials);
  std::ofstream(path, std::ios::binary) << "no tokens";
  EXPECT_THAT(ReadCredentialsFile(path).error().message, HasSubstr(path));
  std::remove(path.c_str());
}

TEST(TokenUrlStringTest, ComesBackAndHasNoPadding) {
  for (const auto& [alias, token] : kCredentials.tokens) {
    const std::string text = EncodeTokenUrlString(token);
    EXPECT_EQ(text.find_first_of("+/="), std::string::npos);
    EXPECT_EQ(*DecodeTokenUrlString(text), token);
  }
  EXPECT_EQ(EncodeTokenUrlString({}), "AAAAAA");
  for (const char* bad : {"", "AAA", "AAAAAAAA", "????", "fwAAAA"})
    EXPECT_FALSE(DecodeTokenUrlString(bad).has_value()) << bad;
}

TEST(TokenStoreTest, TheSameTokenHasTheSameHandle) {
  TokenStore store, other;
  const HadoopToken& token = kCredentials.tokens[0].second;
  const yarn::Token handle = store.Keep(token);
  EXPECT_EQ(handle.kind, yarn::TokenKind::kAmRm);
  EXPECT_EQ(store.Keep(token), handle);
  EXPECT_EQ(other.Keep(token), handle);
  EXPECT_EQ(store.size(), 1U);
  HadoopToken rolled = token;
  rolled.password += "x";
  EXPECT_NE(store.Keep(rolled), handle);
  EXPECT_EQ(*store.Find(handle), token);
  store.Forget(handle);
  store.Forget(handle);
  EXPECT_EQ(store.Find(handle), nullptr);
}

TEST(TokenStoreTest, TheKeyIsThatOfTheIdentifier) {
  TokenStore store;
  // AMRMTokenIdentifier: 2 keyId = 77.
  EXPECT_EQ(store.Keep({.identifier = "\x10\x4d", .kind = kAmRmTokenKind}).key_id, 77U);
}

TEST(TokenStoreTest, OldTokensMakeRoomForNewOnesOfTheirKind) {
  TokenStore store(2);
  const yarn::Token nm = store.Keep({.identifier = "", .password = "n", .kind = kNmTokenKind});
  std::vector<yarn::Token> handles;
  for (const char* password : {"1", "2", "3"})
    handles.push_back(store.Keep({.password = password, .kind = kContainerTokenKind}));
  EXPECT_EQ(store.Find(handles[0]), nullptr);
  EXPECT_NE(store.Find(handles[2]), nullptr);
  EXPECT_NE(store.Find(nm), nullptr);
}

}  // namespace
}  // namespace tfyarn::hadoop::credentials_test
