// Any bytes as every kind of quantity: a number within its bounds or an error with words, and what
// is written for a number is read as that number.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "config/quantity.h"
#include "core/model/check.h"

namespace {

using namespace tfyarn::config;

/// The value, if there is one; an error always has words.
template <class T>
const T* Value(const Quantity<T>& quantity) {
  if (quantity) return &*quantity;
  TF_CHECK(!quantity.error().problem.empty());
  return nullptr;
}

void CheckSizes(std::string_view text) {
  const auto bytes = ParseBytes(text);
  if (const std::int64_t* value = Value(bytes)) {
    TF_CHECK(*value >= 0);
    TF_CHECK(ParseBytes(BytesText(*value)) == *value);
  }
  const auto mb = ParseMemoryMb(text);
  if (const std::int64_t* value = Value(mb)) {
    TF_CHECK(*value >= 0);
    TF_CHECK(ParseMemoryMb(MemoryText(*value)) == *value);
  }
  const auto bps = ParseBandwidth(text);
  if (const std::int64_t* value = Value(bps)) {
    TF_CHECK(*value > 0);
    TF_CHECK(ParseBandwidth(BandwidthText(*value)) == *value);
  }
}

void CheckNumbers(std::string_view text) {
  const auto permille = ParsePermille(text);
  if (const std::int64_t* value = Value(permille))
    TF_CHECK(ParsePermille(PermilleText(*value)) == *value);
  const auto number = ParseNumber(text);
  if (const double* value = Value(number)) TF_CHECK(std::isfinite(*value));
  const auto rate = ParseRate(text);
  if (const double* value = Value(rate)) {
    TF_CHECK(std::isfinite(*value));
    TF_CHECK(*value > 0);
  }
  (void)Value(ParseWhole(text));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  CheckSizes(text);
  CheckNumbers(text);
  const auto duration = ParseDuration(text);
  if (const tfyarn::Duration* value = Value(duration)) {
    TF_CHECK(*value >= tfyarn::Duration::zero());
    TF_CHECK(*value <= kLongest);
  }
  const auto signal = ParseSignal(text);
  if (const std::int32_t* value = Value(signal))
    TF_CHECK(ParseSignal(SignalName(*value)) == *value);
  return 0;
}
