// Any bytes as a trace of LANL's failures, plain and as an .xz file: rows in order of time, or an
// error.
#include <cstddef>
#include <cstdint>
#include <string>

#include "config/traces.h"
#include "core/model/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const tfyarn::config::OpenFile open = [&](const std::string& /*path*/) {
    return tfyarn::Expected<std::unique_ptr<tfyarn::config::ByteSource>>(
        tfyarn::config::OpenBytes(bytes));
  };
  for (const char* path : {"t.csv", "t.csv.xz"}) {
    const auto rows = tfyarn::config::ReadLanl(path, 2, open);
    if (!rows) {
      TF_CHECK(!rows.error().message.empty());
      continue;
    }
    TF_CHECK(!rows->empty());
    for (std::size_t i = 1; i < rows->size(); ++i)
      TF_CHECK((*rows)[i - 1].start <= (*rows)[i].start);
  }
  return 0;
}
