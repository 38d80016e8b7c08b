// Identities on the channel between AM and agents: one certificate authority per application, made
// by its first AM, and under it one certificate for every AM attempt and every agent. A certificate
// names application, role and container, so a peer cannot speak for another. Keys are EC P-256.
//
// Host names are in no certificate: what counts is which application and container a peer is, not
// where it runs.
#pragma once

#include <openssl/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/model/error.h"
#include "core/model/ids.h"
#include "core/model/time.h"

namespace tfyarn::wire {

/// How long an application's certificates hold; longer than any job runs.
inline constexpr std::chrono::hours kCertificateValidity{24 * 400};
/// How far a node's clock may be behind the AM's.
inline constexpr std::chrono::minutes kClockSkew{5};

/// What one process needs to take part, in PEM. Made by CertificateAuthority or IdentityFromPem(),
/// which look at all three parts; a channel that is given anything else ends the process.
struct Identity {
  std::string certificate_pem;
  std::string key_pem;        ///< Secret.
  std::string authority_pem;  ///< The application's certificate authority, without its key.
};

/// The three parts as one text, for one private file.
[[nodiscard]] std::string ToPem(const Identity& identity);
/// Errors: kInvalidArgument when a part is missing or malformed, or key and certificate are no
/// pair.
[[nodiscard]] Expected<Identity> IdentityFromPem(std::string_view pem);

/// tfyarn://application_1700000000000_0007/am/2, in the AM's certificate as subject alternative
/// name.
[[nodiscard]] std::string AmUri(const ApplicationId& application, std::int32_t am_attempt);
/// tfyarn://application_1700000000000_0007/agent/container_1700000000000_0007_01_000002.
[[nodiscard]] std::string AgentUri(const ContainerId& container);

struct KeyDeleter {
  void operator()(EVP_PKEY* key) const;
};
struct CertificateDeleter {
  void operator()(X509* certificate) const;
};

/// Signs the certificates of one application.
class CertificateAuthority {
 public:
  /// A new authority, valid from kClockSkew before `now` for `validity`.
  /// Errors: kInternal when OpenSSL fails (no randomness, no memory).
  [[nodiscard]] static Expected<CertificateAuthority> Make(
      const ApplicationId& application, WallTime now,
      std::chrono::seconds validity = kCertificateValidity);

  /// Certificate and key, for a later AM attempt. Secret.
  [[nodiscard]] std::string ToPem() const;
  /// Errors: kInvalidArgument when `pem` is not what ToPem() wrote for `application`.
  [[nodiscard]] static Expected<CertificateAuthority> FromPem(const ApplicationId& application,
                                                              std::string_view pem);

  /// For the AM's attempt `am_attempt`, from 1; valid as long as the authority itself.
  /// Errors: kInternal when OpenSSL fails.
  [[nodiscard]] Expected<Identity> IssueAm(std::int32_t am_attempt) const;
  /// For the agent in `container`, which is the application's own.
  /// Errors: kInvalidArgument for a container of another application; kInternal when OpenSSL fails.
  [[nodiscard]] Expected<Identity> IssueAgent(const ContainerId& container) const;

  [[nodiscard]] const ApplicationId& application() const { return application_; }

 private:
  using Key = std::unique_ptr<EVP_PKEY, KeyDeleter>;
  using Certificate = std::unique_ptr<X509, CertificateDeleter>;

  CertificateAuthority(ApplicationId application, Key key, Certificate certificate)
      : application_(application), key_(std::move(key)), certificate_(std::move(certificate)) {}

  [[nodiscard]] Expected<Identity> Issue(const std::string& role, const std::string& uri,
                                         const char* usage) const;

  ApplicationId application_;
  Key key_;
  Certificate certificate_;
};

}  // namespace tfyarn::wire
