#include "wire/hadoop/sasl_negotiation.h"

#include <fmt/format.h>

#include <utility>

#include "wire/hadoop/digest_md5_client.h"

namespace tfyarn::hadoop {
namespace {

tl::unexpected<Error> GiveUp(std::string message) {
  return Fail(ErrorCode::kFailedPrecondition, std::move(message));
}

std::string Names(const std::vector<SaslAuth>& offered) {
  std::string names;
  for (const SaslAuth& auth : offered)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", auth.method);
  return names.empty() ? "nothing" : names;
}

bool Offers(const std::vector<SaslAuth>& offered, std::string_view method) {
  for (const SaslAuth& auth : offered) {
    if (auth.method == method) return true;
  }
  return false;
}

}  // namespace

SaslNegotiation::Reply SaslNegotiation::OnMessage(const SaslMessage& message) {
  if (result_) return GiveUp("the server goes on negotiating after the end");
  switch (message.state) {
    case SaslState::kNegotiate:
      if (mechanism_ != nullptr) return GiveUp("the server offers its methods twice");
      return Choose(message.auths);
    case SaslState::kChallenge:
      return Respond(message);
    case SaslState::kSuccess:
      return Finish(message);
    case SaslState::kInitiate:
    case SaslState::kResponse:
    case SaslState::kWrap:
      break;
  }
  return GiveUp("the server says what only a client may say, or wraps too early");
}

/// The first that we can do, as the server prefers.
SaslNegotiation::Reply SaslNegotiation::Choose(const std::vector<SaslAuth>& offered) {
  for (const SaslAuth& auth : offered) {
    if (auth.method == "TOKEN" && auth.mechanism == "DIGEST-MD5") return ChooseToken(auth);
    if (auth.method == "SIMPLE" && allow_simple_) {
      result_ = AuthMethod::kSimple;  // The server says nothing to that.
      SaslAuth chosen = auth;
      chosen.challenge.reset();
      return SaslMessage{.state = SaslState::kInitiate, .token = "", .auths = {std::move(chosen)}};
    }
  }
  if (Offers(offered, "KERBEROS"))
    return GiveUp(fmt::format("the server offers {}; Kerberos comes with a later version of tfyarn",
                              Names(offered)));
  return GiveUp(fmt::format("the server offers {}, and we have a token of kind {}", Names(offered),
                            token_.kind));
}

SaslNegotiation::Reply SaslNegotiation::ChooseToken(const SaslAuth& offered) {
  auto made =
      MakeDigestMd5Client(token_, offered.protocol.value_or(""), offered.server_id.value_or(""));
  if (!made) return tl::unexpected(made.error());
  mechanism_ = std::move(*made);
  auto first = mechanism_->Step(offered.challenge.value_or(""));
  if (!first) return tl::unexpected(first.error());
  SaslAuth chosen = offered;  // All but the challenge has to come back as it is.
  chosen.challenge.reset();
  return SaslMessage{
      .state = SaslState::kInitiate, .token = std::move(*first), .auths = {std::move(chosen)}};
}

SaslNegotiation::Reply SaslNegotiation::Respond(const SaslMessage& challenge) {
  if (mechanism_ == nullptr) return GiveUp("the server challenges before a method was chosen");
  auto token = mechanism_->Step(challenge.token.value_or(""));
  if (!token) return tl::unexpected(token.error());
  return SaslMessage{.state = SaslState::kResponse, .token = std::move(*token)};
}

SaslNegotiation::Reply SaslNegotiation::Finish(const SaslMessage& success) {
  if (mechanism_ == nullptr) {
    if (!allow_simple_)
      return GiveUp(
          fmt::format("the server does not authenticate clients, but we have a token "
                      "of kind {}: it is not the server that the token is for",
                      token_.kind));
    result_ = AuthMethod::kSimple;
    return std::nullopt;
  }
  if (success.token) {
    const auto more = mechanism_->Step(*success.token);
    if (!more) return tl::unexpected(more.error());
    if (!more->empty()) return GiveUp("the server ends the exchange too early");
  }
  if (!mechanism_->complete())
    return GiveUp("the server ends the exchange without proof that it knows the token");
  result_ = AuthMethod::kToken;
  return std::nullopt;
}

std::unique_ptr<SaslMechanism> SaslNegotiation::TakeLayer() {
  if (mechanism_ == nullptr || !mechanism_->protects()) return nullptr;
  return std::move(mechanism_);
}

}  // namespace tfyarn::hadoop
