// Any bytes as a trace of Philly's jobs (trace_rows.h).
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/trace_rows.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tfyarn::fuzz::CheckRows(
      data, size,
      [](const char* path, const auto& open) { return tfyarn::config::ReadPhilly(path, 0, open); },
      [](const auto& row) { return row.submit; });
  return 0;
}
