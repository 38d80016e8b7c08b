// What a daemon says until it knows who the client is, as a machine of messages without a socket:
// the other end of wire/hadoop/sasl_negotiation.h, for daemons that are not real.
//
// Source: hadoop-common ipc/Server.java (saslProcess), security/SaslRpcServer.java.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "wire/hadoop/digest_md5_server.h"
#include "wire/hadoop/sasl_mechanism.h"
#include "wire/hadoop/sasl_message.h"
#include "wire/hadoop/sasl_negotiation.h"

namespace tfyarn::hadoop {

/// Why a client is sent away, as the exception that it is told.
struct SaslRefusal {
  std::string exception;  ///< Java's name of the class.
  std::string message;
};

/// How clients without a token are known.
enum class BesidesTokens {
  kNothing,
  kSimple,    ///< They are believed who they say they are.
  kKerberos,  ///< They prove it; here no client can, as there are no tickets.
};

/// As a refusal names what there is.
[[nodiscard]] std::string AvailableMethods(BesidesTokens besides);

class SaslServer {
 public:
  /// The password of the token with this identifier, or why it opens nothing.
  using TokenPassword =
      std::function<tl::expected<std::string, SaslRefusal>(const std::string& identifier)>;
  using Reply = tl::expected<std::optional<SaslMessage>, SaslRefusal>;

  /// `nonce`: fresh for every connection. `besides`: what a client may do without a token.
  SaslServer(std::string nonce, BesidesTokens besides, TokenPassword password);

  /// What to send in answer to `message`, if anything. After a refusal the connection ends.
  [[nodiscard]] Reply OnMessage(const SaslMessage& message);

  /// Set when the negotiation is over.
  [[nodiscard]] const std::optional<AuthMethod>& result() const { return result_; }
  /// Of the token by which the client came; empty when it came without.
  [[nodiscard]] const std::string& identifier() const { return identifier_; }

 private:
  [[nodiscard]] SaslMessage Offer() const;
  [[nodiscard]] Reply Initiate(const SaslMessage& message);

  const BesidesTokens besides_;
  const TokenPassword password_;
  SaslRefusal refusal_;  ///< Of the token's password.
  DigestMd5Server digest_;
  std::string identifier_;
  std::optional<AuthMethod> result_;
};

}  // namespace tfyarn::hadoop
