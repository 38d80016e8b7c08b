// Both ends of a negotiation, message by message, without a socket.
#include "wire/hadoop/sasl_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wire/hadoop/base64.h"
#include "wire/hadoop/token_identifiers.h"

namespace tfyarn::hadoop::sasl_server_test {
namespace {

using ::testing::HasSubstr;

const ApplicationAttemptId kAttempt{.application = {.cluster_timestamp = 1700000000000, .id = 7},
                                    .attempt = 2};

HadoopToken TokenSignedWith(std::string_view key) {
  HadoopToken token{.kind = kAmRmTokenKind};
  token.identifier = Encode(AmRmTokenIdentifier{.attempt = kAttempt, .key_id = 3});
  token.password = SignIdentifier(key, token.identifier);
  return token;
}

class SaslServerTest : public ::testing::Test {
 protected:
  /// The last word of the server, or of the client.
  std::string Negotiate(SaslNegotiation client) {
    SaslMessage said = SaslNegotiation::First();
    while (true) {
      const auto answer = server_.OnMessage(said);
      if (!answer) return answer.error().exception + ": " + answer.error().message;
      if (!*answer) return "";
      const auto next = client.OnMessage(**answer);
      if (!next) return next.error().message;
      if (!*next) return "";
      said = **next;
    }
  }

  SaslServer server_{
      "nonce", BesidesTokens::kSimple,
      [](const std::string& identifier) -> tl::expected<std::string, SaslRefusal> {
        const auto token = DecodeAmRmTokenIdentifier(identifier);
        if (!token || token->attempt != kAttempt)
          return tl::unexpected(SaslRefusal{.exception = "Invalid", .message = "not found"});
        return SignIdentifier("key", identifier);
      }};
};

TEST_F(SaslServerTest, ATokenThatWasSignedHereOpensTheConnection) {
  EXPECT_EQ(Negotiate({TokenSignedWith("key"), false}), "");
  EXPECT_EQ(server_.result(), AuthMethod::kToken);
  EXPECT_EQ(DecodeAmRmTokenIdentifier(server_.identifier()),
            (AmRmTokenIdentifier{.attempt = kAttempt, .key_id = 3}));
}

TEST_F(SaslServerTest, AForgedTokenIsRefused) {
  EXPECT_THAT(Negotiate({TokenSignedWith("another key"), false}), HasSubstr("Mismatched response"));
  EXPECT_FALSE(server_.result().has_value());
}

TEST_F(SaslServerTest, TheReasonOfWhoKnowsTheTokenIsPassedOn) {
  HadoopToken token = TokenSignedWith("key");
  token.identifier = Encode(AmRmTokenIdentifier{.attempt = {}, .key_id = 3});
  EXPECT_EQ(Negotiate({token, false}), "Invalid: not found");
}

TEST_F(SaslServerTest, WhoMayComeWithoutProofMayChooseTo) {
  ASSERT_TRUE(server_.OnMessage({.state = SaslState::kNegotiate}).has_value());
  const auto answer = server_.OnMessage(
      {.state = SaslState::kInitiate, .auths = {{.method = "SIMPLE", .mechanism = ""}}});
  ASSERT_TRUE(answer.has_value());
  EXPECT_FALSE(answer->has_value());
  EXPECT_EQ(server_.result(), AuthMethod::kSimple);
}

TEST_F(SaslServerTest, AMethodThatWasNotOfferedIsRefused) {
  const auto answer = server_.OnMessage(
      {.state = SaslState::kInitiate, .auths = {{.method = "KERBEROS", .mechanism = "GSSAPI"}}});
  ASSERT_FALSE(answer.has_value());
  EXPECT_THAT(answer.error().message, HasSubstr("TOKEN, SIMPLE"));
}

// Source: RFC 4648, 10.
TEST(Base64Test, TheExamplesOfTheStandardComeOut) {
  EXPECT_EQ(EncodeBase64(""), "");
  EXPECT_EQ(EncodeBase64("fo"), "Zm8=");
  EXPECT_EQ(EncodeBase64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(DecodeBase64("Zg=="), "f");
  EXPECT_EQ(DecodeBase64("Zm9vYmFy"), "foobar");
  EXPECT_EQ(DecodeBase64("Zm9vYmF"), std::nullopt);
  EXPECT_EQ(DecodeBase64("Zm9v\nmFy"), std::nullopt);
  EXPECT_EQ(DecodeBase64("Zm9*"), std::nullopt);
}

// Source: RFC 2202, 3, test case 2.
TEST(TokenIdentifierTest, TheSignatureIsHmacSha1) {
  EXPECT_EQ(EncodeBase64(SignIdentifier("Jefe", "what do ya want for nothing?")),
            "7/zfauXrL6LSdBbV8YTfnCWafHk=");
}

}  // namespace
}  // namespace tfyarn::hadoop::sasl_server_test
