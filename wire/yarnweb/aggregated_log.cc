#include "wire/yarnweb/aggregated_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <utility>
#include <vector>

#include "wire/yarnweb/byte_source.h"

namespace tfyarn::wire {
namespace {

constexpr std::string_view kMagic{
    "\xd1\x11\xd3\x68\x91\xb5\xd7\xb6\x39\xdf\x41\x40\x92\xba\xe1\x50", 16};
constexpr std::uint64_t kTail = 8 + 4 + 16;  ///< Offset of the index, version, magic.
constexpr std::uint64_t kMostIndex = std::uint64_t{16} << 20;
constexpr std::uint64_t kMostNames = std::uint64_t{64} << 10;  ///< Of one key or file name.

std::uint64_t BigEndian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (const char c : bytes) value = value << 8 | static_cast<unsigned char>(c);
  return value;
}

/// TFile's own form of a number: the first byte is a small number, or says how many follow.
Expected<std::int64_t> ReadVLong(ByteSource& source) {
  const auto first = Exactly(source, 1);
  if (!first) return tl::unexpected(first.error());
  const auto byte = static_cast<signed char>((*first)[0]);
  if (byte >= -32) return byte;
  std::int64_t high = 0;
  std::uint64_t more = 0;
  switch ((byte + 128) / 8) {
    case 11:
    case 10:
    case 9:
    case 8:
    case 7:
      high = byte + 52;
      more = 1;
      break;
    case 6:
    case 5:
    case 4:
    case 3:
      high = byte + 88;
      more = 2;
      break;
    case 2:
    case 1:
      high = byte + 112;
      more = 3;
      break;
    default:
      more = static_cast<std::uint64_t>(byte + 129);
      if (more < 4 || more > 8) return Damaged("a number is none");
  }
  const auto rest = Exactly(source, more);
  if (!rest) return tl::unexpected(rest.error());
  std::uint64_t value = BigEndian(*rest);
  if (more >= 4) {
    // The first of these bytes has the sign.
    const int shift = static_cast<int>(64 - 8 * more);
    return static_cast<std::int64_t>(value << shift) >> shift;
  }
  value |= static_cast<std::uint64_t>(high) << (8 * more);
  return static_cast<std::int64_t>(value);
}

/// A number that says how much there is of something.
Expected<std::uint64_t> ReadCount(ByteSource& source, std::uint64_t most) {
  const auto value = ReadVLong(source);
  if (!value) return tl::unexpected(value.error());
  if (*value < 0 || static_cast<std::uint64_t>(*value) > most)
    return Damaged(fmt::format("a length of {}", *value));
  return static_cast<std::uint64_t>(*value);
}

Expected<std::string> ReadString(ByteSource& source) {
  const auto length = ReadCount(source, kMostNames);
  if (!length) return tl::unexpected(length.error());
  return Exactly(source, *length);
}

/// As Java's DataOutput.writeUTF; the names here are plain.
Expected<std::string> ReadUtf(ByteSource& source) {
  const auto length = Exactly(source, 2);
  if (!length) return tl::unexpected(length.error());
  return Exactly(source, BigEndian(*length));
}

/// The value of one record: chunks, of which the last one says that it is.
class Value : public ByteSource {
 public:
  explicit Value(ByteSource& block) : block_(block) {}

  Expected<std::string_view> Next(std::uint64_t most) override {
    if (auto ready = Begin(); !ready) return tl::unexpected(ready.error());
    if (left_ == 0) return std::string_view();
    const auto piece = block_.Next(std::min(most, left_));
    if (!piece) return tl::unexpected(piece.error());
    if (piece->empty()) return Damaged("a record ends too early");
    left_ -= piece->size();
    return *piece;
  }

  Expected<void> Skip(std::uint64_t count) override {
    while (count > 0) {
      if (auto ready = Begin(); !ready) return tl::unexpected(ready.error());
      if (left_ == 0) return Damaged("a record ends too early");
      const std::uint64_t here = std::min(count, left_);
      if (auto skipped = block_.Skip(here); !skipped) return tl::unexpected(skipped.error());
      left_ -= here;
      count -= here;
    }
    return {};
  }

  Expected<bool> AtEnd() override {
    if (auto ready = Begin(); !ready) return tl::unexpected(ready.error());
    return left_ == 0;
  }

  Expected<void> SkipRest() {
    while (true) {
      const auto end = AtEnd();
      if (!end) return tl::unexpected(end.error());
      if (*end) return {};
      if (auto skipped = Skip(left_); !skipped) return tl::unexpected(skipped.error());
    }
  }

 private:
  /// On to the next chunk that has bytes, or to the end.
  Expected<void> Begin() {
    while (left_ == 0 && !last_) {
      const auto length = ReadVLong(block_);
      if (!length) return tl::unexpected(length.error());
      last_ = *length >= 0;
      left_ = last_ ? static_cast<std::uint64_t>(*length) : 0 - static_cast<std::uint64_t>(*length);
    }
    return {};
  }

  ByteSource& block_;
  std::uint64_t left_ = 0;  ///< Of this chunk.
  bool last_ = false;
};

struct Region {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;  ///< As it stands in the file.
};

/// Where the blocks are.
class Index {
 public:
  Index(std::uint64_t size, const ReadRange& read) : size_(size), read_(read) {}

  Expected<void> Read() {
    if (size_ < kTail + kMagic.size()) return Damaged("it is too short");
    const auto tail = OpenPlain(read_, size_ - kTail, kTail);
    const auto bytes = Exactly(*tail, kTail);
    if (!bytes) return tl::unexpected(bytes.error());
    if (std::string_view(*bytes).substr(12) != kMagic) return Damaged("the magic is another one");
    const std::uint64_t from = BigEndian(std::string_view(*bytes).substr(0, 8));
    if (from > size_ - kTail || size_ - kTail - from > kMostIndex)
      return Damaged("the index is not where it should be");
    const auto names = OpenPlain(read_, from, size_ - kTail - from);
    return ReadMeta(*names);
  }

  [[nodiscard]] const std::vector<Region>& blocks() const { return blocks_; }

  [[nodiscard]] Expected<std::unique_ptr<ByteSource>> Open(const Region& region) const {
    auto plain = OpenPlain(read_, region.offset, region.size);
    if (compression_ == "none") return plain;
    if (compression_ == "gz") return Inflate(std::move(plain));
    return Fail(ErrorCode::kFailedPrecondition,
                fmt::format("it is compressed by {}, which is not read here", compression_));
  }

 private:
  Expected<Region> ReadRegion(ByteSource& source) const {
    const auto offset = ReadCount(source, size_);
    if (!offset) return tl::unexpected(offset.error());
    const auto length = ReadCount(source, size_ - *offset);
    if (!length) return tl::unexpected(length.error());
    const auto raw = ReadVLong(source);
    if (!raw) return tl::unexpected(raw.error());
    return Region{.offset = *offset, .size = *length};
  }

  Expected<void> ReadMeta(ByteSource& names) {
    const auto count = ReadCount(names, kMostNames);
    if (!count) return tl::unexpected(count.error());
    for (std::uint64_t i = 0; i < *count; ++i) {
      const auto name = ReadString(names);
      if (!name) return tl::unexpected(name.error());
      auto compression = ReadString(names);
      if (!compression) return tl::unexpected(compression.error());
      const auto region = ReadRegion(names);
      if (!region) return tl::unexpected(region.error());
      if (*name != "data:BCFile.index") continue;
      compression_ = std::move(*compression);
      return ReadBlocks(*region);
    }
    return Damaged("it has no list of blocks");
  }

  Expected<void> ReadBlocks(const Region& region) {
    if (region.size > kMostIndex) return Damaged("the list of blocks is too long");
    const auto list = Open(region);
    if (!list) return tl::unexpected(list.error());
    auto compression = ReadString(**list);
    if (!compression) return tl::unexpected(compression.error());
    const auto count = ReadCount(**list, kMostIndex);
    if (!count) return tl::unexpected(count.error());
    std::uint64_t left = size_;
    for (std::uint64_t i = 0; i < *count; ++i) {
      const auto block = ReadRegion(**list);
      if (!block) return tl::unexpected(block.error());
      // No more is read than there is.
      if (block->size > left) return Damaged("blocks overlap");
      left -= block->size;
      blocks_.push_back(*block);
    }
    compression_ = std::move(*compression);
    return {};
  }

  std::uint64_t size_;
  const ReadRange& read_;
  std::string compression_;
  std::vector<Region> blocks_;
};

Expected<void> VisitFile(Value& value, const ContainerId& container,
                         const AggregatedVisitor& visitor) {
  auto name = ReadUtf(value);
  if (!name) return tl::unexpected(name.error());
  const auto length = ReadUtf(value);
  if (!length) return tl::unexpected(length.error());
  LogFile file{.name = std::move(*name)};
  const char* end = length->data() + length->size();
  const auto [stop, failed] = std::from_chars(length->data(), end, file.size);
  if (failed != std::errc{} || stop != end) return Damaged("the length of a log is none");
  if (!visitor.wants(container, file)) return value.Skip(file.size);
  std::uint64_t offset = 0;
  return Each(value, file.size, [&](std::string_view piece) {
    visitor.bytes(offset, piece);
    offset += piece.size();
  });
}

Expected<void> VisitRecord(ByteSource& block, const AggregatedVisitor& visitor) {
  const auto key_length = ReadCount(block, kMostNames);
  if (!key_length) return tl::unexpected(key_length.error());
  const auto key = Exactly(block, *key_length);
  if (!key) return tl::unexpected(key.error());
  Value value(block);
  // VERSION, APPLICATION_OWNER and the like are no containers.
  const auto container = ParseContainerId(std::string_view(*key).substr(key->size() < 2 ? 0 : 2));
  if (!container) return value.SkipRest();
  while (true) {
    const auto end = value.AtEnd();
    if (!end) return tl::unexpected(end.error());
    if (*end) return {};
    if (auto visited = VisitFile(value, *container, visitor); !visited) return visited;
  }
}

}  // namespace

Expected<void> VisitAggregatedLog(std::uint64_t size, const ReadRange& read,
                                  const AggregatedVisitor& visitor) {
  Index index(size, read);
  if (auto found = index.Read(); !found) return found;
  for (const Region& region : index.blocks()) {
    auto block = index.Open(region);
    if (!block) return tl::unexpected(block.error());
    while (true) {
      const auto end = (*block)->AtEnd();
      if (!end) return tl::unexpected(end.error());
      if (*end) break;
      if (auto visited = VisitRecord(**block, visitor); !visited) return visited;
    }
  }
  return {};
}

}  // namespace tfyarn::wire
