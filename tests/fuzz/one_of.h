// Several readers behind one fuzz target: the first byte of an input says which of them gets the
// rest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace tfyarn::fuzz {

using Check = void (*)(std::string_view bytes);

/// What LLVMFuzzerTestOneInput returns.
inline int OneOf(const std::uint8_t* data, std::size_t size, std::initializer_list<Check> checks) {
  if (size == 0) return 0;
  const Check check = checks.begin()[data[0] % checks.size()];
  check(std::string_view(reinterpret_cast<const char*>(data) + 1, size - 1));
  return 0;
}

}  // namespace tfyarn::fuzz
