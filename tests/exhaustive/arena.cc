#include "tests/exhaustive/arena.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "core/model/check.h"

namespace tfyarn::exhaustive {
namespace {

constexpr std::size_t kGrains = Arena::kBytes / Arena::kGrain;
/// Free blocks are kept by size: of so many grains, then of powers of two.
constexpr std::size_t kSmall = 64;
constexpr std::size_t kClasses = kSmall + 24;
constexpr std::uint32_t kNone = 0;
constexpr std::size_t kBits = 64;

/// Lies at the beginning of the region, so that it is saved with it.
struct Head {
  std::uint32_t next = 0;                      ///< Grain that was never handed out.
  std::array<std::uint32_t, kClasses> free{};  ///< First free block of each size, or kNone.
};

alignas(64) std::byte region[Arena::kBytes];  // NOLINT: there is one of them.
std::uint64_t
    first_grains[kGrains / kBits + 1];           // NOLINT: a bit for each grain that begins a block
std::uint64_t free_grains[kGrains / kBits + 1];  // NOLINT: ... that is free
bool in_use_now = false;                         // NOLINT

Head& head() {
  return *reinterpret_cast<Head*>(region);
}

constexpr std::uint32_t kFirst =
    (sizeof(Head) + Arena::kGrain - 1) / Arena::kGrain;  // The head is no block.

struct SizeClass {
  std::size_t index = 0;
  std::uint32_t grains = 0;
};

SizeClass ClassOf(std::size_t bytes) {
  const std::size_t grains = std::max<std::size_t>(1, (bytes + Arena::kGrain - 1) / Arena::kGrain);
  if (grains < kSmall) return {grains, static_cast<std::uint32_t>(grains)};
  const std::size_t rounded = std::bit_ceil(grains);
  return {kSmall + static_cast<std::size_t>(std::countr_zero(rounded)) - 6,
          static_cast<std::uint32_t>(rounded)};
}

std::byte* AddressOf(std::size_t grain) {
  return region + grain * Arena::kGrain;
}

std::size_t GrainOf(std::uintptr_t memory) {
  return (memory - Arena::begin()) / Arena::kGrain;
}

/// The last grain up to this one that begins a block.
std::size_t StartAt(std::size_t grain) {
  std::size_t word = grain / kBits;
  std::uint64_t bits = first_grains[word] & (~std::uint64_t{0} >> (kBits - 1 - grain % kBits));
  while (bits == 0) bits = first_grains[--word];
  return word * kBits + kBits - 1 - static_cast<std::size_t>(std::countl_zero(bits));
}

/// The first grain behind the block that begins at this one.
std::size_t EndOf(std::size_t start) {
  const std::size_t grain = start + 1;
  std::size_t word = grain / kBits;
  std::uint64_t bits = first_grains[word] & (~std::uint64_t{0} << grain % kBits);
  const std::size_t last = head().next / kBits;
  while (bits == 0 && word < last) bits = first_grains[++word];
  if (bits == 0) return head().next;
  return std::min<std::size_t>(head().next,
                               word * kBits + static_cast<std::size_t>(std::countr_zero(bits)));
}

std::size_t BitWords() {
  return head().next / kBits + 1;
}

}  // namespace

Arena::Use::Use() {
  TF_CHECK(!in_use_now);
  in_use_now = true;
}
Arena::Use::~Use() {
  in_use_now = false;
}
Arena::Leave::Leave() : was_(in_use_now) {
  in_use_now = false;
}
Arena::Leave::~Leave() {
  in_use_now = was_;
}

bool Arena::in_use() {
  return in_use_now;
}

std::uintptr_t Arena::begin() {
  return reinterpret_cast<std::uintptr_t>(region);
}

std::size_t Arena::used() {
  return std::size_t{head().next} * kGrain;
}

void Arena::Clear() {
  head() = Head{};
  head().next = kFirst;
  std::fill_n(first_grains, std::size(first_grains), 0);
  std::fill_n(free_grains, std::size(free_grains), 0);
  first_grains[0] = 1;  // The head.
}

void* Arena::Allocate(std::size_t size) {
  const SizeClass of = ClassOf(size);
  std::uint32_t& free = head().free[of.index];
  std::size_t grain = free;
  if (grain != kNone) {
    std::memcpy(&free, AddressOf(grain), sizeof(free));
  } else {
    grain = head().next;
    TF_CHECK(grain + of.grains < kGrains);  // A larger arena is needed.
    head().next += of.grains;
    first_grains[grain / kBits] |= std::uint64_t{1} << grain % kBits;
  }
  free_grains[grain / kBits] &= ~(std::uint64_t{1} << grain % kBits);
  // Bytes that no code writes (padding) are alike in equal states.
  std::memset(AddressOf(grain), 0, std::size_t{of.grains} * kGrain);
  return AddressOf(grain);
}

void Arena::Free(void* memory) {
  const std::size_t grain = GrainOf(reinterpret_cast<std::uintptr_t>(memory));
  std::uint32_t& free = head().free[ClassOf((EndOf(grain) - grain) * kGrain).index];
  std::memcpy(memory, &free, sizeof(free));
  free = static_cast<std::uint32_t>(grain);
  free_grains[grain / kBits] |= std::uint64_t{1} << grain % kBits;
}

Arena::Block Arena::BlockOf(std::uintptr_t memory) {
  const std::size_t grain = StartAt(GrainOf(memory));
  const bool free = (free_grains[grain / kBits] >> grain % kBits & 1) != 0;
  return {begin() + grain * kGrain, (EndOf(grain) - grain) * kGrain, free};
}

void Arena::Save(Image& image) {
  const std::size_t bits = BitWords() * sizeof(first_grains[0]);
  image.resize(used() + 2 * bits);
  std::memcpy(image.data(), region, used());
  std::memcpy(image.data() + used(), first_grains, bits);
  std::memcpy(image.data() + used() + bits, free_grains, bits);
}

void Arena::Restore(const Image& image) {
  const std::size_t before = BitWords();
  Head saved;
  std::memcpy(&saved, image.data(), sizeof(saved));
  const std::size_t bytes = std::size_t{saved.next} * kGrain;
  std::memcpy(region, image.data(), bytes);
  const std::size_t bits = (image.size() - bytes) / 2;
  std::memcpy(first_grains, image.data() + bytes, bits);
  std::memcpy(free_grains, image.data() + bytes + bits, bits);
  // Nothing begins behind what is in use.
  if (before <= BitWords()) return;
  std::fill(first_grains + BitWords(), first_grains + before, 0);
  std::fill(free_grains + BitWords(), free_grains + before, 0);
}

}  // namespace tfyarn::exhaustive
