// Any bytes as credentials, as a token in an address, or as what a client says in DIGEST-MD5: the
// first byte tells which. Reading never crashes, and what was read is written and read again
// unchanged.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/model/check.h"
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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 3) {
    case 0:
      CheckCredentials(rest);
      break;
    case 1:
      CheckUrlString(rest);
      break;
    case 2:
      (void)hadoop::ParseDigestDirectives(rest);
      break;
  }
  return 0;
}
