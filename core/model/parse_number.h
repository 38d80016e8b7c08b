// Numbers in texts.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace tfyarn {

/// The whole text as a decimal number; nullopt when it is none, or too large.
template <class I>
[[nodiscard]] std::optional<I> ParseNumber(std::string_view text) {
  I value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace tfyarn
