// Bytes of a file, piece by piece, plain or xz-compressed; and lines made of them.
//
// Files are opened through a function, so that tests and embedders can give their own. Traces are
// long and are read as a stream; YAML files are read whole, up to their limit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/model/error.h"

namespace tfyarn::config {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Fills up to `size` bytes; 0 = the end. Errors: kUnavailable (reading failed), kDataLoss
  /// (damaged archive).
  [[nodiscard]] virtual Expected<std::size_t> Read(char* buffer, std::size_t size) = 0;
};

/// Errors: kNotFound when there is no such file, kInvalidArgument for a directory, kUnavailable
/// otherwise.
using OpenFile = std::function<Expected<std::unique_ptr<ByteSource>>(const std::string& path)>;

/// The file system.
[[nodiscard]] Expected<std::unique_ptr<ByteSource>> OpenRealFile(const std::string& path);
/// Bytes that are in memory already.
[[nodiscard]] std::unique_ptr<ByteSource> OpenBytes(std::string bytes);
/// The content of an .xz file.
[[nodiscard]] std::unique_ptr<ByteSource> DecompressXz(std::unique_ptr<ByteSource> compressed);

/// Everything, at most `limit` bytes. Errors: kInvalidArgument when there is more, and those of
/// Read.
[[nodiscard]] Expected<std::string> ReadAll(ByteSource& source, std::size_t limit);

/// Splits a stream into lines, without their ends (\n or \r\n).
class LineReader {
 public:
  static constexpr std::size_t kMaxLine = std::size_t{64} * 1024;

  explicit LineReader(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {}

  /// The next line, valid until the next call; nullopt at the end.
  /// Errors: those of Read, and kInvalidArgument for a line longer than kMaxLine.
  [[nodiscard]] Expected<std::optional<std::string_view>> Next();
  /// Number of the line that Next gave last, from 1.
  [[nodiscard]] std::int64_t line() const { return line_; }

 private:
  std::unique_ptr<ByteSource> source_;
  std::string buffer_;
  std::size_t begin_ = 0;  // of what is not yet given
  bool at_end_ = false;
  std::int64_t line_ = 0;
};

}  // namespace tfyarn::config
