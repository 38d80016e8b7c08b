// Memory in which whole machines live, so that they can be put back to an earlier moment.
//
// The AM and its agents cannot be copied: they are objects that point at each other. But all that
// they own comes from operator new. While an Arena::Use lives, operator new (arena_new.cc) takes
// memory of one region at a fixed address; a state is saved by copying what is used of the region,
// and restored by copying it back. Pointers stay right, for nothing moves. What a machine shares
// with the world outside (the job, constants) must be made outside a Use and must not change.
//
// Not thread-safe, and one for each process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tfyarn::exhaustive {

class Arena {
 public:
  /// While it lives, operator new takes memory of the arena. They do not nest.
  class Use {
   public:
    Use();
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
  };
  /// While it lives, operator new takes ordinary memory, whatever it was before.
  class Leave {
   public:
    Leave();
    ~Leave();
    Leave(const Leave&) = delete;
    Leave& operator=(const Leave&) = delete;

   private:
    bool was_;
  };

  /// What was in use of the region at one moment.
  using Image = std::vector<std::byte>;

  /// Forgets all. What lay in it must not be touched any more, nor destroyed.
  static void Clear();
  static void Save(Image& image);
  static void Restore(const Image& image);

  static void* Allocate(std::size_t size);
  static void Free(void* memory);
  [[nodiscard]] static bool in_use();
  [[nodiscard]] static bool Owns(const void* memory) {
    const auto at = reinterpret_cast<std::uintptr_t>(memory);
    return at - begin() < kBytes;
  }

  /// A piece of memory that was handed out, or was once.
  struct Block {
    std::uintptr_t begin = 0;
    std::size_t size = 0;  ///< In bytes, a multiple of kGrain.
    bool free = false;     ///< It was given back since.
  };
  /// The block that `memory`, which the arena owns, points into, or at the end of.
  [[nodiscard]] static Block BlockOf(std::uintptr_t memory);

  static constexpr std::size_t kGrain = 16;
  static constexpr std::size_t kBytes = std::size_t{1} << 21;
  [[nodiscard]] static std::uintptr_t begin();
  /// Bytes that a Save copies now.
  [[nodiscard]] static std::size_t used();
};

}  // namespace tfyarn::exhaustive
