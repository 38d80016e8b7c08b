// Any bytes as a published trace, plain and as an .xz file: rows in order of time, or an error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "config/traces.h"
#include "core/model/check.h"

namespace tfyarn::fuzz {

/// `read(path, open)`: a trace's reader; `time_of` a row of it: what rows are in order of.
template <class Read, class TimeOf>
void CheckRows(const std::uint8_t* data, std::size_t size, Read read, TimeOf time_of) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const config::OpenFile open = [&](const std::string& /*path*/) {
    return Expected<std::unique_ptr<config::ByteSource>>(config::OpenBytes(bytes));
  };
  for (const char* path : {"t.csv", "t.csv.xz"}) {
    const auto rows = read(path, open);
    if (!rows) {
      TF_CHECK(!rows.error().message.empty());
      continue;
    }
    TF_CHECK(!rows->empty());
    for (std::size_t i = 1; i < rows->size(); ++i)
      TF_CHECK(time_of((*rows)[i - 1]) <= time_of((*rows)[i]));
  }
}

}  // namespace tfyarn::fuzz
