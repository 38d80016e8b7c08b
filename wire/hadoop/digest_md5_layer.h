// What DIGEST-MD5 computes: the proof that a client knows a password, and the layer that protects
// what is sent afterwards. Source: RFC 2831, 2.1.2.1 and 2.3 to 2.5.
//
// Integrity adds a keyed hash to every message, privacy encrypts message and hash as well: with
// 3DES, which Java's clients choose, or RC4, the only one that Cyrus SASL 2.1.28 manages on
// OpenSSL 3 ("failed to init cipher '3des'": it makes keys without the parity that is checked now).
#pragma once

#include <openssl/evp.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/model/error.h"
#include "wire/openssl_handles.h"

namespace tfyarn::hadoop {

/// Quality of protection, from least to most. Source: hadoop.rpc.protection.
enum class Protection { kAuthentication, kIntegrity, kPrivacy };
/// "auth", "auth-int", "auth-conf".
[[nodiscard]] std::string_view QopName(Protection protection);

enum class DigestCipher { k3Des, kRc4 };
/// "3des", "rc4".
[[nodiscard]] std::string_view CipherName(DigestCipher cipher);
/// RC4 is in OpenSSL's legacy provider, which need not be installed.
[[nodiscard]] bool HasCipher(DigestCipher cipher);

/// Most that we wrap at once, as Hadoop's client does.
inline constexpr std::size_t kMostToWrap = 65536;

/// What both ends know once the response is there.
struct DigestMd5Exchange {
  std::string username;
  std::string realm;
  std::string password;
  std::string nonce;
  std::string cnonce;
  std::string nonce_count;  ///< Eight hexadecimal digits.
  std::string digest_uri;
  std::string authzid;
  Protection protection = Protection::kAuthentication;
  DigestCipher cipher = DigestCipher::k3Des;  ///< Of kPrivacy.
};

/// H(A1), 16 bytes: the session's key.
[[nodiscard]] std::string DigestMd5SessionKey(const DigestMd5Exchange& exchange);
/// The client's proof, 32 hexadecimal digits.
[[nodiscard]] std::string DigestMd5Response(const DigestMd5Exchange& exchange);
/// The server's proof.
[[nodiscard]] std::string DigestMd5ResponseAuth(const DigestMd5Exchange& exchange);

/// The server's end of the layer.
class DigestMd5Layer {
 public:
  /// Of an exchange with kIntegrity or kPrivacy, and a cipher that is there.
  explicit DigestMd5Layer(const DigestMd5Exchange& exchange);

  [[nodiscard]] std::string Wrap(std::string_view plain);
  /// Errors: kFailedPrecondition when it was not wrapped by the client, or not as the next one.
  [[nodiscard]] Expected<std::string> Unwrap(std::string_view wrapped);

 private:
  using Cipher = std::unique_ptr<EVP_CIPHER_CTX, wire::FreeWith<&EVP_CIPHER_CTX_free>>;
  [[nodiscard]] Cipher MakeCipher(std::string_view key, bool encrypt) const;

  const Protection protection_;
  const DigestCipher cipher_;
  std::string sign_;    ///< Key of what we hash.
  std::string verify_;  ///< Key of what the client hashes.
  Cipher seal_;
  Cipher unseal_;
  std::uint32_t next_sent_ = 0;
  std::uint32_t next_received_ = 0;
};

}  // namespace tfyarn::hadoop
