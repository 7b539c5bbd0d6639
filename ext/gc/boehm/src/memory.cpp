// Exceptions. The C++ runtime asks __cxa_allocate_exception for the memory of each; these definitions take the place of
// its own. The runtime has a header of its own below the object, which begins with zeros. It takes 128 bytes on 64-bit
// systems; 256 are reserved. What is thrown before libgc is started, or by a
// thread that is not registered, is from the heap.
#include <gc/gc.h>

#include "memory.hpp"

#include <hocket/base/fatal.hpp>
#include <hocket/base/memory_source.hpp>

#include "root_memory.hpp"
#include "threads.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

namespace hocket { inline namespace HOCKET_ABI { namespace gc::boehm {

namespace {

constexpr std::size_t exception_alignment = 16;  // that of malloc

// Larger blocks are libgc's, which knows each by any address in it. They are seldom, and made of bytes for the most
// part.
void* allocate_large(std::size_t bytes, std::size_t alignment) noexcept {
  auto* const block = static_cast<std::byte*>(GC_malloc_uncollectable(bytes + alignment));
  if (!block) return nullptr;
  const auto address = reinterpret_cast<std::uintptr_t>(block);
  return block + ((address + alignment - 1) / alignment * alignment - address);
}

bool is_large(std::size_t bytes, std::size_t alignment) noexcept {
  return bytes > root_memory::largest || alignment > root_memory::alignment;
}

void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
  if (!is_registered())
    hocket::detail::fatal("a thread that is not registered with gc::boehm makes a coroutine, or something for one",
                          "make a gc::boehm::thread_scope in it");
  return is_large(bytes, alignment) ? allocate_large(bytes, alignment) : root_memory::of_process().allocate(bytes);
}
void release(void* memory, std::size_t bytes, std::size_t alignment) noexcept {
  if (is_large(bytes, alignment)) GC_free(GC_base(memory));
  else root_memory::of_process().release(memory, bytes);
}

}  // namespace

void give_memory_to_libgc() {
  static_cast<void>(root_memory::of_process());
  set_memory_source({.allocate = allocate, .release = release});
}

}}}  // namespace hocket::gc::boehm

namespace {

constexpr std::size_t header_room = 256;

// At the beginning of that room, far below what the runtime uses.
struct exception_mark {
  std::size_t bytes;  // of the block, if libgc looks through it; 0: it is from the heap
};

}  // namespace

extern "C" {

void* __cxa_allocate_exception(std::size_t object_bytes) noexcept {
  namespace boehm = hocket::gc::boehm;
  const std::size_t bytes = header_room + object_bytes;
  void* memory = boehm::is_registered() ? boehm::allocate(bytes, boehm::exception_alignment) : nullptr;
  const bool is_seen = memory != nullptr;
  if (!memory) memory = std::malloc(bytes);
  if (!memory) hocket::detail::fatal("no memory for an exception", "let the program have more, or less to keep");
  std::memset(memory, 0, header_room);
  ::new (memory) exception_mark{is_seen ? bytes : 0};
  return static_cast<std::byte*>(memory) + header_room;
}

void __cxa_free_exception(void* object) noexcept {
  namespace boehm = hocket::gc::boehm;
  void* const memory = static_cast<std::byte*>(object) - header_room;
  const std::size_t bytes = static_cast<const exception_mark*>(memory)->bytes;
  if (bytes != 0) boehm::release(memory, bytes, boehm::exception_alignment);
  else std::free(memory);
}
}

const void* hocket::gc::boehm::allocate_exception() noexcept {
  return reinterpret_cast<const void*>(&__cxa_allocate_exception);
}
