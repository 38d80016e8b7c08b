// DIGEST-MD5 between Cyrus SASL and our own server, through whole connections: two writings of RFC
// 2831 that know nothing of each other.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <array>
#include <map>

#include "tests/unit/wire/hadoop/test_server.h"
#include "wire/hadoop/digest_md5_server.h"
#include "wire/hadoop/ipc_connection.h"

/// Cyrus SASL 2.1.28 never frees the cipher that it fetches for privacy, 6 KiB a connection. Only
/// it loads this library: our own OpenSSL is linked in.
extern "C" const char* __lsan_default_suppressions();  // NOLINT(bugprone-reserved-identifier)
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libcrypto.so";
}

namespace tfyarn::hadoop::sasl_test {
namespace {

using ::testing::HasSubstr;

const IpcProtocol kProtocol{.name = "org.example.TestPB", .version = 1};
const std::string kClientId = "0123456789abcdef";

/// identifier and password are not text, as those of real tokens.
const HadoopToken kToken{.identifier = std::string("\x0a\x10\x00\xff id", 7),
                         .password = std::string("\x01\x02\xfe secret", 10),
                         .kind = kAmRmTokenKind};
constexpr char kUsername[] = "ChAA/yBpZA==";
constexpr char kPassword[] = "AQL+IHNlY3JldA==";

const SaslAuth kTokenAuth{.method = "TOKEN",
                          .mechanism = "DIGEST-MD5",
                          .protocol = "",
                          .server_id = "default",
                          .challenge = {}};
const SaslAuth kSimpleAuth{.method = "SIMPLE", .mechanism = ""};
const SaslAuth kKerberosAuth{
    .method = "KERBEROS", .mechanism = "GSSAPI", .protocol = "rm", .server_id = "host"};

/// Answers as Hadoop's server does, ipc/Server.java saslProcess().
class SaslDesk {
 public:
  std::vector<Protection> offered = {Protection::kAuthentication};
  std::vector<SaslAuth> auths = {kTokenAuth};
  std::string password = kPassword;
  std::vector<CallRequest> calls;
  std::vector<ConnectionContext> contexts;
  std::vector<SaslMessage> said;
  std::string answer = "done";

  void operator()(TestPeer& peer, const ClientFrame& frame) {
    if (const auto* sasl = std::get_if<SaslMessage>(&frame)) return Take(peer, *sasl);
    if (const auto* context = std::get_if<ConnectionContext>(&frame)) contexts.push_back(*context);
    if (const auto* call = std::get_if<CallRequest>(&frame)) {
      calls.push_back(*call);
      Send(peer, ResponseFrame({.call_id = call->call_id, .body = answer}));
    }
  }
  void Send(TestPeer& peer, const std::string& frame) {
    if (!server_->protects()) return peer.Send(frame);
    peer.Send(SaslResponseFrame({.state = SaslState::kWrap, .token = *server_->Wrap(frame)}));
  }

 private:
  void Take(TestPeer& peer, const SaslMessage& message) {
    said.push_back(message);
    switch (message.state) {
      case SaslState::kNegotiate:
        return Offer(peer);
      case SaslState::kInitiate: {
        if (message.auths.at(0).method != "TOKEN") return;
        EXPECT_EQ(message.auths, std::vector{kTokenAuth}) << "all but the challenge, unchanged";
        const auto proof = server_->Step(message.token.value());
        if (!proof) return Refuse(peer, proof.error().message);
        return peer.Send(SaslResponseFrame({.state = SaslState::kSuccess, .token = *proof}));
      }
      case SaslState::kWrap: {
        const auto plain = server_->Unwrap(message.token.value());
        ASSERT_TRUE(plain.has_value()) << plain.error().message;
        return peer.TakePlain(*plain);
      }
      default:
        FAIL() << "no such message of a client";
    }
  }
  void Offer(TestPeer& peer) {
    server_ = std::make_unique<DigestMd5Server>(
        DigestMd5ServerOptions{.nonce = "Zm9yIHRlc3Rz", .offered = offered},
        [this](const std::string& user) {
          return user == kUsername ? std::optional(password) : std::nullopt;
        });
    if (auths.empty()) return peer.Send(SaslResponseFrame({.state = SaslState::kSuccess}));
    std::vector<SaslAuth> offer = auths;
    offer[0].challenge = server_->Challenge();
    peer.Send(SaslResponseFrame({.state = SaslState::kNegotiate, .auths = offer}));
  }
  static void Refuse(TestPeer& peer, const std::string& why) {
    peer.Send(ResponseFrame({.call_id = kSaslCallId,
                             .status = ResponseStatus::kFatal,
                             .exception = "javax.security.sasl.SaslException",
                             .message = why,
                             .error_detail = 15}));
  }

  std::unique_ptr<DigestMd5Server> server_;
};

class SaslTest : public ::testing::Test {
 protected:
  ~SaslTest() override {
    if (connection_ != nullptr) connection_->Close();
  }
  Outcome CallOnce(std::string body = "", IpcCredential credential = {.token = kToken}) {
    connection_ = std::make_shared<IpcConnection>(io_, server_.address(), kProtocol,
                                                  std::move(credential), kClientId, IpcOptions{});
    Outcome outcome;
    connection_->Call(0, 0, "m", body, Into(outcome));
    RunUntil(
        io_, [&] { return outcome.done; }, "an answer");
    return outcome;
  }

  boost::asio::io_context io_;
  SaslDesk desk_;
  TestServer server_{io_, [this](TestPeer& peer, const ClientFrame& frame) { desk_(peer, frame); }};
  std::shared_ptr<IpcConnection> connection_;
};

// Source: RFC 2831, 4, the example of IMAP; its numbers are for qop=auth.
TEST(DigestMd5Test, TheExampleOfTheStandardComesOut) {
  const DigestMd5Exchange exchange{.username = "chris",
                                   .realm = "elwood.innosoft.com",
                                   .password = "secret",
                                   .nonce = "OA6MG9tEQGm2hh",
                                   .cnonce = "OA6MHXh6VqTrRk",
                                   .nonce_count = "00000001",
                                   .digest_uri = "imap/elwood.innosoft.com"};
  EXPECT_EQ(DigestMd5Response(exchange), "d388dad90d4bbd760a152321f2143af7");
  EXPECT_EQ(DigestMd5ResponseAuth(exchange), "ea40f60335c427b5527b84dbabcdfffd");
}

TEST(DigestMd5Test, DirectivesAreReadWithQuotesAndBlanks) {
  const auto read = ParseDigestDirectives(R"( Realm="a\"b,c" , nc=00000001,x="")");
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(*read, (std::map<std::string, std::string>{
                       {"realm", "a\"b,c"}, {"nc", "00000001"}, {"x", ""}}));
  for (const char* bad : {"=x", "a", "a=\"open", "a=1,a=2", "a=\"1\"b=2"})
    EXPECT_FALSE(ParseDigestDirectives(bad).has_value()) << bad;
}

std::string FromBase64(std::string_view text) {
  std::string bytes(text.size(), '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                   reinterpret_cast<const unsigned char*>(text.data()),
                                   static_cast<int>(text.size()));
  const auto padding = text.size() - text.find_last_not_of('=') - 1;
  bytes.resize(static_cast<std::size_t>(size) - padding);
  return bytes;
}

/// What the SASL client of JDK 17 said to this server's challenge, and wrapped.
struct JdkSession {
  Protection protection;
  std::string response;
  std::string proof;
  std::vector<std::string> wrapped;  ///< "message 0 of Java", ...
  std::vector<std::string> ours;     ///< "message 0 of ours", ..., which it could unwrap.
};
const std::string kJdkBegin =
    R"(charset=utf-8,username="ChAA/yBpZA==",realm="default",nonce="Zm9yIHRlc3Rz",nc=00000001,)";
const std::array kJdkSessions = {
    JdkSession{
        Protection::kPrivacy,
        kJdkBegin +
            R"(cnonce="TQfgPGaxbVqDSMzCOR9l4y8cgbvBP6VqC5fBdAV4",digest-uri="/default",)"
            R"(maxbuf=65536,response=267e012f1d67c703137e844b30e23bd4,qop=auth-conf,cipher="3des")",
        "rspauth=7e9395f878ed64cf54fe11d02dc6b328",
        {"rsp4Q4cD4RJvyhcxuykL8DFp3aPFW6HgCEeBMMvFH1IAAQAAAAA=",
         "CddBTBgSz+zoyIkP1e3qpDz8PpUlXIkJqZczTpyuy4YAAQAAAAE=",
         "m1lr1b+EXyF5qjbbiCOZ4Tka5YNM2uTRjLh3tALz9H8AAQAAAAI="},
        {"8bm9tRDpAq0Rp6qQJTVSiFU40NCxmuhA1xXlMhJ4bUUAAQAAAAA=",
         "jTJpCD1DNexnSbAEieo22ywMUl6I55qJj7f2l2aoxD8AAQAAAAE=",
         "noeqfFMpJWKy8pIKXnvz3+jYlg6EsmNO0iSp0mmxmbYAAQAAAAI="}},
    JdkSession{Protection::kIntegrity,
               kJdkBegin +
                   R"(cnonce="JLWGkn1ddiV9jg12rfIOTnSlK3f1NFj56/mpSzO0",digest-uri="/default",)"
                   R"(maxbuf=65536,response=86b09682747abcb174b1f7f4198ffd80,qop=auth-int)",
               "rspauth=db94035fdc233146de780e4b635e4c02",
               {"bWVzc2FnZSAwIG9mIEphdmGy/OPFRHwbA9YcAAEAAAAA",
                "bWVzc2FnZSAxIG9mIEphdmFemW1r9BhnBDcxAAEAAAAB",
                "bWVzc2FnZSAyIG9mIEphdmGyqhu4tGAl9j0uAAEAAAAC"},
               {"bWVzc2FnZSAwIG9mIG91cnMS7ebKw+4QdVfgAAEAAAAA",
                "bWVzc2FnZSAxIG9mIG91cnOsx9waLdNxfEB2AAEAAAAB",
                "bWVzc2FnZSAyIG9mIG91cnPpULN/6w/Iw/XVAAEAAAAC"}}};

DigestMd5Server ServerOffering(Protection protection) {
  return DigestMd5Server({.nonce = "Zm9yIHRlc3Rz", .offered = {protection}},
                         [](const std::string&) { return std::optional<std::string>(kPassword); });
}

TEST(DigestMd5Test, JavasClientsAreUnderstood) {
  for (const JdkSession& session : kJdkSessions) {
    DigestMd5Server server = ServerOffering(session.protection);
    EXPECT_EQ(*server.Step(session.response), session.proof);
    EXPECT_EQ(server.username(), kUsername);
    ASSERT_TRUE(server.complete() && server.protects());
    for (std::size_t i = 0; i < session.wrapped.size(); ++i) {
      EXPECT_EQ(*server.Unwrap(FromBase64(session.wrapped[i])),
                fmt::format("message {} of Java", i));
      EXPECT_EQ(*server.Wrap(fmt::format("message {} of ours", i)), FromBase64(session.ours[i]));
    }
  }
}

TEST(DigestMd5Test, WhatWasChangedOrComesAgainIsNotUnwrapped) {
  for (const JdkSession& session : kJdkSessions) {
    const std::string wrapped = FromBase64(session.wrapped[0]);
    for (std::size_t i = 0; i < wrapped.size(); ++i) {
      DigestMd5Server server = ServerOffering(session.protection);
      ASSERT_TRUE(server.Step(session.response).has_value());
      std::string changed = wrapped;
      changed[i] = static_cast<char>(changed[i] ^ 1);
      EXPECT_FALSE(server.Unwrap(changed).has_value()) << i;
    }
    DigestMd5Server server = ServerOffering(session.protection);
    ASSERT_TRUE(server.Step(session.response).has_value());
    EXPECT_TRUE(server.Unwrap(wrapped).has_value());
    EXPECT_FALSE(server.Unwrap(wrapped).has_value());
    EXPECT_FALSE(server.Unwrap("short").has_value());
    EXPECT_FALSE(server.Step(session.response).has_value()) << "it is over";
  }
}

TEST(DigestMd5Test, AResponseToAnotherChallengeIsRefused) {
  for (const auto& [from, to] :
       std::vector<std::pair<std::string, std::string>>{{"Zm9yIHRlc3Rz", "b3RoZXI="},
                                                        {"=00000001", "=00000002"},
                                                        {"/default", "/other"},
                                                        {"\"default\"", "\"other\""},
                                                        {"auth-int", "auth"},
                                                        {"response=8", "response=9"}}) {
    DigestMd5Server server = ServerOffering(Protection::kIntegrity);
    std::string response = kJdkSessions[1].response;
    response.replace(response.find(from), from.size(), to);
    EXPECT_FALSE(server.Step(response).has_value()) << response;
  }
}

TEST_F(SaslTest, ATokenAuthenticatesAndTheContextNamesNobody) {
  ASSERT_EQ(CallOnce().body, "done");
  EXPECT_EQ(server_.peers.at(0)->preamble, std::string("hrpc\x09\x00\xdf", 7));
  ASSERT_EQ(desk_.contexts.size(), 1U);
  EXPECT_EQ(desk_.contexts[0].effective_user, std::nullopt);
  EXPECT_EQ(desk_.contexts[0].protocol, kProtocol.name);
}

class SaslProtectionTest : public SaslTest, public ::testing::WithParamInterface<Protection> {};

TEST_P(SaslProtectionTest, CallsAndAnswersGoThroughTheLayer) {
  desk_.offered = {GetParam()};
  const std::string large(200'000, 'x');  // More than one wrap of ours, one of the server's.
  desk_.answer = large;
  const Outcome outcome = CallOnce(large);
  EXPECT_EQ(outcome.body.size(), large.size()) << outcome.error.message;
  ASSERT_EQ(desk_.calls.size(), 1U);
  EXPECT_EQ(desk_.calls[0].body, large);
  Outcome again;
  connection_->Call(1, 0, "m", "more", Into(again));
  RUN_UNTIL(io_, again.done);
  EXPECT_TRUE(again.ok()) << again.error.message;
}

INSTANTIATE_TEST_SUITE_P(All, SaslProtectionTest,
                         ::testing::Values(Protection::kIntegrity, Protection::kPrivacy));

TEST_F(SaslTest, AnAnswerBesideTheLayerIsRefused) {
  desk_.offered = {Protection::kIntegrity};
  ASSERT_TRUE(CallOnce().ok());
  Outcome outcome;
  connection_->Call(1, 0, "m", "", Into(outcome));
  server_.peers.at(0)->Send(ResponseFrame({.call_id = 1, .body = "forged"}));
  RUN_UNTIL(io_, outcome.done);
  EXPECT_EQ(outcome.error.kind, IpcErrorKind::kProtocol);
}

TEST_F(SaslTest, AWrongPasswordIsRefusedByTheServer) {
  desk_.password = "other";
  const Outcome outcome = CallOnce();
  EXPECT_EQ(outcome.error.kind, IpcErrorKind::kSecurity);
  EXPECT_EQ(outcome.error.exception, "javax.security.sasl.SaslException");
  EXPECT_THAT(outcome.error.message, HasSubstr("Mismatched response"));
}

TEST_F(SaslTest, AServerThatDoesNotKnowTheTokenIsNotBelieved) {
  server_.on_frame = [this](TestPeer& peer, const ClientFrame& frame) {
    const auto* sasl = std::get_if<SaslMessage>(&frame);
    if (sasl != nullptr && sasl->state == SaslState::kInitiate)
      return peer.Send(SaslResponseFrame(
          {.state = SaslState::kSuccess, .token = "rspauth=00000000000000000000000000000000"}));
    desk_(peer, frame);
  };
  EXPECT_EQ(CallOnce().error.kind, IpcErrorKind::kSecurity);
}

TEST_F(SaslTest, SuccessWithoutAnyProofIsNotBelieved) {
  server_.on_frame = [this](TestPeer& peer, const ClientFrame& frame) {
    const auto* sasl = std::get_if<SaslMessage>(&frame);
    if (sasl != nullptr && sasl->state == SaslState::kInitiate)
      return peer.Send(SaslResponseFrame({.state = SaslState::kSuccess}));
    desk_(peer, frame);
  };
  EXPECT_THAT(CallOnce().error.message, HasSubstr("without proof"));
}

TEST_F(SaslTest, KerberosAloneIsRefusedWithWordsThatHelp) {
  desk_.auths = {kKerberosAuth};
  const Outcome outcome = CallOnce();
  EXPECT_EQ(outcome.error.kind, IpcErrorKind::kSecurity);
  EXPECT_THAT(outcome.error.message, HasSubstr("offers KERBEROS; Kerberos comes with a later"));
}

TEST_F(SaslTest, AnInsecureServerIsRefusedUnlessThatIsAllowed) {
  desk_.auths.clear();
  EXPECT_THAT(CallOnce().error.message, HasSubstr("does not authenticate clients"));
  const Outcome allowed = CallOnce("", {.user = "alice", .token = kToken, .allow_simple = true});
  EXPECT_TRUE(allowed.ok()) << allowed.error.message;
  EXPECT_EQ(desk_.contexts.back().effective_user, "alice");
}

// Source: SaslRpcClient: having chosen SIMPLE the client does not wait for an answer.
TEST_F(SaslTest, SimpleIsChosenWhenItIsOfferedAndAllowed) {
  desk_.auths = {kKerberosAuth, kSimpleAuth};
  EXPECT_TRUE(CallOnce("", {.user = "alice", .token = kToken, .allow_simple = true}).ok());
  EXPECT_EQ(desk_.said.back().auths.at(0), kSimpleAuth);
  EXPECT_EQ(CallOnce().error.kind, IpcErrorKind::kSecurity) << "not allowed";
}

TEST_F(SaslTest, TheTrueCauseOfAFailedHandshakeIsKept) {
  server_.on_frame = [](TestPeer& peer, const ClientFrame&) {
    peer.Send(
        ResponseFrame({.call_id = kSaslCallId,
                       .status = ResponseStatus::kFatal,
                       .exception = "org.apache.hadoop.security.token.SecretManager$InvalidToken",
                       .message = "appattempt_1_0001_000001 not found",
                       .error_detail = 15}));
  };
  const Outcome outcome = CallOnce();
  EXPECT_EQ(outcome.error.kind, IpcErrorKind::kSecurity);
  EXPECT_EQ(outcome.error.exception, "org.apache.hadoop.security.token.SecretManager$InvalidToken");
}

}  // namespace
}  // namespace tfyarn::hadoop::sasl_test
