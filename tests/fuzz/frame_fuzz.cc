// Any bytes as a stream of frames. The first byte is the limit in units of four bytes, the second
// says in which pieces the rest comes. Whatever the pieces, the frames are those of the whole, and
// no more is kept than one frame.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/check.h"
#include "wire/frame.h"

namespace {

using tfyarn::wire::FrameReader;

struct Reading {
  std::vector<std::string> frames;
  bool failed = false;
};

Reading InPieces(std::string_view bytes, std::size_t piece, std::size_t limit) {
  Reading reading;
  FrameReader reader(limit);
  while (!bytes.empty() && !reading.failed) {
    const std::string fed(bytes.substr(0, piece));  // Of its own: a look beyond it is caught.
    bytes.remove_prefix(fed.size());
    reader.Feed(fed);
    while (true) {
      const auto next = reader.Next();
      reading.failed = !next;
      if (!next || !*next) break;
      TF_CHECK(!(*next)->empty() && (*next)->size() <= limit);
      reading.frames.emplace_back(**next);
    }
    TF_CHECK(reader.kept() <= tfyarn::wire::kFrameHeader + limit);
  }
  return reading;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::size_t limit = 4 * (std::size_t{data[0]} + 1);
  const std::size_t piece = std::size_t{data[1]} % 16 + 1;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const Reading whole = InPieces(bytes, std::max<std::size_t>(bytes.size(), 1), limit);
  const Reading pieces = InPieces(bytes, piece, limit);
  TF_CHECK(whole.frames == pieces.frames);
  TF_CHECK(whole.failed == pieces.failed);
  std::string copy;
  for (const std::string& frame : whole.frames) tfyarn::wire::AppendFrame(frame, copy);
  TF_CHECK(bytes.substr(0, copy.size()) == copy);
  return 0;
}
