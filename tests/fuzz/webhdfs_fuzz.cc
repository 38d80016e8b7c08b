// Any bytes as an answer of WebHDFS, and as the address of a DataNode: a value, or an error that
// can be shown.
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/model/check.h"
#include "wire/http/http_url.h"
#include "wire/webhdfs/webhdfs_answers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tfyarn::wire;
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (const auto file = ParseFileStatus(text, "/a")) TF_CHECK(file->status.path == "/a");
  if (const auto files = ParseFileStatuses(text, "/a")) {
    for (const WebHdfsFile& file : *files) TF_CHECK(file.status.path.starts_with("/a"));
  }
  (void)ParseBoolean(text);
  (void)ParseAttributes(text);
  TF_CHECK(!WebHdfsFailureOf(403, text).error.message.empty());
  if (const auto url = ParseHttpUrl(text)) {
    TF_CHECK(!url->server.host.empty() && url->target.starts_with('/'));
    // What goes into a request is one line.
    TF_CHECK((ToString(url->server) + url->target).find_first_of("\r\n ") == std::string::npos);
  }
  const std::string encoded = EncodePath(text);
  TF_CHECK(encoded.find_first_of("\r\n ?#&") == std::string::npos);
  return 0;
}
