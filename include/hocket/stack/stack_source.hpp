// A source of memory for stacks, instead of the system: huge pages, a NUMA node, reserved memory.
//
//   struct node_memory final : hocket::stack_source { ... } memory;   // declared first: it outlives the pool
//   hocket::stack_pool pool({.source = &memory});
//
// A depot takes memory by the slab: some dozens to a thousand stacks with their control blocks (stack_depot.hpp). It
// calls the source of its options for each slab and each release of memory, never for a warm stack.
//
//   map       a slab is needed
//   commit    the slab's head, and later its stacks, are used for the first time, or again after decommit()
//   decommit  unneeded stacks are released (decay, trim()); their slab stays
//   release   the slab is released: nothing of it is used
//
// With a source, hocket gives the system no advice about huge pages, and releases no pages itself.
//
// Thread safety. Any thread calls, and several threads at once: decommit() and release() run beside the other calls,
// and depots may share a source. map() and commit() run under the depot's lock.
// Do not wait for a coroutine in a source. Do not acquire stacks of a depot that it serves. It may be called on a
// coroutine's stack.
//
// Guards. guard::required and guard::preferred make guard pages in the source's memory by madvise or mprotect. They are
// removed before release(). Memory of hugetlbfs cannot have guard pages: use guard::preferred, guard::canary or
// stack_layout::dense there. A guard page splits a transparent huge page.
//
// Limits. Limits of a depot count stacks and their stack_size, not the source's memory. If the source is exhausted,
// acquire() fails with not_enough_memory, and at_limit::wait does not wait for it. Magazines and the images of packed
// stacks are on the heap. Fibers on a source's memory do not hibernate.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <cstddef>

namespace hocket { inline namespace HOCKET_ABI {

// An interface for the memory of stacks. It outlives the slabs made of its memory, and so the depot.
class stack_source {
 public:
  // Returns `size` bytes at a multiple of `alignment`, a power of two; null if there is no memory. Memory that is not
  // aligned is fatal. The contents may be arbitrary, but if they are not zero, stack_statistics::high_water is only an
  // upper bound. The bytes are readable and writable after commit().
  virtual void* map(std::size_t size, std::size_t alignment) noexcept = 0;

  // Receives the result of map(), and its size; also after a failed commit().
  virtual void release(void* memory, std::size_t size) noexcept = 0;

  // Makes whole pages of a slab usable, for up to 64 stacks at once, some of which may never be used. The pages may be
  // committed already. False: acquire() fails with not_enough_memory, and the next acquire() calls commit() again.
  virtual bool commit([[maybe_unused]] void* begin, [[maybe_unused]] std::size_t size) noexcept { return true; }

  // Receives whole pages with contents that are no longer needed. False: the pages were not released, for example
  // because they are huge.
  virtual bool decommit([[maybe_unused]] void* begin, [[maybe_unused]] std::size_t size) noexcept { return false; }

 protected:
  ~stack_source() = default;
};

}}  // namespace hocket
