// Where the memory of stacks comes from, if not from the system: huge pages, a NUMA node, memory that is set aside.
//
// A depot takes memory by the slab: some dozens to a thousand stacks with their control blocks (stack_depot.hpp). It
// calls the source of its options for each slab and for what it gives back, never for a stack that is warm.
//
//   map       a slab is needed
//   commit    its head, and then stacks of it, are used for the first time, or again after decommit()
//   decommit  stacks that nobody needs are given back (decay, trim()); their slab stays
//   release   the slab is given back: nothing of it is used
//
// With a source, hocket gives the system no advice about huge pages and drops no pages by itself.
//
// Calls. By any thread, and several at once: decommit() and release() run beside the others, and depots may share a
// source. map() and commit() run under the depot's lock. So a source neither waits for a coroutine nor acquires stacks
// of a depot that it serves. It may be called on a coroutine's stack.
//
// Guards. guard::required and guard::preferred make guard pages in the source's memory by madvise or mprotect. They
// are taken away before release(). Memory of hugetlbfs has none: use guard::preferred, guard::canary or
// stack_layout::dense there. A guard page splits a transparent huge page.
//
// Limits count stacks and their stack_size, not what the source gives: a source that has nothing left makes acquire()
// fail with not_enough_memory, and at_limit::wait does not wait for it. Magazines and the images of packed stacks are
// on the heap. Fibers on a source's memory do not hibernate.
//
//   struct node_memory final : hocket::stack_source { ... } memory;   // declared first: it outlives the pool
//   hocket::stack_pool pool({.source = &memory});
#pragma once
#include <hocket/base/detail/platform/config.hpp>
#include <cstddef>

namespace hocket { inline namespace HOCKET_ABI {

// Outlives the slabs that are made of its memory, and so the depot.
class stack_source {
 public:
  // `size` bytes at a multiple of `alignment`, a power of two; null: there are none. What they hold does not matter,
  // but stack_statistics::high_water is an upper bound only, unless they are zero. They can be read and written once
  // they are committed. If the memory is not aligned, that is fatal.
  virtual void* map(std::size_t size, std::size_t alignment) noexcept = 0;

  // What map() returned, with its size; also if commit() has failed.
  virtual void release(void* memory, std::size_t size) noexcept = 0;

  // Whole pages of a slab may be used from now on: of up to 64 stacks in one go, of which some may never be. False:
  // acquire() fails with not_enough_memory, and asks again the next time. They may be committed already.
  virtual bool commit([[maybe_unused]] void* from, [[maybe_unused]] std::size_t size) noexcept { return true; }

  // Whole pages whose contents are not needed. False: they were not given back, as where pages are huge.
  virtual bool decommit([[maybe_unused]] void* from, [[maybe_unused]] std::size_t size) noexcept { return false; }

 protected:
  ~stack_source() = default;
};

}}  // namespace hocket
