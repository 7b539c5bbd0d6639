// Memory of coroutines and exceptions. libgc scans it, and never frees it. It is not part of libgc's heap: blocks of
// hocket refer to one another a dozen times each, and libgc would look up each of these addresses in its heap. Outside
// of the heap libgc skips these addresses at once.
//
// Blocks of up to 2 KiB are cells of slabs, one class of slabs for each multiple of 64 bytes. A slab has a bit for each
// cell that is in use. A collection reads only the table of slabs and these bits: threads may be stopped within
// allocate() and release(), with a lock held. So the table only grows, and a slab is in it before its first bit is set.
// Slabs live to the end of the process.
//
// A released cell is zeroed, so a new block has no words of an old one.
//
// Thread safety. Any thread. A fork() locks all mutexes first (before_fork(), after_fork()).
#pragma once
#include <hocket/base/seam/atomic.hpp>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace hocket { inline namespace HOCKET_ABI { namespace gc::boehm {

class root_memory {
 public:
  static constexpr std::size_t largest = 2048;
  static constexpr std::size_t alignment = 64;

  // The instance of the process. Only the first call may throw bad_alloc.
  static root_memory& of_process();

  // At most `largest` bytes. Null: there is no memory.
  void* allocate(std::size_t bytes) noexcept;
  void release(void* memory, std::size_t bytes) noexcept;

  // Calls visit(low, high) for each run of cells that are in use. Called while the world is stopped.
  template <class Visit>
  void for_each_run(Visit visit) const noexcept {
    // ORDER: acquire, pairs with the store in add_to_table(): the slab is initialized.
    const std::size_t count = count_.load(std::memory_order_acquire);
    for (std::size_t i = 0; i < count; ++i) runs_of(*table_[i], visit);
  }

  void before_fork() noexcept;
  void after_fork() noexcept;

 private:
  static constexpr std::size_t slab_bytes = 65'536, header_bytes = 256;
  static constexpr std::size_t most_cells = (slab_bytes - header_bytes) / alignment;
  static constexpr std::size_t most_slabs = 1 << 20;
  static constexpr std::size_t classes = largest / alignment;

  struct slab {
    std::size_t cell_bytes;
    std::size_t cells;
    std::size_t fresh = 0;  // cells that were ever in use
    void* free = nullptr;   // cells that were released, each with the address of the next
    slab* next_available = nullptr;
    bool is_available = false;  // it is in the list of its class
    std::array<primitive::atomic<std::uint64_t>, (most_cells + 63) / 64> used{};

    std::byte* cell(std::size_t i) noexcept {
      return reinterpret_cast<std::byte*>(this) + header_bytes + i * cell_bytes;
    }
  };
  static_assert(sizeof(slab) <= header_bytes);

  struct size_class {
    std::mutex lock;
    slab* first_available = nullptr;
  };

  template <class Visit>
  static void runs_of(slab& owner, Visit& visit) noexcept {
    const auto is_used = [&](std::size_t i) {
      // ORDER: relaxed, pairs with nothing: the threads that change it are stopped.
      return (owner.used[i / 64].load(std::memory_order_relaxed) >> i % 64 & 1) != 0;
    };
    for (std::size_t i = 0; i < owner.fresh; ++i) {
      const std::size_t first = i;
      while (i < owner.fresh && is_used(i)) ++i;
      if (i != first) visit(owner.cell(first), owner.cell(i));
    }
  }

  root_memory();
  slab* new_slab(std::size_t cell_bytes) noexcept;
  bool add_to_table(slab& entry) noexcept;
  static slab& slab_of(void* cell) noexcept;
  static void set_used(slab& owner, const void* cell, bool used) noexcept;

  std::array<size_class, classes> classes_;
  std::mutex growth_;
  slab** const table_;  // libgc does not scan it
  primitive::atomic<std::size_t> count_{0};
};

}}}  // namespace hocket::gc::boehm
