// Choices read from bytes: libFuzzer's, a corpus file's, or those of a seed. What is missing reads
// as zero, so that every input is a whole sequence and a shorter one is a simpler one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <utility>

namespace tfyarn::lockstep {

class Draws {
 public:
  explicit Draws(std::string_view bytes) : bytes_(bytes) {}

  [[nodiscard]] bool done() const { return at_ >= bytes_.size(); }
  /// From 0 to below `bound`, which is at least 1 and at most 256.
  std::size_t Below(std::size_t bound) { return Next() % bound; }
  bool OneIn(std::size_t bound) { return Below(bound) == bound - 1; }
  /// One of the elements of a container that is not empty.
  template <class Container>
  auto& Of(Container& from) {
    return from[Below(from.size())];
  }

 private:
  std::size_t Next() {
    return done() ? 0 : static_cast<std::size_t>(static_cast<unsigned char>(bytes_[at_++]));
  }
  std::string_view bytes_;
  std::size_t at_ = 0;
};

/// The bytes of a seed; the same everywhere.
inline std::string BytesOf(std::uint64_t seed, std::size_t length) {
  std::mt19937_64 engine(seed);
  std::string bytes;
  while (bytes.size() < length) bytes += static_cast<char>(engine() & 0xff);
  return bytes;
}

}  // namespace tfyarn::lockstep
