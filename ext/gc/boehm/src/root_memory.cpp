#include "root_memory.hpp"

#include <hocket/base/seam/never_destroyed.hpp>

#include <cstring>
#include <new>
#include <sys/mman.h>

namespace hocket { inline namespace HOCKET_ABI { namespace gc::boehm {

namespace {

void* reserve(std::size_t bytes) noexcept {
  void* const memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

void* reserve_or_throw(std::size_t bytes) {
  void* const memory = reserve(bytes);
  if (!memory) throw std::bad_alloc();
  return memory;
}

}  // namespace

root_memory& root_memory::of_process() {
  struct instance : root_memory {};
  static hocket::detail::never_destroyed<instance> memory;
  return *memory;
}

root_memory::root_memory() : table_(static_cast<slab**>(reserve_or_throw(most_slabs * sizeof(slab*)))) {}

// --- cells

void* root_memory::allocate(std::size_t bytes) noexcept {
  const std::size_t index = bytes == 0 ? 0 : (bytes - 1) / alignment;
  size_class& bin = classes_[index];
  const std::lock_guard guard(bin.lock);
  if (!bin.first_available) {
    bin.first_available = new_slab((index + 1) * alignment);
    if (!bin.first_available) return nullptr;
  }
  slab& owner = *bin.first_available;
  void* cell = owner.free;
  if (cell) {
    std::memcpy(&owner.free, cell, sizeof owner.free);
    std::memset(cell, 0, sizeof owner.free);
  } else {
    cell = owner.cell(owner.fresh);
    ++owner.fresh;
  }
  set_used(owner, cell, true);
  if (!owner.free && owner.fresh == owner.cells) {
    bin.first_available = owner.next_available;
    owner.is_available = false;
  }
  return cell;
}

void root_memory::release(void* memory, std::size_t bytes) noexcept {
  size_class& bin = classes_[bytes == 0 ? 0 : (bytes - 1) / alignment];
  slab& owner = slab_of(memory);
  const std::lock_guard guard(bin.lock);
  set_used(owner, memory, false);
  std::memset(memory, 0, owner.cell_bytes);
  std::memcpy(memory, &owner.free, sizeof owner.free);
  owner.free = memory;
  if (owner.is_available) return;
  owner.next_available = bin.first_available;
  owner.is_available = true;
  bin.first_available = &owner;
}

void root_memory::set_used(slab& owner, const void* cell, bool used) noexcept {
  const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(cell) - owner.cell(0));
  const std::size_t i = offset / owner.cell_bytes;
  const std::uint64_t bit = std::uint64_t{1} << i % 64;
  // ORDER: relaxed, pairs with nothing: it changes under the lock; a reader without the lock has stopped this thread.
  const std::uint64_t before = owner.used[i / 64].load(std::memory_order_relaxed);
  // ORDER: relaxed, as above.
  owner.used[i / 64].store(used ? before | bit : before & ~bit, std::memory_order_relaxed);
}

// --- slabs

root_memory::slab& root_memory::slab_of(void* cell) noexcept {
  auto* const byte = static_cast<std::byte*>(cell);
  return *reinterpret_cast<slab*>(byte - reinterpret_cast<std::uintptr_t>(byte) % slab_bytes);
}

root_memory::slab* root_memory::new_slab(std::size_t cell_bytes) noexcept {
  auto* const memory = static_cast<std::byte*>(reserve(2 * slab_bytes));
  if (!memory) return nullptr;
  const std::size_t before = (slab_bytes - reinterpret_cast<std::uintptr_t>(memory) % slab_bytes) % slab_bytes;
  if (before != 0) ::munmap(memory, before);
  ::munmap(memory + before + slab_bytes, slab_bytes - before);
  slab* const result = ::new (memory + before) slab{cell_bytes, (slab_bytes - header_bytes) / cell_bytes};
  result->is_available = true;
  if (add_to_table(*result)) return result;
  ::munmap(result, slab_bytes);
  return nullptr;
}

bool root_memory::add_to_table(slab& entry) noexcept {
  const std::lock_guard guard(growth_);
  // ORDER: relaxed, pairs with nothing: it changes under the lock.
  const std::size_t count = count_.load(std::memory_order_relaxed);
  if (count == most_slabs) return false;
  table_[count] = &entry;
  // ORDER: release, pairs with the load in for_each_run().
  count_.store(count + 1, std::memory_order_release);
  return true;
}

// --- fork

void root_memory::before_fork() noexcept {
  for (size_class& bin : classes_) bin.lock.lock();
  growth_.lock();
}

void root_memory::after_fork() noexcept {
  growth_.unlock();
  for (size_class& bin : classes_) bin.lock.unlock();
}

}}}  // namespace hocket::gc::boehm
