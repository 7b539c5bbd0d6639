// The live part of a parked stack, saved in memory of its own size: what becomes of a stack while its coroutine is
// hibernated, or while another one runs on the stack that they share.
//
//     stack                                        image
//     top      +-----------------+                 +-----------------+
//              | the live part   |      save()     | the live part   |  ends at a multiple of 16, so that what is
//     from     +-----------------+     ------->    +-----------------+  aligned on the stack is aligned here
//              |                 |     <-------    | (spare room)    |
//              | dead            |    restore()    +-----------------+
//     low      +-----------------+                 | head            |
//                                                  +-----------------+
//
// The pages behind the live part are given back to the system meanwhile (drop_pages).
//
// Pointers into the stack stay right because the bytes come back to the addresses that they were saved from. Meanwhile
// find() gives the place of a byte in the image. An image belongs to one owner and is not synchronised.
#pragma once
#include <hocket/base/seam/platform/prefetch.hpp>
#include <hocket/stack/detail/memory_range.hpp>
#include <hocket/stack/stack_pool.hpp>
#include <cstddef>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class alignas(16) stack_image {
 public:
  // Saves [from, top), at most 4 GiB, in `spare` (an image that is not needed any more, or null) if it is large enough
  // and not much too large, else in a new image; then `spare` is freed. Null: there is no memory, and `spare` is as it
  // was.
  [[nodiscard]] static stack_image* save(std::byte* from, std::byte* top, stack_image* spare = nullptr) noexcept;

  // Copies the bytes back to where they were.
  void restore() const noexcept;

  static void free(stack_image* image) noexcept;  // may be null

  // Where the byte that was at `address`, in [from, top), is now.
  void* find(const void* address) noexcept { return data() + (static_cast<const std::byte*>(address) - from()); }

  // restore() is near, after a copy of something else or a system call.
  void prefetch() const noexcept {
    for (std::size_t at = 0; at < 512; at += 64)
      hocket::detail::prefetch(reinterpret_cast<const std::byte*>(this) + at);
  }

  std::byte* from() const noexcept { return top_ - size_; }
  std::byte* top() const noexcept { return top_; }
  std::size_t size() const noexcept { return size_; }
  std::size_t footprint() const noexcept { return sizeof(stack_image) + room_; }

  void* record = nullptr;  // the owner's own: where the coroutine goes on

 private:
  stack_image(std::uint32_t room) noexcept : room_(room) {}
  std::byte* data() noexcept { return reinterpret_cast<std::byte*>(this + 1) + (room_ - size_); }
  const std::byte* data() const noexcept { return const_cast<stack_image*>(this)->data(); }

  std::byte* top_ = nullptr;
  std::uint32_t size_ = 0;
  const std::uint32_t room_;
};
static_assert(sizeof(stack_image) % 16 == 0 && alignof(stack_image) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);

// The pages behind parked stacks: given back to the system while nobody runs there.
//
// Their contents are lost, so they are saved first (stack_image). Where the kernel has guard markers, the pages that
// held live frames fault until they are allowed again: a stray access to a variable that is not there is found.
// Elsewhere it reads zeros, and what it writes is lost.
//
// Dropping first and guarding then, each a batch in one system call, costs a third of what markers cost that have to
// drop the page themselves, and pages below the live ones need no marker: nothing on them can be referred to
// (docs/decisions/006).
//
// The pages that a stack has for itself: all of it but its guard page.
memory_range pages_of(const stack_ref& stack) noexcept;

// The pages that hold [from, top).
memory_range pages_of(const std::byte* from, const std::byte* top) noexcept;

// Gives the pages of `count` stacks back, a batch of them in one system call. False: not all could be (locked memory).
[[nodiscard]] bool drop_pages(const memory_range* stacks, std::size_t count) noexcept;

// Then the live part of each is guarded, likewise. True: it faults from now on.
[[nodiscard]] bool forbid_pages(const memory_range* live, std::size_t count) noexcept;

// Makes live pages that fault usable again.
void allow_pages(const memory_range& live) noexcept;

}}}  // namespace hocket::detail
