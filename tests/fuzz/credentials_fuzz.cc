// Any bytes as credentials, as a token in an address, or as what a client says in DIGEST-MD5: the
// first byte tells which. Reading never crashes, and what was read is written and read again
// unchanged.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/model/check.h"
#include "tests/fuzz/one_of.h"
#include "wire/hadoop/credentials.h"
#include "wire/hadoop/digest_md5_server.h"

namespace {

namespace hadoop = tfyarn::hadoop;

void CheckCredentials(std::string_view bytes) {
  const auto credentials = hadoop::DecodeCredentials(bytes);
  if (!credentials) return;
  TF_CHECK(hadoop::DecodeCredentials(hadoop::EncodeCredentials(*credentials)) == *credentials);
}

void CheckUrlString(std::string_view text) {
  const auto token = hadoop::DecodeTokenUrlString(text);
  if (!token) return;
  TF_CHECK(hadoop::DecodeTokenUrlString(hadoop::EncodeTokenUrlString(*token)) == *token);
}

void CheckDirectives(std::string_view bytes) {
  (void)hadoop::ParseDigestDirectives(bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return tfyarn::fuzz::OneOf(data, size, {CheckCredentials, CheckUrlString, CheckDirectives});
}
