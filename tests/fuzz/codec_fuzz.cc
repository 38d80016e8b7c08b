// Any bytes as an encoded event of the ApplicationMaster. Decoding never crashes and allocates no
// more than the bytes justify; what was decoded whole is encoded and decoded again unchanged.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/model/am.h"
#include "core/model/check.h"
#include "core/model/codec.h"
#include "core/model/job_spec.h"

namespace {

template <class T>
void Check(std::string_view bytes) {
  T value{};
  tfyarn::Decoder decoder(bytes);
  decoder.Get(value);
  if (!decoder.at_end()) return;
  std::string first;
  tfyarn::Encoder(first).Put(value);
  T again{};
  tfyarn::Decoder second(first);
  second.Get(again);
  TF_CHECK(second.at_end());
  std::string copy;
  tfyarn::Encoder(copy).Put(again);
  TF_CHECK(copy == first);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Check<tfyarn::AmEvent>(bytes);
  Check<tfyarn::JobSpec>(bytes);  // The one record that nests.
  return 0;
}
