// Writes what a NodeManager writes at an application's end, for tests of its reader.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tfyarn::wire {

struct AggregatedRecord {
  std::string key;                                         ///< A container, or VERSION.
  std::vector<std::pair<std::string, std::string>> files;  ///< Name and content.
  std::string other;                                       ///< The value of what is no container.
};

/// `chunk`: bytes of a value that stand together.
[[nodiscard]] std::string WriteAggregatedLog(const std::vector<AggregatedRecord>& records,
                                             bool deflated, std::size_t chunk);

}  // namespace tfyarn::wire
