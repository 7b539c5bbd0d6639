// The pages behind parked stacks: given back to the system while nobody runs there.
//
// What was on them is lost, so it is saved first (stack_image.hpp). Where the kernel has guard markers the pages fault
// until they are allowed again: a stray access to a stack that is not there is found. Elsewhere it reads zeros, and
// what it writes is lost.
#pragma once
#include <hocket/stack/stack_pool.hpp>
#include <cstddef>

namespace hocket::inline HOCKET_ABI {

// Whole pages.
struct memory_range {
  std::byte* first;
  std::size_t size;
};

// The pages that a stack has for itself: all of it but its guard page.
memory_range pages_of(const stack_ref& stack) noexcept;

// Gives the pages of `count` stacks back, a batch of them in one system call. True: they fault from now on.
[[nodiscard]] bool drop_pages(const memory_range* ranges, std::size_t count) noexcept;

// Makes dropped pages that fault usable again.
void allow_pages(const memory_range& range) noexcept;

}  // namespace hocket::inline HOCKET_ABI
