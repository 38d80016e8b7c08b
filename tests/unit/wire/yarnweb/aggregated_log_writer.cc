#include "tests/unit/wire/yarnweb/aggregated_log_writer.h"

#include <zlib.h>

#include <cstdint>
#include <string_view>

namespace tfyarn::wire {
namespace {

const std::string kMagic("\xd1\x11\xd3\x68\x91\xb5\xd7\xb6\x39\xdf\x41\x40\x92\xba\xe1\x50", 16);

std::string BigEndian(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i) text += static_cast<char>(value >> (8 * i) & 0xff);
  return text;
}

/// Source: Utils.writeVLong.
std::string VLong(std::int64_t n) {
  const auto bits = static_cast<std::uint64_t>(n);
  if (n >= -32 && n <= 127) return BigEndian(bits, 1);
  const auto with = [&](int shift, std::int64_t base) {
    return BigEndian(static_cast<std::uint64_t>((n >> shift) - base), 1) +
           BigEndian(bits, shift / 8);
  };
  const std::int64_t un = n < 0 ? -n - 1 : n;
  if (un < 20 << 8) return with(8, 52);
  if (un < 16 << 16) return with(16, 88);
  if (un < 8 << 24) return with(24, 112);
  return BigEndian(static_cast<std::uint64_t>(4 - 129), 1) + BigEndian(bits, 4);
}

std::string String(const std::string& text) {
  return VLong(static_cast<std::int64_t>(text.size())) + text;
}

std::string Utf(const std::string& text) {
  return BigEndian(text.size(), 2) + text;
}

std::string Pack(const std::string& raw, bool deflated) {
  if (!deflated) return raw;
  uLongf size = ::compressBound(raw.size());
  std::string packed(size, '\0');
  ::compress(reinterpret_cast<Bytef*>(packed.data()), &size,
             reinterpret_cast<const Bytef*>(raw.data()), raw.size());
  packed.resize(size);
  return packed;
}

std::string Record(const AggregatedRecord& record, std::size_t chunk) {
  std::string value = record.other;
  for (const auto& [name, content] : record.files)
    value += Utf(name) + Utf(std::to_string(content.size())) + content;
  std::string text = String(Utf(record.key));
  while (value.size() > chunk) {
    text += VLong(-static_cast<std::int64_t>(chunk)) + value.substr(0, chunk);
    value.erase(0, chunk);
  }
  return text + String(value);
}

}  // namespace

std::string WriteAggregatedLog(const std::vector<AggregatedRecord>& records, bool deflated,
                               std::size_t chunk) {
  const std::string compression = String(deflated ? "gz" : "none");
  std::string file = kMagic;
  std::string blocks;
  const auto add = [&](const std::string& raw) {
    const std::string packed = Pack(raw, deflated);
    const std::string region = VLong(static_cast<std::int64_t>(file.size())) +
                               VLong(static_cast<std::int64_t>(packed.size())) +
                               VLong(static_cast<std::int64_t>(raw.size()));
    file += packed;
    return region;
  };
  for (const AggregatedRecord& record : records) blocks += add(Record(record, chunk));
  const std::string index =
      add(compression + VLong(static_cast<std::int64_t>(records.size())) + blocks);
  const std::uint64_t at = file.size();
  file += VLong(1) + String("data:BCFile.index") + compression + index;
  return file + BigEndian(at, 8) + BigEndian(1, 2) + BigEndian(0, 2) + kMagic;
}

}  // namespace tfyarn::wire
