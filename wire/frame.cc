#include "wire/frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/model/check.h"

namespace tfyarn::wire {
namespace {

/// Memory that a reader keeps for the next frame rather than giving it back.
constexpr std::size_t kWorthKeeping = 4096;

}  // namespace

void AppendFrame(std::string_view payload, std::string& out) {
  TF_CHECK(!payload.empty() && payload.size() <= std::numeric_limits<std::uint32_t>::max());
  const auto size = static_cast<std::uint32_t>(payload.size());
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>((size >> shift) & 0xff);
  out += payload;
}

void FrameReader::Feed(std::string_view bytes) {
  TF_CHECK(fed_.empty());
  fed_ = bytes;
}

Expected<std::size_t> FrameReader::PayloadSize(std::string_view header) const {
  std::size_t size = 0;
  for (std::size_t i = 0; i < kFrameHeader; ++i)
    size = size << 8 | static_cast<unsigned char>(header[i]);
  if (size == 0) return Fail(ErrorCode::kInvalidArgument, "frame of 0 bytes");
  if (size > limit_) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("frame of {} bytes; most are {}", size, limit_));
  }
  return size;
}

void FrameReader::MoveIntoKept(std::size_t wanted) {
  const std::size_t missing = wanted - std::min(wanted, kept_.size());
  const std::string_view more = fed_.substr(0, missing);
  kept_ += more;
  fed_.remove_prefix(more.size());
}

Expected<std::optional<std::string_view>> FrameReader::Next() {
  if (kept_is_read_) {
    kept_is_read_ = false;
    kept_.clear();
    if (kept_.capacity() > kWorthKeeping) std::string().swap(kept_);
  }
  if (kept_.empty() && fed_.size() >= kFrameHeader) {
    const auto size = PayloadSize(fed_);
    if (!size) return tl::unexpected(size.error());
    if (fed_.size() - kFrameHeader >= *size) {
      const std::string_view payload = fed_.substr(kFrameHeader, *size);
      fed_.remove_prefix(kFrameHeader + *size);
      return payload;
    }
  }
  MoveIntoKept(kFrameHeader);
  if (kept_.size() < kFrameHeader) return std::nullopt;
  const auto size = PayloadSize(kept_);
  if (!size) return tl::unexpected(size.error());
  MoveIntoKept(kFrameHeader + *size);
  if (kept_.size() < kFrameHeader + *size) return std::nullopt;
  kept_is_read_ = true;
  return std::string_view(kept_).substr(kFrameHeader);
}

}  // namespace tfyarn::wire
