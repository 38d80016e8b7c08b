// A file of this machine that grows. What a full disk does not take waits in memory and is written
// once there is room: in order, and nothing by halves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace tfyarn::hosts {

class GrowingFile {
 public:
  /// Bytes. Of what comes when more would wait, nothing is kept.
  static constexpr std::size_t kMostWaiting = std::size_t{4} << 20;

  GrowingFile() = default;  ///< Takes nothing.
  /// For this user alone. `if_new`: one that is there is an error; else it is emptied. See error().
  GrowingFile(const std::string& path, bool if_new);
  GrowingFile(GrowingFile&& other) noexcept;
  GrowingFile& operator=(GrowingFile&& other) noexcept;
  /// Writes what waits, if it can.
  ~GrowingFile();

  /// True: all of it is in the file, or waits.
  bool Append(std::string_view bytes);
  /// Up to `most` bytes from `offset` on, those that wait included.
  [[nodiscard]] std::string Read(std::uint64_t offset, std::size_t most) const;
  /// Of all that was taken.
  [[nodiscard]] std::uint64_t size() const { return written_ + waiting_.size(); }
  /// What kept the last bytes out of the file, or the file from being made: an errno; 0 = nothing.
  [[nodiscard]] int error() const { return error_; }
  [[nodiscard]] bool is_open() const { return file_ >= 0; }
  /// Takes nothing from now on; what waits is lost.
  void Close();

 private:
  void WriteWaiting();

  int file_ = -1;
  int error_ = 0;
  std::uint64_t written_ = 0;
  std::string waiting_;  ///< May begin within what was appended at once.
};

}  // namespace tfyarn::hosts
