#include "wire/hadoop/delimited.h"

#include <google/protobuf/io/coded_stream.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "core/model/check.h"

namespace tfyarn::hadoop {
namespace {

constexpr std::size_t kLongestVarint = 10;

}  // namespace

void AppendDelimited(std::string_view message, std::string& out) {
  TF_CHECK(message.size() <= INT32_MAX);
  std::array<std::uint8_t, kLongestVarint> size{};
  std::uint8_t* const end = google::protobuf::io::CodedOutputStream::WriteVarint32ToArray(
      static_cast<std::uint32_t>(message.size()), size.data());
  out.append(size.data(), end);
  out += message;
}

std::optional<std::string_view> TakeDelimited(std::string_view& bytes) {
  google::protobuf::io::CodedInputStream in(
      reinterpret_cast<const std::uint8_t*>(bytes.data()),
      static_cast<int>(std::min(bytes.size(), kLongestVarint)));
  int size = 0;
  if (!in.ReadVarintSizeAsInt(&size)) return std::nullopt;
  bytes.remove_prefix(static_cast<std::size_t>(in.CurrentPosition()));
  if (static_cast<std::size_t>(size) > bytes.size()) return std::nullopt;
  const std::string_view message = bytes.substr(0, static_cast<std::size_t>(size));
  bytes.remove_prefix(message.size());
  return message;
}

}  // namespace tfyarn::hadoop
