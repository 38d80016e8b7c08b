#include "wire/tls_context.h"

#include "core/model/check.h"

namespace tfyarn::wire {
namespace {

/// Longest chain of certificates that is read of a peer, in bytes; ours have about 600.
constexpr long kMaxCertificates = 8192;

void UseIdentity(SSL_CTX& context, const Identity& identity) {
  const CertificatePtr certificate = ReadCertificate(identity.certificate_pem);
  const CertificatePtr authority = ReadCertificate(identity.authority_pem);
  const KeyPtr key = ReadKey(identity.key_pem);
  TF_CHECK(certificate != nullptr);
  TF_CHECK(authority != nullptr);
  TF_CHECK(key != nullptr);
  TF_CHECK(SSL_CTX_use_certificate(&context, certificate.get()) == 1);
  TF_CHECK(SSL_CTX_use_PrivateKey(&context, key.get()) == 1);
  TF_CHECK(X509_STORE_add_cert(SSL_CTX_get_cert_store(&context), authority.get()) == 1);
}

}  // namespace

ContextPtr MakeTlsContext(ChannelSide side, const Identity& identity) {
  ContextPtr context(
      SSL_CTX_new(side == ChannelSide::kAm ? TLS_server_method() : TLS_client_method()));
  TF_CHECK(context != nullptr);
  TF_CHECK(SSL_CTX_set_min_proto_version(context.get(), TLS1_3_VERSION) == 1);
  TF_CHECK(SSL_CTX_set_max_proto_version(context.get(), TLS1_3_VERSION) == 1);
  // The fastest with hardware first; the others are for machines without it.
  TF_CHECK(SSL_CTX_set_ciphersuites(context.get(),
                                    "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256:"
                                    "TLS_AES_256_GCM_SHA384") == 1);
  TF_CHECK(SSL_CTX_set1_groups_list(context.get(), "X25519:P-256") == 1);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
  TF_CHECK(SSL_CTX_set_num_tickets(context.get(), 0) == 1);
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  // Buffers are given back while a connection is silent: 34 KiB of each agent's.
  SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE |
                                      SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                      SSL_MODE_RELEASE_BUFFERS);
  // One system call for header and body of a record.
  SSL_CTX_set_read_ahead(context.get(), 1);
  SSL_CTX_set_max_cert_list(context.get(), kMaxCertificates);
  // No certificate stands between the authority and a peer. What a peer may use its certificate
  // for (extended key usage) OpenSSL checks by itself.
  SSL_CTX_set_verify_depth(context.get(), 0);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  UseIdentity(*context, identity);
  return context;
}

}  // namespace tfyarn::wire
