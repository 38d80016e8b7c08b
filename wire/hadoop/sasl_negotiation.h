// What a client says until the server knows who it is, as a machine of messages without a socket.
//
//   NEGOTIATE -> <- NEGOTIATE [methods] ; INITIATE -> <- CHALLENGE ; RESPONSE -> ... <- SUCCESS
//
// Source: hadoop-common security/SaslRpcClient.java.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/model/error.h"
#include "wire/hadoop/sasl_mechanism.h"
#include "wire/hadoop/sasl_message.h"
#include "wire/hadoop/token.h"

namespace tfyarn::hadoop {

/// How a connection came to know its user.
enum class AuthMethod {
  kSimple,  ///< The server believes what the connection context says.
  kToken,   ///< The token is the user.
};

class SaslNegotiation {
 public:
  /// `allow_simple`: be content with a server that asks for no proof.
  SaslNegotiation(HadoopToken token, bool allow_simple)
      : token_(std::move(token)), allow_simple_(allow_simple) {}

  /// The first message to the server.
  [[nodiscard]] static SaslMessage First() { return {.state = SaslState::kNegotiate}; }

  /// What to send in answer to `message`, if anything.
  /// Errors: kFailedPrecondition when it cannot go on, with what the server offers and what to do.
  [[nodiscard]] Expected<std::optional<SaslMessage>> OnMessage(const SaslMessage& message);

  /// Set when the negotiation is over.
  [[nodiscard]] const std::optional<AuthMethod>& result() const { return result_; }
  /// The layer that protects what follows; nullptr when there is none. Once only, after the end.
  [[nodiscard]] std::unique_ptr<SaslMechanism> TakeLayer();

 private:
  using Reply = Expected<std::optional<SaslMessage>>;
  Reply Choose(const std::vector<SaslAuth>& offered);
  Reply ChooseToken(const SaslAuth& offered);
  Reply Respond(const SaslMessage& challenge);
  Reply Finish(const SaslMessage& success);

  const HadoopToken token_;
  const bool allow_simple_;
  std::unique_ptr<SaslMechanism> mechanism_;  ///< Once a method was chosen.
  std::optional<AuthMethod> result_;
};

}  // namespace tfyarn::hadoop
