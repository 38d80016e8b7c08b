// Any bytes as what a client staged for its AM. What is read at all is written again unchanged.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/model/check.h"
#include "hosts/runtime/staging.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tfyarn::hosts;
  const auto facts = StagedFactsFrom({reinterpret_cast<const char*>(data), size});
  if (!facts) {
    TF_CHECK(facts.error().code == tfyarn::ErrorCode::kDataLoss);
    return 0;
  }
  const std::string first = ToBytes(*facts);
  const auto again = StagedFactsFrom(first);
  TF_CHECK(again && ToBytes(*again) == first);
  return 0;
}
