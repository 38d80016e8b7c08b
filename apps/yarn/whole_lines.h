// The new lines of a file that another process appends to: what was read of it may end within a
// line, whose rest comes with the next read.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

namespace tfyarn::apps {

/// Gives `take` each whole line of `bytes`, without its line end. Returns the bytes of all of them,
/// from which the next read starts.
template <class Take>
[[nodiscard]] std::size_t ForEachWholeLine(std::string_view bytes, Take&& take) {
  std::size_t begin = 0;
  for (auto end = bytes.find('\n'); end != std::string_view::npos; end = bytes.find('\n', begin)) {
    take(bytes.substr(begin, end - begin));
    begin = end + 1;
  }
  return begin;
}

}  // namespace tfyarn::apps
