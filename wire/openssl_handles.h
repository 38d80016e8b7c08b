// Owners of OpenSSL's objects, and its last error as text.
#pragma once

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>
#include <string_view>

namespace tfyarn::wire {

template <auto kFree>
struct FreeWith {
  template <class T>
  void operator()(T* object) const {
    kFree(object);
  }
};

using BioPtr = std::unique_ptr<BIO, FreeWith<&BIO_free_all>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, FreeWith<&EVP_PKEY_free>>;
using CertificatePtr = std::unique_ptr<X509, FreeWith<&X509_free>>;
using ExtensionPtr = std::unique_ptr<X509_EXTENSION, FreeWith<&X509_EXTENSION_free>>;
using NamesPtr = std::unique_ptr<GENERAL_NAMES, FreeWith<&GENERAL_NAMES_free>>;
using ContextPtr = std::unique_ptr<SSL_CTX, FreeWith<&SSL_CTX_free>>;
using SessionPtr = std::unique_ptr<SSL, FreeWith<&SSL_free>>;

/// The oldest error of OpenSSL's queue as text; empties the queue.
[[nodiscard]] std::string TakeOpensslError();

/// Reads from `text`, which must outlive it.
[[nodiscard]] BioPtr ReaderOf(std::string_view text);
/// Everything written into a memory BIO.
[[nodiscard]] std::string TextOf(BIO& memory);

/// The first certificate or key in `pem`; nullptr when there is none that can be read.
[[nodiscard]] CertificatePtr ReadCertificate(std::string_view pem);
[[nodiscard]] KeyPtr ReadKey(std::string_view pem);

/// The one URI among the certificate's alternative names; empty when there is none or are several.
[[nodiscard]] std::string UriOf(const X509& certificate);

}  // namespace tfyarn::wire
