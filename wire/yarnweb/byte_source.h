// A part of a file as a row of bytes, read in pieces as they are needed, plain or inflated.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/model/error.h"

namespace tfyarn::wire {

/// `length` bytes from `offset` of the file; fewer only at its end.
using ReadRange = std::function<Expected<std::string>(std::uint64_t offset, std::uint64_t length)>;

/// The error of bytes that are not what they should be.
[[nodiscard]] tl::unexpected<Error> Damaged(std::string_view what);

/// Bytes one after the other, wherever they come from.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Some of the next bytes, at most `most`, which stay until the next call; "" = the end.
  [[nodiscard]] virtual Expected<std::string_view> Next(std::uint64_t most) = 0;
  [[nodiscard]] virtual Expected<void> Skip(std::uint64_t count) = 0;
  [[nodiscard]] virtual Expected<bool> AtEnd() = 0;
};

/// Calls `use` with exactly `count` bytes, in pieces.
template <class Use>
Expected<void> Each(ByteSource& source, std::uint64_t count, Use&& use) {
  while (count > 0) {
    const auto piece = source.Next(count);
    if (!piece) return tl::unexpected(piece.error());
    if (piece->empty()) return Damaged("it ends too early");
    use(*piece);
    count -= piece->size();
  }
  return {};
}

[[nodiscard]] Expected<std::string> Exactly(ByteSource& source, std::uint64_t count);

/// `length` bytes from `offset`, as they stand there. `read` must outlive it.
[[nodiscard]] std::unique_ptr<ByteSource> OpenPlain(const ReadRange& read, std::uint64_t offset,
                                                    std::uint64_t length);
/// What zlib has deflated.
[[nodiscard]] std::unique_ptr<ByteSource> Inflate(std::unique_ptr<ByteSource> from);

}  // namespace tfyarn::wire
