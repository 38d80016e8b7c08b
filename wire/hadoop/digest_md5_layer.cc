#include "wire/hadoop/digest_md5_layer.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/hmac.h>
#include <openssl/provider.h>

#include <array>

#include "core/model/check.h"

namespace tfyarn::hadoop {
namespace {

constexpr std::size_t kHash = 10;    ///< Of HMAC-MD5's 16 bytes.
constexpr std::size_t kTrailer = 6;  ///< Version and sequence number.
constexpr std::size_t kBlock = 8;    ///< Of DES.
constexpr std::string_view kVersion("\x00\x01", 2);
constexpr std::string_view kNoHash = ":00000000000000000000000000000000";

std::string Md5(std::string_view bytes) {
  std::array<unsigned char, 16> digest{};
  unsigned size = 0;
  TF_CHECK(EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_md5(), nullptr) == 1);
  return {reinterpret_cast<const char*>(digest.data()), size};
}

std::string Hex(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

std::string BigEndian(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>((value >> shift) & 0xff);
  return bytes;
}

std::string Proof(const DigestMd5Exchange& exchange, std::string_view verb) {
  std::string a2 = fmt::format("{}:{}", verb, exchange.digest_uri);
  if (exchange.protection != Protection::kAuthentication) a2 += kNoHash;
  return Hex(Md5(fmt::format("{}:{}:{}:{}:{}:{}", Hex(DigestMd5SessionKey(exchange)),
                             exchange.nonce, exchange.nonce_count, exchange.cnonce,
                             QopName(exchange.protection), Hex(Md5(a2)))));
}

std::string Hash(std::string_view key, std::uint32_t number, std::string_view message) {
  const std::string bytes = BigEndian(number).append(message);
  std::array<unsigned char, 16> digest{};
  unsigned size = 0;
  TF_CHECK(HMAC(EVP_md5(), key.data(), static_cast<int>(key.size()),
                reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data(),
                &size) != nullptr);
  return {reinterpret_cast<const char*>(digest.data()), kHash};
}

/// Seven bytes of key as the eight that DES takes, whose lowest bits it ignores.
std::string DesKey(std::string_view seven) {
  std::uint64_t bits = 0;
  for (const char byte : seven) bits = bits << 8 | static_cast<unsigned char>(byte);
  std::string key;
  for (int shift = 49; shift >= 0; shift -= 7)
    key += static_cast<char>(((bits >> shift) & 0x7f) << 1);
  return key;
}

std::string Crypt(EVP_CIPHER_CTX& cipher, std::string_view bytes) {
  std::string out(bytes.size() + kBlock, '\0');
  int size = 0;
  TF_CHECK(EVP_CipherUpdate(&cipher, reinterpret_cast<unsigned char*>(out.data()), &size,
                            reinterpret_cast<const unsigned char*>(bytes.data()),
                            static_cast<int>(bytes.size())) == 1);
  out.resize(static_cast<std::size_t>(size));
  return out;
}

/// nullptr without the legacy provider. It lives apart from the library that everything else here
/// uses, and as long as the process.
const EVP_CIPHER* Rc4() {
  static const EVP_CIPHER* const cipher = [] {
    OSSL_LIB_CTX* const context = OSSL_LIB_CTX_new();
    if (context == nullptr || OSSL_PROVIDER_load(context, "legacy") == nullptr)
      return static_cast<EVP_CIPHER*>(nullptr);
    return EVP_CIPHER_fetch(context, "RC4", nullptr);
  }();
  return cipher;
}

tl::unexpected<Error> Forged(const char* why) {
  return Fail(ErrorCode::kFailedPrecondition, fmt::format("DIGEST-MD5 cannot unwrap: {}", why));
}

}  // namespace

std::string_view QopName(Protection protection) {
  switch (protection) {
    case Protection::kAuthentication:
      return "auth";
    case Protection::kIntegrity:
      return "auth-int";
    case Protection::kPrivacy:
      return "auth-conf";
  }
  TF_CHECK(false);
}

std::string_view CipherName(DigestCipher cipher) {
  return cipher == DigestCipher::k3Des ? "3des" : "rc4";
}

bool HasCipher(DigestCipher cipher) {
  return cipher == DigestCipher::k3Des || Rc4() != nullptr;
}

std::string DigestMd5SessionKey(const DigestMd5Exchange& exchange) {
  std::string a1 =
      Md5(fmt::format("{}:{}:{}", exchange.username, exchange.realm, exchange.password));
  a1 += fmt::format(":{}:{}", exchange.nonce, exchange.cnonce);
  if (!exchange.authzid.empty()) a1 += ":" + exchange.authzid;
  return Md5(a1);
}

std::string DigestMd5Response(const DigestMd5Exchange& exchange) {
  return Proof(exchange, "AUTHENTICATE");
}

std::string DigestMd5ResponseAuth(const DigestMd5Exchange& exchange) {
  return Proof(exchange, "");
}

DigestMd5Layer::DigestMd5Layer(const DigestMd5Exchange& exchange)
    : protection_(exchange.protection), cipher_(exchange.cipher) {
  TF_CHECK(protection_ != Protection::kAuthentication);
  const std::string key = DigestMd5SessionKey(exchange);
  sign_ = Md5(key + "Digest session key to server-to-client signing key magic constant");
  verify_ = Md5(key + "Digest session key to client-to-server signing key magic constant");
  if (protection_ == Protection::kIntegrity) return;
  seal_ =
      MakeCipher(Md5(key + "Digest H(A1) to server-to-client sealing key magic constant"), true);
  unseal_ =
      MakeCipher(Md5(key + "Digest H(A1) to client-to-server sealing key magic constant"), false);
}

/// 3DES is two keys of DES, the first used twice. What it leaves behind goes on to the next
/// message.
DigestMd5Layer::Cipher DigestMd5Layer::MakeCipher(std::string_view key, bool encrypt) const {
  const bool rc4 = cipher_ == DigestCipher::kRc4;
  const std::string first = DesKey(key.substr(0, 7));
  const std::string keys = rc4 ? std::string(key) : first + DesKey(key.substr(7, 7)) + first;
  const std::string_view start = key.substr(kBlock, kBlock);
  Cipher cipher(EVP_CIPHER_CTX_new());
  TF_CHECK(cipher != nullptr);
  TF_CHECK(EVP_CipherInit_ex2(cipher.get(), rc4 ? Rc4() : EVP_des_ede3_cbc(),
                              reinterpret_cast<const unsigned char*>(keys.data()),
                              rc4 ? nullptr : reinterpret_cast<const unsigned char*>(start.data()),
                              encrypt ? 1 : 0, nullptr) == 1);
  TF_CHECK(EVP_CIPHER_CTX_set_padding(cipher.get(), 0) == 1);
  return cipher;
}

std::string DigestMd5Layer::Wrap(std::string_view plain) {
  const std::uint32_t number = next_sent_++;
  std::string out(plain);
  if (seal_ != nullptr && cipher_ == DigestCipher::k3Des) {
    const std::size_t padding = kBlock - (plain.size() + kHash) % kBlock;
    out.append(padding, static_cast<char>(padding));
  }
  out += Hash(sign_, number, plain);
  if (seal_ != nullptr) out = Crypt(*seal_, out);
  return out.append(kVersion).append(BigEndian(number));
}

Expected<std::string> DigestMd5Layer::Unwrap(std::string_view wrapped) {
  if (wrapped.size() < kHash + kTrailer) return Forged("too short");
  const std::uint32_t number = next_received_++;
  const std::string_view trailer = wrapped.substr(wrapped.size() - kTrailer);
  if (trailer.substr(0, 2) != kVersion || trailer.substr(2) != BigEndian(number))
    return Forged("out of order");
  std::string plain(wrapped.substr(0, wrapped.size() - kTrailer));
  const bool padded = unseal_ != nullptr && cipher_ == DigestCipher::k3Des;
  if (padded && plain.size() % kBlock != 0) return Forged("no whole blocks");
  if (unseal_ != nullptr) plain = Crypt(*unseal_, plain);
  const std::string hash = plain.substr(plain.size() - kHash);
  plain.resize(plain.size() - kHash);
  if (padded) {
    const auto padding = plain.empty() ? 0U : static_cast<unsigned char>(plain.back());
    if (padding < 1 || padding > kBlock || padding > plain.size()) return Forged("bad padding");
    plain.resize(plain.size() - padding);
  }
  if (CRYPTO_memcmp(hash.data(), Hash(verify_, number, plain).data(), kHash) != 0)
    return Forged("changed on its way");
  return plain;
}

}  // namespace tfyarn::hadoop
