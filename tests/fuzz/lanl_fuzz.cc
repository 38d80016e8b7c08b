// Any bytes as a trace of LANL's failures (trace_rows.h).
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/trace_rows.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tfyarn::fuzz::CheckRows(
      data, size,
      [](const char* path, const auto& open) { return tfyarn::config::ReadLanl(path, 2, open); },
      [](const auto& row) { return row.start; });
  return 0;
}
