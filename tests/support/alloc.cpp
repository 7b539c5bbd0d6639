#include "support/alloc.hpp"

#include <cstdlib>
#include <new>

namespace hocket_test {
namespace {

thread_local allocation_watch* watching = nullptr;

// malloc keeps the fundamental alignment; aligned_alloc wants a size that is a multiple of the alignment.
void* obtain(std::size_t bytes, std::size_t alignment) noexcept {
  if (watching && !watching->admit(bytes)) return nullptr;
  if (alignment <= alignof(std::max_align_t)) return std::malloc(bytes ? bytes : 1);
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

void* obtain_or_throw(std::size_t bytes, std::size_t alignment) {
  auto memory = obtain(bytes, alignment);
  if (!memory) throw std::bad_alloc();
  return memory;
}

void give_back(void* memory) noexcept {
  if (memory && watching) watching->release();
  std::free(memory);
}

}  // namespace

allocation_watch::allocation_watch() noexcept : allocation_watch(0) {}

allocation_watch::allocation_watch(std::size_t failing) noexcept : failing_(failing) { watching = this; }

allocation_watch::~allocation_watch() { watching = nullptr; }

bool allocation_watch::admit(std::size_t bytes) noexcept {
  ++allocations_;
  bytes_ += bytes;
  if (allocations_ != failing_) return true;
  has_failed_ = true;
  return false;
}

}  // namespace hocket_test

using hocket_test::give_back;
using hocket_test::obtain;
using hocket_test::obtain_or_throw;

// The standard's defaults of the array and nothrow forms call the plain ones, but a sanitizer's do not: all are here.
void* operator new(std::size_t n) { return obtain_or_throw(n, 1); }
void* operator new[](std::size_t n) { return obtain_or_throw(n, 1); }
void* operator new(std::size_t n, std::align_val_t a) { return obtain_or_throw(n, static_cast<std::size_t>(a)); }
void* operator new[](std::size_t n, std::align_val_t a) { return obtain_or_throw(n, static_cast<std::size_t>(a)); }
void* operator new(std::size_t n, const std::nothrow_t&) noexcept { return obtain(n, 1); }
void* operator new[](std::size_t n, const std::nothrow_t&) noexcept { return obtain(n, 1); }
void* operator new(std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return obtain(n, static_cast<std::size_t>(a));
}
void* operator new[](std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return obtain(n, static_cast<std::size_t>(a));
}
void operator delete(void* p) noexcept { give_back(p); }
void operator delete[](void* p) noexcept { give_back(p); }
void operator delete(void* p, std::size_t) noexcept { give_back(p); }
void operator delete[](void* p, std::size_t) noexcept { give_back(p); }
void operator delete(void* p, std::align_val_t) noexcept { give_back(p); }
void operator delete[](void* p, std::align_val_t) noexcept { give_back(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { give_back(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { give_back(p); }
