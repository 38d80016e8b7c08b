#include "wire/hadoop/delimited.h"

#include <cstddef>
#include <cstdint>

namespace tfyarn::hadoop {

void AppendDelimited(std::string_view message, std::string& out) {
  auto size = message.size();
  for (; size >= 0x80; size >>= 7) out += static_cast<char>(size | 0x80);
  out += static_cast<char>(size);
  out += message;
}

std::optional<std::string_view> TakeDelimited(std::string_view& bytes) {
  std::uint64_t size = 0;
  std::size_t at = 0;
  for (int shift = 0;; shift += 7, ++at) {
    if (at == bytes.size() || shift > 28) return std::nullopt;
    const auto byte = static_cast<unsigned char>(bytes[at]);
    size |= std::uint64_t{byte & 0x7fU} << shift;
    if ((byte & 0x80) == 0) break;
  }
  bytes.remove_prefix(at + 1);
  if (size > bytes.size()) return std::nullopt;
  const std::string_view message = bytes.substr(0, size);
  bytes.remove_prefix(size);
  return message;
}

}  // namespace tfyarn::hadoop
