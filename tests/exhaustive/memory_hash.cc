#include "tests/exhaustive/memory_hash.h"

#include <xxhash.h>

#include <cstring>
#include <utility>

#include "core/model/cluster_spec.h"
#include "tests/exhaustive/arena.h"

namespace tfyarn::exhaustive {
namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);
constexpr std::size_t kDeque = 10;
constexpr std::size_t kTree = 4;  // without the colour in front of them
/// In words_: what follows is a pointer, a vector's or a string's content.
constexpr std::uint64_t kPointer = 0x9e3779b97f4a7c15ULL;
constexpr std::uint64_t kStale = 0x165667b19e3779f9ULL;
constexpr std::uint64_t kContent = 0xc2b2ae3d27d4eb4fULL;

std::uint64_t WordAt(std::uintptr_t address) {
  std::uint64_t word = 0;
  std::memcpy(&word, reinterpret_cast<const void*>(address), kWord);
  return word;
}

/// First word of the counts that std::make_shared puts in front of a cluster spec.
std::uint64_t SpecCounts() {
  const SpecRef spec = Share({});
  const auto object = reinterpret_cast<std::uintptr_t>(spec.get());
  return WordAt(object - 2 * kWord);
}

}  // namespace

void ScrubStack() {
  constexpr std::size_t kDeep = 2048;
  auto* memory = static_cast<volatile std::uint64_t*>(__builtin_alloca(kDeep));
  for (std::size_t i = 0; i < kDeep / kWord; ++i) memory[i] = 0;
}

MemoryHash::MemoryHash()
    : begin_(Arena::begin()),
      bytes_(Arena::kBytes),
      spec_counts_(SpecCounts()),
      met_(Arena::kBytes / Arena::kGrain),
      number_(Arena::kBytes / Arena::kGrain) {}

std::uint64_t MemoryHash::Of(const void* root, std::size_t bytes) {
  const Arena::Leave leave;
  ++walk_;
  pieces_.clear();
  words_.clear();
  pieces_.push_back({reinterpret_cast<std::uintptr_t>(root), bytes / kWord});
  for (std::size_t i = 0; i < pieces_.size(); ++i) Walk(Piece(pieces_[i]));
  return XXH3_64bits(words_.data(), words_.size() * kWord);
}

void MemoryHash::Walk(const Piece& piece) {
  const auto* at = reinterpret_cast<const std::uint64_t*>(piece.begin);
  std::size_t i = 0;
  if (piece.words > 2 && at[0] == spec_counts_) i = 2;
  while (i < piece.words) {
    if (!Points(at[i])) {
      words_.push_back(at[i++]);
    } else if (i > 0 && piece.words - i >= kTree && IsTree(at + i - 1)) {
      TakeTree(at + i - 1);
      i += kTree;
    } else if (const std::size_t taken = TakeContainer(at + i, piece.words - i); taken > 0) {
      i += taken;
    } else {
      TakePointer(at[i++]);
    }
  }
}

/// The words of a std::vector, std::string or std::deque that begins here; 0: none does.
std::size_t MemoryHash::TakeContainer(const std::uint64_t* at, std::size_t left) {
  constexpr std::size_t kVector = 3;
  constexpr std::size_t kString = 4;
  if (left < kVector) return 0;
  if (left >= kDeque && IsDeque(at)) {
    TakeDeque(at);
    return kDeque;
  }
  if (left >= kString && at[0] == reinterpret_cast<std::uintptr_t>(at + 2) && at[1] < 2 * kWord) {
    // A short string, in the place of its own capacity.
    std::uint64_t text[2] = {0, 0};
    std::memcpy(text, at + 2, at[1]);
    words_.insert(words_.end(), {kContent, at[1], text[0], text[1]});
    return kString;
  }
  const Arena::Block block = Arena::BlockOf(at[0]);
  if (block.free) return 0;
  const std::uintptr_t end = block.begin + block.size;
  if (at[0] != block.begin || at[1] < at[0] || at[2] < at[1] || at[2] > end || at[2] == at[0])
    return 0;
  if (at[0] == at[1]) {
    words_.insert(words_.end(), kVector, 0);  // As one that never held anything.
    return kVector;
  }
  words_.insert(words_.end(),
                {kContent, NumberOf(block.begin, block.size, at[1] - at[0]), at[1] - at[0]});
  return kVector;
}

/// std::map and std::set in libstdc++: a header of the colour red, the root, the first and the last
/// node, and how many there are; every node begins with its colour, its parent and its children.
/// What an empty std::optional left behind may look like one whose nodes were given back. `at`: the
/// header.
bool MemoryHash::IsTree(const std::uint64_t* at) const {
  const bool red = (at[0] & 0xffffffff) == 0;
  return red && Points(at[2]) && Points(at[3]) && at[4] > 0 && at[4] < Arena::kBytes &&
         IsNode(at[1], reinterpret_cast<std::uintptr_t>(at));
}

bool MemoryHash::IsNode(std::uint64_t node, std::uint64_t parent) const {
  if (!Points(node) || node % Arena::kGrain != 0) return false;
  const Arena::Block block = Arena::BlockOf(node);
  return !block.free && block.begin == node && WordAt(node + kWord) == parent;
}

void MemoryHash::TakeTree(const std::uint64_t* at) {
  words_.insert(words_.end(), {kContent, at[4]});
  TakeNode(at[1]);
}

void MemoryHash::TakeNode(std::uint64_t node) {
  constexpr std::size_t kNodeHead = 4;
  const std::uint64_t left = WordAt(node + 2 * kWord);
  const std::uint64_t right = WordAt(node + 3 * kWord);
  if (left != 0) TakeNode(left);
  pieces_.push_back({node + kNodeHead * kWord, Arena::BlockOf(node).size / kWord - kNodeHead});
  if (right != 0) TakeNode(right);
}

/// libstdc++: its list of blocks and that list's length, then for its first element and for its end
/// where that is, the block's begin and end, and where the block is listed.
bool MemoryHash::IsDeque(const std::uint64_t* at) const {
  const Arena::Block list = Arena::BlockOf(at[0]);
  if (list.free || list.begin != at[0] || at[1] > Arena::kBytes / kWord) return false;
  const std::uint64_t list_end = at[0] + at[1] * kWord;
  for (const std::size_t i : {std::size_t{2}, std::size_t{6}}) {
    const bool listed = at[i + 3] >= at[0] && at[i + 3] < list_end && at[i + 3] % kWord == 0 &&
                        WordAt(at[i + 3]) == at[i + 1];
    if (!listed || !Points(at[i + 1]) || at[i] < at[i + 1] || at[i] > at[i + 2]) return false;
  }
  return at[4] - at[3] == at[8] - at[7];
}

void MemoryHash::TakeDeque(const std::uint64_t* at) {
  const std::uint64_t last = at[9];
  for (std::uint64_t node = at[5]; node <= last; node += kWord) {
    const std::uint64_t block = WordAt(node);
    const std::uint64_t from = node == at[5] ? at[2] : block;
    const std::uint64_t to = node == last ? at[6] : block + (at[4] - at[3]);
    words_.insert(words_.end(), {kContent, to - from});
    if (to > from) pieces_.push_back({from, (to - from) / kWord});
  }
}

void MemoryHash::TakePointer(std::uint64_t word) {
  const Arena::Block block = Arena::BlockOf(word);
  if (block.free) return words_.push_back(kStale);
  words_.insert(words_.end(),
                {kPointer, NumberOf(block.begin, block.size, block.size), word - block.begin});
}

std::uint64_t MemoryHash::NumberOf(std::uintptr_t block, std::size_t size, std::size_t limit) {
  const std::size_t grain = (block - begin_) / Arena::kGrain;
  if (met_[grain] != walk_) {
    met_[grain] = walk_;
    pieces_.push_back({block, (limit < size ? limit + kWord - 1 : size) / kWord});
    number_[grain] = static_cast<std::uint32_t>(pieces_.size());
  }
  return number_[grain];
}

}  // namespace tfyarn::exhaustive
