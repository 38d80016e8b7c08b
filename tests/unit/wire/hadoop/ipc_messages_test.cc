// Frames against bytes written down by hand from the protocol's description.
#include "wire/hadoop/ipc_messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>

namespace tfyarn::hadoop::ipc_messages_test {
namespace {

using ::testing::HasSubstr;

/// Bytes from hexadecimal digits and 'quoted text', blanks between them.
std::string Bytes(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == ' ') {
      ++i;
    } else if (text[i] == '\'') {
      const auto end = text.find('\'', i + 1);
      bytes += text.substr(i + 1, end - i - 1);
      i = end + 1;
    } else {
      bytes += static_cast<char>(std::stoi(std::string(text.substr(i, 2)), nullptr, 16));
      i += 2;
    }
  }
  return bytes;
}

std::string Payload(const std::string& frame) {
  return frame.substr(4);
}

TEST(IpcMessagesTest, ThePreambleNamesVersionNine) {
  EXPECT_EQ(Preamble(AuthProtocol::kNone), Bytes("68 72 70 63 09 00 00"));
  EXPECT_EQ(Preamble(AuthProtocol::kSasl), Bytes("68 72 70 63 09 00 DF"));
}

// Call id -3 is zigzag 05, retry count -1 is zigzag 01; the context begins at field 2.
TEST(IpcMessagesTest, TheContextFrameIsAsHadoopWritesIt) {
  EXPECT_EQ(ContextFrame({.effective_user = "al", .real_user = {}, .protocol = "P"}, "ID"),
            Bytes("00 00 00 17"
                  "0C 08 02 10 00 18 05 22 02 'ID' 28 01"
                  "09 12 04 0A 02 'al' 1A 01 'P'"));
}

TEST(IpcMessagesTest, ARequestFrameCarriesThreeMessages) {
  EXPECT_EQ(RequestFrame({.call_id = 3,
                          .retry_count = 2,
                          .client_id = "ID",
                          .method = "m",
                          .protocol = {.name = "P", .version = 1},
                          .body = ""}),
            Bytes("00 00 00 17"
                  "0C 08 02 10 00 18 06 22 02 'ID' 28 04"
                  "08 0A 01 'm' 12 01 'P' 18 01"
                  "00"));
}

TEST(IpcMessagesTest, APingIsAHeaderAlone) {
  EXPECT_EQ(PingFrame("ID"), Bytes("00 00 00 0D 0C 08 02 10 00 18 07 22 02 'ID' 28 01"));
}

// -33 is zigzag 41; no client id; version is left out, as the field tables allow.
TEST(IpcMessagesTest, NegotiationBeginsWithAnEmptyClientId) {
  EXPECT_EQ(SaslRequestFrame({.state = SaslState::kNegotiate}),
            Bytes("00 00 00 0E 0A 08 02 10 00 18 41 22 00 28 01 02 10 01"));
}

// A negative call id comes back as its value + 2^32.
TEST(IpcMessagesTest, AResponseToMinusThirtyThreeIsUnderstood) {
  const auto response = DecodeResponse(Bytes("08 08 DF FF FF FF 0F 10 00 04 10 01 18 09"));
  ASSERT_TRUE(response.has_value()) << response.error().message;
  EXPECT_EQ(response->call_id, kSaslCallId);
  EXPECT_EQ(response->body, Bytes("10 01 18 09"));
}

TEST(IpcMessagesTest, EmptyFieldsOfAnOfferStayThere) {
  const SaslMessage message{.state = SaslState::kInitiate,
                            .token = "",
                            .auths = {{.method = "TOKEN",
                                       .mechanism = "DIGEST-MD5",
                                       .protocol = "",
                                       .server_id = "default",
                                       .challenge = {}}}};
  EXPECT_EQ(Payload(SaslRequestFrame(message)),
            Bytes("0A 08 02 10 00 18 41 22 00 28 01"
                  "24 10 02 1A 00 22 1E 0A 05 'TOKEN' 12 0A 'DIGEST-MD5' 1A 00 22 07 'default'"));
  EXPECT_EQ(std::get<SaslMessage>(*DecodeClientFrame(Payload(SaslRequestFrame(message)))), message);
}

TEST(IpcMessagesTest, FramesSurviveTheWayThereAndBack) {
  const CallRequest call{.call_id = 2147483647,
                         .retry_count = 1,
                         .client_id = std::string(16, '\0'),
                         .method = "allocate",
                         .protocol = {.name = "org.example.PB", .version = 3},
                         .body = "bytes"};
  EXPECT_EQ(std::get<CallRequest>(*DecodeClientFrame(Payload(RequestFrame(call)))), call);
  EXPECT_TRUE(std::holds_alternative<Ping>(*DecodeClientFrame(Payload(PingFrame("x")))));
  const Response error{.call_id = 5,
                       .status = ResponseStatus::kError,
                       .client_id = "id",
                       .retry_count = 2,
                       .exception = "org.example.E",
                       .message = "why",
                       .error_detail = 99,  // Of a later version.
                       .body = {}};
  EXPECT_EQ(*DecodeResponse(Payload(ResponseFrame(error))), error);
}

// Source: ipc/Server.java, checkRpcHeaders().
TEST(IpcMessagesTest, AHeaderWithoutOperationOrKindIsRefused) {
  EXPECT_FALSE(DecodeClientFrame(Bytes("04 18 06 22 00 00 00")).has_value());
  EXPECT_FALSE(DecodeClientFrame(Bytes("08 08 02 10 01 18 06 22 00")).has_value());  // CONTINUATION
  EXPECT_THAT(DecodeClientFrame(Bytes("08 08 02 10 00 18 03 22 00")).error().message,
              HasSubstr("unknown call id -2"));
  EXPECT_FALSE(DecodeClientFrame("").has_value());
}

TEST(IpcMessagesTest, ALengthThatNoIntHoldsIsRefused) {
  EXPECT_FALSE(DecodeResponse(Bytes("FF FF FF FF FF FF FF FF 01")).has_value());
}

TEST(IpcMessagesTest, ARefusalInTheOldFormComesInPieces) {
  const std::string whole = Bytes("FFFFFFFF FFFFFFFF 00000001 'E' FFFFFFFF");
  for (std::size_t size = 4; size < whole.size(); ++size) {
    const auto part = DecodeOldRefusal(whole.substr(0, size));
    ASSERT_TRUE(part.has_value());
    EXPECT_FALSE(part->has_value()) << size;
  }
  const auto refusal = DecodeOldRefusal(whole);
  ASSERT_TRUE(refusal.has_value() && refusal->has_value());
  EXPECT_EQ((*refusal)->exception, "E");
  EXPECT_EQ((*refusal)->message, "");
  EXPECT_FALSE(DecodeOldRefusal(Bytes("FFFFFFFF FFFFFFFF FFFFFFF0")).has_value());
  EXPECT_FALSE(DecodeOldRefusal(Bytes("FFFFFFFF FFFFFFFF 7FFFFFFF")).has_value());
}

}  // namespace
}  // namespace tfyarn::hadoop::ipc_messages_test
