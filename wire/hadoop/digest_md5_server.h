// The server's end of DIGEST-MD5, for daemons that are not real: what a NameNode, ResourceManager
// or NodeManager does when a client shows a token. Source: RFC 2831; JDK DigestMD5Server for texts.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "wire/hadoop/digest_md5_layer.h"
#include "wire/hadoop/sasl_mechanism.h"

namespace tfyarn::hadoop {

struct DigestMd5ServerOptions {
  std::string service;           ///< "" for RPC.
  std::string host = "default";  ///< Also the realm.
  std::string nonce;             ///< Fresh for every exchange, printable, without '"'.
  std::vector<Protection> offered = {Protection::kAuthentication};  ///< Most wanted first.
  /// For kPrivacy; those that are not there are not offered.
  std::vector<DigestCipher> ciphers = {DigestCipher::k3Des, DigestCipher::kRc4};
};

class DigestMd5Server final : public SaslMechanism {
 public:
  /// The password of a user, which is a token's identifier in Base64; nullopt when unknown.
  using Passwords = std::function<std::optional<std::string>(const std::string& username)>;

  DigestMd5Server(DigestMd5ServerOptions options, Passwords passwords);

  /// What it says first.
  [[nodiscard]] std::string Challenge() const;

  /// Takes the client's response and answers with the server's own proof.
  Expected<std::string> Step(std::string_view token) override;
  bool complete() const override { return complete_; }
  bool protects() const override { return layer_.has_value(); }
  std::size_t most_to_wrap() const override;
  Expected<std::string> Wrap(std::string_view plain) override;
  Expected<std::string> Unwrap(std::string_view wrapped) override;

  /// The user's name, once complete.
  [[nodiscard]] const std::string& username() const { return username_; }

 private:
  /// The client's response, once its proof is right.
  [[nodiscard]] Expected<DigestMd5Exchange> Read(std::string_view token) const;
  [[nodiscard]] std::optional<Protection> ProtectionNamed(std::string_view qop) const;
  [[nodiscard]] std::optional<DigestCipher> CipherNamed(std::string_view name) const;

  const DigestMd5ServerOptions options_;
  const Passwords passwords_;
  std::string username_;
  bool complete_ = false;
  std::optional<DigestMd5Layer> layer_;
};

/// "Name=value" and "name=\"quoted\"", separated by commas, as DIGEST-MD5 writes; names in lower
/// case. Errors: kInvalidArgument when it is none, or says something twice.
[[nodiscard]] Expected<std::map<std::string, std::string>> ParseDigestDirectives(
    std::string_view text);

}  // namespace tfyarn::hadoop
