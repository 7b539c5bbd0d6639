#include "root_memory.hpp"

#include <hocket/base/seam/never_destroyed.hpp>

#include <cstring>
#include <new>
#include <sys/mman.h>

namespace hocket { inline namespace HOCKET_ABI { namespace gc::boehm {

namespace {

void* reserve(std::size_t bytes) noexcept {
  void* const got = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return got == MAP_FAILED ? nullptr : got;
}

void* reserve_or_throw(std::size_t bytes) {
  void* const got = reserve(bytes);
  if (!got) throw std::bad_alloc();
  return got;
}

}  // namespace

root_memory& root_memory::of_process() {
  struct made : root_memory {};
  static hocket::detail::never_destroyed<made> one;
  return *one;
}

root_memory::root_memory() : table_(static_cast<slab**>(reserve_or_throw(most_slabs * sizeof(slab*)))) {}

// --- cells

void* root_memory::allocate(std::size_t bytes) noexcept {
  const std::size_t index = bytes == 0 ? 0 : (bytes - 1) / alignment;
  size_class& of = classes_[index];
  const std::lock_guard guard(of.lock);
  if (!of.with_room) {
    of.with_room = new_slab((index + 1) * alignment);
    if (!of.with_room) return nullptr;
  }
  slab& from = *of.with_room;
  void* cell = from.free;
  if (cell) {
    std::memcpy(&from.free, cell, sizeof from.free);
    std::memset(cell, 0, sizeof from.free);
  } else {
    cell = from.cell(from.fresh);
    ++from.fresh;
  }
  set_used(from, cell, true);
  if (!from.free && from.fresh == from.cells) {
    of.with_room = from.next_with_room;
    from.has_room = false;
  }
  return cell;
}

void root_memory::release(void* memory, std::size_t bytes) noexcept {
  size_class& of = classes_[bytes == 0 ? 0 : (bytes - 1) / alignment];
  slab& to = slab_of(memory);
  const std::lock_guard guard(of.lock);
  set_used(to, memory, false);
  std::memset(memory, 0, to.cell_bytes);
  std::memcpy(memory, &to.free, sizeof to.free);
  to.free = memory;
  if (to.has_room) return;
  to.next_with_room = of.with_room;
  to.has_room = true;
  of.with_room = &to;
}

void root_memory::set_used(slab& of, const void* cell, bool used) noexcept {
  const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(cell) - of.cell(0));
  const std::size_t i = offset / of.cell_bytes;
  const std::uint64_t bit = std::uint64_t{1} << i % 64;
  // ORDER: relaxed, pairs with nothing: it changes under the lock; who reads it without has stopped this thread.
  const std::uint64_t before = of.used[i / 64].load(std::memory_order_relaxed);
  // ORDER: relaxed, as above.
  of.used[i / 64].store(used ? before | bit : before & ~bit, std::memory_order_relaxed);
}

// --- slabs

root_memory::slab& root_memory::slab_of(void* cell) noexcept {
  auto* const byte = static_cast<std::byte*>(cell);
  return *reinterpret_cast<slab*>(byte - reinterpret_cast<std::uintptr_t>(byte) % slab_bytes);
}

root_memory::slab* root_memory::new_slab(std::size_t cell_bytes) noexcept {
  auto* const room = static_cast<std::byte*>(reserve(2 * slab_bytes));
  if (!room) return nullptr;
  const std::size_t before = (slab_bytes - reinterpret_cast<std::uintptr_t>(room) % slab_bytes) % slab_bytes;
  if (before != 0) ::munmap(room, before);
  ::munmap(room + before + slab_bytes, slab_bytes - before);
  slab* const made = ::new (room + before) slab{cell_bytes, (slab_bytes - header_bytes) / cell_bytes};
  made->has_room = true;
  if (enter(*made)) return made;
  ::munmap(made, slab_bytes);
  return nullptr;
}

bool root_memory::enter(slab& one) noexcept {
  const std::lock_guard guard(growth_);
  // ORDER: relaxed, pairs with nothing: it changes under the lock.
  const std::size_t count = count_.load(std::memory_order_relaxed);
  if (count == most_slabs) return false;
  table_[count] = &one;
  // ORDER: release, pairs with the load in for_each_run().
  count_.store(count + 1, std::memory_order_release);
  return true;
}

// --- fork

void root_memory::before_fork() noexcept {
  for (size_class& one : classes_) one.lock.lock();
  growth_.lock();
}

void root_memory::after_fork() noexcept {
  growth_.unlock();
  for (size_class& one : classes_) one.lock.unlock();
}

}}}  // namespace hocket::gc::boehm
