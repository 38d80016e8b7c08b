// Any text as a success expression: it parses to one whose text parses to the same, or fails at a
// place inside it.
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/model/check.h"
#include "core/model/success.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto expression = tfyarn::ParseSuccess(text);
  if (!expression) {
    TF_CHECK(expression.error().offset <= text.size());
    TF_CHECK(!expression.error().message.empty());
    return 0;
  }
  const std::string canonical = tfyarn::ToString(*expression);
  const auto again = tfyarn::ParseSuccess(canonical);
  TF_CHECK(again.has_value());
  TF_CHECK(tfyarn::ToString(*again) == canonical);
  return 0;
}
