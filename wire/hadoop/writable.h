// Hadoop's own way of writing numbers and texts, older than its use of protobuf: VInt, VLong and
// Text. Source: hadoop-common io/WritableUtils.java, io/Text.java.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/model/error.h"

namespace tfyarn::hadoop {

/// One byte for -112 to 127; else a byte that says sign and length, and up to eight bytes.
void AppendVLong(std::int64_t value, std::string& out);
/// A VInt with the length, and the bytes.
void AppendBytes(std::string_view bytes, std::string& out);

/// Reads from the front. Every error is kDataLoss and says at which byte of the whole.
class WritableReader {
 public:
  explicit WritableReader(std::string_view bytes) : bytes_(bytes) {}

  [[nodiscard]] Expected<std::int64_t> VLong();
  /// Errors also when it is not between 0 and `most`.
  [[nodiscard]] Expected<std::size_t> Size(std::size_t most);
  /// At most what is left. Valid as long as the bytes that are read.
  [[nodiscard]] Expected<std::string_view> Bytes();
  [[nodiscard]] Expected<std::string_view> Take(std::size_t size);

  [[nodiscard]] std::size_t left() const { return bytes_.size() - at_; }

 private:
  [[nodiscard]] tl::unexpected<Error> Wrong(std::string_view what) const;

  std::string_view bytes_;
  std::size_t at_ = 0;
};

}  // namespace tfyarn::hadoop
