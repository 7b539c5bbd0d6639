// Exceptions. The C++ runtime allocates each by __cxa_allocate_exception; these definitions replace its own. Below the
// object the runtime has a header, which begins with zeros. It takes 128 bytes on 64-bit systems; 256 are reserved. An
// exception before libgc is started, or of a thread that is not registered, is allocated on the heap.
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

constexpr std::size_t exception_alignment = 16;  // as malloc

// Larger blocks are libgc's own objects: any address inside refers to the block. They are rare, and mostly bytes.
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
    hocket::detail::fatal("a thread that is not registered with gc::boehm makes a coroutine, or allocates for one",
                          "make a gc::boehm::thread_scope in it");
  return is_large(bytes, alignment) ? allocate_large(bytes, alignment) : root_memory::of_process().allocate(bytes);
}
void release(void* memory, std::size_t bytes, std::size_t alignment) noexcept {
  if (is_large(bytes, alignment)) GC_free(GC_base(memory));
  else root_memory::of_process().release(memory, bytes);
}

}  // namespace

void install_memory_source() {
  static_cast<void>(root_memory::of_process());
  set_memory_source({.allocate = allocate, .release = release});
}

}}}  // namespace hocket::gc::boehm

namespace {

constexpr std::size_t header_capacity = 256;

// At the beginning of the header, far below the bytes that the runtime uses.
struct exception_mark {
  std::size_t bytes;  // the size of a block that libgc scans; 0: the block is from the heap
};

}  // namespace

extern "C" {

void* __cxa_allocate_exception(std::size_t object_bytes) noexcept {
  namespace boehm = hocket::gc::boehm;
  const std::size_t bytes = header_capacity + object_bytes;
  void* memory = boehm::is_registered() ? boehm::allocate(bytes, boehm::exception_alignment) : nullptr;
  const bool is_scanned = memory != nullptr;
  if (!memory) memory = std::malloc(bytes);
  if (!memory) hocket::detail::fatal("no memory for an exception", "raise the memory limit of the program");
  std::memset(memory, 0, header_capacity);
  ::new (memory) exception_mark{is_scanned ? bytes : 0};
  return static_cast<std::byte*>(memory) + header_capacity;
}

void __cxa_free_exception(void* object) noexcept {
  namespace boehm = hocket::gc::boehm;
  void* const memory = static_cast<std::byte*>(object) - header_capacity;
  const std::size_t bytes = static_cast<const exception_mark*>(memory)->bytes;
  if (bytes != 0) boehm::release(memory, bytes, boehm::exception_alignment);
  else std::free(memory);
}
}

const void* hocket::gc::boehm::allocate_exception() noexcept {
  return reinterpret_cast<const void*>(&__cxa_allocate_exception);
}
