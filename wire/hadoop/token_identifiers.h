// What is inside YARN's tokens, and how a daemon that issues them signs them: for daemons that are
// not real. A client neither reads nor makes a token.
//
// Source: hadoop-yarn yarn_security_token.proto, security/token/SecretManager.java.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/model/error.h"
#include "core/model/ids.h"
#include "core/model/resource.h"
#include "wire/hadoop/token.h"

namespace tfyarn::hadoop {

/// Says which attempt an AM is, to the ResourceManager.
struct AmRmTokenIdentifier {
  ApplicationAttemptId attempt;
  std::int32_t key_id = -1;
  friend bool operator==(const AmRmTokenIdentifier&, const AmRmTokenIdentifier&) = default;
};

/// Says which attempt an AM is, to one NodeManager.
struct NmTokenIdentifier {
  ApplicationAttemptId attempt;
  NodeId node;
  std::string user;
  std::int32_t key_id = -1;
  friend bool operator==(const NmTokenIdentifier&, const NmTokenIdentifier&) = default;
};

/// What the ResourceManager tells a NodeManager of a container, by way of the AM.
struct ContainerTokenIdentifier {
  ContainerId container;
  NodeId node;
  std::string user;
  Resource resource;
  std::int64_t expires_ms = 0;  ///< Since 1970.
  std::int32_t key_id = -1;
  std::int64_t rm_identifier = 0;
  std::int32_t priority = 0;
};

/// Bytes are the same for the same identifier: they are signed.
[[nodiscard]] std::string Encode(const AmRmTokenIdentifier& identifier);
[[nodiscard]] std::string Encode(const NmTokenIdentifier& identifier);
[[nodiscard]] std::string Encode(const ContainerTokenIdentifier& identifier);
/// Errors: kInvalidArgument.
[[nodiscard]] Expected<AmRmTokenIdentifier> DecodeAmRmTokenIdentifier(std::string_view bytes);
[[nodiscard]] Expected<NmTokenIdentifier> DecodeNmTokenIdentifier(std::string_view bytes);

/// The password of the token with that identifier: HMAC-SHA1 under a master key, 20 bytes.
[[nodiscard]] std::string SignIdentifier(std::string_view master_key, std::string_view identifier);

}  // namespace tfyarn::hadoop
