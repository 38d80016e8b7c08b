// What a machine's memory says, whatever addresses it lies at: equal for two states in which the
// same events lead to the same actions for ever.
//
// A machine that is a function of what it is told has no other state than its memory. The walk
// begins at the machine's object, takes the arena's blocks in the order in which pointers lead to
// them, and reads a pointer as "block so-and-so, byte so-and-so". Two states with one hash are
// therefore one state (but for collisions of 64 bits). The other way round, equal states may have
// different hashes: a red-black tree remembers in which order it was filled, a padding byte what
// lay there. That costs time and nothing else.
//
// Left out is what no program can depend on: what lies behind the end of a std::vector or of a
// std::string and what is behind the ends of a std::deque, how much room they have, and how many
// share a cluster spec.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tfyarn::exhaustive {

/// Clears the part of the stack that the next call will use: what is copied from it with a struct,
/// between its members, is then the same in equal states.
void ScrubStack();

class MemoryHash {
 public:
  MemoryHash();
  /// Of the object at `root` and of all in the arena that it leads to.
  [[nodiscard]] std::uint64_t Of(const void* root, std::size_t bytes);

  /// What the last walk read, for tests that ask why two states differ.
  [[nodiscard]] const std::vector<std::uint64_t>& words() const { return words_; }

 private:
  struct Piece {
    std::uintptr_t begin = 0;
    std::size_t words = 0;
  };
  [[nodiscard]] bool Points(std::uint64_t word) const { return word - begin_ < bytes_; }
  void Walk(const Piece& piece);
  std::size_t TakeContainer(const std::uint64_t* at, std::size_t left);
  [[nodiscard]] bool IsTree(const std::uint64_t* at) const;
  [[nodiscard]] bool IsNode(std::uint64_t node, std::uint64_t parent) const;
  void TakeTree(const std::uint64_t* at);
  void TakeNode(std::uint64_t node);
  [[nodiscard]] bool IsDeque(const std::uint64_t* at) const;
  void TakeDeque(const std::uint64_t* at);
  void TakePointer(std::uint64_t word);
  /// Its number, from 1; `limit`: no more bytes of it count, if it was not met before.
  std::uint64_t NumberOf(std::uintptr_t block, std::size_t size, std::size_t limit);

  std::uintptr_t begin_ = 0;
  std::size_t bytes_ = 0;
  std::uint64_t spec_counts_ = 0;   ///< First word of what counts the users of a cluster spec.
  std::vector<std::uint32_t> met_;  // by grain: the walk in which it was met, and its number there
  std::vector<std::uint32_t> number_;
  std::uint32_t walk_ = 0;
  std::vector<Piece> pieces_;  // in the order in which they were met
  std::vector<std::uint64_t> words_;
};

}  // namespace tfyarn::exhaustive
