// What client and server say to each other while they settle who the client is (RpcHeader.proto,
// RpcSaslProto), in our types.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tfyarn::hadoop {

enum class SaslState { kSuccess, kNegotiate, kInitiate, kChallenge, kResponse, kWrap };

/// One way to authenticate that a server offers. The server compares the entry that a client
/// chooses with its own as a whole, so whether a field is there at all matters.
struct SaslAuth {
  std::string method;     ///< "TOKEN", "KERBEROS", "SIMPLE".
  std::string mechanism;  ///< "DIGEST-MD5", "GSSAPI", "".
  std::optional<std::string> protocol;
  std::optional<std::string> server_id;
  std::optional<std::string> challenge;
  friend bool operator==(const SaslAuth&, const SaslAuth&) = default;
};

struct SaslMessage {
  SaslState state = SaslState::kNegotiate;
  std::optional<std::string> token;
  std::vector<SaslAuth> auths;
  friend bool operator==(const SaslMessage&, const SaslMessage&) = default;
};

}  // namespace tfyarn::hadoop
