#include "wire/openssl_handles.h"

#include <openssl/pem.h>

#include <array>
#include <climits>

#include "core/model/check.h"

namespace tfyarn::wire {
namespace {

/// Keys here have no pass phrase; without this OpenSSL would ask the terminal for one.
int NoPassPhrase(char*, int, int, void*) {
  return 0;
}

}  // namespace

std::string TakeOpensslError() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  if (code == 0) return "no reason given";
  if (const char* reason = ERR_reason_error_string(code); reason != nullptr) return reason;
  std::array<char, 256> text{};
  ERR_error_string_n(code, text.data(), text.size());
  return text.data();
}

BioPtr ReaderOf(std::string_view text) {
  TF_CHECK(text.size() <= INT_MAX);
  return BioPtr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

std::string TextOf(BIO& memory) {
  char* begin = nullptr;
  const long size = BIO_get_mem_data(&memory, &begin);
  return size > 0 ? std::string(begin, static_cast<std::size_t>(size)) : std::string();
}

CertificatePtr ReadCertificate(std::string_view pem) {
  const BioPtr bio = ReaderOf(pem);
  CertificatePtr certificate(PEM_read_bio_X509(bio.get(), nullptr, NoPassPhrase, nullptr));
  ERR_clear_error();
  return certificate;
}

KeyPtr ReadKey(std::string_view pem) {
  const BioPtr bio = ReaderOf(pem);
  KeyPtr key(PEM_read_bio_PrivateKey(bio.get(), nullptr, NoPassPhrase, nullptr));
  ERR_clear_error();
  return key;
}

std::string UriOf(const X509& certificate) {
  const NamesPtr names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(&certificate, NID_subject_alt_name, nullptr, nullptr)));
  ERR_clear_error();
  if (names == nullptr || sk_GENERAL_NAME_num(names.get()) != 1) return {};
  int type = 0;
  const void* value = GENERAL_NAME_get0_value(sk_GENERAL_NAME_value(names.get(), 0), &type);
  if (type != GEN_URI) return {};
  const auto* text = static_cast<const ASN1_IA5STRING*>(value);
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
          static_cast<std::size_t>(ASN1_STRING_length(text))};
}

}  // namespace tfyarn::wire
