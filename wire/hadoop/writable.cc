#include "wire/hadoop/writable.h"

#include <fmt/format.h>

namespace tfyarn::hadoop {
namespace {

constexpr std::int64_t kLeastInOneByte = -112;
constexpr std::int64_t kMostInOneByte = 127;
/// -113 to -120: positive, 1 to 8 bytes; -121 to -128: negative, 1 to 8 bytes of the complement.
constexpr int kPositive = -112;
constexpr int kNegative = -120;

}  // namespace

void AppendVLong(std::int64_t value, std::string& out) {
  if (value >= kLeastInOneByte && value <= kMostInOneByte) {
    out += static_cast<char>(value);
    return;
  }
  const bool negative = value < 0;
  const auto bits = static_cast<std::uint64_t>(negative ? ~value : value);
  int size = 1;
  while (size < 8 && bits >> (8 * size) != 0) ++size;
  out += static_cast<char>((negative ? kNegative : kPositive) - size);
  for (int i = size - 1; i >= 0; --i) out += static_cast<char>((bits >> (8 * i)) & 0xff);
}

void AppendBytes(std::string_view bytes, std::string& out) {
  AppendVLong(static_cast<std::int64_t>(bytes.size()), out);
  out += bytes;
}

tl::unexpected<Error> WritableReader::Wrong(std::string_view what) const {
  return Fail(ErrorCode::kDataLoss, fmt::format("byte {}: {}", at_, what));
}

Expected<std::string_view> WritableReader::Take(std::size_t size) {
  if (size > left()) return Wrong(fmt::format("{} bytes expected, {} are left", size, left()));
  const std::string_view taken = bytes_.substr(at_, size);
  at_ += size;
  return taken;
}

Expected<std::int64_t> WritableReader::VLong() {
  const auto first = Take(1);
  if (!first) return tl::unexpected(first.error());
  const int head = static_cast<signed char>(first->front());
  if (head >= kLeastInOneByte) return head;
  const bool negative = head < kNegative;
  const auto bytes = Take(static_cast<std::size_t>((negative ? kNegative : kPositive) - head));
  if (!bytes) return tl::unexpected(bytes.error());
  std::uint64_t bits = 0;
  for (const char byte : *bytes) bits = bits << 8 | static_cast<unsigned char>(byte);
  return static_cast<std::int64_t>(negative ? ~bits : bits);
}

Expected<std::size_t> WritableReader::Size(std::size_t most) {
  const auto value = VLong();
  if (!value) return tl::unexpected(value.error());
  if (*value < 0 || static_cast<std::uint64_t>(*value) > most)
    return Wrong(fmt::format("{} of something; 0 to {} can be", *value, most));
  return static_cast<std::size_t>(*value);
}

Expected<std::string_view> WritableReader::Bytes() {
  const auto size = Size(left());
  if (!size) return tl::unexpected(size.error());
  return Take(*size);
}

}  // namespace tfyarn::hadoop
