// Any bytes as a job.yaml, and any bytes as a --set: loading ends with a job or with errors that
// can be shown.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "config/load.h"
#include "core/model/check.h"

namespace {

tfyarn::Expected<std::unique_ptr<tfyarn::config::ByteSource>> NoFile(const std::string& /*path*/) {
  return tfyarn::Fail(tfyarn::ErrorCode::kNotFound, "No such file or directory");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  tfyarn::config::LoadOptions options{.open = NoFile};
  // What follows a zero byte is a --set.
  const std::size_t zero = std::min(text.find('\0'), text.size());
  if (zero < text.size()) options.sets.push_back(text.substr(zero + 1));
  text.resize(zero);
  const auto job = tfyarn::config::LoadJobText(text, "s", options);
  if (!job) TF_CHECK(!tfyarn::config::Render(job.error()).empty());
  return 0;
}
