#include "wire/identity.h"

#include <fmt/format.h>
#include <openssl/pem.h>
#include <openssl/rand.h>

#include <array>
#include <ctime>
#include <utility>
#include <vector>

#include "core/model/check.h"
#include "wire/openssl_handles.h"

namespace tfyarn::wire {
namespace {

constexpr int kSerialBytes = 16;
constexpr std::string_view kCertificateBegin = "-----BEGIN CERTIFICATE-----";

tl::unexpected<Error> OpensslFailed(std::string_view what) {
  return Fail(ErrorCode::kInternal, fmt::format("OpenSSL: {}: {}", what, TakeOpensslError()));
}

std::string PemOf(X509& certificate) {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  TF_CHECK(bio != nullptr && PEM_write_bio_X509(bio.get(), &certificate) == 1);
  return TextOf(*bio);
}

std::string PemOf(EVP_PKEY& key) {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  TF_CHECK(bio != nullptr);
  TF_CHECK(PEM_write_bio_PrivateKey(bio.get(), &key, nullptr, nullptr, 0, nullptr, nullptr) == 1);
  return TextOf(*bio);
}

bool SetRandomSerial(X509& certificate) {
  std::array<unsigned char, kSerialBytes> bytes{};
  if (RAND_bytes(bytes.data(), kSerialBytes) != 1) return false;
  bytes[0] = static_cast<unsigned char>((bytes[0] & 0x7f) | 0x40);  // Positive, never short.
  BIGNUM* number = BN_bin2bn(bytes.data(), kSerialBytes, nullptr);
  const bool done = number != nullptr &&
                    BN_to_ASN1_INTEGER(number, X509_get_serialNumber(&certificate)) != nullptr;
  BN_free(number);
  return done;
}

bool AddExtension(X509& certificate, X509& issuer, int nid, const std::string& value) {
  X509V3_CTX context{};
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, &issuer, &certificate, nullptr, nullptr, 0);
  const ExtensionPtr extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str()));
  return extension != nullptr && X509_add_ext(&certificate, extension.get(), -1) == 1;
}

bool AddName(X509_NAME* name, const char* field, const std::string& value) {
  return X509_NAME_add_entry_by_txt(name, field, MBSTRING_ASC,
                                    reinterpret_cast<const unsigned char*>(value.c_str()), -1, -1,
                                    0) == 1;
}

/// Serial, key and subject: organisation = the application, common name = the role.
bool Begin(X509& certificate, EVP_PKEY& key, const std::string& application,
           const std::string& role) {
  X509_NAME* subject = X509_get_subject_name(&certificate);
  return X509_set_version(&certificate, X509_VERSION_3) == 1 && SetRandomSerial(certificate) &&
         AddName(subject, "O", application) && AddName(subject, "CN", role) &&
         X509_set_pubkey(&certificate, &key) == 1;
}

std::string AuthorityUri(const ApplicationId& application) {
  return fmt::format("tfyarn://{}", ToString(application));
}

bool SignAuthority(X509& certificate, EVP_PKEY& key, const ApplicationId& application, WallTime now,
                   std::chrono::seconds validity) {
  const auto begin = std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()) - kClockSkew;
  std::time_t from = std::chrono::seconds(begin).count();
  std::time_t until = (begin + kClockSkew + validity).count();
  return Begin(certificate, key, ToString(application), "authority") &&
         ASN1_TIME_set(X509_getm_notBefore(&certificate), from) != nullptr &&
         ASN1_TIME_set(X509_getm_notAfter(&certificate), until) != nullptr &&
         X509_set_issuer_name(&certificate, X509_get_subject_name(&certificate)) == 1 &&
         AddExtension(certificate, certificate, NID_basic_constraints,
                      "critical,CA:TRUE,pathlen:0") &&
         AddExtension(certificate, certificate, NID_key_usage, "critical,keyCertSign") &&
         AddExtension(certificate, certificate, NID_subject_key_identifier, "hash") &&
         AddExtension(certificate, certificate, NID_subject_alt_name,
                      "URI:" + AuthorityUri(application)) &&
         X509_sign(&certificate, &key, EVP_sha256()) != 0;
}

bool SignLeaf(X509& certificate, EVP_PKEY& key, X509& authority, EVP_PKEY& authority_key,
              const std::string& uri, const char* usage) {
  return X509_set1_notBefore(&certificate, X509_get0_notBefore(&authority)) == 1 &&
         X509_set1_notAfter(&certificate, X509_get0_notAfter(&authority)) == 1 &&
         X509_set_issuer_name(&certificate, X509_get_subject_name(&authority)) == 1 &&
         AddExtension(certificate, authority, NID_basic_constraints, "critical,CA:FALSE") &&
         AddExtension(certificate, authority, NID_key_usage, "critical,digitalSignature") &&
         AddExtension(certificate, authority, NID_ext_key_usage, usage) &&
         AddExtension(certificate, authority, NID_authority_key_identifier, "keyid") &&
         AddExtension(certificate, authority, NID_subject_alt_name, "URI:" + uri) &&
         EVP_PKEY_eq(&key, X509_get0_pubkey(&certificate)) == 1 &&
         X509_sign(&certificate, &authority_key, EVP_sha256()) != 0;
}

/// The PEM blocks of `pem` one by one, each from its BEGIN line to the next.
std::vector<std::string_view> BlocksOf(std::string_view pem) {
  constexpr std::string_view kBegin = "-----BEGIN ";
  std::vector<std::string_view> blocks;
  for (auto at = pem.find(kBegin); at != pem.npos;) {
    const auto next = pem.find(kBegin, at + kBegin.size());
    blocks.push_back(pem.substr(at, next == pem.npos ? pem.npos : next - at));
    at = next;
  }
  return blocks;
}

tl::unexpected<Error> BadPem(std::string_view what) {
  return Fail(ErrorCode::kInvalidArgument, std::string(what));
}

}  // namespace

void KeyDeleter::operator()(EVP_PKEY* key) const {
  EVP_PKEY_free(key);
}
void CertificateDeleter::operator()(X509* certificate) const {
  X509_free(certificate);
}

std::string ToPem(const Identity& identity) {
  return identity.certificate_pem + identity.authority_pem + identity.key_pem;
}

Expected<Identity> IdentityFromPem(std::string_view pem) {
  Identity identity;
  for (const std::string_view block : BlocksOf(pem)) {
    std::string& part = !block.starts_with(kCertificateBegin) ? identity.key_pem
                        : identity.certificate_pem.empty()    ? identity.certificate_pem
                                                              : identity.authority_pem;
    if (!part.empty()) return BadPem("identity: more than two certificates and one key");
    part = block;
  }
  const CertificatePtr certificate = ReadCertificate(identity.certificate_pem);
  if (certificate == nullptr) return BadPem("identity: no certificate that can be read");
  if (ReadCertificate(identity.authority_pem) == nullptr)
    return BadPem("identity: no certificate of an authority that can be read");
  const KeyPtr key = ReadKey(identity.key_pem);
  if (key == nullptr) return BadPem("identity: no key that can be read");
  if (X509_check_private_key(certificate.get(), key.get()) != 1) {
    ERR_clear_error();
    return BadPem("identity: the key is not that of the certificate");
  }
  return identity;
}

std::string AmUri(const ApplicationId& application, std::int32_t am_attempt) {
  return fmt::format("tfyarn://{}/am/{}", ToString(application), am_attempt);
}

std::string AgentUri(const ContainerId& container) {
  return fmt::format("tfyarn://{}/agent/{}", ToString(container.application_attempt.application),
                     ToString(container));
}

Expected<CertificateAuthority> CertificateAuthority::Make(const ApplicationId& application,
                                                          WallTime now,
                                                          std::chrono::seconds validity) {
  Key key(EVP_EC_gen("P-256"));
  if (key == nullptr) return OpensslFailed("cannot make a key");
  Certificate certificate(X509_new());
  if (certificate == nullptr || !SignAuthority(*certificate, *key, application, now, validity))
    return OpensslFailed("cannot make the application's certificate authority");
  return CertificateAuthority(application, std::move(key), std::move(certificate));
}

std::string CertificateAuthority::ToPem() const {
  return PemOf(*certificate_) + PemOf(*key_);
}

Expected<CertificateAuthority> CertificateAuthority::FromPem(const ApplicationId& application,
                                                             std::string_view pem) {
  CertificatePtr certificate = ReadCertificate(pem);
  KeyPtr key = ReadKey(pem);
  if (certificate == nullptr || key == nullptr)
    return BadPem("certificate authority: certificate or key cannot be read");
  if (X509_check_private_key(certificate.get(), key.get()) != 1) {
    ERR_clear_error();
    return BadPem("certificate authority: the key is not that of the certificate");
  }
  const std::string uri = UriOf(*certificate);
  if (uri != AuthorityUri(application)) {
    return BadPem(
        fmt::format("certificate authority: is of '{}', not of {}", uri, ToString(application)));
  }
  return CertificateAuthority(application, Key(key.release()), Certificate(certificate.release()));
}

Expected<Identity> CertificateAuthority::Issue(const std::string& role, const std::string& uri,
                                               const char* usage) const {
  const KeyPtr key(EVP_EC_gen("P-256"));
  if (key == nullptr) return OpensslFailed("cannot make a key");
  const CertificatePtr leaf(X509_new());
  if (leaf == nullptr || !Begin(*leaf, *key, ToString(application_), role) ||
      !SignLeaf(*leaf, *key, *certificate_, *key_, uri, usage))
    return OpensslFailed("cannot issue a certificate to " + uri);
  return Identity{.certificate_pem = PemOf(*leaf),
                  .key_pem = PemOf(*key),
                  .authority_pem = PemOf(*certificate_)};
}

Expected<Identity> CertificateAuthority::IssueAm(std::int32_t am_attempt) const {
  return Issue("am", AmUri(application_, am_attempt), "serverAuth");
}

Expected<Identity> CertificateAuthority::IssueAgent(const ContainerId& container) const {
  if (container.application_attempt.application != application_) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("{} is not of {}", ToString(container), ToString(application_)));
  }
  return Issue("agent", AgentUri(container), "clientAuth");
}

}  // namespace tfyarn::wire
