// Frames: a length of four bytes, big-endian, and that many bytes. How messages are told apart in a
// stream; what is in them is the codec's business.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/model/error.h"

namespace tfyarn::wire {

inline constexpr std::size_t kFrameHeader = 4;
/// Longest first frame of either end, which is read before the peer has identified itself.
inline constexpr std::size_t kMaxHelloFrame = 1024;
/// Longest later frame of an agent.
inline constexpr std::size_t kMaxAgentFrame = std::size_t{256} * 1024;
/// Longest later frame of the AM; a spec of 100,000 tasks has 1 to 2 MiB.
inline constexpr std::size_t kMaxAmFrame = std::size_t{16} * 1024 * 1024;

/// Appends `payload` as a frame. It has 1 to 2^32 - 1 bytes.
void AppendFrame(std::string_view payload, std::string& out);

/// Cuts a stream into frames. Memory: what came of a frame that is not whole yet, and no more.
class FrameReader {
 public:
  /// `limit`: longest payload, in bytes.
  explicit FrameReader(std::size_t limit) : limit_(limit) {}

  /// Takes effect with the next frame.
  void set_limit(std::size_t limit) { limit_ = limit; }

  /// Adds the next bytes of the stream. They must stay where they are until Next() has said that
  /// there is no further frame, and only then may more be fed.
  void Feed(std::string_view bytes);

  /// The next whole payload, valid until the next call; nullopt when more bytes are needed.
  /// Errors: kInvalidArgument for a length of 0 or beyond the limit, before any memory is taken for
  /// it. The stream is of no use then: every later call gives the error again.
  [[nodiscard]] Expected<std::optional<std::string_view>> Next();

  /// Bytes kept of a frame that is not whole yet.
  [[nodiscard]] std::size_t kept() const { return kept_.size(); }

 private:
  [[nodiscard]] Expected<std::size_t> PayloadSize(std::string_view header) const;
  void MoveIntoKept(std::size_t wanted);

  std::size_t limit_;
  std::string_view fed_;
  std::string kept_;           ///< Begin of a frame whose rest is still to come.
  bool kept_is_read_ = false;  ///< `kept_` was given out as a frame.
};

}  // namespace tfyarn::wire
