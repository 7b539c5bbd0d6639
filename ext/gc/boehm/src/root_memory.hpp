// Memory that libgc looks through, and never frees: of coroutines, and of exceptions. It is not libgc's own: blocks of
// hocket refer to one another a dozen times each, and libgc would look up each of these addresses in its heap. Here it
// sees at once that they are none of its objects.
//
// Blocks of up to 2 KiB are cells of slabs, one class of slabs for each multiple of 64 bytes. A slab has a bit for each
// cell that is in use. A collection reads the table of slabs and these bits, and nothing else: threads may be stopped
// within allocate() and release(), with a lock held. So the table only grows, and a slab is in it before its first bit
// is set. Slabs are kept to the end of the process.
//
// What is released is zeroed, so a new block holds nothing of an old one.
//
// Any thread. A fork() takes all locks first (before_fork(), after_fork()).
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

  // Of the process. Throws bad_alloc, at the first call alone.
  static root_memory& of_process();

  // At most `largest` bytes. Null: there is no memory.
  void* allocate(std::size_t bytes) noexcept;
  void release(void* memory, std::size_t bytes) noexcept;

  // While the world is stopped: visit(low, high) for each run of cells that are in use.
  template <class Visit>
  void for_each_run(Visit visit) const noexcept {
    // ORDER: acquire, pairs with the store in enter(): the slab is whole.
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
    slab* next_with_room = nullptr;
    bool has_room = false;  // it is in the list of its class
    std::array<primitive::atomic<std::uint64_t>, (most_cells + 63) / 64> used{};

    std::byte* cell(std::size_t i) noexcept {
      return reinterpret_cast<std::byte*>(this) + header_bytes + i * cell_bytes;
    }
  };
  static_assert(sizeof(slab) <= header_bytes);

  struct size_class {
    std::mutex lock;
    slab* with_room = nullptr;
  };

  template <class Visit>
  static void runs_of(slab& one, Visit& visit) noexcept {
    const auto is_used = [&](std::size_t i) {
      // ORDER: relaxed, pairs with nothing: who changes it is stopped.
      return (one.used[i / 64].load(std::memory_order_relaxed) >> i % 64 & 1) != 0;
    };
    for (std::size_t i = 0; i < one.fresh; ++i) {
      const std::size_t first = i;
      while (i < one.fresh && is_used(i)) ++i;
      if (i != first) visit(one.cell(first), one.cell(i));
    }
  }

  root_memory();
  slab* new_slab(std::size_t cell_bytes) noexcept;
  bool enter(slab& one) noexcept;
  static slab& slab_of(void* cell) noexcept;
  static void set_used(slab& of, const void* cell, bool used) noexcept;

  std::array<size_class, classes> classes_;
  std::mutex growth_;
  slab** const table_;  // not where libgc looks
  primitive::atomic<std::size_t> count_{0};
};

}}}  // namespace hocket::gc::boehm
