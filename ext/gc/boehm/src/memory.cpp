// Exceptions. The C++ runtime asks __cxa_allocate_exception for the memory of each; these definitions take the place of
// its own. The runtime has a header of its own below the object, which begins with zeros; how large that is, is its
// affair: 256 bytes are more than it has on any 64-bit system (128). What is thrown before libgc is started, or by a
// thread that is not registered, is from the heap.
#include <gc/gc.h>

#include "memory.hpp"

#include <hocket/base/fatal.hpp>
#include <hocket/base/memory_source.hpp>

#include "threads.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

namespace hocket::inline HOCKET_ABI::gc::boehm {

namespace {

constexpr std::size_t granule = 16;  // to which libgc aligns

// What libgc gives is never moved, and it knows the block by any address in it.
void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
  if (!is_registered())
    hocket::detail::fatal("a thread that is not registered with gc::boehm makes a coroutine, or something for one",
                          "make a gc::boehm::thread_scope in it");
  if (alignment <= granule) return GC_malloc_uncollectable(bytes);
  auto* const block = static_cast<std::byte*>(GC_malloc_uncollectable(bytes + alignment));
  if (!block) return nullptr;
  const auto address = reinterpret_cast<std::uintptr_t>(block);
  return block + ((address + alignment - 1) / alignment * alignment - address);
}
void release(void* memory, std::size_t, std::size_t) noexcept { GC_free(GC_base(memory)); }

}  // namespace

void take_memory_from_libgc() { set_memory_source({.allocate = allocate, .release = release}); }

}  // namespace hocket::inline HOCKET_ABI::gc::boehm

namespace {

constexpr std::size_t header_room = 256;

// At the beginning of that room, far below what the runtime uses.
struct exception_mark {
  std::uintptr_t from_libgc;
};

}  // namespace

extern "C" {

void* __cxa_allocate_exception(std::size_t bytes) noexcept {
  const bool from_libgc = hocket::gc::boehm::is_registered();
  void* const memory = from_libgc ? GC_malloc_uncollectable(header_room + bytes) : std::malloc(header_room + bytes);
  if (!memory) std::terminate();
  std::memset(memory, 0, header_room);
  ::new (memory) exception_mark{from_libgc};
  return static_cast<std::byte*>(memory) + header_room;
}

void __cxa_free_exception(void* object) noexcept {
  void* const memory = static_cast<std::byte*>(object) - header_room;
  if (static_cast<const exception_mark*>(memory)->from_libgc) GC_free(memory);
  else std::free(memory);
}
}
