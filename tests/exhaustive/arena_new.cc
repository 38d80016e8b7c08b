// operator new and delete of the programs that explore: see arena.h.
#include <cstdlib>
#include <new>

#include "tests/exhaustive/arena.h"

void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  using tfyarn::exhaustive::Arena;
  return Arena::in_use() ? Arena::Allocate(size) : std::malloc(size == 0 ? 1 : size);
}
void* operator new(std::size_t size) {
  void* memory = operator new(size, std::nothrow);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept {
  using tfyarn::exhaustive::Arena;
  if (memory == nullptr) return;
  if (Arena::Owns(memory)) return Arena::Free(memory);
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  operator delete(memory);
}
