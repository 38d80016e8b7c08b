#include "wire/hadoop/sasl_server.h"

#include <utility>

#include "wire/hadoop/base64.h"

namespace tfyarn::hadoop {
namespace {

constexpr char kSaslException[] = "javax.security.sasl.SaslException";
constexpr char kAccessControl[] = "org.apache.hadoop.security.AccessControlException";
constexpr char kInvalidToken[] = "org.apache.hadoop.security.token.SecretManager$InvalidToken";

SaslAuth TokenAuth() {
  return {.method = "TOKEN",
          .mechanism = "DIGEST-MD5",
          .protocol = "",
          .server_id = "default",
          .challenge = {}};
}

SaslAuth KerberosAuth() {
  return {.method = "KERBEROS",
          .mechanism = "GSSAPI",
          .protocol = "rm",
          .server_id = "localhost",
          .challenge = {}};
}

SaslAuth SimpleAuth() {
  return {.method = "SIMPLE", .mechanism = ""};
}

tl::unexpected<SaslRefusal> Refuse(std::string exception, std::string message) {
  return tl::unexpected(
      SaslRefusal{.exception = std::move(exception), .message = std::move(message)});
}

}  // namespace

std::string AvailableMethods(BesidesTokens besides) {
  switch (besides) {
    case BesidesTokens::kNothing:
      break;
    case BesidesTokens::kSimple:
      return "Available:[TOKEN, SIMPLE]";
    case BesidesTokens::kKerberos:
      return "Available:[TOKEN, KERBEROS]";
  }
  return "Available:[TOKEN]";
}

SaslServer::SaslServer(std::string nonce, BesidesTokens besides, TokenPassword password)
    : besides_(besides),
      password_(std::move(password)),
      digest_({.nonce = std::move(nonce)},
              [this](const std::string& username) -> std::optional<std::string> {
                const auto identifier = DecodeBase64(username);
                if (!identifier) {
                  refusal_ = {.exception = kInvalidToken, .message = "the user is no token"};
                  return std::nullopt;
                }
                auto password_of = password_(*identifier);
                if (!password_of) {
                  refusal_ = password_of.error();
                  return std::nullopt;
                }
                identifier_ = *identifier;
                return EncodeBase64(*password_of);
              }) {}

SaslMessage SaslServer::Offer() const {
  SaslMessage offer{.state = SaslState::kNegotiate, .token = {}, .auths = {TokenAuth()}};
  offer.auths[0].challenge = digest_.Challenge();
  if (besides_ == BesidesTokens::kSimple) offer.auths.push_back(SimpleAuth());
  if (besides_ == BesidesTokens::kKerberos) offer.auths.push_back(KerberosAuth());
  return offer;
}

SaslServer::Reply SaslServer::OnMessage(const SaslMessage& message) {
  if (result_) return Refuse(kSaslException, "the negotiation is over");
  switch (message.state) {
    case SaslState::kNegotiate:
      return Offer();
    case SaslState::kInitiate:
      return Initiate(message);
    case SaslState::kSuccess:
    case SaslState::kChallenge:
    case SaslState::kResponse:
    case SaslState::kWrap:
      break;
  }
  return Refuse(kSaslException, "a client does not say this here");
}

SaslServer::Reply SaslServer::Initiate(const SaslMessage& message) {
  const bool simple = besides_ == BesidesTokens::kSimple;
  if (message.auths.size() != 1 ||
      (message.auths[0] != TokenAuth() && !(simple && message.auths[0] == SimpleAuth())))
    return Refuse(kAccessControl, AvailableMethods(besides_));
  if (message.auths[0] == SimpleAuth()) {
    result_ = AuthMethod::kSimple;
    return std::nullopt;
  }
  auto proof = digest_.Step(message.token.value_or(std::string()));
  if (!proof) {
    if (!refusal_.exception.empty()) return tl::unexpected(refusal_);
    return Refuse(kSaslException, proof.error().message);
  }
  result_ = AuthMethod::kToken;
  return SaslMessage{.state = SaslState::kSuccess, .token = *std::move(proof), .auths = {}};
}

}  // namespace tfyarn::hadoop
